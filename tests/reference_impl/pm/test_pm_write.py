"""Writing _pm: what is where, what an update reuses, and being stopped at any moment."""

from __future__ import annotations

import os
import struct
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from damage import EXAMPLES
from pm_values import KEY, NATION, TIMESTAMP, next_snapshots, row_group, row_groups, snapshot, snapshots
from pqassay_reference.errors import Refused
from pqassay_reference.pm import write as pm_write
from pqassay_reference.pm.parts import Extensions
from pqassay_reference.pm.read import PmReader
from pqassay_reference.pm.storage import MemoryStorage
from pqassay_spec.base.errors import FormatError, Malformed
from pqassay_spec.pm import file as pm_file
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm import header as pm_header
from pqassay_spec.pm.codes import FooterFeature, HeaderFeature, StatFlag, split_reference
from pqassay_spec.pm.value import (
    ExternalBloom,
    SnapshotChunk,
    SnapshotColumn,
    SnapshotRowGroup,
    SnapshotSorting,
    SnapshotValue,
)

pytestmark = pytest.mark.slow

BITSET = bytes(range(64))
OLD = snapshot(row_group(0, bloom=BITSET), row_group(1), row_group(2, bloom=BITSET[:32]), unused_bytes=100)
NEW = snapshot(
    OLD.row_groups[0],
    row_group(1, version=1, bloom=BITSET),
    OLD.row_groups[2],
    row_group(3),
    footer=20_000,
    unused_bytes=900,
)


def value_of(data: bytes, parquet_file_size: int | None = None) -> SnapshotValue:
    """What a reader is told, after all checksums."""
    reader = PmReader.from_bytes(data, parquet_file_size=parquet_file_size)
    reader.verify(whole_chain=True)
    return reader.value()


def following(value: SnapshotValue, *before: SnapshotValue) -> SnapshotValue:
    """A value as it is read from a file in which others came before, the newest of them first."""
    return replace(value, previous_sizes=tuple(map(pm_write.value_size, before)))


# ------------------------------------------------------------------------------------------------- a whole file


def test_the_empty_file_of_one_column_has_the_bytes_that_questdb_writes() -> None:
    # Committed size, flags, no designated timestamp, no sorting column, one column; its descriptor; its name; the footer.
    expected = (
        "7100000000000000 0000000000000000 ffffffff 00000000 01000000 00000000"
        "4000000000000000 00000000 05000000 00000000 00000000 01000000 00 00 00 00"
        "78" + 40 * "00" + "028ff12c 2c000000"
    )
    made = pm_write.create(SnapshotValue((SnapshotColumn("x", 0, 0, 5),), (), 0, 0))
    assert bytes.fromhex(expected) == made


@given(snapshots())
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_written_is_read(value: SnapshotValue) -> None:
    assert value == value_of(pm_write.create(value))


def test_statistics_stand_back_to_back_behind_the_records_and_bloom_filters_behind_them() -> None:
    widths = (1, 8, 9, 65_535)
    chunks = tuple(
        SnapshotChunk(
            0, 1, 1, 4, 9, 0, None, b"a" * width, b"b" * width, True, True, BITSET[:32] if width < 9 else None
        )
        for width in widths
    )
    columns = tuple(replace(NATION, name=str(width)) for width in widths)
    data = pm_write.create(
        SnapshotValue(columns, (SnapshotRowGroup(1, chunks),), 1000, 10, bloom_columns=(0, 1))
    )
    reader = PmReader.from_bytes(data)
    block = reader.block(0)
    inlined = StatFlag.MIN_STAT_INLINED | StatFlag.MAX_STAT_INLINED
    assert [inlined, inlined, 0, 0] == [chunk.stat_flags & inlined for chunk in block.chunks]
    assert [0x11, 0x88, 0, 0] == [chunk.stat_sizes for chunk in block.chunks]
    references = [
        split_reference(slot) for chunk in block.chunks[2:] for slot in (chunk.min_stat, chunk.max_stat)
    ]
    assert [(0, 9), (9, 9), (18, 65_535), (65_553, 65_535)] == references
    first = block.region_start + 131_088
    assert 0 == first % 8
    entries = pm_file.read_bloom_entries(reader.source, reader.header, reader.footer)
    # LEN and 32 bytes, then up to the next multiple of 8; behind the last one is the footer.
    assert [first, first + 40] == [entry.offset for entry in entries]
    assert first + 40 + 4 + 32 == reader.footer.start


