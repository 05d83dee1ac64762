"""``_pm`` after a Parquet file that grew, and what is dead in it: real files of QuestDB, and files made to grow here."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pqassay
import processes
from places import INTEROP
from pm_pairs import with_footer
from pqassay_reference.errors import Refused
from pqassay_reference.pm.generate import generate_file
from pqassay_reference.pm.growth import Growth, pair_of, update_beside
from pqassay_reference.pm.read import PmReader
from pqassay_spec.parquet.thrift import FileMetaData

CHAIN = [INTEROP / "questdb-9.4.3" / f"o3-chain-{number}" for number in range(6)]
"""One partition of QuestDB's, as it was after each of five updates."""


def taken(folder: Path, pm_of: Path, data_of: Path) -> tuple[Path, Path]:
    """A pair of which the two files are of different times."""
    shutil.copy(pm_of / "_pm", folder / "_pm")
    shutil.copy(data_of / "data.parquet", folder / "data.parquet")
    return folder / "data.parquet", folder / "_pm"


def sizes(path: Path) -> list[int]:
    """Sizes of the Parquet file at the snapshots of a file, oldest first."""
    with PmReader.map(path) as reader:
        reader.verify(whole_chain=True)
        return [each.fields.parquet_file_size for each in reversed(reader.snapshots())]


@pytest.mark.parametrize("start", range(5))
def test_with_the_history_an_update_yields_the_bytes_of_questdbs_own_chain(
    start: int, tmp_path: Path
) -> None:
    data, target = taken(tmp_path, CHAIN[start], CHAIN[5])
    done = update_beside(data, target, history=True)

    assert (CHAIN[5] / "_pm").read_bytes() == target.read_bytes()
    assert (5 - start, 15374) == (done.snapshots, done.parquet_file_size)


def test_step_by_step_each_update_yields_the_next_file_of_questdbs(tmp_path: Path) -> None:
    data, target = taken(tmp_path, CHAIN[0], CHAIN[0])
    for following in CHAIN[1:]:
        shutil.copy(following / "data.parquet", data)
        update_beside(data, target)
        assert (following / "_pm").read_bytes() == target.read_bytes()


def test_without_the_history_the_states_in_between_have_no_snapshot(tmp_path: Path) -> None:
    data, target = taken(tmp_path, CHAIN[0], CHAIN[5])
    update_beside(data, target)

    assert [3540, 15374] == sizes(target)
    assert ["conformant", "conformant"] == [file.outcome for file in pqassay.check(tmp_path).files]


def test_a_pair_that_agrees_is_left_as_it_is(tmp_path: Path) -> None:
    data, target = taken(tmp_path, CHAIN[3], CHAIN[3])

    assert Growth(0, 0, 5, 0, 10884) == update_beside(data, target)
    assert (CHAIN[3] / "_pm").read_bytes() == target.read_bytes()


def appended(path: Path, table: pa.Table) -> None:
    """Append a file's row groups and footer behind the old footer, as updates do: with all offsets moved by its size."""
    old = path.read_bytes()
    other = path.with_name("other")
    pq.write_table(pa.concat_tables([pq.read_table(path), table]), other, row_group_size=10)

    def moved(metadata: FileMetaData) -> None:
        for group in metadata.row_groups:
            group.file_offset = len(old) + (group.file_offset or 0)
            for chunk in group.columns:
                assert chunk.meta_data is not None
                chunk.meta_data.data_page_offset += len(old)
                chunk.meta_data.dictionary_page_offset = len(old) + (
                    chunk.meta_data.dictionary_page_offset or 0
                )

    path.write_bytes(old + with_footer(other.read_bytes(), moved))


def times(start: int, stop: int) -> pa.Table:
    field = pa.field("ts", pa.timestamp("us", "UTC"), nullable=False)
    values = pa.array([second * 1_000_000 for second in range(start, stop)], field.type)
    return pa.table(
        [values, pa.array(range(start, stop))], schema=pa.schema([field, pa.field("n", pa.int64())])
    )


