"""Questions to indexes: for a predicate of Spark a condition on some columns that Arrow evaluates on their known values.

The condition is true of each row of which the predicate may be true.  So what cannot be told is left open, and a question never decides
more than is known.  What a condition means is stated in `pqassay_reader.condition`; for which constants Spark means the same, in
`pqassay_spark.query.comparisons`.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import DataType, DateType, TimestampNTZType, TimestampType

from pqassay_reader.condition.rows import expression_of
from pqassay_reference.columns.literals import Moment, Tree
from pqassay_spark.query.comparisons import (
    MEMBERSHIPS,
    NANOSECONDS,
    UNSURE,
    KnownMoment,
    arrow_type,
    compared,
    days_of,
    micros_of,
)
from pqassay_spark.query.predicates import SchemaColumn, is_set, spark_value

OLDEST: dict[type[DataType], Moment] = {
    DateType: Moment("date", days_of(dt.date(1582, 10, 15))),
    TimestampType: Moment("timestamp", NANOSECONDS * micros_of(dt.datetime(1900, 1, 1, tzinfo=dt.UTC))),
}
"""From when on values are the same in the calendar of Spark 2: the first day of the Gregorian one; of moments later, for all zones."""


class AskedColumn(NamedTuple):
    """A column whose indexes are asked: its name in the files, and its type in Spark."""

    name: str
    kind: DataType

    @property
    def arrow_type(self) -> Any:
        """The type of its values in Arrow."""
        return arrow_type(self.kind)

    @classmethod
    def of(cls, column: SchemaColumn) -> AskedColumn | None:
        """The column at the top level of a schema; ``None`` if Spark compares its values in a way that no index knows."""
        name, *below = column.path
        if below or not column.is_plain or arrow_type(column.kind) is None:
            return None
        return cls(name, column.kind)


Reading: TypeAlias = Callable[[Any, DataType, str], Any]
"""What a constant of a predicate is to Spark, compared with a column of a type by a test of a name; `UNSURE` where that is not known."""


def as_given(literal: Any, kind: DataType, name: str) -> Any:
    """The reading of constants to which Spark itself gave the type of their column."""
    del kind, name
    return literal


def question(
    tree: Tree,
    columns: Mapping[str, AskedColumn],
    *,
    read: Reading = as_given,
    may_be_old: bool = False,
) -> pc.Expression | None:
    """The question to the indexes of some columns: true for each row for which the tree may be true.

    Args:
        tree: The predicate.
        columns: For names of the tree the columns.  Other parts of the tree are not decided.
        read: What the constants are.
        may_be_old: Whether Spark may shift old dates, since they were written with the calendar of Spark 2;
            then nothing is concluded about them.

    Returns:
        The condition; ``None`` where everything is left open.
    """
    asked = _Questioner(columns, read, may_be_old=may_be_old).known(tree, negated=False)
    if asked is None:
        return None
    kinds = {column.name: column.arrow_type for column in columns.values()}
    return expression_of(asked, pa.schema([pa.field(name, kind) for name, kind in kinds.items()]))


@dataclass(frozen=True)
class _Questioner:
    columns: Mapping[str, AskedColumn]
    read: Reading
    may_be_old: bool

    def known(self, tree: Tree, *, negated: bool) -> Tree | None:
        """The facts about a tree, with constants as Spark compares them: true wherever the tree may be true; ``None`` if nothing is known.

        Args:
            tree: A part of the predicate.
            negated: Whether it is within an odd number of negations; then what is known is false wherever the tree may be false.
        """
        name, *parts = tree
        if name == "not":
            part = self.known(parts[0], negated=not negated)
            return None if part is None else [name, part]
        if name not in ("and", "or"):
            return self._leaf(name, *parts, negated=negated)
        answers = [self.known(part, negated=negated) for part in parts]
        known = [answer for answer in answers if answer is not None]
        is_known = bool(known) if (name == "and") != negated else len(known) == len(parts)
        return [name, *known] if is_known else None

    def _leaf(self, name: str, of_tree: str, *rest: Any, negated: bool) -> Tree | None:
        column = self.columns.get(of_tree)
        if column is None:
            return None
        if not rest:
            return [name, column.name]
        given = rest[0] if name in MEMBERSHIPS else rest
        literals = [self.read(literal, column.kind, name) for literal in given if literal is not None]
        constants = compared(column.kind, literals) if literals else []
        if constants is None:
            return None
        constants += [None] * (len(given) - len(literals))
        leaf = [name, column.name, constants if name in MEMBERSHIPS else constants[0]]
        oldest = OLDEST.get(type(column.kind)) if self.may_be_old and literals else None
        if oldest is None:
            return leaf
        # Nothing is known of values from before.
        since = [">=", column.name, oldest]
        return ["and", leaf, since] if negated else ["or", leaf, ["not", since]]


# ---------------------------------------------------------------------------------------------- constants of trees

CANONICAL_DAY = re.compile(r"\d{4}-\d\d-\d\d")
CANONICAL_CLOCK = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?")

OLD_COERCION = "spark.sql.legacy.typeCoercion.datetimeToString.enabled"
"""The setting with which Spark compares dates and text as text."""

ANSI = "spark.sql.ansi.enabled"
"""The setting without which Spark compares dates with a list of texts as text."""


def reading(spark: SparkSession, tree: Tree, columns: Mapping[str, AskedColumn]) -> Reading:
    """Spark's types of the constants of a tree.

    Which moment a text is depends on the zone of the session, and on more formats than anyone remembers: Spark is asked, without a job.
    """
    as_text = () if str(spark.conf.get(ANSI)).lower() == "true" else tuple(MEMBERSHIPS)
    no_texts = is_set(spark, OLD_COERCION)
    texts = sorted(
        {
            (type(kind), str(literal))
            for name, kind, literal in _literals(tree, columns)
            if type(kind) in (DateType, TimestampType)
            and isinstance(literal, str)
            and name not in as_text
            and _canonical(type(kind), literal) is None
        },
        key=str,
    )
    known = {} if no_texts or not texts else _asked(spark, texts)

    def read(literal: Any, kind: DataType, name: str) -> Any:
        temporal = type(kind)
        if isinstance(literal, Moment):
            return KnownMoment(literal.number if literal.kind == "date" else literal.number // 1000)
        if isinstance(literal, dt.datetime) and literal.utcoffset() is None:
            return UNSURE  # to Python a moment in the zone of this machine
        if isinstance(literal, dt.date):
            return literal
        if not isinstance(literal, str) or temporal not in (DateType, TimestampType, TimestampNTZType):
            return spark_value(literal, kind)
        if no_texts or name in as_text:
            return UNSURE
        number = _canonical(temporal, literal)
        number = known.get((temporal, str(literal))) if number is None else number
        return UNSURE if number is None else KnownMoment(number)

    return read


def _literals(tree: Tree, columns: Mapping[str, AskedColumn]) -> Iterator[tuple[str, DataType, Any]]:
    """The constants with which some columns are compared: the name of the test, the type of the column, the constant."""
    pending = [tree]
    while pending:
        match pending.pop():
            case [("and" | "or" | "not"), *parts]:
                pending += parts
            case [name, column, *rest] if column in columns:
                for literal in rest[0] if name in MEMBERSHIPS else rest:
                    yield name, columns[column].kind, literal
            case _:
                pass


def _canonical(kind: type[DataType], text: str) -> int | None:
    """Days of a date, or microseconds of what a clock shows, since 1970, of a text that says just that; ``None`` of any other."""
    try:
        if kind is DateType and CANONICAL_DAY.fullmatch(text):
            return days_of(dt.date.fromisoformat(text))
        if kind is TimestampNTZType and (CANONICAL_CLOCK.fullmatch(text) or CANONICAL_DAY.fullmatch(text)):
            return micros_of(dt.datetime.fromisoformat(text))
    except ValueError:
        pass  # there is no such day
    return None


def _asked(
    spark: SparkSession, texts: list[tuple[type[DataType], str]]
) -> dict[tuple[type[DataType], str], int]:
    """What Spark says that texts are: days or microseconds since 1970; without those that are not dates or times."""
    numbers = [
        f.unix_date(f.lit(text).try_cast("date"))
        if kind is DateType
        else f.unix_micros(f.lit(text).try_cast("timestamp"))
        for kind, text in texts
    ]
    # Rows that are written down are a relation on the driver, for which Spark runs no job.
    (row,) = spark.sql("SELECT * FROM VALUES (1)").select(*numbers).collect()
    return {one: number for one, number in zip(texts, row, strict=True) if number is not None}
