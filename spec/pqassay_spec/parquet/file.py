"""The framing of a Parquet file: magics, footer, and the offsets in the footer.

    offset 0          magic "PAR1"
    4 ...             body: row groups, column and offset indexes, bloom filters, anything else
    footer start      FileMetaData, compact Thrift
    file size - 8     footer length, 4 bytes, little-endian
    file size - 4     magic "PAR1"

The footer is found from the end of the file; everything else is found from the footer.

Source: apache/parquet-format, ``README.md``, section "File format"; ``Encryption.md``, section "File Format".
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from construct import Const, Int16ul, Int32sl, Int32ul, Struct

from pqassay_spec.base.errors import FormatError, Malformed, Unsupported
from pqassay_spec.base.sources import Source
from pqassay_spec.grammar.thrift import grammar
from pqassay_spec.grammar.thrift_decoder import ListReader, decode
from pqassay_spec.grammar.trace import Leaf, trace
from pqassay_spec.parquet import displaced
from pqassay_spec.parquet.other_files import AGAIN, Diagnosis
from pqassay_spec.parquet.thrift import BloomFilterHeader, ColumnChunk, FileMetaData

MAGIC = b"PAR1"
"""The first and last bytes of every Parquet file with a plaintext footer."""

ENCRYPTED_MAGIC = b"PARE"
"""The first and last bytes of a Parquet file whose footer is encrypted."""

FOREIGN_MAGICS = {
    ENCRYPTED_MAGIC: "the footer is encrypted, and pqassay has no keys: decrypt a copy to check it",
    b"PAR3": "PAR3 marks footers that are proposed and not specified; pqassay cannot read them",
    b"PARX": "PARX marks a footer that is proposed and not specified; pqassay does not read it",
}
"""Magics of valid files that cannot be read, with the reason."""

SIGNATURE_SIZE = 28
"""Bytes after a signed plaintext footer: a nonce of 12 bytes and a tag of 16."""

# --8<-- [start:grammar]
HEAD = Struct(
    "magic" / Const(MAGIC) * "Begins the file.",
)
"""The first bytes of the file."""

TAIL = Struct(
    "footer_length" / Int32ul * "Bytes of the footer, which ends where this field begins.",
    "magic" / Const(MAGIC) * "Ends the file.",
)
"""The last bytes of the file."""
# --8<-- [end:grammar]

HEAD_SIZE = HEAD.sizeof()
TAIL_SIZE = TAIL.sizeof()
_FOOTER_LENGTH = struct.Struct(cast("Any", Int32ul).fmtstr)
MAGIC_SIZE = len(MAGIC)

FOOTER_VERSIONS = (1, 2)
"""The values of `FileMetaData.version`; both mean the same."""

SUMMARY_NAME = "_metadata"
"""The name of a summary file with the row groups of all files."""

COMMON_SUMMARY_NAME = "_common_metadata"
"""The name of a summary file that has only the schema."""

SUFFIXES = (".parquet", ".parq", ".pq")
"""Endings of the names of Parquet files, in upper or lower case."""

SUMMARY_NAMES = (SUMMARY_NAME, COMMON_SUMMARY_NAME)
"""Names of summary files, which engines write beside the data: their footer repeats the footers of other files."""

BLOOM_HEADER_LIMIT = 256
"""Bytes to read for a bloom filter header if the footer does not give its length; real ones take about 15."""


@dataclass(frozen=True)
class Framing:
    """The places of the parts of a file, in bytes from its start."""

    size: int
    footer_start: int
    footer_length: int

    @property
    def body_start(self) -> int:
        """The first byte after the head."""
        return HEAD_SIZE

    @property
    def tail_start(self) -> int:
        """The first byte of the tail."""
        return self.size - TAIL_SIZE


class ByteRange(NamedTuple):
    """A range of the file that the footer assigns to one structure; empty if only its start is known."""

    start: int
    end: int
    kind: str
    field: str
    row_group: int
    column: str

    @property
    def length(self) -> int:
        """Length of the range in bytes."""
        return self.end - self.start

    def __str__(self) -> str:
        place = f"[{self.start}, {self.end})" if self.length else f"at {self.start}"
        return f"{self.kind} of column {self.column} in row group {self.row_group}, {place}"


def read_head(source: Source) -> None:
    """Check the magic at the beginning of the file.

    Raises:
        Unsupported: The footer is encrypted, or of a kind that is only a proposal.
        Malformed: Rule PQF-001, the file is too short or begins with something else.
    """
    magic = source.read(0, min(MAGIC_SIZE, source.size))
    if magic in FOREIGN_MAGICS:
        raise Unsupported(FOREIGN_MAGICS[magic], field="head.magic", offset=0)
    least = HEAD_SIZE + TAIL_SIZE
    if not MAGIC.startswith(magic):
        known = displaced.beginning(source, MAGIC)
        if known is not None or source.size >= least:
            raise _wrong_magic("begins", magic, known, rule="PQF-001", field="head.magic", offset=0)
    if source.size < least:
        raise Malformed(
            f"{source.size} bytes are too few for a Parquet file, which has at least {least}"
            if source.size
            else "the file is empty",
            rule="PQF-001",
            field="head.magic",
            offset=0,
            expected=f"at least {least} bytes",
            actual=f"{source.size} bytes",
            remedy=AGAIN,
        )


def _wrong_magic(
    how: str, magic: bytes, known: Diagnosis | None, *, rule: str, field: str, offset: int
) -> Malformed:
    return Malformed(
        f"the file {how} with {magic!r}, not with {MAGIC!r}" if known is None else known.reason,
        rule=rule,
        field=field,
        offset=offset,
        length=MAGIC_SIZE,
        expected=repr(MAGIC),
        actual=repr(magic),
        remedy="" if known is None else known.remedy,
    )


def read_framing(source: Source) -> Framing:
    """Find the footer from the end of the file.

    Raises:
        Unsupported: The footer is encrypted, or of a kind that is only a proposal.
        Malformed: Rules PQF-001 (too short, or neither begins nor ends with the magic), PQF-002 (magic at the end), PQF-003 (footer length).
    """
    if source.size < HEAD_SIZE + TAIL_SIZE:
        read_head(source)
    tail_start = source.size - TAIL_SIZE
    raw = source.read(tail_start, TAIL_SIZE)
    magic, place = raw[-MAGIC_SIZE:], source.size - MAGIC_SIZE
    if magic in FOREIGN_MAGICS:
        raise Unsupported(FOREIGN_MAGICS[magic], field="tail.magic", offset=place)
    if magic != MAGIC:
        read_head(source)
        known = displaced.end(source, MAGIC)
        raise _wrong_magic("ends", magic, known, rule="PQF-002", field="tail.magic", offset=place)
    (length,) = _FOOTER_LENGTH.unpack_from(raw)
    available = tail_start - HEAD_SIZE
    if not 0 < length <= available:
        known = displaced.undone(source)
        raise Malformed(
            f"a footer of {length} bytes, where there are {available} bytes between head and tail"
            if known is None
            else known.reason,
            rule="PQF-003",
            field="tail.footer_length",
            offset=tail_start,
            length=TAIL_SIZE - MAGIC_SIZE,
            expected=f"1 to {available}",
            actual=str(length),
            remedy="" if known is None else known.remedy,
        )
    return Framing(source.size, tail_start - length, length)


def read_footer(source: Source, framing: Framing) -> tuple[FileMetaData, int]:
    """Read and decode the footer, as `decode_footer` does; its errors get a diagnosis of the file, if there is one."""
    with undoing(source):
        return decode_footer(source.read(framing.footer_start, framing.footer_length), framing)


@contextmanager
def undoing(source: Source) -> Iterator[None]:
    """Add a diagnosis of the file to an error of a footer that cannot be decoded, if there is one."""
    try:
        yield
    except Malformed as error:
        if (known := displaced.undone(source)) is not None:
            error.reason, error.remedy = f"{known.reason} ({error.reason})", known.remedy
        raise


def decode_footer(
    data: bytes, framing: Framing, *, readers: Collection[ListReader] = ()
) -> tuple[FileMetaData, int]:
    """Decode the bytes of a footer; return the footer and the number of bytes of its struct.

    Args:
        data: The bytes.
        framing: The place of the bytes.
        readers: Readers for lists of some structs, see `pqassay_spec.grammar.thrift_decoder.decode`.

    Raises:
        Malformed: Rule PQF-004, it is not compact Thrift or lacks a required field; with path and file offset.
        Unsupported: It is a FlatBuffer.
    """
    try:
        return decode(
            FileMetaData,
            data,
            root="footer",
            base=framing.footer_start,
            rule="PQF-004",
            readers=readers,
        )
    except Malformed:
        if is_flatbuffer(data):
            raise Unsupported(
                "the footer is a FlatBuffer, which is proposed and not specified; pqassay does not read it",
                field="footer",
                offset=framing.footer_start,
            ) from None
        raise


FLATBUFFER_ROOT = Struct(
    "root" / Int32ul * "Offset of the root table.",
)
"""The beginning of a FlatBuffer."""

FLATBUFFER_TABLE = Struct(
    "vtable" / Int32sl * "Distance back to the table's vtable.",
)
"""The beginning of a table of a FlatBuffer."""

FLATBUFFER_VTABLE = Struct(
    "vtable_size" / Int16ul * "Bytes of the vtable, this field included.",
    "table_size" / Int16ul * "Bytes of the table.",
)
"""The beginning of a vtable; the offsets of the fields follow, two bytes each."""


def is_flatbuffer(data: bytes) -> bool:
    """Whether bytes that are not Thrift may be a FlatBuffer: whether its root table and the vtable of that are consistent.

    Footers in FlatBuffers are proposed (parquet-format pull request 544); until they are specified, they have no magic.
    """

    def fits(start: int, size: int) -> bool:
        return start >= 0 and start + size <= len(data)

    if not fits(0, FLATBUFFER_ROOT.sizeof()):
        return False
    root = int(FLATBUFFER_ROOT.parse(data).root)
    if root < FLATBUFFER_ROOT.sizeof() or not fits(root, FLATBUFFER_TABLE.sizeof()):
        return False
    start = root - int(FLATBUFFER_TABLE.parse(data[root:]).vtable)
    least = FLATBUFFER_VTABLE.sizeof()
    if start < FLATBUFFER_ROOT.sizeof() or not fits(start, least):
        return False
    vtable = FLATBUFFER_VTABLE.parse(data[start:])
    if vtable.vtable_size <= least or vtable.vtable_size % 2 or not fits(start, vtable.vtable_size):
        return False
    entries = data[start + least : start + vtable.vtable_size]
    places = [int.from_bytes(entries[at : at + 2], "little") for at in range(0, len(entries), 2)]
    own = FLATBUFFER_TABLE.sizeof()
    return (
        vtable.table_size >= own
        and fits(root, vtable.table_size)
        and any(places)
        and all(not place or own <= place < vtable.table_size for place in places)
    )


def is_signed(metadata: FileMetaData) -> bool:
    """Whether a signature of `SIGNATURE_SIZE` bytes follows the footer's struct."""
    return metadata.encryption_algorithm is not None


