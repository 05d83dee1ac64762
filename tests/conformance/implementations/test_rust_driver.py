"""The driver in Rust, of the crate ``parquet``, beside what `test_language_drivers` asks of all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import pqassay
from language_drivers import file_of, of_rust, served, started_once

PANICKED = 101


@pytest.fixture
def driver() -> list[str]:
    return of_rust()


def test_a_panic_ends_the_process(driver: list[str], tmp_path: Path) -> None:
    request = {"op": "read", "file": file_of("pqf/compressed-size-negative"), "columns": ["metal"]}
    assert (PANICKED, []) == started_once(driver, tmp_path, **request)


def test_what_the_library_refuses_is_refused(driver: list[str]) -> None:
    (answer,) = served(driver, {"op": "read", "file": file_of("pqf/truncated"), "columns": ["metal"]})
    assert ("reject", "parquet::errors::ParquetError") == (answer["answer"], answer["raised"])


def test_what_it_writes_is_conformant(driver: list[str], tmp_path: Path) -> None:
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


def test_a_wish_that_is_not_known_is_unsupported(driver: list[str], tmp_path: Path) -> None:
    rows: dict[str, Any] = {"columns": [{"name": "a", "type": "int32", "nullable": True}], "rows": []}
    output = tmp_path / "written.parquet"
    request = {"op": "encode", "family": "PQF", "rows": rows, "output": str(output)}
    (answer,) = served(driver, {**request, "wishes": {"paper": "blue"}})
    assert {"answer": "unsupported", "reason": "paper"} == answer
    assert not output.exists()
