"""Scans of several files: folders, what their names stand for, URIs, and files that differ from the first."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest

import pqassay
from pqassay_reader.answer.answerer import Answerer
from pqassay_reader.lake.indexed_dataset import open_indexed
from pqassay_reader.query import targets
from pqassay_reader.query.rungs import ALL, Rung
from pqassay_reader.query.scan import Scan, scan
from pqassay_reader.query.scan_query import Query
from pqassay_reader.query.targets import Target, target_of
from pqassay_reference.errors import Refused, Undecodable
from pqassay_reference.rewrite.embed import embed_file
from pqassay_spec.base.sources import BytesSource
from processes import PATIENCE


def write(path: Path, **columns: list[object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path, write_page_index=True)


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """Three files in folders named like the values of two columns."""
    root = tmp_path / "lake"
    write(root / "year=2022/city=Z%C3%BCrich/a.parquet", n=[1, 2], t=["x", "y"])
    write(root / "year=2023/city=Lima/b.parquet", n=[3, 4], t=["x", "z"])
    write(root / "year=2023/city=__HIVE_DEFAULT_PARTITION__/c.parquet", n=[5], t=["x"])
    (root / "_SUCCESS").write_text("")
    return root


def test_folders_stand_for_columns(lake: Path) -> None:
    rows = scan(lake, "t = 'x'").to_table()

    assert ["n", "t", "year", "city"] == rows.column_names
    assert [(1, 2022, "Zürich"), (3, 2023, "Lima"), (5, 2023, None)] == [
        (row["n"], row["year"], row["city"]) for row in rows.to_pylist()
    ]


def test_files_are_left_out_by_their_folders(lake: Path) -> None:
    rows = scan(lake, "year = 2023 AND city IS NOT NULL AND n > 3", ["city", "n"])

    assert [{"city": "Lima", "n": 4}] == rows.to_table().to_pylist()
    assert (3, 1) == (rows.counters.left[Rung.PROJECTION].files, rows.counters.left[Rung.FILES].files)


def test_what_folders_stand_for_is_put_to_rows_where_files_are_not_left_out(lake: Path) -> None:
    rows = scan(lake, "year = 2023 AND city IS NOT NULL", ["n"], without=[Rung.FILES])

    assert [3, 4] == rows.to_table().column("n").to_pylist()
    assert 3 == rows.counters.left[Rung.FILES].files


def test_a_condition_over_a_folder_and_a_column_is_put_to_rows(lake: Path) -> None:
    assert [1, 2, 4] == scan(lake, "year = 2022 OR t = 'z'").to_table().column("n").to_pylist()


def test_a_uri_names_the_same_files(lake: Path) -> None:
    rows = scan(lake.as_uri(), "n >= 3", ["n"])

    assert [3, 4, 5] == rows.to_table().column("n").to_pylist()
    assert [3, 4] == scan(f"{lake.as_uri()}/year=2023/city=Lima/b.parquet", columns=["n"]).to_table()[
        "n"
    ].to_pylist()


def test_a_limit_is_of_all_files_together(lake: Path) -> None:
    rows = scan(lake, limit=3)

    assert [1, 2, 3] == rows.to_table().column("n").to_pylist()
    assert 2 == rows.counters.left[Rung.PROJECTION].files


def test_files_take_the_types_of_the_first(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", n=[1], t=["x"])
    write(tmp_path / "b.parquet", t=["y"], n=[2.0])
    assert [{"n": 1, "t": "x"}, {"n": 2, "t": "y"}] == scan(tmp_path).to_table().to_pylist()

    write(tmp_path / "c.parquet", t=["z"], n=[2.5])
    with pytest.raises(Undecodable, match=r"c\.parquet: column n is double, but int64 in the first file"):
        scan(tmp_path).to_table()


def test_a_column_that_a_later_file_lacks_is_null_there(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", n=[1, 2], t=["x", "y"])
    write(tmp_path / "b.parquet", t=["x"], extra=[9])

    assert [(1, "x"), (2, "y"), (None, "x")] == [
        (row["n"], row["t"]) for row in scan(tmp_path).to_table().to_pylist()
    ]
    assert ["x"] == scan(tmp_path, "n IS NULL", ["t"]).to_table().column("t").to_pylist()


def test_what_is_not_there_is_refused(tmp_path: Path, lake: Path) -> None:
    with pytest.raises(Refused, match="there are no Parquet files"):
        scan(_empty(tmp_path))
    with pytest.raises(FileNotFoundError):
        scan(tmp_path / "nowhere")
    with pytest.raises(Refused, match="there is no technique page; techniques are: metadata, projection"):
        scan(lake, without=["page"])
    with pytest.raises(Refused, match="there is no column nation"):
        scan(lake, "nation = 'Peru'")
    write(lake / "n=3/d.parquet", t=["x"])
    with pytest.raises(Refused, match="its folders name columns"):
        scan(lake)


def _empty(tmp_path: Path) -> Path:
    folder = tmp_path / "empty"
    folder.mkdir()
    return folder


class Meeting(BytesSource):
    """A file that is not read before others are read, too."""

    def __init__(self, data: bytes, name: str, barrier: threading.Barrier) -> None:
        super().__init__(data, name)
        self._barrier: threading.Barrier | None = barrier

    def read(self, offset: int, length: int) -> bytes:
        if self._barrier is not None:
            barrier, self._barrier = self._barrier, None
            barrier.wait()
        return super().read(offset, length)


def test_small_files_behind_a_store_are_read_at_once(tmp_path: Path) -> None:
    together = threading.Barrier(4, timeout=PATIENCE)
    targets: list[Target] = []
    for number in range(9):
        write(tmp_path / "n.parquet", n=[number], t=["x"])
        data, name = (tmp_path / "n.parquet").read_bytes(), f"{number}.parquet"
        # The first is opened for its schema, before all others.
        targets.append(target_of(Meeting(data, name, together) if number else BytesSource(data, name)))
    rows = Scan(targets, Query(["=", "t", "x"], ["n"], ALL, None)).to_table()

    assert list(range(9)) == rows.column("n").to_pylist()


class Store:
    """A store over a folder, which does not answer before a name is both looked at and opened."""

    def __init__(self, folder: Path) -> None:
        self._inner: Any = pafs.SubTreeFileSystem(str(folder), pafs.LocalFileSystem())
        self._together = threading.Barrier(2, timeout=PATIENCE)
        self._is_met = False
        self.opened: list[Any] = []

    def normalize_path(self, path: str) -> str:
        return path

    def get_file_info(self, asked: Any) -> Any:
        if isinstance(asked, list):
            self._together.wait()
        return self._inner.get_file_info(asked)

    def open_input_file(self, path: str) -> Any:
        if not self._is_met:
            self._is_met = True
            self._together.wait()
        self.opened.append(self._inner.open_input_file(path))
        return self.opened[-1]


@pytest.mark.parametrize(("name", "rows"), [("year=2023/city=Lima/b.parquet", [4]), ("year=2023", [4, 5])])
def test_behind_a_uri_a_file_is_opened_while_it_is_looked_at(
    lake: Path, monkeypatch: pytest.MonkeyPatch, name: str, rows: list[int]
) -> None:
    store = _stored(lake, name, monkeypatch)
    found = scan("s3://lake", "n > 3", ["n"])

    assert rows == found.to_table().column("n").to_pylist() == found.to_table().column("n").to_pylist()
    assert all(file.closed for file in store.opened)
    assert len(found.files) * 2 == len(store.opened)


def test_behind_a_uri_a_file_that_is_not_there_is_told_as_such(
    lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _stored(lake, "nowhere.parquet", monkeypatch)
    with pytest.raises(FileNotFoundError):
        scan("s3://lake")


def _stored(lake: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store in which any URI leads to that name."""
    store = Store(lake)

    def located(_: object) -> tuple[Store, str]:
        return store, name

    monkeypatch.setattr(targets, "located", located)
    return store


