"""The ends of many local files are read at once, and one that is not what was listed is left to a closer look."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pytest

from idx1_files import parquet
from pqassay_reader.lake import index_tail
from pqassay_reader.lake.index_tail import NOT_INDEXED, TrustedIndex, load_indexes
from pqassay_reader.lake.tails import AT_ONCE, LOCAL_REQUEST_SIZE, REQUEST_SIZE, local_tails
from pqassay_reference.rewrite.embed import embed_file


def test_of_each_file_the_last_bytes_are_read_or_all_of_a_shorter_one(tmp_path: Path) -> None:
    contents = [b"0123456789", b"", b"abc"]
    paths = [str(tmp_path / str(number)) for number in range(3)]
    for path, content in zip(paths, contents, strict=True):
        Path(path).write_bytes(content)

    assert [b"6789", b"", b"abc"] == local_tails(paths, [10, 0, 3], 4)


def test_a_file_that_is_not_what_was_listed_has_no_tail(tmp_path: Path) -> None:
    for name in ("grown", "shrunk", "good"):
        (tmp_path / name).write_bytes(b"0123456789")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    names = ("grown", "shrunk", "pipe", "folder", "missing", "good")

    tails = local_tails([str(tmp_path / name) for name in names], [9, 11, 10, 10, 10, 10], 4)

    assert [None, None, None, None, None, b"6789"] == tails


def indexed(path: Path, nation: str, columns: int = 0) -> tuple[str, int]:
    """An indexed file, with so many columns more; its path and size."""
    wide = {f"column {number:04} of a wide table": [number] for number in range(columns)}
    path.write_bytes(parquet(pa.table({**wide, "nation": [nation]})))
    embed_file(path, "nation")
    return str(path), path.stat().st_size


def index_of(nation: str) -> TrustedIndex:
    return TrustedIndex(("nation",), nation, 0)


def test_a_file_that_was_replaced_after_it_was_listed_speaks_for_itself(tmp_path: Path) -> None:
    listed = [indexed(tmp_path / f"{number}.parquet", "Peru") for number in range(2)]
    indexed(tmp_path / "1.parquet", "Singapore")

    paths, sizes = zip(*listed, strict=True)
    assert [index_of("Peru"), index_of("Singapore")] == load_indexes(paths, sizes)


def test_files_without_index_are_told_from_their_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "plain.parquet"
    path.write_bytes(parquet(pa.table({"nation": ["Peru"]})))

    def refused(*_: object) -> None:
        raise AssertionError("the file was opened a second time")

    monkeypatch.setattr(index_tail, "FileSource", refused)
    assert [NOT_INDEXED] == load_indexes([str(path)], [path.stat().st_size])


def test_files_are_read_at_once_and_as_much_of_each_as_the_first_one_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = [
        indexed(tmp_path / f"{number}.parquet", "Peru" * LOCAL_REQUEST_SIZE, columns=60)
        for number in range(3)
    ]
    asked: list[tuple[int, int]] = []

    def noticing(paths: list[str], sizes: list[int], length: int) -> list[bytes | None]:
        asked.append((len(paths), length))
        return local_tails(paths, sizes, length)

    def refused(*_: object) -> None:
        raise AssertionError("a file was opened by itself")

    monkeypatch.setattr(index_tail, "local_tails", noticing)
    monkeypatch.setattr(index_tail, "FileSource", refused)

    paths, sizes = zip(*listed, strict=True)
    assert [index_of("Peru" * LOCAL_REQUEST_SIZE)] * 3 == load_indexes(paths, sizes)
    *first, (others, length) = asked
    assert ([1, 1, 1], 3) == (
        [count for count, _ in first],
        others,
    )  # too few for the footer, for the blob, enough
    assert LOCAL_REQUEST_SIZE < length < REQUEST_SIZE


def test_more_files_than_are_open_at_once_are_told_in_their_order(tmp_path: Path) -> None:
    path, size = indexed(tmp_path / "data.parquet", "Peru")
    missing = "it cannot be read: No such file or directory"
    paths = [path, *([str(tmp_path / "missing"), path] * AT_ONCE)]

    found = load_indexes(paths, [size] * len(paths))

    assert [index_of("Peru"), *([missing, index_of("Peru")] * AT_ONCE)] == found


def test_the_first_bytes_of_a_file_take_no_part_in_finding_its_index(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    path.write_bytes(parquet(pa.table({"id": range(5000), "nation": ["Peru"] * 5000})))
    embed_file(path, "nation")
    content = path.read_bytes()
    path.write_bytes(b"PARX" + content[4:])

    assert LOCAL_REQUEST_SIZE < len(content)
    assert [index_of("Peru")] == load_indexes([str(path)], [len(content)])
