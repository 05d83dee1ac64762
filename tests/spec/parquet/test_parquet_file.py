"""The framing of a Parquet file, on bytes typed by hand, and the ranges that a footer gives away."""

from __future__ import annotations

from typing import Any

import pytest

from each import each
from pqassay_spec.base.errors import FormatError, Malformed, Unsupported
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.grammar.thrift import UnknownField, grammar
from pqassay_spec.parquet.file import (
    ByteRange,
    Framing,
    bloom_filter_length,
    chunk_start,
    is_signed,
    read_footer,
    read_framing,
    read_head,
    referenced_offsets,
    referenced_ranges,
    trace_file,
)
from pqassay_spec.parquet.thrift import (
    AesGcmV1,
    BloomFilterAlgorithm,
    BloomFilterCompression,
    BloomFilterHash,
    BloomFilterHeader,
    ColumnChunk,
    ColumnMetaData,
    CompressionCodec,
    EncryptionAlgorithm,
    FileMetaData,
    RowGroup,
    SchemaElement,
    SplitBlockAlgorithm,
    Type,
    Uncompressed,
    XxHash,
)
from thrift_strategies import small_file

FOOTER = bytes.fromhex(
    "15 02"  # version 1
    "19 1c  48 01 72  15 00  00"  # schema: the root, called "r", without children
    "16 00"  # no rows
    "19 0c"  # no row groups
    "00"
)
FILE = b"PAR1" + FOOTER + bytes.fromhex("0f 00 00 00") + b"PAR1"


def test_the_footer_of_a_file_typed_by_hand_is_found_and_decoded() -> None:
    source = BytesSource(FILE)
    read_head(source)
    framing = read_framing(source)
    assert framing == Framing(size=27, footer_start=4, footer_length=15)
    assert (framing.body_start, framing.tail_start) == (4, 19)
    expected = FileMetaData(
        version=1, schema=[SchemaElement(name="r", num_children=0)], num_rows=0, row_groups=[]
    )
    assert read_footer(source, framing) == (expected, 15)


def test_bytes_between_the_footer_struct_and_the_tail_are_not_counted_as_the_struct() -> None:
    source = BytesSource(b"PAR1body" + FOOTER + bytes(28) + (43).to_bytes(4, "little") + b"PAR1")
    framing = read_framing(source)
    assert (framing.footer_start, framing.footer_length) == (8, 43)
    assert read_footer(source, framing)[1] == 15


def test_a_file_is_traced_from_head_to_tail() -> None:
    leaves = trace_file(BytesSource(FILE))
    assert [(leaf.path, leaf.offset, leaf.length, leaf.value) for leaf in leaves if not leaf.structural] == [
        ("head.magic", 0, 4, b"PAR1"),
        ("footer.version", 5, 1, 1),
        ("footer.schema[0].name", 10, 1, "r"),
        ("footer.schema[0].num_children", 12, 1, 0),
        ("footer.num_rows", 15, 1, 0),
        ("tail.footer_length", 19, 4, 15),
        ("tail.magic", 23, 4, b"PAR1"),
    ]
    assert sum(leaf.length for leaf in leaves) == len(FILE)


def outcome(data: bytes) -> FormatError | None:
    """Read everything there is; return what is wrong."""
    source = BytesSource(data)
    try:
        framing = read_framing(source)
        read_head(source)
        read_footer(source, framing)
    except FormatError as error:
        return error
    return None


