"""The drivers in Go, of arrow-go and of parquet-go, beside what `test_language_drivers` asks of all."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from pydantic import TypeAdapter

import processes
from language_drivers import (
    CASES,
    UNKNOWN_OPERATION,
    file_of,
    of_go,
    read,
    rows_of,
    scan,
    served,
    started_once,
    template,
    wrong_answers,
    wrong_rows,
)
from pqassay.literals.predicate import Semantics
from pqassay_spec.golden.literals import Rows
from pqassay_suite.drivers.implementations import implementation, skeleton

PANICKED = 2


@pytest.fixture(params=["arrow-go", "parquet-go"])
def driver(request: pytest.FixtureRequest) -> list[str]:
    """The driver of each library."""
    return of_go(implementation(request.param))


def test_the_template_says_what_it_does_not_read() -> None:
    hello, answer = served(template("Go"), {"op": "hello"}, read("pqf/lists"))
    assert "0.32.0" == hello["version"]
    assert {"answer": "unsupported", "reason": "nested columns"} == answer


RAISING = """\
package main

import "pqassay/protocol"

type driver struct{ protocol.Driver }

func (driver) Hello() protocol.Hello {
	return protocol.Hello{Name: "raising", IndexOff: true, Raises: []string{"*acme.Error"}}
}

