"""Predicates in Spark: one tree, from which both Spark's filter and the question to the indexes are made.

A predicate is a tree as in ``conformance/PROTOCOL.md``, or text in Spark's SQL that `pqassay_reference.predicate.text`
reads into one.  Spark is never given the text: what it filters by and what files are skipped by come from the same tree, so
they cannot mean different things.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# The type stubs of pyarrow leave parts of what is used here unknown.
from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import DataType, DecimalType, StringType, StructType

from pqassay_reference.errors import Refused
from pqassay_reference.predicate import expressions
from pqassay_reference.predicate.literals import Tree, TypedText, python_tree

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
"""Comparisons; columns of Spark and fields of Arrow both understand them."""

OPPOSITES = {**expressions.OPPOSITES, "and": "or", "or": "and"}
"""Opposites: true where something is false, and unknown where it is unknown."""

GREATEST_LONG = (1 << 63) - 1
"""The greatest whole number that Spark has but as a decimal."""

MOST_DIGITS = 38
"""Digits of the longest decimal of Spark."""

ADVICE = "; leave it out here and apply it to the DataFrame: .where(...)"
"""End of a message about a condition that no tree can say."""


def read_predicate(spark: SparkSession, predicate: str | Tree) -> Tree:
    """The tree of a predicate, with Python's own values.

    Raises:
        Refused: It is none, or one that a tree cannot say.
    """
    if not isinstance(predicate, str):
        try:
            tree = cast("Tree", python_tree(predicate))
            _require_tree(tree)
        except RecursionError:
            raise Refused("the predicate is nested too deeply") from None
        return tree
    from pqassay_reference.predicate.text import parse_predicate  # noqa: PLC0415 - what runs on executors needs no SQL

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
    """True if a setting that is off by default is on."""
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
            raise Refused(f"{str(tree)[:80]} is no predicate")


def text_columns(tree: Tree) -> frozenset[str]:
    """The columns that a tree compares with text and nothing else; whether they hold text, the schema says."""
    named, other = set[str](), set[str]()
    pending = [tree]
    while pending:
        match pending.pop():
            case [("and" | "or" | "not"), *parts]:
                pending += parts
            case [name, column, *rest]:
                named.add(column)
                literals: list[Any] = rest[0] if name in ("in", "not in") else rest
                if not all(literal is None or isinstance(literal, str) for literal in literals):
                    other.add(column)
            case _:
                pass
    return frozenset(named - other)


@dataclass(frozen=True)
class SchemaColumn:
    """A column of a schema: its names from the root, its type, and what Spark noted about it."""

    path: tuple[str, ...]
    kind: DataType
    metadata: dict[str, Any]

    @property
    def quoted(self) -> str:
        """The reference to it in Spark's SQL."""
        return ".".join(f"`{name.replace('`', '``')}`" for name in self.path)

    @property
    def compares_bytes(self) -> bool:
        """True if it is text that Spark compares byte by byte, as it stands in the file.

        Other collations find equal what differs, and text of a fixed length is padded.
        """
        return type(self.kind) is StringType and self.kind == StringType() and CHAR_KEY not in self.metadata


CHAR_KEY = "__CHAR_VARCHAR_TYPE_STRING"
"""Key under which Spark notes that a column of text is in truth ``char(n)`` or ``varchar(n)``."""


