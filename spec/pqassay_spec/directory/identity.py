"""The identity of the data that an entry was made from, so readers notice a copy of the entry in another file.

There are two digests.  `shape_bytes` are the footer's facts about the described column chunks that change whenever a
program rewrites them: rows, sizes, codec, statistics.  They are compared whenever an entry is used, and cost
no read.  The second digest is over the stored bytes of the chunks; it is compared by programs that read them
anyway.

Neither digest includes offsets, so a moved chunk keeps its indexes. They also do not include other columns,
keys, page indexes or bloom filters.

Source: chapter ``directory.md``, section "Identity".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from construct import Array, Bytes, Int8ul, Int32ul, Int64sl, Struct, this

from pqassay_spec.base.errors import Malformed, boundary
from pqassay_spec.directory.entries import PATH, Entry, Path, path_members
from pqassay_spec.grammar.flat_records import FlatStruct, flat_struct, integer_format, member
from pqassay_spec.grammar.xxh64 import xxh64
from pqassay_spec.parquet.file import chunk_start
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf, leaves
from pqassay_spec.parquet.thrift import ColumnMetaData, FileMetaData, RowGroup

Digest = Callable[[bytes], int]
"""A hash of 64 bits."""

ABSENT = -1
"""The value for a null count or a type's length that the footer does not give."""


# --8<-- [start:grammar]
@flat_struct
class ChunkShape(FlatStruct):
    """The facts of the footer about one column chunk."""

    num_rows: int = member(Int64sl, "Rows of the row group.")
    num_values: int = member(Int64sl, "Values, nulls included.")
    uncompressed_size: int = member(Int64sl, "Bytes of the pages before compression.")
    compressed_size: int = member(Int64sl, "Bytes of the pages as stored.")
    codec: int = member(Int32ul, "Compression of the pages.")
    null_count: int = member(Int64sl, "The null count of the statistics; -1 if there is none.")


BOUND = Struct(
    "is_there" / Int8ul * "1 if the statistics give the bound, else 0.",
    "length" / Int32ul * "Bytes of the bound.",
    "value" / Bytes(this.length) * "The bound.",
)
"""One bound of a chunk's statistics: `min_value` or `max_value`."""

CHUNK = Struct(
    "shape" / ChunkShape.grammar * "Counts and sizes.",
    "min_value" / BOUND * "The lower bound.",
    "max_value" / BOUND * "The upper bound.",
)
"""One chunk."""

COLUMN = Struct(
    "path" / PATH * "The column's path.",
    "type" / Int32ul * "Its physical type.",
    "type_length" / Int64sl * "Bytes of a value of fixed length; -1 if the footer gives none.",
    "chunk_count" / Int32ul * "Row groups of the file.",
    "chunks" / Array(this.chunk_count, CHUNK) * "The column's chunks, in the order of the row groups.",
)
"""One described column; the shape of an entry is the shapes of its columns, one after the other."""
# --8<-- [end:grammar]


# --8<-- [start:shape]
def shape_bytes(footer: FileMetaData, columns: Sequence[Path]) -> bytes:
    """The bytes whose XXH64 is the shape of some columns of a file.

    Raises:
        Malformed: Rule DIR-010, a path is not a column of the file, or a fact of the footer about it is impossible.
    """
    with boundary(rule="DIR-010"):
        return b"".join(_column_bytes(footer, *place) for place in described_places(footer, columns))


def shape_of(footer: FileMetaData, columns: Sequence[Path], digest: Digest = xxh64) -> int:
    """The shape of some columns of a file: XXH64 with seed 0. Raises the errors of `shape_bytes`."""
    return digest(shape_bytes(footer, columns))


# --8<-- [end:shape]


def described(footer: FileMetaData, columns: Iterable[Path]) -> list[SchemaLeaf]:
    """The leaves with these paths. Raises `Malformed`, rule DIR-010, if a path matches no leaf or several."""
    return [leaf for _, leaf in described_places(footer, columns)]


