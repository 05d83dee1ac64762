"""Drivers in Go, Rust, Java and JavaScript, and the template of each: what all of them do alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import processes
from language_drivers import (
    METALS,
    UNKNOWN_OPERATION,
    file_of,
    of_go,
    of_java,
    of_javascript,
    of_rust,
    read,
    scan,
    served,
    started_once,
    template,
    wrong_answers,
    wrong_rows,
)
from places import ROOT
from pqassay.literals.predicate import Semantics
from pqassay_suite.drivers.implementations import implementation

CORPUS = ROOT / "conformance" / "pqassay" / "corpus" / "values.json"

DRIVERS: dict[str, Callable[[], list[str]]] = {
    "arrow-go": lambda: of_go(implementation("arrow-go")),
    "parquet-go": lambda: of_go(implementation("parquet-go")),
    "parquet-rs": of_rust,
    "parquet-java": of_java,
    "hyparquet": of_javascript,
}

READ = {
    "Go": ["pqf/plain", "blm/two-blocks", "idx1/another-order"],
    "Rust": ["pqf/all-types", "pqf/nested", "sta/counted"],
    "Java": ["pqf/all-types", "pqf/nested", "interop/duckdb-2.0.0/zstd"],
    "JavaScript": ["pqf/all-types", "pqf/nested", "pqf/decimals"],
}
"""Cases that the template of a language reads."""


@pytest.mark.parametrize("language", READ)
def test_a_template_reads_every_row(language: str, tmp_path: Path) -> None:
    command, cases = template(language), READ[language]
    hello, *answers = served(command, {"op": "hello"}, *map(read, cases))

    assert ("accept", language, True) == (hello["answer"], hello["language"], hello["serve"])
    assert {"parquet", "read"} <= set(hello["capabilities"])
    assert (False, None) == (hello["index_off"], hello.get("raises"))
    assert ["", "", ""] == [wrong_rows(case, answer) for case, answer in zip(cases, answers, strict=True)]
    assert (0, answers[:1]) == started_once(command, tmp_path, **read(cases[0]))


@pytest.mark.parametrize(("language", "served_as"), [("Rust", ["unsupported"]), ("JavaScript", ["unsupported"]), ("Java", None)])  # fmt: skip
def test_an_operation_that_is_left_out_is_not_known(
    language: str, served_as: list[str] | None, tmp_path: Path
) -> None:
    request = {"op": "decode", "family": "PIX", "file": file_of("pix/three-pages"), "column": "metal"}

    assert (UNKNOWN_OPERATION, []) == started_once(template(language), tmp_path, **request)
    if served_as is not None:
        assert served_as == [answer["answer"] for answer in served(template(language), request)]


@pytest.mark.parametrize("name", ["arrow-go", "parquet-go", "Java", "JavaScript"])
def test_values_and_predicates_are_those_of_the_corpus(name: str) -> None:
    command = DRIVERS[name]() if name in DRIVERS else template(name)
    ended = processes.run([*command, "--corpus", str(CORPUS)], capture_output=True, text=True)

    assert (0, "0 failed") == (ended.returncode, ended.stdout.strip().rpartition(", ")[2])


@pytest.mark.parametrize("name", DRIVERS)
def test_queries_are_answered_one_by_one(name: str) -> None:
    request = scan("blm/two-blocks", METALS)
    hello, *answers = served(DRIVERS[name](), {"op": "hello"}, request)

    assert [] == wrong_answers("blm/two-blocks", request, answers, Semantics(hello["nan"], hello["zeros"]))