@pytest.mark.parametrize(
    ("given", "features", "stored"),
    [
        ({}, HeaderFeature.SORTING_IS_DTS_ASC, []),
        ({"sorting": (SnapshotSorting(0, descending=True),)}, 0, [0]),
        ({"sorting": (SnapshotSorting(0), SnapshotSorting(1))}, 0, [0, 1]),
        ({"sorting": (SnapshotSorting(1),)}, 0, [1]),
        ({"sorting": ()}, 0, []),
        ({"designated_timestamp": -1}, 0, [0]),
        ({"sorting_written_out": True}, 0, [0]),
    ],
)
def test_one_bit_says_that_the_order_is_that_of_the_designated_timestamp(
    given: dict[str, Any], features: int, stored: list[int]
) -> None:
    written_out = given.pop("sorting_written_out", False)
    value = replace(OLD, **given)
    reader = PmReader.from_bytes(pm_write.create(value, sorting_written_out=written_out))
    assert HeaderFeature.BLOOM_FILTERS | features == reader.header.features
    assert stored == reader.header.sorting_columns
    assert value == reader.value()


def test_extensions_stand_in_the_footer_in_the_order_of_their_bits() -> None:
    extensions = Extensions(((7, b"note"), (7, b"")), ((2, 9, 1 << 40),))
    data = pm_write.create(replace(OLD, seq_txn=5, squash_tracker=-2), extensions=extensions)
    footer = PmReader.from_bytes(data).footer
    assert sum(FooterFeature) == footer.fields.footer_feature_flags
    assert ["seq_txn", "scratchpad", "covering_index"] == list(footer.sections)
    assert extensions == pm_write.sections_of(footer)
    assert footer.sections_end == footer.checksum_offset


def test_external_bloom_filters_stand_in_the_footer_as_offset_and_length() -> None:
    value = snapshot(row_group(0, bloom=ExternalBloom(5000, 64)), row_group(1), bloom_external=True)
    reader = PmReader.from_bytes(pm_write.create(value))
    entries = pm_file.read_bloom_entries(reader.source, reader.header, reader.footer)
    assert [(5000, 64), (0, 0)] == list(map(tuple, entries))
    assert value == reader.value()


