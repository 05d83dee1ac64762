"""What becomes of answers about ``_pm``, on a case that a real engine's files make."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from golden_cases import write_driver
from pqassay_suite.cases.case import GoldenCase, golden_folder, load
from pqassay_suite.drivers.process import Limits
from pqassay_suite.judging.pm_answers import differences
from pqassay_suite.running.runner import Settings, run

pytestmark = pytest.mark.slow

CHAIN = "interop/questdb-9.4.3/o3-chain-2"
FOLDER = golden_folder() / CHAIN
VALUE: dict[str, Any] = json.loads((FOLDER / "case.json").read_text())["expect"]["value"]
NEWEST, BEFORE = 7186, 5405
PREDICATE = ["=", "l", 1001]


def case(tmp_path: Path, **expect: Any) -> GoldenCase:
    """The case with other expectations."""
    home = shutil.copytree(FOLDER, tmp_path / "cases" / CHAIN)
    manifest = json.loads((home / "case.json").read_text())
    manifest["expect"] = {"check": {"rules": [], "tier": "values"}, **expect}
    (home / "case.json").write_text(json.dumps(manifest | {"kind": "valid", "rules": []}))
    (golden,) = load(tmp_path / "cases")
    return golden


def outcome(tmp_path: Path, body: str, **expect: Any) -> tuple[str, str]:
    """Outcome and reason of the one operation that is asked."""
    tmp_path.mkdir(exist_ok=True)
    settings = Settings(write_driver(tmp_path, body), Limits(seconds=20), strict=True)
    (result,) = run([case(tmp_path, **expect)], settings).results
    return result.outcome, result.reason


def answer(**members: Any) -> str:
    return f"answer '{json.dumps({'answer': 'accept', **members})}'"


REJECT = 'answer \'{"answer": "reject", "message": "no"}\''
PASSED = ("passed", "")
PRUNE = {"predicate": PREDICATE, "must_keep": [0], "kept": [0, 1]}


@pytest.mark.parametrize(
    ("body", "became"),
    [
        (answer(row_groups=[0]), "passed"),
        (answer(row_groups=[1, 0]), "passed"),
        (answer(row_groups=[1]), "rows are lost: row group 0 is left out"),
        (answer(row_groups=[]), "rows are lost: row group 0 is left out"),
        (answer(row_groups=[0, 2]), "row group 2 is kept"),
        (answer(row_groups=[0, 0]), "a row group is named twice"),
        (answer(answer="ignored-index", row_groups=[0, 1, 2]), "passed"),
        (answer(answer="ignored-index", row_groups=[1, 2]), "rows are lost: row group 0 is left out"),
        (answer(answer="ignored-index", row_groups=[0, 1, 99]), "there is no row group 99, of 3"),
        (answer(answer="ignored-index", row_groups=[-1, 0]), "there is no row group -1, of 3"),
        (REJECT, "refused"),
    ],
)
def test_an_answer_to_prune_keeps_what_it_must_and_nothing_that_is_ruled_out(
    body: str, became: str, tmp_path: Path
) -> None:
    wanted = ("passed", "") if became == "passed" else ("failed", f"{became} ({json.dumps(PREDICATE)})")

    assert wanted == outcome(tmp_path, body, prune=[PRUNE])


def test_where_damage_can_be_seen_refusing_to_prune_is_right(tmp_path: Path) -> None:
    assert PASSED == outcome(tmp_path, REJECT, prune=[{**PRUNE, "answer": "either"}])


@pytest.mark.parametrize(
    ("body", "became"),
    [
        (answer(ranges=[[4, 10], [{"int": "9007199254740993"}, 20]]), PASSED),
        (answer(ranges=[[4, 10], [30, 20]]), ("failed", "wrong ranges[1][0] (columns l, ts)")),
        (answer(ranges=[[4, 10]]), ("failed", "wrong length of ranges (columns l, ts)")),
        (answer(ranges=[[4, 10], [{"int": "x"}, 20]]), ("failed", "wrong ranges[1][0] (columns l, ts)")),
        (REJECT, ("failed", "refused (columns l, ts)")),
    ],
)
def test_a_plan_names_the_range_of_every_chunk(body: str, became: tuple[str, str], tmp_path: Path) -> None:
    ranges = [[4, 10], [{"int": "9007199254740993"}, 20]]

    assert became == outcome(tmp_path, body, plan=[{"columns": ["l", "ts"], "ranges": ranges}])


def without(value: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: member for name, member in value.items() if name not in names}


SNAPSHOT = {"parquet_file_size": NEWEST, "answer": "accept", "value": VALUE}
ESSENCE = {
    **without(VALUE, "columns", "sorting", "designated_timestamp", "bloom_columns", "bloom_external"),
    "row_groups": [{"num_rows": group["num_rows"]} for group in VALUE["row_groups"]],
}


@pytest.mark.parametrize(
    ("value", "became"),
    [
        (VALUE, ""),
        (ESSENCE, ""),
        ({**ESSENCE, "columns": []}, "wrong length of columns"),
        ({**ESSENCE, "unused_bytes": 0}, "wrong unused_bytes"),
        (without(ESSENCE, "previous_sizes"), "wrong previous_sizes"),
        ({**ESSENCE, "row_groups": ESSENCE["row_groups"][:2]}, "wrong length of row_groups"),
        ({**ESSENCE, "row_groups": [{} for _ in ESSENCE["row_groups"]]}, "wrong row_groups[0].num_rows"),
    ],
)
def test_of_a_snapshot_the_essence_must_be_there_and_the_rest_right(
    value: dict[str, Any], became: str, tmp_path: Path
) -> None:
    words = f"{became} (Parquet file of {NEWEST} bytes)" if became else ""

    assert ("failed" if became else "passed", words) == outcome(
        tmp_path, answer(value=value), snapshots=[SNAPSHOT]
    )


def test_every_size_is_asked_for_and_one_that_is_not_there_must_be_refused(tmp_path: Path) -> None:
    asked = [SNAPSHOT, {"parquet_file_size": BEFORE - 1, "answer": "reject"}]
    body = f"""grep -q '"parquet_file_size": {NEWEST}' "$1" && {answer(value=VALUE)} || {{ %s; }}"""

    assert PASSED == outcome(tmp_path / "a", body % REJECT, snapshots=asked)
    words = f"accepted (Parquet file of {BEFORE - 1} bytes)"
    assert ("failed", words) == outcome(tmp_path / "b", body % answer(value=VALUE), snapshots=asked)


def test_what_is_decoded_is_compared_whole(tmp_path: Path) -> None:
    expect = {"decode": "accept", "value": VALUE}
    wrong = json.loads(json.dumps(VALUE))
    wrong["row_groups"][1]["chunks"][2]["min"]["bytes"] = "00"

    assert PASSED == outcome(tmp_path / "a", answer(value=VALUE), **expect)
    assert ("failed", "wrong designated_timestamp") == outcome(
        tmp_path / "b", answer(value=ESSENCE), **expect
    )
    assert ("failed", "wrong row_groups[1].chunks[2].min") == outcome(
        tmp_path / "c", answer(value=wrong), **expect
    )


@pytest.mark.parametrize(
    ("wanted", "found", "paths"),
    [
        ({"a": None}, {}, []),
        ({"a": 1}, {"a": {"int": "1"}, "b": 2}, []),
        ({"a": {"bytes": "fF"}}, {"a": {"bytes": "Ff"}}, []),
        ({"a": 1}, {"a": True}, ["a"]),
        ({"a": 1}, {"a": 1.0}, ["a"]),
        ({"a": False}, {"a": 0}, ["a"]),
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}, 4]}, ["a[1].b", "length of a"]),
        ({"a": {"bytes": "00"}}, {"a": {"bytes": "0"}}, ["a"]),
        ({"a": {"bytes": "00"}}, {"a": "00"}, ["a"]),
        ([], {}, [""]),
    ],
)
def test_values_differ_where_they_say_something_else(wanted: object, found: object, paths: list[str]) -> None:
    assert paths == [difference.path for difference in differences(wanted, found)]


def test_a_driver_finds_the_parquet_file_beside_the_input_and_both_are_kept(tmp_path: Path) -> None:
    body = """
