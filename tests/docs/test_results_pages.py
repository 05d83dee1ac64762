"""The page on implementations: it names all that have results, and every cell is what the results say."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

import jsonschema
import kept_results
import pytest
from kept_results import Reading, Trouble, Written
from pages.implementations import results_tables
from pages.implementations.answers import SIGNS
from pages.implementations.results import Results

from places import ROOT
from pqassay.report.run.model import (
    Driver,
    Exposure,
    NotAsked,
    Result,
    RunLimits,
    RunReport,
    RunSummary,
    Score,
    json_schema,
)
from pqassay.report.run.outcomes import ExposureVerdict

PAGE = (ROOT / "docs" / "implementations" / "index.md").read_text(encoding="utf-8")

LIES = ("sta/max-too-small", "pix/null-count-0", "blm/no-bit-set")

LINKED = f'<a href="cases/sta-max-too-small.html"><code>{LIES[0]}</code></a>'
"""The link to the page of the first."""


def link(page: str, anchor: str) -> str:
    return f"{page}#{anchor}"


def report(name: str, version: str | None, **members: object) -> RunReport:
    """A report with nothing in it, but for what is named."""
    empty = RunReport(
        schema_version=2,
        kind="run",
        pqassay="0.0.0",
        protocol=2,
        rules_sha256="0" * 64,
        suite_sha256="0" * 64,
        golden_files_sha256="0" * 64,
        driver=Driver(["driver"], "0" * 64, shipped=name, name=name.title(), version=version, language="Go"),
        limits=RunLimits(10.0, 1),
        results=[],
        scores=[],
        problems=[],
        summary=RunSummary(0, 0, {}, 0),
        date="2026-01-02",
    )
    return replace(empty, **members)  # type: ignore[arg-type]


def exposure(case: str, verdict: ExposureVerdict) -> Exposure:
    if verdict in ("right", "unsupported"):
        return Exposure(case, "STA", verdict, 8, 0)
    misled = 3 if verdict in ("rows lost", "wrong rows") else 0
    return Exposure(case, "STA", verdict, 8, misled, ["=", "a|b", "<*>"], '1 row missing: ["_x_"]')


def results(folder: Path, reports: Sequence[RunReport]) -> Results:
    """What is read of reports that were written as `make matrix` writes them."""
    for one in reports:
        assert one.driver.shipped is not None
        path = folder / one.driver.shipped / f"{one.driver.version}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(one.to_json())
    return Results(kept_results.results(folder), kept_results.asked_cases())


def part(name: str, found: Results) -> list[str]:
    return list(results_tables.PARTS[name](found, link))


def row(lines: Sequence[str], start: str) -> list[str]:
    """The cells of the only row whose first cell begins so."""
    (found,) = (line for line in lines if line.startswith(f"| {start}"))
    return found.removeprefix("| ").removesuffix(" |").split(" | ")


def label(cell: str) -> tuple[str, str]:
    """The word and the sign of a cell."""
    found = re.fullmatch(
        r'<span class="sign [a-z-]+" role="img" aria-label="([^"]+)" title="[^"]+">(.)</span>', cell
    )
    assert found is not None, cell
    return found[1], found[2]


# ------------------------------------------------------------------------------------------ what is stored


def test_every_kept_result_follows_its_schema() -> None:
    validator = jsonschema.Draft202012Validator(json_schema())

    for one in kept_results.results():
        validator.validate(json.loads(one.path.read_bytes()))
        assert one.is_submitted or one.name == one.report.driver.shipped
        assert re.sub(r"[^\w.+-]", "_", one.version) == one.path.stem
        assert one.report.date is not None
        assert [] == [result.case for result in one.report.results if result.outcome == "passed"]


def test_what_was_exchanged_can_be_read() -> None:
    names = {one.name for one in kept_results.in_the_matrix()}

    for writer, written in kept_results.exchange().items():
        assert names >= {writer, *written.readers}


def test_the_page_asks_for_every_part_once() -> None:
    assert list(results_tables.PARTS) == re.findall(r"^<!-- results: (\S+) -->$", PAGE, re.MULTILINE)


def test_the_page_names_every_implementation_with_results_and_those_without() -> None:
    overview = list(results_tables.lines("overview", link))
    kept = kept_results.results()

    for one in kept:
        shown = [
            line for line in overview if line.startswith(f"| `{one.name}`") and f"[{one.version}](" in line
        ]
        assert 1 == len(shown), one.path
    missing = {one.name for one in kept_results.in_the_matrix()} - {one.name for one in kept}
    told = [line for line in overview if line.startswith("Without results so far")]
    assert missing == set(re.findall(r"`([^`]+)`", "".join(told)))


def test_the_counts_of_each_implementation_add_up_to_its_answers() -> None:
    found = Results(kept_results.results(), kept_results.asked_cases())
    lines = part("overview", found)
    last = len(results_tables.OF_READERS) + 4

    for one in found.kept:
        (line,) = (line for line in lines if f"data/results/{one.name}/{one.path.name})" in line)
        cells = line.split(" | ")
        counts = [
            int(number)
            for cell in cells[2 : last + 1]
            for number in re.findall(r"(?<!of&nbsp;)\b\d+", cell.replace(",", ""))
        ]
        assert one.report.summary.results == sum(counts)


# ---------------------------------------------------------------------------------------- how it is rendered


@pytest.mark.parametrize("name", results_tables.PARTS)
def test_every_part_works_without_results(name: str) -> None:
    lines = part(name, Results([], kept_results.asked_cases(), implementations=["duckdb"]))

    assert [] == [line for line in lines if line.startswith("|")]
    assert "`make matrix`" in "".join(lines)
    assert ("Without results so far: `duckdb`." in lines) == (name == "overview")


@pytest.mark.parametrize("verdict", get_args(ExposureVerdict))
def test_a_cell_says_what_a_reader_made_of_a_lie(tmp_path: Path, verdict: ExposureVerdict) -> None:
    loser = report("loser", "1.0", exposures=[exposure(LIES[0], "rows lost")])
    one = report("one", "2.0", exposures=[exposure(LIES[0], verdict)])
    lines = part("lies", results(tmp_path, [loser, one]))

    cells = row(lines, LINKED)
    assert [("rows lost", SIGNS["rows lost"]), (verdict, SIGNS[verdict])] == [*map(label, cells[1:])]
    assert ("3 of 8 queries" in cells[2]) == (verdict in ("rows lost", "wrong rows"))


def test_a_lie_that_was_not_asked_about_is_told_from_one_that_does_no_harm(tmp_path: Path) -> None:
    loser = report("loser", "1.0", exposures=[exposure(LIES[0], "wrong rows")])
    found = results(tmp_path, [loser, report("one", "2.0")])
    lines = part("lies", found)

    assert [("wrong rows", SIGNS["wrong rows"]), ("not asked", SIGNS["not asked"])] == [
        *map(label, row(lines, LINKED)[1:])
    ]
    assert f"{len(found.lies) - 1:,}" == row(lines, "`loser`")[-1]
    assert ["0"] * 6 + [f"{len(found.lies):,}"] == row(lines, "`one`")[1:]


def test_a_lie_has_a_row_if_somebody_loses_rows_or_gets_wrong_ones_below_its_rule(tmp_path: Path) -> None:
    verdicts: Sequence[ExposureVerdict] = ("rows lost", "wrong rows", "refused")
    exposures = [exposure(case, verdict) for case, verdict in zip(LIES, verdicts, strict=True)]
    lines = part("lies", results(tmp_path, [report("one", "1.0", exposures=exposures)]))

    shown = [
        found[1] for line in lines if (found := re.match(r"\| <a href=[^>]+><code>([^<]+)</code>", line))
    ]
    assert [LIES[1], LIES[0]] == shown  # in the order of the families
    below = next(line for line in lines if line.startswith("| **<a href") and "STA-" in line)
    assert re.match(r"\| \*\*<a href=\"rules/sta-\d+\.html\">(STA-\d+)</a>\*\* [A-Z].*\. \|", below)
    assert 1 == lines.index(next(line for line in lines if LIES[0] in line)) - lines.index(below)


def test_a_lie_has_a_row_if_a_reader_loses_rows_in_one_query_and_crashes_in_another(tmp_path: Path) -> None:
    both = replace(exposure(LIES[0], "crashed"), misled=1)
    lines = part("lies", results(tmp_path, [report("one", "1.0", exposures=[both])]))

    assert ("crashed", SIGNS["crashed"]) == label(row(lines, LINKED)[1])


def test_the_newest_version_is_in_the_tables_and_all_are_in_the_overview(tmp_path: Path) -> None:
    versions: dict[str, ExposureVerdict] = {"1.9": "rows lost", "1.10": "wrong rows", "1.2": "right"}
    reports = [
        report("one", version, exposures=[exposure(LIES[0], verdict)])
        for version, verdict in versions.items()
    ]
    found = results(tmp_path, reports)

    assert [("wrong rows", SIGNS["wrong rows"])] == [*map(label, row(part("lies", found), LINKED)[1:])]
    assert ["1.2", "1.9", "1.10"] == re.findall(r"\| \[([\d.]+)\]\(data", "\n".join(part("overview", found)))


def test_the_overview_says_whether_the_golden_files_are_those_of_today(tmp_path: Path) -> None:
    digest = Results([], kept_results.asked_cases()).digest
    reports = [report("new", "1.0", golden_files_sha256=digest), report("old", "1.0")]
    lines = part("overview", results(tmp_path, reports))

    assert f"those of today<br><small>`{digest[:12]}`</small>" == row(lines, "`new`")[-1]
    assert f"earlier ones<br><small>`{'0' * 12}`</small>" == row(lines, "`old`")[-1]


def test_the_overview_counts_by_what_was_observed_and_apart_what_writers_do(tmp_path: Path) -> None:
    bad = [
        Result("pqf/a", "PQF", "read", "failed", "wrong rows", severity=4),
        Result("pqf/b", "PQF", "read", "crashed", "signal", severity=5),
        Result("write/a", "PQF", "encode", "failed", "wrong", severity=1),
        Result("pqf/c", "PQF", "scan", "no credit", "right, but"),
        Result("pqf/d", "PQF", "scan", "unsupported", "no"),
    ]
    summary = RunSummary(9, 6, {"passed": 1}, 0)
    scores = [Score("PQF", "read", 5, 1, {"passed": 1})]
    missing = [NotAsked("type.int96", 3), NotAsked("nested", 4)]
    one = report("one", "1.0", results=bad, scores=scores, summary=summary, not_asked=missing)
    cells = row(part("overview", results(tmp_path, [one])), "`one`")

    counts = [
        "1 of&nbsp;5",
        "0",
        "0",
        "0",
        "1",
        "1",
        "0",
        "0",
        "0",
        "1",
        "1&nbsp;no credit<br>1&nbsp;unsupported",
        "7",
    ]
    assert counts == cells[2:-1]
    assert ["`one`", "7", "`type.int96`&nbsp;3, `nested`&nbsp;4"] == row(
        part("not-asked", results(tmp_path, [one])), "`one`"
    )


def test_the_exchange_has_a_row_for_each_writer_and_a_column_for_each_reader() -> None:
    wrong = [Trouble("written/a/floats/plainly", "read", "failed", "wrong rows", "1 row | missing")]
    exchange = {
        "a": Written(2, {"b": Reading("1.0", 4, 3, wrong)}, "0.1"),
        "b": Written(1, {"a": Reading("0.1", 2, 2), "b": Reading("1.0", 2, 2)}),
    }
    lines = part("exchange", Results([], kept_results.asked_cases(), exchange))

    assert ["Writer", "Files", "a", "b"] == row(lines, "Writer | Files")
    first = row(lines, "`a` <small>0.1</small>")
    assert ["2", "3/4<br><small>**1&nbsp;wrong**</small>"] == [first[1], first[3]]
    assert ("not asked", SIGNS["not asked"]) == label(first[2])
    assert ["1", "2/2", "2/2"] == row(lines, "`b` |")[1:]
    assert "`floats/plainly`" == row(lines, "`a` → `b`")[-1]


# --------------------------------------------------------------------------------- what must not be typed in


def test_no_readme_of_an_implementation_has_a_score() -> None:
    score = re.compile(r"\b\d+ of (the )?\d+\b|^## Scores?$|^\| Operation \| Asked \| Passed", re.MULTILINE)
    readmes = sorted((ROOT / "conformance" / "implementations").glob("*/README.md"))

    assert readmes
    assert [] == [str(path.relative_to(ROOT)) for path in readmes if score.search(path.read_text("utf-8"))]
