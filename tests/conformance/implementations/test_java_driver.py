"""The drivers in Java: the one of parquet-java, and the template, which is built beside it."""

from __future__ import annotations

import itertools
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

import pqassay
import processes
from golden_cases import golden_cases
from places import ROOT
from pqassay.literals.predicate import Semantics, keeps
from pqassay.literals.rows import rows_difference
from pqassay_spec.golden.literals import Rows, Value, Written, read_value

FOLDER = ROOT / "conformance" / "implementations" / "parquet-java"
BUILT = ROOT / ".drivers" / "parquet-java"
CORPUS = ROOT / "conformance" / "pqassay" / "corpus" / "values.json"
FILES = {case.case.id: case.folder / case.case.input.file for case in golden_cases()}
ROWS = {case.case.id: case.case.expect.rows for case in golden_cases()}

CRASHED = 1
UNKNOWN_OPERATION = 3


@pytest.fixture(scope="module")
def driver() -> list[str]:
    """The command of parquet-java's driver."""
    if not (BUILT / "driver.jsa").exists():
        pytest.skip("the driver of parquet-java is not built (make drivers)")
    command: list[str] = tomllib.loads((FOLDER / "driver.toml").read_text())["command"]
    return [part.replace("{build}", str(BUILT)) for part in command]


@pytest.fixture(scope="module")
def template(driver: list[str]) -> list[str]:
    """The command of the driver that implementers begin with."""
    return [*driver[:-1], "template.TemplateDriver"]


def served(command: list[str], *requests: dict[str, Any]) -> list[dict[str, Any]]:
    """The answer lines of one process to these requests."""
    asked = "".join(json.dumps({"protocol": 2, **request}) + "\n" for request in requests)
    ended = processes.run([*command, "--serve"], input=asked, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in ended.stdout.splitlines()]


def started_once(command: list[str], folder: Path, **request: Any) -> tuple[int, list[dict[str, Any]]]:
    """The exit status of a process for one request, and its answer lines."""
    paths = (folder / "request.json", folder / "answer.jsonl")
    paths[0].write_text(json.dumps({"protocol": 2, **request}))
    status = processes.run([*command, *paths], capture_output=True).returncode
    return status, [json.loads(line) for line in paths[1].read_text().splitlines()]


def values(written: list[list[Any]]) -> list[list[Value]]:
    """Rows of an answer as Python values."""
    rows = TypeAdapter(list[list[Written]]).validate_python(written)
    return [[read_value(value) for value in row] for row in rows]


def rows_of(case: str) -> Rows:
    """The rows of a golden case."""
    rows = ROWS[case]
    assert rows is not None
    return rows


def read(case: str) -> dict[str, Any]:
    """The request to read all rows of a golden case."""
    return {"op": "read", "file": str(FILES[case]), "columns": rows_of(case).names()}


def scan(case: str, family: str, predicates: list[list[Any]]) -> dict[str, Any]:
    """The request for the rows of a golden case that satisfy each predicate: with index, and without."""
    queries = [
        {"seq": 10 + number, "predicate": predicate, "columns": rows_of(case).names()[::-1], "index": index}
        for number, (predicate, index) in enumerate(itertools.product(predicates, ("on", "off")))
    ]
    return {"op": "scan", "family": family, "file": str(FILES[case]), "queries": queries}


def differences(
    request: dict[str, Any], case: str, answers: list[dict[str, Any]], semantics: Semantics
) -> list[str]:
    """How the rows of each answer to a scan differ from those that satisfy its predicate; empty where they do not."""
    names = rows_of(case).names()
    records = [dict(zip(names, row, strict=True)) for row in rows_of(case).values()]
    assert [query["seq"] for query in request["queries"]] == [answer["seq"] for answer in answers]
    return [
        rows_difference(
            [
                [record[name] for name in names[::-1]]
                for record in records
                if keeps(query["predicate"], record, semantics)
            ],
            values(answer["rows"]),
        )
        for query, answer in zip(request["queries"], answers, strict=True)
    ]


CASES = ["pqf/all-types", "pqf/nested", "interop/duckdb-2.0.0/zstd"]

METALS: list[list[Any]] = [
    ["=", "metal", "lead"],
    ["and", ["is not null", "metal"], ["not", ["<", "metal", "m"]]],
    ["or", ["in", "metal", ["tin", "gold", None]], ["is null", "metal"]],
    ["not in", "metal", ["tin"]],
    ["not in", "metal", ["tin", None]],
    ["not", ["or", ["=", "metal", None], ["<=", "metal", "lead"]]],
]
"""Predicates that are unknown for some rows."""


def test_the_template_reads_every_row(template: list[str], tmp_path: Path) -> None:
    hello, *answers = served(template, {"op": "hello"}, *map(read, CASES))
    assert ("accept", "Java", True) == (hello["answer"], hello["language"], hello["serve"])
    assert {"parquet", "read"} <= set(hello["capabilities"])
    for case, answer in zip(CASES, answers, strict=True):
        assert "" == rows_difference(rows_of(case).values(), values(answer["rows"])), case
    assert (0, answers[:1]) == started_once(template, tmp_path, **read(CASES[0]))


