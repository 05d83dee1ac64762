from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from idx1_files import Idx1File, parquet, table
from pqassay.cli.main import app

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
    assert "Côte d'Ivoire\nPeru\nSingapore\n日本\n" == run(app, ["index", "extract", str(path)]).stdout
    record = json.loads(run(app, ["index", "extract", "--json", str(path)]).stdout)
    assert (["nation"], "published") == (record["column"], record["layout"])
    assert "replaced the old index" in run(app, ["embed", str(path), "-c", "nation"]).stdout


def test_losses_are_a_warning(path: Path) -> None:
    path.write_bytes(Idx1File(payload=b"a\r\nb").build())
    result = run(app, ["index", "extract", str(path)])

    assert "a\\r\nb\n" == result.stdout
    assert 'warning: the published reader loses "a\\r"\n' == result.stderr
    assert "a\nb\n" == run(app, ["index", "extract", "--published", str(path)]).stdout


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["embed", "missing", "-c", "x"], 2, "missing: no such file"),
        (["index", "extract", "."], 2, "is a directory"),
        (["embed", "{path}"], 2, "--column"),
        (["embed", "{path}", "-c", "year"], 1, "column year is INT64; only string columns can be indexed"),
        (["index", "extract", "{path}"], 1, "the file has no IDX1 index"),
        (["index", "extract", "missing"], 2, "no such file"),
        (["strip", "missing", "--idx1"], 2, "missing: no such file"),
        (["strip", "{path}"], 2, "nothing is selected; see pqassay strip --help"),
        (["strip", "{path}", "--column", "year"], 2, "nothing is selected"),
        (["strip", "{path}", "--all", "--column", "year"], 2, "belong to the whole file"),
        (["strip", "{path}", "--key", "k", "--row-group", "0"], 2, "belong to the whole file"),
        (["strip", "{path}", "--statistics", "--row-group", "9"], 1, "{path}: there is no row group 9"),
        (["strip", "{path}", "--idx1", "-o", "/none/x"], 2, "/none/x: there is no folder /none"),
        (["strip", "{path}", "--idx1", "-o", "/"], 2, "/: no regular file"),
        (["strip", "{path}", "--idx1", "-o", "/proc/x"], 1, "{path}: /proc/x cannot be written: "),
    ],
)
def test_errors_are_one_line(arguments: list[str], code: int, words: str, path: Path) -> None:
    result = run(app, [argument.replace("{path}", str(path)) for argument in arguments])

    assert code == result.exit_code
    assert words.replace("{path}", str(path)) in result.stderr
    assert "Traceback" not in result.output


def test_strip_says_what_went_and_what_stays(path: Path) -> None:
    run(app, ["embed", str(path), "--column", "nation"])
    planned = run(app, ["strip", str(path), "--all", "--dry-run"])
    output = path.with_name("stripped.parquet")
    done = run(app, ["strip", str(path), "--all", "--values-are-right", "--output", str(output)])
    again = run(app, ["strip", str(output), "--all"])
    went = (
        "2 column indexes, 2 offset indexes, the statistics of 2 column chunks, "
        "the key distinct_index_offset, the key pqassay.distinct_index"
    )
    saved = path.stat().st_size - output.stat().st_size
    dead = "bytes of what was removed"

    assert (0, 0, 0) == (planned.exit_code, done.exit_code, again.exit_code)
    assert f"{path}: would remove {went}" == planned.stdout.splitlines()[0]
    assert [
        f"{output}: removed {went}",
        f"  the footer is {saved} bytes shorter",
    ] == done.stdout.splitlines()[:2]
    assert f"{dead} stay in the file; nothing refers to them any more" in done.stdout
    assert f"{dead} would stay in the file; nothing would refer to them any more" in planned.stdout
    assert f"{output}: there is nothing to remove\n" == again.stdout


@pytest.mark.parametrize(
    ("arguments", "went"),
    [
        (["--column-index", "-c", "year"], "1 column index"),
        (["--page-index", "-c", "year", "-c", "nation", "--row-group", "0"], "2 column indexes, 2 offset indexes"),
        (["--statistics", "-c", "year"], "the statistics of 1 column chunk"),
        (["--key", "ARROW:schema", "--key", "absent"], "the key ARROW:schema"),
    ],
)  # fmt: skip
def test_strip_takes_what_the_options_name(arguments: list[str], went: str, path: Path) -> None:
    pq.write_table(table(), path, write_page_index=True, store_schema=True)
    result = run(app, ["strip", str(path), "--values-are-right", *arguments])

    assert f"{path}: removed {went}" == result.stdout.splitlines()[0]


def test_a_column_that_cannot_be_decoded_is_reported(path: Path) -> None:
    data = bytearray(parquet(table(), compression="zstd", use_dictionary=False))
    data[40:60] = bytes(20)
    path.write_bytes(data)
    result = run(app, ["embed", str(path), "-c", "nation"])

    assert 1 == result.exit_code
    assert "error:" in result.stderr
    assert bytes(data) == path.read_bytes()