def described_places(footer: FileMetaData, columns: Iterable[Path]) -> list[tuple[int, SchemaLeaf]]:
    """The leaves with these paths, each after its position among the chunks of a row group."""
    known = list(enumerate(leaves(footer)))
    places: list[tuple[int, SchemaLeaf]] = []
    for column in columns:
        named = [place for place in known if place[1].is_at(column)]
        if len(named) != 1:
            there = "no column" if not named else f"{len(named)} columns"
            raise Malformed(f"the file has {there} called {'.'.join(column)}", rule="DIR-010")
        places += named
    return places


def described_ranges(footer: FileMetaData, columns: Sequence[Path]) -> Iterator[tuple[int, int]]:
    """Offset and length in bytes of the described chunks, row group by row group, in the order of the columns.

    A chunk begins at its first page, which may be a dictionary page; a chunk without pages, as in an empty row group, has no
    range.  XXH64, with seed 0, of all these bytes in order is the content digest of an entry.

    Raises:
        Malformed: Rule DIR-010.
    """
    positions = [position for position, _ in described_places(footer, columns)]
    for group in footer.row_groups:
        for position in positions:
            chunk = _metadata(group, position)
            start = chunk_start(group.columns[position])
            if start is not None:
                yield start, max(chunk.total_compressed_size, 0)


_TYPE, _TYPE_LENGTH, _CHUNK_COUNT = (
    integer_format(COLUMN, name) for name in ("type", "type_length", "chunk_count")
)
_IS_THERE, _LENGTH = (integer_format(BOUND, name) for name in ("is_there", "length"))
_NO_BOUND = _IS_THERE.pack(0) + _LENGTH.pack(0)


def _column_bytes(footer: FileMetaData, position: int, leaf: SchemaLeaf) -> bytes:
    """Build what `COLUMN` builds. This runs for every entry of every file, and the grammar would take ten times as long."""
    length = leaf.element.type_length
    pieces = [
        PATH.build(path_members(leaf.path)),
        _TYPE.pack(leaf.element.type),
        _TYPE_LENGTH.pack(ABSENT if length is None else length),
        _CHUNK_COUNT.pack(len(footer.row_groups)),
    ]
    for group in footer.row_groups:
        chunk = _metadata(group, position)
        statistics = chunk.statistics
        nulls = statistics.null_count if statistics is not None else None
        shape = ChunkShape(
            group.num_rows,
            chunk.num_values,
            chunk.total_uncompressed_size,
            chunk.total_compressed_size,
            chunk.codec,
            ABSENT if nulls is None else nulls,
        )
        pieces.append(shape.build())
        bounds = (statistics.min_value, statistics.max_value) if statistics is not None else (None, None)
        pieces += [
            _NO_BOUND if one is None else _IS_THERE.pack(1) + _LENGTH.pack(len(one)) + one for one in bounds
        ]
    return b"".join(pieces)


def _metadata(group: RowGroup, position: int) -> ColumnMetaData:
    chunk = group.columns[position].meta_data if position < len(group.columns) else None
    if chunk is None:
        raise Malformed("a described column chunk has no metadata", rule="DIR-010")
    return chunk


# --8<-- [start:stale]
def why_stale(entry: Entry, footer: FileMetaData, digest: Digest = xxh64) -> str:
    """The reason why an entry does not belong to the data of this footer; empty if it does.

    Reads only the footer. ``digest`` is any implementation of XXH64 with seed 0.
    """
    rows = sum(group.num_rows for group in footer.row_groups)
    if entry.head.row_count != rows:
        return f"it describes {entry.head.row_count} rows, but the file has {rows}"
    try:
        shape = shape_of(footer, entry.columns, digest)
    except Malformed as error:
        return error.reason
    return "" if shape == entry.head.shape else f"{entry.names} was rewritten since the entry was made"


# --8<-- [end:stale]
