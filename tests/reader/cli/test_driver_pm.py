"""The reference's answers about ``_pm``, and its own opinion of one; the golden cases ask for more."""

from __future__ import annotations

import json
import shutil
import zlib
from pathlib import Path
from typing import Any

import pytest

from places import INTEROP
from pqassay_reader.cli.driver import respond
from pqassay_reader.lint.pm import lint_file
from pqassay_spec.base.errors import Malformed

QUESTDB = INTEROP / "questdb-9.4.3"
CHAIN = QUESTDB / "o3-chain-5"


def asked(op: str, **members: Any) -> dict[str, Any]:
    return next(respond({"protocol": 2, "op": op, "family": "PM", "file": str(CHAIN / "_pm"), **members}))


def scanned(index: str, *, file: str, predicate: list[Any], columns: list[str]) -> dict[str, Any]:
    query = {"seq": 7, "predicate": predicate, "columns": columns, "index": index}
    answer = asked("scan", file=file, queries=[query])
    assert 7 == answer.pop("seq")
    return answer


def expectation(name: str) -> dict[str, Any]:
    expect: dict[str, Any] = json.loads((QUESTDB / name / "case.json").read_text())["expect"]
    return expect


def test_every_question_may_be_about_an_earlier_snapshot() -> None:
    sizes = [snapshot["parquet_file_size"] for snapshot in expectation("o3-chain-5")["snapshots"]][:-1]

    assert len(sizes) == 5
    for size in sizes:
        value = asked("snapshot", parquet_file_size=size)["value"]
        rows = asked("prune", predicate=[">=", "ts", 0], parquet_file_size={"int": str(size)})
        ranges = asked("plan", columns=["l"], parquet_file_size=size)

        assert list(range(len(value["row_groups"]))) == rows["row_groups"]
        assert [
            [group["chunks"][1][name] for name in ("offset", "length")] for group in value["row_groups"]
        ] == (ranges["ranges"])


@pytest.mark.parametrize("name", ["o3-chain-5", "all-types-1", "unicode"])
def test_rows_by_pm_are_those_of_the_footer(name: str) -> None:
    columns = [column["name"] for column in expectation(name)["value"]["columns"]]
    members: dict[str, Any] = {
        "file": str(QUESTDB / name / "_pm"),
        "predicate": ["is not null", columns[0]],
        "columns": columns,
    }
    by_pm, by_footer = (scanned(index, **members) for index in ("on", "off"))

    assert by_footer == by_pm
    assert by_pm["rows"]


def test_rows_by_a_damaged_pm_are_refused() -> None:
    damaged = INTEROP.parent / "pm" / "checksum" / "_pm"
    members: dict[str, Any] = {"file": str(damaged), "predicate": ["is null", "venue"], "columns": ["venue"]}

    assert "reject" == scanned("on", **members)["answer"]


@pytest.mark.parametrize(
    ("op", "members", "told"),
    [
        ("snapshot", {"parquet_file_size": 1}, "no snapshot of a Parquet file of 1 bytes"),
        ("plan", {"columns": ["gone"]}, "there is no column gone"),
        ("plan", {"columns": ["l"], "row_groups": [6]}, "no row group 6"),
        ("prune", {"predicate": ["like", "v", "x"]}, "not a predicate"),
        ("prune", {"predicate": ["=", "gone", 1]}, "there is no column gone"),
    ],
)
def test_what_is_not_there_is_refused(op: str, members: dict[str, Any], told: str) -> None:
    answer = asked(op, **members)

    assert "reject" == answer["answer"]
    assert told in answer["message"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"previous_sizes": [100]}, "has earlier snapshots"),
        ({"columns": None}, "columns: no list"),
        ({"unused_bytes": {"int": str(1 << 64)}}, ""),
    ],
)
def test_a_value_that_cannot_be_written_is_refused_and_leaves_nothing(
    change: dict[str, Any], told: str, tmp_path: Path
) -> None:
    value = {**expectation("o3-chain-0")["value"], **change}
    answer = asked("encode", value=value, output=str(tmp_path / "_pm"))

    assert "reject" == answer["answer"]
    assert told in answer["message"]
    assert [] == list(tmp_path.iterdir())


def pair(tmp_path: Path, name: str = "o3-chain-1") -> Path:
    """A copy of a golden pair: the path of its ``_pm``."""
    return Path(shutil.copytree(QUESTDB / name, tmp_path / "pair")) / "_pm"


def test_a_file_alone_is_judged_alone_and_a_pair_together(tmp_path: Path) -> None:
    path = pair(tmp_path)
    lint_file(path)
    data = path.with_name("data.parquet")
    shutil.copyfile(QUESTDB / "bloom" / "data.parquet", data)
    with pytest.raises(Malformed) as raised:
        lint_file(path)

    assert "PM-100" == raised.value.rule
    data.unlink()
    lint_file(path)


def test_a_parquet_file_that_is_behind_or_ahead_is_compared_with_the_snapshot_that_describes_it(
    tmp_path: Path,
) -> None:
    path = pair(tmp_path, "o3-chain-2")
    data = path.with_name("data.parquet")
    whole = data.read_bytes()
    for content in (whole + b"unpublished", whole[:5405], whole[:3540]):
        data.write_bytes(content)
        lint_file(path)
    data.write_bytes(whole[:100] + b"x" + whole[100:])
    with pytest.raises(Malformed, match="PM-100"):
        lint_file(path)


def resealed(data: bytearray) -> bytes:
    """The bytes with the checksum of the newest footer made right again."""
    data[-8:-4] = zlib.crc32(data[8:-8]).to_bytes(4, "little")
    return bytes(data)


BLOCK = 8 * int.from_bytes((QUESTDB / "o3-chain-0" / "_pm").read_bytes()[-20:-16], "little")
"""Offset of the first row group's block in the file with three of them."""


@pytest.mark.parametrize(
    ("offset", "byte", "rule"),
    [
        (20, 5, "PM-009"),
        (28, 1, "PM-003"),
        (32 + 31, 1, "PM-025"),
        (32 + 24 + 4, 9, "PM-028"),
        (BLOCK, 15, "PM-054"),
        (BLOCK + 8, 9, "PM-060"),
        (BLOCK + 8 + 4, 1, "PM-059"),
        (BLOCK + 8 + 16, 5, "PM-113"),
        (BLOCK + 8 + 64 + 32, 9, "PM-114"),
        (BLOCK + 8 + 64 + 48, 9, "PM-116"),
    ],
)
def test_one_wrong_byte_under_a_right_checksum_is_found_with_its_rule(
    offset: int, byte: int, rule: str, tmp_path: Path
) -> None:
    path = pair(tmp_path, "o3-chain-0")
    data = bytearray(path.read_bytes())
    data[offset] = byte
    path.write_bytes(resealed(data))
    with pytest.raises(Malformed) as raised:
        lint_file(path)

    assert rule == raised.value.rule


def test_without_the_parquet_file_a_wrong_bound_cannot_be_seen_and_beside_it_the_values_tell(
    tmp_path: Path,
) -> None:
    path = pair(tmp_path, "o3-chain-0")
    path.with_name("data.parquet").unlink()
    data = bytearray(path.read_bytes())
    data[BLOCK + 8 + 64 + 48] = 9
    path.write_bytes(resealed(data))

    lint_file(path)