@each(
    ("data", "rule", "field", "offset", "reason"),
    [
        (b"", "PQF-001", "head.magic", 0, "the file is empty"),
        (FILE[:11], "PQF-001", "head.magic", 0, "11 bytes are too few for a Parquet file, which has at least 12"),
        (b"PAR2" + FILE[4:], "PQF-001", "head.magic", 0, "the file begins with b'PAR2', not with b'PAR1'"),
        (FILE[:-4] + b"par1", "PQF-002", "tail.magic", 23, "the file ends with b'par1', not with b'PAR1'"),
        (FILE + b"\n", "PQF-002", "tail.magic", 24, "1 byte (0a) is behind the end of the Parquet file"),
        (b"PAR1" + bytes(4) + b"PAR1", "PQF-003", "tail.footer_length", 4, "a footer of 0 bytes, where there are 0 bytes between head and tail"),
        (b"PAR1\x01\0\0\0PAR1", "PQF-003", "tail.footer_length", 4, "a footer of 1 bytes, where there are 0 bytes between head and tail"),
        (FILE[:19] + b"\x10\0\0\0PAR1", "PQF-003", "tail.footer_length", 19, "a footer of 16 bytes, where there are 15 bytes between head and tail"),
        (FILE[:19] + b"\xff" * 4 + b"PAR1", "PQF-003", "tail.footer_length", 19, "a footer of 4294967295 bytes, where there are 15 bytes between head and tail"),
        (FILE[:19] + b"\0\0\0\x0fPAR1", "PQF-003", "tail.footer_length", 19, "the footer length has its highest byte first"),
        (FILE[:19] + b"\x0e\0\0\0PAR1", "PQF-004", "footer", 19, "FileMetaData lacks its required field 1, version"),
        (b"PAR1\x15\x02\0\x03\0\0\0PAR1", "PQF-004", "footer", 7, "FileMetaData lacks its required field 2, schema"),
        (b"PAR1" + FOOTER[:-1] + b"\x0e\0\0\0PAR1", "PQF-004", "footer", 18, "the structure is not finished where its bytes end"),
    ],
)  # fmt: skip
def test_what_breaks_the_framing_names_its_rule_and_its_place(
    data: bytes, rule: str, field: str, offset: int, reason: str
) -> None:
    error = outcome(data)
    assert isinstance(error, Malformed)
    assert (error.rule, error.field, error.offset, error.reason) == (rule, field, offset, reason)


@pytest.mark.parametrize(
    ("data", "field", "offset"),
    [
        (b"PARE" + FILE[4:-4] + b"PARE", "tail.magic", 23),
        (b"PARE" + FILE[4:], "head.magic", 0),
        (FILE[:-4] + b"PARE", "tail.magic", 23),
    ],
)
def test_an_encrypted_footer_is_unsupported_and_no_fault_of_the_file(
    data: bytes, field: str, offset: int
) -> None:
    error = outcome(data)
    assert isinstance(error, Unsupported)
    assert (error.field, error.offset, error.rule) == (field, offset, None)
    assert error.reason == "the footer is encrypted, and pqassay has no keys: decrypt a copy to check it"


def test_a_file_cut_anywhere_is_malformed() -> None:
    file = small_file()
    assert outcome(file) is None
    for cut in range(0, len(file), 7):
        assert isinstance(outcome(file[:cut]), Malformed)


def test_a_plaintext_footer_with_an_encryption_algorithm_is_signed() -> None:
    metadata = FileMetaData(version=1, schema=[], num_rows=0, row_groups=[])
    assert not is_signed(metadata)
    metadata.encryption_algorithm = EncryptionAlgorithm(AES_GCM_V1=AesGcmV1())
    assert is_signed(metadata)


# ------------------------------------------------------------------------------------------ ranges given away


def metadata(**members: Any) -> ColumnMetaData:
    """The metadata of a chunk ``a.b`` whose data page is at 104 and whose pages take 50 bytes."""
    values: dict[str, Any] = {
        "type": Type.INT32,
        "encodings": [],
        "path_in_schema": ["a", "b"],
        "codec": CompressionCodec.UNCOMPRESSED,
        "num_values": 1,
        "total_uncompressed_size": 50,
        "total_compressed_size": 50,
        "data_page_offset": 104,
    }
    return ColumnMetaData(**{**values, **members})


def footer(*chunks: ColumnChunk) -> FileMetaData:
    """A footer with one row group for each chunk."""
    groups = [RowGroup(columns=[chunk], total_byte_size=0, num_rows=1) for chunk in chunks]
    return FileMetaData(version=1, schema=[], num_rows=len(chunks), row_groups=groups)