def trace_file(source: Source) -> list[Leaf]:
    """Trace head, footer and tail of a file, in the order of their bytes."""
    read_head(source)
    framing = read_framing(source)
    footer = source.read(framing.footer_start, framing.footer_length)
    _, head = trace(HEAD, source.read(0, HEAD_SIZE), root="head", rule="PQF-001")
    _, body = trace(grammar(FileMetaData), footer, root="footer", base=framing.footer_start, rule="PQF-004")
    raw = source.read(framing.tail_start, TAIL_SIZE)
    _, tail = trace(TAIL, raw, root="tail", base=framing.tail_start, rule="PQF-003")
    return [*head, *body, *tail]


def chunk_start(chunk: ColumnChunk) -> int | None:
    """Offset of the first page of a chunk; ``None`` if its metadata is encrypted or it has no page.

    The dictionary page comes first. Old writers set ``dictionary_page_offset`` to 0 if there is none, and some writers
    leave ``data_page_offset`` at 0 in chunks without values.
    """
    metadata = chunk.meta_data
    if metadata is None:
        return None
    dictionary, data = metadata.dictionary_page_offset, metadata.data_page_offset
    has_data = data != 0 or metadata.num_values != 0
    if dictionary is None or dictionary <= 0:
        return data if has_data else None
    return min(dictionary, data) if has_data else dictionary


