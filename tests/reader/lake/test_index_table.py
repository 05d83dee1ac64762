"""A dataset that prunes by an index table: its own file's word for each file, and nothing for files that changed."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from damage import EXAMPLES
from indexed_lakes import Values, entry, lake_table, write_index_table, write_lake
from pqassay_reader.lake.index_table import part_path, parts, read_entries
from pqassay_reader.lake.indexed_dataset import IndexedDataset, IndexWarning, open_indexed
from pqassay_reference.rewrite.embed import embed_file

NATION: Any = pc.field("nation")
CITY: Any = pc.field("city")
PERU = NATION == "Peru"

FILES: dict[str, Values] = {
    "a.parquet": ["Peru", "Chad"],
    "b.parquet": ["Chad", None],
    "c.parquet": ["Oman", "Oman"],
    "d.parquet": [None, None],
}


def ids(data: Any, condition: pc.Expression) -> list[int]:
    return sorted(data.to_table(filter=condition, columns=["id"]).column("id").to_pylist())


def kept(dataset: IndexedDataset, condition: pc.Expression) -> list[str]:
    return sorted(Path(path).name for path in dataset.prune(condition).kept)


@pytest.fixture(autouse=True)
def _no_warning_is_overlooked() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", IndexWarning)
        yield


@pytest.fixture
def tabled(tmp_path: Path) -> Path:
    """A lake without embedded indexes, and its table beside it, of two columns."""
    lake = write_lake(tmp_path / "lake", FILES, index=False)
    for name, values in FILES.items():
        table = pq.read_table(lake / name)
        city = pa.array([None if value is None else f"{value} City" for value in values], pa.string())
        pq.write_table(table.append_column("city", city), lake / name)
    rows = [entry(lake, name, "nation", values) for name, values in FILES.items()]
    cities = [
        entry(lake, name, "city", [v and f"{v} City" for v in values]) for name, values in FILES.items()
    ]
    write_index_table(tmp_path / "lake.index", *rows, *cities)
    return lake


def test_the_table_beside_the_folder_takes_the_place_of_embedded_indexes(tabled: Path) -> None:
    read: list[int] = []
    dataset = open_indexed(tabled, table="auto", progress=lambda done, _: read.append(done))

    assert [] == read
    assert ["a.parquet"] == kept(dataset, PERU)
    assert ["a.parquet"] == kept(dataset, CITY == "Peru City")
    assert ["b.parquet", "d.parquet"] == kept(dataset, NATION.is_null())
    assert ["c.parquet"] == kept(dataset, NATION.is_valid() & ~NATION.isin(["Peru", "Chad"]))
    assert [] == kept(dataset, PERU & (CITY == "Chad City") & (NATION != "Chad") & (CITY == "Oman City"))
    for path in dataset.prune(PERU).skipped:
        Path(path).write_bytes(b"no Parquet file any more, but long enough for one")
    assert [0] == ids(dataset, PERU)


def test_a_line_feed_in_a_value_is_no_trouble_to_the_table(tmp_path: Path) -> None:
    values = ["a\nb", "", "x\r"]
    lake = write_lake(tmp_path / "lake", {"a.parquet": values, "b.parquet": ["a"]}, index=False)
    write_index_table(
        tmp_path / "lake.index",
        entry(lake, "a.parquet", "nation", values),
        entry(lake, "b.parquet", "nation", ["a"]),
    )
    dataset = open_indexed(lake, table="auto")

    for value in values:
        assert ["a.parquet"] == kept(dataset, NATION == value)
    assert ["b.parquet"] == kept(dataset, NATION == "a")


def test_a_file_that_was_changed_after_the_table_was_made_is_kept(tabled: Path) -> None:
    table = pq.read_table(tabled / "c.parquet")
    changed = table.set_column(1, "nation", pa.array(["Oman", "Peru"]))
    pq.write_table(changed, tabled / "c.parquet")

    with pytest.warns(
        IndexWarning, match="it changed after the index table was written, and it has no IDX1 index"
    ):
        dataset = open_indexed(tabled, table="auto")

    assert [0, 201] == ids(dataset, PERU)


def test_a_file_of_the_same_size_and_another_time_is_kept(tabled: Path) -> None:
    found = (tabled / "c.parquet").stat()
    os.utime(tabled / "c.parquet", ns=(found.st_atime_ns, found.st_mtime_ns + 1))

    with pytest.warns(IndexWarning, match="1 of 4 files"):
        dataset = open_indexed(tabled, table="auto")

    assert ["a.parquet", "c.parquet"] == kept(dataset, PERU)


def test_an_entry_without_a_time_is_not_believed(tabled: Path, tmp_path: Path) -> None:
    write_index_table(tmp_path / "lake.index", entry(tabled, "c.parquet", "nation", ["Oman"], modified=0))

    with pytest.warns(IndexWarning, match="1 of 4 files"):
        assert ["a.parquet", "c.parquet"] == kept(
            open_indexed(tabled, table="auto", columns=["nation"]), PERU
        )


def test_a_changed_or_new_file_with_an_index_of_its_own_is_judged_by_that(tabled: Path) -> None:
    for name, values in (("c.parquet", ["Chad"]), ("new.parquet", ["Fiji"])):
        pq.write_table(lake_table(values, 7), tabled / name)
        embed_file(tabled / name, "nation")
    dataset = open_indexed(tabled, table="auto")

    assert ["a.parquet"] == kept(dataset, PERU)
    assert ["new.parquet"] == kept(dataset, NATION == "Fiji")
    assert ["a.parquet", "b.parquet", "c.parquet"] == kept(dataset, NATION == "Chad")


def test_a_new_file_without_index_is_kept_and_a_lost_one_is_forgotten(tabled: Path) -> None:
    pq.write_table(pq.read_table(tabled / "c.parquet"), tabled / "new.parquet")
    (tabled / "a.parquet").unlink()

    with pytest.warns(IndexWarning, match=r"new\.parquet: it has no IDX1 index"):
        dataset = open_indexed(tabled, table="auto")

    assert ["new.parquet"] == kept(dataset, PERU)


def test_of_several_runs_the_last_one_counts_for_each_file_and_column(tabled: Path, tmp_path: Path) -> None:
    (tabled / "extra.parquet").write_bytes((tabled / "a.parquet").read_bytes())
    write_index_table(
        tmp_path / "lake.index",
        entry(tabled, "c.parquet", "nation", ["Fiji"]),
        entry(tabled, "extra.parquet", "nation", ["Togo"]),
    )
    dataset = open_indexed(tabled, table="auto")

    assert ["c.parquet"] == kept(dataset, NATION == "Fiji")
    assert [] == kept(dataset, NATION == "Oman")
    assert ["c.parquet", "extra.parquet"] == kept(dataset, CITY == "Oman City")
    assert ["a.parquet"] == kept(dataset, PERU)


def test_a_damaged_part_is_a_warning_and_its_files_are_read(tabled: Path, tmp_path: Path) -> None:
    folder = tmp_path / "lake.index"
    (tabled / "e.parquet").write_bytes((tabled / "c.parquet").read_bytes())
    write_index_table(folder, entry(tabled, "e.parquet", "nation", ["Oman"]))
    damaged = part_path(folder, 2, 0)
    damaged.write_bytes(damaged.read_bytes()[:-20])

    with pytest.warns(IndexWarning, match="1 of 5 files"):
        dataset = open_indexed(tabled, table="auto")

    assert ["a.parquet", "e.parquet"] == kept(dataset, PERU)
    assert any(str(damaged) in warning for warning in dataset.warnings)


@pytest.mark.usefixtures("tabled")
def test_a_flipped_bit_in_a_part_loses_no_file(tmp_path: Path) -> None:
    (part,) = [path for _, path in parts(tmp_path / "lake.index")]
    content = bytearray(part.read_bytes())
    said = {
        name: set(rows.column("value").to_pylist())
        for name, rows in read_entries(part.parent).columns.items()
    }

    for place in range(4, len(content), 1 + 2 * EXAMPLES):
        content[place] ^= 4
        part.write_bytes(content)
        content[place] ^= 4
        found = read_entries(part.parent)
        now = {name: set(rows.column("value").to_pylist()) for name, rows in found.columns.items()}
        assert found.damaged or now == said


def test_a_table_that_contradicts_itself_about_a_file_is_not_believed(tabled: Path, tmp_path: Path) -> None:
    folder = tmp_path / "lake.index"
    known = entry(tabled, "c.parquet", "nation", ["Fiji"])
    older = entry(tabled, "c.parquet", "nation", ["Togo"], size=1)
    write_index_table(folder, known, run=2)
    write_index_table(folder, older, run=2, task=1)

    with pytest.warns(IndexWarning, match="1 of 4 files"):
        dataset = open_indexed(tabled, table="auto", columns=["nation"])

    assert ["a.parquet", "c.parquet"] == kept(dataset, PERU)


def test_only_the_columns_that_are_named_are_used(tabled: Path) -> None:
    dataset = open_indexed(tabled, table="auto", columns=["nation"])

    assert ["a.parquet"] == kept(dataset, PERU)
    assert sorted(FILES) == kept(dataset, CITY == "Peru City")


def test_a_table_is_used_only_where_somebody_says_so(tabled: Path, tmp_path: Path) -> None:
    with pytest.warns(IndexWarning, match="4 of 4 files"):
        assert sorted(FILES) == kept(open_indexed(tabled), PERU)
    assert ["a.parquet"] == kept(open_indexed(tabled, table=str(tmp_path / "lake.index")), PERU)
    with pytest.raises(FileNotFoundError, match="there is no index table"):
        open_indexed(tabled, table=str(tmp_path))
    with pytest.raises(ValueError, match="name the folder"):
        open_indexed([tabled / "a.parquet"], table="auto")


def test_an_entry_of_neither_values_nor_nulls_proves_nothing(tabled: Path, tmp_path: Path) -> None:
    write_index_table(
        tmp_path / "lake.index", entry(tabled, "d.parquet", "nation", [None, None], null_count=0)
    )
    dataset = open_indexed(tabled, table="auto")

    assert [101, 300, 301] == ids(dataset, NATION.is_null())


def test_what_is_read_from_a_table_is_what_was_written_file_by_file(tabled: Path, tmp_path: Path) -> None:
    contents = read_entries(tmp_path / "lake.index", ["nation"])
    (nation,) = contents.columns.values()

    assert () == contents.damaged
    assert {
        (name, value, given.count(None), (tabled / name).stat().st_size)
        for name, given in FILES.items()
        for value in set(filter(None, given)) or [None]
    } == {(row["path"], row["value"], row["null_count"], row["size"]) for row in nation.to_pylist()}


def test_a_table_without_parts_holds_nothing(tmp_path: Path) -> None:
    assert {} == read_entries(tmp_path).columns
    assert {} == read_entries(tmp_path / "missing").columns
    write_index_table(tmp_path / "empty")
    assert {} == read_entries(tmp_path / "empty").columns


def test_a_file_that_is_no_part_is_named_as_damage(tabled: Path, tmp_path: Path) -> None:
    pq.write_table(pa.table({"path": ["a.parquet"]}), part_path(tmp_path / "lake.index", 7, 0))

    (damage,) = read_entries(tmp_path / "lake.index").damaged
    with pytest.warns(IndexWarning, match="the index table is damaged: .* is not part of an index table"):
        dataset = open_indexed(tabled, table="auto")

    assert "is not part of an index table of version 1" in damage
    assert ["a.parquet"] == kept(dataset, PERU)
