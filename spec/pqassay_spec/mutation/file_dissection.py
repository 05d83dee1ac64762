"""Parse a whole Parquet file into a tree of its parts, so that a single part can be changed.

`pqassay_spec.mutation.file_layout.put_together` builds a file from the parts again.

Source: chapters ``parquet_file.md`` and ``idx1.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from pqassay_spec.base.errors import FormatError, Malformed, Unsupported
from pqassay_spec.base.sources import BytesSource, Source
from pqassay_spec.directory import entries as directory_entries
from pqassay_spec.grammar.thrift_decoder import decode
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.idx1 import companion as idx1_companion
from pqassay_spec.mutation import directory_tree
from pqassay_spec.mutation.file_layout import live_paths
from pqassay_spec.mutation.file_tree import (
    BloomFilter,
    ChunkParts,
    EncodedStruct,
    FileTree,
    Index,
    Page,
    Piece,
    RowGroupParts,
    pair_with,
    serialised,
)
from pqassay_spec.parquet.file import (
    HEAD_SIZE,
    MAGIC,
    bloom_filter_length,
    chunk_start,
    read_footer,
    read_framing,
    read_head,
)
from pqassay_spec.parquet.schema.leaf_columns import leaves
from pqassay_spec.parquet.thrift import BloomFilterHeader, ColumnIndex, OffsetIndex, PageHeader


def take_apart(data: bytes) -> FileTree:
    """Parse a whole file.

    Raises:
        FormatError: The file is damaged, or its parts overlap.
    """
    source = BytesSource(data)
    read_head(source)
    framing = read_framing(source)
    footer, taken = read_footer(source, framing)
    pieces: list[tuple[int, int, str, Callable[[], bytes]]] = []
    groups = [RowGroupParts([ChunkParts() for _ in row_group.columns]) for row_group in footer.row_groups]
    for number, (row_group, parts) in enumerate(zip(footer.row_groups, groups, strict=True)):
        for ordinal, chunk in enumerate(parts.columns):
            path = f"row_groups[{number}].columns[{ordinal}]"
            pieces += _chunk_pieces(source, row_group.columns[ordinal], chunk, path)
    tree = FileTree(
        head={"magic": MAGIC},
        row_groups=groups,
        idx1=None,
        companion=None,
        footer=footer,
        encoded_footer=EncodedStruct(footer, source.read(framing.footer_start, taken)),
        footer_rest=source.read(framing.footer_start + taken, framing.footer_length - taken),
        tail={"footer_length": framing.footer_length, "magic": MAGIC},
        body=[],
        leaves=leaves(footer),
    )
    pieces += _index_piece(source, tree, framing.footer_start)
    _find_companion(tree)
    pieces += _directory_pieces(source, tree, pieces, framing.footer_start)
    position = HEAD_SIZE
    for start, end, path, build in sorted(pieces, key=lambda piece: piece[:2]):
        if start < position:
            raise Malformed(f"{path} overlaps what is before it", field=path, offset=start)
        _add_gap(tree, data[position:start])
        tree.body.append(Piece(path, build))
        position = end
    _add_gap(tree, data[position : framing.footer_start])
    content, starts = serialised(tree)
    if content != data:
        raise Unsupported("the parts of the file cannot be put together again", field="footer")
    tree.live = live_paths(tree, starts)
    return tree


def _add_gap(tree: FileTree, raw: bytes) -> None:
    if raw:
        tree.body.append(Piece("", lambda: raw))


def _chunk_pieces(
    source: Source, declared: Any, chunk: ChunkParts, path: str
) -> Iterator[tuple[int, int, str, Callable[[], bytes]]]:
    """Yield start, end, path and builder of each part of a chunk in the body, and store the parts in the chunk."""
    facts = declared.meta_data
    start = chunk_start(declared)
    if facts is not None and start is not None and not declared.file_path:
        end = start + facts.total_compressed_size
        chunk.pages = list(_pages(source, start, end))
        pages = chunk.pages
        yield start, end, f"{path}.pages", lambda: b"".join(page.build() for page in pages)
    for name, kind in (("column_index", ColumnIndex), ("offset_index", OffsetIndex)):
        offset, length = getattr(declared, f"{name}_offset"), getattr(declared, f"{name}_length")
        if offset and length:
            raw = source.read(offset, length)
            record = _whole(kind, raw, offset)
            setattr(chunk, name, record)
            build = partial(_built_index, chunk, name, EncodedStruct(record, raw))
            yield offset, offset + length, f"{path}.{name}", build
    if facts is not None and facts.bloom_filter_offset:
        offset = facts.bloom_filter_offset
        length = facts.bloom_filter_length or bloom_filter_length(source, offset) or 0
        raw = source.read(offset, length)
        header, taken = decode(BloomFilterHeader, raw, root="bloom_filter", base=offset)
        bloom = chunk.bloom_filter = BloomFilter(header, raw[taken:], EncodedStruct(header, raw[:taken]))
        yield offset, offset + length, f"{path}.bloom_filter", bloom.build


def _built_index(chunk: ChunkParts, name: str, encoded: EncodedStruct) -> bytes:
    """The bytes of the chunk's current index: two chunks may have exchanged theirs."""
    return encoded.build(getattr(chunk, name))