def is_elsewhere(chunk: ColumnChunk, framing: Framing) -> bool:
    """Whether a chunk is stored in another file: it names a file, and its first page cannot be in the body of this file.

    Most readers ignore the path. A chunk whose pages can be in this file belongs to this file, even if it names another.
    """
    if not chunk.file_path:
        return False
    start = chunk_start(chunk)
    return start is None or not framing.body_start <= start < framing.footer_start


def is_summary(metadata: FileMetaData, name: str, framing: Framing) -> bool:
    """Whether a file describes other files: by its name, or because all of its chunks are in other files.

    Its key-values are then copies, and the offsets in them refer to those other files.
    """
    if name.rpartition("/")[2] in SUMMARY_NAMES:
        return True
    has_chunks = False
    for group in metadata.row_groups:
        for chunk in group.columns:
            if not is_elsewhere(chunk, framing):
                return False
            has_chunks = True
    return has_chunks


def chunks_of_this_file(
    metadata: FileMetaData, framing: Framing | None = None
) -> Iterator[tuple[int, str, str, ColumnChunk]]:
    """Yield row group, field path, column name and chunk of every chunk that is stored in this file.

    Without ``framing``, a chunk that names another file counts as stored there.
    """
    for index, row_group in enumerate(metadata.row_groups):
        for ordinal, chunk in enumerate(row_group.columns):
            if not chunk.file_path or (framing is not None and not is_elsewhere(chunk, framing)):
                name = ".".join(chunk.meta_data.path_in_schema) if chunk.meta_data else f"#{ordinal}"
                yield index, f"footer.row_groups[{index}].columns[{ordinal}]", name, chunk


