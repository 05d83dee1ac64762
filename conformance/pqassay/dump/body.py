"""The structures in the body of a Parquet file that the footer refers to: their ranges, and their tracers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from pqassay.checks.idx1.blob import EmbeddedIndex
from pqassay.dump.forms import Sink
from pqassay.dump.pages import ChunkTrace
from pqassay.dump.regions import Errors, Region, Tracer, listed, stretch, structure, unparsed
from pqassay.under_test.chunks import LONG_HEADER
from pqassay.under_test.file import FileUnderTest, NotApplicable
from pqassay_spec.base.errors import FormatError, Malformed
from pqassay_spec.grammar.thrift import grammar
from pqassay_spec.grammar.thrift_decoder import decode
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.parquet.file import chunk_start
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.thrift import BloomFilterHeader, ColumnChunk, ColumnIndex, OffsetIndex


def column_chunks(file: FileUnderTest, errors: Errors) -> Iterator[Region]:
    """Yield the regions of the pages of every column chunk."""
    leaves: dict[tuple[str, ...], SchemaLeaf] = {}
    with suppress(FormatError):  # without a schema, bodies cannot be decoded
        leaves = {leaf.path: leaf for leaf in file.leaves}
    for path, chunk in _chunks(file):
        facts, start = chunk.meta_data, chunk_start(chunk)
        if facts is None or start is None or not facts.total_compressed_size:
            continue
        end = start + facts.total_compressed_size
        if not _is_inside(file, start, end, f"footer.{path}.meta_data.data_page_offset", errors):
            continue
        if chunk.crypto_metadata is not None:
            yield stretch(f"{path}.pages", start, end, "encrypted pages; pqassay has no keys")
            continue
        leaf = leaves.get(tuple(facts.path_in_schema))
        yield Region(start, end, path, ChunkTrace(file.source, facts, path, start, end, leaf))


def page_indexes(file: FileUnderTest, errors: Errors) -> Iterator[Region]:
    """Yield the regions of every column index and offset index."""
    for path, chunk in _chunks(file):
        for name, kind, start, length in (
            ("column_index", ColumnIndex, chunk.column_index_offset, chunk.column_index_length),
            ("offset_index", OffsetIndex, chunk.offset_index_offset, chunk.offset_index_length),
        ):
            if not start or not length:
                continue
            if not _is_inside(file, start, start + length, f"footer.{path}.{name}_offset", errors):
                continue
            root = f"{path}.{name}"
            if chunk.crypto_metadata is not None:
                yield stretch(root, start, start + length, "an encrypted index; pqassay has no keys")
                continue
            yield Region(start, start + length, root, _record(file, kind, root, start, length))


def _record(
    file: FileUnderTest, kind: type[ColumnIndex | OffsetIndex], root: str, start: int, length: int
) -> Tracer:
    return structure(grammar(kind), lambda: file.source.read(start, length), root, start)


def bloom_filters(file: FileUnderTest, errors: Errors) -> Iterator[Region]:
    """Yield the region of every bloom filter: its header, and its bitset as one leaf."""
    for path, chunk in _chunks(file):
        facts = chunk.meta_data
        if facts is None or not facts.bloom_filter_offset:
            continue
        start, stated, root = facts.bloom_filter_offset, facts.bloom_filter_length, f"{path}.bloom_filter"
        field = f"footer.{path}.meta_data.bloom_filter_offset"
        if not _is_inside(file, start, start + 1, field, errors):
            continue
        room = file.framing.footer_start - start
        if chunk.crypto_metadata is not None:
            if stated is not None and 0 < stated <= room:
                yield stretch(root, start, start + stated, "an encrypted bloom filter; pqassay has no keys")
            continue
        length = stated if stated is not None and 0 < stated <= room else 0
        try:
            raw = file.source.read(start, min(room, LONG_HEADER))
            header, taken = decode(BloomFilterHeader, raw, root=f"{root}.header", base=start, rule="BLM-002")
        except FormatError as error:
            if length:
                yield Region(start, start + length, root, _damaged(file, root, start, length))
            else:
                errors.note(error)
            continue
        size = max(header.numBytes, 0)
        if taken + size > room:
            told = f"a bitset of {size} bytes, but only {room - taken} are left before the footer"
            errors.note(Malformed(told, rule="BLM-004", field=f"{root}.header.numBytes", offset=start))
            size = max(length - taken, 0)
        yield Region(start, start + taken + size, root, _bloom_filter(file, root, start, taken, size))


def _damaged(file: FileUnderTest, root: str, start: int, length: int) -> Tracer:
    def read() -> bytes:
        return file.source.read(start, min(length, LONG_HEADER))

    return structure(grammar(BloomFilterHeader), read, f"{root}.header", start)


def _bloom_filter(file: FileUnderTest, root: str, start: int, taken: int, size: int) -> Tracer:
    of_header = structure(
        grammar(BloomFilterHeader), lambda: file.source.read(start, taken), f"{root}.header", start
    )

    def trace(sink: Sink) -> FormatError | None:
        error = of_header(sink)
        if size:
            reason = f"bits of the bloom filter, {size} bytes"
            sink([unparsed(f"{root}.bitset", start + taken, start + taken + size, reason)])
        return error

    return trace


def embedded_index(file: FileUnderTest, errors: Errors) -> Iterator[Region]:
    """Yield the region of the IDX1 blob, whose payload of values and line feeds is one leaf."""
    try:
        blob = file.part(EmbeddedIndex).blob
        yield Region(blob.start, blob.end, "idx1", listed(idx1.trace_blob(file.source, blob)))
    except NotApplicable:
        pass
    except FormatError as error:
        errors.note(error)


def _chunks(file: FileUnderTest) -> Iterator[tuple[str, ColumnChunk]]:
    """The chunks in this file, each with its path; empty for a summary of other files."""
    if not file.is_summary:
        for _, path, _, chunk in file.own_chunks:
            yield path.removeprefix("footer."), chunk


def _is_inside(file: FileUnderTest, start: int, end: int, field: str, errors: Errors) -> bool:
    """Whether a range lies in the body; if not, an error is noted."""
    framing = file.framing
    if framing.body_start <= start < end <= framing.footer_start:
        return True
    told = f"[{start}, {end}) does not lie in the body, [{framing.body_start}, {framing.footer_start})"
    errors.note(Malformed(told, rule="PQF-008", field=field))
    return False