file=$(sed 's/.*"file": "\\([^"]*\\)".*/\\1/' "$1")
[ "${file##*/}" = _pm ] && [ -s "${file%_pm}data.parquet" ] && answer '{"answer": "accept"}'
"""
    settings = Settings(write_driver(tmp_path, body), keep=tmp_path / "kept")
    (result,) = run([case(tmp_path, lint="accept")], settings).results
    kept = tmp_path / "kept" / CHAIN / "lint-1"

    assert "passed" == result.outcome
    for name in ("_pm", "data.parquet"):
        assert (FOLDER / name).read_bytes() == (kept / name).read_bytes()


WRITER = """
import json, shutil, sys
request = json.load(open(sys.argv[1]))
if request["op"] != "encode": sys.exit(3)
assert request["value"]["parquet_footer_offset"] and "rows" not in request and "column" not in request
if {source!r}: shutil.copyfile({source!r}, request["output"])
json.dump({{"answer": {word!r}, "message": ""}}, open(sys.argv[2], "w"))
"""


@pytest.mark.parametrize(
    ("source", "word", "became"),
    [
        ("o3-chain-0", "accept", PASSED),
        ("o3-chain-0", "reject", ("failed", "refused")),
        ("", "accept", ("failed", "nothing was written")),
        ("no-statistics-0", "accept", ("failed", "the written file has a wrong columns[3].name")),
        ("o3-chain-1", "accept", ("failed", "the written file has a wrong row_groups[0].num_rows")),
        ("damaged", "accept", ("failed", "the written file breaks rules")),
    ],
)
def test_a_written_file_is_checked_and_must_say_the_value(
    source: str, word: str, became: tuple[str, str], tmp_path: Path
) -> None:
    value = json.loads((FOLDER.parent / "o3-chain-0" / "case.json").read_text())["expect"]["value"]
    path = FOLDER.parent / source / "_pm" if source else ""
    if source == "damaged":
        path = tmp_path / "_pm"
        data = bytearray((FOLDER.parent / "o3-chain-0" / "_pm").read_bytes())
        data[200] ^= 1
        path.write_bytes(data)
    driver = tmp_path / "driver.py"
    driver.write_text(WRITER.format(source=str(path), word=word))
    golden = case(tmp_path, encode="accept", value=value)
    (result,) = run([golden], Settings([sys.executable, str(driver)], Limits(seconds=20))).results

    assert became == (result.outcome, result.reason)
