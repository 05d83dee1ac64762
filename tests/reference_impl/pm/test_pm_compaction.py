"""What is dead in a partition: in ``_pm`` alone, or in both files, which are written into a new folder then."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pqassay
import processes
from places import INTEROP
from pqassay_reference.errors import Refused
from pqassay_reference.pm.compaction import Compaction, compact_files
from pqassay_reference.pm.generate import generate_file
from pqassay_reference.pm.growth import update_beside
from pqassay_reference.pm.query import migrated
from pqassay_reference.pm.read import PmReader
from pqassay_reference.pm.storage import FileStorage
from pqassay_reference.pm.txn import commit, partition_of, read_file
from pqassay_reference.rewrite.embed import embed_file
from pqassay_spec.base.errors import FormatError
from pqassay_spec.pm.txn import PARQUET_BIT, Partition, Txn, TxnRecord

LAST = INTEROP / "questdb-9.4.3" / "o3-chain-5"
"""A partition of QuestDB's after five updates: 61.1 % of its Parquet file is dead."""

FIRST_OF_JANUARY = 1_704_067_200_000_000
"""2024, in microseconds."""


def taken(folder: Path, source: Path = LAST) -> tuple[Path, Path]:
    """A copy of a pair, in a folder of its own."""
    folder.mkdir(exist_ok=True)
    for name in ("_pm", "data.parquet"):
        shutil.copy(source / name, folder / name)
    return folder / "data.parquet", folder / "_pm"


def compacted(target: Path, **options: Any) -> Compaction:
    """A compaction of a ``_pm`` alone."""
    return compact_files(target.with_name("cold"), target, **options)


def sizes(path: Path) -> list[int]:
    """Sizes of the Parquet file at the snapshots of a file, oldest first."""
    with PmReader.map(path) as reader:
        reader.verify(whole_chain=True)
        return [each.fields.parquet_file_size for each in reversed(reader.snapshots())]


def table_of(folder: Path, size: int) -> Path:
    """A ``_txn`` of a table with one partition, in a folder."""
    number = int(folder.name.rpartition(".")[2])
    record = TxnRecord.read(bytes(TxnRecord.size)).changed(txn=1)
    path = folder.parent / "_txn"
    path.touch()
    with FileStorage(path) as storage:
        partition = Partition(FIRST_OF_JANUARY, PARQUET_BIT | 95, number, size)
        commit(storage, Txn(record, b"", (partition,)))
    return path


def digests(folder: Path) -> dict[str, str]:
    """What is in a folder."""
    return {each.name: hashlib.sha256(each.read_bytes()).hexdigest() for each in folder.iterdir()}


# ------------------------------------------------------------------------------------------------------- _pm alone


def test_a_compaction_keeps_the_newest_snapshot_alone(tmp_path: Path) -> None:
    data, target = taken(tmp_path)
    with PmReader.map(target) as reader:
        expected = migrated(reader)
        value = reader.value()
    told = compacted(target, dry_run=True)
    assert (LAST / "_pm").read_bytes() == target.read_bytes()
    done = compacted(target)

    assert told == done
    assert (3400, len(expected), True) == (done.before, done.after, done.is_due)
    assert (13185, 10884, 7186, 5405, 3540) == done.dropped
    assert expected == target.read_bytes()
    with PmReader.map(target) as reader:
        assert value.row_groups == reader.value().row_groups
    assert (0, False) == (compacted(target).dead, compacted(target).is_due)
    assert data.read_bytes() == (LAST / "data.parquet").read_bytes()


def test_a_compaction_waits_until_enough_is_dead(tmp_path: Path) -> None:
    _, target = taken(tmp_path)
    share = compacted(target, dry_run=True).share

    assert not compacted(target, above=share).is_due
    assert (LAST / "_pm").read_bytes() == target.read_bytes()
    assert compacted(target, above=share - 0.01).is_due
    assert [15374] == sizes(target)


