from __future__ import annotations

import fcntl
import json
import re
import shutil
import sys
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from typer.testing import CliRunner, Result

from places import GUIDES, INTEROP
from pqassay.cli.main import app
from pqassay_reference.cli import pm_tables, tables
from pqassay_reference.cli.pm import pm_app
from pqassay_reference.cli.tables import PrintedTable, plain_lines

pytestmark = pytest.mark.slow

QUESTDB = INTEROP / "questdb-9.4.3"
GUIDE = GUIDES / "pm.md"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["pm", *map(str, arguments)])


def words(result: Result) -> str:
    """What was printed, runs of blanks as one."""
    return "\n".join(" ".join(line.split()) for line in result.stdout.splitlines())


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A file with three row groups of ten rows, sorted, with long bounds, nulls and a bloom filter."""
    path = tmp_path / "data.parquet"
    table = pa.table(
        {
            "ts": pa.array([i * 1_000_000 for i in range(30)], pa.timestamp("us", "UTC")),
            "n": pa.array([None if i % 3 == 0 else i for i in range(30)], pa.int32()),
            "s": pa.array([f"text-{i:02}" for i in range(30)]),
            "high": pa.array([2**32 - 1 - i for i in range(30)], pa.uint32()),
        }
    )
    schema = table.schema.set(0, table.schema.field(0).with_nullable(False))
    write: Any = partial(pq.write_table, row_group_size=10, sorting_columns=[pq.SortingColumn(0)])
    write(table.cast(schema), path, bloom_filter_options={"s": {"ndv": 10, "fpp": 0.001}})
    return path


@pytest.fixture
def made(data: Path) -> Path:
    """The same, with the other file beside it."""
    assert 0 == run("generate", data).exit_code
    return data.with_name("_pm")


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    """A file of QuestDB's with six snapshots."""
    return Path(shutil.copytree(QUESTDB / "o3-chain-5", tmp_path / "chain")) / "_pm"


# ------------------------------------------------------------------------------------------------------- generate


def test_generate_says_what_it_made_and_what_it_left_out(data: Path) -> None:
    result = run("generate", data)
    made = data.with_name("_pm")

    assert 0 == result.exit_code
    about = "3 row groups of 4 columns, bloom filters of 1 column, types inferred"
    assert f"{made}: {made.stat().st_size} bytes about {about}\n" == result.stdout
    why = "unsigned integers that are negative to readers of _pm"
    assert f"warning: left out MIN and MAX of column high in 3 row groups: {why}\n" == result.stderr


@pytest.mark.parametrize(
    ("option", "said"), [("--no-blooms", ""), ("--external-blooms", " (in the Parquet file): s")]
)
def test_bloom_filters_are_a_choice(option: str, said: str, data: Path, tmp_path: Path) -> None:
    output = tmp_path / "elsewhere"
    result = run("generate", data, "--output", output, option)

    assert (0, False) == (result.exit_code, data.with_name("_pm").exists())
    assert ["bloom filters" + said] * bool(said) == re.findall(r"bloom filters.*", words(run("show", output)))


