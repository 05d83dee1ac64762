"""The drivers whose library is in an environment of its own: chDB's, and hardwood's with a newer release of Java."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from golden_cases import golden_cases
from pqassay_suite.cases.case import select
from pqassay_suite.drivers.implementations import implementation
from served_drivers import Json, Serving, difference, serving, table_of, wrong_about_the_slice

pytestmark = pytest.mark.slow

EVERY_FIFTH = slice(None, None, 5)
"""Queries of a case, at most; each takes long."""


def driver(name: str) -> Iterator[Serving]:
    known = implementation(name)
    if known.missing or not known.is_built:
        pytest.skip(f"{name} is not built (pqassay suite drivers --build {name})")
    with serving(known.argv) as served:
        yield served
        assert 0 == served.close()


@pytest.fixture(scope="module")
def chdb() -> Iterator[Serving]:
    yield from driver("chdb")


@pytest.fixture(scope="module")
def hardwood() -> Iterator[Serving]:
    yield from driver("hardwood")


def wrong_about(driver: Serving, *names: str) -> dict[str, str]:
    """What a driver gets wrong of the rows of some cases."""
    tables = {case.case.id: (case, table_of(case)) for case in select(golden_cases(), names)}
    assert len(names) == len(tables)
    wrong: dict[str, str] = {}
    for name, (case, table) in tables.items():
        file = str(case.folder / case.case.input.file)
        [answer] = driver.ask(op="read", file=file, columns=table.names())
        wrong[name] = difference(table.values(), answer)
    return {name: told for name, told in wrong.items() if told}


def test_chdb_reads_and_scans_a_slice_of_golden_files(chdb: Serving) -> None:
    assert {} == wrong_about_the_slice(chdb, EVERY_FIFTH)


def test_chdb_has_text_where_the_schema_says_so_and_bytes_elsewhere(chdb: Serving) -> None:
    assert {} == wrong_about(chdb, "pqf/decimals", "pqf/uuid", "pqf/maps", "blm/fixed-bytes", "pqf/repeated")


WRITTEN: Json = {
    "columns": [
        {"name": "flag", "type": "boolean", "nullable": True},
        {"name": "year", "type": "int64", "nullable": False},
        {"name": "metal", "type": "string", "nullable": True},
        {"name": "seen", "type": "timestamp_micros", "nullable": True},
        {"name": "price", "type": "decimal(9,2)", "nullable": True},
        {"name": "id", "type": "uuid", "nullable": True},
        {"name": "code", "type": "fixed(3)", "nullable": False},
        {"name": "day", "type": "date", "nullable": True},
    ],
    "rows": [
        [True, {"int": "1152921504606846976"}, "t'in\\", {"timestamp": "-1000"}, {"decimal": "1.50"},
         {"bytes": "00" * 15 + "01"}, {"bytes": "010203"}, {"date": "-1"}],
        [None, -5, None, None, None, None, {"bytes": "000000"}, None],
    ],
}  # fmt: skip


def test_what_chdb_writes_it_reads_and_finds_by_each_value(chdb: Serving, tmp_path: Path) -> None:
    output = str(tmp_path / "written.parquet")
    request: Json = {"family": "PQF", "column": "metal", "rows": WRITTEN, "output": output}
    assert [{"answer": "accept"}] == chdb.ask(op="encode", **request, wishes={"codec": "gzip"})
    names = [column["name"] for column in WRITTEN["columns"]]
    (read,) = chdb.ask(op="read", file=output, columns=names)
    assert WRITTEN["rows"] == read["rows"]
    queries = [
        {"seq": seq, "predicate": ["=", name, WRITTEN["rows"][0][seq]], "columns": names, "index": "on"}
        for seq, name in enumerate(names)
    ]
    answers = chdb.ask(op="scan", family="PQF", file=output, queries=queries, count=len(queries))
    right = {"answer": "accept", "rows": WRITTEN["rows"][:1]}
    assert [{"seq": seq, **right} for seq in range(len(names))] == answers

    unknown = {"answer": "unsupported", "reason": "wish sorting"}
    assert [unknown] == chdb.ask(op="encode", **request, wishes={"sorting": []})


def test_hardwood_reads_and_scans_a_slice_of_golden_files(hardwood: Serving) -> None:
    wrong = wrong_about_the_slice(hardwood, EVERY_FIFTH)
    # It compares the bounds of unsigned numbers as signed ones, and knows no order of booleans.
    others = {name: told for name, told in wrong.items() if "'u32', " not in name.partition("columns")[0]}
    assert {"lt with a boolean"} == {json.loads(told)["reason"] for told in others.values()}


def test_hardwood_has_every_type_in_the_words_of_the_protocol(hardwood: Serving) -> None:
    names = (
        "pqf/nested",
        "pqf/decimals",
        "pqf/uuid",
        "pqf/maps",
        "pqf/times-of-day",
        "pqf/half",
        "pqf/repeated",
    )
    assert {} == wrong_about(hardwood, *names)