BLOOM = BloomFilterHeader(
    numBytes=32,
    algorithm=BloomFilterAlgorithm(BLOCK=SplitBlockAlgorithm()),
    hash=BloomFilterHash(XXHASH=XxHash()),
    compression=BloomFilterCompression(UNCOMPRESSED=Uncompressed()),
)
BLOOM_HEADER = bytes.fromhex("15 40 1c 1c 00 00 1c 1c 00 00 1c 1c 00 00 00")
COLUMN = "footer.row_groups[0].columns[0]"


@each(
    ("members", "start"),
    [
        ({}, 104),
        ({"dictionary_page_offset": 4}, 4),
        ({"dictionary_page_offset": 0}, 104),  # what old writers set for "none"
        ({"dictionary_page_offset": 200}, 104),
        ({"dictionary_page_offset": -1}, 104),
        ({"data_page_offset": 0, "num_values": 0}, None),
        ({"data_page_offset": 0, "num_values": 0, "dictionary_page_offset": 4}, 4),
        ({"data_page_offset": 0}, 0),
    ],
)
def test_a_chunk_starts_at_its_first_page(members: dict[str, Any], start: int | None) -> None:
    assert chunk_start(ColumnChunk(file_offset=0, meta_data=metadata(**members))) == start


def test_a_chunk_whose_metadata_is_encrypted_has_no_start() -> None:
    assert chunk_start(ColumnChunk(file_offset=0, encrypted_column_metadata=b"...")) is None


def found(chunk: ColumnChunk, source: BytesSource | None = None) -> list[tuple[str, int, int, str]]:
    ranges = list(referenced_ranges(footer(chunk), source))
    assert all((part.row_group, part.length) == (0, part.end - part.start) for part in ranges)
    return [(part.kind, part.start, part.end, part.field) for part in ranges]


def test_a_chunk_gives_away_its_pages_its_indexes_and_its_bloom_filter() -> None:
    chunk = ColumnChunk(
        file_offset=0,
        meta_data=metadata(dictionary_page_offset=4, bloom_filter_offset=300, bloom_filter_length=47),
        column_index_offset=400,
        column_index_length=20,
        offset_index_offset=420,
        offset_index_length=10,
    )
    assert found(chunk) == [
        ("column chunk", 4, 54, f"{COLUMN}.meta_data.data_page_offset"),
        ("column index", 400, 420, f"{COLUMN}.column_index_offset"),
        ("offset index", 420, 430, f"{COLUMN}.offset_index_offset"),
        ("bloom filter", 300, 347, f"{COLUMN}.meta_data.bloom_filter_offset"),
    ]


@each(
    ("chunk", "kinds"),
    [
        (
            ColumnChunk(file_offset=0, meta_data=metadata(total_compressed_size=0, num_values=0)),
            [],
        ),  # no rows
        (ColumnChunk(file_offset=0, meta_data=metadata(data_page_offset=0, num_values=0)), []),
        (ColumnChunk(file_offset=0, meta_data=metadata(dictionary_page_offset=0)), ["column chunk"]),
        (ColumnChunk(file_offset=0, meta_data=metadata(), file_path="part-1.parquet"), []),
        (ColumnChunk(file_offset=0, meta_data=metadata(), file_path=""), ["column chunk"]),
        (ColumnChunk(file_offset=0), []),
        (ColumnChunk(file_offset=0, offset_index_offset=9, offset_index_length=1), ["offset index"]),
        (ColumnChunk(file_offset=0, column_index_offset=9), []),  # no length
        (ColumnChunk(file_offset=0, column_index_offset=9, column_index_length=0), []),
        (ColumnChunk(file_offset=0, column_index_length=9), []),
        (ColumnChunk(file_offset=0, meta_data=metadata(bloom_filter_offset=0)), ["column chunk"]),
        (
            ColumnChunk(file_offset=0, meta_data=metadata(bloom_filter_offset=9)),
            ["column chunk"],
        ),  # nothing to read
    ],
)
def test_what_has_no_bytes_in_this_file_gives_away_no_range(chunk: ColumnChunk, kinds: list[str]) -> None:
    assert [kind for kind, *_ in found(chunk)] == kinds