func main() { protocol.Main(driver{}) }
"""


def test_what_is_raised_on_purpose_reaches_the_runner(tmp_path: Path) -> None:
    of_go(implementation("parquet-go"))
    (tmp_path / "protocol").symlink_to(skeleton("go").folder / "protocol")
    (tmp_path / "main.go").write_text(RAISING)
    (tmp_path / "go.mod").write_text(
        "module raising\n\ngo 1.25\n\nrequire pqassay/protocol v0.0.0\n\nreplace pqassay/protocol => ./protocol\n"
    )
    processes.run(["go", "build", "-trimpath", "-o", "driver", "."], cwd=tmp_path, check=True)
    (hello,) = served([str(tmp_path / "driver")], {"op": "hello"})

    assert (True, ["*acme.Error"]) == (hello["index_off"], hello["raises"])


@pytest.mark.parametrize(
    "case",
    ["pqf/values", "pqf/unsigned-64", "pqf/uuid", "pqf/values-json", "pqf/times", "sta/int96", "pqf/nested"],
)
def test_values_of_all_kinds_are_written_as_the_protocol_has_them(driver: list[str], case: str) -> None:
    (answer,) = served(driver, read(case))
    assert "" == wrong_rows(case, answer)


def test_text_that_is_not_utf8_is_refused(driver: list[str]) -> None:
    (answer,) = served(driver, read("pqf/text-of-another-code", "pqf/values-json"))
    assert "reject" == answer["answer"]
    assert "UTF-8" in answer["message"]


PREDICATES: list[list[Any]] = [
    ["=", "metal", "lead"],
    ["!=", "metal", "lead"],
    ["<", "depth", 12],
    ["<=", "depth", 12],
    [">", "grade", {"float": "2.25"}],
    [">=", "fee", {"decimal": "1.27"}],
    ["=", "grade", {"float": "0.0"}],
    ["is null", "metal"],
    ["is not null", "fee"],
    ["in", "depth", [0, 40, None]],
    ["not in", "depth", [0, 40]],
    ["not in", "depth", [0, None]],
    ["not", ["<", "grade", {"float": "3.0"}]],
    ["not", ["is null", "grade"]],
    ["=", "metal", None],
    ["and", [">", "depth", 12], ["is null", "metal"]],
    ["or", ["=", "metal", "nickel"], ["not", ["<", "depth", 90]]],
    ["not", ["and", [">", "depth", 0], ["<", "grade", {"float": "9.0"}]]],
    ["not", ["or", ["=", "metal", "lead"], ["is null", "fee"]]],
]


def test_only_true_keeps_a_row(driver: list[str]) -> None:
    request = scan("pix/audited", PREDICATES)
    assert [] == wrong_answers("pix/audited", request, served(driver, request), Semantics())


@pytest.mark.parametrize(
    ("case", "predicate"),
    [
        ("sta/min-too-great", ["=", "metal", "lead"]),
        ("pix/upper-bound-too-small", ["=", "number", 13]),
        ("blm/value-missing", ["=", "grade", {"float": "8.0"}]),
    ],
)
def test_what_a_file_says_is_believed_with_the_index_alone(
    driver: list[str], case: str, predicate: list[Any]
) -> None:
    """Each of these files lies, such that a reader who skips loses the row that is asked for."""
    on, off = served(driver, scan(case, [predicate]))
    assert (0, 1) == (len(on["rows"]), len(off["rows"]))


def test_an_index_that_the_library_does_not_know_is_said_to_be_ignored(driver: list[str]) -> None:
    request = scan("idx1/another-order", [["is not null", "nation"]])
    assert ["ignored-index", "accept"] == [answer["answer"] for answer in served(driver, request)]


@pytest.mark.parametrize("case", ["pix/audited", "pix/null-pages", "blm/types", "blm/zeros-and-nan"])
def test_structures_are_shown_as_the_manifest_says(driver: list[str], case: str) -> None:
    manifest = CASES[case].case
    (answer,) = served(
        driver,
        {
            "op": "decode",
            "family": manifest.family,
            "file": file_of(case),
            "column": manifest.column,
            "probes": json.loads(TypeAdapter(Any).dump_json(manifest.expect.probes or [])),
        },
    )
    assert manifest.expect.value == answer["value"]


WISHES: dict[str, Any] = {
    "page_rows": 3,
    "row_group_rows": 5,
    "dictionary": True,
    "page_index": True,
    "bloom_filter": ["metal"],
    "sorting": [{"column": "depth", "descending": False}],
    "data_page_version": 1,
    "codec": "zstd",
}


def test_wishes_are_fulfilled(driver: list[str], tmp_path: Path) -> None:
    rows = json.loads(TypeAdapter(Rows).dump_json(rows_of("pix/audited")))
    output = str(tmp_path / "written.parquet")
    encode = {
        "op": "encode",
        "family": "PIX",
        "column": "metal",
        "rows": rows,
        "output": output,
        "wishes": WISHES,
    }
    listed = {"op": "decode", "family": "PIX", "file": output, "column": "depth"}
    probed = {"op": "decode", "family": "BLM", "file": output, "column": "metal", "probes": ["lead", "gold"]}
    written, places, filters = served(driver, encode, listed, probed)
    assert {"answer": "accept"} == written
    first_rows = [
        [page[2] for page in group["offset_index"]["page_locations"]]
        for group in places["value"]["row_groups"]
    ]
    assert [0, 3] == first_rows[0]
    pages = [
        after - before
        for rows, count in zip(first_rows, [5, 3], strict=True)
        for before, after in itertools.pairwise([*rows, count])
    ]
    assert 3 == max(pages)
    assert [True, False] == filters["value"]["row_groups"][0]["held"]
    metadata = pyarrow.parquet.ParquetFile(output).metadata
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    assert [5, 3] == [group.num_rows for group in groups]
    assert "ZSTD" == groups[0].column(0).compression
    assert 1 == len(groups[0].sorting_columns)


def test_what_a_library_does_not_write_is_said(tmp_path: Path, driver: list[str]) -> None:
    rows = {"columns": [{"name": "at", "type": "geometry", "nullable": True}], "rows": [[None]]}
    output = tmp_path / "written.parquet"
    (answer,) = served(driver, {"op": "encode", "family": "PQF", "rows": rows, "output": str(output)})
    assert {"answer": "unsupported", "reason": "type geometry"} == answer
    assert not output.exists()


def test_an_operation_that_is_not_known_ends_with_a_status_of_its_own(
    driver: list[str], tmp_path: Path
) -> None:
    assert (UNKNOWN_OPERATION, []) == started_once(
        driver, tmp_path, op="lint", family="PQF", file=file_of("pqf/plain")
    )


def test_a_request_in_a_file_is_answered_by_a_file(driver: list[str], tmp_path: Path) -> None:
    status, (answer,) = started_once(driver, tmp_path, **read("pqf/plain"))
    assert (0, "accept") == (status, answer["answer"])


@pytest.mark.parametrize(
    ("library", "case", "good"),
    [
        ("arrow-go", "pqf/page-header-of-another-type", "pqf/plain"),
        ("parquet-go", "pqf/sorted-by-no-column", "pqf/plain"),
    ],
)
def test_nobody_catches_a_panic_of_a_library(library: str, case: str, good: str, tmp_path: Path) -> None:
    driver = of_go(implementation(library))
    assert (PANICKED, []) == started_once(driver, tmp_path, **read(case, good))
