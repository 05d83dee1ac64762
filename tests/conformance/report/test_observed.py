"""What a breach could do and what it was seen to do is in every format, and below what was proved on the file itself."""

from __future__ import annotations

import dataclasses
import io
import json

import pytest

import pqassay
from idx1_files import Idx1File
from places import GOLDEN_FILES
from pqassay.explain import explain
from pqassay.report.formats import FormatName
from pqassay.report.model import EngineAnswer, Proof, Report
from pqassay.report.renderers.text import render
from pqassay_spec.rules import observed as table
from pqassay_spec.rules.observed import Observed, observations, observed, observed_like
from report_samples import RENDERED, rendered

SEEN = Observed("wrong rows", ["DuckDB 2.0.0", "Spark 4.3.0"], 6, "2026-11-23")
SENTENCE = "wrong rows in DuckDB 2.0.0 and Spark 4.3.0 (2 of 6 engines, 2026-11-23)"
PROOF = Proof(
    "misled",
    3,
    "SELECT nation FROM file",
    ["nation"],
    None,
    3,
    [EngineAnswer("DuckDB", "rows lost", "2.0.0", 1, 2)],
)


def report(proof: Proof | None = None, seen: Observed | None = SEEN) -> Report:
    found = pqassay.check(Idx1File(payload=b"Peru\nSingapura").build())
    (file,) = found.files
    (finding,) = file.findings
    findings = [dataclasses.replace(finding, observed=seen, proof=proof)]
    return dataclasses.replace(found, files=[dataclasses.replace(file, findings=findings)])


@pytest.mark.parametrize("name", RENDERED)
def test_every_format_shows_what_was_seen_if_anything_was(name: FormatName) -> None:
    text = rendered(report(), name)
    shown = text.replace("\\(", "(").replace("\\)", ")")
    assert SENTENCE in shown
    assert "rows lost" in shown
    assert SENTENCE not in rendered(report(seen=None), name)


def test_json_has_it_as_an_object() -> None:
    (finding,) = json.loads(report().to_json())["files"][0]["findings"]
    assert {
        "effect": "wrong rows",
        "engines": ["DuckDB 2.0.0", "Spark 4.3.0"],
        "asked": 6,
        "date": "2026-11-23",
    } == finding["observed"]


def test_a_finding_carries_what_the_table_says_of_its_rule() -> None:
    (file,) = pqassay.check(Idx1File(payload=b"Peru\nSingapura").build()).files
    assert [(each.rule, observed_like(each.rule, each.shape)) for each in file.findings] == [
        (each.rule, each.observed) for each in file.findings
    ]


def observed_of(rule: str, case: str) -> Observed | None:
    """What the finding of a rule on a golden file carries."""
    file = pqassay.check(GOLDEN_FILES / case / "data.parquet", tier="values").files[0]
    (finding,) = [each for each in file.findings if each.rule == rule]
    return finding.observed


def test_what_was_seen_is_that_of_files_like_this_one() -> None:
    seen = observed_of("PIX-025", observations()["PIX-025"].cases[0])

    assert seen is not None
    assert "on a similar file: " in rendered(report(), FormatName.TEXT)


def test_of_a_breakage_unlike_all_that_was_measured_nothing_is_shown() -> None:
    assert observed("STA-041").is_harm
    assert observed_like("STA-041", "footer.nothing · like it") is None
    assert observed_like("PM-001", "whatever the shape") == observed("PM-001")
    # A rule of which one golden file was measured: the same shape has the same answers.
    ((case, shape),) = table.shapes()["BLM-001"].items()
    assert observed("BLM-001") == observed_like("BLM-001", shape)
    assert observed("BLM-001") == observed_of("BLM-001", case)


def test_answers_about_some_of_several_files_are_told_apart_or_left_out() -> None:
    answers = table.EngineAnswers("DuckDB", "2.0.0", "rows lost", 3, 9, "b")
    right = table.EngineAnswers("Polars", "2.1.0", "nothing", 9, 9)
    known = dataclasses.replace(answers, each=("nothing", "rows lost"))
    of = {
        name: table.Observation("2026-11-23", ("a", "b"), (each, right))
        for name, each in (("known", known), ("unknown", answers))
    }

    assert of["unknown"].of_cases(["a"]) is None
    assert ("rows lost", ["DuckDB 2.0.0"], 2) == (
        (seen := of["unknown"].of_cases(["b"])) and (seen.effect, seen.summary.engines, seen.summary.asked)
    )
    assert of["known"].of_cases([]) is None
    assert of["unknown"] == of["unknown"].of_cases(["a", "b"])
    only = {case: of["known"].of_cases([case]) for case in "ab"}
    assert {"a": "nothing", "b": "rows lost"} == {case: each and each.effect for case, each in only.items()}


def test_what_was_proved_on_the_file_replaces_what_was_seen_of_others() -> None:
    stream = io.StringIO()
    render(report(PROOF), stream, verbose=True)
    labels = [line[4:14].strip() for line in stream.getvalue().splitlines()]
    assert ["actual", "proof", "could"] == [
        label for label in labels if label in ("actual", "proof", "could", "observed", "remedy")
    ]
    for name in (FormatName.JUNIT, FormatName.HTML):
        text = rendered(report(PROOF), name)
        assert "SELECT nation FROM file" in text
        assert SENTENCE not in text


def test_a_check_without_findings_reads_no_table() -> None:
    table.observations.cache_clear()
    table.observed.cache_clear()
    assert [] == pqassay.check(Idx1File().build()).files[0].findings
    assert 0 == table.observations.cache_info().currsize


def test_explain_shows_each_engine_with_its_version_and_the_golden_files() -> None:
    lines = "\n".join(explain("STA-041"))
    found = table.observations()["STA-041"]

    for one in found.engines:
        assert f"{one.engine} {one.version} " in lines
        assert one.line in lines
    assert found.cases[0] in lines
    assert f"({found.date})" in " ".join(lines.split())