def _pages(source: Source, start: int, end: int) -> Iterator[Page]:
    data = source.read(start, end - start)
    position = 0
    while position < len(data):
        header, taken = decode(PageHeader, data[position:], root="page", base=start + position)
        encoded = EncodedStruct(header, data[position : position + taken])
        position += taken
        size = header.compressed_page_size
        if not 0 <= size <= len(data) - position:
            raise Malformed(f"a page of {size} bytes leaves its chunk", field="page", offset=start + position)
        yield Page(header, data[position : position + size], encoded)
        position += size


def _whole(kind: type[Any], raw: bytes, offset: int) -> Any:
    record, taken = decode(kind, raw, root=kind.__name__, base=offset)
    if taken != len(raw):
        raise Malformed("bytes follow the struct", field=kind.__name__, offset=offset + taken)
    return record


def _index_piece(
    source: Source, tree: FileTree, end: int
) -> Iterator[tuple[int, int, str, Callable[[], bytes]]]:
    """Find the blob that the key points to; if there is no blob, the key is left alone."""
    texts = {pair.key: pair.value for pair in reversed(tree.footer.key_value_metadata or [])}
    try:
        offset = idx1.parse_offset(texts.get(idx1.KEY) or "")
    except FormatError:
        return
    length = texts.get(idx1.LENGTH_KEY)
    layout = idx1.Layout.PUBLISHED if length is None else idx1.Layout.DRAFT_G1
    try:
        blob = idx1.read_blob(source, offset, end)
    except FormatError:
        if length is None:
            return
        blob = idx1.read_draft_g0(source, offset, idx1.parse_offset(length), end)
        layout = idx1.Layout.DRAFT_G0
    tree.idx1 = Index(idx1.MAGIC, len(blob.payload), blob.payload, layout.value)
    yield blob.start, blob.end, "idx1", lambda: tree.idx1.build() if tree.idx1 is not None else b""


def _directory_pieces(
    source: Source, tree: FileTree, others: list[tuple[int, int, str, Callable[[], bytes]]], end: int
) -> Iterator[tuple[int, int, str, Callable[[], bytes]]]:
    """Find the index directory, and its blobs in the body that do not overlap anything else."""
    pair = pair_with(tree, directory_entries.KEY)
    tree.directory = directory_tree.members_of(pair) if pair else None
    if tree.directory is None:
        return
    taken = [(start, stop, path) for start, stop, path, _ in others]
    read = partial(_read_range, source)
    blobs = directory_tree.find_blobs(tree.directory, tree.footer, read, range(HEAD_SIZE, end))
    for number, (start, stop, entry) in enumerate(blobs):
        if (start, stop, directory_tree.SHARED) in taken:
            entry[directory_tree.PLACED], entry[directory_tree.BLOB] = directory_tree.SHARED, None
        elif all(stop <= first or last <= start for first, last, _ in taken):
            path = entry[directory_tree.PLACED] = f"directory.blobs[{number}]"
            taken.append((start, stop, path))
            yield start, stop, path, partial(directory_tree.blob_bytes, entry)
        else:
            entry[directory_tree.BLOB] = None


def _read_range(source: Source, start: int, end: int) -> bytes:
    return source.read(start, end - start)


def _find_companion(tree: FileTree) -> None:
    pair = pair_with(tree, idx1.COMPANION_KEY)
    try:
        record = idx1_companion.parse_companion(pair.value or "") if pair else None
    except FormatError:
        record = None
    if record is not None:
        tree.companion = {**vars(record), "column": list(record.column)}
