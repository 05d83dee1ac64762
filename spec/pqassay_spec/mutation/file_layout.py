"""Everything that follows from the places of the parts of a Parquet file: offsets, lengths, counts, checksums.

Each value is computed from the actual bytes, never from another field, which may be wrong.  It is
only written if it was right before, so a field that the writer left at 0 stays 0.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterator
from typing import Any

from pqassay_spec.grammar.field_paths import get, put
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.idx1 import companion as idx1_companion
from pqassay_spec.mutation.directory_tree import derived_of_directory, has_key
from pqassay_spec.mutation.file_tree import ChunkParts, FileTree, footer_bytes, serialised
from pqassay_spec.mutation.operators import thawed
from pqassay_spec.parquet.thrift import CompressionCodec, PageType

I64_MAX = (1 << 63) - 1

MOST_ROUNDS = 8
"""Most layouts to try until all offsets are stable: their own width depends on their value."""


def put_together(tree: FileTree, frozen: Collection[str] = ()) -> bytes:
    """Lay the parts out and update the values that follow from the layout, if they were right before.

    Args:
        tree: The parts.
        frozen: Paths that keep their value, and everything below them.

    Raises:
        ValueError: A value does not fit into its field.
    """
    paths = thawed(tree.live, frozen)
    written = b""
    for _ in range(MOST_ROUNDS):
        content, starts = serialised(tree)
        if content == written:
            return content
        written = content
        for path, value in derived(tree, starts):
            if path in paths:
                put(tree, path, value)
    raise ValueError("offsets and sizes do not settle")


def live_paths(tree: FileTree, starts: dict[str, tuple[int, int]]) -> set[str]:
    """The paths whose current value equals the value from the layout."""
    return {path for path, value in derived(tree, starts) if get(tree, path) == value}


def derived(tree: FileTree, starts: dict[str, tuple[int, int]] | None = None) -> Iterator[tuple[str, Any]]:
    """Yield path and value of everything that follows from the layout; a value comes before those that depend on it.

    ``starts`` are start and length of every piece of the body, if they are known.
    """
    starts = serialised(tree)[1] if starts is None else starts
    for number, parts in enumerate(tree.row_groups):
        for ordinal, chunk in enumerate(parts.columns):
            yield from _derived_of_chunk(tree, starts, chunk, f"row_groups[{number}].columns[{ordinal}]")
    for number in range(len(tree.row_groups)):
        yield from _derived_of_row_group(tree, starts, number)
    rows = [_rows(tree, number) for number in range(len(tree.row_groups))]
    yield from _sum("footer.num_rows", rows)
    yield from _derived_of_index(tree, starts)
    if has_key(tree):
        yield from derived_of_directory(tree, starts)
    yield "tail.footer_length", len(footer_bytes(tree))


def _derived_of_chunk(
    tree: FileTree, starts: dict[str, tuple[int, int]], chunk: ChunkParts, path: str
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
        yield from _sum(f"{declared}.meta_data.num_values", _value_counts(chunk))
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


def _derived_of_pages(chunk: ChunkParts, path: str, start: int, *, plain: bool) -> Iterator[tuple[str, Any]]:
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
    """Sizes, start and rows of a row group, from its pages and not from other fields of the footer, which may be wrong."""
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


def _uncompressed_size(chunk: ChunkParts) -> int:
    return sum(
        len(page.build()) - len(page.body) + (page.header.uncompressed_page_size or 0) for page in chunk.pages
    )


def _rows(tree: FileTree, number: int) -> int | None:
    """Rows of a row group, from the page headers of a column with one value a row; ``None`` without such a column."""
    for leaf, chunk in zip(tree.leaves, tree.row_groups[number].columns, strict=False):
        counts = _value_counts(chunk)
        if not leaf.max_repetition_level and None not in counts:
            return sum(count for count in counts if count is not None)
    return None


def _value_counts(chunk: ChunkParts) -> list[int | None]:
    headers = [page.header.data_page_header or page.header.data_page_header_v2 for page in chunk.pages]
    return [header.num_values for header in headers if header]


def _sum(path: str, parts: list[int | None]) -> Iterator[tuple[str, int]]:
    """A path with its sum; nothing if a part is missing or the sum does not fit into a field."""
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
