"""``_txn``: its bytes, the safe read, and readers that are pinned by it while a writer goes on."""

from __future__ import annotations

import mmap
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

import processes
from damage import EXAMPLES
from places import INTEROP
from pm_values import row_group, snapshot
from pqassay.cli.main import app
from pqassay_reference.errors import Refused
from pqassay_reference.pm import write as pm_write
from pqassay_reference.pm.read import PmReader
from pqassay_reference.pm.storage import FileStorage, MemoryStorage
from pqassay_reference.pm.txn import commit, partition_of, read_file
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.pm.txn import PARQUET_BIT, Partition, Txn, TxnHead, TxnRecord, read_txn

DAY = 86_400_000_000
FIRST = 1_704_067_200_000_000
"""The first of January 2024, in microseconds."""

COMMITS = 6_000 // EXAMPLES
READERS = 2
READS = 120 // EXAMPLES
"""What each reader has read at least when the writer makes its last commit."""


def transaction(number: int, *sizes: int, name_txn: int = 6) -> Txn:
    """A transaction of a table whose partitions, a day each, have Parquet files of these sizes."""
    record = TxnRecord.read(bytes(TxnRecord.size)).changed(txn=number)
    partitions = [
        Partition(FIRST + day * DAY, PARQUET_BIT | 9, name_txn, size) for day, size in enumerate(sizes)
    ]
    return Txn(record, b"", tuple(partitions))


def with_sizes(txn: Txn, *sizes: int) -> Txn:
    """The next transaction, with other sizes of the partitions' Parquet files."""
    partitions = tuple(
        partition.changed(parquet_file_size=size)
        for partition, size in zip(txn.partitions, sizes, strict=True)
    )
    return Txn(txn.record.changed(txn=txn.version + 1), txn.symbol_counts, partitions)


def written(*transactions: Txn) -> MemoryStorage:
    storage = MemoryStorage()
    for each in transactions:
        commit(storage, each)
    return storage


TYPED_BY_HAND = bytes.fromhex(
    "0200000000000000"  # version 2: area A
    "e8000000 00000000 20000000 0000000000000000 00000000"  # area A at 232, a partition
    "40000000 00000000 20000000 0000000000000000 00000000 0000000000000000"  # area B at 64
    "0100000000000000"
    + "00" * 120  # the record of transaction 1, in area B
    + "00000000 20000000"
    + "0070b5 35e10d0600".replace(" ", "")
    + "0900000000000020 ffffffffffffffff d40d000000000000"  # one partition, 3540 bytes
    + "0200000000000000"
    + "00" * 120  # the record of transaction 2, in area A
    + "00000000 20000000"
    + "0070b5 35e10d0600".replace(" ", "")
    + "0900000000000020 ffffffffffffffff 1d15000000000000"  # the same partition, 5405 bytes
)
"""A file after two transactions."""


def test_a_file_typed_by_hand_is_read() -> None:
    found = read_txn(BytesSource(TYPED_BY_HAND))

    assert (2, [5405]) == (found.version, [each.parquet_file_size for each in found.partitions])
    assert (9, True, -1) == (
        found.partitions[0].num_rows,
        found.partitions[0].is_parquet,
        found.partitions[0].name_txn,
    )
    before = bytes([1]) + TYPED_BY_HAND[1:]
    assert [3540] == [each.parquet_file_size for each in read_txn(BytesSource(before)).partitions]


def test_what_is_committed_is_read_and_the_area_before_is_left_alone() -> None:
    storage = MemoryStorage()
    for number in range(1, 9):
        value = transaction(number, *range(100, 100 + 3 * number))
        old = bytes(storage.data)
        commit(storage, value)
        assert value == read_txn(storage)
        if number > 1:
            with_old_head = old[: TxnHead.size] + bytes(storage.data[TxnHead.size :])
            assert transaction(number - 1, *range(100, 97 + 3 * number)) == read_txn(
                BytesSource(with_old_head)
            )


def test_a_writer_that_is_stopped_leaves_the_transaction_before() -> None:
    class Stopped(MemoryStorage):
        left = 0

        def write(self, offset: int, data: bytes) -> None:
            if self.left == 0:
                raise InterruptedError
            self.left -= 1
            super().write(offset, data)

    before, after = transaction(1, 10), transaction(2, 20, 30)
    base = bytes(written(before).data)
    for writes in range(4):
        storage = Stopped(base)
        storage.left = writes
        try:
            commit(storage, after)
        except InterruptedError:
            assert before == read_txn(storage)
        else:
            assert (after, 3) == (read_txn(storage), writes)


def test_a_read_that_a_writer_came_into_starts_again() -> None:
    storage = written(transaction(1, 10), transaction(2, 20))
    waits: list[int] = []

    class Overtaken:
        """The file of a writer that commits between the two reads of the version, twice."""

        name = "_txn"
        size = property(lambda _: storage.size)

        def read(self, offset: int, length: int) -> bytes:
            raw = storage.read(offset, length)
            if offset and len(waits) < 2:
                commit(
                    storage,
                    with_sizes(read_txn(storage), read_txn(storage).partitions[0].parquet_file_size + 1),
                )
            return raw

    found = read_txn(Overtaken(), lambda: waits.append(1))

    assert (2, read_txn(storage)) == (len(waits), found)


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda raw: raw[:40], "lie outside"),
        (lambda raw: raw[:200], "lie outside"),
        (lambda raw: b"\4" + raw[1:], "version 4 names the record of transaction 2"),
        (lambda raw: raw[:16] + b"\7" + raw[17:], "7 bytes of partitions, of 32 each"),
        (lambda raw: raw[:16] + b"\0" + raw[17:], "the head says 0 bytes of partitions, the record 32"),
    ],
)
def test_a_damaged_file_is_malformed(damage: Callable[[bytes], bytes], told: str) -> None:
    with pytest.raises(FormatError, match=told):
        read_txn(BytesSource(damage(TYPED_BY_HAND)))


