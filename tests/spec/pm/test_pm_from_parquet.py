from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from each import each
from places import INTEROP
from pqassay_spec.base.errors import Malformed, Unsupported
from pqassay_spec.base.sources import BytesSource, FileSource
from pqassay_spec.parquet.file import Framing, read_footer, read_framing
from pqassay_spec.parquet.thrift import (
    ColumnChunk,
    ColumnCryptoMetaData,
    ColumnMetaData,
    ConvertedType,
    DecimalType,
    EncryptionWithFooterKey,
    FieldRepetitionType,
    FileMetaData,
    Float16Type,
    IntType,
    ListType,
    LogicalType,
    MicroSeconds,
    RowGroup,
    SchemaElement,
    SortingColumn,
    Statistics,
    TimestampType,
    TimeUnit,
    Type,
)
from pqassay_spec.pm import file as pm_file
from pqassay_spec.pm import header as pm_header
from pqassay_spec.pm.codes import NO_TYPE, ColumnType, Repetition
from pqassay_spec.pm.from_parquet import questdb_key
from pqassay_spec.pm.from_parquet.bounds import bounds_of
from pqassay_spec.pm.from_parquet.fields import fields_of
from pqassay_spec.pm.from_parquet.order import designated_timestamp_of, sorting_of
from pqassay_spec.pm.from_parquet.questdb_key import QuestDBColumn, QuestDBMetadata
from pqassay_spec.pm.from_parquet.snapshot import chunk_of, columns_of, describe, encodings_of
from pqassay_spec.pm.reading import read_value
from pqassay_spec.pm.value import SnapshotColumn, SnapshotValue
from pqassay_spec.pm.value import SnapshotSorting as SortedBy

PATHS: dict[str, Any] = {"drop-rename-1": "schema", "drop-rename-2": "schema"}
"""Real files that QuestDB rewrote; the others are of its first encoding."""

CHAIN = ("o3-chain-2", "o3-chain-3", "o3-chain-4", "o3-chain-5")
"""Real files whose header says that a column never held a null, which was true when it was written."""

REAL = sorted(INTEROP.glob("questdb-*/*/_pm"))

REQUIRED, OPTIONAL, REPEATED = FieldRepetitionType
MICROS = LogicalType(TIMESTAMP=TimestampType(isAdjustedToUTC=True, unit=TimeUnit(MICROS=MicroSeconds())))
FRAMING = Framing(1000, 900, 92)


def leaf(
    name: str = "c", physical: int = Type.INT64, repetition: int = OPTIONAL, **members: Any
) -> SchemaElement:
    return SchemaElement(name=name, type=physical, repetition_type=repetition, **members)


def group(name: str, children: int, repetition: int = OPTIONAL, **members: Any) -> SchemaElement:
    return SchemaElement(name=name, num_children=children, repetition_type=repetition, **members)


def chunk(physical: int = Type.INT64, statistics: Statistics | None = None, **members: Any) -> ColumnChunk:
    facts: dict[str, Any] = {
        "type": physical,
        "encodings": [0, 3],
        "path_in_schema": ["c"],
        "codec": 1,
        "num_values": 10,
        "total_uncompressed_size": 100,
        "total_compressed_size": 80,
        "data_page_offset": 4,
        "statistics": statistics,
    }
    return ColumnChunk(file_offset=0, meta_data=ColumnMetaData(**(facts | members)))


def metadata(elements: Sequence[SchemaElement], *groups: Sequence[ColumnChunk] | RowGroup) -> FileMetaData:
    tops, index = 0, 0
    while index < len(elements):
        tops += 1
        index += _size(elements, index)
    made = partial(RowGroup, total_byte_size=100, num_rows=10)
    row_groups = [one if isinstance(one, RowGroup) else made(columns=list(one)) for one in groups]
    root = SchemaElement(name="root", num_children=tops)
    return FileMetaData(version=1, schema=[root, *elements], num_rows=0, row_groups=row_groups)


