"""The text report stays readable for one file, for a few, and for very many."""

from __future__ import annotations

import dataclasses
import io
import json
import re
from typing import Any

import pytest

import pqassay
from idx1_files import Idx1File
from pqassay.report.model import Coverage, FileReport, Ignored, Report, Untested, summarise
from pqassay.report.renderers.text import render
from pqassay.report.rules import judged_against_line
from pqassay.report.view import view
from pqassay_spec.rules.catalogue import rules_for
from pqassay_spec.rules.observed import Observed, ObservedEffect

GOOD = pqassay.check(Idx1File().build())
BAD = pqassay.check(Idx1File(payload=b"Peru\nSingapura").build())


def report(files: list[FileReport], **changes: Any) -> Report:
    ignored = changes.pop("ignored", [])
    return dataclasses.replace(
        GOOD, files=files, summary=summarise(files, ignored), ignored=ignored, **changes
    )


def file(number: int, like: Report, **changes: Any) -> FileReport:
    return dataclasses.replace(like.files[0], path=f"part-{number:06}.parquet", **changes)


def lines(what: Report, *, verbose: bool = False) -> list[str]:
    stream = io.StringIO()
    render(what, stream, verbose=verbose)
    return stream.getvalue().splitlines()


def test_a_few_files_have_a_line_each_and_many_conformant_ones_none() -> None:
    few, many = ([file(number, GOOD) for number in range(count)] for count in (3, 5000))
    coverage = GOOD.coverages[GOOD.files[0].coverage]
    others = rules_for("parquet").keys() & set(coverage.not_applicable)

    assert [f"part-00000{number}.parquet: conformant" for number in range(3)] == lines(report(few))[:3]
    assert [
        "5,000 files: 5,000 conformant, 0 nonconformant, 0 errored",
        f"tier values: {len(coverage.checked)} rules checked, {len(others)} not applicable",
        "no CRC in the pages of 5,000 files: damage inside values is only visible if other data contradict it",
    ] == lines(report(many))
    assert (
        f"judged against {judged_against_line(GOOD.judged_against)}" == lines(report(many), verbose=True)[-1]
    )


