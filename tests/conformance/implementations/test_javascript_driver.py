"""The drivers in JavaScript: those of hyparquet and hyparquet-writer, and the template, which is built beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pydantic import TypeAdapter

import pqassay
import processes
from golden_cases import golden_cases
from places import ROOT
from pqassay.literals.predicate import keeps
from pqassay.literals.rows import rows_difference
from pqassay_spec.golden.literals import Rows, Value, Written, read_value

CASES = {case.case.id: case for case in golden_cases()}

CORPUS = ROOT / "conformance" / "pqassay" / "corpus" / "values.json"

UNKNOWN_OPERATION = 3


@pytest.fixture(scope="module")
def driver() -> list[str]:
    """The driver of hyparquet."""
    return _built("hyparquet/hyparquet/driver.js")


@pytest.fixture(scope="module")
def writer() -> list[str]:
    """The driver of hyparquet-writer."""
    return _built("hyparquet-writer/hyparquet-writer/driver.js")


@pytest.fixture(scope="module")
def template() -> list[str]:
    """The driver that implementers begin with."""
    return _built("hyparquet/skeletons/javascript/driver.js")


def _built(path: str) -> list[str]:
    script = ROOT / ".drivers" / path
    if not script.exists():
        pytest.skip(f"{path} is not built (make drivers)")
    return ["node", str(script)]


def served(driver: list[str], *requests: dict[str, Any]) -> list[dict[str, Any]]:
    """The answer lines of one process to these requests."""
    asked = "".join(json.dumps({"protocol": 2, **request}) + "\n" for request in requests)
    command = [*driver, "--serve"]
    ended = processes.run(command, input=asked, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in ended.stdout.splitlines()]


def started_once(driver: list[str], folder: Path, **request: Any) -> tuple[int, list[dict[str, Any]]]:
    """The exit status of a process for one request, and its answer lines."""
    asked, answered = folder / "request.json", folder / "answer.json"
    asked.write_text(json.dumps({"protocol": 2, **request}))
    answered.touch()
    status = processes.run([*driver, str(asked), str(answered)], capture_output=True).returncode
    return status, [json.loads(line) for line in answered.read_text().splitlines()]


def values(written: list[list[Any]]) -> list[list[Value]]:
    """Rows of an answer as Python values."""
    rows = TypeAdapter(list[list[Written]]).validate_python(written)
    return [[read_value(value) for value in row] for row in rows]


def rows_of(case: str) -> Rows:
    """The rows of a golden case."""
    rows = CASES[case].case.expect.rows
    assert rows is not None
    return rows


def file_of(case: str) -> str:
    """The path of the file of a golden case."""
    return str(CASES[case].folder / CASES[case].case.input.file)


def test_the_template_reads_every_row(template: list[str], tmp_path: Path) -> None:
    cases = ["pqf/all-types", "pqf/nested", "pqf/decimals"]
    requests = [{"op": "read", "file": file_of(case), "columns": rows_of(case).names()} for case in cases]
    hello, *answers = served(template, {"op": "hello"}, *requests)
    assert ("accept", "JavaScript", True) == (hello["answer"], hello["language"], hello["serve"])
    assert {"parquet", "read"} <= set(hello["capabilities"])
    differences = [
        rows_difference(rows_of(case).values(), values(answer["rows"]))
        for case, answer in zip(cases, answers, strict=True)
    ]
    assert ["", "", ""] == differences
    assert (0, answers[:1]) == started_once(template, tmp_path, **requests[0])


def test_an_operation_that_is_left_out_is_not_known(template: list[str], tmp_path: Path) -> None:
    request = {"op": "decode", "family": "PIX", "file": file_of("pix/three-pages"), "column": "metal"}
    assert (UNKNOWN_OPERATION, []) == started_once(template, tmp_path, **request)
    assert "unsupported" == served(template, request)[0]["answer"]


def test_values_and_predicates_are_those_of_the_corpus(template: list[str]) -> None:
    corpus = json.loads(CORPUS.read_text(encoding="utf-8"))
    ended = processes.run([*template, "--corpus", str(CORPUS)], capture_output=True, text=True)
    count = len(corpus["values"]) + len(corpus["predicates"])
    assert (0, f"{count} passed, 0 failed\n") == (ended.returncode, ended.stdout)


def test_queries_are_answered_one_by_one(driver: list[str], tmp_path: Path) -> None:
    predicates: list[list[Any]] = [
        ["=", "metal", "lead"],
        ["and", ["is not null", "metal"], ["not", ["<", "metal", "m"]]],
        ["in", "metal", ["tin", "gold", None]],
        ["not in", "metal", ["tin", None]],
        ["not", ["in", "metal", ["tin", "gold"]]],
        ["or", ["is null", "metal"], ["!=", "metal", "tin"]],
        ["=", "metal", None],
    ]
    queries: list[dict[str, Any]] = [
        {"seq": 10 + number, "predicate": predicate, "columns": ["metal"], "index": index}
        for number, predicate in enumerate(predicates)
        for index in ("on", "off")
    ]
    request = {"op": "scan", "family": "BLM", "file": file_of("blm/two-blocks"), "queries": queries}
    answers = served(driver, request)
    rows = rows_of("blm/two-blocks")
    metals = [row[rows.names().index("metal")] for row in rows.values()]
    kept = [[[metal] for metal in metals if keeps(query["predicate"], {"metal": metal})] for query in queries]
    differences = [
        rows_difference(of_query, values(answer["rows"]))
        for of_query, answer in zip(kept, answers, strict=True)
    ]
    assert [query["seq"] for query in queries] == [answer["seq"] for answer in answers]
    assert [""] * len(queries) == differences
    assert (0, answers) == started_once(driver, tmp_path, **request)


def test_what_the_library_throws_is_a_refusal_with_its_class(driver: list[str]) -> None:
    damaged = ["pqf/tail-magic", "pqf/footer-length-zero"]
    answers = served(
        driver, *({"op": "read", "file": file_of(case), "columns": ["metal"]} for case in damaged)
    )
    expected = [("reject", "Error"), ("reject", "TypeError")]
    assert expected == [(answer["answer"], answer["raised"]) for answer in answers]


@pytest.mark.parametrize("case", ["pix/null-pages", "blm/two-blocks"])
def test_structures_are_decoded(driver: list[str], case: str) -> None:
    expect = CASES[case].case.expect
    request = {"op": "decode", "file": file_of(case), "column": CASES[case].case.column}
    (answer,) = served(driver, {**request, "family": CASES[case].case.family, "probes": expect.probes or []})
    assert expect.value == answer["value"]


def test_the_writer_fulfils_wishes_or_says_that_it_cannot(writer: list[str], tmp_path: Path) -> None:
    rows, output = rows_of("pqf/numbers"), str(tmp_path / "written.parquet")
    request = {
        "op": "encode",
        "family": "PQF",
        "output": output,
        "rows": TypeAdapter(Rows).dump_python(rows),
    }
    wishes: dict[str, Any] = {"row_group_rows": 3, "codec": "gzip", "dictionary": True}
    declined, written = served(
        writer, {**request, "wishes": {"sorting": [{"column": "year"}]}}, {**request, "wishes": wishes}
    )
    metadata = pq.ParquetFile(output).metadata
    assert (("unsupported", "sorting"), "accept") == (
        (declined["answer"], declined["reason"]),
        written["answer"],
    )
    assert (3, "GZIP", True) == (
        metadata.row_group(0).num_rows,
        metadata.row_group(0).column(0).compression,
        metadata.row_group(0).column(0).has_dictionary_page,
    )
    assert 0 == pqassay.check(output, tier="values").exit_code