def _size(elements: Sequence[SchemaElement], index: int) -> int:
    size = 1
    for _ in range(elements[index].num_children or 0):
        size += _size(elements, index + size)
    return size


def i64(value: int) -> bytes:
    return value.to_bytes(8, "little", signed=True)


def bounds(low: int, high: int) -> Statistics:
    return Statistics(min_value=i64(low), max_value=i64(high), null_count=0)


# ----------------------------------------------------------------------------------------------------- real files


def decoded(path: Path) -> SnapshotValue:
    with FileSource(path) as source:
        size = pm_header.read_committed_size(source)
        header = pm_header.read_header(source, size)
        return read_value(source, header, pm_file.read_snapshot(source, header, size))


def described(data: Path, **options: Any) -> SnapshotValue:
    with FileSource(data) as source:
        framing = read_framing(source)
        footer, _ = read_footer(source, framing)
        questdb = questdb_key.read(footer, len(fields_of(footer)))
        found = describe(footer, framing, questdb=questdb, source=source, **options)
    assert () == found.left_out
    return found.value


@each("path", REAL)
def test_real_files_say_what_their_parquet_files_do(path: Path) -> None:
    name = path.parent.name
    expected = replace(decoded(path), previous_sizes=())
    actual = described(path.with_name("data.parquet"), path=PATHS.get(name, "encode"))

    if name in CHAIN:
        # The header was written when no null had come yet; it says so of the symbol column ever after.
        columns = list(actual.columns)
        assert Repetition.OPTIONAL == columns[3].repetition
        columns[3] = replace(columns[3], repetition=Repetition.REQUIRED)
        actual = replace(actual, columns=tuple(columns))
    assert expected == actual


# -------------------------------------------------------------------------------------------------------- columns


def test_columns_are_named_by_the_field_below_the_root() -> None:
    elements = [leaf("a"), group("s", 2), leaf("x"), leaf("y", repetition=REQUIRED)]
    elements += [group("m", 1), group("list", 1, REPEATED), leaf("element", Type.DOUBLE)]
    found = [(field.name, field.alone) for field in fields_of(metadata(elements))]

    assert [("a", True), ("s", False), ("s", False), ("m", True)] == found


def columns(*elements: SchemaElement, **options: Any) -> Sequence[SnapshotColumn]:
    """The columns of a schema."""
    found = metadata(elements)
    return columns_of(found, fields_of(found), **options)


@pytest.mark.parametrize(
    "mark", [("converted_type", ConvertedType.LIST), ("logicalType", LogicalType(LIST=ListType()))]
)
def test_lists_of_nothing_but_doubles_are_arrays(mark: tuple[str, Any]) -> None:
    marks = dict([mark])
    element = leaf("element", Type.DOUBLE)
    one = [group("v", 1, **marks), group("list", 1, REPEATED), element]
    two = [group("v", 1, **marks), group("list", 1, REPEATED), group("element", 1, **marks), *one[1:]]
    struct = [group("v", 1, **marks), group("list", 1, REPEATED), group("element", 1), element]
    unmarked = [group("v", 1), group("list", 1, REPEATED), element]

    assert [2587, 18971, 10, 10] == [columns(*elements)[0].type for elements in (one, two, struct, unmarked)]


def test_an_id_that_several_columns_claim_is_nobodys() -> None:
    leaves = [leaf(name, field_id=number) for name, number in (("a", 3), ("b", 7), ("c", 7), ("d", -5))]
    found = columns(*leaves, group("s", 2, field_id=9), leaf("x"), leaf("y"))
    assert [3, -1, -1, -1, -1, -1] == [column.id for column in found]


def test_an_id_of_the_key_goes_before_that_of_the_schema() -> None:
    questdb = QuestDBMetadata((QuestDBColumn(6, id=9), QuestDBColumn(6)))
    found = columns(leaf("a", field_id=3), leaf("b", field_id=4), questdb=questdb)
    assert [9, 4] == [column.id for column in found]


