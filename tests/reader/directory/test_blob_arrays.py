"""Entries of index directories as readers find them: those that may be used, those that are left aside, and their values."""

from __future__ import annotations

import datetime as dt
import decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from damage import tries
from indexed_directories import add_entry, add_sets, add_sums, footer_of
from places import GOLDEN_FILES
from pqassay_reader.directory.arrays import Located, Sets, Sums, read_indexes
from pqassay_reader.directory.plain_arrays import Packed, plain_arrays
from pqassay_reference.directory.reading.stated_values import index_directory
from pqassay_reference.directory.reading.usable_entries import read_entries
from pqassay_spec.base.sources import BytesSource, FileSource
from pqassay_spec.directory.codes import Granularity, IndexType, Placement
from pqassay_spec.mutation.mutations import Mutation, mutate
from pqassay_spec.parquet.thrift import SchemaElement, Type


def read_all(path: Path) -> tuple[list[Sets | Sums | None], list[str]]:
    """What the entries of a file hold, and what is left aside."""
    with FileSource(path) as source:
        framing, metadata = footer_of(source)
        found = read_entries(metadata)
        indexes = read_indexes(
            [Located(one, source, framing, metadata, found.aside) for one in found.entries]
        )
        return indexes, [str(one) for one in found.aside]


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    """Two row groups of two nations each."""
    path = tmp_path / "sales.parquet"
    table = pa.table(
        {
            "nation": ["Peru", "Chad", "Peru", None, "Fiji", "Fiji"],
            "year": pa.array([2023, 2024, 2023, 2023, 2023, None], pa.int32()),
            "price": pa.array([1, 2, None, 4, 5, 6], pa.int64()),
        }
    )
    pq.write_table(table, path, row_group_size=3)
    return path


@pytest.mark.parametrize("codec", [None, "snappy", "gzip", "zstd", "lz4_raw"])
@pytest.mark.parametrize("placement", [Placement.INLINE, Placement.BODY])
def test_distinct_sets_are_read(sales: Path, placement: Placement, codec: str | None) -> None:
    add_sets(sales, "nation", placement=placement, codec=codec)
    (sets,), aside = read_all(sales)
    assert isinstance(sets, Sets)
    assert (["Chad", "Peru", "Fiji"], []) == (sets.values.to_pylist(), aside)
    assert [0, 2, 3] == sets.starts.tolist()
    assert ([False, True], [True, True]) == (sets.nulls.tolist(), sets.complete.tolist())
    assert ([0, 1], [3, 3]) == (sets.parts.row_group.tolist(), sets.parts.row_count.tolist())


def test_zone_sums_are_read(sales: Path) -> None:
    add_sums(sales, ["nation", "year"], "price", Granularity.FILE)
    (sums,), aside = read_all(sales)
    assert isinstance(sums, Sums)
    assert [] == aside
    assert [None, "Chad", "Fiji", "Fiji", "Peru"] == sums.key_values[0].to_pylist()
    assert [2023, 2024, None, 2023, 2023] == sums.key_values[1].to_pylist()
    assert [1, 1, 1, 1, 2] == sums.groups["row_count"].tolist()
    assert [4, 2, 6, 5, 1] == sums.groups["sum_low"].tolist()
    assert [4, 2, 6, 5, 1] == sums.minima.to_pylist()


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"granularity": 9}, "granularity 9 is not known"),
        ({"codec": 3}, "codec 3 is not known"),
        ({"type_version": 2}, "version 2 of the type is not known"),
        ({"row_count": 5}, "stale: it describes 5 rows, but the file has 6"),
        ({"shape": 5}, "stale: nation was rewritten since the entry was made"),
        ({"crc32": 5}, "the checksum does not fit the blob's bytes"),
        ({"plain_length": 5}, "the blob has 60 bytes, where the entry says 5"),
        ({"plain_length": 1 << 60}, "a blob of 1152921504606846976 bytes; the most are 268435456"),
        ({"granularity": Granularity.FILE}, "the blob has 2 parts, but the file has 1"),
        ({"placement": Placement.EXTENSION, "offset": 0}, "and the footer has no such extension"),
    ],
)
def test_what_cannot_be_used_is_left_aside(sales: Path, changed: dict[str, int], reason: str) -> None:
    add_sets(sales, "nation", placement=Placement.BODY, change=lambda head: head.changed(**changed))
    indexes, aside = read_all(sales)
    assert [] == [one for one in indexes if one is not None]
    assert 1 == len(aside)
    assert aside[0].endswith(reason)


