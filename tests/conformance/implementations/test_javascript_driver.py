"""The drivers in JavaScript, of hyparquet and hyparquet-writer, beside what `test_language_drivers` asks of all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pydantic import TypeAdapter

import pqassay
from language_drivers import CASES, METALS, file_of, of_javascript, rows_of, scan, served, started_once
from pqassay_spec.golden.literals import Rows


@pytest.fixture
def driver() -> list[str]:
    return of_javascript()


def test_one_request_is_answered_as_one_of_several(driver: list[str], tmp_path: Path) -> None:
    request = scan("blm/two-blocks", METALS)
    assert (0, served(driver, request)) == started_once(driver, tmp_path, **request)


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


def test_the_writer_fulfils_wishes_or_says_that_it_cannot(tmp_path: Path) -> None:
    writer = of_javascript("hyparquet-writer/hyparquet-writer/driver.js")
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
