"""The releases of the format that a file's writer knew, shown by marks in the file.

The search is needed only for a rule that is newer than the release that all writers know. It looks at the footer, then at structures that
the tier reads anyway: column indexes, offset indexes and page headers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pqassay.under_test.chunks import ColumnChunks, ColumnChunkUnderTest
from pqassay.under_test.file import FileUnderTest, NotApplicable, NotChecked
from pqassay_spec.base.errors import FormatError
from pqassay_spec.grammar.thrift import Record
from pqassay_spec.parquet.release_marks import marks_of
from pqassay_spec.parquet.thrift import ColumnOrder, SchemaElement, Type
from pqassay_spec.rules.catalogue import DEFAULT_FILE
from pqassay_spec.rules.releases import marks_since, releases

FLOATS = (Type.FLOAT, Type.DOUBLE)
"""Physical floating-point types, in addition to two bytes annotated as FLOAT16."""

UNREADABLE = (FormatError, NotApplicable, NotChecked)


class ShownReleases:
    """The marks of releases in a file, available as ``file.part(ShownReleases)``."""

    def __init__(self, file: FileUnderTest) -> None:
        self._file = file
        self._known: set[str] = set()
        self._coming = _marks(file)

    def shows(self, version: str) -> bool:
        """Whether the file shows that its writer knew a release or a later one.

        Always true for a release that every writer is assumed to know, and if the footer cannot be read.
        """
        wanted = marks_since(version)
        if not wanted or self._file.kind != DEFAULT_FILE or not wanted.isdisjoint(self._known):
            return True
        for mark in self._coming:
            self._known.add(mark)
            if mark in wanted:
                return True
        return False


def _marks(file: FileUnderTest) -> Iterator[str]:
    try:
        metadata = file.metadata
    except UNREADABLE:
        # Its marks are unknown, so the rule is applied.
        yield from (mark for one in releases().values() for mark in one.marks)
        return
    yield from marks_of(metadata)
    try:
        chunks = file.part(ColumnChunks).all
    except UNREADABLE:
        return
    for chunk in chunks:
        for read in _DEEPER:
            try:
                records = read(chunk)
            except UNREADABLE:
                continue
            for record in records:
                yield from marks_of(record)


def _column_index(chunk: ColumnChunkUnderTest) -> list[Record]:
    reads = chunk.file.options.reaches("index") and chunk.chunk.column_index_offset is not None
    return [chunk.column_index] if reads else []


def _offset_index(chunk: ColumnChunkUnderTest) -> list[Record]:
    reads = chunk.file.options.reaches("index") and chunk.chunk.offset_index_offset is not None
    return [chunk.offset_index] if reads else []


def _page_headers(chunk: ColumnChunkUnderTest) -> list[Record]:
    return [page.header for page in chunk.pages] if chunk.file.options.reaches("pages") else []


_DEEPER: tuple[Callable[[ColumnChunkUnderTest], list[Record]], ...] = (
    _column_index,
    _offset_index,
    _page_headers,
)


def chunks_counting_nan(file: FileUnderTest) -> list[ColumnChunkUnderTest]:
    """The floating-point chunks of a file whose footer shows that its writer knew nan_count; empty for other files.

    It only examines column orders and these chunks in the footer, since almost no file shows it.
    """
    floats = {ordinal for ordinal, leaf in enumerate(file.leaves) if _is_floating(leaf.element)}
    if not floats:
        return []
    alike = file.alike
    if alike is not None and not alike.others and not file.is_summary:
        counts = any(chunks.has("meta_data", "statistics", "nan_count") for chunks in alike.groups)
        if not counts and not _has_younger_order(file):
            return []
    chunks = [chunk for chunk in file.part(ColumnChunks).all if chunk.ordinal in floats]
    knows = _has_younger_order(file) or any(
        chunk.facts.statistics is not None and chunk.facts.statistics.nan_count is not None
        for chunk in chunks
    )
    return chunks if knows else []


def _has_younger_order(file: FileUnderTest) -> bool:
    orders = zip(file.leaves, file.metadata.column_orders or (), strict=False)
    return any(_is_younger(leaf.element, order) for leaf, order in orders)


def _is_floating(element: SchemaElement) -> bool:
    if element.type == Type.FIXED_LEN_BYTE_ARRAY and element.type_length == 2:
        return element.logicalType is not None and element.logicalType.FLOAT16 is not None
    return element.type in FLOATS


def _is_younger(element: SchemaElement, order: ColumnOrder) -> bool:
    """Whether a column has an order that is as new as nan_count, and may have this order."""
    if order.TYPE_ORDER is not None:
        return False
    if order.IEEE_754_TOTAL_ORDER is not None:
        return _is_floating(element)
    return order.INT96_TIMESTAMP_ORDER is not None and element.type == Type.INT96
