"""The drivers in Rust: the one of the crate ``parquet``, and the template, which is built beside it."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

import pqassay
import processes
from golden_cases import golden_cases
from pqassay.literals.predicate import keeps
from pqassay.literals.rows import rows_difference
from pqassay_spec.golden.literals import Rows, Value, Written, read_value
from pqassay_suite.drivers.implementations import implementation

FILES = {case.case.id: case.folder / case.case.input.file for case in golden_cases()}
ROWS = {case.case.id: case.case.expect.rows for case in golden_cases()}

PANICKED = 101
UNKNOWN_OPERATION = 3


@pytest.fixture(scope="module")
def driver() -> str:
    """The driver of the crate ``parquet``."""
    return _built("parquet-rs-driver")


@pytest.fixture(scope="module")
def template() -> str:
    """The driver that implementers begin with."""
    return _built("driver-template")


def _built(name: str) -> str:
    driver = implementation("parquet-rs")
    if not driver.is_built:
        pytest.skip("parquet-rs is not built (pqassay suite drivers --build parquet-rs)")
    return str(driver.build_folder / "release" / name)


def served(driver: str, *requests: dict[str, Any]) -> list[dict[str, Any]]:
    """The answer lines of one process to these requests."""
    asked = "".join(json.dumps({"protocol": 2, **request}) + "\n" for request in requests)
    ended = processes.run([driver, "--serve"], input=asked, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in ended.stdout.splitlines()]


def started_once(driver: str, folder: Path, **request: Any) -> tuple[int, list[dict[str, Any]]]:
    """The exit status of a process for one request, and its answer lines."""
    (folder / "request.json").write_text(json.dumps({"protocol": 2, **request}))
    command = [driver, str(folder / "request.json"), str(folder / "answer.json")]
    status = processes.run(command, capture_output=True).returncode
    return status, [json.loads(line) for line in (folder / "answer.json").read_text().splitlines()]


def values(written: list[list[Any]]) -> list[list[Value]]:
    """Rows of an answer as Python values."""
    rows = TypeAdapter(list[list[Written]]).validate_python(written)
    return [[read_value(value) for value in row] for row in rows]


def rows_of(case: str) -> Rows:
    """The rows of a golden case."""
    rows = ROWS[case]
    assert rows is not None
    return rows


def test_the_template_says_what_it_can_do(template: str) -> None:
    (hello,) = served(template, {"op": "hello"})
    assert ("accept", "Rust", True) == (hello["answer"], hello["language"], hello["serve"])
    assert {"parquet", "read"} <= set(hello["capabilities"])


@pytest.mark.parametrize("case", ["pqf/all-types", "pqf/nested", "sta/counted"])
def test_the_template_reads_every_row(template: str, tmp_path: Path, case: str) -> None:
    rows = rows_of(case)
    request = {"op": "read", "file": str(FILES[case]), "columns": rows.names()}
    status, (answer,) = started_once(template, tmp_path, **request)
    assert (0, "accept") == (status, answer["answer"])
    assert "" == rows_difference(rows.values(), values(answer["rows"]))
    assert [answer] == served(template, request)


def test_an_operation_that_is_left_out_is_not_known(template: str, tmp_path: Path) -> None:
    request = {"op": "decode", "family": "PIX", "file": str(FILES["pqf/all-types"]), "column": "name"}
    assert (UNKNOWN_OPERATION, []) == started_once(template, tmp_path, **request)
    assert ["unsupported", "accept"] == [
        line["answer"] for line in served(template, request, {"op": "hello"})
    ]


def test_queries_are_answered_one_by_one(driver: str) -> None:
    predicates: list[list[Any]] = [
        ["=", "metal", "lead"],
        ["and", ["is not null", "metal"], ["not", ["<", "metal", "m"]]],
        ["in", "metal", ["tin", "gold", None]],
        ["not in", "metal", ["tin", None]],
    ]
    asked = list(itertools.product(predicates, ("on", "off")))
    queries = [
        {"seq": 10 + number, "predicate": predicate, "columns": ["metal"], "index": index}
        for number, (predicate, index) in enumerate(asked)
    ]
    request = {"op": "scan", "family": "BLM", "file": str(FILES["blm/two-blocks"]), "queries": queries}
    answers = served(driver, request)
    assert [query["seq"] for query in queries] == [answer["seq"] for answer in answers]
    metals = [metal for (metal,) in rows_of("blm/two-blocks").values()]
    for (predicate, index), answer in zip(asked, answers, strict=True):
        expected = [[metal] for metal in metals if keeps(predicate, {"metal": metal})]
        assert "" == rows_difference(expected, values(answer["rows"])), (predicate, index)


def test_a_panic_ends_the_process(driver: str, tmp_path: Path) -> None:
    request = {"op": "read", "file": str(FILES["pqf/compressed-size-negative"]), "columns": ["metal"]}
    assert (PANICKED, []) == started_once(driver, tmp_path, **request)


def test_what_the_library_refuses_is_refused(driver: str) -> None:
    (answer,) = served(driver, {"op": "read", "file": str(FILES["pqf/truncated"]), "columns": ["metal"]})
    assert ("reject", "parquet::errors::ParquetError") == (answer["answer"], answer["raised"])


def test_what_it_writes_is_conformant(driver: str, tmp_path: Path) -> None:
    rows = {
        "columns": [
            {"name": "price", "type": "decimal(20,2)", "nullable": True},
            {"name": "tags", "type": "list<string>", "nullable": False},
        ],
        "rows": [
            [{"decimal": "-1.50"}, {"list": ["a"]}],
            [{"decimal": "99.99"}, {"list": ["b", ""]}],
            [{"decimal": "7.00"}, {"list": ["c"]}],
        ],
    }
    output = str(tmp_path / "written.parquet")
    wishes = {"page_rows": 2, "codec": "zstd", "bloom_filter": ["price"]}
    request = {"op": "encode", "family": "PIX", "rows": rows, "output": output, "wishes": wishes}
    decode = {"op": "decode", "file": output, "column": "price"}
    probes = [{"decimal": "7.00"}, {"decimal": "8.00"}]
    written, pages, filters, again = served(
        driver,
        request,
        {**decode, "family": "PIX"},
        {**decode, "family": "BLM", "probes": probes},
        {"op": "read", "file": output, "columns": ["price", "tags"]},
    )
    assert {"answer": "accept"} == written
    assert rows["rows"] == again["rows"]
    (row_group,) = pages["value"]["row_groups"]
    assert [0, 2] == [first for _, _, first in row_group["offset_index"]["page_locations"]]
    assert [[True, False]] == [row_group["held"] for row_group in filters["value"]["row_groups"]]
    assert [] == pqassay.check(output, tier="values").files[0].findings


def test_a_wish_that_is_not_known_is_unsupported(driver: str, tmp_path: Path) -> None:
    rows: dict[str, Any] = {"columns": [{"name": "a", "type": "int32", "nullable": True}], "rows": []}
    output = tmp_path / "written.parquet"
    request = {"op": "encode", "family": "PQF", "rows": rows, "output": str(output)}
    (answer,) = served(driver, {**request, "wishes": {"paper": "blue"}})
    assert {"answer": "unsupported", "reason": "paper"} == answer
    assert not output.exists()