def test_what_is_not_data_is_left_out_as_check_leaves_it_out(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", n=[1])
    write(tmp_path / "b.PARQ", n=[2])
    write(tmp_path / "_temporary" / "0" / "c.parquet", n=[3])
    write(tmp_path / ".hive-staging" / "d.parquet", n=[4])
    for name in (
        "README.md",
        "_SUCCESS",
        ".a.parquet.crc",
        "a.parquet.crc",
        "_committed_7",
        "e.parquet.tmp",
        "part_$folder$",
    ):
        (tmp_path / name).write_bytes(b"")
    kept = ["a.parquet", "b.PARQ"]

    assert [1, 2] == scan(tmp_path).to_table()["n"].to_pylist()
    assert [{"n": 2}] == Answerer.open(tmp_path).ask("SELECT COUNT(*) AS n FROM t").table.to_pylist()
    assert kept == [Path(one).name for one in open_indexed(tmp_path).files]
    assert kept == [Path(one.path).name for one in pqassay.check(tmp_path).files]


def test_a_folder_without_a_single_name_of_a_parquet_file_is_read_all_the_same(tmp_path: Path) -> None:
    write(tmp_path / "000000_0", n=[1])

    assert [1] == scan(tmp_path).to_table()["n"].to_pylist()


def test_a_column_that_only_a_later_file_has_can_be_asked_for(tmp_path: Path) -> None:
    pq.write_table(pa.table({"n": [1]}), tmp_path / "a.parquet")
    pq.write_table(
        pa.table({"n": [2, 3], "extra": pa.array([7, None], pa.int16()), "st": [{"x": 1}, None]}),
        tmp_path / "b.parquet",
    )
    pq.write_table(pa.table({"n": [4]}), tmp_path / "c.parquet")

    for condition, numbers in (
        ("extra > 5.5", [2]),
        ("extra IS NULL", [1, 3, 4]),
        ("NOT extra > 7", [2]),
        ("st.x = 1 AND n < 9", [2]),
        ("st.x = 1 OR n = 4", [2, 4]),
    ):
        assert {"n": numbers} == scan(tmp_path, condition).to_table().to_pydict()
    rows = scan(tmp_path, "n <> 3", ["extra", "n"]).to_table()
    assert {"extra": [None, 7, None], "n": [1, 2, 4]} == rows.to_pydict()
    assert pa.int16() == rows.schema.field("extra").type
    with pytest.raises(Refused, match="at character 11: there is no column nowhere; columns are: n"):
        scan(tmp_path, "n = 1 AND nowhere = 1")


@pytest.mark.parametrize("names", [("1", "2"), ("2", "1")])
def test_a_folder_decides_a_column_that_a_file_has_as_well(tmp_path: Path, names: tuple[str, str]) -> None:
    write(tmp_path / f"k={names[0]}" / "a.parquet", n=[1, 2], k=["x", "y"])
    write(tmp_path / f"k={names[1]}" / "b.parquet", n=[3])
    embed_file(tmp_path / f"k={names[0]}" / "a.parquet", "k", companion=True)
    first, second = map(int, names)

    rows = [(1, first), (2, first), (3, second)]
    assert sorted(rows) == sorted((row["n"], row["k"]) for row in scan(tmp_path).to_table().to_pylist())
    for condition in (f"k = {first}", f"k IN ({first})", f"k < {first + 0.5} AND k > {first - 0.5}"):
        assert [1, 2] == scan(tmp_path, condition, ["n"]).to_table()["n"].to_pylist(), condition