def referenced_offsets(metadata: FileMetaData, framing: Framing | None = None) -> Iterator[ByteRange]:
    """Yield every offset into this file that the footer holds, as an empty range, in footer order.

    0 means that there is no offset, except for the first data page of a chunk with values. The chunks are those of `chunks_of_this_file`.
    """
    for index, field, name, chunk in chunks_of_this_file(metadata, framing):
        facts = chunk.meta_data
        offsets: list[tuple[str, str, int | None]] = []
        if facts is not None:
            if facts.data_page_offset or facts.num_values:
                offsets.append(("first data page", "meta_data.data_page_offset", facts.data_page_offset))
            offsets += [
                ("dictionary page", "meta_data.dictionary_page_offset", facts.dictionary_page_offset or None),
                ("index page", "meta_data.index_page_offset", facts.index_page_offset or None),
                ("bloom filter", "meta_data.bloom_filter_offset", facts.bloom_filter_offset or None),
            ]
        offsets += [
            ("column index", "column_index_offset", chunk.column_index_offset or None),
            ("offset index", "offset_index_offset", chunk.offset_index_offset or None),
        ]
        for kind, part, offset in offsets:
            if offset is not None:
                yield ByteRange(offset, offset, kind, f"{field}.{part}", index, name)


def referenced_ranges(
    metadata: FileMetaData, source: Source | None = None, framing: Framing | None = None
) -> Iterator[ByteRange]:
    """Yield every range of this file that the footer assigns to a structure, in footer order.

    Ranges of length 0, chunks stored in another file and chunks without plaintext metadata are left out.
    A bloom filter whose length the footer omits is read from ``source``. It is left out if there is no source, or its
    header does not decode.
    """
    for index, field, name, chunk in chunks_of_this_file(metadata, framing):
        facts = chunk.meta_data
        start = chunk_start(chunk)
        if facts and start is not None and facts.total_compressed_size != 0:
            end = start + facts.total_compressed_size
            yield ByteRange(start, end, "column chunk", f"{field}.meta_data.data_page_offset", index, name)
        for kind, offset, length, part in (
            ("column index", chunk.column_index_offset, chunk.column_index_length, "column_index_offset"),
            ("offset index", chunk.offset_index_offset, chunk.offset_index_length, "offset_index_offset"),
        ):
            if offset and length:
                yield ByteRange(offset, offset + length, kind, f"{field}.{part}", index, name)
        if facts and facts.bloom_filter_offset:
            offset, length = facts.bloom_filter_offset, facts.bloom_filter_length
            if not length and source is not None:
                length = bloom_filter_length(source, offset)
            if length:
                place = f"{field}.meta_data.bloom_filter_offset"
                yield ByteRange(offset, offset + length, "bloom filter", place, index, name)


def bloom_filter_length(source: Source, offset: int) -> int | None:
    """Bytes of a bloom filter, header included, according to its header; ``None`` if the header does not decode."""
    if not 0 <= offset < source.size:
        return None
    data = source.read(offset, min(BLOOM_HEADER_LIMIT, source.size - offset))
    try:
        header, length = decode(BloomFilterHeader, data, root="bloom_filter", base=offset)
    except FormatError:
        return None
    return length + header.numBytes if header.numBytes > 0 else None
