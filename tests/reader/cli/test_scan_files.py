"""`pqassay scan --files` says which files remain, and why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from idx1_files import parquet
from indexed_lakes import Values, entry, lake_table, published, write_index_table, write_lake
from pqassay.cli.main import app
from pqassay_reference.rewrite.embed import embed_file

pytestmark = pytest.mark.slow

FILES: dict[str, Values] = {"a.parquet": ["Peru", "Chad"], "b.parquet": ["Chad", None], "c.parquet": ["Oman"]}


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["scan", "--files", *map(str, arguments)])


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    return write_lake(tmp_path / "lake", FILES)


def test_the_files_that_remain_are_listed_with_the_reason_then_those_that_are_skipped(lake: Path) -> None:
    done = run(lake, "nation IN ('Chad', 'Peru') AND id >= 0")
    sizes = {path.name: path.stat().st_size for path in lake.iterdir()}

    assert 0 == done.exit_code
    assert [
        "keep  a.parquet  (nation holds 'Chad', 'Peru')",
        "keep  b.parquet  (nation holds 'Chad')",
        "skip  c.parquet  (no value of nation satisfies it)",
        (
            f"2 of 3 files may hold matching rows, {sizes['a.parquet'] + sizes['b.parquet']:,} of "
            f"{sum(sizes.values()):,} bytes"
        ),
    ] == done.stdout.splitlines()
    assert "" == done.stderr


def test_a_note_names_the_command_that_adds_an_index_if_no_file_has_one(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "a.parquet").write_bytes(parquet(lake_table(["Oman"])))
    done = run(folder, "nation = 'Oman'")

    assert 0 == done.exit_code
    assert (
        "note: no file has an index; `pqassay embed PATH --column COLUMN` adds one"
        == done.stderr.splitlines()[-1]
    )


def test_nothing_remaining_is_an_answer(lake: Path) -> None:
    done = run(lake, "nation = 'Fiji'")

    assert 0 == done.exit_code
    assert done.stdout.endswith(
        f"0 of 3 files may hold matching rows, 0 of {sum(p.stat().st_size for p in lake.iterdir()):,} bytes\n"
    )


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ("nation IS NULL", "nation may hold null"),
        ("nation IS NULL OR nation = 'Chad'", "nation holds 'Chad' and may hold null"),
        ("id = 7", "no index decides the condition"),
    ],
)
def test_the_reason_fits_the_condition(condition: str, reason: str, lake: Path) -> None:
    assert f"keep  b.parquet  ({reason})" in run(lake, condition).stdout.splitlines()


def test_json_holds_all_of_it(lake: Path) -> None:
    (lake / "d.parquet").write_bytes(parquet(lake_table(["Oman"])))
    record: dict[str, Any] = json.loads(run(lake, "nation = 'Peru'", "--format", "json").stdout)

    assert {"files": 4, "kept": 2, "skipped": 2} == {
        name: record["totals"][name] for name in ("files", "kept", "skipped")
    }
    assert sum(path.stat().st_size for path in lake.iterdir()) == record["totals"]["bytes"]
    assert [True, False, False, True] == [file["kept"] for file in record["files"]]
    assert "it has no IDX1 index, and no matching distinct set" == record["files"][3]["why"]
    assert [f"{lake / 'd.parquet'}: it has no IDX1 index, and no matching distinct set"] == record["warnings"]
    assert "nation = 'Peru'" == record["condition"]


def test_long_lists_are_shortened_unless_all_is_asked_for(tmp_path: Path) -> None:
    write_lake(
        tmp_path,
        {f"{number:02}.parquet": ["Peru" if number % 2 else "Chad"] for number in range(50)},
        index=False,
    )

    done = run(tmp_path, "nation = 'Peru'")

    assert 20 == sum(line.startswith("keep  ") and "…" not in line for line in done.stdout.splitlines())
    assert "keep  … and 30 more files; --all lists them" in done.stdout
    assert 3 == len(done.stderr.splitlines())
    assert "warning: 49 more files cannot be skipped; --all lists them" in done.stderr
    assert 51 == len(run(tmp_path, "nation = 'Peru'", "--all").stdout.splitlines())
    assert 51 == len(run(tmp_path, "nation = 'Peru'", "--all").stderr.splitlines())


def test_published_indexes_count_where_somebody_vouches_for_them(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(published(lake_table(["Chad"]), ["Chad"]))
    asked = (tmp_path, "nation = 'Peru'")

    assert "keep  a.parquet  (its index has no companion record" in run(*asked).stdout
    assert "skip  a.parquet" in run(*asked, "--trust", "published", "--column", "nation").stdout
    for half in (("--trust", "published"), ("--column", "nation")):
        done = run(*asked, *half)
        assert 2 == done.exit_code
        assert "error: --column and --trust published go together" in done.stderr


def test_an_index_table_is_used_where_it_is_named(tmp_path: Path) -> None:
    lake = write_lake(tmp_path / "lake", FILES, index=False)
    write_index_table(
        tmp_path / "lake.index", *(entry(lake, name, "nation", values) for name, values in FILES.items())
    )

    for table in ("auto", tmp_path / "lake.index"):
        assert run(lake, "nation = 'Peru'", "--table", table).stdout.startswith(
            "keep  a.parquet  (nation holds 'Peru')\nskip"
        )
    done = run(lake, "nation = 'Peru'", "--table", tmp_path / "missing")
    assert (2, f"error: {tmp_path / 'missing'}: no such folder\n") == (done.exit_code, done.stderr)


def test_a_file_that_was_changed_after_the_table_was_made_is_kept_and_that_is_said(tmp_path: Path) -> None:
    lake = write_lake(tmp_path / "lake", FILES, index=False)
    write_index_table(
        tmp_path / "lake.index", *(entry(lake, name, "nation", values) for name, values in FILES.items())
    )
    pq.write_table(lake_table(["Peru", "Togo"]), lake / "c.parquet")

    assert (
        "keep  c.parquet  (it changed after the index table was written, and it has no IDX1 index, and no matching distinct set)"
        in run(lake, "nation = 'Peru'", "--table", "auto").stdout
    )


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["{lake}", "nation ="], 1, "is not a condition"),
        (["{lake}", "notion = 'Peru'"], 1, "there is no column notion; columns are: id, nation, amount"),
        (["{lake}", "id = 'Peru'"], 1, "column id is int64 and cannot be compared with the text 'Peru'"),
        (["{lake}/missing", "nation = 'Peru'"], 2, "no such file or folder"),
        (["{lake}/../empty", "nation = 'Peru'"], 2, "there are no Parquet files in it"),
        (["{lake}/../text", "nation = 'Peru'"], 1, "Parquet"),
        (["none://lake", "nation = 'Peru'"], 1, "none://lake: "),
        (["{lake}", "nation = 'Peru'", "--format", "xml"], 2, "xml"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(arguments: list[str], code: int, message: str, lake: Path) -> None:
    (lake.parent / "empty").mkdir()
    (lake.parent / "text").write_text("no Parquet file at all")

    done = run(*(argument.format(lake=lake) for argument in arguments))

    assert code == done.exit_code
    assert message in done.stderr
    if code == 1:
        assert done.stderr.startswith("error: ")
        assert 1 == len(done.stderr.splitlines())


def test_a_condition_may_speak_of_dates_and_text_is_no_date(tmp_path: Path) -> None:
    days = pa.array([1], pa.date32())
    pq.write_table(lake_table(["1970-1-2"]).append_column("day", days), tmp_path / "a.parquet")
    embed_file(tmp_path / "a.parquet", "nation")

    assert "keep  a.parquet" in run(tmp_path, "nation = '1970-1-2' AND day = DATE '1970-01-02'").stdout
    assert "skip  a.parquet" in run(tmp_path, "nation = 'Peru' AND day = '1970-01-02'").stdout
    # An engine reads the text as a date, and finds the row.
    assert "write the text alone, without a type" in run(tmp_path, "nation = DATE '1970-01-02'").stderr


def test_one_file_may_be_asked_about(lake: Path) -> None:
    assert run(lake / "a.parquet", "nation = 'Oman'").stdout.startswith("skip  a.parquet  (no value")


def test_names_and_values_cannot_write_to_the_terminal(tmp_path: Path) -> None:
    write_lake(tmp_path, {"a\x1b[31m.parquet": ["\x1b[2J"]})

    done = run(tmp_path, "nation IS NOT NULL")

    assert "\x1b" not in done.stdout
    assert "keep  a" in done.stdout