def test_a_key_is_null_or_it_is_not(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    good = (GOLDEN_FILES / "dir" / "sums-by-keys" / "data.parquet").read_bytes()
    path.write_bytes(
        mutate(good, Mutation("set", "directory.entries[0].blob.keys[0].nulls", bytes([0, 0, 2, 0, 0])))
    )

    (unused,), (reason,) = read_all(path)
    assert unused is None
    assert "the null byte of a key is neither 0 nor 1" in reason
    assert {"entries": []} == index_directory(BytesSource(path.read_bytes()))


def test_a_file_written_anew_with_its_old_keys_has_no_index(sales: Path) -> None:
    add_sets(sales, "nation")
    file = pq.ParquetFile(sales)
    table = file.read().slice(1)
    pq.write_table(table.replace_schema_metadata(file.metadata.metadata), sales)
    indexes, aside = read_all(sales)
    assert [] == indexes
    assert ["DISTINCT_SET of nation by ROW_GROUP: stale: it describes 6 rows, but the file has 5"] == aside


@pytest.mark.parametrize("kind", [IndexType.DISTINCT_SET, IndexType.ZONE_SUMS], ids=lambda kind: kind.name)
@tries(40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    places=st.lists(
        st.tuples(st.integers(0, 400), st.sampled_from([0, 1, 7, 128, 255])), min_size=1, max_size=4
    ),
    cut=st.integers(0, 3),
)
def test_a_damaged_blob_with_a_good_checksum_is_read_or_left_aside(
    sales: Path, kind: IndexType, places: list[tuple[int, int]], cut: int
) -> None:
    good = sales.with_suffix(".good")
    if not good.exists():
        add_sets(sales, "nation") if kind is IndexType.DISTINCT_SET else add_sums(sales, ["nation"], "price")
        good.write_bytes(sales.read_bytes())
    sales.write_bytes(good.read_bytes())
    with FileSource(sales) as source:
        entry = read_entries(footer_of(source)[1]).entries[0].entry
    blob = bytearray(entry.inline)
    for place, value in places:
        blob[place % len(blob)] = value
    columns = [path[0] for path in entry.columns]
    add_entry(sales, kind, columns, Granularity.ROW_GROUP, bytes(blob[: len(blob) - cut]), 0)
    indexes, aside = read_all(sales)
    assert 1 == len([one for one in indexes if one is not None]) + len(aside)


VALUES: list[tuple[Any, list[Any]]] = [
    (pa.bool_(), [False, True]),
    (pa.int8(), [-5, 7]),
    (pa.uint16(), [7, 65535]),
    (pa.uint64(), [7, (1 << 64) - 1]),
    (pa.float32(), [-0.0, 0.0, 1.5]),
    (pa.float64(), [-1.5, 2.5]),
    (pa.string(), ["", "ä", "zebra"]),
    (pa.binary(), [b"", b"\xff"]),
    (pa.date32(), [dt.date(1969, 1, 1), dt.date(2024, 2, 29)]),
    (pa.timestamp("us", tz="UTC"), [dt.datetime(2024, 2, 29, tzinfo=dt.UTC)]),
    (pa.decimal128(9, 2), [decimal.Decimal("-1.50"), decimal.Decimal("2.25")]),
    (pa.decimal128(38, 2), [decimal.Decimal("-1.50"), decimal.Decimal("2.25")]),
]


@pytest.mark.parametrize(
    ("kind", "values"), VALUES, ids=lambda one: str(one) if isinstance(one, pa.DataType) else ""
)
def test_values_are_read_in_the_type_of_their_column(tmp_path: Path, kind: Any, values: list[Any]) -> None:
    path = tmp_path / "one.parquet"
    pq.write_table(pa.table({"x": pa.array(values, kind)}), path)
    add_sets(path, "x")
    (sets,), aside = read_all(path)
    assert [] == aside
    assert isinstance(sets, Sets)
    assert pq.read_table(path).column("x").type == sets.values.type
    assert sorted(map(str, values)) == sorted(map(str, sets.values.to_pylist()))


def test_values_of_many_files_are_told_apart_by_their_bytes() -> None:
    text = SchemaElement(name="t", type=Type.BYTE_ARRAY)
    one, two = b"\x01\0\0\0a", b"\x01\0\0\0b"
    good = plain_arrays([Packed(text, one + two, 2), Packed(text, two, 1), Packed(text, b"", 0)])
    assert [[b"a", b"b"], [b"b"], []] == [array.to_pylist() for array in good]
    shifted = plain_arrays([Packed(text, one + two, 1), Packed(text, two, 2), Packed(text, two, 1)])
    assert [None, None, [b"b"]] == [array and array.to_pylist() for array in shifted]


@pytest.mark.parametrize("data", [b"", b"\x01\0\0\0", b"\x02\0\0\0a", b"\x01\0\0\0ab", b"\xff\xff\xff\xffa"])
def test_bytes_that_are_no_values_are_refused(data: bytes) -> None:
    assert [None] == plain_arrays([Packed(SchemaElement(name="t", type=Type.BYTE_ARRAY), data, 1)])