def chunk_with(**given: Any) -> SnapshotValue:
    group = row_group(0)
    return snapshot(SnapshotRowGroup(10, (*group.chunks[:2], replace(group.chunks[2], **given))))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (chunk_with(min=b"x" * 65_536), "column 2: a bound of 65536 bytes; at most 65535 are possible"),
        (chunk_with(max=b""), "row group 0, column 2: an empty bound"),
        (chunk_with(num_values=-1), "row group 0, column 2 cannot be written: "),
        (chunk_with(codec=256), "row group 0, column 2 cannot be written: "),
        (chunk_with(bloom=BITSET), "announces those of columns \\[1\\] only"),
        (snapshot(row_group(0, bloom=b"x" * 33)), "a bloom filter of 33 bytes, not a multiple of 32"),
        (snapshot(row_group(0, bloom=b"")), "a bloom filter of 0 bytes"),
        (snapshot(row_group(0, bloom=ExternalBloom(1, 32))), "in this file, those of this one are not"),
        (snapshot(row_group(0, bloom=BITSET), bloom_external=True), "are stored in the Parquet file"),
        (snapshot(row_group(0, bloom=ExternalBloom(1, 0)), bloom_external=True), "a bloom filter of 0 bytes"),
        (snapshot(SnapshotRowGroup(1, ())), "row group 0 has 0 column chunks, for 3 columns"),
        (snapshot(SnapshotRowGroup(1 << 64, row_group(0).chunks)), "row group 0: num_rows cannot be written"),
        (snapshot(bloom_columns=(2, 1)), "not in ascending order: \\[2, 1\\]"),
        (snapshot(bloom_columns=(3,)), "\\[3\\], of 3"),
        (snapshot(bloom_columns=(), bloom_external=True), "no column has any"),
        (snapshot(designated_timestamp=3), "the designated timestamp is column 3, of 3"),
        (snapshot(sorting=(SnapshotSorting(9),)), "sorted by column 9, of 3"),
        (snapshot(squash_tracker=-1), "a squash tracker of -1"),
        (snapshot(seq_txn=-1), "a sequencer transaction of -1"),
        (snapshot(seq_txn=1 << 63), "seq_txn cannot be written"),
        (snapshot(footer=-1), "footer cannot be written"),
        (snapshot(previous_sizes=(5,)), "names 1 snapshots before it"),
        (snapshot(columns=(replace(KEY, repetition=3), NATION, KEY)), "column 0 has repetition 3"),
        (snapshot(columns=(replace(KEY, name="\ud800"), NATION, KEY)), "names\\[0\\] cannot be written"),
    ],
)
def test_what_cannot_be_written_is_refused(value: SnapshotValue, message: str) -> None:
    with pytest.raises(Refused, match=message) as caught:
        pm_write.create(value)
    assert "\n" not in str(caught.value)


def test_a_scratchpad_has_its_limit() -> None:
    room = pm.MOST_SCRATCHPAD - 12
    assert len(pm_write.create(OLD, extensions=Extensions(((1, bytes(room)),)))) > room
    with pytest.raises(Refused, match="a scratchpad of 1048577 bytes"):
        pm_write.create(OLD, extensions=Extensions(((1, bytes(room + 1)),)))


# ------------------------------------------------------------------------------------------------------ updates


def test_an_update_appends_what_is_new_and_reuses_the_rest() -> None:
    old = pm_write.create(OLD)
    new = pm_write.update(old, NEW)
    assert old[pm.CRC_START :] == new[pm.CRC_START : len(old)]
    before, after = PmReader.from_bytes(old), PmReader.from_bytes(new)
    assert [True, False, True] == [is_there in after.footer.blocks for is_there in before.footer.blocks]
    assert len(old) == after.footer.fields.prev_parquet_meta_file_size
    assert following(NEW, OLD) == value_of(new)
    assert OLD == value_of(new, pm_write.value_size(OLD))


@given(st.data())
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_snapshot_of_a_chain_stays_as_it_was(data: st.DataObject) -> None:
    values = [data.draw(snapshots())]
    file = pm_write.create(values[0])
    for _ in range(data.draw(st.integers(1, 3))):
        values.insert(0, data.draw(next_snapshots(values[0])))
        file = pm_write.update(file, values[0])
    found = [value_of(file, pm_write.value_size(value)) for value in values]
    assert [following(value, *values[number + 1 :]) for number, value in enumerate(values)] == found


@given(st.data())
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_row_groups_that_were_there_are_not_written_again(data: st.DataObject) -> None:
    value = data.draw(snapshots())
    added = data.draw(st.lists(row_groups(value), max_size=2))
    wanted = replace(
        value,
        row_groups=(*added, *data.draw(st.permutations(value.row_groups))),
        parquet_footer_offset=value.parquet_footer_offset + 1,
    )
    storage = MemoryStorage(pm_write.create(value))
    updated = pm_write.update_in(storage, wanted)
    assert len(wanted.row_groups) == updated.reused + updated.written
    assert updated.reused >= len(value.row_groups)
    blocks = PmReader(storage).footer.blocks
    assert len(blocks) == len(set(blocks))