def test_very_many_findings_fit_a_screen_or_two() -> None:
    writers = ["parquet-mr version 1.13.1", "parquet-cpp-arrow version 26.0.1"]
    files = [
        file(number, BAD if number % 2 else GOOD, created_by=writers[number % 4 // 2])
        for number in range(20_000)
    ]
    files[8] = file(8, GOOD, outcome="errored", error="killed")
    text = lines(report(files))

    assert len(text) < 80
    assert 1 == sum("Every value of the column" in line for line in text)
    assert "… and 9,981 further files with findings or errors" in text
    assert "IDX1-016  FAIL     rows lost  not asked    10,000  10,000  part-000001.parquet" in text
    assert [
        "IDX1-016  5,000  parquet-cpp-arrow version 26.0.1",
        "IDX1-016  5,000  parquet-mr version 1.13.1",
    ] == [line for line in text if " 5,000" in line]
    assert "    1  killed" in text
    assert "--format json has every finding" in text
    assert "20,000 files: 9,999 conformant, 10,000 nonconformant, 1 errored" in text


def test_a_rule_is_shown_in_full_once_and_in_one_line_after_that_but_in_a_verbose_report() -> None:
    shown = report([file(number, BAD) for number in range(5)])
    text, verbose = lines(shown), lines(shown, verbose=True)

    assert (1, 5) == tuple(
        sum("Every value of the column" in line for line in each) for each in (text, verbose)
    )
    assert 4 == sum(line.startswith("  FAIL IDX1-016, could: rows lost: ") for line in text)


def test_a_finding_has_what_is_wrong_what_it_costs_and_what_to_do_and_its_first_bytes() -> None:
    (finding,) = BAD.files[0].findings
    finding = dataclasses.replace(finding, observed=seen("rows lost"), remedy="a command")
    text, verbose = (
        lines(report([file(0, BAD, findings=[finding])]), verbose=each) for each in (False, True)
    )
    labels, every = (
        [line.split()[0] for line in each if re.match(r" {4}[a-z]+  ", line)] for each in (text, verbose)
    )

    assert ["found", "could", "first", "remedy"] == labels
    assert {*labels, "column", "at", "observed", "basis", "more"} <= set(every)
    assert "    could     rows lost, seen in 1 of 6 engines: DuckDB" in text
    assert 2 == sum(bool(re.match(r" {4}([0-9a-f]{8}| +\^)", line)) for line in text)
    assert "more: `pqassay explain IDX1-016` explains the rule; `-v` shows every detail" == text[-1]
    assert text[-1] not in verbose


def test_a_file_with_very_many_findings_is_cut() -> None:
    finding = BAD.files[0].findings[0]
    findings = [dataclasses.replace(finding, column=f"c{number}") for number in range(500)]
    text = lines(report([file(0, BAD, findings=findings)]))

    assert len(text) <= 25
    assert "  … and 491 further findings: 491 IDX1-016" in text
    assert "part-000000.parquet: nonconformant (500 FAIL)" == text[0]


def test_many_ways_of_being_checked_take_one_line() -> None:
    rules = ["PQF-001", "PQF-002", "PQF-003"]
    coverages = {
        "c1": Coverage(
            "index",
            rules[:1],
            {
                "PIX-001": Untested("request", "needs tier pages"),
                "STA-001": Untested("request", "needs tier values"),
            },
            [],
        ),
        "c2": Coverage(
            "index",
            rules,
            {"STA-001": Untested("request", "needs tier values"), "PIX-002": Untested("key", "no key")},
            [],
        ),
        "c3": Coverage("index", rules[:2], {}, rules[2:]),
    }
    files = [file(number, GOOD, coverage=f"c{number % 3 + 1}") for number in range(81)]

    expected = (
        "tier index: 1 to 3 rules checked on each of 81 files, up to 2 more with --tier values, "
        "which compares bounds and indexes with the values, "
        "up to 1 not checked for other reasons; `coverages` of --format json lists them"
    )
    assert [expected, "  not checked in 27 files, because no key: PIX-002"] == lines(
        report(files, coverages=coverages)
    )[1:]


@pytest.mark.parametrize(
    ("count", "further"),
    [(2, []), (5, []), (6, ["1 further reason (2 rules)"]), (9, ["4 further reasons (8 rules)"])],
)
def test_each_reason_why_rules_were_not_checked_is_named(count: int, further: list[str]) -> None:
    checked = GOOD.coverages[GOOD.files[0].coverage].checked
    reasons = {f"PQF-{number:03}": Untested("file", f"reason {number // 2}") for number in range(2 * count)}
    broken = {"BLM-001": Untested("another rule", "PQF-001 is broken")}
    coverages = {"c1": Coverage("values", checked, reasons | broken, [])}
    findings = [dataclasses.replace(BAD.files[0].findings[0], column=f"c{number}") for number in range(50)]
    for like in (GOOD, BAD):
        some = {"findings": findings} if like is BAD else {}
        judged = report([file(0, like, coverage="c1", **some)], coverages=coverages)
        text = lines(judged)

        assert len(text) <= 25
        assert [
            *(
                f"  not checked, because reason {number}: PQF-{2 * number:03}, PQF-{2 * number + 1:03}"
                for number in range(min(count, 5))
            ),
            *(f"  … and {each}: see -v" for each in further),
        ] == [line for line in text if "not checked, because" in line or "further reason" in line]
        assert count + 1 == sum("not checked, because" in line for line in lines(judged, verbose=True))


def seen(effect: ObservedEffect) -> Observed:
    return Observed(effect, ["DuckDB 2.0.0"], 6, "2026-11-23")


def test_harm_that_was_seen_comes_before_harm_that_is_possible() -> None:
    (finding,) = BAD.files[0].findings
    kinds: list[tuple[str, dict[str, Any]]] = [
        ("known", {"known": True}),
        ("note", {"verdict": "INFO", "could": "rows lost"}),
        ("hint", {"verdict": "WARN", "could": "cosmetic"}),
        ("order", {"verdict": "WARN", "could": "rows lost"}),
        ("slow", {"could": "pruning lost"}),
        ("refused", {"could": "read fails"}),
        ("lossy", {"could": "rows lost"}),
        ("harmless", {"could": "rows lost", "observed": Observed("nothing", [], 6, "2026-11-23")}),
        ("seen to refuse", {"could": "read fails", "observed": seen("read fails")}),
        ("seen to lose", {"could": "wrong rows", "observed": seen("rows lost")}),
        ("seen, WARN", {"verdict": "WARN", "could": "cosmetic", "observed": seen("wrong rows")}),
    ]
    files = [
        dataclasses.replace(
            BAD.files[0], path=name, findings=[dataclasses.replace(finding, path=name, **changes)]
        )
        for name, changes in kinds
    ]
    files.insert(0, dataclasses.replace(GOOD.files[0], path="errored", outcome="errored", error="killed"))
    shown = report([*files, dataclasses.replace(files[7], path="lossy too")])
    order = [
        *("seen to lose", "seen to refuse"),
        *("lossy", "harmless", "lossy too", "refused", "slow"),
        *("errored", "seen, WARN", "order", "hint", "note", "known"),
    ]

    text = [
        line.partition(":")[0] for line in lines(shown) if ": nonconformant" in line or ": errored" in line
    ]
    assert order == text
    assert order == [group.name for group in view(shown).groups]
    assert [each.path for each in shown.files] == [
        each["path"] for each in json.loads(shown.to_json())["files"]
    ]


@pytest.mark.parametrize("count", [1, 3])
def test_what_was_ignored_is_said(count: int) -> None:
    entry = Ignored("no regular files", count, ["a\nb"])
    expected = {
        1: r"ignored: 1 (no regular files): a\nb",
        3: r"ignored: 3 (no regular files), for example a\nb",
    }

    assert expected[count] in lines(report([file(0, GOOD)], ignored=[entry]))
