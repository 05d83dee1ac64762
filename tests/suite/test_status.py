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
from pqassay.report.run.model import Exposure, RunReport, ScoredBy
from pqassay.report.run.outcomes import UNMET, Operation, Outcome
from pqassay.report.status_table import COLUMNS, TICKS, Aspect, StatusCell, StatusTable
from pqassay_spec.golden.revision import current
from pqassay_spec.parquet.thrift import CompressionCodec, Encoding, Type
from pqassay_suite.cases import update_cases
from pqassay_suite.cases.case import GoldenCase
from pqassay_suite.results import status as status_module
from pqassay_suite.results.columns import columns_of
from pqassay_suite.results.status import Proofs, asked, features, proving, status
from report_samples import run_report

PROOFS: list[Proofs] = []


@pytest.fixture(scope="module")
def cases() -> Sequence[GoldenCase]:
    return kept_results.asked_cases()


@pytest.fixture(scope="module", autouse=True)
def proofs(cases: Sequence[GoldenCase]) -> dict[tuple[str, Aspect], list[str]]:
    """Read from the files once for all tests of this module."""
    PROOFS[:] = [proving(cases)]
    return PROOFS[0].cases


@pytest.fixture
def once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status_module, "proving", lambda _: PROOFS[0])
    monkeypatch.setattr(update_cases, "asked_cases", kept_results.asked_cases)


def made(
    questions: dict[str, list[Operation]],
    *results: tuple[str, Operation, Outcome],
    exposures: Sequence[Exposure] = (),
    refused: Sequence[str] = (),
    differs: str | None = None,
) -> RunReport:
    """Results about some questions; what is not named passed."""
    known = current().cases
    added = {
        golden.case.id: golden.asked_sha256
        for golden in kept_results.asked_cases()
        if golden.case.id not in known
    }
    by = ScoredBy(current().number, current().sha256, len(known), len(known), added=added)
    return dataclasses.replace(
        run_report(),
        results=[
            run_model.Result(case, "PQF", operation, outcome, first_difference=differs, severity=1)
            for case, operation, outcome in results
        ],
        exposures=list(exposures),
        scored_by=by,
        asked=questions,
        refused=list(refused),
    )


def cell(found: StatusTable, feature: str, aspect: Aspect) -> StatusCell:
    (row,) = [row for row in found.rows if (row.feature, row.aspect) == (feature, aspect)]
    return row.cells[0]


def test_every_type_encoding_and_codec_of_the_grammar_is_a_feature() -> None:
    ids = [feature.id for feature in features()]

    assert len(ids) == len(set(ids))
    assert ["physical-boolean", "physical-int32"] == ids[:2]
    assert (len(Type), len(Encoding), len(CompressionCodec)) == tuple(
        sum(one.category == category and not one.id.endswith("-extended") for one in features())
        for category in ("Physical types", "Encodings", "Compressions")
    )
    assert {"compression-lz4-deprecated", "encoding-byte-stream-split", "logical-uuid"} <= set(ids)


def test_what_proves_a_feature_is_told_by_the_files(
    proofs: dict[tuple[str, Aspect], list[str]], cases: Sequence[GoldenCase]
) -> None:
    by_id = {golden.case.id: golden for golden in cases}

    assert "pqf/uuid" in proofs["logical-uuid", "reads"]
    assert "pqf/decimals" in proofs["logical-decimal-int64", "reads"]
    decimals = columns_of(by_id["pqf/decimals"].content()).values()
    assert any({"logical.decimal", "logical.decimal.int32", "physical.int32"} <= one.tags for one in decimals)
    assert all("bloom-filters" in case for case in proofs["format-bloom-filters", "writes"])
    for (_, aspect), found in proofs.items():
        if aspect in ("reads", "decodes"):
            assert all(by_id[case].case.kind == "valid" for case in found)


def test_a_feature_that_no_case_proves_says_why(proofs: dict[tuple[str, Aspect], list[str]]) -> None:
    proven = {feature for (feature, _), found in proofs.items() if found}

    assert {feature.id for feature in features() if not feature.unasked} == proven


