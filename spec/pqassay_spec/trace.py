"""The trace: where every leaf of a parsed structure stands, from the same declarations that parse it.

`trace` parses with a copy of the construct tree in which every leaf is wrapped so that it notes the stream
position before and after.  Nothing is declared twice: a grammar that parses can be traced.
"""

# pyright: reportPrivateUsage=false
# Subclasses of Construct call each other's hooks, whose names begin with an underscore.
from __future__ import annotations

import copy
import io
from collections.abc import Generator
from contextlib import contextmanager
from typing import (
    TYPE_CHECKING,
    Any,
    NamedTuple,
    Protocol,
    TypeAlias,
    cast,
    runtime_checkable,
)

from construct import Array, GreedyRange, Renamed, Struct, Subconstruct

from pqassay_spec.compact_thrift import AnyConstruct, EnumOf, FieldType
from pqassay_spec.errors import FormatError, Malformed, boundary

if TYPE_CHECKING:
    AnySubconstruct: TypeAlias = Subconstruct[Any, Any, Any, Any]
else:
    AnySubconstruct = Subconstruct  # generic in its type stubs only


@runtime_checkable
class Traceable(Protocol):
    """A construct with parts of its own, which makes its traced copy itself."""

    def traced(self, recorder: Recorder) -> AnyConstruct:
        """Return a copy whose parts are wrapped by the recorder."""
        ...


class Leaf(NamedTuple):
    """One leaf: ``length`` bytes at ``offset`` of the file hold ``value``.

    ``path`` is dotted, with array indexes (``footer.schema[2].name``).  Bytes that carry structure rather than
    a value (field headers, lengths, counts, stop bytes) have a part after a colon (``footer.schema:count``).
    ``label`` is the name of an enum value.
    """

    path: str
    offset: int
    length: int
    value: Any
    doc: str = ""
    label: str = ""

    @property
    def structural(self) -> bool:
        """Whether the bytes carry structure rather than a value."""
        return ":" in self.path.rpartition(".")[2]


class _Mark(NamedTuple):
    """A place to which a recorder can return."""

    depth: int
    leaves: int
    failed: tuple[str, int] | None


class Recorder:
    """Collects leaves while a traced copy parses; knows the path at every moment."""

    def __init__(self, root: str = "", base: int = 0, *, keep: bool = True) -> None:
        self.leaves: list[Leaf] = []
        self.base = base
        self.keep = keep
        self._segments: list[tuple[str | int, str]] = [(root, "")] if root else []
        self.failed: tuple[str, int] | None = None

    @property
    def path(self) -> str:
        """The dotted path of the field that is being read."""
        parts = [f"[{name}]" if isinstance(name, int) else f".{name}" for name, _ in self._segments]
        return "".join(parts).lstrip(".")

    @contextmanager
    def scope(self, name: str | int, doc: str = "") -> Generator[None]:
        """Read inside the field ``name`` (a string) or the array element ``name`` (an integer)."""
        self._segments.append((name, doc or (self._segments[-1][1] if self._segments else "")))
        yield
        self._segments.pop()  # not on an exception: `path` then still names the field that failed

    def note(self, part: str, start: int, end: int, value: Any, doc: str = "", label: str = "") -> None:
        """Note that the bytes ``[start, end)`` of the stream belong to the current path."""
        if self.keep:
            path = f"{self.path}:{part}" if part else self.path
            doc = doc or (self._segments[-1][1] if self._segments else "")
            self.leaves.append(Leaf(path, self.base + start, end - start, value, doc, label))

    def mark(self) -> _Mark:
        """Remember the place, so that an attempt that fails can be taken back with `rewind`."""
        return _Mark(len(self._segments), len(self.leaves), self.failed)

    def rewind(self, mark: _Mark, leaves: int) -> None:
        """Forget what was noted inside an attempt that failed, but for the first ``leaves`` leaves."""
        del self._segments[mark.depth :]
        del self.leaves[leaves:]
        self.failed = mark.failed

    def part(self, name: str, grammar: AnyConstruct, doc: str) -> AnyConstruct:
        """Wrap a leaf that carries structure."""
        return _Noted(grammar, self, name, doc)

    def leaf(self, grammar: AnyConstruct, kind: FieldType | None = None) -> AnyConstruct:
        """Wrap a leaf that carries a value."""
        return _Noted(grammar, self, kind=kind)

    def copy(self, grammar: AnyConstruct, kind: FieldType | None = None) -> AnyConstruct:
        """Copy a construct tree with every leaf wrapped."""
        if isinstance(grammar, Renamed):
            inner = grammar.subcon
            while isinstance(inner, Renamed):  # ``"name" / X * "doc"`` wraps twice
                inner = inner.subcon
            return _Named(self.copy(inner), self, grammar.name or "", grammar.docs)
        if isinstance(grammar, Struct):
            twin: Any = copy.copy(grammar)
            twin.subcons = [self.copy(member) for member in grammar.subcons]
            return cast("AnyConstruct", twin)
        if isinstance(grammar, (Array, GreedyRange)):
            array: Any = cast("Any", grammar)
            twin = copy.copy(array)
            twin.subcon = _Element(self.copy(array.subcon), self)
            return _Counted(twin, self)
        if isinstance(grammar, Traceable):
            return grammar.traced(self)
        return self.leaf(grammar, kind)


