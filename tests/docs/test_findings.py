"""The programs of the guide ``findings.md`` still show the defects of which it tells, with the versions that it names."""

from __future__ import annotations

import importlib.metadata
import re
from pathlib import Path
from typing import Any

import pytest

from places import GUIDES

GUIDE = GUIDES / "findings.md"

PROGRAM = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL)
"""A program, and what it prints."""

SECTIONS = re.split(r"^### ", GUIDE.read_text(), flags=re.MULTILINE)
HELPER, DEFECTS = SECTIONS[0], {text.partition("\n")[0]: text for text in SECTIONS[1:]}

NAMES = {
    "pyarrow": "pyarrow",
    "DuckDB": "duckdb",
    "Polars": "polars",
    "DataFusion": "datafusion",
    "fastparquet": "fastparquet",
    "Spark": "pyspark",
}
"""What the guide calls a distribution."""


def run(text: str, **names: Any) -> str:
    """Run the program of a section, and return what it is to print."""
    ((program, told),) = PROGRAM.findall(text)
    ((helper, _),) = PROGRAM.findall(HELPER)
    known = dict(names)
    exec(helper, known)
    exec(program, known)
    return str(told)


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # fastparquet leaves files open
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # as above
@pytest.mark.parametrize("name", [name for name, text in DEFECTS.items() if "spark." not in text])
def test_a_defect_is_still_there(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    told = run(DEFECTS[name])

    assert told == capsys.readouterr().out


@pytest.mark.spark
@pytest.mark.parametrize("name", [name for name, text in DEFECTS.items() if "spark." in text])
def test_a_defect_of_spark_is_still_there(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    session = request.getfixturevalue("spark")
    monkeypatch.chdir(tmp_path)
    told = run(DEFECTS[name], spark=session)

    assert told == capsys.readouterr().out


def test_the_guide_names_the_versions_that_run_here() -> None:
    told = set(re.findall(rf"({'|'.join(NAMES)}) (\d+\.\d+\.\d+)", GUIDE.read_text()))
    running = {name: importlib.metadata.version(distribution) for name, distribution in NAMES.items()}

    assert NAMES.keys() == {name for name, _ in told}
    assert {("Spark", "4.1.3"), *running.items()} == told
