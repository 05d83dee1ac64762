"""Drivers in Go, Rust, Java and JavaScript: how they are started, and what they are asked about golden cases."""

from __future__ import annotations

import itertools
import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

import processes
from golden_cases import golden_cases
from places import ROOT
from pqassay.literals.predicate import Semantics, keeps
from pqassay.literals.rows import rows_difference
from pqassay_spec.golden.literals import Rows, Value, Written, read_value
from pqassay_suite.drivers.implementations import Implementation, implementation, skeleton
from served_drivers import IMPLEMENTATIONS, Json

CASES = {case.case.id: case for case in golden_cases()}

UNKNOWN_OPERATION = 3
"""The exit status of a driver that is asked for what it does not know."""

METALS: list[list[Any]] = [
    ["=", "metal", "lead"],
    ["and", ["is not null", "metal"], ["not", ["<", "metal", "m"]]],
    ["or", ["in", "metal", ["tin", "gold", None]], ["is null", "metal"]],
    ["in", "metal", ["tin", "gold", None]],
    ["not in", "metal", ["tin"]],
    ["not in", "metal", ["tin", None]],
    ["not", ["in", "metal", ["tin", "gold"]]],
    ["not", ["or", ["=", "metal", None], ["<=", "metal", "lead"]]],
    ["or", ["is null", "metal"], ["!=", "metal", "tin"]],
    ["=", "metal", None],
]
"""Predicates that are unknown for some rows of ``blm/two-blocks``."""


# -------------------------------------------------------------------------------------------------- commands


def of_go(found: Implementation) -> list[str]:
    if not found.is_built:
        pytest.skip(f"{found.build_folder.name} is not built (make drivers)")
    return [found.argv[0]]


def of_rust(program: str = "parquet-rs-driver") -> list[str]:
    found = implementation("parquet-rs")
    if not found.is_built:
        pytest.skip("parquet-rs is not built (make drivers)")
    return [str(found.build_folder / "release" / program)]


def of_java() -> list[str]:
    built = ROOT / ".drivers" / "parquet-java"
    if not (built / "driver.jsa").exists():
        pytest.skip("the driver of parquet-java is not built (make drivers)")
    command: list[str] = tomllib.loads((IMPLEMENTATIONS / "parquet-java" / "driver.toml").read_text())[
        "command"
    ]
    return [part.replace("{build}", str(built)) for part in command]


def of_javascript(path: str = "hyparquet/hyparquet/driver.js") -> list[str]:
    script = ROOT / ".drivers" / path
    if not script.exists():
        pytest.skip(f"{path} is not built (make drivers)")
    return ["node", str(script)]


def template(language: str) -> list[str]:
    """The command of the driver that implementers begin with; where it is not built, the test is skipped."""
    match language:
        case "Go":
            of_go(implementation("parquet-go"))  # whose packages it is linked with
            skeleton("go").make()
            return of_go(skeleton("go"))
        case "Rust":
            return of_rust("driver-template")
        case "Java":
            return [*of_java()[:-1], "template.TemplateDriver"]
        case _:
            return of_javascript("hyparquet/skeletons/javascript/driver.js")


# -------------------------------------------------------------------------------------------------- processes


def served(command: Sequence[str], *requests: Json) -> list[Json]:
    """The answer lines of one process to these requests."""
    asked = "".join(json.dumps({"protocol": 2, **request}) + "\n" for request in requests)
    ended = processes.run([*command, "--serve"], input=asked, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in ended.stdout.splitlines()]


def started_once(command: Sequence[str], folder: Path, **request: Any) -> tuple[int, list[Json]]:
    """The exit status of a process for one request, and its answer lines."""
    asked, answered = folder / "request.json", folder / "answer.json"
    asked.write_text(json.dumps({"protocol": 2, **request}))
    answered.touch()
    status = processes.run([*command, asked, answered], capture_output=True).returncode
    return status, [json.loads(line) for line in answered.read_text().splitlines()]


# ----------------------------------------------------------------------------------- what is asked, and answered


def file_of(case: str) -> str:
    """The path of the file of a golden case."""
    return str(CASES[case].folder / CASES[case].case.input.file)


def rows_of(case: str) -> Rows:
    """The rows of a golden case."""
    rows = CASES[case].case.expect.rows
    assert rows is not None
    return rows


def read(case: str, columns_of: str | None = None) -> Json:
    """The request to read all columns of a golden case, or those of another one."""
    return {"op": "read", "file": file_of(case), "columns": rows_of(columns_of or case).names()}


def scan(case: str, predicates: Sequence[list[Any]]) -> Json:
    """The request for the rows of a golden case that satisfy each predicate: with index, and without."""
    queries = [
        {"seq": 10 + number, "predicate": predicate, "columns": rows_of(case).names()[::-1], "index": index}
        for number, (predicate, index) in enumerate(itertools.product(predicates, ("on", "off")))
    ]
    family = CASES[case].case.family
    return {"op": "scan", "family": family, "file": file_of(case), "column": "", "queries": queries}


def values(written: list[list[Any]]) -> list[list[Value]]:
    """Rows of an answer as Python values."""
    rows = TypeAdapter(list[list[Written]]).validate_python(written)
    return [[read_value(value) for value in row] for row in rows]


def wrong_rows(case: str, answer: Json) -> str:
    """How the rows of an answer differ from those of a golden case; empty where they do not."""
    return rows_difference(rows_of(case).values(), values(answer["rows"]))


def wrong_answers(case: str, request: Json, answers: Sequence[Json], semantics: Semantics) -> list[str]:
    """How the rows of answers to a scan differ from those that satisfy their predicates."""
    names = rows_of(case).names()
    records = [dict(zip(names, row, strict=True)) for row in rows_of(case).values()]
    assert [query["seq"] for query in request["queries"]] == [answer["seq"] for answer in answers]
    differences = [
        rows_difference(
            [
                [record[name] for name in query["columns"]]
                for record in records
                if keeps(query["predicate"], record, semantics)
            ],
            values(answer["rows"]),
        )
        for query, answer in zip(request["queries"], answers, strict=True)
    ]
    return [difference for difference in differences if difference]