def test_a_bloom_filter_without_a_length_is_measured_by_its_header() -> None:
    source = BytesSource(bytes(9) + BLOOM_HEADER + bytes(32))
    chunk = ColumnChunk(file_offset=0, meta_data=metadata(bloom_filter_offset=9, total_compressed_size=0))
    assert grammar(BloomFilterHeader).build(BLOOM) == BLOOM_HEADER
    assert found(chunk, source) == [
        ("bloom filter", 9, 9 + 15 + 32, f"{COLUMN}.meta_data.bloom_filter_offset")
    ]


@pytest.mark.parametrize(
    ("data", "offset"),
    [
        (BLOOM_HEADER, 15),
        (BLOOM_HEADER, -1),
        (BLOOM_HEADER[:-1], 0),
        (b"\x00", 0),
        (bytes.fromhex("15 00") + BLOOM_HEADER[2:], 0),  # a bitset of no bytes
        (bytes.fromhex("15 01") + BLOOM_HEADER[2:], 0),  # of -1 bytes
        (b"", 0),
    ],
)
def test_a_bloom_filter_whose_header_does_not_decode_has_no_length(data: bytes, offset: int) -> None:
    assert bloom_filter_length(BytesSource(data), offset) is None


def test_a_bloom_filter_header_with_unknown_fields_is_measured_all_the_same() -> None:
    later = BloomFilterHeader(**{field.name: getattr(BLOOM, field.name) for field in BLOOM.fields})
    later.unknown = (UnknownField(9, 8, b"\x02ab"),)
    data = grammar(BloomFilterHeader).build(later)
    assert bloom_filter_length(BytesSource(data), 0) == len(BLOOM_HEADER) + 4 + 32


def test_ranges_come_in_the_order_of_the_footer_with_the_ordinal_of_their_row_group() -> None:
    second = ColumnChunk(file_offset=0, meta_data=metadata(data_page_offset=4))
    first = ColumnChunk(file_offset=0, meta_data=metadata(data_page_offset=60))
    ranges = list(referenced_ranges(footer(first, second)))
    assert ranges == [
        ByteRange(
            60, 110, "column chunk", "footer.row_groups[0].columns[0].meta_data.data_page_offset", 0, "a.b"
        ),
        ByteRange(
            4, 54, "column chunk", "footer.row_groups[1].columns[0].meta_data.data_page_offset", 1, "a.b"
        ),
    ]
    assert str(ranges[1]) == "column chunk of column a.b in row group 1, [4, 54)"


def test_the_ranges_of_a_real_file_lie_in_its_body_and_do_not_overlap() -> None:
    source = BytesSource(small_file())
    framing = read_framing(source)
    ranges = sorted(referenced_ranges(read_footer(source, framing)[0], source))
    assert [part.kind for part in ranges] == ["column chunk"] * 4 + ["column index"] * 4 + [
        "offset index"
    ] * 4
    position = framing.body_start
    for part in ranges:
        assert part.start == position
        position = part.end
    assert position == framing.footer_start


def test_a_footer_that_does_not_decode_cannot_be_traced_either() -> None:
    source = BytesSource(FILE[:19] + b"\x0e\0\0\0PAR1")
    with pytest.raises(Malformed) as caught:
        trace_file(source)
    assert caught.value.rule == "PQF-004"


def test_offsets_are_given_even_where_no_length_is_known() -> None:
    chunk = ColumnChunk(
        file_offset=0,
        meta_data=metadata(
            data_page_offset=9, dictionary_page_offset=4, index_page_offset=0, bloom_filter_offset=300
        ),
        column_index_offset=400,
    )
    assert [(part.kind, part.start, part.length) for part in referenced_offsets(footer(chunk))] == [
        ("first data page", 9, 0),
        ("dictionary page", 4, 0),
        ("bloom filter", 300, 0),
        ("column index", 400, 0),
    ]


def test_a_chunk_without_values_may_leave_its_page_offset_at_zero() -> None:
    chunk = ColumnChunk(file_offset=0, meta_data=metadata(data_page_offset=0, num_values=0))
    assert list(referenced_offsets(footer(chunk))) == []