def test_lies_about_nan_under_the_total_order_show_who_knows_it(
    proofs: dict[tuple[str, Aspect], list[str]],
) -> None:
    feature = "format-ieee-754-total-order-and-nan-counts"

    assert ["sta/nan-count-left-out", "sta/total-order-without-nan-count"] == proofs[feature, "uses"]


@pytest.mark.usefixtures("once")
def test_a_failing_column_blames_the_feature_that_another_column_lacks(cases: Sequence[GoldenCase]) -> None:
    questions: dict[str, list[Operation]] = {
        "pqf/uuid": ["read"],
        "pqf/half": ["read"],
        "pqf/int96": ["read"],
        "blm/no-filters": ["read"],
    }
    report = made(
        questions,
        ("pqf/half", "read", "unsupported"),
        ("blm/no-filters", "read", "failed"),
        differs="column moment",
    )
    found = status([report], ["results.json"], cases)
    moments = cell(found, "physical-int96", "reads")

    assert ("partly", 1, ["blm/no-filters"]) == (moments.tick, moments.passed, moments.failing)
    assert "no" == cell(found, "logical-float16", "reads").tick
    assert "yes" == cell(found, "logical-uuid", "reads").tick
    assert "not asked" == cell(found, "compression-lzo", "reads").tick
    assert "No library" in next(row.unasked for row in found.rows if row.feature == "compression-lzo")


@pytest.mark.usefixtures("once")
def test_a_failure_taints_no_other_feature_of_its_file(cases: Sequence[GoldenCase]) -> None:
    every: dict[str, list[Operation]] = {case: ["read"] for case in PROOFS[0].columns}
    report = made(every, ("pqf/nested", "read", "failed"), differs="column grid")
    found = status([report], ["results.json"], cases)
    ticks = {row.feature: row.cells[0].tick for row in found.rows if row.aspect == "reads" and row.cases}

    assert {"logical-list": "partly"} == {name: tick for name, tick in ticks.items() if tick != "yes"}
    assert ["pqf/nested"] == cell(found, "logical-list", "reads").failing
    assert "pqf/nested" in cell(found, "encoding-plain", "reads").aside


@pytest.mark.usefixtures("once")
@pytest.mark.parametrize("outcome", ["unstable", "inherited"])
def test_an_answer_that_its_case_does_not_explain_counts_for_nothing(
    outcome: Outcome, cases: Sequence[GoldenCase]
) -> None:
    report = made({"pqf/half": ["read"], "pqf/uuid": ["read"]}, ("pqf/half", "read", outcome))

    half = cell(status([report], [""], cases), "logical-float16", "reads")
    assert ("not shown", 0, [], ["pqf/half"]) == (half.tick, half.passed, half.failing, half.aside)


@pytest.mark.usefixtures("once")
def test_who_decodes_variants_is_not_blamed_and_who_refuses_them_is(cases: Sequence[GoldenCase]) -> None:
    questions: dict[str, list[Operation]] = {"pqf/variants": ["read"], "pqf/field-ids": ["read"]}
    decoded = made(questions, ("pqf/variants", "read", "failed"), differs="column facts")
    refused = dataclasses.replace(
        decoded,
        results=[dataclasses.replace(decoded.results[0], severity=3, first_difference="column facts")],
    )

    assert ["not shown", "no"] == [
        cell(status([one], [""], cases), "logical-variant", "reads").tick for one in (decoded, refused)
    ]


@pytest.mark.usefixtures("once")
def test_only_a_refusal_shows_that_checksums_are_checked(cases: Sequence[GoldenCase]) -> None:
    questions: dict[str, list[Operation]] = {"pqf/crc-of-another-page": ["read"], "pqf/three-pages": ["read"]}
    checks, trusts = made(questions, refused=["pqf/crc-of-another-page"]), made(questions)
    older = dataclasses.replace(trusts, refused=None)

    assert ["yes", "not shown", "not shown"] == [
        cell(status([one], [""], cases), "format-page-crc32", "checks").tick
        for one in (checks, trusts, older)
    ]


