"""The driver in Java, of parquet-java, and its template, beside what `test_language_drivers` asks of all."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

import pqassay
from language_drivers import (
    METALS,
    file_of,
    of_java,
    rows_of,
    scan,
    served,
    started_once,
    template,
    values,
    wrong_answers,
)
from pqassay.literals.predicate import Semantics
from pqassay.literals.rows import rows_difference

CRASHED = 1


@pytest.fixture
def driver() -> list[str]:
    return of_java()


def test_the_template_filters_what_it_reads() -> None:
    request = scan("blm/two-blocks", METALS)
    answers = served(template("Java"), request)
    assert [] == wrong_answers("blm/two-blocks", request, answers, Semantics())
    assert {"ignored-index", "accept"} == {answer["answer"] for answer in answers}


def test_floats_are_compared_as_it_says(driver: list[str]) -> None:
    weights = [
        [operator, "mass", {"float": text}]
        for operator, text in itertools.product(("=", "!=", "<", ">="), ("0.0", "-0.0", "nan"))
    ]
    request = scan("blm/zeros-and-nan", weights)
    hello, *answers = served(driver, {"op": "hello"}, request)
    semantics = Semantics(nan=hello["nan"], zeros=hello["zeros"])
    assert [] == wrong_answers("blm/zeros-and-nan", request, answers, semantics)


def test_what_is_not_answered_says_why(driver: list[str]) -> None:
    lists = scan("pqf/lists", [["is null", rows_of("pqf/lists").names()[-1]]])
    whole = {"op": "read", "file": file_of("pqf/truncated"), "columns": ["metal"]}
    index = scan("idx1/absent-value", [["=", rows_of("idx1/absent-value").names()[0], "x"]])
    on, off, refusal, ignored, used = served(driver, lists, whole, index)
    assert ["unsupported", "predicates about nested columns"] == [on["answer"], on["reason"]]
    assert "unsupported" == off["answer"]
    assert ("reject", "java.lang.RuntimeException") == (refusal["answer"], refusal["raised"])
    assert ("ignored-index", "accept") == (ignored["answer"], used["answer"])


def test_an_error_of_the_machine_ends_the_process(driver: list[str], tmp_path: Path) -> None:
    request = {"op": "read", "file": file_of("pqf/chunk-beyond"), "columns": ["metal"]}
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