def test_row_groups_that_differ_in_their_bloom_filters_alone_are_told_apart() -> None:
    first, second = (row_group(0, bloom=bytes(31) + bytes([last])) for last in (1, 2))
    old = pm_write.create(snapshot(first, second))
    storage = MemoryStorage(old)
    wanted = snapshot(second, row_group(1), first, footer=20_000)
    updated = pm_write.update_in(storage, wanted)
    assert (2, 1) == (updated.reused, updated.written)
    assert wanted.row_groups == PmReader(storage).value().row_groups


def with_entries(data: bytes, name: str, *stored: int) -> bytes:
    """A file whose newest footer refers to other blocks (``entries_start``) or bloom filters (``bloom_start``)."""
    patched = bytearray(data)
    struct.pack_into(f"<{len(stored)}I", patched, getattr(PmReader.from_bytes(data).footer, name), *stored)
    return bytes(patched)


def test_a_block_without_the_entry_of_its_bloom_filter_is_written_again() -> None:
    old = with_entries(pm_write.create(OLD), "bloom_start", 0)
    new = pm_write.update(old, NEW, verify=False)
    assert OLD.row_groups[0] == PmReader.from_bytes(new).value().row_groups[0]


def test_blocks_that_lie_elsewhere_or_over_each_other_are_written_again() -> None:
    data = pm_write.create(snapshot(row_group(0), row_group(1), row_group(2)))
    first, *_ = PmReader.from_bytes(data).footer.blocks
    old = with_entries(data, "entries_start", first >> 3, first >> 3, 0xFFFFFFFF)
    wanted = snapshot(row_group(0), row_group(0), row_group(2), footer=20_000)
    storage = MemoryStorage(old)
    updated = pm_write.update_in(storage, wanted, verify=False)
    assert (1, 2) == (updated.reused, updated.written)
    assert wanted.row_groups == PmReader(storage).value().row_groups
    assert 3 == len(set(PmReader(storage).footer.blocks))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (replace(NEW, columns=(TIMESTAMP, NATION)), "columns: <bytes> has 3, the new snapshot 2"),
        (replace(NEW, columns=(TIMESTAMP, NATION, replace(KEY, name="other"))), "column 2: <bytes> has Snap"),
        (replace(NEW, bloom_columns=(1, 2)), "columns with bloom filters: <bytes> has \\(1,\\)"),
        (replace(NEW, sorting=()), "sorting order: "),
        (replace(NEW, designated_timestamp=-1), "designated timestamp: <bytes> has 0, the new snapshot -1"),
        (replace(NEW, squash_tracker=4), "squash tracker: <bytes> has None, the new snapshot 4"),
        (replace(NEW, parquet_footer_offset=9_999), "had 10508 bytes, but the new snapshot says 10507"),
        (replace(NEW, parquet_footer_offset=10_000), "another snapshot of a Parquet file of 10508 bytes"),
        (replace(NEW, unused_bytes=99), "had 100 unused bytes, but the new snapshot says 99"),
        (replace(NEW, previous_sizes=(1,)), "of \\[10508\\] bytes, the new one names \\[1\\]"),
    ],
)
def test_an_update_that_does_not_continue_the_file_is_refused(value: SnapshotValue, message: str) -> None:
    storage = MemoryStorage(old := pm_write.create(OLD))
    with pytest.raises(Refused, match=message):
        pm_write.update_in(storage, value)
    assert old == storage.data


def test_nothing_is_built_upon_a_wrong_checksum() -> None:
    old = bytearray(pm_write.create(OLD))
    old[pm_header.descriptor_place(2, "id")] ^= 1
    with pytest.raises(Malformed, match="the checksum is wrong") as caught:
        pm_write.update(bytes(old), NEW)
    assert "PM-017" == caught.value.rule


