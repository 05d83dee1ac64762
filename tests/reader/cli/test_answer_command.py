"""The command ``pqassay answer``: the answer in three forms, what it took, and one line for what goes wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from indexed_directories import add_sums
from pqassay.cli.main import app
from pqassay_reference.directory.embedding import add_indexes
from pqassay_reference.directory.making.entry import Request
from pqassay_spec.directory.codes import IndexType

QUESTION = "SELECT year, AVG(sales_amount) FROM t WHERE nation = 'Singapore' GROUP BY year"


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    """One file with zone sums and one without."""
    for number in range(2):
        path = tmp_path / f"part-{number}.parquet"
        columns = {"nation": ["Singapore", "Peru"], "year": [2023, 2024], "sales_amount": [1.5 + number, 2.0]}
        pq.write_table(pa.table(columns), path)
    add_sums(tmp_path / "part-0.parquet", ["nation", "year"], "sales_amount")
    return tmp_path


def asked(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["answer", *arguments])


def test_the_answer_is_printed_with_what_it_took(sales: Path) -> None:
    result = asked(str(sales), QUESTION)
    assert 0 == result.exit_code
    assert ["year  avg(sales_amount)", "2023  2.0"] == result.stdout.splitlines()
    first, second, third = result.stderr.splitlines()
    assert "2 files: 1 answered from metadata, 0 without a matching row, 1 read" == first
    assert "2 row groups: 1 answered from metadata, 0 without a matching row, 1 read" == second
    assert third.startswith("read ")


def test_the_answer_as_csv(sales: Path) -> None:
    assert "year,avg(sales_amount)\n2023,2.0\n" == asked(str(sales), QUESTION, "--format", "csv").stdout


def test_the_answer_as_json(sales: Path) -> None:
    record = json.loads(asked(str(sales), QUESTION, "--format", "json").stdout)
    assert [{"year": 2023, "avg(sales_amount)": 2.0}] == record["rows"]
    assert {"year": "int64", "avg(sales_amount)": "double"} == record["types"]
    assert 1 == record["effort"]["files_read"]


def test_an_estimate_is_said_to_be_one(sales: Path) -> None:
    pytest.importorskip("datasketches")
    add_indexes(sales / "part-1.parquet", [Request(IndexType.HLL, (("nation",),))])
    question = "SELECT APPROX_COUNT_DISTINCT(nation) AS nations FROM t"
    result = asked(str(sales / "part-1.parquet"), question)
    assert "nations\n2\n" == result.stdout
    said = "approx_count_distinct(nation) is approximate: 2, in 95% of cases from 2 to 3; from 1 HLL sketch"
    assert said == result.stderr.splitlines()[0]
    (record,) = json.loads(asked(str(sales / "part-1.parquet"), question, "--format", "json").stdout)[
        "estimates"
    ]
    assert ("approx_count_distinct(nation)", True, 2, 2, 3) == tuple(
        record[name] for name in ("column", "approximate", "estimate", "lower", "upper")
    )
    result = asked(str(sales), question)
    assert (1, "") == (result.exit_code, result.stdout)
    assert "part-0.parquet has no such sketch of that column" in result.stderr


def test_an_entry_that_is_left_aside_is_named(sales: Path) -> None:
    path = sales / "part-0.parquet"
    file = pq.ParquetFile(path)
    pq.write_table(file.read().slice(1).replace_schema_metadata(file.metadata.metadata), path)
    result = asked(str(path), QUESTION)
    assert "warning: left aside:" in result.stderr
    assert "stale: it describes 2 rows, but the file has 1" in result.stderr


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("SELECT * FROM t", "'*' is not supported; a question has the form SELECT"),
        ("SELECT SUM(nation) FROM t", "SUM takes numbers; column nation is string"),
    ],
)
def test_what_cannot_be_asked_is_said_in_one_line(sales: Path, question: str, said: str) -> None:
    result = asked(str(sales), question)
    assert 1 == result.exit_code
    assert 1 == len(result.stderr.splitlines())
    assert said in result.stderr


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    result = asked(str(tmp_path / "none"), QUESTION)
    assert (2, 1) == (result.exit_code, len(result.stderr.splitlines()))