def test_generate_reproduces_what_questdb_wrote(chain: Path) -> None:
    before = chain.read_bytes()
    result = run("generate", chain.with_name("data.parquet"), "--path", "encode", "--history")

    assert (0, True) == (result.exit_code, "6 snapshots, types of QuestDB" in result.stdout)
    assert before == chain.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["generate", "missing"], 2, "missing: no such file"),
        (["generate", "{data}", "--no-blooms", "--external-blooms"], 2, "exclude each other"),
        (["generate", "{data}", "--questdb-json", "missing"], 2, "missing: no such file"),
        (["generate", "{data}", "--questdb-json", "{data}"], 1, "no UTF-8"),
        (["generate", "{data}", "--questdb-json", "{text}"], 1, "{text}, key questdb: no JSON"),
        (["generate", "{data}", "--output", "/nowhere/_pm"], 2, "there is no folder /nowhere"),
        (["generate", "{data}", "--output", "{data}"], 1, "is a Parquet file, which _pm would replace"),
        (["generate", "{data}", "--path", "encode"], 1, "{data}, key questdb: without the key questdb"),
        (["generate", "{data}", "--history"], 1, "a history needs a Parquet file with a questdb key"),
        (["generate", "{text}"], 1, "{text}, offset 0, head.magic"),
        (["show", "{data}"], 2, "`pqassay pm generate {data}` makes it"),
        (["show", "{text}"], 1, "{text}, offset 0, header.parquet_meta_file_size"),
        (["plan", "{text}", "--columns", "a"], 1, "[PM-002]"),
        (["plan", "{text}"], 2, "--columns"),
        (["update", "missing"], 2, "missing: no such file or folder"),
        (["update", "{data}"], 2, "_pm: no such file; `pqassay pm generate {data}` makes it"),
        (["migrate", "{data}"], 2, "a Parquet file"),
        (["compact", "{data}", "--if-unused-above", "a third"], 2, "a share is written as a percentage"),
        (["compact", "{data}", "--if-unused-above", "130%"], 2, "a share is written as a percentage"),
        (["show", "{made}", "--row-group", "3"], 1, "there is no row group 3, of 3"),
        (["show", "{made}", "--row-group", "-1"], 1, "there is no row group -1"),
        (["show", "{made}", "--column", "x"], 1, "there is no column x"),
        (["show", "{made}", "--parquet-size", "5"], 1, "has no snapshot of a Parquet file of 5 bytes"),
        (["plan", "{made}", "-c", "n,"], 1, "there is no column ;"),
        (
            ["plan", "{made}", "-c", "n", "--where", "x = 1"],
            1,
            "there is no column x; columns are ts, n, s, high",
        ),
        (
            ["plan", "{made}", "-c", "n", "--where", "n = 'a'"],
            1,
            "column n holds INT; 'a' is not such a value",
        ),
        (["plan", "{made}", "-c", "n", "--where", "n ="], 1, "'n =' is not a condition"),
        (["find", "{made}", "--timestamp", "2024-01-01"], 2, "a range is written FROM..TO"),
        (["find", "{made}", "--timestamp", "noon.."], 1, "column ts holds TIMESTAMP; 'noon'"),
    ],
)
def test_errors_are_one_line(arguments: list[str], code: int, said: str, data: Path, tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text(
        "no _pm file, and no Parquet file either, but a text of more than 80 characters\n" * 2, "utf-8"
    )
    made = tmp_path / "described"
    if "{made}" in arguments:
        run("generate", data, "--output", made)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    result = run(*(part.format(data=data, text=text, made=made) for part in arguments))

    assert (code, "") == (result.exit_code, result.stdout)
    assert said.format(data=data, text=text) in " ".join(result.stderr.split())
    assert "Usage" in result.stderr or 1 == result.stderr.count("\n")
    assert before == {path: path.read_bytes() for path in tmp_path.iterdir()}


def test_the_file_that_cannot_be_written_is_named(data: Path) -> None:
    made = data.with_name("_pm")
    made.mkdir()
    assert f"error: {made}: no regular file\n" == run("generate", data).stderr
    made.rmdir()
    made.write_bytes(bytes(8))
    with made.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert f"error: {made}: another process is writing it\n" == run("generate", data).stderr
    assert bytes(8) == made.read_bytes()


# ----------------------------------------------------------------------------------------------------------- show


def test_show_prints_the_file_its_columns_and_its_chunks(made: Path, data: Path) -> None:
    result = run("show", made)
    shown = words(result)

    assert 0 == result.exit_code
    assert f"describes a Parquet file of {data.stat().st_size} bytes" in shown
    assert "designated timestamp: ts\nrows sorted by: ts\nbloom filters (inlined): s\n" in shown
    assert "feature flags: BLOOM_FILTERS, SORTING_IS_DTS_ASC\n" in shown
    assert (
        "# column type in Parquet repetition def/rep id flags\n0 ts TIMESTAMP INT64 required 0/0 -\n" in shown
    )
    assert "\nRow group 2: 10 rows\n" in shown
    (row,) = (line for line in shown.splitlines() if line.startswith("n SNAPPY") and line.endswith("19"))
    assert row.startswith("n SNAPPY PLAIN, RLE_DICTIONARY 10 3 - ")
    assert row.endswith(" - 10 19")
    assert "1970-01-01 00:00:20 1970-01-01 00:00:29" in shown
    assert "'text-20' 'text-29'" in shown


def test_bounds_that_were_cut_short_are_shown_as_such(tmp_path: Path) -> None:
    pl.DataFrame({"s": ["a", "b" * 100]}).write_parquet(tmp_path / "data.parquet", statistics="full")
    run("generate", tmp_path / "data.parquet")

    assert f"'a' ≤ '{'b' * 39}…'" in words(run("show", tmp_path / "_pm"))


def test_show_can_be_narrowed(made: Path) -> None:
    shown = words(run("show", made, "--column", "n", "--row-group", "1"))

    assert ("Row group 1" in shown, "Row group 0" in shown) == (True, False)
    assert 1 == sum(line.split()[1] == "SNAPPY" for line in shown.splitlines() if len(line.split()) > 1)


def test_show_does_not_flood_the_screen(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({f"c{number}": [1, 2, 3] for number in range(400)}), path, row_group_size=1)
    run("generate", path)
    shown = words(run("show", tmp_path / "_pm"))

    assert 1000 == pm_tables.MOST_CHUNKS
    assert "1200 column chunks: name some with --column or --row-group" in shown
    assert "Row group 0" not in shown
    assert "Row group 2: 1 row" in words(run("show", tmp_path / "_pm", "--column", "c7"))


def test_show_answers_as_drivers_do_and_goes_back_to_an_earlier_snapshot(chain: Path) -> None:
    case = json.loads((chain.parent / "case.json").read_text("utf-8"))
    assert case["expect"]["value"] == json.loads(run("show", chain, "--json").stdout)
    shown = words(run("show", chain, "--parquet-size", 5405))

    assert "describes a Parquet file of 5405 bytes" in shown
    assert "1931 bytes of it unused since it was updated" in shown


def test_show_says_what_does_not_count(made: Path) -> None:
    size = made.stat().st_size
    with made.open("ab") as file:
        file.write(b"of an update that was stopped")

    assert f"{size} committed bytes, 29 behind them that do not count\n" in words(run("show", made))


# ------------------------------------------------------------------------------------------------------ snapshots


def test_snapshots_are_the_chain(chain: Path) -> None:
    result = run("snapshots", chain)

    assert 0 == result.exit_code
    assert (
        "Snapshots, the newest first\n"
        "# _pm bytes Parquet bytes row groups new unused bytes CRC\n"
        "0 3400 15374 6 1 9387 ok data.parquet as it is\n"
        "1 3060 13185 5 1 7854 ok\n"
        "2 2708 10884 5 3 5643 ok\n"
        "3 1812 7186 3 1 3811 ok\n"
        "4 1471 5405 3 1 1931 ok\n"
        "5 1116 3540 3 3 0 ok" == words(result)
    )
    links = json.loads(run("snapshots", chain, "--json").stdout)
    assert [15374, 13185, 10884, 7186, 5405, 3540] == [link["parquet_file_size"] for link in links]


def test_a_data_file_that_no_snapshot_describes_is_said(chain: Path) -> None:
    with chain.with_name("data.parquet").open("ab") as file:
        file.write(b"more")

    assert "no snapshot describes the data.parquet beside it, which has 15378 bytes" in words(
        run("snapshots", chain)
    )
    chain.with_name("data.parquet").unlink()
    assert "data.parquet" not in run("snapshots", chain).stdout


@pytest.mark.parametrize(
    ("start", "end", "shown", "wrong", "said"),
    [
        (1200, 1201, 6, 5, "a checksum is wrong: the file is damaged"),  # behind the first snapshot
        (1808, 1812, 3, 3, "[PM-020]"),  # the trailer of snapshot 3
    ],
)
def test_a_damaged_chain_is_shown_as_far_as_it_goes(
    start: int, end: int, shown: int, wrong: int, said: str, chain: Path
) -> None:
    raw = bytearray(chain.read_bytes())
    raw[start:end] = b"\xff\xff\xff\x7f"[start - end :]
    chain.write_bytes(raw)
    result = run("snapshots", chain)

    assert (1, shown, wrong) == (
        result.exit_code,
        len(words(result).splitlines()) - 2,
        result.stdout.count("WRONG"),
    )
    assert said in result.stderr


# ----------------------------------------------------------------------------------------------------------- plan


def ranges(result: Result) -> list[tuple[int, str]]:
    assert 0 == result.exit_code, result.stderr
    return [(one["row_group"], one["column"]) for one in json.loads(result.stdout)["ranges"]]


def test_plan_names_the_bytes_to_fetch(made: Path, data: Path) -> None:
    result = run("plan", made, "--columns", "s,n", "--json")
    record = json.loads(result.stdout)
    said = pq.read_metadata(data)
    expected: list[dict[str, Any]] = []
    for group in range(3):
        for name, column in (("s", 2), ("n", 1)):
            chunk = said.row_group(group).column(column)
            place = {"offset": chunk.dictionary_page_offset, "length": chunk.total_compressed_size}
            expected.append({"row_group": group, "column": name} | place)

    assert expected == record["ranges"]
    assert (data.stat().st_size, [0, 1, 2]) == (record["parquet_file_size"], record["row_groups"])
    assert sum(one["length"] for one in expected) == record["bytes"]


@pytest.mark.parametrize(
    ("where", "kept"),
    [
        ("ts >= '1970-01-01 00:00:20'", [2]),
        ("ts BETWEEN TIMESTAMP '1970-01-01T00:00:05Z' AND '1970-01-01 00:00:15'", [0, 1]),
        ("s = 'text-15x'", []),  # its bounds allow it, the bloom filter does not
        ("s IN ('text-05', 'text-15x') OR NOT n <= 27", [0, 2]),
        ("high = 1", [0, 1, 2]),
    ],
)
def test_plan_leaves_out_row_groups(where: str, kept: list[int], made: Path) -> None:
    assert [(number, "n") for number in kept] == ranges(
        run("plan", made, "-c", "n", "--where", where, "--json")
    )


def test_plan_sums_up(made: Path, data: Path) -> None:
    shown = words(
        run("plan", made, "--columns", "ts", "-c", "n", "--where", "n > 18", "--gap", 4096)
    ).splitlines()
    size = data.stat().st_size

    assert "row group column offset bytes" == shown[0]
    assert shown[5].startswith("2 of 3 row groups, 4 ranges, ")
    assert f" of {size} (" in shown[5]
    assert "1 request, 769 bytes:" == shown[6]
    assert shown[7].startswith("bytes=")
    nothing = words(run("plan", made, "-c", "n", "--where", "n > 100"))
    assert f"0 of 3 row groups, 0 ranges, 0 bytes of {size} (0.0 %)" == nothing


def test_plan_takes_a_name_with_a_comma_whole_and_leaves_out_chunks_of_nothing_but_nulls(
    tmp_path: Path,
) -> None:
    path = tmp_path / "data.parquet"
    table = pa.table({"a": range(4), "a,b": pa.array([None, None, 1, None], pa.int64())})
    pq.write_table(table, path, row_group_size=2)
    run("generate", path)
    asked = ["plan", path.with_name("_pm"), "--columns", "a,b"]

    assert [(1, "a,b")] == ranges(run(*asked, "--json"))
    assert "; 1 chunk of nothing but nulls left out" in run(*asked).stdout


# ------------------------------------------------------------------------------------------------------------ find


@pytest.mark.parametrize(
    ("asked", "row_groups"),
    [
        ("1970-01-01 00:00:09..1970-01-01 00:00:10", [0, 1]),
        ("..9999999", [0]),
        ("..", [0, 1, 2]),
        ("1970-01-02..1970-01-03", []),
    ],
)
def test_find_names_the_row_groups_that_may_hold_a_time(
    asked: str, row_groups: list[int], made: Path
) -> None:
    found = json.loads(run("find", made, "--timestamp", asked, "--json").stdout)
    shown = words(run("find", made, "--timestamp", asked)).splitlines()

    assert (row_groups, 3) == (found["row_groups"], found["of"])
    assert shown[-1].startswith(f"{len(row_groups)} of 3 row groups; {found['blocks_read']} block")
    assert [str(number) for number in row_groups] == [line.split()[0] for line in shown[1:-1]]


# ------------------------------------------------------------------------------------- update, migrate and compact


def test_update_says_what_it_appended(chain: Path) -> None:
    shutil.copy(QUESTDB / "o3-chain-2" / "_pm", chain)
    asked = [chain.parent, "--history"]
    would, did, nothing = run("update", *asked, "--dry-run"), run("update", *asked), run("update", *asked)

    assert f"{chain}: would append 3 snapshots in 1588 bytes, 5 row groups kept, 1 written\n" == would.stdout
    assert f"{chain}: appended 3 snapshots in 1588 bytes, 5 row groups kept, 1 written\n" == did.stdout
    assert f"{chain}: describes the Parquet file as it is; nothing to do\n" == nothing.stdout
    assert (QUESTDB / "o3-chain-5" / "_pm").read_bytes() == chain.read_bytes()


def compacted(chain: Path, *above: str) -> Result:
    return run("compact", chain.parent, "--if-unused-above", *above)


def test_compact_reports_the_new_folder(chain: Path) -> None:
    folder = chain.parent.with_name("chain.1")
    left, would, did = (compacted(chain, *above) for above in (["62%"], ["60%", "--dry-run"], ["60"]))
    unused = "61.1 % of the 15374 bytes of data.parquet"

    assert (
        f"{chain}: 44.0 % of 3400 bytes are dead, and 61.1 % of its Parquet file, no more than 62 %; left as it is\n"
        == left.stdout
    )
    assert f"{folder}: would write both files: {unused} are dead\n" == would.stdout
    assert f"{folder}: wrote 4590 bytes of data.parquet and 1904 of _pm: {unused} were dead\n" == did.stdout
    assert "readers use the old folder until the table's `_txn` names the new one\n" == did.stderr
    assert {"_pm", "data.parquet"} == {each.name for each in folder.iterdir()}


def test_compact_says_what_was_dead_and_who_finds_nothing_now(chain: Path) -> None:
    chain.with_name("data.parquet").unlink()
    left, would, did = (compacted(chain, *above) for above in (["50%"], ["40%", "--dry-run"], ["40"]))
    assert f"{chain}: 44.0 % of 3400 bytes are dead, no more than 50 %; left as it is\n" == left.stdout
    assert f"{chain}: would write 1904 bytes: 44.0 % of 3400 bytes were dead\n" == would.stdout
    assert f"{chain}: wrote 1904 bytes: 44.0 % of 3400 bytes were dead\n" == did.stdout
    assert "would find nothing" in would.stderr
    assert "as it was at 13185 bytes find nothing now" in did.stderr
    assert 1904 == chain.stat().st_size


def test_migrate_writes_one_snapshot_and_leaves_the_old_file(chain: Path, tmp_path: Path) -> None:
    before, new = chain.read_bytes(), tmp_path / "new_pm"
    asked = ["migrate", chain, "--parquet-size", 7186, "--output", new]
    would = run(*asked, "--dry-run")
    assert (0, False) == (would.exit_code, new.exists())
    did = run(*asked)

    assert (
        f"{new}: wrote 1100 bytes instead of 3400: the snapshot of a Parquet file of 7186 bytes alone\n"
        == did.stdout
    )
    assert before == chain.read_bytes()
    assert [7186] == [
        link["parquet_file_size"] for link in json.loads(run("snapshots", new, "--json").stdout)
    ]


def test_what_is_not_printable_is_escaped(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"a\x1b[31m\n": ["b\x07"]}), path)
    run("generate", path)
    shown = run("show", tmp_path / "_pm").stdout

    assert "a\\x1b[31m\\n" in shown
    assert shown.replace("\n", "").isprintable()