def test_the_checksum_is_not_computed_where_the_caller_says_so() -> None:
    old = bytearray(pm_write.create(OLD))
    old[PmReader.from_bytes(bytes(old)).footer.blocks[1] + 8] ^= 1
    new = pm_write.update(bytes(old), NEW, verify=False)
    assert following(NEW, OLD) == PmReader.from_bytes(new).value()
    with pytest.raises(Malformed):
        PmReader.from_bytes(new).verify()


def test_an_update_can_build_upon_an_earlier_snapshot_and_the_later_one_is_passed_over() -> None:
    first = pm_write.create(OLD)
    # The update of a transaction that was never committed: its size is in the header, and the table knows nothing of it.
    second = pm_write.update(first, replace(NEW, parquet_footer_offset=15_000))
    third = pm_write.update(second, NEW, parquet_file_size=pm_write.value_size(OLD))
    assert second[pm.CRC_START :] == third[pm.CRC_START : len(second)]
    assert following(NEW, OLD) == value_of(third)
    with pytest.raises(Refused, match="no snapshot of a Parquet file of 15508 bytes"):
        PmReader.from_bytes(third).snapshot(15_508)


def test_an_update_inherits_the_scratchpad_and_no_index_files() -> None:
    old = pm_write.create(OLD, extensions=Extensions(((1, b"note"),), ((1, 2, 3),)))
    found = pm_write.sections_of(PmReader.from_bytes(pm_write.update(old, NEW)).footer)
    assert Extensions(((1, b"note"),)) == found


# ----------------------------------------------------------------------------------------- stopped at any moment


class StoppedError(Exception):
    """The power is gone."""


class Stopping(MemoryStorage):
    """A storage that stops after a number of bytes; the committed size, one aligned word, is written whole or not at all."""

    def __init__(self, data: bytes, left: int) -> None:
        super().__init__(data)
        self.left = left

    def write(self, offset: int, data: bytes) -> None:
        is_word = (0, pm.CRC_START) == (offset, len(data))
        written = min(len(data), self.left) if not is_word or self.left >= len(data) else 0
        super().write(offset, data[:written])
        self.left -= written
        if written < len(data):
            raise StoppedError


@pytest.fixture(scope="module")
def stopped() -> list[bytes]:
    """What an update leaves that stops after each number of bytes, from none to all."""
    data, found = pm_write.create(OLD), list[bytes]()
    while True:
        storage = Stopping(data, len(found))
        try:
            pm_write.update_in(storage, NEW)
        except StoppedError:
            found.append(bytes(storage.data))
        else:
            return [*found, bytes(storage.data)]


@pytest.fixture
def recorded() -> Recording:
    """What an update writes, between one sync and the next."""
    storage = Recording(pm_write.create(OLD))
    pm_write.update_in(storage, NEW)
    return storage


def test_an_update_that_stops_leaves_the_old_snapshot_until_the_new_one_is_whole(
    stopped: list[bytes],
) -> None:
    old = pm_write.create(OLD)
    assert len(pm_write.update(old, NEW)) - len(old) + pm.CRC_START + 1 == len(stopped)
    assert [OLD] * (len(stopped) - 1) == [value_of(data) for data in stopped[:-1]]
    assert following(NEW, OLD) == value_of(stopped[-1])


def test_the_next_update_overwrites_or_passes_over_what_a_stopped_one_left(stopped: list[bytes]) -> None:
    other = replace(NEW, row_groups=(*OLD.row_groups, row_group(4)), parquet_footer_offset=30_000)
    undisturbed = pm_write.update(pm_write.create(OLD), other)
    for data in stopped[:-1:EXAMPLES]:
        assert undisturbed == pm_write.update(data, other)[: len(undisturbed)]
        new = pm_write.update(data, other, append_base=len(data))
        assert data[pm.CRC_START :] == new[pm.CRC_START : len(data)]
        assert following(other, OLD) == value_of(new)


