"""The drivers in Go: of arrow-go, of parquet-go, and the template that implementers begin with."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from pydantic import TypeAdapter

import pqassay
import processes
from golden_cases import golden_cases
from pqassay.literals.predicate import keeps
from pqassay.literals.rows import rows_difference
from pqassay_spec.golden.literals import Rows, Value, Written, read_value
from pqassay_suite.drivers.implementations import Implementation, implementation, skeleton

CASES = {case.case.id: case for case in golden_cases()}
LIBRARIES = ("arrow-go", "parquet-go")

PANICKED = 2
UNKNOWN_OPERATION = 3


@pytest.fixture(params=LIBRARIES)
def driver(request: pytest.FixtureRequest) -> str:
    """The driver of each library."""
    return built(implementation(request.param))


@pytest.fixture
def template() -> str:
    """The driver that implementers begin with."""
    return built(skeleton("go"))


def built(found: Implementation) -> str:
    if not found.is_built:
        pytest.skip(f"{found.build_folder.name} is not built (make drivers)")
    return found.argv[0]


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


def file_of(case: str) -> str:
    return str(CASES[case].folder / CASES[case].case.input.file)


def rows_of(case: str) -> Rows:
    rows = CASES[case].case.expect.rows
    assert rows is not None
    return rows


def read_request(case: str, good: str | None = None) -> dict[str, Any]:
    return {"op": "read", "file": file_of(case), "columns": rows_of(good or case).names()}


def scan_request(case: str, columns: list[str], queries: Sequence[tuple[list[Any], str]]) -> dict[str, Any]:
    """A request of predicates, each with the index on or off."""
    asked = [
        {"seq": seq, "predicate": predicate, "columns": columns, "index": index}
        for seq, (predicate, index) in enumerate(queries)
    ]
    family = CASES[case].case.family
    return {"op": "scan", "family": family, "file": file_of(case), "column": "", "queries": asked}


def values(written: list[list[Any]]) -> list[list[Value]]:
    """Rows of an answer as Python values."""
    rows = TypeAdapter(list[list[Written]]).validate_python(written)
    return [[read_value(value) for value in row] for row in rows]


def test_the_template_says_what_it_can_do(template: str) -> None:
    (hello,) = served(template, {"op": "hello"})
    assert ("accept", "Go", "0.32.0", True) == tuple(
        hello[member] for member in ("answer", "language", "version", "serve")
    )
    assert {"parquet", "read"} <= set(hello["capabilities"])


@pytest.mark.parametrize("case", ["pqf/plain", "blm/two-blocks", "idx1/another-order"])
def test_the_template_reads_flat_columns(template: str, case: str) -> None:
    (answer,) = served(template, read_request(case))
    assert "" == rows_difference(rows_of(case).values(), values(answer["rows"]))


def test_the_template_says_what_it_does_not_read(template: str) -> None:
    (answer,) = served(template, read_request("pqf/lists"))
    assert {"answer": "unsupported", "reason": "nested columns"} == answer


@pytest.mark.parametrize(
    "case",
    ["pqf/values", "pqf/unsigned-64", "pqf/uuid", "pqf/values-json", "pqf/times", "sta/int96", "pqf/nested"],
)
def test_values_of_all_kinds_are_written_as_the_protocol_has_them(driver: str, case: str) -> None:
    (answer,) = served(driver, read_request(case))
    assert "" == rows_difference(rows_of(case).values(), values(answer["rows"]))


def test_values_and_predicates_are_those_of_the_corpus(driver: str) -> None:
    corpus = Path(pqassay.__file__).parent / "corpus" / "values.json"
    ended = processes.run([driver, "--corpus", str(corpus)], capture_output=True, text=True)
    assert (0, "0 failed") == (ended.returncode, ended.stdout.strip().rpartition(", ")[2])


def test_text_that_is_not_utf8_is_refused(driver: str) -> None:
    (answer,) = served(driver, read_request("pqf/text-of-another-code", "pqf/values-json"))
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


@pytest.mark.parametrize("index", ["on", "off"])
def test_only_true_keeps_a_row(driver: str, index: str) -> None:
    table = rows_of("pix/audited")
    columns = table.names()[::-1]
    request = scan_request("pix/audited", columns, [(predicate, index) for predicate in PREDICATES])
    answers = served(driver, request)
    assert list(range(len(PREDICATES))) == [answer["seq"] for answer in answers]
    records = [dict(zip(table.names(), row, strict=True)) for row in table.values()]
    expected = [
        [[row[name] for name in columns] for row in records if keeps(predicate, row)]
        for predicate in PREDICATES
    ]
    different = {
        str(predicate): difference
        for predicate, rows, answer in zip(PREDICATES, expected, answers, strict=True)
        if (difference := rows_difference(rows, values(answer["rows"])))
    }
    assert {} == different


@pytest.mark.parametrize(
    ("case", "predicate"),
    [
        ("sta/min-too-great", ["=", "metal", "lead"]),
        ("pix/upper-bound-too-small", ["=", "number", 13]),
        ("blm/value-missing", ["=", "grade", {"float": "8.0"}]),
    ],
)
def test_what_a_file_says_is_believed_with_the_index_alone(
    driver: str, case: str, predicate: list[Any]
) -> None:
    """Each of these files lies, such that a reader who skips loses the row that is asked for."""
    on, off = served(driver, scan_request(case, predicate[1:2], [(predicate, "on"), (predicate, "off")]))
    assert (0, 1) == (len(on["rows"]), len(off["rows"]))


def test_an_index_that_the_library_does_not_know_is_said_to_be_ignored(driver: str) -> None:
    request = scan_request(
        "idx1/another-order", ["nation"], [(["is not null", "nation"], index) for index in ("on", "off")]
    )
    assert ["ignored-index", "accept"] == [answer["answer"] for answer in served(driver, request)]


@pytest.mark.parametrize("case", ["pix/audited", "pix/null-pages", "blm/types", "blm/zeros-and-nan"])
def test_structures_are_shown_as_the_manifest_says(driver: str, case: str) -> None:
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


def test_wishes_are_fulfilled(driver: str, tmp_path: Path) -> None:
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


def test_what_a_library_does_not_write_is_said(tmp_path: Path, driver: str) -> None:
    rows = {"columns": [{"name": "at", "type": "geometry", "nullable": True}], "rows": [[None]]}
    output = tmp_path / "written.parquet"
    (answer,) = served(driver, {"op": "encode", "family": "PQF", "rows": rows, "output": str(output)})
    assert {"answer": "unsupported", "reason": "type geometry"} == answer
    assert not output.exists()


def test_an_operation_that_is_not_known_ends_with_a_status_of_its_own(driver: str, tmp_path: Path) -> None:
    assert (UNKNOWN_OPERATION, []) == started_once(
        driver, tmp_path, op="lint", family="PQF", file=file_of("pqf/plain")
    )


def test_a_request_in_a_file_is_answered_by_a_file(driver: str, tmp_path: Path) -> None:
    status, (answer,) = started_once(driver, tmp_path, **read_request("pqf/plain"))
    assert (0, "accept") == (status, answer["answer"])


@pytest.mark.parametrize(
    ("library", "case", "good"),
    [
        ("arrow-go", "pqf/page-header-of-another-type", "pqf/plain"),
        ("parquet-go", "pqf/sorted-by-no-column", "pqf/plain"),
    ],
)
def test_nobody_catches_a_panic_of_a_library(library: str, case: str, good: str, tmp_path: Path) -> None:
    driver = built(implementation(library))
    assert (PANICKED, []) == started_once(driver, tmp_path, **read_request(case, good))