def test_columns_of_a_pipe_are_aligned_in_any_script() -> None:
    table = PrintedTable("", ("name", "n"), [("日本", "7"), ("é", "12")], right=frozenset({1}))

    assert ["name   n", "日本   7", "é     12"] == plain_lines(table)


def test_a_terminal_gets_a_drawn_table(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    tables.show(PrintedTable("Title", ("name",), [("[red]x",)]))
    shown = capsys.readouterr().out

    assert {"Title", "[red]x", "┃"} == {part for part in ("Title", "[red]x", "┃") if part in shown}


def test_the_guide_describes_every_command() -> None:
    shown = re.findall(r"^\| `pqassay pm ([a-z]+)`", GUIDE.read_text("utf-8"), re.MULTILINE)

    assert set(typer.main.get_group(pm_app).commands) == set(shown)


def test_generating_warns_of_groups_and_of_dead_bytes_that_cannot_be(tmp_path: Path) -> None:
    table = pa.table({"a": [1], "pair": [{"x": 1, "y": "b"}], "one": [{"x": 1}], "list": [[1.5]]})
    pq.write_table(table, tmp_path / "data.parquet")
    size = (tmp_path / "data.parquet").stat().st_size
    schema = [{"column_type": kind, "column_top": 0} for kind in (6, 6, 26, 6, 10)]
    key = tmp_path / "key.json"
    groups = (
        "warning: column pair is a group: _pm has a column of that name for each leaf, and nothing of the group\n"
        "warning: column one is a group: _pm has a column of that name for each leaf, and nothing of the group\n"
    )
    for unused, warning in (
        (size, ""),
        (size + 1, f"warning: unused_bytes of the questdb key is {size + 1}, more than the file has; _pm repeats it (PM-080)\n"),
    ):  # fmt: skip
        key.write_text(json.dumps({"version": 1, "schema": schema, "unused_bytes": unused}))
        done = run("generate", tmp_path / "data.parquet", "--questdb-json", key)

        assert (0, groups + warning) == (done.exit_code, done.stderr)
    pq.write_table(table.select(["a", "list"]), tmp_path / "data.parquet")
    assert "" == run("generate", tmp_path / "data.parquet", "--output", tmp_path / "new").stderr
