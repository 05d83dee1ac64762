"""Predicates in Spark: one tree for both Spark's filter and the question to the indexes (`pqassay_spark.query.questions`).

A predicate is a tree as in ``conformance/PROTOCOL.md``, or text in Spark's SQL that
`pqassay_reader.condition.text` parses into one.  Spark never gets the text: its filter and the skipping of
files use the same tree, so they cannot have different meanings.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from typing import Any, cast

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import (
    DataType,
    DateType,
    DecimalType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from pqassay_reference.columns.literals import Moment, Tree, TypedText, python_tree
from pqassay_reference.errors import Refused
from pqassay_spark.query.comparisons import COMPARISONS, GREATEST_LONG, MOST_DIGITS, days_of, micros_of

MICROS_OF_DAY = 86_400_000_000
"""Microseconds in a day."""

ADVICE = "; leave it out here and apply it to the DataFrame: .where(...)"
"""The end of a message about a condition that trees cannot express."""


def read_predicate(spark: SparkSession, predicate: str | Tree) -> Tree:
    """The tree of a predicate, with Python values.

    Raises:
        Refused: It is not a predicate, or trees cannot express it.
    """
    if not isinstance(predicate, str):
        try:
            tree = cast("Tree", python_tree(predicate))
            _require_tree(tree)
        except RecursionError:
            raise Refused("the predicate is nested too deeply") from None
        return tree
    from pqassay_reader.condition.text import parse_predicate  # noqa: PLC0415 - what runs on executors needs no SQL

    settings = {
        "spark.sql.parser.escapedStringLiterals": "\\",
        "spark.sql.ansi.doubleQuotedIdentifiers": '"',
    }
    for setting, character in settings.items():
        if character in predicate and is_set(spark, setting):
            raise Refused(
                f"with {setting}=true, {character} means something else; give the predicate as a tree"
            )
    try:
        return parse_predicate(predicate, dialect="spark")
    except Refused as error:
        raise Refused(f"{error}{ADVICE}") from None


def is_set(spark: SparkSession, setting: str) -> bool:
    """Whether a setting that is off by default is on."""
    return str(spark.conf.get(setting, "false")).lower() == "true"


def _require_tree(tree: Any) -> None:
    match tree:
        case [("and" | "or"), _, *_]:
            for part in tree[1:]:
                _require_tree(part)
        case ["not", part]:
            _require_tree(part)
        case [("is null" | "is not null"), str()] | [("in" | "not in"), str(), list()]:
            pass
        case [str(name), str(), literal] if name in COMPARISONS and not isinstance(literal, list | dict):
            pass
        case _:
            raise Refused(f"{str(tree)[:80]} is not a predicate")


@dataclass(frozen=True)
class SchemaColumn:
    """A column of a schema: its names from the root, its type, and its metadata from Spark."""

    path: tuple[str, ...]
    kind: DataType
    metadata: dict[str, Any]

    @property
    def quoted(self) -> str:
        """The reference to it in Spark SQL."""
        return ".".join(f"`{name.replace('`', '``')}`" for name in self.path)

    @property
    def is_plain(self) -> bool:
        """Whether Spark compares its values as they are stored in the file.

        With other collations, different texts can be equal, and text of a fixed length is padded.
        """
        is_text = isinstance(self.kind, StringType)
        return not is_text or (self.kind == StringType() and CHAR_KEY not in self.metadata)


CHAR_KEY = "__CHAR_VARCHAR_TYPE_STRING"
"""Metadata key by which Spark marks a text column as ``char(n)`` or ``varchar(n)``."""


def find_column(schema: StructType, name: str, *, case_sensitive: bool) -> SchemaColumn:
    """Find a column by its name, a path joined by dots.

    Raises:
        Refused: There is no such column, or several.
    """
    matching = list(_columns_named(schema, name, (), str if case_sensitive else str.lower))
    if not matching:
        raise Refused(f"there is no column {name}")
    if len(matching) > 1:
        paths = " and ".join(column.quoted for column in matching)
        raise Refused(f"{name} may be {paths}; rename one of them")
    return matching[0]


def _columns_named(
    schema: StructType, name: str, above: tuple[str, ...], folded: Callable[[str], str]
) -> Iterator[SchemaColumn]:
    for field in schema.fields:
        path = (*above, field.name)
        if folded(field.name) == folded(name):
            yield SchemaColumn(path, field.dataType, dict(field.metadata or {}))
        elif isinstance(field.dataType, StructType) and folded(name).startswith(f"{folded(field.name)}."):
            yield from _columns_named(field.dataType, name[len(field.name) + 1 :], path, folded)


def spark_condition(tree: Tree, schema: StructType, *, case_sensitive: bool = False) -> Column:
    """The filter for Spark.

    Raises:
        Refused: There is no such column, or Spark cannot represent a constant.
    """

    def condition(tree: Tree) -> Column:
        match tree:
            case ["and", *parts]:
                return reduce(lambda left, right: left & right, map(condition, parts))
            case ["or", *parts]:
                return reduce(lambda left, right: left | right, map(condition, parts))
            case ["not", part]:
                return ~condition(part)
            case [name, column, *rest]:
                described = find_column(schema, column, case_sensitive=case_sensitive)
                return leaf(str(name), f.col(described.quoted), described.kind, rest)
            case _:
                raise Refused(f"{str(tree)[:80]} is not a predicate")

    def leaf(name: str, column: Column, kind: DataType, rest: list[Any]) -> Column:
        if name == "is null":
            return column.isNull()
        if name == "is not null":
            return column.isNotNull()
        if name in ("in", "not in"):
            literals = [f.lit(spark_value(literal, kind)) for literal in rest[0]]
            # SQL has no empty list: no value is in it, not even null.
            among = column.isin(literals) if literals else f.lit(False)
            return among if name == "in" else ~among
        return cast("Column", COMPARISONS[name](column, f.lit(spark_value(rest[0], kind))))

    return condition(tree)


def spark_value(literal: Any, kind: DataType) -> Any:
    """A constant for Spark. A decimal fraction stays exact if the column is exact.

    Raises:
        Refused: Spark cannot represent it.
    """
    if isinstance(literal, Moment):
        return _moment(literal, kind)
    if isinstance(literal, str):
        try:
            literal.encode()
        except UnicodeEncodeError:
            raise Refused(f"{literal[:50]!a} is not text: it holds half a surrogate pair") from None
        if isinstance(literal, TypedText) and isinstance(kind, StringType):
            raise Refused(
                f"{str(literal)!r} has a type, but the column is text, which Spark would "
                "convert; write only the text, or apply the condition to the DataFrame: "
                ".where(...)"
            )
    elif isinstance(literal, float) and isinstance(kind, DecimalType):
        exact = Decimal(repr(literal))
        return exact if exact.is_finite() and _digits(exact) <= MOST_DIGITS else literal
    elif isinstance(literal, int) and not -GREATEST_LONG - 1 <= literal <= GREATEST_LONG:
        literal = Decimal(literal)
    elif isinstance(literal, dt.datetime):
        # As a number: on the way to Java, early dates would be converted to another calendar.
        is_moment = literal.utcoffset() is not None
        return f.timestamp_micros(f.lit(micros_of(literal))) if is_moment else literal
    elif isinstance(literal, dt.date):
        return f.date_from_unix_date(f.lit(days_of(literal)))
    if isinstance(literal, Decimal) and literal.is_finite() and _digits(literal) > MOST_DIGITS:
        raise Refused(f"{str(literal)[:50]} has more than {MOST_DIGITS} digits")
    return literal


def _digits(number: Decimal) -> int:
    """Digits that Spark's decimal type needs for a number, including zeros before and after the point."""
    _, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)  # it is finite
    return max(len(digits) + max(exponent, 0), -exponent)


def _moment(moment: Moment, kind: DataType) -> Column:
    """A date or a time for Spark, with the type of a column."""
    if moment.kind == "date" and isinstance(kind, DateType):
        return f.date_from_unix_date(f.lit(moment.number))
    micros, rest = divmod(moment.number, 1000)
    if moment.kind == "timestamp" and not rest:
        if isinstance(kind, TimestampType):
            return f.timestamp_micros(f.lit(micros))
        if isinstance(kind, TimestampNTZType):
            days, clock = divmod(micros, MICROS_OF_DAY)
            start = f.date_from_unix_date(f.lit(days)).cast("timestamp_ntz")
            return start + f.make_dt_interval(secs=f.lit(Decimal(clock).scaleb(-6)))
    raise Refused(f"{moment.kind} {moment.number} is not compared with a column of {kind.simpleString()}")
