"""Reading _pm: what is opened and read, which snapshot is found, and arrays that say what the grammar says."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from counting_source import CountingSource
from damage import tries
from pm_arrays import require_the_same
from pm_values import COLUMNS, next_snapshots, row_group, snapshot, snapshots
from pqassay_reference.errors import Refused
from pqassay_reference.pm import write
from pqassay_reference.pm.read import PmReader
from pqassay_spec.base.errors import Malformed
from pqassay_spec.base.sources import BytesSource, FileSource, Source
from pqassay_spec.pm import file as pm_file
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm import header as pm_header

BITSET = bytes(range(32))
OLD = snapshot(row_group(0, bloom=BITSET), row_group(1))
NEW = snapshot(OLD.row_groups[0], row_group(1, version=1), row_group(2, bloom=BITSET * 2), footer=20_000)
FILE = write.update(write.create(OLD), NEW)
SIZES = tuple(map(write.value_size, (NEW, OLD)))


def test_opening_reads_header_trailer_and_footer_and_nothing_else() -> None:
    source = CountingSource(FILE)
    reader = PmReader(source)
    descriptors = pm.ColumnDescriptor.size * len(COLUMNS)
    allowed = [
        range(pm.FixedHeader.size + descriptors),
        range(reader.header.sections_start, reader.header.end),
        range(reader.footer.start, reader.size),
    ]
    outside = [
        one
        for one in source.ranges
        if not any(one[0] in part and one[0] + one[1] <= part.stop for part in allowed)
    ]
    assert [] == outside


def test_only_what_is_asked_is_read_then() -> None:
    reader = PmReader(source := CountingSource(FILE))
    source.ranges.clear()
    reader.block(1)
    assert [(reader.footer.blocks[1], reader.header.block_size)] == source.ranges
    source.ranges.clear()
    reader.bloom(2, 1)
    entries = (reader.footer.bloom_start, 3 * pm.InlinedBloom.size)
    offset = reader.footer.blocks[2] + reader.header.block_size
    filter_start = -(-(offset + len(b"Peru and more")) // 8) * 8
    assert [entries, (filter_start, 4), (filter_start + 4, 64)] == source.ranges
    source.ranges.clear()
    assert COLUMNS == tuple(reader.columns)
    assert [(reader.header.names_start, len("tsgrößekey".encode()))] == source.ranges


def test_bytes_behind_the_committed_size_are_never_read() -> None:
    reader = PmReader(source := CountingSource(FILE + b"an update that was stopped"))
    reader.verify(whole_chain=True)
    assert reader.value().row_groups == NEW.row_groups
    assert max(offset + length for offset, length in source.ranges) == len(FILE)


@pytest.mark.parametrize("size", [0, 79, len(FILE) + 1, 1 << 63])
def test_a_committed_size_that_cannot_be_is_an_error(size: int) -> None:
    with pytest.raises(Malformed) as caught:
        PmReader.from_bytes(struct.pack("<Q", size) + FILE[8:])
    assert "PM-002" == caught.value.rule


def test_a_snapshot_is_found_by_the_size_of_the_parquet_file() -> None:
    newest = PmReader.from_bytes(FILE)
    older = newest.snapshot(SIZES[1])
    assert OLD == older.value() == PmReader.from_bytes(FILE, parquet_file_size=SIZES[1]).value()
    assert (2, SIZES[1]) == (older.row_group_count, older.parquet_file_size)
    assert (3, SIZES[0]) == (newest.row_group_count, newest.parquet_file_size)
    assert newest.value() == older.snapshot(SIZES[0]).value()
    assert list(SIZES) == [footer.fields.parquet_file_size for footer in older.snapshots()]


def test_a_snapshot_that_is_not_there_is_refused() -> None:
    with pytest.raises(
        Refused, match=f"no snapshot of a Parquet file of 5 bytes; the newest is of {SIZES[0]}"
    ):
        PmReader.from_bytes(FILE).snapshot(5)


def test_the_checksum_of_an_earlier_snapshot_covers_what_was_there_then() -> None:
    damaged = bytearray(FILE)
    damaged[PmReader.from_bytes(FILE).footer.blocks[2]] ^= 1  # written with the second snapshot
    PmReader.from_bytes(bytes(damaged)).snapshot(SIZES[1]).verify()
    with pytest.raises(Malformed) as caught:
        PmReader.from_bytes(bytes(damaged)).verify()
    assert ("PM-017", "snapshots[0].checksum") == (caught.value.rule, caught.value.field)


def test_the_checksums_of_a_chain_are_computed_in_one_pass() -> None:
    reader = PmReader(source := CountingSource(FILE))
    source.ranges.clear()
    reader.verify(whole_chain=True)
    chain = reader.snapshots()
    read = [one for one in source.ranges if one[1] > 100 and one[0] < chain[0].start]
    covered = [(pm.CRC_START, chain[1].checksum_offset - pm.CRC_START)]
    covered.append((chain[1].checksum_offset, chain[0].checksum_offset - chain[1].checksum_offset))
    assert covered == [one for one in read if one in covered]
    damaged = bytearray(FILE)
    damaged[chain[1].checksum_offset] ^= 1
    raw = pm.CHECKSUM.build({"checksum": pm_file.checksums(BytesSource(bytes(damaged)), chain[:1])[0]})
    damaged[chain[0].checksum_offset : chain[0].checksum_offset + 4] = raw
    PmReader.from_bytes(bytes(damaged)).verify()
    with pytest.raises(Malformed) as caught:
        PmReader.from_bytes(bytes(damaged)).verify(whole_chain=True)
    assert "PM-018" == caught.value.rule


def test_a_file_is_mapped_up_to_its_committed_size(tmp_path: Path) -> None:
    path = tmp_path / "_pm"
    path.write_bytes(FILE + b"behind")
    with PmReader.map(path, parquet_file_size=SIZES[1]) as reader:
        assert (len(FILE), str(path)) == (reader.source.size, reader.source.name)
        kept = reader.chunk_array(1)
        assert OLD == reader.value()
    # An array that outlives the reader keeps the map.
    assert [10, 10, 10] == kept["num_values"].tolist()


def test_a_file_that_was_never_committed_names_itself(tmp_path: Path) -> None:
    path = tmp_path / "_pm"
    path.write_bytes(bytes(200))
    with (
        pytest.raises(Malformed, match=f"{path}, offset 0, header.parquet_meta_file_size: nothing was ever"),
        PmReader.map(path),
    ):
        pass
    path.write_bytes(b"")
    with pytest.raises(Malformed, match="PM-001"), PmReader.map(path):
        pass


def test_columns_are_known_by_their_names() -> None:
    reader = PmReader.from_bytes(FILE)
    assert [0, 1, 2] == [reader.column(name) for name in ("ts", "größe", "key")]
    with pytest.raises(Refused, match="there is no column grosse; there are ts, größe, key"):
        reader.column("grosse")
    twice = replace(OLD, columns=(COLUMNS[0], COLUMNS[1], COLUMNS[1]))
    nested = PmReader.from_bytes(write.create(twice))
    assert [1, 2] == nested.columns_of("größe")
    with pytest.raises(Refused, match="columns \\[1, 2\\] are all called größe"):
        nested.column("größe")


def test_names_that_lie_over_each_other_are_refused_before_they_are_read() -> None:
    many = replace(OLD, columns=tuple(replace(COLUMNS[2], name="n" * 1000) for _ in COLUMNS))
    data = bytearray(write.create(replace(many, sorting=(), designated_timestamp=-1)))
    for column in range(3):
        place = pm_header.descriptor_place(column, "name_offset")
        struct.pack_into("<Q", data, place, pm.FixedHeader.size + 3 * pm.ColumnDescriptor.size)
        place = pm_header.descriptor_place(column, "name_length")
        struct.pack_into("<I", data, place, 3000)
    with pytest.raises(Malformed, match="the names overlap"):
        _ = PmReader.from_bytes(bytes(data)).columns


def test_what_is_not_there_is_refused() -> None:
    reader = PmReader.from_bytes(FILE)
    with pytest.raises(Refused, match="there is no row group 3, of 3"):
        reader.block(3)
    with pytest.raises(Refused, match="there is no row group -1, of 3"):
        reader.chunk_array(-1)
    assert (BITSET, None, None) == (reader.bloom(0, 1), reader.bloom(1, 1), reader.bloom(0, 0))


def test_a_block_outside_the_file_is_an_error_and_no_array() -> None:
    data = bytearray(FILE)
    entry = PmReader.from_bytes(FILE).footer.entries_start
    for stored in (0, 1, 0xFFFFFFFF):
        struct.pack_into("<I", data, entry, stored)
        for read in (PmReader.block, PmReader.chunk_array):
            with pytest.raises(Malformed) as caught:
                read(PmReader.from_bytes(bytes(data)), 0)
            assert ("PM-050", "snapshots[0].row_group_entries[0].block_offset") == (
                caught.value.rule,
                caught.value.field,
            )


# ----------------------------------------------------------------------------------------------------- arrays


@given(st.data())
@tries(50, suppress_health_check=[HealthCheck.too_slow])
def test_arrays_records_and_grammar_say_the_same(data: st.DataObject) -> None:
    first = data.draw(snapshots())
    second = data.draw(next_snapshots(first))
    raw = write.update(write.create(first), second)
    for reader in (
        PmReader.from_bytes(raw),
        PmReader(CountingSource(raw), parquet_file_size=write.value_size(first)),
    ):
        require_the_same(reader, raw)


def test_arrays_over_bytes_copy_nothing() -> None:
    array = PmReader.from_bytes(FILE).chunk_array(0)
    assert np.shares_memory(array, np.frombuffer(FILE, np.uint8))
    assert not array.flags.writeable


def test_an_update_between_reading_the_committed_size_and_mapping_it_is_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "_pm"
    path.write_bytes(write.create(OLD))
    read, updates = pm_header.read_committed_size, [NEW]

    def read_then_updated(source: Source) -> int:
        size = read(source)
        if updates and isinstance(source, FileSource):
            write.update_file(path, updates.pop())
        return size

    monkeypatch.setattr(pm_header, "read_committed_size", read_then_updated)
    with PmReader.map(path) as reader:
        reader.verify()
        assert OLD == reader.value()


def test_an_update_between_opening_a_file_and_reading_its_committed_size_is_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "_pm"
    path.write_bytes(write.create(OLD))
    with FileSource(path) as source:
        write.update_file(path, NEW)

        assert path.stat().st_size == pm_header.read_committed_size(source)
        assert NEW.row_groups == PmReader(source).value().row_groups


def test_a_file_that_was_cut_short_is_damage_however_often_it_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "_pm"
    path.write_bytes(write.create(OLD)[:-1])

    with pytest.raises(Malformed, match="PM-002"), PmReader.map(path):
        pass
