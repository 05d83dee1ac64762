"""A Parquet file taken apart: every structure parsed, in the order in which the bytes stand.

`take_apart` parses a whole file into a `FileTree`; `put_together` lays the parts out again and writes what
follows from the layout (offsets, lengths, counts, checksums) where it belongs.  Between the two, anything may
be changed: that is how one good file becomes a file that is wrong in one chosen way (`pqassay_spec.mutations`).

What follows from the layout is recomputed only where it was true before, so that a file whose writer leaves a field
at 0 keeps its 0.

Source: chapters ``parquet_file.md`` and ``idx1.md``.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

from construct import Struct as FlatStruct

from pqassay_spec import idx1, idx1_companion
from pqassay_spec.compact_thrift import Record, grammar
from pqassay_spec.compact_thrift_decoder import decode
from pqassay_spec.compact_thrift_values import AnyConstruct
from pqassay_spec.errors import FormatError, Malformed, Unsupported
from pqassay_spec.field_paths import get, put
from pqassay_spec.parquet_file import (
    HEAD,
    HEAD_SIZE,
    MAGIC,
    TAIL,
    bloom_filter_length,
    chunk_start,
    read_footer,
    read_framing,
    read_head,
)
from pqassay_spec.parquet_schema import SchemaLeaf, leaves
from pqassay_spec.parquet_thrift import (
    BloomFilterHeader,
    ColumnIndex,
    CompressionCodec,
    FileMetaData,
    KeyValue,
    OffsetIndex,
    PageHeader,
    PageType,
)
from pqassay_spec.sources import BytesSource, Source
from pqassay_spec.trace import trace

I64_MAX = (1 << 63) - 1

MOST_ROUNDS = 8
"""Layouts that are tried until offsets, which are stored with as many bytes as they need, move nothing any more."""


class EncodedStruct:
    """A Thrift struct of the file, which keeps its bytes as long as nothing in it changes.

    Writers encode the same struct in more than one way; what is not touched shall not change.
    """

    def __init__(self, record: Record, raw: bytes) -> None:
        self.raw = raw
        self.canonical = _built(record)

    def build(self, record: Record) -> bytes:
        """The bytes of the struct as it is now."""
        built = _built(record)
        return self.raw if built == self.canonical else built


@dataclass
class Page:
    """A page: its header, and what stands behind it until the next one."""

    header: PageHeader
    body: bytes
    encoded: EncodedStruct

    def build(self) -> bytes:
        """The bytes of the page."""
        return self.encoded.build(self.header) + self.body


@dataclass
class BloomFilter:
    """A bloom filter: header and bitset."""

    header: BloomFilterHeader
    bitset: bytes
    encoded: EncodedStruct

    def build(self) -> bytes:
        """The bytes of the filter."""
        return self.encoded.build(self.header) + self.bitset


@dataclass
class Chunk:
    """What stands in the body for one column of one row group; each part may be absent."""

    pages: list[Page] = field(default_factory=list[Page])
    column_index: ColumnIndex | None = None
    offset_index: OffsetIndex | None = None
    bloom_filter: BloomFilter | None = None


@dataclass
class RowGroupParts:
    """The chunks of a row group, in schema order."""

    columns: list[Chunk]


@dataclass
class Index:
    """An IDX1 blob, in the layout that ``layout`` names."""

    magic: bytes
    length: int
    payload: bytes
    layout: str = idx1.Layout.PUBLISHED.value

    def build(self) -> bytes:
        """The bytes of the blob; draft G0 is the payload alone."""
        draft = self.layout == idx1.Layout.DRAFT_G0.value
        return _flat(idx1.DRAFT_G0_BLOB if draft else idx1.BLOB, vars(self))


@dataclass
class Piece:
    """A run of bytes in the body.

    Attributes:
        path: Where the tree holds it; empty for bytes that belong to nobody.
        build: Makes its bytes.
    """

    path: str
    build: Callable[[], bytes]


@dataclass
class FileTree:
    """A file taken apart. Paths into it look like ``row_groups[0].columns[1].pages[0].header.crc``.

    Attributes:
        head: The member ``magic``.
        row_groups: What stands in the body for each row group.
        idx1: The embedded index, if there is one that can be read.
        companion: The members of its companion record, if that is a JSON object.
        footer: The footer.
        encoded_footer: Its bytes.
        footer_rest: Bytes that the footer length counts and that stand behind its struct.
        tail: The members ``footer_length`` and ``magic``.
        body: The order of the body.
        leaves: The leaf columns, as they were.
        live: Paths whose value followed from the layout when the file was taken apart; only these are recomputed.
        patch: Path of a leaf of the footer's trace (a length, a count) and the bytes that are to stand there.
        uncounted: Path of a piece whose bytes a careless writer did not count: what stands behind it is
            recorded too early by its length.
    """

    head: dict[str, Any]
    row_groups: list[RowGroupParts]
    idx1: Index | None
    companion: dict[str, Any] | None
    footer: FileMetaData
    encoded_footer: EncodedStruct
    footer_rest: bytes
    tail: dict[str, Any]
    body: list[Piece]
    leaves: list[SchemaLeaf] = field(default_factory=list[SchemaLeaf])
    live: set[str] = field(default_factory=set[str])
    patch: tuple[str, bytes] | None = None
    uncounted: str = ""


# ------------------------------------------------------------------------------------------------ taking apart


def take_apart(data: bytes) -> FileTree:
    """Parse a whole file.

    Raises:
        FormatError: The file is damaged, or its parts overlap.
    """
    source = BytesSource(data)
    read_head(source)
    framing = read_framing(source)
    footer, taken = read_footer(source, framing)
    found: list[tuple[int, int, str, Callable[[], bytes]]] = []
    groups = [RowGroupParts([Chunk() for _ in row_group.columns]) for row_group in footer.row_groups]
    for number, (row_group, parts) in enumerate(zip(footer.row_groups, groups, strict=True)):
        for ordinal, chunk in enumerate(parts.columns):
            path = f"row_groups[{number}].columns[{ordinal}]"
            found += _chunk_pieces(source, row_group.columns[ordinal], chunk, path)
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
    found += _index_piece(source, tree, framing.footer_start)
    _find_companion(tree)
    position = HEAD_SIZE
    for start, end, path, build in sorted(found, key=lambda piece: piece[:2]):
        if start < position:
            raise Malformed(f"{path} overlaps what stands before it", field=path, offset=start)
        _add_gap(tree, data[position:start])
        tree.body.append(Piece(path, build))
        position = end
    _add_gap(tree, data[position : framing.footer_start])
    content, starts = _serialised(tree)
    if content != data:
        raise Unsupported("the parts of the file cannot be put together again", field="footer")
    tree.live = {path for path, value in derived(tree, starts) if get(tree, path) == value}
    return tree


def _add_gap(tree: FileTree, raw: bytes) -> None:
    if raw:
        tree.body.append(Piece("", lambda: raw))


def _chunk_pieces(
    source: Source, declared: Any, chunk: Chunk, path: str
) -> Iterator[tuple[int, int, str, Callable[[], bytes]]]:
    """Yield start, end, path and builder of everything that a chunk has in the body, and fill the chunk."""
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
            yield offset, offset + length, f"{path}.{name}", partial(EncodedStruct(record, raw).build, record)
    if facts is not None and facts.bloom_filter_offset:
        offset = facts.bloom_filter_offset
        length = facts.bloom_filter_length or bloom_filter_length(source, offset) or 0
        raw = source.read(offset, length)
        header, taken = decode(BloomFilterHeader, raw, root="bloom_filter", base=offset)
        bloom = chunk.bloom_filter = BloomFilter(header, raw[taken:], EncodedStruct(header, raw[:taken]))
        yield offset, offset + length, f"{path}.bloom_filter", bloom.build


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
        raise Malformed("bytes stand behind the struct", field=kind.__name__, offset=offset + taken)
    return record


def _index_piece(
    source: Source, tree: FileTree, end: int
) -> Iterator[tuple[int, int, str, Callable[[], bytes]]]:
    """Find the blob that the key points to; a key that points to none is left alone."""
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


def _find_companion(tree: FileTree) -> None:
    pair = pair_with(tree, idx1.COMPANION_KEY)
    try:
        record = idx1_companion.parse_companion(pair.value or "") if pair else None
    except FormatError:
        record = None
    if record is not None:
        tree.companion = {**vars(record), "column": list(record.column)}


def pair_with(tree: FileTree, key: str) -> KeyValue | None:
    """The first key-value pair with a key."""
    return next((pair for pair in tree.footer.key_value_metadata or [] if pair.key == key), None)


# ------------------------------------------------------------------------------------------- putting together


def put_together(tree: FileTree, frozen: Collection[str] = ()) -> bytes:
    """Lay the parts out and write what follows from the layout, where it did so before.

    Args:
        tree: The parts.
        frozen: Paths that keep their value, and everything below them.

    Raises:
        ValueError: A value does not fit into its field.
    """
    kept = tuple(f"{path}{end}" for path in frozen for end in (".", "["))
    paths = {path for path in tree.live if path not in frozen and not path.startswith(kept)}
    written = b""
    for _ in range(MOST_ROUNDS):
        content, starts = _serialised(tree)
        if content == written:
            return content
        written = content
        for path, value in derived(tree, starts):
            if path in paths:
                put(tree, path, value)
    raise ValueError("offsets and sizes do not settle")


def laid_out(tree: FileTree) -> dict[str, tuple[int, int]]:
    """Start and length of every piece of the body as the tree stands, by path: what `derived` asks for."""
    return _serialised(tree)[1]


def _serialised(tree: FileTree) -> tuple[bytes, dict[str, tuple[int, int]]]:
    """The bytes as the tree stands, and the recorded start and the length of every piece of the body."""
    out = bytearray(_flat(HEAD, tree.head))
    starts: dict[str, tuple[int, int]] = {}
    missing = 0
    for piece in tree.body:
        raw = piece.build()
        starts[piece.path] = (len(out) - missing, len(raw))
        out += raw
        if piece.path and piece.path == tree.uncounted:
            missing += len(raw)
    _write_companion(tree)
    out += _footer_bytes(tree)
    return bytes(out) + _flat(TAIL, tree.tail), starts


def _footer_bytes(tree: FileTree) -> bytes:
    """What the footer length counts."""
    built = tree.encoded_footer.build(tree.footer)
    if tree.patch is not None:
        path, raw = tree.patch
        leaf = next(
            (found for found in trace(grammar(FileMetaData), built, root="footer")[1] if found.path == path),
            None,
        )
        if leaf is None:
            raise KeyError(path)
        built = built[: leaf.offset] + raw + built[leaf.offset + leaf.length :]
    return built + tree.footer_rest


def _write_companion(tree: FileTree) -> None:
    """Bring the text of the companion key up to date, if it was made from the members."""
    pair = pair_with(tree, idx1.COMPANION_KEY)
    if tree.companion is not None and pair is not None:
        members: dict[str, Any] = {**tree.companion, "column": tuple(tree.companion["column"])}
        pair.value = idx1_companion.Companion(**members).to_json()


def derived(tree: FileTree, starts: dict[str, tuple[int, int]]) -> Iterator[tuple[str, Any]]:
    """Yield path and value of everything that follows from the layout, what others follow from first."""
    for number, parts in enumerate(tree.row_groups):
        for ordinal, chunk in enumerate(parts.columns):
            yield from _derived_of_chunk(tree, starts, chunk, f"row_groups[{number}].columns[{ordinal}]")
    for number in range(len(tree.row_groups)):
        yield from _derived_of_row_group(tree, starts, number)
    rows = [_rows(tree, number) for number in range(len(tree.row_groups))]
    yield from _sum("footer.num_rows", rows)
    yield from _derived_of_index(tree, starts)
    yield "tail.footer_length", len(_footer_bytes(tree))


def _derived_of_chunk(
    tree: FileTree, starts: dict[str, tuple[int, int]], chunk: Chunk, path: str
) -> Iterator[tuple[str, Any]]:
    declared = f"footer.{path}"
    try:
        facts = get(tree, f"{declared}.meta_data")
    except KeyError:  # the footer does not list the chunk any more
        return
    if chunk.pages and facts is not None:
        start, size = starts[f"{path}.pages"]
        yield from _derived_of_pages(chunk, path, start, plain=facts.codec == CompressionCodec.UNCOMPRESSED)
        yield f"{declared}.meta_data.total_compressed_size", size
        yield f"{declared}.meta_data.total_uncompressed_size", _uncompressed_size(chunk)
        first = start
        if chunk.pages[0].header.type == PageType.DICTIONARY_PAGE:
            yield f"{declared}.meta_data.dictionary_page_offset", start
            first += len(chunk.pages[0].build())
        yield f"{declared}.meta_data.data_page_offset", first
        headers = [page.header.data_page_header or page.header.data_page_header_v2 for page in chunk.pages]
        yield from _sum(
            f"{declared}.meta_data.num_values", [header.num_values for header in headers if header]
        )
    for name in ("column_index", "offset_index"):
        if f"{path}.{name}" in starts:
            start, size = starts[f"{path}.{name}"]
            yield f"{declared}.{name}_offset", start
            yield f"{declared}.{name}_length", size
    if chunk.bloom_filter is not None and f"{path}.bloom_filter" in starts:
        start, size = starts[f"{path}.bloom_filter"]
        yield f"{path}.bloom_filter.header.numBytes", len(chunk.bloom_filter.bitset)
        yield f"{declared}.meta_data.bloom_filter_offset", start
        yield f"{declared}.meta_data.bloom_filter_length", size


def _derived_of_pages(chunk: Chunk, path: str, start: int, *, plain: bool) -> Iterator[tuple[str, Any]]:
    located = 0
    for number, page in enumerate(chunk.pages):
        header = f"{path}.pages[{number}].header"
        yield f"{header}.compressed_page_size", len(page.body)
        if plain:
            yield f"{header}.uncompressed_page_size", len(page.body)
        if page.header.crc is not None:
            crc = zlib.crc32(page.body)
            yield f"{header}.crc", crc - (1 << 32) if crc >> 31 else crc
        size = len(page.build())
        if page.header.type != PageType.DICTIONARY_PAGE and chunk.offset_index is not None:
            if located < len(chunk.offset_index.page_locations or []):
                location = f"{path}.offset_index.page_locations[{located}]"
                yield f"{location}.offset", start
                yield f"{location}.compressed_page_size", size
            located += 1
        start += size


def _derived_of_row_group(
    tree: FileTree, starts: dict[str, tuple[int, int]], number: int
) -> Iterator[tuple[str, Any]]:
    """Sizes, start and rows of a row group, from its pages: never from another field of the footer, which may lie."""
    path = f"footer.row_groups[{number}]"
    chunks = tree.row_groups[number].columns
    places = [starts.get(f"row_groups[{number}].columns[{ordinal}].pages") for ordinal in range(len(chunks))]
    known = [place for place in places if place is not None]
    if known and len(known) == len(places):
        yield f"{path}.total_compressed_size", sum(size for _, size in known)
        yield f"{path}.total_byte_size", sum(_uncompressed_size(chunk) for chunk in chunks)
        yield f"{path}.file_offset", min(start for start, _ in known)
    rows = _rows(tree, number)
    if rows is not None:
        yield f"{path}.num_rows", rows


def _uncompressed_size(chunk: Chunk) -> int:
    return sum(
        len(page.build()) - len(page.body) + (page.header.uncompressed_page_size or 0) for page in chunk.pages
    )


def _rows(tree: FileTree, number: int) -> int | None:
    """Rows of a row group, from the page headers of a column with one value a row; ``None`` without one."""
    for leaf, chunk in zip(tree.leaves, tree.row_groups[number].columns, strict=False):
        counts = _value_counts(chunk)
        if not leaf.max_repetition_level and None not in counts:
            return sum(count for count in counts if count is not None)
    return None


def _value_counts(chunk: Chunk) -> list[int | None]:
    headers = [page.header.data_page_header or page.header.data_page_header_v2 for page in chunk.pages]
    return [header.num_values for header in headers if header]


def _sum(path: str, parts: list[int | None]) -> Iterator[tuple[str, int]]:
    """A path with its sum; nothing where a part is missing or the sum fits into no field."""
    known = [part for part in parts if part is not None]
    if len(known) == len(parts) and -I64_MAX <= sum(known) <= I64_MAX:
        yield path, sum(known)


def _derived_of_index(tree: FileTree, starts: dict[str, tuple[int, int]]) -> Iterator[tuple[str, Any]]:
    if tree.idx1 is None or "idx1" not in starts:
        return
    start, _ = starts["idx1"]
    yield "idx1.length", len(tree.idx1.payload)
    for index, pair in enumerate(tree.footer.key_value_metadata or []):
        path = f"footer.key_value_metadata[{index}].value"
        if pair.key == idx1.KEY:
            yield path, str(start)
        elif pair.key == idx1.LENGTH_KEY:
            yield path, str(len(tree.idx1.payload))
    if tree.companion is not None:
        payload = tree.idx1.payload
        yield "companion.offset", start
        yield "companion.length", len(payload)
        yield "companion.crc32", idx1_companion.blob_crc(tree.idx1.build())
        yield "companion.value_count", len(set(payload.split(idx1.SEPARATOR.encode()))) if payload else 0
        yield from _sum(
            "companion.row_count", [_rows(tree, number) for number in range(len(tree.row_groups))]
        )


# -------------------------------------------------------------------------------------------------- structures


def _built(record: Record) -> bytes:
    return bytes(grammar(type(record)).build(record, incomplete=True))


def _flat(structure: FlatStruct, members: dict[str, Any]) -> bytes:
    """Build a flat structure, true or false: bytes are written as they are, so that a magic may be another one."""
    out = b""
    for member in cast("list[Any]", structure.subcons):
        value = members[member.name]
        out += value if isinstance(value, bytes) else cast("AnyConstruct", member).build(value)
    return out