@pytest.mark.usefixtures("once")
def test_a_table_that_is_not_written_at_all_blames_no_wish(cases: Sequence[GoldenCase]) -> None:
    questions: dict[str, list[Operation]] = {
        f"write/{table}/{wish}": ["encode"]
        for table in ("nested", "floats")
        for wish in ("plainly", "pages-v2", "statistics")
    }
    report = made(
        questions,
        ("write/nested/plainly", "encode", "unsupported"),
        ("write/nested/pages-v2", "encode", "unsupported"),
        ("write/floats/statistics", "encode", "failed"),
    )
    found = status([report], [""], cases)
    pages, statistics = (
        cell(found, f"format-{name}", "writes") for name in ("data-page-v2", "stats-min-max")
    )

    assert ("yes", [], ["write/nested/pages-v2"]) == (pages.tick, pages.failing, pages.aside)
    assert ("partly", ["write/floats/statistics"]) == (statistics.tick, statistics.failing)


@pytest.mark.usefixtures("once")
def test_only_a_lie_that_misleads_shows_that_a_structure_is_used(cases: Sequence[GoldenCase]) -> None:
    lie = "blm/no-bit-set"
    honest = made({lie: ["scan"]}, exposures=[Exposure(lie, "BLM", "right", 8, 0)])
    misled = made({lie: ["scan"]}, exposures=[Exposure(lie, "BLM", "rows lost", 8, 2)])
    silent = made({})

    assert ["not shown", "yes", "not asked"] == [
        cell(status([one], [""], cases), "api-rowgroup-pruning-bloom", "uses").tick
        for one in (honest, misled, silent)
    ]


@pytest.mark.parametrize(
    ("members", "message"),
    [
        (
            {"asked": None},
            "r.json: these results do not say what was asked; run `pqassay suite run` again",
        ),
        (
            {"scored_by": None},
            "r.json: these results are about private cases, which prove no feature",
        ),
        ({"scored_by": ScoredBy("77", "0", 1, 1)}, "r.json: there is no revision 77; there are 1.0"),
        ({"scored_by": ScoredBy("1.0", "0", 1, 1)}, "r.json: the cases of revision 1.0 have changed since"),
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


@pytest.mark.usefixtures("once")
def test_a_wish_that_is_met_elsewhere_and_left_out_of_a_right_file_is_not_to_blame(
    cases: Sequence[GoldenCase],
) -> None:
    questions: dict[str, list[Operation]] = {
        f"write/{table}/bloom-filters": ["encode"] for table in ("floats", "only-nan")
    }
    report = made(questions, ("write/only-nan/bloom-filters", "encode", "failed"))
    unmet = dataclasses.replace(report, results=[dataclasses.replace(report.results[0], severity=UNMET)])
    never = dataclasses.replace(unmet, asked={"write/only-nan/bloom-filters": ["encode"]})

    assert ["partly", "yes", "no"] == [
        cell(status([one], [""], cases), "format-bloom-filters", "writes").tick
        for one in (report, unmet, never)
    ]


def export(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["status", *arguments])


@pytest.fixture
def results(tmp_path: Path, proofs: dict[tuple[str, Aspect], list[str]]) -> Path:
    """A file with results about every valid case."""
    questions: dict[str, list[Operation]] = {
        case: ["read"] for (_, aspect), found in proofs.items() for case in found if aspect == "reads"
    }
    path = tmp_path / "made.json"
    path.write_text(made(questions, ("pqf/half", "read", "failed"), differs="column half").to_json())
    return path


@pytest.mark.usefixtures("once")
def test_every_format_has_every_row(results: Path) -> None:
    rows = sum(len(feature.aspects) for feature in features())
    document = json.loads(export(str(results), "--format", "json").stdout)
    lines = list(csv.reader(io.StringIO(export(str(results), "--format", "csv").stdout)))
    page = export(str(results), "--site", "https://example.org/").stdout

    assert rows == len(document["rows"])
    assert [list(COLUMNS)] + [11] * rows == [lines[0], *map(len, lines[1:])]
    assert set(TICKS) >= {line[5] for line in lines[1:]}
    tables = page.partition("### Cases for which a feature is to blame")[0]
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
    [("{}", "not a report"), ("[", "not valid JSON"), ("", "not valid JSON")],
)
def test_a_file_that_is_no_result_is_named(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "results.json").write_text(content)
    result = export(str(tmp_path / "results.json"))

    assert (2, 1) == (result.exit_code, len(result.stderr.splitlines()))
    assert f"error: {tmp_path / 'results.json'}: {message}" in result.stderr
