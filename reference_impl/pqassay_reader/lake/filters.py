"""Convert filters of engines to conditions.

Engines pass their filters as expressions of Arrow, whose only public content is a text. A pickled expression is complete, however: it is
Arrow IPC, with its operators as metadata in order, and its constants as columns. This module parses that form.

A comparison of a column with constants that is as exact as Arrow's becomes a condition in normal form.
Another condition on one column, such as ``starts_with``, becomes a test that Arrow evaluates on the known
values. The rest is unknown, and all rows may satisfy it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, Literal, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from pqassay_reader.condition.kinds import Kind, compared_type, find_column, kind_of
from pqassay_reader.condition.normal import Condition, Joined, joined
from pqassay_reader.condition.rows import ExpressionTest, condition_of
from pqassay_reference.columns.literals import Moment
from pqassay_reference.errors import Refused

Path = tuple[str, ...]

FAILURES = (pa.ArrowException, ValueError, TypeError, LookupError, RecursionError, NotImplementedError)
"""Errors for an expression that cannot be serialized, or is not understood."""

COMPARISONS = {
    "equal": "=",
    "not_equal": "!=",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
}
MIRRORED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
CONNECTIVES: dict[str, Literal["and", "or"]] = {
    "and_kleene": "and",
    "and": "and",
    "or_kleene": "or",
    "or": "or",
}

EXACT_DOUBLE, EXACT_FLOAT = 1 << 53, 1 << 24
"""Limit up to which Arrow compares whole numbers with floating point numbers exactly."""


class Node(NamedTuple):
    """A part of an expression.

    Attributes:
        name: The function; empty for columns and constants.
        arguments: Its arguments.
        column: The names of a column from the schema's root.
        value: The scalar of a constant, or the options of a function.
        lines: The range of the part in the lines of the expression.
    """

    name: str
    arguments: tuple[Node, ...]
    column: Path
    value: Any
    lines: slice

    @property
    def columns(self) -> set[Path]:
        """The columns that it refers to."""
        return {self.column} if self.column else {path for part in self.arguments for path in part.columns}


class Written:
    """A serialized expression.

    Raises:
        ArrowException, ValueError, TypeError, LookupError, NotImplementedError: It cannot be serialized, or is not understood.
    """

    def __init__(self, expression: pc.Expression) -> None:
        pickled: Any = expression.__reduce__()
        self._make, (data,) = pickled
        with pa.ipc.open_file(pa.py_buffer(data)) as file:
            self._batch = file.get_batch(0)
        self._lines = list(_metadata(self._batch.schema))
        self._at = 0
        self.root = self._read()
        if self._at != len(self._lines):
            raise ValueError("an expression with further text after it")

    def _next(self) -> tuple[str, str]:
        self._at += 1
        return self._lines[self._at - 1]

    def _read(self) -> Node:
        start = self._at
        key, value = self._next()
        name, stored = "", None
        column: Path = ()
        arguments: list[Node] = []
        match key:
            case "literal":
                stored = self._batch.column(int(value))[0]
            case "field_ref":
                column = (value,)
            case "nested_field_ref":
                parts = [self._next() for _ in range(int(value))]
                if any(kind != "field_ref" for kind, _ in parts):
                    raise ValueError("a path with something other than names")
                column = tuple(part for _, part in parts)
            case "call":
                name = value
                while self._lines[self._at][0] != "end":
                    if self._lines[self._at][0] == "options":
                        stored = self._batch.column(int(self._next()[1]))[0]
                    else:
                        arguments.append(self._read())
                if self._next()[1] != name:
                    raise ValueError("another call ends")
            case _:
                raise ValueError(f"{key} begins no expression")
        return Node(name, tuple(arguments), column, stored, slice(start, self._at))

    def part(self, node: Node) -> tuple[bytes, pc.Expression]:
        """The bytes of a part, and the part as an expression: its lines are a range of the lines of the whole."""
        make: Any = pa.KeyValueMetadata  # its stub knows no pairs
        schema = self._batch.schema.with_metadata(make(self._lines[node.lines]))
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, schema) as file:
            file.write_batch(pa.RecordBatch.from_arrays(self._batch.columns, schema=schema))
        data = sink.getvalue()
        return data.to_pybytes(), self._make(data)


_MARK = "-- schema metadata --"
_LINE = re.compile(r"(?P<key>[a-z_]+): '(?P<value>.*)'")


def _metadata(schema: pa.Schema) -> Iterator[tuple[str, str]]:
    """The pairs of a schema's metadata in order; a mapping would only keep the last pair of each key."""
    text = schema.to_string(truncate_metadata=False, show_schema_metadata=True)
    for line in text.split(f"{_MARK}\n", 1)[1].split("\n"):
        match = _LINE.fullmatch(line)
        if match is None:
            raise ValueError("a name with a line break")
        yield match["key"], match["value"]


def condition_of_filter(expression: pc.Expression, schema: pa.Schema) -> Condition | None:
    """A condition that is true of every row for which a filter is true; ``None`` if nothing is known about the filter.

    Args:
        expression: The filter.
        schema: The schema of the dataset.
    """
    try:
        written = Written(expression)
        return _condition(written.root, written, schema)
    except FAILURES:
        return None