def test_both_ways_of_writing_differ_in_repetition_and_ascii_only() -> None:
    statistics = [Statistics(null_count=0), Statistics(null_count=0), Statistics(null_count=1), None]
    found = metadata(
        [leaf("t", repetition=REQUIRED), *(leaf(name, Type.BYTE_ARRAY) for name in "abc")],
        [chunk(Type.INT64), *(chunk(Type.BYTE_ARRAY, one) for one in statistics[1:])],
    )
    symbol = QuestDBColumn(ColumnType.SYMBOL, format=1)
    text = QuestDBColumn(ColumnType.VARCHAR, ascii=True)
    questdb = QuestDBMetadata((QuestDBColumn(131080), symbol, symbol, text))
    ways: tuple[Any, Any] = "schema", "encode"
    schema, encode = (columns_of(found, fields_of(found), questdb=questdb, path=way) for way in ways)

    assert [REQUIRED, OPTIONAL, OPTIONAL, OPTIONAL] == [column.repetition for column in schema]
    assert [OPTIONAL, REQUIRED, OPTIONAL, OPTIONAL] == [column.repetition for column in encode]
    assert [False, False, False, True] == [column.is_ascii for column in schema]
    assert not any(column.is_ascii for column in encode)
    assert [False, True, True, False] == [column.local_key_is_global for column in schema]


def test_levels_and_lengths_stand_in_the_descriptor() -> None:
    element = leaf("element", Type.FIXED_LEN_BYTE_ARRAY, type_length=5)
    (column,) = columns(group("l", 1, REQUIRED), group("list", 1, REPEATED), element)
    assert (1, 2, 5) == (column.max_rep_level, column.max_def_level, column.fixed_byte_len)
    assert Repetition.REQUIRED == column.repetition


def test_levels_beyond_what_a_byte_holds_are_refused() -> None:
    groups = [group(f"g{depth}", 1) for depth in range(255)]
    assert 255 == columns(*groups[1:], leaf())[0].max_def_level
    with pytest.raises(Unsupported, match="column g0: level 256"):
        columns(*groups, leaf())


