"""Files of others: what pip packages ship, and a made-up collection in which each list has an entry."""

from __future__ import annotations

import json
import shutil
from importlib import metadata
from pathlib import Path

import corpus
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pqassay
from fixed_reader import FixedReader
from places import GOLDEN_FILES
from pqassay_spec.golden.literals import Written
from pqassay_suite.own_files.second_readers import SecondReaders

pytestmark = pytest.mark.slow


def write(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"x": [1, 2, 3]}), path)


def copy_golden(case: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(GOLDEN_FILES / case / "data.parquet", path)


def test_files_that_pip_packages_ship_are_conformant_and_read_alike(tmp_path: Path) -> None:
    packages = set[str]()
    for distribution in metadata.distributions():
        for file in distribution.files or ():
            if file.suffix in (".parquet", ".parq") and "pqassay" not in distribution.name:
                packages.add(distribution.name)
                target = tmp_path / distribution.name / file
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(str(file.locate()), target)

    shipped = corpus.judge(tmp_path)

    assert "pyarrow" in packages
    assert {name: {} for name in corpus.TITLES} == shipped.lists | {"slow": {}}
    assert (shipped.files, 0) == (shipped.agreed, shipped.tables)


def test_verdicts_are_compared_with_what_owners_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy_golden("blm/zeroed", tmp_path / "data" / "zeroed.parquet")
    copy_golden("blm/zeroed", tmp_path / "bad_data" / "zeroed.parquet")
    write(tmp_path / "Bad_Data" / "sound.parquet")
    write(tmp_path / "data" / "sound.parquet")
    shutil.copytree(GOLDEN_FILES / "dlt" / "added-twice" / "table", tmp_path / "table")

    code = corpus.main([str(tmp_path), "--json", "--jobs", "1"])
    printed = json.loads(capsys.readouterr().out)

    assert (1, 2, 1) == (code, printed["bad"], printed["tables"])
    assert {"data/zeroed.parquet", "table/"} == set(printed["lists"]["failed"])
    assert "BLM-007" == printed["lists"]["failed"]["data/zeroed.parquet"]
    assert ["Bad_Data/sound.parquet"] == list(printed["lists"]["passed"])
    assert {} == printed["lists"]["crashed"]
    assert printed["files"] == printed["agreed"]


@pytest.mark.parametrize(
    ("second", "listed", "expected"),
    [
        ([[1], [2], [4]], "differ", "other rows than one"),
        ("crashed: ended by SIGSEGV", "crashed", "two crashed: ended by SIGSEGV"),
        ("refused: no", "unread", "two: refused: no"),
    ],
)
def test_what_readers_do_is_listed(
    tmp_path: Path, second: list[list[Written]] | str, listed: str, expected: str
) -> None:
    write(tmp_path / "x.parquet")

    found = corpus.judge(
        tmp_path,
        slow=0,
        readers=SecondReaders([FixedReader("one", [[1], [2], [3]]), FixedReader("two", second)]),
    )

    assert expected in found.lists[listed]["x.parquet"]
    assert ["x.parquet"] == list(found.lists["slow"])
    assert (listed == "unread") == found.is_clean


def test_a_folder_without_parquet_files_is_wrong_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 2 == corpus.main([str(tmp_path)])
    assert f"error: {tmp_path}: there is no Parquet file below it\n" == capsys.readouterr().err


def test_a_negative_number_of_rows_that_the_decoder_refuses_is_no_error_of_the_judge() -> None:
    path = GOLDEN_FILES / "pqf" / "rows-of-group-negative" / "data.parquet"
    (file,) = pqassay.check(path, tier="values").files

    assert ("untrue", None) == (file.outcome, file.error)