def test_a_file_of_another_writer_that_grew_gets_a_snapshot_more(tmp_path: Path) -> None:
    data = tmp_path / "data.parquet"
    pq.write_table(times(0, 10), data)
    target, _ = generate_file(data)
    first = data.stat().st_size
    footer = int.from_bytes(data.read_bytes()[-8:-4], "little")
    appended(data, times(10, 30))
    done = update_beside(data, target)

    assert (1, 0, 3) == (done.snapshots, done.reused, done.written)
    assert [first, data.stat().st_size] == sizes(target)
    with PmReader.map(target) as reader:
        assert footer + 8 == reader.footer.fields.unused_bytes
    assert ["conformant", "conformant"] == [file.outcome for file in pqassay.check(tmp_path).files]


@pytest.mark.parametrize("change", ["shorter", "rewritten", "column", "columns"])
def test_what_was_rewritten_is_refused_and_left_alone(change: str, tmp_path: Path) -> None:
    data = tmp_path / "data.parquet"
    pq.write_table(times(0, 10), data)
    target, _ = generate_file(data)
    before = target.read_bytes()
    table = times(0, 30)
    if change == "shorter":
        pq.write_table(times(0, 10), data, compression="zstd", use_dictionary=False)
        assert data.stat().st_size < PmReader.from_bytes(before).parquet_file_size
    elif change == "rewritten":
        pq.write_table(table, data, row_group_size=5)
    else:
        old = data.read_bytes()
        renamed = table.rename_columns(["ts", "m"]) if change == "column" else table.select(["ts"])
        other = tmp_path / "other.parquet"
        pq.write_table(renamed, other, row_group_size=5)
        data.write_bytes(old + other.read_bytes()[4:])
    with pytest.raises(Refused, match="`pqassay pm generate"):
        update_beside(data, target)
    assert before == target.read_bytes()


def test_an_order_that_no_longer_holds_is_not_claimed(tmp_path: Path) -> None:
    data = tmp_path / "data.parquet"
    order = [pq.SortingColumn(0)]
    pq.write_table(times(0, 10), data, sorting_columns=order)
    target, made = generate_file(data)
    assert 0 == made.value.designated_timestamp
    appended(data, times(5, 9))

    with pytest.raises(Refused, match="no longer in the order"):
        update_beside(data, target)


def test_an_update_can_be_killed_at_every_write(tmp_path: Path) -> None:
    data, target = taken(tmp_path, CHAIN[0], CHAIN[5])
    states = {tuple(sizes(each / "_pm")) for each in CHAIN}
    old, real = target.read_bytes(), os.pwrite
    seen: set[tuple[int, ...]] = set()
    for stop in range(11):  # five snapshots of two writes each, and one run to the end
        target.write_bytes(old)
        child = os.fork()
        if child == 0:
            left = stop

            def pwrite(descriptor: int, raw: bytes, offset: int) -> int:
                nonlocal left
                if left == 0:
                    real(descriptor, raw[: len(raw) // 2] if offset else b"", offset)
                    os._exit(9)
                left -= 1
                return real(descriptor, raw, offset)

            os.pwrite = pwrite  # type: ignore[assignment]
            try:
                update_beside(data, target, history=True)
            finally:
                os._exit(0)
        assert (0 if stop == 10 else 9) == processes.exit_code(child)
        seen.add(tuple(sizes(target)))
        update_beside(data, target, history=True)  # the next process finishes it
        assert (CHAIN[5] / "_pm").read_bytes()[:3400] == target.read_bytes()[:3400]

    assert states == seen


@pytest.mark.parametrize("named", ["", "_pm", "data.parquet"])
def test_a_pair_is_named_by_its_folder_or_either_file(named: str, tmp_path: Path) -> None:
    assert (tmp_path / "data.parquet", tmp_path / "_pm") == pair_of(tmp_path / named)
