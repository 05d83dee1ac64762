"""Status by feature: derived from what results say and what files hold, and never a *no* where nothing is known."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from collections.abc import Sequence
from pathlib import Path

import kept_results
import pytest
from typer.testing import CliRunner, Result

from pqassay.cli.main import suite as app
from pqassay.errors import UsageError
from pqassay.report.run import model as run_model
from pqassay.report.run.model import Exposure, Operation, RunReport, ScoredBy
from pqassay.report.status_table import COLUMNS, TICKS, Aspect, Cell, StatusTable
from pqassay_spec.golden.revision import current
from pqassay_spec.parquet.thrift import CompressionCodec, Encoding, Type
from pqassay_suite.cases import update_cases
from pqassay_suite.cases.case import GoldenCase, inputs_digest
from pqassay_suite.results import status as status_module
from pqassay_suite.results.status import asked, features, proving, status, tags_of
from report_samples import run_report

PROOFS: dict[tuple[str, Aspect], list[str]] = {}


@pytest.fixture(scope="module")
def cases() -> Sequence[GoldenCase]:
    return kept_results.asked_cases()


@pytest.fixture(scope="module", autouse=True)
def proofs(cases: Sequence[GoldenCase]) -> dict[tuple[str, Aspect], list[str]]:
    """Read from the files once for all tests of this module."""
    PROOFS.update(proving(cases))
    return PROOFS


@pytest.fixture
def once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status_module, "proving", lambda _: PROOFS)
    monkeypatch.setattr(update_cases, "asked_cases", kept_results.asked_cases)


def made(
    questions: dict[str, list[Operation]],
    *results: tuple[str, Operation, run_model.Outcome],
    exposures: Sequence[Exposure] = (),
) -> RunReport:
    """Results about some questions; what is not named passed."""
    by = ScoredBy(current().number, current().sha256, len(current().cases), len(current().cases))
    return dataclasses.replace(
        run_report(),
        results=[run_model.Result(case, "PQF", operation, outcome) for case, operation, outcome in results],
        exposures=list(exposures),
        scored_by=by,
        asked=questions,
    )


def cell(found: StatusTable, feature: str, aspect: Aspect) -> Cell:
    (row,) = [row for row in found.rows if (row.feature, row.aspect) == (feature, aspect)]
    return row.cells[0]


def test_every_type_encoding_and_codec_of_the_grammar_is_a_feature() -> None:
    ids = [feature.id for feature in features()]

    assert len(ids) == len(set(ids))
    assert ["physical-boolean", "physical-int32"] == ids[:2]
    assert (len(Type), len(Encoding), len(CompressionCodec)) == tuple(
        sum(one.category == category for one in features())
        for category in ("Physical types", "Encodings", "Compressions")
    )
    assert {"compression-lz4-deprecated", "encoding-byte-stream-split", "logical-uuid"} <= set(ids)


def test_what_proves_a_feature_is_told_by_the_files(
    proofs: dict[tuple[str, Aspect], list[str]], cases: Sequence[GoldenCase]
) -> None:
    by_id = {golden.case.id: golden for golden in cases}

    assert "pqf/uuid" in proofs["logical-uuid", "reads"]
    assert "pqf/decimals" in proofs["logical-decimal-int64", "reads"]
    assert {"logical.decimal", "logical.decimal.int32", "physical.int32"} <= tags_of(
        by_id["pqf/decimals"].content()
    )
    assert all("bloom-filters" in case for case in proofs["format-bloom-filters", "writes"])
    for (_, aspect), found in proofs.items():
        if aspect in ("reads", "decodes"):
            assert all(by_id[case].case.kind == "valid" for case in found)


@pytest.mark.usefixtures("once")
def test_yes_takes_all_cases_partly_some_and_no_none(
    proofs: dict[tuple[str, Aspect], list[str]], cases: Sequence[GoldenCase]
) -> None:
    first, second = proofs["logical-time-int32", "reads"][:2]
    report = made(
        {first: ["read"], second: ["read"], "pqf/uuid": ["read"], "pqf/streams": ["read"]},
        (first, "read", "failed"),
        ("pqf/uuid", "read", "unsupported"),
        ("pqf/streams", "scan", "failed"),
    )
    found = status([report], ["results.json"], cases)

    assert ("partly", 1, 2, [first]) == (
        (time := cell(found, "logical-time-int32", "reads")).tick,
        time.passed,
        time.asked,
        time.failing,
    )
    assert "no" == cell(found, "logical-uuid", "reads").tick
    assert "yes" == cell(found, "encoding-byte-stream-split", "reads").tick
    assert "not asked" == cell(found, "logical-date", "reads").tick
    assert "not asked" == cell(found, "logical-interval", "reads").tick


@pytest.mark.usefixtures("once")
def test_only_a_lie_that_misleads_shows_that_a_structure_is_used(cases: Sequence[GoldenCase]) -> None:
    lie = "blm/no-bit-set"
    honest = made({lie: ["scan"]}, exposures=[Exposure(lie, "BLM", "right", 8, 0)])
    misled = made({lie: ["scan"]}, exposures=[Exposure(lie, "BLM", "rows lost", 8, 2)])
    nobody = made({})

    assert ["not shown", "yes", "not asked"] == [
        cell(status([one], [""], cases), "api-rowgroup-pruning-bloom", "uses").tick
        for one in (honest, misled, nobody)
    ]


def test_what_was_asked_follows_from_the_capabilities_where_results_do_not_say(
    cases: Sequence[GoldenCase],
) -> None:
    driver = dataclasses.replace(run_report().driver, capabilities=["read", "parquet", "type.uuid"])
    earlier = dataclasses.replace(
        run_report(), driver=driver, asked=None, golden_files_sha256=inputs_digest(cases)
    )
    told = asked(earlier, "results.json", cases)

    assert {("pqf/uuid", "read"), ("blm/at-the-end", "read")} <= told
    assert {"read"} == {operation for _, operation in told}
    assert ("pqf/decimals", "read") not in told


@pytest.mark.parametrize(
    ("members", "message"),
    [
        (
            {"asked": None},
            "r.json: these results do not say what was asked, and the golden files are others by now",
        ),
        (
            {"scored_by": None},
            "r.json: these results are about cases of somebody's own, which prove no feature",
        ),
        ({"scored_by": ScoredBy("77", "0", 1, 1)}, "r.json: there is no revision 77; there are 0.9"),
        ({"scored_by": ScoredBy("0.9", "0", 1, 1)}, "r.json: the cases of revision 0.9 have changed since"),
    ],
)
def test_results_that_prove_nothing_are_refused(
    members: dict[str, object], message: str, cases: Sequence[GoldenCase]
) -> None:
    report = dataclasses.replace(made({}), **members)  # type: ignore[arg-type]

    with pytest.raises(UsageError) as caught:
        asked(report, "r.json", cases)
    assert str(caught.value).startswith(message)


def test_a_case_that_is_no_longer_what_was_asked_proves_nothing(cases: Sequence[GoldenCase]) -> None:
    report = made({"pqf/uuid": ["read"], "pix/of-yesterday": ["read"]})
    assert report.scored_by is not None
    other = dataclasses.replace(report.scored_by, changed={"pqf/uuid": "0" * 64})

    assert {("pqf/uuid", "read")} == asked(report, "", cases)
    assert set() == asked(dataclasses.replace(report, scored_by=other), "", cases)


def export(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["status", *arguments])


@pytest.fixture
def results(tmp_path: Path, proofs: dict[tuple[str, Aspect], list[str]]) -> Path:
    """A file with results about every valid case."""
    questions: dict[str, list[Operation]] = {
        case: ["read"] for (_, aspect), found in proofs.items() for case in found if aspect == "reads"
    }
    path = tmp_path / "made.json"
    path.write_text(made(questions, ("pqf/half", "read", "failed")).to_json())
    return path


@pytest.mark.usefixtures("once")
def test_every_format_has_every_row(results: Path) -> None:
    rows = sum(len(feature.aspects) for feature in features())
    document = json.loads(export(str(results), "--format", "json").stdout)
    lines = list(csv.reader(io.StringIO(export(str(results), "--format", "csv").stdout)))
    page = export(str(results), "--site", "https://example.org/").stdout

    assert rows == len(document["rows"])
    assert [list(COLUMNS)] + [10] * rows == [lines[0], *map(len, lines[1:])]
    assert set(TICKS) >= {line[5] for line in lines[1:]}
    tables = page.partition("### Cases that did not pass")[0]
    assert rows == sum(line.startswith("| ") for line in tables.splitlines()) - 2 * tables.count("\n### ")
    assert "\n- FLOAT16, reads, plain 1.0: [`pqf/half`](https://example.org/cases/pqf-half.html)\n" in page
    assert "| UUID | yes | [`pqf/uuid`](https://example.org/cases/pqf-uuid.html)" in page


@pytest.mark.usefixtures("once")
def test_two_results_of_one_version_are_refused(results: Path) -> None:
    again = results.with_name("again.json")
    again.write_bytes(results.read_bytes())
    result = export(str(results), str(again))

    assert 2 == result.exit_code
    assert f"error: {results}: there are several results of " in result.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [("{}", "this is no report"), ("[", "this is no JSON"), ("", "this is no JSON")],
)
def test_a_file_that_is_no_result_is_named(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "results.json").write_text(content)
    result = export(str(tmp_path / "results.json"))

    assert (2, 1) == (result.exit_code, len(result.stderr.splitlines()))
    assert f"error: {tmp_path / 'results.json'}: {message}" in result.stderr
