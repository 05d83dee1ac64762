"""What ``--output`` and its like never replace: data, metadata of tables, and whatever pqassay did not write."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from damage import turns
from places import GOLDEN_FILES
from pqassay.cli.main import app

FORMS = ("txt", "json", "xml", "sarif", "html", "md")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(GOLDEN_FILES / "dlt/maximum-lowered/table", "d")
    shutil.copytree(GOLDEN_FILES / "ice/maximum-lowered/table", "i")
    return tmp_path


def check(*options: str) -> Result:
    return CliRunner().invoke(app, ["check", "--tier", "meta", *options])


def contents() -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}


NAMES = (
    f"d/_delta_log/{0:020}.json",
    "d/_delta_log/report.json",
    "i/metadata/v1.metadata.json",
    "i/metadata/new",
)


@pytest.mark.parametrize(
    ("name", "option"),
    turns([(name,) for name in NAMES], [("--output",), ("--metrics",), ("--write-baseline",)]),
)
def test_metadata_of_tables_are_not_replaced(option: str, name: str) -> None:
    before = contents()
    result = check(option, name, "d", "i")

    assert 2 == result.exit_code
    assert f"{option} {name}: this is among the metadata of a table; choose another file\n" in result.stderr
    assert before == contents()


@pytest.mark.parametrize("content", [b"notes\n", b"{}", b'{"commitInfo": {}}\n', b"Obj\1avro", b"a,b\n1,2\n"])
def test_a_file_that_pqassay_did_not_write_is_not_replaced(content: bytes) -> None:
    Path("mine").write_bytes(content)
    result = check("--output", "mine", "d")

    assert (2, content) == (result.exit_code, Path("mine").read_bytes())
    assert "mine: pqassay did not write this file; remove it or choose another file" in result.stderr


def test_reports_are_replaced_and_so_is_an_empty_file() -> None:
    for form in FORMS:
        Path(f"report.{form}").touch()
        for _ in range(2):
            assert 2 != check("--output", f"report.{form}", "--metrics", "m.prom", "d").exit_code, form
