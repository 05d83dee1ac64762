"""The trace: the place of every leaf of a parsed structure, from the same declarations that parse it.

`trace` parses with a copy of the construct tree in which every leaf is wrapped to record the stream
position before and after it.  Nothing is declared twice: a grammar that parses can be traced.
"""

from __future__ import annotations

import copy
import io
from collections import OrderedDict
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, NamedTuple, cast

from construct import Array, Renamed, Struct

from pqassay_spec.base.errors import FormatError, Malformed, boundary
from pqassay_spec.grammar.constructs import AnyConstruct, AnySubconstruct, bare
from pqassay_spec.grammar.labelled import Labelled
from pqassay_spec.grammar.thrift import EnumOf, FieldType


class Unparsed(NamedTuple):
    """The value of a leaf whose bytes are not parsed: a description of them, or the reason why they are unknown.

    >>> Unparsed("zeros")
    (zeros)
    """

    reason: str

    def __repr__(self) -> str:
        return f"({self.reason})"


class Leaf(NamedTuple):
    """One leaf: ``length`` bytes at ``offset`` of the file, with the value ``value``.

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


FLUSHED = 4096
"""Most leaves that a recorder with a sink keeps before it passes them on."""


class Recorder:
    """Collects leaves while a traced copy parses, and always knows the current path.

    Args:
        root: Path of the structure itself.
        base: Offset of its bytes in the file.
        keep: Whether to record leaves; otherwise, only the path is known.
        sink: Takes the leaves batch by batch, so a large structure needs little memory.
    """

    def __init__(
        self,
        root: str = "",
        base: int = 0,
        *,
        keep: bool = True,
        sink: Callable[[list[Leaf]], None] | None = None,
    ) -> None:
        self.begin(root, base, keep=keep, sink=sink)

    def begin(
        self, root: str, base: int, *, keep: bool = True, sink: Callable[[list[Leaf]], None] | None = None
    ) -> None:
        """Clear all state for another structure. Traced copies that use this recorder keep working."""
        self.leaves: list[Leaf] = []
        self.base = base
        self.keep = keep
        self.failed: tuple[str, int] | None = None
        self._sink = sink
        self._paths = [root]
        self._docs = [""]

    @property
    def path(self) -> str:
        """The dotted path of the current field."""
        return self._paths[-1]

    def enter(self, name: str | int, doc: str = "") -> None:
        """Go into the field ``name`` (a string) or the array element ``name`` (an integer).

        There is no context manager: after an exception, `path` still names the field that failed.
        """
        outer = self._paths[-1]
        if isinstance(name, int):
            self._paths.append(f"{outer}[{name}]")
        else:
            self._paths.append(f"{outer}.{name}" if outer else name)
        self._docs.append(doc or self._docs[-1])

    def leave(self) -> None:
        """Go back out."""
        self._paths.pop()
        self._docs.pop()

    def note(self, part: str, start: int, end: int, value: Any, doc: str = "", label: str = "") -> None:
        """Record that the bytes ``[start, end)`` of the stream belong to the current path."""
        if self.keep:
            path = self._paths[-1]
            if part:
                path = f"{path}:{part}"
            self.leaves.append(
                Leaf(path, self.base + start, end - start, value, doc or self._docs[-1], label)
            )

    def hand_on(self, *, rest: bool = False) -> None:
        """Pass the leaves to the sink, if there is one: when there are many, or all of them with ``rest``."""
        if self._sink is not None and (rest or len(self.leaves) >= FLUSHED):
            self._sink(self.leaves)
            self.leaves = []

    def part(self, name: str, grammar: AnyConstruct, doc: str) -> AnyConstruct:
        """Wrap a leaf that carries structure."""
        return _Noted(grammar, self, name, doc)

    def leaf(self, grammar: AnyConstruct, kind: FieldType | Labelled | None = None) -> AnyConstruct:
        """Wrap a leaf that carries a value."""
        return _Noted(grammar, self, kind=kind)

    def copy(self, grammar: AnyConstruct, kind: FieldType | None = None) -> AnyConstruct:
        """Copy a construct tree with every leaf wrapped."""
        if isinstance(grammar, Renamed):
            return _Named(self.copy(bare(grammar)), self, grammar.name or "", grammar.docs)
        if isinstance(grammar, Struct):
            twin: Any = copy.copy(grammar)
            twin.subcons = [self.copy(member) for member in grammar.subcons]
            return cast("AnyConstruct", twin)
        if isinstance(grammar, Array):
            twin = copy.copy(cast("Any", grammar))
            twin.subcon = _Element(self.copy(twin.subcon), self)
            return _Indexed(twin)
        # A construct with its own parts makes its traced copy itself.
        if hasattr(grammar, "traced"):
            return cast("AnyConstruct", cast("Any", grammar).traced(self))
        return self.leaf(grammar, kind)


class _Noted(AnySubconstruct):
    def __init__(
        self,
        subcon: AnyConstruct,
        recorder: Recorder,
        part: str = "",
        doc: str = "",
        kind: FieldType | Labelled | None = None,
    ) -> None:
        super().__init__(subcon)
        self.recorder, self.part, self.about = recorder, part, doc
        self.labels = kind if isinstance(kind, (EnumOf, Labelled)) else None

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        start = stream.tell()
        try:
            value = self.subcon._parsereport(stream, context, path)
        except Exception:
            self.recorder.failed = self.recorder.failed or (self.recorder.path, start)
            raise
        label = self.labels.label(value) if self.labels is not None else ""
        self.recorder.note(self.part, start, stream.tell(), value, self.about, label)
        return value


class _Named(AnySubconstruct):
    """A named field; it keeps the name, so ``this.name`` still works."""

    def __init__(self, subcon: AnyConstruct, recorder: Recorder, name: str, doc: str) -> None:
        super().__init__(subcon)
        self.recorder, self.name, self.docs = recorder, name, doc

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        self.recorder.enter(self.name or "", self.docs)
        value = self.subcon._parsereport(stream, context, path)
        self.recorder.leave()
        return value


class _Indexed(AnySubconstruct):
    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        cast("Any", self.subcon).subcon.index = 0
        return self.subcon._parsereport(stream, context, path)


class _Element(AnySubconstruct):
    """An array element, recorded under its index."""

    def __init__(self, subcon: AnyConstruct, recorder: Recorder) -> None:
        super().__init__(subcon)
        self.recorder, self.index = recorder, 0

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        self.recorder.enter(self.index)
        value = self.subcon._parsereport(stream, context, path)
        self.recorder.leave()
        self.index += 1
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
    with _traced(grammar) as (recorder, copied):
        recorder.begin(root, base)
        return _run(copied, data, recorder, rule), recorder.leaves


def trace_into(
    sink: Callable[[list[Leaf]], None],
    grammar: AnyConstruct,
    data: bytes,
    *,
    root: str = "",
    base: int = 0,
) -> FormatError | None:
    """Trace bytes that may be damaged or large: pass the leaves to ``sink`` batch by batch.

    Returns:
        The error that ended the trace, after the leaves before it were passed on. ``None`` if there was no error.
    """
    with _traced(grammar) as (recorder, copied):
        recorder.begin(root, base, sink=sink)
        problem = _problem(copied, data, recorder, None)
        recorder.hand_on(rest=True)
        return problem


def locate(
    grammar: AnyConstruct, data: bytes, *, root: str, base: int, rule: str | None
) -> FormatError | None:
    """Find the leaf at which ``data`` fails to parse; ``None`` if it parses.

    Fast decoders only detect that something is wrong and call this to find the place, so they need no bookkeeping.
    """
    with _traced(grammar) as (recorder, copied):
        recorder.begin(root, base, keep=False)
        return _problem(copied, data, recorder, rule)


KEPT = 64
"""Most grammars whose copies are kept: enough for all structures, but not for grammars that are made for one file."""

_copies: OrderedDict[int, tuple[AnyConstruct, list[tuple[Recorder, AnyConstruct]]]] = OrderedDict()
"""Copies that are not in use, by the ``id`` of the grammar, which is stored so that its ``id`` stays unique."""


@contextmanager
def _traced(grammar: AnyConstruct) -> Generator[tuple[Recorder, AnyConstruct], None, None]:
    """A traced copy of a grammar with its recorder, for one use: making a copy takes longer than tracing most structures."""
    known = _copies.get(id(grammar))
    if known is None:
        known = _copies[id(grammar)] = (grammar, [])
        if len(_copies) > KEPT:
            _copies.popitem(last=False)
    try:
        pair = known[1].pop()  # no other caller gets it now, in any thread
    except IndexError:
        recorder = Recorder()
        pair = recorder, recorder.copy(grammar)
    try:
        yield pair
    finally:
        pair[0].begin("", 0)
        known[1].append(pair)


def _problem(copied: AnyConstruct, data: bytes, recorder: Recorder, rule: str | None) -> FormatError | None:
    try:
        _run(copied, data, recorder, rule)
    except FormatError as error:
        return error
    return None


def _run(copied: AnyConstruct, data: bytes, recorder: Recorder, rule: str | None) -> Any:
    stream = io.BytesIO(data)
    try:
        with boundary(rule=rule):
            return copied.parse_stream(stream)
    except FormatError as error:
        path, start = recorder.failed or (recorder.path, min(stream.tell(), len(data)))
        place = type(error)(error.reason, rule=error.rule, field=path, offset=recorder.base + start)
        raise place from (error.__cause__ or error)
    except RecursionError as error:
        raise Malformed("nesting too deep", rule=rule, field=recorder.path) from error