def find_column(schema: StructType, name: str, *, case_sensitive: bool) -> SchemaColumn:
    """Find a column by its name, its path joined by dots.

    Raises:
        Refused: There is none, or several.
    """
    found = list(_columns_named(schema, name, (), str if case_sensitive else str.lower))
    if not found:
        raise Refused(f"there is no column {name}")
    if len(found) > 1:
        paths = " and ".join(column.quoted for column in found)
        raise Refused(f"{name} may be {paths}; rename one of them")
    return found[0]


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
    """The filter that Spark applies.

    Raises:
        Refused: There is no such column, or a constant that Spark does not have.
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
                raise Refused(f"{str(tree)[:80]} is no predicate")

    def leaf(name: str, column: Column, kind: DataType, rest: list[Any]) -> Column:
        if name == "is null":
            return column.isNull()
        if name == "is not null":
            return column.isNotNull()
        if name in ("in", "not in"):
            literals = [f.lit(_spark_value(literal, kind)) for literal in rest[0]]
            # Of nothing, SQL has no list: nothing is in it, null neither.
            among = column.isin(literals) if literals else f.lit(False)
            return among if name == "in" else ~among
        return cast("Column", COMPARISONS[name](column, f.lit(_spark_value(rest[0], kind))))

    return condition(tree)


def _spark_value(literal: Any, kind: DataType) -> Any:
    """A constant as Spark has it. A number that is no binary fraction is exact where the column is."""
    if isinstance(literal, str):
        try:
            literal.encode()
        except UnicodeEncodeError:
            raise Refused(f"{literal[:50]!a} is no text: it holds half a surrogate pair") from None
        if isinstance(literal, TypedText) and isinstance(kind, StringType):
            raise Refused(
                f"{str(literal)!r} has a type, and the column is text, which Spark would convert; write the text alone, "
                "or leave the condition out here and apply it to the DataFrame: .where(...)"
            )
    elif isinstance(literal, float) and isinstance(kind, DecimalType):
        exact = Decimal(repr(literal))
        return exact if exact.is_finite() else literal
    elif isinstance(literal, int) and not -GREATEST_LONG - 1 <= literal <= GREATEST_LONG:
        literal = Decimal(literal)
    if isinstance(literal, Decimal) and len(literal.as_tuple().digits) > MOST_DIGITS:
        raise Refused(f"{str(literal)[:50]} has more than {MOST_DIGITS} digits")
    return literal


def arrow_condition(tree: Tree, columns: Mapping[str, str]) -> pc.Expression | None:
    """The question to the indexes of some columns of text: true for each row for which the tree may be true.

    Args:
        tree: The predicate.
        columns: For names of the tree the names in the files.  What the tree says of others, and of these compared
            with anything but text, is left open.

    Returns:
        The condition; ``None`` where everything is left open.
    """
    condition: pc.Expression | None = _open_condition(tree, columns, negated=False)
    return condition


def _open_condition(tree: Tree, columns: Mapping[str, str], *, negated: bool) -> Any:
    """The condition with negations only at its leaves: so a part that is left open makes it only wider."""
    if tree[0] == "not":
        return _open_condition(tree[1], columns, negated=not negated)
    name = OPPOSITES[tree[0]] if negated else tree[0]
    if name not in ("and", "or"):
        return _open_leaf(name, tree, columns)
    parts: list[Any] = [_open_condition(part, columns, negated=negated) for part in tree[1:]]
    if name == "and":
        known = [part for part in parts if part is not None]
        return reduce(lambda left, right: left & right, known) if known else None
    if any(part is None for part in parts):
        return None
    return reduce(lambda left, right: left | right, parts)


def _open_leaf(name: str, tree: Tree, columns: Mapping[str, str]) -> Any:
    _, column, *rest = tree
    if column not in columns:
        return None
    field: Any = pc.field(columns[column])
    if name in ("is null", "is not null"):
        return field.is_null() if name == "is null" else field.is_valid()
    literals = rest[0] if name in ("in", "not in") else rest
    if not all(literal is None or isinstance(literal, str) for literal in literals):
        return None  # Spark converts one side to the type of the other before it compares
    texts: Any = pa.array([literal for literal in literals if literal is not None], pa.string())
    has_null = len(texts) < len(literals)
    never = pc.scalar(False)
    if name == "in":  # of a null in the list nothing is certain, and Arrow would find null in it
        return field.isin(texts) if len(texts) else never
    if name == "not in":
        if has_null:
            return never
        return ~field.isin(texts) & field.is_valid() if len(texts) else pc.scalar(True)
    return never if has_null else COMPARISONS[name](field, pc.scalar(texts[0]))
