"""Rows that are read for an answer: those that Arrow's dataset finds, however the files are divided and stored, and no chunk more than needed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import pytest

from pqassay_reader.answer import row_tables
from pqassay_reader.answer.answerer import Answerer
from pqassay_reader.answer.row_tables import RowTables
from pqassay_reader.condition.rows import condition_of, expression_of
from pqassay_reference.columns.literals import Tree
from pqassay_reference.errors import Undecodable

ROWS, GROUP = 60, 10

NATIONS = ["Peru", None, "Chad", "Fiji", "Peru", "Mali"]


def rows_of_file(number: int) -> pa.Table:
    """The rows of one file: text with nulls, of which each row group has another part."""
    rows = range(ROWS)
    return pa.table(
        {
            "nation": [NATIONS[(row // GROUP + row * number) % len(NATIONS)] for row in rows],
            "units": pa.array([None if row % 7 == 3 else row + ROWS * number for row in rows], pa.int64()),
            "part": [{"code": row % 5, "name": f"part {row % 3}"} for row in rows],
            "a.b": pa.array([row % 4 for row in rows], pa.int32()),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five files; the last stores its units in another type."""
    made = tmp_path_factory.mktemp("rows")
    for number in range(5):
        table = rows_of_file(number)
        if number == 4:
            table = table.set_column(1, "units", table["units"].cast(pa.int32()))
        pq.write_table(table, made / f"part-{number}.parquet", row_group_size=GROUP)
    return made


def read(folder: Path, names: Sequence[str], predicate: Tree | None) -> tuple[pa.Table, int]:
    """The rows of all files that satisfy a condition, and the bytes of the chunks that were read."""
    lake = Answerer.open(folder).lake
    reader = RowTables(lake, names, None if predicate is None else condition_of(predicate, lake.schema))
    tables = list(reader.rows(lake.row_counts > 0))
    return pa.concat_tables(tables), reader.length


CONDITIONS: list[Any] = [
    ["=", "nation", "Peru"],
    ["is null", "nation"],
    ["not in", "nation", ["Peru", "Chad"]],
    ["and", ["!=", "nation", "Mali"], [">", "units", 70]],
    ["or", ["=", "nation", "Fiji"], ["<", "a.b", 2]],
    ["and", ["=", "part.name", "part 1"], ["is null", "units"]],
    None,
]


@pytest.mark.parametrize("at_once", [1, 1 << 20])
@pytest.mark.parametrize("predicate", CONDITIONS, ids=str)
def test_the_rows_are_those_of_arrows_dataset(
    folder: Path, monkeypatch: pytest.MonkeyPatch, predicate: Any, at_once: int
) -> None:
    monkeypatch.setattr(row_tables, "ROWS_AT_ONCE", at_once)
    names = ["units", "nation", "a.b", "part.code"]
    found, _ = read(folder, names, predicate)
    dataset: Any = pads.dataset(folder)
    condition = expression_of(predicate, dataset.schema) if predicate is not None else None
    expected = dataset.to_table(filter=condition, columns=["units", "nation", "a.b", "part"]).flatten()
    expected = expected.select(["units", "nation", "a.b", "part.code"])
    assert found.sort_by([("units", "ascending"), ("a.b", "ascending"), ("nation", "ascending")]).equals(
        expected.sort_by([("units", "ascending"), ("a.b", "ascending"), ("nation", "ascending")])
    )


def test_chunks_are_counted_of_row_groups_that_statistics_leave(tmp_path: Path) -> None:
    path = tmp_path / "one.parquet"
    table = pa.table({"code": list(range(25)), "payload": [f"{row:050}" for row in range(25)]})
    pq.write_table(table, path, row_group_size=10)
    found, length = read(tmp_path, ["payload"], ["=", "code", 5])
    group = pq.read_metadata(path).row_group(0)
    assert (found.num_rows, length) == (1, sum(group.column(place).total_compressed_size for place in (0, 1)))


def test_pages_that_cannot_be_decoded_are_named_with_their_file(tmp_path: Path) -> None:
    path = tmp_path / "one.parquet"
    pq.write_table(pa.table({"code": list(range(1000))}), path, use_dictionary=False, compression="zstd")
    start = pq.read_metadata(path).row_group(0).column(0).data_page_offset
    data = bytearray(path.read_bytes())
    data[start + 40 : start + 60] = bytes(20)
    path.write_bytes(data)
    with pytest.raises(Undecodable, match=r"one\.parquet: code cannot be decoded: "):
        read(tmp_path, ["code"], [">", "code", 5])


def test_a_file_of_another_type_is_named_if_its_statistics_do_not_fit(tmp_path: Path) -> None:
    pq.write_table(pa.table({"code": pa.array([1], pa.int8())}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"code": pa.array([300], pa.int32())}), tmp_path / "b.parquet")
    with pytest.raises(
        Undecodable, match=r"b\.parquet: code cannot be decoded: Integer value 300 not in range"
    ):
        read(tmp_path, ["code"], [">", "code", 0])