class _Noted(AnySubconstruct):
    """A leaf that notes where it stood."""

    def __init__(
        self,
        subcon: AnyConstruct,
        recorder: Recorder,
        part: str = "",
        doc: str = "",
        kind: FieldType | None = None,
    ) -> None:
        super().__init__(subcon)
        self.recorder, self.part, self.about, self.kind = recorder, part, doc, kind

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        start = stream.tell()
        try:
            value = self.subcon._parsereport(stream, context, path)
        except Exception:
            self.recorder.failed = self.recorder.failed or (self.recorder.path, start)
            raise
        label = self.kind.label(value) if isinstance(self.kind, EnumOf) else ""
        self.recorder.note(self.part, start, stream.tell(), value, self.about, label)
        return value


class _Named(AnySubconstruct):
    """A named field; it keeps the name, by which ``this.name`` finds it."""

    def __init__(self, subcon: AnyConstruct, recorder: Recorder, name: str, doc: str) -> None:
        super().__init__(subcon)
        self.recorder, self.name, self.docs = recorder, name, doc

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        with self.recorder.scope(self.name or "", self.docs):
            return self.subcon._parsereport(stream, context, path)


class _Counted(AnySubconstruct):
    """An array; counts its elements. A `GreedyRange` ends at the first element that fails, which is taken back."""

    def __init__(self, subcon: Any, recorder: Recorder) -> None:
        super().__init__(subcon)
        self.element: _Element = subcon.subcon
        self.recorder = recorder

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        element, mark = self.element, self.recorder.mark()
        outer = element.index, element.leaves
        element.index, element.leaves = 0, mark.leaves
        value = self.subcon._parsereport(stream, context, path)
        self.recorder.rewind(mark, element.leaves)
        element.index, element.leaves = outer
        return value


class _Element(AnySubconstruct):
    """An array element, under its index; knows how many leaves there were when the last one was complete."""

    def __init__(self, subcon: AnyConstruct, recorder: Recorder) -> None:
        super().__init__(subcon)
        self.recorder, self.index, self.leaves = recorder, 0, 0

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        with self.recorder.scope(self.index):
            value = self.subcon._parsereport(stream, context, path)
        self.index += 1
        self.leaves = len(self.recorder.leaves)
        return value


def trace(
    grammar: AnyConstruct,
    data: bytes,
    *,
    root: str = "",
    base: int = 0,
    rule: str | None = None,
) -> tuple[Any, list[Leaf]]:
    """Parse ``data`` and return the value with all leaves in the order of their bytes.

    Args:
        grammar: Any construct declaration.
        data: The bytes of the structure.
        root: Path of the structure itself (``"footer"``).
        base: Offset of ``data`` in the file.
        rule: Id of the rule that ``data`` breaks if it does not parse.

    Raises:
        Malformed: With the path and the file offset of the leaf that failed.
    """
    recorder = Recorder(root, base)
    return _run(grammar, data, recorder, rule), recorder.leaves


def trace_as_far_as_possible(
    grammar: AnyConstruct, data: bytes, *, root: str = "", base: int = 0
) -> tuple[list[Leaf], FormatError | None]:
    """Trace damaged bytes: the leaves before the one that failed, and the error if there was one."""
    recorder = Recorder(root, base)
    try:
        _run(grammar, data, recorder, None)
    except FormatError as error:
        return recorder.leaves, error
    return recorder.leaves, None


def locate(
    grammar: AnyConstruct, data: bytes, *, root: str, base: int, rule: str | None
) -> FormatError | None:
    """Find the leaf at which ``data`` fails to parse; ``None`` if it parses.

    Fast decoders report that something is wrong and let this say where, so that they need no bookkeeping.
    """
    recorder = Recorder(root, base, keep=False)
    try:
        _run(grammar, data, recorder, rule)
    except FormatError as error:
        return error
    return None


def _run(grammar: AnyConstruct, data: bytes, recorder: Recorder, rule: str | None) -> Any:
    stream = io.BytesIO(data)
    try:
        with boundary(rule=rule):
            return recorder.copy(grammar).parse_stream(stream)
    except FormatError as error:
        path, start = recorder.failed or (recorder.path, min(stream.tell(), len(data)))
        place = type(error)(error.reason, rule=error.rule, field=path, offset=recorder.base + start)
        raise place from (error.__cause__ or error)
    except RecursionError as error:
        raise Malformed("nesting too deep", rule=rule, field=recorder.path) from error
