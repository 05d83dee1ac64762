"""What becomes of files that a driver writes: their rules, rows and wishes, and what the judge warns of."""

from __future__ import annotations

import dataclasses
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from golden_cases import valid_case, write_driver
from inside import Here
from pqassay.report.renderers.html import render as render_html
from pqassay.report.run.model import Result
from pqassay.report.run.observed import observed_counts, observed_words, sign_words
from pqassay.report.run.text import render as render_text
from pqassay.report.run.view import view
from pqassay.report.side_by_side.model import side_by_side
from pqassay_suite.cases.case import load
from pqassay_suite.cases.writer_cases import writer_cases
from pqassay_suite.drivers import driver as driver_module
from pqassay_suite.drivers.process import Limits
from pqassay_suite.drivers.protocol import Wishes
from pqassay_suite.running.runner import Settings, run

pytestmark = pytest.mark.slow

REJECT = '{"answer": "reject", "message": "no thanks"}'


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Written files are looked at in this process: `test_runner` shows that it is another one."""
    monkeypatch.setattr(driver_module, "Inspector", Here)


TARGET = 'sed \'s/.*"output": "\\([^"]*\\)".*/\\1/\' "$1"'


def writing(
    tmp_path: Path, content: bytes, wishes: Wishes, answering: str = '{"answer": "accept"}'
) -> Result:
    """What becomes of a table with a wish that a driver writes as this file."""
    table_case = next(one for one in writer_cases() if one.case.id == "write/one-row/plainly")
    case = dataclasses.replace(table_case, wishes=wishes)
    (tmp_path / "written").write_bytes(content)
    body = f"cp {tmp_path}/written \"$({TARGET})\"; answer '{answering}'"
    (result,) = run(
        [case], Settings(write_driver(tmp_path, body), Limits(seconds=20), only=["encode"])
    ).results
    return result


def one_row(name: str = "a") -> bytes:
    sink = io.BytesIO()
    columns = {"id": pa.array([1], pa.int32()), "name": pa.array([name])}
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


UNSUPPORTED = '{"answer": "unsupported", "reason": "wish bloom_filter"}'
FILTER = Wishes(bloom_filter=["name"])


def test_an_unmet_wish_is_a_sign_of_its_own_and_other_rows_are_graver(tmp_path: Path) -> None:
    unmet = writing(tmp_path, one_row(), FILTER)
    other = writing(tmp_path, one_row("b"), FILTER)

    assert (9, "writes a file that differs from the request", "wish not met: bloom_filter") == (
        unmet.severity,
        observed_words(unmet),
        unmet.cause,
    )
    assert (1, "writes a wrong file", "writes other rows: text: another value") == (
        other.severity,
        observed_words(other),
        other.cause,
    )


def test_a_file_that_is_left_for_an_unsupported_wish_is_judged_by_its_rules_and_rows(tmp_path: Path) -> None:
    good = writing(tmp_path, one_row(), FILTER, UNSUPPORTED)
    bad = writing(tmp_path, one_row("b"), FILTER, UNSUPPORTED)

    assert ("unsupported", "wish bloom_filter") == (good.outcome, good.reason)
    assert ("failed", "the written file holds other rows") == (bad.outcome, bad.reason)


def test_rows_of_a_written_file_are_read_though_it_breaks_rules(tmp_path: Path) -> None:
    broken = one_row("b").replace(b"PAR1", b"PAR2", 1)
    result = writing(tmp_path, broken, Wishes())

    assert "the written file breaks rules" == result.reason
    assert "and " in (result.actual or "").partition("; ")[2]


def report_of(tmp_path: Path) -> Any:
    valid_case(tmp_path / "cases")
    command = write_driver(tmp_path, f"answer '{REJECT}'")
    return run(load(tmp_path / "cases"), Settings(command, Limits(seconds=20)))


def test_a_single_report_and_reports_side_by_side_count_alike_and_writers_apart(tmp_path: Path) -> None:
    results = [
        Result("a", "PQF", "read", "failed", severity=1, known=True),
        Result("b", "PQF", "scan", "failed", severity=1),
        Result("c", "PQF", "encode", "failed", severity=1),
        Result("d", "BLM", "encode", "failed", severity=9),
    ]
    report = dataclasses.replace(report_of(tmp_path), results=results)
    (implementation,) = (compared := side_by_side([report], ["it"])).implementations
    tiles = {tile.label: tile.count for tile in view(report).tiles}
    expected = {"1": 2, "w1": 1, "9": 1}

    assert expected == observed_counts(results) == implementation.severities
    assert {sign_words(sign): count for sign, count in expected.items()}.items() <= tiles.items()
    assert [("W", [2]), ("m", [1]), ("F", [1])] == [
        (column.mark, column.counts) for column in compared.counted if column.mark in "WmF"
    ]


def test_the_table_of_causes_in_html_is_whole(tmp_path: Path) -> None:
    causes = [f"refusal: {number} {'x' * 150}" for number in range(60)]
    results = [
        Result(f"c/{cause[9:12]}", "PQF", "read", "failed", cause=cause, severity=3) for cause in causes
    ]
    html = io.StringIO()
    render_html(dataclasses.replace(report_of(tmp_path), results=results), html)
    table = html.getvalue().partition('<h2 id="causes">')[2].partition("</table>")[0]

    assert '<div class="whole">' in table
    assert 'class="wide"' not in table
    assert causes == sorted((cause for cause in causes if f">{cause}</a>" in table), key=causes.index)


def test_warnings_about_a_written_file_are_in_the_result_and_in_text_and_html(tmp_path: Path) -> None:
    warned = Result("write/a", "PQF", "encode", "passed", warnings=["STA-013: page 1 says 0"])
    report = dataclasses.replace(
        report_of(tmp_path), results=[warned, dataclasses.replace(warned, case="write/b")]
    )
    line = "warning about written files: STA-013 in write/a and 1 more: page 1 says 0"
    text, html = io.StringIO(), io.StringIO()
    render_text(report, text)
    render_html(report, html)

    assert f"  {line}" in text.getvalue().splitlines()
    assert line in html.getvalue()
    assert ["STA-013: page 1 says 0"] == json.loads(report.to_json())["results"][0]["warnings"]
