"""Questions to indexes: from a predicate of Spark to a condition on columns that Arrow evaluates on their known values.

The condition is true of each row for which the predicate may be true.  Unknown parts are left open, so a question never excludes
too much.  `pqassay_reader.condition` defines the meaning of conditions; `pqassay_spark.query.comparisons` finds the constants
with the same meaning in Spark.
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
"""First value that is the same in the calendar of Spark 2: the first Gregorian day; for timestamps a later one, valid in all zones."""


class AskedColumn(NamedTuple):
    """A column whose indexes are used: its name in the files, and its type in Spark."""

    name: str
    kind: DataType

    @property
    def arrow_type(self) -> Any:
        """The type of its values in Arrow."""
        return arrow_type(self.kind)

    @classmethod
    def of(cls, column: SchemaColumn) -> AskedColumn | None:
        """A column at the top level of a schema; ``None`` if indexes do not know how Spark compares its values."""
        name, *below = column.path
        if below or not column.is_plain or arrow_type(column.kind) is None:
            return None
        return cls(name, column.kind)


Reading: TypeAlias = Callable[[Any, DataType, str], Any]
"""Returns the meaning of a constant in Spark, from the constant, the type of its column and the name of the test; or `UNSURE`."""


def as_given(literal: Any, kind: DataType, name: str) -> Any:
    """The meaning of constants to which Spark itself gave the type of their column."""
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
        columns: The columns, by their names in the tree.  Parts of the tree about others stay open.
        read: Returns the meaning of the constants.
        may_be_old: Whether Spark may shift old dates, because they were written with the calendar of Spark 2;
            then they exclude nothing.

    Returns:
        The condition; ``None`` if everything stays open.
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
        """The known part of a tree, with constants as Spark compares them: true if the tree may be true. ``None`` if nothing is known.

        Args:
            tree: A part of the predicate.
            negated: Whether it is inside an odd number of negations; then the result is false wherever the tree may be false.
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
"""The setting that makes Spark compare dates and text as text."""

ANSI = "spark.sql.ansi.enabled"
"""The setting without which Spark compares dates with a list of texts as text."""


def reading(spark: SparkSession, tree: Tree, columns: Mapping[str, AskedColumn]) -> Reading:
    """A function that returns the meaning of a tree's constants in Spark.

    The meaning of a text as a timestamp depends on the zone of the session, and on many formats. Spark itself is asked, without a job.
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
    """The constants of comparisons with some columns: the name of the test, the type of the column, the constant."""
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
    """Days of a date, or microseconds of a local time, since 1970, for a text in canonical form; ``None`` for any other."""
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
    """The meaning of texts in Spark: days or microseconds since 1970; without texts that are not dates or times."""
    numbers = [
        f.unix_date(f.lit(text).try_cast("date"))
        if kind is DateType
        else f.unix_micros(f.lit(text).try_cast("timestamp"))
        for kind, text in texts
    ]
    # Literal rows are a relation on the driver, for which Spark runs no job.
    (row,) = spark.sql("SELECT * FROM VALUES (1)").select(*numbers).collect()
    return {one: number for one, number in zip(texts, row, strict=True) if number is not None}
