"""Predicates as Arrow evaluates them: the trees of the protocol as expressions, or as masks of columns that are read.

Both follow SQL's logic of three values, from one definition: a comparison with null is unknown, and so is what depends
on something unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from pqassay_reader.predicate.exact import exact_predicate, scalar_of
from pqassay_reference.errors import Refused

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "=": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}

OPPOSITES = {
    "=": "!=",
    "!=": "=",
    "<": ">=",
    "<=": ">",
    ">": "<=",
    ">=": "<",
    "is null": "is not null",
    "is not null": "is null",
    "in": "not in",
    "not in": "in",
}
"""Tests of one column: what is true where each is false."""

MEMBERSHIPS = ("in", "not in")

NULL_TESTS: dict[str, Callable[[Any], Any]] = {"is null": pc.is_null, "is not null": pc.is_valid}

CONNECTIVES: dict[str, Callable[[Any, Any], Any]] = {"and": pc.and_kleene, "or": pc.or_kleene}


class Operands(Protocol):
    """The operands of a predicate: columns, and constants of their types."""

    def column(self, name: str) -> Any:
        """A column, in a form that Arrow compares."""
        ...

    def kind(self, name: str) -> Any:
        """The type in which a column is compared."""
        ...

    def constant(self, name: str, value: Any) -> Any:
        """A constant that is a value of the type of a column."""
        ...

    def false(self) -> Any:
        """A condition that is true of no row."""
        ...


def evaluated(predicate: Sequence[Any], operands: Operands) -> Any:
    """The truth of a predicate: true, false, or null for unknown.

    Raises:
        Refused: It is no predicate, or does not fit the columns.
    """
    try:
        return _evaluated(exact_predicate(predicate, operands.kind), operands)
    except (pa.ArrowException, ValueError) as error:
        raise Refused(f"{str(predicate)[:80]} does not fit its column: {error}") from None


def _evaluated(predicate: Sequence[Any], operands: Operands) -> Any:
    match predicate:
        case [("and" | "or") as name, *parts] if parts:
            return folded(CONNECTIVES[name], [_evaluated(part, operands) for part in parts])
        case ["not", part]:
            return pc.invert(_evaluated(part, operands))
        case [str(name), str(column)] if name in NULL_TESTS:
            return NULL_TESTS[name](operands.column(column))
        case [str(name), str(column), list(literals)] if name in MEMBERSHIPS:
            equal = [_compared("=", column, literal, operands) for literal in literals]
            found = folded(pc.or_kleene, [operands.false(), *equal])
            return found if name == "in" else pc.invert(found)
        case [str(name), str(column), literal] if name in COMPARISONS:
            return _compared(name, column, literal, operands)
        case _:
            raise Refused(f"{str(predicate)[:80]} is no predicate")


def _compared(name: str, column: str, literal: Any, operands: Operands) -> Any:
    return COMPARISONS[name](operands.column(column), operands.constant(column, literal))


def folded(function: Callable[[Any, Any], Any], parts: Sequence[Any]) -> Any:
    """All parts joined by an associative function, in pairs: a chain of thousands would be too deep for Arrow."""
    while len(parts) > 1:
        pairs = [function(*parts[at : at + 2]) for at in range(0, len(parts) - 1, 2)]
        parts = [*pairs, *parts[len(pairs) * 2 :]]
    return parts[0]


def columns_named(predicate: Sequence[Any]) -> set[str]:
    """The columns that a predicate names.

    Raises:
        Refused: It is no predicate.
    """
    match predicate:
        case [("and" | "or" | "not"), *parts]:
            return {name for part in parts for name in columns_named(part)}
        case [str(), str(name), *_]:
            return {name}
        case _:
            raise Refused(f"{str(predicate)[:80]} is no predicate")


class TableColumns:
    """The columns of a table that was read, nested ones by names joined with dots. See `Operands`."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table
        self._columns: dict[str, Any] = {}

    def column(self, name: str) -> Any:
        """The values of a column, in the type in which they are compared."""
        if name not in self._columns:
            path, kind = find_column(self._table.schema, name)
            values: Any = self._table.column(path[0])
            for part in path[1:]:
                values = pc.struct_field(values, part)
            compared = compared_type(kind)
            self._columns[name] = values if compared == values.type else values.cast(compared)
        return self._columns[name]

    def kind(self, name: str) -> Any:
        """The type of the values."""
        return self.column(name).type

    def constant(self, name: str, value: Any) -> Any:
        """A scalar."""
        return scalar_of(value, self.kind(name))

    def false(self) -> Any:
        """A mask."""
        return pa.repeat(False, len(self._table))


class SchemaColumns:
    """References to the columns of a schema, nested ones by names joined with dots. See `Operands`."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema

    def column(self, name: str) -> pc.Expression:
        """A reference; views, which Arrow does not compare, as the text or bytes that they are."""
        path, kind = find_column(self._schema, name)
        reference = pc.field(*path)
        compared = compared_type(kind)
        return (
            reference if compared in (kind, getattr(kind, "value_type", None)) else reference.cast(compared)
        )

    def kind(self, name: str) -> Any:
        """The type of the values."""
        return compared_type(find_column(self._schema, name)[1])

    def constant(self, name: str, value: Any) -> pc.Expression:
        """A literal."""
        scalar = scalar_of(value, self.kind(name))
        constant: Any = pc.scalar  # its type stub knows no scalars of Arrow
        found: pc.Expression = constant(scalar)
        return found

    def false(self) -> pc.Expression:
        """A literal."""
        return pc.scalar(False)


def find_column(schema: pa.Schema, name: str) -> tuple[tuple[str, ...], pa.DataType]:
    """The names from the root to a column, and its type. A name with dots may be that of a member of a struct.

    Raises:
        Refused: There is no such column, or several.
    """
    at = schema.get_field_index(name)
    if at >= 0:
        return (name,), schema.field(at).type
    if name in schema.names:
        raise Refused(f"there are several columns {name}")
    path = tuple(name.split("."))
    place: Any = schema
    for part in path:
        names = place.names if isinstance(place, pa.Schema | pa.StructType) else []
        if names.count(part) != 1:
            raise Refused(f"there is no column {name}; columns are: {', '.join(schema.names[:10])}")
        field = place.field(part)
        place = field.type
    return path, place


def compared_type(kind: Any) -> Any:
    """The type in which values are compared: Arrow compares no views, halves and extensions, and dictionaries only in part."""
    if isinstance(kind, pa.BaseExtensionType):
        return compared_type(kind.storage_type)
    if pa.types.is_float16(kind):
        return pa.float32()
    if pa.types.is_dictionary(kind):
        return compared_type(kind.value_type)
    if pa.types.is_string_view(kind):
        return pa.string()
    return pa.binary() if pa.types.is_binary_view(kind) else kind


def expression_of(predicate: Sequence[Any], schema: pa.Schema) -> pc.Expression:
    """The expression of a predicate on the columns of a dataset.

    Raises:
        Refused: It is no predicate, names a column that is not there, or a constant that does not fit its column.
    """
    expression: pc.Expression = evaluated(predicate, SchemaColumns(schema))
    return expression
