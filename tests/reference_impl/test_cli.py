from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from idx1_files import Idx1File, parquet, table
from pqassay_reference.cli import app

run = CliRunner().invoke


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "data.parquet"
    path.write_bytes(parquet(table()))
    return path


def test_embed_and_extract(path: Path) -> None:
    result = run(app, ["embed", str(path), "--column", "nation"])

    assert 0 == result.exit_code
    assert result.stdout.startswith(f"{path}: 4 distinct values of column nation in 36 bytes at offset ")
    assert "Côte d'Ivoire\nPeru\nSingapore\n日本\n" == run(app, ["extract", str(path)]).stdout
    record = json.loads(run(app, ["extract", "--json", str(path)]).stdout)
    assert (["nation"], "published") == (record["column"], record["layout"])
    assert "replaced the index" in run(app, ["embed", str(path), "-c", "nation"]).stdout


def test_losses_are_a_warning(path: Path) -> None:
    path.write_bytes(Idx1File(payload=b"a\r\nb").build())
    result = run(app, ["extract", str(path)])

    assert "a\\r\nb\n" == result.stdout
    assert 'warning: the published reader loses "a\\r"\n' == result.stderr
    assert "a\nb\n" == run(app, ["extract", "--published", str(path)]).stdout


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["embed", "missing", "-c", "x"], 2, "missing: no such file"),
        (["embed", ".", "-c", "x"], 2, "is a directory"),
        (["embed", "{path}"], 2, "--column"),
        (["embed", "{path}", "-c", "year"], 1, "column year holds INT64, no text"),
        (["extract", "{path}"], 1, "the file has no IDX1 index"),
        (["extract", "missing"], 2, "no such file"),
    ],
)
def test_errors_are_one_line(arguments: list[str], code: int, words: str, path: Path) -> None:
    result = run(app, [argument.replace("{path}", str(path)) for argument in arguments])

    assert code == result.exit_code
    assert words in result.stderr
    assert "Traceback" not in result.output


def test_a_column_that_cannot_be_decoded_is_reported(path: Path) -> None:
    data = bytearray(parquet(table(), compression="zstd", use_dictionary=False))
    data[40:60] = bytes(20)
    path.write_bytes(data)
    result = run(app, ["embed", str(path), "-c", "nation"])

    assert 1 == result.exit_code
    assert "error:" in result.stderr
    assert bytes(data) == path.read_bytes()


@pytest.mark.parametrize("command", ["embed", "extract"])
def test_help_has_an_example(command: str) -> None:
    assert f"pqassay-ref {command}" in run(app, [command, "--help"]).stdout