def test_bytes_that_a_stopped_update_left_are_dead(tmp_path: Path) -> None:
    _, target = taken(tmp_path, LAST.with_name("o3-chain-0"))
    target.write_bytes(target.read_bytes() + bytes(500))

    assert 500 <= compacted(target).dead
    assert target.stat().st_size == compacted(target).before


def test_a_damaged_file_is_not_compacted(tmp_path: Path) -> None:
    _, target = taken(tmp_path)
    raw = bytearray(target.read_bytes())
    raw[40] ^= 1
    target.write_bytes(raw)
    with pytest.raises(FormatError, match="the checksum is wrong"):
        compacted(target)
    assert bytes(raw) == target.read_bytes()


def test_a_compaction_and_an_update_do_not_meet(tmp_path: Path) -> None:
    _, target = taken(tmp_path)
    with FileStorage(target), pytest.raises(OSError, match="another process is writing it"):
        compacted(target)


# ------------------------------------------------------------------------------------------------------- both files


def test_both_files_are_written_without_dead_bytes_into_the_next_folder(tmp_path: Path) -> None:
    old = tmp_path / "2024-01-01.6"
    data, target = taken(old)
    (tmp_path / "2024-01-01.11").mkdir()
    before = digests(old)
    assert not compact_files(data, target, above=0.62).is_due
    assert tmp_path / "2024-01-01.12" == compact_files(data, target, above=0.6, dry_run=True).folder
    done = compact_files(data, target, above=0.6)
    new = tmp_path / "2024-01-01.12"

    assert (new, 9387, 15374) == (done.folder, done.unused, done.parquet_before)
    assert (new / "data.parquet").stat().st_size == done.parquet_after == 15374 - 9387 - 1397
    assert before == digests(old)
    assert pq.read_table(data).equals(pq.read_table(new / "data.parquet"))
    assert [done.parquet_after] == sizes(new / "_pm")
    report = pqassay.check(new, tier="values")
    assert {"conformant"} == {file.outcome for file in report.files}
    assert ["STA-001"] == [finding.rule for file in report.files for finding in file.findings]
    assert not compact_files(new / "data.parquet", new / "_pm").is_due


def test_structures_of_other_writers_stay(tmp_path: Path) -> None:
    data = tmp_path / "p" / "data.parquet"
    data.parent.mkdir()
    options: dict[str, Any] = {"row_group_size": 1000, "write_page_index": True, "data_page_size": 512}
    table = pa.table({"n": range(3000), "t": [f"text {row % 90}" for row in range(3000)]})
    pq.write_table(table, data, bloom_filter_options={"t": {"ndv": 90, "fpp": 0.01}}, **options)
    _, made = generate_file(data)
    whole = data.read_bytes()
    footer = made.value.parquet_footer_offset
    # The same footer once more, as an update leaves it that added nothing.
    data.write_bytes(whole + whole[footer:])
    update_beside(data, data.with_name("_pm"))
    done = compact_files(data, data.with_name("_pm"))
    new = tmp_path / "p.1" / "data.parquet"

    assert new.parent == done.folder
    assert table.equals(pq.read_table(new))
    report = pqassay.check(new.parent, tier="values")
    findings = [
        finding.rule for file in pqassay.check(whole, tier="values").files for finding in file.findings
    ]
    assert findings == [finding.rule for file in report.files for finding in file.findings]
    checked = {rule for coverage in report.coverages.values() for rule in coverage.checked}
    assert {"PIX-010", "BLM-002", "PM-119"} <= checked
    columns = pq.read_metadata(new).row_group(2).column(1)
    assert (True, True) == (columns.has_column_index, columns.has_offset_index)


def test_the_next_transaction_names_the_new_folder(tmp_path: Path) -> None:
    data, target = taken(tmp_path / "2024-01-01.6")
    txn = table_of(data.parent, 15374)
    done = compact_files(data, target, txn=txn)
    after = read_file(txn)

    assert (2, 1) == (after.version, after.record.partition_table_version)
    assert done.folder == tmp_path / "2024-01-01.7"
    assert done.parquet_after == partition_of(after, done.folder).parquet_file_size
    with pytest.raises(Refused, match=r"has no partition 2024-01-01\.6"):
        partition_of(after, data.parent)


