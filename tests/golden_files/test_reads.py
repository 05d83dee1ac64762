"""What manifests say about reading all rows of a damaged file, compared with engines that know nothing of this project.

An engine may be wrong about a damaged file.  An expectation that no engine shares would more likely be a mistake of ours.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import datafusion
import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from each import each
from places import GOLDEN_FILES
from pqassay_golden.reads import EXEMPTIONS
from pqassay_reader.cli.driver import respond
from pqassay_reader.cli.driver_rows import rows_of

databases: list[duckdb.DuckDBPyConnection] = []
"""The database that is in use, if there is one: an internal error spoils it."""


def read_with_duckdb(path: Path) -> pa.Table:
    """The table."""
    if not databases:
        databases.append(duckdb.connect())
    try:
        table: pa.Table = databases[0].sql("FROM read_parquet($1)", params=[str(path)]).to_arrow_table()
    except (duckdb.InternalException, duckdb.FatalException):
        databases.clear()
        raise
    return table


def read_with_datafusion(path: Path) -> pa.Table:
    """The table."""
    return datafusion.SessionContext().read_parquet(str(path)).to_arrow_table()


READERS: Mapping[str, Callable[[Path], pa.Table]] = {
    "pyarrow": lambda path: pq.ParquetFile(path).read(),
    "DuckDB": read_with_duckdb,
    "Polars": lambda path: pl.read_parquet(path, use_pyarrow=False).to_arrow(),
    "DataFusion": read_with_datafusion,
}


@dataclass(frozen=True, eq=False)
class Damaged:
    """A damaged Parquet file, and what its manifest says."""

    id: str
    path: Path
    parent: str
    read: dict[str, str]
    rows: list[list[Any]] | None

    @cache  # noqa: B019 - as long as the tests run
    def read_by(self, engine: str) -> str:
        """``right`` for the rows of the manifest, ``other`` rows, or ``refused``."""
        try:
            table = READERS[engine](self.path)
            found = rows_of(table, table.column_names)
        except Exception:  # noqa: BLE001 - whatever an engine raises is its refusal
            return "refused"
        return "right" if self.rows is not None and in_order(self.rows) == in_order(found) else "other"


def in_order(rows: list[list[Any]]) -> list[str]:
    """The rows as texts that can be compared whatever their order."""
    return sorted(json.dumps(row) for row in rows)


def damaged_cases() -> Iterator[Damaged]:
    """The cases of damaged Parquet files."""
    for manifest in sorted(GOLDEN_FILES.rglob("case.json")):
        record = json.loads(manifest.read_text())
        expect = record["expect"]
        if record["kind"] == "invalid" and "read" in expect:
            rows = expect.get("rows")
            yield Damaged(
                record["id"],
                manifest.parent / record["input"]["file"],
                record.get("parent", ""),
                expect["read"],
                None if rows is None else rows["rows"],
            )


CASES = list(damaged_cases())


@each(
    "case",
    [case for case in CASES if case.read["rows"] == "own"],
)
def test_two_engines_agree_on_rows_that_only_the_damaged_file_has(case: Damaged) -> None:
    answers = [case.read_by(engine) for engine in READERS]

    assert answers.count("right") >= 2, answers


TWO = ("pyarrow", "DuckDB")

NANOSECONDS = "moments of INT96 lose their nanoseconds"
NO_REPETITION = "a column without repetition is required, so that the levels of its pages are values"

OTHER_ROWS = {
    **{
        ("DuckDB", f"blm/{name}"): NANOSECONDS
        for name in ("filter-of-flags", "filter-of-int96", "offset-zero")
    },
    ("DuckDB", "pqf/converted-scale"): "it goes by the older annotation",
    ("DuckDB", "pqf/no-converted-type"): "it goes by the older annotation, without which text is bytes",
    ("DuckDB", "sta/interval-bounds"): "Arrow gives intervals as intervals, not as bytes",
    ("DuckDB", "pqf/repetition-as-i64"): NO_REPETITION,
    ("DuckDB", "pqf/repetition-missing"): NO_REPETITION,
    ("pyarrow", "pqf/repetition-as-i64"): NO_REPETITION,
    ("pyarrow", "pqf/repetition-missing"): NO_REPETITION,
    ("pyarrow", "pqf/repetition-unknown"): NO_REPETITION,
    (
        "DuckDB",
        "pqf/streams-too-long",
    ): "the length of a stream is taken from the page, not from the number of values",
}
"""Engine and case to why the engine, pyarrow 26.0.1 or DuckDB 2.0.0, reads other rows than a reader of the file may."""


def test_a_file_that_must_not_be_refused_is_read_by_an_engine() -> None:
    asked = [case for case in CASES if case.read["refusal"] == "never"]

    assert len(asked) > 50
    assert [] == [case.id for case in asked if "right" not in map(case.read_by, TWO)]


@pytest.mark.slow
def test_engines_read_the_expected_rows_or_refuse_the_file() -> None:
    asked = [case for case in CASES if case.read != {"rows": "unspecified", "refusal": "allowed"}]
    other = {(engine, case.id) for engine in TWO for case in asked if case.read_by(engine) == "other"}

    assert set(OTHER_ROWS) == other


REFUSED = [case for case in CASES if case.read["refusal"] == "demanded"]


@each(
    "case",
    REFUSED,
)
def test_the_reference_refuses_what_must_be_refused(case: Damaged) -> None:
    parent = json.loads((GOLDEN_FILES / case.parent / "case.json").read_text())
    columns = [column["name"] for column in parent["expect"]["rows"]["columns"]]
    request = {"protocol": 2, "op": "read", "file": str(case.path), "columns": columns}

    assert ["reject"] == [answer["answer"] for answer in respond(request)]


def test_every_exemption_is_of_a_case_and_says_why() -> None:
    assert set() == set(EXEMPTIONS) - {case.id for case in CASES}
    assert [] == [name for name, exemption in EXEMPTIONS.items() if not exemption.reason.endswith(".")]
