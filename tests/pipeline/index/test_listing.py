from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pqassay.errors import UsageError
from pqassay_reader.lake.index_table import Entry, part_path, write_part
from pqassay_spark.index.listing import list_files


def write(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"n": [1]}), path)
    return path


def names(root: str | Path) -> list[tuple[str, ...]]:
    return [file.names for file in list_files(root).files]


def test_names_are_relative_to_the_root_however_it_is_spelt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "sales" / "y=1" / "a.parquet")
    write(tmp_path / "sales" / ".a" / "b.parquet")
    write(tmp_path / "sales" / "b%20 [1].parquet")
    monkeypatch.chdir(tmp_path / "sales")
    expected = [("b%20 [1].parquet",), ("y=1/a.parquet",)]
    for root in (
        tmp_path / "sales",
        f"{tmp_path}/sales//",
        ".",
        "./",
        "../sales",
        "y=1/..",
        f"{tmp_path}//./sales",
    ):
        assert names(root) == expected
    assert names("y=1/a.parquet") == names("./y=1//a.parquet") == [("a.parquet",)]
    assert names("y=1") == [("a.parquet",)]


def test_size_and_time_are_those_of_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet")
    os.utime(path, ns=(1, 1_700_000_000_123_456_789))
    (file,) = list_files(tmp_path).files
    assert (file.path, file.size, file.modified, file.trouble) == (
        str(path),
        path.stat().st_size,
        1_700_000_000_123_456_789,
        "",
    )
    assert list_files(tmp_path).is_folder
    assert not list_files(path).is_folder


def test_what_is_no_data_is_left_out(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet")
    for name in (
        "_metadata",
        "_common_metadata",
        ".hidden.parquet",
        "_temporary/0/b.parquet",
        "_pm",
        "notes.md",
        "c.crc",
    ):
        write(tmp_path / name)
    write_part(tmp_path / "sales.index", 1, 0, [Entry("a", 1, 1, "n", 1, 0, ("x",))])
    write(part_path(tmp_path / "other", 1, 0))  # is called like a part, and is not one
    (tmp_path / "table.parquet").mkdir()
    assert names(tmp_path) == [("a.parquet",), ("other/part-00000001-00000.parquet",)]


def test_links_to_one_file_are_one_entry_and_hard_links_are_several(tmp_path: Path) -> None:
    write(tmp_path / "sales" / "b.parquet")
    (tmp_path / "sales" / "a.parquet").symlink_to("b.parquet")
    os.link(tmp_path / "sales" / "b.parquet", tmp_path / "sales" / "c.parquet")
    (tmp_path / "sales" / "loop").symlink_to(".")
    listing = list_files(tmp_path / "sales")
    assert [file.names for file in listing.files] == [("a.parquet", "b.parquet"), ("c.parquet",)]


def test_what_cannot_be_looked_at_is_an_entry_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "dangling.parquet").symlink_to("nowhere")
    (file,) = list_files(tmp_path).files
    assert (file.names, file.trouble) == (("dangling.parquet",), "No such file or directory")


def test_a_root_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nowhere: no such file"):
        list_files(tmp_path / "nowhere")
    assert list_files(tmp_path).files == []