def test_what_is_passed_over_is_covered_by_the_checksum(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pm_write, "CRC_STEP", 7)
    old = pm_write.create(OLD) + b"left behind"
    assert following(NEW, OLD) == value_of(pm_write.update(old, NEW, append_base=len(old)))
    new = bytearray(pm_write.update(old, NEW, append_base=len(old)))
    new[len(old) - 1] ^= 1
    with pytest.raises(Malformed):
        PmReader.from_bytes(bytes(new)).verify()


@pytest.mark.parametrize("base", [-1, 12])
def test_an_update_starts_behind_what_is_committed_and_not_behind_what_is_there(base: int) -> None:
    old = pm_write.create(OLD)
    with pytest.raises(Refused, match=f"written at {len(old) + base}, where {len(old)} bytes are committed"):
        pm_write.update(old + b"left behind", NEW, append_base=len(old) + base)


class Recording(MemoryStorage):
    """A storage that notes what is written between one sync and the next."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.between: list[list[tuple[int, bytes]]] = [[]]

    def write(self, offset: int, data: bytes) -> None:
        super().write(offset, data)
        self.between[-1].append((offset, data))

    def sync(self) -> None:
        self.between.append([])


def test_the_committed_size_is_written_alone_after_everything_else_is_on_disk(recorded: Recording) -> None:
    *rest, last, behind = recorded.between
    assert [] == behind
    assert [(0, len(recorded.data).to_bytes(pm.CRC_START, "little"))] == last
    least = len(pm_write.create(OLD))
    assert all(offset >= least for part in rest for offset, _ in part)


def test_before_the_sync_any_of_the_bytes_may_be_on_disk_and_the_old_snapshot_is_read(
    recorded: Recording,
) -> None:
    old = pm_write.create(OLD)
    for seed in range(100 // EXAMPLES):
        random, world = Random(seed), bytearray(old)
        share = random.random()
        for offset, raw in recorded.between[0]:
            world.extend(bytes(max(0, offset + len(raw) - len(world))))
            for position, byte in enumerate(raw):
                if random.random() < share:
                    world[offset + position] = byte
        assert OLD == value_of(bytes(world))


def test_a_committed_size_that_was_torn_or_came_before_the_bytes_is_noticed() -> None:
    old = pm_write.create(OLD)
    new = pm_write.update(old, NEW)
    assert old[:2] != new[:2]
    with pytest.raises(FormatError):
        value_of(new[: pm.CRC_START] + old[pm.CRC_START :] + bytes(len(new) - len(old)))

    for written in range(1, pm.CRC_START):
        torn = new[:written] + old[written : pm.CRC_START] + new[pm.CRC_START :]
        try:
            found = value_of(torn)
        except FormatError:
            continue
        assert found in (OLD, following(NEW, OLD))


# -------------------------------------------------------------------------------------------------- real files


def test_a_file_is_updated_in_place(tmp_path: Path) -> None:
    path = tmp_path / "_pm"
    path.write_bytes(pm_write.create(OLD))
    inode = path.stat().st_ino
    updated = pm_write.update_file(path, NEW)
    assert (path.stat().st_size, 2, 2) == (updated.size, updated.reused, updated.written)
    assert inode == path.stat().st_ino
    assert pm_write.update(pm_write.create(OLD), NEW) == path.read_bytes()


def test_a_reader_that_has_the_file_open_goes_on_reading_its_snapshot(tmp_path: Path) -> None:
    path = tmp_path / "_pm"
    path.write_bytes(pm_write.create(OLD))
    with PmReader.map(path) as reader:
        pm_write.update_file(path, NEW)
        reader.verify()
        assert reader.value() == OLD
        with PmReader.map(path) as newer:
            assert following(NEW, OLD) == newer.value()


def test_what_is_no_file_is_not_updated(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="Is a directory"):
        pm_write.update_file(tmp_path, NEW)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="no regular file"):
        pm_write.update_file(tmp_path / "pipe", NEW)