def test_transactions_follow_each_other() -> None:
    with pytest.raises(Refused, match="transaction 4 does not follow 2"):
        commit(written(transaction(1, 1), transaction(2, 1)), transaction(4, 1))


@pytest.mark.parametrize("name", ["2024.6", "2024-01.6", "2024-W01.6", "2024-01-01.6", "2024-01-01T00.6"])
def test_a_partition_is_found_by_the_name_of_its_folder(name: str) -> None:
    assert 3540 == partition_of(transaction(1, 3540, 99), Path("table") / name).parquet_file_size


def test_a_partition_that_is_not_there_is_refused() -> None:
    with pytest.raises(Refused, match=r"has no partition 2024-01-09\.6; there are, by day: 2024-01-01\.6"):
        partition_of(transaction(1, 3540), "2024-01-09.6")
    native = replace(transaction(1), partitions=(Partition(FIRST, 9, 6, -1),))
    with pytest.raises(Refused, match="is not stored as Parquet"):
        partition_of(native, "2024-01-01.6")


def test_show_takes_the_snapshot_that_the_transaction_pins(tmp_path: Path) -> None:
    folder = tmp_path / "2024-01-01.6"
    shutil.copytree(INTEROP / "questdb-9.4.3" / "o3-chain-5", folder)
    (tmp_path / "_txn").write_bytes(written(transaction(1, 5405)).data)
    asked = ["pm", "show", str(folder / "_pm"), "--txn", str(tmp_path / "_txn")]
    pinned = CliRunner().invoke(app, asked)
    both = CliRunner().invoke(app, [*asked, "--parquet-size", "5405"])

    assert "transaction 1 pins 5405 bytes of the Parquet file\n" == pinned.stderr
    assert "describes a Parquet file of 5405 bytes" in pinned.stdout
    assert (2, True) == (both.exit_code, "exclude each other" in both.stderr)


# ------------------------------------------------------------------------------------------- readers beside a writer


@pytest.mark.slow
def test_readers_that_are_pinned_see_no_torn_snapshot_while_a_writer_commits(tmp_path: Path) -> None:
    """A writer updates ``_pm`` and flips ``_txn``, thousands of times; readers follow the token to a whole snapshot.

    Every so often the writer begins a new folder, as QuestDB does when it rewrites a partition.
    """
    table = tmp_path / "table"
    table.mkdir()
    reading = [os.pipe() for _ in range(READERS)]
    reads = [mmap.mmap(-1, 1) for _ in range(READERS)]
    _commit_some(table, 1, 1)  # the first one writes the head, whose version names nothing yet
    children = [
        _forked(partial(_read_along, table, out, count), out)
        for (_, out), count in zip(reading, reads, strict=True)
    ]
    for _, out in reading:
        os.close(out)
    # However the system shares out its processors: each reader has read so often between these commits.
    for part in range(READS):
        _commit_some(table, 2 + part * (COMMITS - 1) // READS, 1 + (part + 1) * (COMMITS - 1) // READS)
        processes.until(partial(_have_read, reads, part + 1, children), f"all have read {part + 1} times")
    ends = [processes.exit_code(child) for child in children]
    words = [os.read(each, 1 << 16).decode() for each, _ in reading]

    assert [0] * READERS == ends, words
    assert [COMMITS] * READERS == [int(line) for line in words]


GROUPS = [row_group(0), row_group(1)]

FOLDER_OF = COMMITS // 5
"""Commits that go into one folder."""


class _Unsynced(FileStorage):
    """A file whose writes need not outlive the machine."""

    def sync(self) -> None:
        pass


def _size(number: int) -> int:
    """Bytes of the Parquet file after a commit."""
    return 20_000 + number


def _commit_some(table: Path, first: int, last: int) -> None:
    (table / "_txn").touch()
    with _Unsynced(table / "_txn") as txn:
        for number in range(first, last + 1):
            folder = table / f"2024-01-01.{number // FOLDER_OF}"
            value = snapshot(*GROUPS[: 1 + number % 2], footer=_size(number))
            if not folder.exists():
                folder.mkdir()
                (folder / "_pm").write_bytes(pm_write.create(value))
            else:
                with _Unsynced(folder / "_pm") as storage:
                    pm_write.update_in(storage, value, verify=False)
            commit(txn, transaction(number, pm_write.value_size(value), name_txn=number // FOLDER_OF))


def _have_read(reads: list[mmap.mmap], count: int, children: list[int]) -> bool:
    """Whether all readers have read so often, or one has ended, which then says why."""
    return all(each[0] >= count for each in reads) or not all(map(processes.alive, children))


def _read_along(table: Path, out: int, count: mmap.mmap) -> None:
    reads = last = 0
    while last < COMMITS:
        txn = read_file(table / "_txn")
        (partition,) = txn.partitions
        with PmReader.map(
            table / f"2024-01-01.{partition.name_txn}" / "_pm", parquet_file_size=partition.parquet_file_size
        ) as reader:
            if reads % 16 == 0:
                reader.verify()
            assert 1 + txn.version % 2 == reader.row_group_count, (txn.version, reader.row_group_count)
        assert txn.version >= last
        last, reads = txn.version, reads + 1
        count[0] = min(reads, READS)
        os.sched_yield()  # to the writer
    os.write(out, f"{last}\n".encode())


def _forked(work: Callable[[], None], out: int) -> int:
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        work()
        code = 0
    except BaseException as error:  # noqa: BLE001 - a child cannot raise it elsewhere
        os.write(out, f"{error!r}\n".encode())
    finally:
        os._exit(code)
