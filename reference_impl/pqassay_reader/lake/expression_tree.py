"""The tree of an Arrow expression.

Arrow tells no more about an expression than its text.  It writes one down completely when it is pickled: as Arrow IPC,
its operators as metadata in their order, its constants as columns.  From that the tree is read here.  What is not
understood makes no tree, and whoever asked has to be content with knowing nothing.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc

from pqassay_spec.idx1 import blob as idx1

Path = tuple[str, ...]


@dataclass(frozen=True)
class Constant:
    """A constant."""

    value: Any


@dataclass(frozen=True)
class Column:
    """A reference to a column by the names from the schema's root."""

    path: Path


@dataclass(frozen=True)
class Call:
    """A function and its arguments; ``options`` as a mapping, empty where it has none."""

    function: str
    arguments: tuple[Node, ...]
    options: dict[str, Any]


Node = Constant | Column | Call

_MARK = "-- schema metadata --"
_LINE = re.compile(r"(?P<key>[a-z_]+): '(?P<value>.*)'")


def written(condition: pc.Expression) -> bytes | None:
    """Arrow's bytes of an expression, equal for equal expressions; ``None`` where it has none."""
    try:
        reduced: Any = condition.__reduce__()
        return bytes(reduced[1][0])
    except (pa.ArrowException, ValueError, TypeError, LookupError, NotImplementedError):
        return None


def tree_of(condition: pc.Expression) -> Node | None:
    """The tree of an expression, if it is understood."""
    data = written(condition)
    if data is None:
        return None
    try:
        with pa.ipc.open_file(pa.py_buffer(data)) as file:
            batch = file.get_batch(0)
        lines = deque(_metadata(file.schema))
        node = _read(lines, batch)
    except (pa.ArrowException, ValueError, TypeError, LookupError, RecursionError):
        return None
    return None if lines else node


def _metadata(schema: pa.Schema) -> Iterator[tuple[str, str]]:
    """The pairs of a schema's metadata in their order; its mapping keeps only the last of each key."""
    text = schema.to_string(truncate_metadata=False, show_schema_metadata=True)
    for line in text.split(f"{_MARK}\n", 1)[1].split("\n"):
        match = _LINE.fullmatch(line)
        if match is None:
            raise ValueError("a name that goes over several lines")
        yield match["key"], match["value"]


def _read(lines: deque[tuple[str, str]], batch: pa.RecordBatch) -> Node:
    key, value = lines.popleft()
    match key:
        case "literal":
            return Constant(_python_value(batch.column(int(value))[0]))
        case "field_ref":
            return Column((value,))
        case "nested_field_ref":
            names = [lines.popleft() for _ in range(int(value))]
            if any(kind != "field_ref" for kind, _ in names):
                raise ValueError("a path of something else than names")
            return Column(tuple(name for _, name in names))
        case "call":
            return _call(value, lines, batch)
        case _:
            raise ValueError(f"{key} begins no expression")


def _python_value(constant: pa.Scalar[Any]) -> Any:
    """A constant as Python has it; as Arrow has it where Python does not, such as a day in the year -5000."""
    try:
        return constant.as_py()
    except (OverflowError, ValueError):
        return constant


def _call(function: str, lines: deque[tuple[str, str]], batch: pa.RecordBatch) -> Call:
    arguments: list[Node] = []
    options: dict[str, Any] = {}
    while lines[0][0] != "end":
        if lines[0][0] == "options":
            options = batch.column(int(lines.popleft()[1]))[0].as_py() or {}
        else:
            arguments.append(_read(lines, batch))
    if lines.popleft()[1] != function:
        raise ValueError("another call ends")
    return Call(function, tuple(arguments), options)


def operands_of(condition: pc.Expression) -> tuple[str, list[pc.Expression]] | None:
    """The connective that joins a condition, and what it joins, as expressions; ``None`` where none does, or it is not understood.

    Arrow takes no expression apart.  But the bytes of an operand are a range of those of the whole.
    """
    data = written(condition)
    if data is None:
        return None
    try:
        with pa.ipc.open_file(pa.py_buffer(data)) as file:
            batch = file.get_batch(0)
        lines = list(_metadata(file.schema))
        kind, name = lines[0]
        if kind != "call" or name not in CONNECTIVES:
            return None
        rest = deque(lines[1:])
        made: Any = cast("Any", condition.__reduce__())[0]
        found: list[pc.Expression] = []
        while rest[0][0] != "end":
            start = len(lines) - len(rest)
            _read(rest, batch)
            found.append(made(_with_metadata(batch, lines[start : len(lines) - len(rest)])))
    except (pa.ArrowException, ValueError, TypeError, LookupError, RecursionError):
        return None
    return name, found


def _with_metadata(batch: pa.RecordBatch, lines: list[tuple[str, str]]) -> pa.Buffer:
    """Arrow's bytes of the expression that some lines describe, with the constants of a greater one."""
    make: Any = pa.KeyValueMetadata  # its stub knows no pairs
    pairs = make(lines)
    schema = batch.schema.with_metadata(pairs)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, schema) as file:
        file.write_batch(pa.RecordBatch.from_arrays(batch.columns, schema=schema))
    return sink.getvalue()


def columns_of(node: Node) -> set[Path]:
    """The columns that a tree refers to."""
    match node:
        case Column(path):
            return {path}
        case Call(_, arguments):
            return {path for argument in arguments for path in columns_of(argument)}
        case _:
            return set()


CONNECTIVES = frozenset(("and_kleene", "or_kleene", "and", "or"))


def only_looks_up(condition: pc.Expression, column: str) -> bool:
    """True if a condition asks of a column only whether it equals given texts without line feeds, or is null.

    Then what is true of a value that holds line feeds is false under every such question: joined pieces are never
    looked for, and the pieces say all.
    """
    node = tree_of(condition)
    return node is not None and _looks_up(node, (column,))


def _looks_up(node: Node, column: Path) -> bool:
    if column not in columns_of(node):
        return True
    match node:
        case Call(name, arguments) if name in CONNECTIVES:
            return all(_looks_up(argument, column) for argument in arguments)
        case Call("equal", (Column(), Constant(value)) | (Constant(value), Column())):
            return _is_plain(value)
        case Call("is_in", (Column(),), options):
            return all(_is_plain(value) for value in options["value_set"])
        case Call("is_null" | "is_valid", (Column(),)):
            return True
        case Call("if_else", (Call("is_valid", (Column(asked),)), then, Constant(None))) if asked == column:
            return _looks_up(then, column)  # as DuckDB writes IN
        case _:
            return False


def _is_plain(value: Any) -> bool:
    return value is None or (isinstance(value, str) and idx1.SEPARATOR not in value)
