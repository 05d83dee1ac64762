"""Groups of similar column chunks of a file, by their footer and, if the tier reads them, by their page indexes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count, repeat
from operator import itemgetter
from typing import Any, NamedTuple

from pqassay.under_test.alike import Alike, AlikeChunks
from pqassay.under_test.file import FileUnderTest
from pqassay.under_test.index_reads import IndexReads
from pqassay_spec.grammar.thrift_decoder import collector_paused
from pqassay_spec.grammar.thrift_runs import KnownShapes, Slots
from pqassay_spec.grammar.thrift_shapes import Shape
from pqassay_spec.parquet.thrift import ColumnIndex, OffsetIndex, Type

INDEXES: dict[str, KnownShapes[Any]] = {
    "column_index": KnownShapes(ColumnIndex, 0),
    "offset_index": KnownShapes(OffsetIndex, 0),
}
"""The shapes of indexes, which are used for chunks that have an index."""


class _Indexes(NamedTuple):
    """The indexes of one kind of some chunks: shape and slots of each index that has a shape."""

    shapes: list[Shape | None]
    rows: list[Slots]


def alike_groups(file: FileUnderTest) -> Alike | None:
    """The groups of similar chunks; ``None`` if some chunks are in other files, or the layout is not sound."""
    alike = file.alike
    if alike is None or file.layout is None:
        return None
    if not file.options.reaches("index"):
        return alike
    with collector_paused():
        located = _located(file, alike)
        groups = [
            group
            for chunks, indexes in zip(alike.groups, located, strict=True)
            for group in _split(chunks, indexes)
        ]
    return Alike(groups, alike.others)


def _located(file: FileUnderTest, alike: Alike) -> list[list[_Indexes]]:
    """The indexes of each group, by kind of index."""
    ranges: list[tuple[int, int, KnownShapes[Any], _Indexes, int, int]] = []
    located: list[list[_Indexes]] = []
    for chunks in alike.groups:
        size = len(chunks.places)
        located.append([_Indexes([None] * size, [()] * size) for _ in INDEXES])
        for (name, known), indexes in zip(INDEXES.items(), located[-1], strict=True):
            offsets, lengths = chunks.named(f"{name}_offset"), chunks.named(f"{name}_length")
            if offsets is not None and lengths is not None:
                ranges += zip(offsets, lengths, repeat(known), repeat(indexes), count(), chunks.places)
                known.seen += size
    reads, leaves = file.part(IndexReads), file.leaves
    piece, first, last = b"", 0, -1
    for offset, length, known, indexes, number, place in sorted(ranges, key=itemgetter(0)):
        if not first <= offset <= offset + length <= last:
            try:
                piece, first = reads.around(offset, length)
            except (OSError, MemoryError):
                continue  # the rules report that themselves
            last = first + len(piece)
        start, ordinal = offset - first, place % len(leaves)
        match = known.find(piece, start, ordinal)
        if match is None:
            is_text = leaves[ordinal].element.type == Type.BYTE_ARRAY
            known.learn(piece[start : start + length], of_one_length=not is_text)
        elif match[1].end() == start + length:
            indexes.shapes[number], indexes.rows[number] = match[0], match[1].groups()
    return located


def _split(chunks: AlikeChunks, indexes: Sequence[_Indexes]) -> Iterator[AlikeChunks]:
    """Yield the subgroups of a group whose indexes are also alike."""
    split: dict[tuple[Shape | None, ...], list[int]] = {}
    for number, key in enumerate(zip(*(kind.shapes for kind in indexes), strict=True)):
        split.setdefault(key, []).append(number)
    for key, numbers in split.items():
        rows = [chunks.rows[0], *(kind.rows for shape, kind in zip(key, indexes, strict=True) if shape)]
        group = AlikeChunks(chunks.kind, (*chunks.shapes, *filter(None, key)), chunks.totals)
        group.places = [chunks.places[number] for number in numbers]
        group.rows = [[row[number] for number in numbers] for row in rows]
        if len(split) == 1:
            group.update(chunks)
        yield group
