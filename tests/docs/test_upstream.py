"""The programs of ``docs/upstream`` print what their pages say, and break the rules and write the bytes that they name."""

from __future__ import annotations

import importlib.metadata
import re
from pathlib import Path
from typing import NamedTuple

import pytest

import pqassay
from places import GOLDEN_FILES, ROOT

PAGES = {
    path.stem: path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "docs" / "upstream").glob("*.md"))
    if path.stem != "index"
}

ON_SPARK = [name for name, text in PAGES.items() if "spark." in text]

NAMES = {
    "pyarrow": "pyarrow",
    "DuckDB": "duckdb",
    "Polars": "polars",
    "DataFusion": "datafusion",
    "fastparquet": "fastparquet",
    "Spark": "pyspark",
}
"""What the pages call a distribution."""


class Shown(NamedTuple):
    """What a page shows.

    Attributes:
        program: The program that writes the file, or reads one that is stored.
        printed: What it prints; nothing if the page does not say.
        file: Pattern of the file that is judged.
        rows: Rows of its hexdump, and of the marks below them.
    """

    program: str
    printed: str
    file: str
    rows: list[str]


def shown(text: str) -> Shown:
    """The program of a page, what it prints, and what is in the file."""
    ((program, printed),) = re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", text, re.DOTALL)
    ((file, rows),) = re.findall(r'```text title="(.*?)"\n(.*?)```\n', text, re.DOTALL)
    return Shown(program, printed, file, rows.splitlines())


def rules_of(text: str) -> list[str]:
    """The rules in the table of a page."""
    (row,) = re.findall(r"^\| Rules \|.*$", text, re.MULTILINE)
    return re.findall(r"\[([A-Z]+-\d+)\]", row)


def assert_as_shown(page: str, folder: Path, capsys: pytest.CaptureFixture[str], **known: object) -> None:
    """Run the program of a page with the names that it knows, and judge its file."""
    program, printed, pattern, rows = shown(page)
    exec(program, {"folder": folder, **known})

    assert printed == capsys.readouterr().out

    (path,) = folder.glob(pattern)
    (file,) = pqassay.check(path, tier="values", crc=True).files
    rules = rules_of(page)
    found = [finding for finding in file.findings if finding.rule in rules]

    assert set(rules) == {finding.rule for finding in found}

    dumped = {row for finding in found for row in finding.hexdump}

    assert [] == [row for row in rows if row not in dumped]


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # fastparquet leaves files open
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # as above
@pytest.mark.parametrize("name", [name for name in PAGES if name not in ON_SPARK])
def test_a_finding_is_still_there(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    assert_as_shown(PAGES[name], tmp_path, capsys)


@pytest.mark.spark
@pytest.mark.parametrize("name", ON_SPARK)
def test_a_finding_on_spark_is_still_there(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    session = request.getfixturevalue("spark")
    (tmp_path / "golden_files").symlink_to(GOLDEN_FILES)

    assert_as_shown(PAGES[name], tmp_path, capsys, spark=session)


def test_the_pages_name_the_versions_that_run_here() -> None:
    names = "|".join(NAMES)
    told = {one for text in PAGES.values() for one in re.findall(rf"({names}) (\d+\.\d+\.\d+)", text)}
    running = {(name, importlib.metadata.version(distribution)) for name, distribution in NAMES.items()}

    assert running == told


@pytest.mark.parametrize("name", PAGES)
def test_a_page_can_be_filed_as_it_is(name: str) -> None:
    """It has all parts of an issue, says where it is, and needs nothing of this project to run."""
    text = PAGES[name]

    assert ["Project", "Version", "State", "Rules"] == re.findall(r"^\| (\w+) \|", text, re.MULTILINE)
    assert ["Program", "What happens", "What the text says", "Suggested change"] == re.findall(
        r"^## (.*)$", text, re.MULTILINE
    )
    assert re.search(r"^\| State \| not filed\b", text, re.MULTILINE)
    assert "pqassay" not in shown(text).program