@pytest.mark.parametrize(
    ("element", "error", "words"),
    [
        (leaf(physical=Type.FIXED_LEN_BYTE_ARRAY), Malformed, "FIXED_LEN_BYTE_ARRAY of None bytes"),
        (leaf(physical=Type.FIXED_LEN_BYTE_ARRAY, type_length=0), Malformed, "of 0 bytes"),
        (leaf(physical=12), Unsupported, "physical type 12 is unknown"),
    ],
)
def test_columns_that_cannot_be_described_are_refused(
    element: SchemaElement, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        describe(metadata([element]), FRAMING)


# -------------------------------------------------------------------------------------------------- column chunks


def test_encodings_of_levels_and_unknown_ones_have_no_bit() -> None:
    cases = {
        0b1: [0, 3, 4],
        0b10: [2],
        0b11: [8, 0],
        0b100: [5],
        0b1000: [6],
        0b10000: [7],
        0b100000: [9, 10, 77],
    }
    for mask, encodings in cases.items():
        facts = chunk(encodings=encodings).meta_data
        assert facts is not None
        assert mask == encodings_of(facts)


def described_chunk(found: ColumnChunk, **options: Any) -> Any:
    field = fields_of(metadata([leaf()]))[0]
    return chunk_of(found, field, ColumnType.LONG, **options)[0]


@pytest.mark.parametrize(
    ("offset", "members"),
    [
        (4, {}),
        (4, {"data_page_offset": 40, "dictionary_page_offset": 4}),
        (40, {"data_page_offset": 40, "dictionary_page_offset": 0}),  # old writers' way to say: none
        (0, {"data_page_offset": 0, "num_values": 0}),
    ],
)
def test_a_chunk_begins_with_its_dictionary_page(offset: int, members: dict[str, Any]) -> None:
    assert offset == described_chunk(chunk(**members)).offset


def test_counts_that_are_not_there_or_negative_are_unknown_and_deprecated_bounds_are_ignored() -> None:
    given = Statistics(null_count=-1, distinct_count=3)
    without, found = described_chunk(chunk()), described_chunk(chunk(statistics=given))
    assert (None, None) == (without.null_count, without.distinct_count)
    assert (None, 3) == (found.null_count, found.distinct_count)
    deprecated = described_chunk(chunk(statistics=Statistics(min=i64(1), max=i64(2))))
    assert (None, None) == (deprecated.min, deprecated.max)
    assert (False, False) == (deprecated.min_exact, deprecated.max_exact)


@pytest.mark.parametrize(
    ("expected", "said", "physical", "is_questdb"),
    [
        (True, None, Type.INT64, False),
        (True, None, Type.BYTE_ARRAY, True),
        (False, None, Type.BYTE_ARRAY, False),
        (False, False, Type.INT64, True),
        (True, True, Type.BYTE_ARRAY, False),
    ],
)
def test_bounds_are_exact_where_the_file_says_so_or_nothing_else_can_be(
    expected: bool, said: bool | None, physical: Type, is_questdb: bool
) -> None:
    given = Statistics(min_value=i64(1), max_value=i64(2), is_min_value_exact=said, is_max_value_exact=said)
    field = fields_of(metadata([leaf(physical=physical)]))[0]
    found, _ = chunk_of(chunk(physical, given), field, NO_TYPE, is_questdb=is_questdb)

    assert (expected, expected) == (found.min_exact, found.max_exact)


FOOTER_KEY = ColumnCryptoMetaData(ENCRYPTION_WITH_FOOTER_KEY=EncryptionWithFooterKey())


def with_member(name: str, value: Any) -> ColumnChunk:
    found = chunk()
    setattr(found, name, value)
    return found


@pytest.mark.parametrize(
    ("broken", "error", "words"),
    [
        (chunk(codec=9), Unsupported, "codec 9 is unknown"),
        (chunk(num_values=-1), Malformed, "-1 is not a count"),
        (chunk(total_compressed_size=-1), Malformed, "-1 is not a count"),
        (chunk(data_page_offset=-4), Malformed, "-4 is not a count"),
        (ColumnChunk(file_offset=0), Unsupported, "encrypted"),
        (with_member("crypto_metadata", FOOTER_KEY), Unsupported, "encrypted"),
        (with_member("file_path", "other.parquet"), Unsupported, "another file"),
    ],
)
def test_chunks_that_cannot_be_described_are_refused(
    broken: ColumnChunk, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words) as caught:
        describe(metadata([leaf()], [broken]), FRAMING)

    assert str(caught.value).startswith("footer.row_groups[0].columns[0].")


def test_row_groups_with_another_number_of_chunks_and_a_key_for_other_columns_are_malformed() -> None:
    with pytest.raises(Malformed, match="1 columns are described, the Parquet file has 2"):
        describe(metadata([leaf("a"), leaf("b")]), FRAMING, questdb=QuestDBMetadata((QuestDBColumn(6),)))
    with pytest.raises(Malformed, match="2 column chunks, of 1 columns") as caught:
        describe(metadata([leaf()], [chunk()], [chunk(), chunk()]), FRAMING)

    assert "footer.row_groups[1].columns" == caught.value.field


# --------------------------------------------------------------------------------------------------------- bounds


FLBA = Type.FIXED_LEN_BYTE_ARRAY
HIGH = b"\xff\xff\xff\xff"
WIDE_DECIMAL = LogicalType(DECIMAL=DecimalType(scale=0, precision=80))
FLOAT16 = LogicalType(FLOAT16=Float16Type())
UNSIGNED = leaf(physical=Type.INT32, logicalType=LogicalType(INTEGER=IntType(bitWidth=32, isSigned=False)))


@each(
    ("element", "low", "high", "kept", "reason"),
    [
        (leaf(), i64(1), i64(2), (True, True), ""),
        (leaf(), i64(1), None, (True, False), ""),
        (leaf(), i64(1)[:4], i64(2), (False, True), "4 bytes, but a value has 8"),
        (leaf(physical=Type.INT96), bytes(12), bytes(12), (True, True), ""),
        (leaf(physical=Type.BYTE_ARRAY), b"", b"a", (False, True), ""),
        (leaf(physical=Type.BYTE_ARRAY), b"a" * 65_535, b"b" * 65_536, (True, False), "65536 bytes"),
        (leaf(physical=FLBA, type_length=2), b"ab", b"abc", (True, False), "3 bytes, but a value has 2"),
        (leaf(physical=FLBA, type_length=2, logicalType=FLOAT16), b"ab", b"cd", (False, False), "half-precision"),
        (leaf(physical=FLBA, type_length=2, logicalType=FLOAT16), None, None, (False, False), ""),
        (leaf(physical=FLBA, type_length=12, converted_type=21), bytes(12), bytes(12), (False, False), "intervals"),
        (leaf(physical=FLBA, type_length=2, logicalType=WIDE_DECIMAL), b"ab", b"cd", (False, False), "no type for"),
        (UNSIGNED, bytes(4), i64(9)[:4], (True, True), ""),
        (UNSIGNED, bytes(4), HIGH, (False, False), "unsigned"),
        (UNSIGNED, bytes(4), None, (False, False), "unsigned"),
        (leaf(physical=Type.INT32, converted_type=ConvertedType.UINT_32), HIGH, HIGH, (False, False), "unsigned"),
        (leaf(physical=Type.INT32, converted_type=ConvertedType.INT_32), HIGH, HIGH, (True, True), ""),
        (leaf(physical=Type.INT32), HIGH, HIGH, (True, True), ""),
    ],
)  # fmt: skip
def test_bounds_are_kept_as_they_are_or_left_out(
    element: SchemaElement, low: bytes | None, high: bytes | None, kept: tuple[bool, bool], reason: str
) -> None:
    found = bounds_of(Statistics(min_value=low, max_value=high), element, NO_TYPE)

    assert (low if kept[0] else None, high if kept[1] else None) == (found.min, found.max)
    assert bool(reason) == bool(found.left_out)
    assert all(reason in why for _, why in found.left_out)


def test_what_is_left_out_is_named() -> None:
    given = Statistics(min_value=b"a", max_value=b"b" * 70_000)
    elements, chunks = [leaf("n"), leaf("s", Type.BYTE_ARRAY)], [chunk(), chunk(Type.BYTE_ARRAY, given)]
    found = describe(metadata(elements, chunks), FRAMING)
    why = "70000 bytes; _pm can hold at most 65535"
    assert [f"MAX of column s in row group 0: {why}"] == [str(one) for one in found.left_out]
    described = found.value.row_groups[0].chunks[1]
    assert (b"a", None) == (described.min, described.max)


# --------------------------------------------------------------------------------------------------------- sorting


def sorted_group(
    by: Sequence[tuple[int, bool]] | None, first: Statistics | None = None, rows: int = 10
) -> RowGroup:
    made = partial(SortingColumn, nulls_first=False)
    declared = None if by is None else [made(column_idx=column, descending=down) for column, down in by]
    columns = [chunk(statistics=first), chunk()]
    return RowGroup(columns=columns, total_byte_size=1, num_rows=rows, sorting_columns=declared)


TWO = [leaf("t", repetition=REQUIRED, logicalType=MICROS), leaf("n")]
UP, DOWN = [(0, False)], [(0, True)]
Declared = list[tuple[int, bool]] | None


@each(
    ("sorting", "declared"),
    [
        ([(0, False)], [UP, UP]),
        ([(0, True), (1, False)], [[(0, True), (1, False)]] * 2),
        ([], [UP, None]),
        ([], [UP, DOWN]),
        ([], [None, None]),
        ([], []),
        ([(1, False)], [[(1, False), (2, False)]]),
        ([(1, False)], [[(1, False), (1, True)]]),
    ],
)
def test_files_of_others_are_sorted_as_all_row_groups_declare(
    sorting: list[tuple[int, bool]], declared: list[Declared]
) -> None:
    found = metadata(TWO, *map(sorted_group, declared))
    assert [SortedBy(*by) for by in sorting] == sorting_of(found, fields_of(found))


def test_row_groups_without_rows_declare_nothing() -> None:
    found = metadata(TWO, sorted_group(UP), sorted_group(None, rows=0))
    assert [SortedBy(0)] == sorting_of(found, fields_of(found))


def test_files_of_questdb_are_sorted_by_the_timestamp_unless_they_declare_something() -> None:
    questdb = QuestDBMetadata((QuestDBColumn(131080), QuestDBColumn(6)))
    plain = metadata(TWO, sorted_group(None))
    other = metadata(TWO, sorted_group(None), sorted_group([(1, False)]))
    assert [SortedBy(0)] == sorting_of(plain, fields_of(plain), questdb)
    assert [SortedBy(1)] == sorting_of(other, fields_of(other), questdb)
    assert [SortedBy(0)] == sorting_of(other, fields_of(other), questdb, path="encode")


@each(
    ("designated", "element", "ranges", "declared"),
    [
        (0, TWO[0], [(1, 5), (5, 9)], UP),
        (-1, TWO[0], [(1, 5), (4, 9)], UP),
        (-1, TWO[0], [(5, 1)], UP),
        (-1, TWO[0], [(1, 5), None], UP),
        (-1, TWO[0], [(1, 5), (5, 9)], DOWN),
        (-1, TWO[0], [(1, 5), (5, 9)], None),
        (-1, leaf("t", logicalType=MICROS), [(1, 5)], UP),
        (-1, leaf("t", repetition=REQUIRED), [(1, 5)], UP),
    ],
)
def test_a_timestamp_is_designated_where_the_bounds_prove_that_it_ascends(
    designated: int, element: SchemaElement, ranges: list[tuple[int, int] | None], declared: Declared
) -> None:
    groups = [sorted_group(declared, None if one is None else bounds(*one)) for one in ranges]
    found = metadata([element, leaf("n")], *groups)

    assert designated == designated_timestamp_of(found, fields_of(found))


def test_the_key_says_which_timestamp_is_designated() -> None:
    found = metadata([leaf("n"), TWO[0]], sorted_group(None))
    questdb = QuestDBMetadata((QuestDBColumn(6), QuestDBColumn(393224)))

    assert 1 == designated_timestamp_of(found, fields_of(found), questdb)
    assert -1 == designated_timestamp_of(found, fields_of(found), QuestDBMetadata((QuestDBColumn(6),) * 2))


# ------------------------------------------------------------------------------------------------- what it needs


def test_filters_that_many_chunks_share_are_not_copied_without_end() -> None:
    path = INTEROP / "questdb-9.4.3" / "bloom" / "data.parquet"
    with FileSource(path) as source:
        framing = read_framing(source)
        footer, _ = read_footer(source, framing)
        footer.row_groups *= 200
        with pytest.raises(Unsupported, match="bloom filters overlap"):
            describe(footer, framing, source=source)
        assert describe(footer, framing, source=source, blooms="external").value.bloom_external


def test_filters_that_cannot_be_read_are_left_out() -> None:
    for offset, words in ((5000, "outside the body"), (10, "cannot be read"), (-1, "outside the body")):
        footer = metadata([leaf()], [chunk(bloom_filter_offset=offset)])
        found = describe(footer, FRAMING, source=BytesSource(bytes(1000)))
        assert () == found.value.bloom_columns
        assert [True] == [words in one.why for one in found.left_out]