def test_the_template_filters_what_it_reads(template: list[str]) -> None:
    request = scan("blm/two-blocks", "BLM", METALS)
    answers = served(template, request)
    assert [""] * len(answers) == differences(request, "blm/two-blocks", answers, Semantics())
    assert {"ignored-index", "accept"} == {answer["answer"] for answer in answers}


def test_values_and_predicates_are_those_of_the_corpus(template: list[str]) -> None:
    if not CORPUS.exists():
        pytest.skip("there is no corpus of values and predicates")
    corpus: dict[str, list[dict[str, Any]]] = json.loads(CORPUS.read_text(encoding="utf-8"))
    ended = processes.run([*template, "--corpus", str(CORPUS)], capture_output=True, text=True)
    count = len(corpus["values"]) + len(corpus["predicates"])
    assert (0, f"{count} passed, 0 failed\n") == (ended.returncode, ended.stdout)


def test_an_operation_that_is_left_out_is_not_known(template: list[str], tmp_path: Path) -> None:
    request = {"op": "decode", "family": "PIX", "file": str(FILES["pqf/all-types"]), "column": "name"}
    assert (UNKNOWN_OPERATION, []) == started_once(template, tmp_path, **request)


def test_queries_are_answered_one_by_one(driver: list[str]) -> None:
    weights = [
        [operator, "mass", {"float": text}]
        for operator, text in itertools.product(("=", "!=", "<", ">="), ("0.0", "-0.0", "nan"))
    ]
    metals, zeros = (
        scan("blm/two-blocks", "BLM", METALS),
        scan("blm/zeros-and-nan", "BLM", weights),
    )
    hello, *answers = served(driver, {"op": "hello"}, metals, zeros)
    semantics = Semantics(nan=hello["nan"], zeros=hello["zeros"])
    count = len(metals["queries"])
    assert {""} == set(differences(metals, "blm/two-blocks", answers[:count], semantics))
    assert {""} == set(differences(zeros, "blm/zeros-and-nan", answers[count:], semantics))


def test_what_is_not_answered_says_why(driver: list[str]) -> None:
    lists = scan("pqf/lists", "PQF", [["is null", rows_of("pqf/lists").names()[-1]]])
    whole = {"op": "read", "file": str(FILES["pqf/truncated"]), "columns": ["metal"]}
    index = scan("idx1/absent-value", "IDX1", [["=", rows_of("idx1/absent-value").names()[0], "x"]])
    on, off, refusal, ignored, used = served(driver, lists, whole, index)
    assert ["unsupported", "predicates about nested columns"] == [on["answer"], on["reason"]]
    assert "unsupported" == off["answer"]
    assert ("reject", "java.lang.RuntimeException") == (refusal["answer"], refusal["raised"])
    assert ("ignored-index", "accept") == (ignored["answer"], used["answer"])


def test_an_error_of_the_machine_ends_the_process(driver: list[str], tmp_path: Path) -> None:
    request = {"op": "read", "file": str(FILES["pqf/chunk-beyond"]), "columns": ["metal"]}
    assert (CRASHED, []) == started_once(driver, tmp_path, **request)


def test_what_it_writes_is_conformant(driver: list[str], tmp_path: Path) -> None:
    rows: dict[str, Any] = {
        "columns": [
            {"name": "price", "type": "decimal(20,2)", "nullable": True},
            {"name": "moment", "type": "int96", "nullable": True},
            {"name": "half", "type": "float16", "nullable": True},
            {"name": "tags", "type": "map<string, list<int32>>", "nullable": False},
        ],
        "rows": [
            [{"decimal": "-1.50"}, {"timestamp": "-1"}, {"float": "-0.0"}, {"map": []}],
            [{"decimal": "99.99"}, None, {"float": "5.960464477539063e-08"}, {"map": [["a", None]]}],
            [None, {"timestamp": "86400000000000"}, {"float": "65504.0"}, {"map": [["b", {"list": [7]}]]}],
        ],
    }
    output = str(tmp_path / "written.parquet")
    request = {"op": "encode", "family": "PIX", "rows": rows, "output": output}
    decode = {"op": "decode", "file": output, "column": "price"}
    lacking, written, pages, filters, again = served(
        driver,
        {**request, "wishes": {"sorting": []}},
        {**request, "wishes": {"page_rows": 2, "codec": "zstd", "bloom_filter": ["price"]}},
        {**decode, "family": "PIX"},
        {**decode, "family": "BLM", "probes": [{"decimal": "99.99"}, {"decimal": "8.00"}]},
        {"op": "read", "file": output, "columns": ["price", "moment", "half", "tags"]},
    )
    assert {"answer": "unsupported", "reason": "sorting"} == lacking
    assert {"answer": "accept"} == written
    assert "" == rows_difference(values(rows["rows"]), values(again["rows"]))
    (row_group,) = pages["value"]["row_groups"]
    assert [0, 2] == [first for _, _, first in row_group["offset_index"]["page_locations"]]
    assert [0, 1] == row_group["column_index"]["null_counts"]
    assert [[True, False]] == [row_group["held"] for row_group in filters["value"]["row_groups"]]
    assert [] == [finding.rule for finding in pqassay.check(output, tier="values").files[0].findings]