def _condition(node: Node, written: Written, schema: pa.Schema) -> Condition | None:
    try:
        tree = _tree(node, schema)
        if not isinstance(tree, bool):
            return condition_of(tree, schema)
        return Joined("and" if tree else "or", ())
    except (LookupError, Refused):
        pass
    columns = node.columns
    if len(columns) == 1:
        (path,) = columns
        try:
            kind = kind_of(find_column(schema, path[0])[1])
        except Refused:
            return None
        return ExpressionTest(path[0], kind, kind.nothing, *written.part(node)) if len(path) == 1 else None
    if node.name not in CONNECTIVES:
        return None
    name = CONNECTIVES[node.name]
    parts = [_condition(part, written, schema) for part in node.arguments]
    known = [part for part in parts if part is not None]
    return joined(name, known) if known and (name == "and" or len(known) == len(parts)) else None


def _tree(node: Node, schema: pa.Schema) -> Any:
    """A part as a condition of the protocol, or whether it is true of all rows or of none.

    Raises:
        LookupError: It is something else, or Arrow compares it in another way.
        Refused: There is no such column.
    """
    match node:
        case Node("", (), (), pa.BooleanScalar() | pa.NullScalar() as value):
            return bool(value.as_py())
        case Node("invert", (part,)):
            tree = _tree(part, schema)
            return not tree if isinstance(tree, bool) and part.value.is_valid else ["not", _required(tree)]
        case Node(name, parts) if name in CONNECTIVES:
            return [CONNECTIVES[name], *(_required(_tree(part, schema)) for part in parts)]
        case Node(
            "if_else",
            (Node("is_valid", (Node("", (), asked),)), Node("is_in", (Node("", (), path),)) as part, other),
        ) if asked == path and isinstance(other.value, pa.Scalar) and not other.value.is_valid:
            return _tree(part, schema)[1]  # as DuckDB writes IN
        case _:
            return _test(node, schema)


def _test(node: Node, schema: pa.Schema) -> Any:
    """A test of one column, as a condition of the protocol. Raises the errors of `_tree`."""
    name, arguments, _, options, _ = node
    if name in COMPARISONS:
        name, (column, constant) = COMPARISONS[name], arguments
        if not column.column:
            name, column, constant = MIRRORED[name], constant, column
        if column.column and isinstance(constant.value, pa.Scalar) and not constant.name:
            return [name, *_compared(column.column, [constant.value], schema)]
    path = arguments[0].column if arguments else ()
    if path and name == "is_valid":
        return ["is not null", _called(path, schema)[0]]
    if path and name == "is_null" and not options["nan_is_null"].as_py():
        return ["is null", _called(path, schema)[0]]
    if path and name == "is_in":
        # In Arrow, null is either in a list or not in it, but never unknown.
        column, *constants = _compared(path, list(options["value_set"].values), schema)
        listed = ["in", column, [constant for constant in constants if constant is not None]]
        if len(listed[2]) < len(constants):
            return ["or", listed, ["is null", column]]
        return ["and", listed, ["is not null", column]]
    raise LookupError("it does not compare a column with constants")


def _required(tree: Any) -> Any:
    if tree is True or tree is False:
        raise LookupError("a constant among conditions")
    return tree


def _called(path: Path, schema: pa.Schema) -> tuple[str, Kind]:
    """The name of a column in conditions, and its type."""
    name = ".".join(path)
    place, kind = find_column(schema, name)
    if place != path:
        raise LookupError("a name with a dot in it")
    return name, kind_of(kind)


def _compared(path: Path, scalars: Sequence[Any], schema: pa.Schema) -> list[Any]:
    """A column, and the constants of the comparison."""
    name, kind = _called(path, schema)
    return [name, *(_constant(scalar, kind) for scalar in scalars)]


def _constant(scalar: Any, kind: Kind) -> Any:
    """A constant for a condition. Raises `LookupError` if Arrow may compare it less exactly than conditions do."""
    if not scalar.is_valid:
        return None
    types, column, other = pa.types, kind.arrow, Kind(compared_type(scalar.type))
    if kind.moment is not None and kind.moment == other.moment:
        if types.is_timestamp(column) and (column.tz is None) != (other.arrow.tz is None):
            raise LookupError("a timestamp without a zone and one with a zone")
        if not types.is_date64(other.arrow):
            return Moment(kind.moment, scalar.value * (1 if kind.moment == "date" else int(other.step or 1)))
    value: Any = scalar.as_py()
    is_counted = types.is_integer(column) or types.is_decimal(column)
    is_exact = False
    if isinstance(value, bool):
        is_exact = types.is_boolean(column)
    elif isinstance(value, int) and types.is_integer(other.arrow):
        is_exact = is_counted or (types.is_floating(column) and abs(value) <= EXACT_FLOAT)
    elif isinstance(value, Decimal):
        is_exact = is_counted
    elif isinstance(value, float):
        of_whole = types.is_integer(column) and types.is_float64(other.arrow) and abs(value) <= EXACT_DOUBLE
        is_exact = types.is_floating(column) or of_whole
    elif isinstance(value, str | bytes):
        is_exact = isinstance(kind.nothing.least, type(value))
    if not is_exact:
        raise LookupError("Arrow compares them in its own way")
    return value


__all__ = ["condition_of_filter"]