def _pins_another_snapshot(folder: Path) -> None:
    table_of(folder, 13185)


def _has_no_such_partition(folder: Path) -> None:
    table_of(folder.with_name("2024-01-01.9"), 15374)


def _grew(folder: Path) -> None:
    table_of(folder, 15374)
    with (folder / "data.parquet").open("ab") as file:
        file.write(b"new")


def _has_an_index(folder: Path) -> None:
    data = folder / "data.parquet"
    embed_file(data, "v")
    generate_file(data)
    table_of(folder, data.stat().st_size)


def _is_cut_off(folder: Path) -> None:
    data = folder / "data.parquet"
    table_of(folder, 15374)
    data.write_bytes(bytes(data.stat().st_size))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_pins_another_snapshot, "it pins a Parquet file of 13185 bytes, and the newest snapshot describes 15374"),
        (_has_no_such_partition, "has no partition 2024-01-01.6"),
        (_grew, "`pqassay pm update` comes first"),
        (_has_an_index, "leads to an index; `pqassay strip --idx1 --directory` removes it"),
        (_is_cut_off, "it was never written"),
    ],
)  # fmt: skip
def test_what_cannot_be_moved_stays_as_it_is(
    change: Callable[[Path], None], message: str, tmp_path: Path
) -> None:
    folder = tmp_path / "2024-01-01.6"
    data, target = taken(folder)
    change(folder)
    before, txn = digests(folder), (tmp_path / "_txn").read_bytes()
    with pytest.raises((Refused, FormatError), match=message):
        compact_files(data, target, txn=tmp_path / "_txn")

    assert (before, txn) == (digests(folder), (tmp_path / "_txn").read_bytes())
    assert {"_txn", folder.name} == {each.name for each in tmp_path.iterdir()}


def test_a_kill_at_any_moment_leaves_the_old_files(tmp_path: Path) -> None:
    seen: list[int] = []
    for stop in range(1, 100):
        folder = tmp_path / str(stop) / "2024-01-01.6"
        folder.parent.mkdir()
        data, target = taken(folder)
        txn = table_of(folder, 15374)
        before = digests(folder)
        is_killed = _killed_at(stop, lambda: compact_files(data, target, txn=txn))  # noqa: B023 - called at once
        (partition,) = read_file(txn).partitions
        seen.append(partition.name_txn)
        pinned = folder.with_name(f"2024-01-01.{partition.name_txn}")
        with PmReader.map(pinned / "_pm", parquet_file_size=partition.parquet_file_size) as reader:
            reader.verify()
        assert before == digests(folder)
        assert 95 == pq.read_table(pinned / "data.parquet").num_rows
        assert {"conformant"} == {file.outcome for file in pqassay.check(pinned, tier="footer").files}
        if not is_killed:
            break
        if partition.name_txn == 6:  # the next process finishes it
            done = compact_files(data, target, txn=txn)
            assert done.folder == folder.with_name(f"2024-01-01.{read_file(txn).partitions[0].name_txn}")
            assert [] == [each for each in folder.parent.iterdir() if each.name.startswith(".")]

    assert (6, 7) == (seen[0], seen[-1])
    assert sorted(seen) == seen
    assert len(seen) > 6


def _killed_at(stop: int, work: Callable[[], object]) -> bool:
    """Whether a process was killed when it asked the system for the n-th time to bring something to the disk."""
    child = os.fork()
    if child:
        return processes.exit_code(child) != 0
    left, sync = [stop], os.fsync

    def counted(fd: Any) -> None:
        left[0] -= 1
        if not left[0]:
            os._exit(9)
        sync(fd)

    os.fsync = counted
    try:
        work()
    except BaseException:  # noqa: BLE001 - a child cannot raise it elsewhere
        os._exit(1)
    os._exit(0)
