"""Every format of a report: valid to others, the same whether read again or not, bounded, and proof against what it shows."""

from __future__ import annotations

import dataclasses
import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import xmlschema
from markdown_it import MarkdownIt
from typer.testing import CliRunner

import pqassay
from each import each
from idx1_files import Idx1File
from places import GUIDES
from pqassay.cli.main import app
from pqassay.errors import UsageError
from pqassay.report import rules as rule_help
from pqassay.report.formats import FormatName
from pqassay.report.model import EngineAnswer, Proof, Report, summarise
from pqassay.report.reading import parse
from pqassay.report.renderers import markdown as render_markdown
from pqassay.report.renderers import sarif as render_sarif
from pqassay.report.run.model import RunReport
from pqassay_spec.rules import documents
from pqassay_spec.rules.catalogue import families, rules
from report_samples import RENDERED, RENDERED_OF_RUNS, museum, rendered, run_report, samples, wicked

pytestmark = pytest.mark.slow

VENDORED = Path(__file__).parent / "vendored"

SAMPLES = samples()

run = CliRunner().invoke

each_sample = pytest.mark.parametrize("report", SAMPLES.values(), ids=list(SAMPLES))


def again(report: Report | RunReport) -> Report | RunReport:
    """A report that was written as JSON and read."""
    return parse(report.to_json().encode(), "report.json")


@each_sample
def test_a_report_that_is_read_again_renders_byte_by_byte_as_before(report: Report | RunReport) -> None:
    read = again(report)

    assert type(report) is type(read)
    assert report.to_json() == read.to_json()
    for name in RENDERED if isinstance(report, Report) else RENDERED_OF_RUNS:
        assert rendered(report, name) == rendered(read, name), name


@pytest.mark.parametrize("name", RENDERED)
def test_what_a_finding_costs_is_shown_in_every_format(name: FormatName) -> None:
    found = museum()
    answer = EngineAnswer("DuckDB", "rows lost", "2.0.0", 1, lost=2, reproduce="python -c 'query'")
    proof = Proof("misled", 3, "rows with metal = 'tin'", ["metal"], ["=", "metal", "tin"], 3, [answer])
    files = [
        dataclasses.replace(file, findings=[dataclasses.replace(one, proof=proof) for one in file.findings])
        for file in found.files
    ]
    text = rendered(dataclasses.replace(found, files=files), name)

    told = ["3 rows according to the values in the pages; 3 queries tried", "1 row, 2 lost"]
    if name is FormatName.SARIF:  # programs read it: there it is as in the JSON
        told = ['"true_rows": 3', '"lost": 2']
    assert [] == [words for words in (*told, "python -c") if words not in text]


# ------------------------------------------------------------------------------------------------- reading


@each(
    ("content", "words"),
    [
        (b"", "r.json: not valid JSON: Expecting value (line 1, offset 0); write a report with --format json"),
        (b"\xff", "r.json: not valid JSON"),
        (b"[" * 100_000, "r.json: not valid JSON"),
        (b"[]", "r.json: not a report"),
        (b'{"kind": ["check"]}', "r.json: not a report"),
        (b'{"kind": "baseline", "schema_version": 1}', "r.json: not a report"),
        (b'{"kind": "check", "schema_version": 3, "pqassay": "9.0"}', "schema_version is 3, and this version of pqassay reads 2"),
        (b'{"kind": "check", "schema_version": true}', "schema_version is True"),
        (b'{"kind": "check", "schema_version": 2}', "pqassay: Field required"),
    ],
)  # fmt: skip
def test_what_is_no_report_is_an_error_that_says_so(content: bytes, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(content, "r.json")

    assert words in str(caught.value)


def test_an_error_names_the_member() -> None:
    content = json.loads(museum().to_json())
    number = next(n for n, file in enumerate(content["files"]) if file["findings"])
    content["files"][number]["findings"][0]["verdict"] = "BAD"

    with pytest.raises(UsageError, match=rf"files\[{number}\]\.findings\[0\]\.verdict"):
        parse(json.dumps(content).encode(), "r.json")
    content["files"][number]["findings"][0]["verdict"] = "FAIL"
    content["files"][number]["findings"][0]["at"] = []
    with pytest.raises(UsageError, match=rf"files\[{number}\]\.findings\[0\]\.at"):
        parse(json.dumps(content).encode(), "r.json")
    content["files"][0]["coverage"] = "c99"
    with pytest.raises(UsageError, match=r"files\[0\]\.coverage: there is no 'c99'"):
        parse(json.dumps(content).encode(), "r.json")


# --------------------------------------------------------------------------------------------------- SARIF


@pytest.fixture(scope="module")
def sarif_schema() -> Any:
    schema = json.loads((VENDORED / "sarif-2.1.0-rtm.5.json").read_text("utf-8"))
    return jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker())


@pytest.mark.parametrize("name", [name for name, report in SAMPLES.items() if isinstance(report, Report)])
def test_sarif_is_valid(name: str, sarif_schema: Any) -> None:
    log = json.loads(rendered(SAMPLES[name], FormatName.SARIF))

    assert [] == [error.message for error in sarif_schema.iter_errors(log)]
    (one,) = log["runs"]
    assert "commandLine" not in one["invocations"][0]
    for result in one["results"]:
        assert result["ruleId"] == one["tool"]["driver"]["rules"][result["ruleIndex"]]["id"]
    for notification in one["invocations"][0].get("toolConfigurationNotifications", []):
        descriptor = notification["descriptor"]
        assert descriptor["id"] == one["tool"]["driver"]["notifications"][descriptor["index"]]["id"]


def test_sarif_tells_place_level_and_what_the_baseline_knows() -> None:
    (one,) = json.loads(rendered(museum(), FormatName.SARIF))["runs"]
    report = museum()
    findings = [finding for file in report.files for finding in file.findings]

    assert len(findings) == len(one["results"])
    for finding, result in zip(findings, one["results"], strict=True):
        location = result["locations"][0]["physicalLocation"]
        first = finding.at[0]
        assert finding.rule == result["ruleId"]
        assert {"FAIL": "error", "WARN": "warning"}.get(finding.verdict, "note") == result["level"]
        assert {"uri": finding.path, "uriBaseId": "%SRCROOT%"} == location["artifactLocation"]
        if first.offset >= 0:
            assert {"byteOffset": first.offset, "byteLength": first.length} == location["region"]
        assert ("unchanged" if finding.known else "new") == result["baselineState"]
        assert finding.known == bool(result["suppressions"])
    invocation = one["invocations"][0]
    assert (4, False) == (invocation["exitCode"], invocation["executionSuccessful"])
    assert ["killed", "a note"] == [
        each["message"]["text"] for each in invocation["toolExecutionNotifications"]
    ]
    told = [each["message"]["text"] for each in invocation["toolConfigurationNotifications"]]
    assert any("because needs tier values: BLM-020, BLM-021" in text for text in told)
    assert any("BLM-001 gone.parquet: the file is gone" in text for text in told)


def test_a_fingerprint_stays_when_bytes_move_and_differs_by_rule_path_and_column() -> None:
    report = museum()
    moved = dataclasses.replace(
        report,
        files=[
            dataclasses.replace(
                file,
                findings=[
                    dataclasses.replace(each, at=[dataclasses.replace(each.at[0], offset=7)], count=9)
                    for each in file.findings
                ],
            )
            for file in report.files
        ],
    )

    def prints(what: Report) -> list[str]:
        results = json.loads(rendered(what, FormatName.SARIF))["runs"][0]["results"]
        return [result["partialFingerprints"]["pqassay/v1"] for result in results]

    assert prints(report) == prints(moved)
    assert len(prints(report)) == len(set(prints(report)))
    assert 4 == len(
        {
            render_sarif.fingerprint(*key)
            for key in [("A", "p", None), ("A", "p", ""), ("A", "q", ""), ("B", "p", "")]
        }
    )


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("lake/a b.parquet", {"uri": "lake/a%20b.parquet", "uriBaseId": "%SRCROOT%"}),
        ("./x:y%.parquet", {"uri": "x%3Ay%25.parquet", "uriBaseId": "%SRCROOT%"}),
        ("/data/é.parquet", {"uri": "file:///data/%C3%A9.parquet"}),
        ("s3://bucket/a b", {"uri": "s3://bucket/a%20b"}),
    ],
)
def test_paths_become_uris(path: str, expected: dict[str, str]) -> None:
    assert expected == render_sarif.artifact(path)


def test_every_rule_has_help_and_every_published_document_an_address() -> None:
    named = {rule.origin.document for rule in rules().values()}

    assert {name for name in named if not name.endswith(" chapter")} == set(documents.documents()) & named
    assert set(documents.documents()) <= named
    rule = rules()["BLM-004"]
    assert documents.address("BloomFilter", "Technical Approach") == rule_help.address(rule)
    assert "https://example.org/docs/spec/bloom.html#blm-004" == rule_help.address(
        rule, "https://example.org/docs/"
    )
    assert all(rule.sentence in rule_help.text(rule) for rule in rules().values())


# --------------------------------------------------------------------------------------------------- JUnit


@pytest.fixture(scope="module")
def junit_schema() -> xmlschema.XMLSchema:
    return xmlschema.XMLSchema(str(VENDORED / "junit-10.xsd"))


@each_sample
def test_junit_is_valid(report: Report | RunReport, junit_schema: xmlschema.XMLSchema) -> None:
    root = ET.fromstring(rendered(report, FormatName.JUNIT))

    junit_schema.validate(root)
    for suite in root:
        for attribute, tag in (
            ("tests", "testcase"),
            ("failures", "failure"),
            ("errors", "error"),
            ("skipped", "skipped"),
        ):
            assert int(suite.get(attribute, "")) == len(list(suite.iter(tag))), attribute
    for attribute, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error")):
        assert int(root.get(attribute, "")) == len(list(root.iter(tag)))


def test_junit_has_a_suite_for_each_file_and_a_case_for_each_family() -> None:
    report = museum()
    root = ET.fromstring(rendered(report, FormatName.JUNIT))
    suites = {suite.get("name", ""): suite for suite in root}

    assert {*(file.path for file in report.files), "baseline known.json"} == set(suites)
    for file in report.files:
        cases = {case.get("name", "").split()[0]: case for case in suites[file.path].iter("testcase")}
        of_kind = {family.prefix for family in families() if family.file == file.kind}
        assert {"judged", *of_kind} == set(cases)
        counted = {f.rule for f in file.findings if f.verdict == "FAIL" and not f.known}
        failed = {name: case.find("failure") for name, case in cases.items()}
        assert {rule.rpartition("-")[0] for rule in counted} == {
            name for name, failure in failed.items() if failure is not None
        }
        for rule in counted:
            failure = failed[rule.rpartition("-")[0]]
            assert failure is not None
            assert f"FAIL {rule}" in (failure.text or "")
        if file.outcome == "errored":
            assert ["killed"] == [error.get("message") for error in suites[file.path].iter("error")]
    (against,) = root.iter("property")
    assert "judged against" == against.get("name")


def test_junit_counts_as_many_tests_in_a_broken_file_as_in_a_sound_one() -> None:
    broken = Idx1File(payload=b"Lima").build()
    counts = {
        name: [suite.get("tests") for suite in ET.fromstring(rendered(pqassay.check(raw), FormatName.JUNIT))]
        for name, raw in {"sound": Idx1File().build(), "broken": broken, "cut": broken[:-5]}.items()
    }

    assert {"sound": ["7"], "broken": ["7"], "cut": ["7"]} == counts


def test_junit_of_many_files_is_small() -> None:
    count = 300
    for file, greatest in ((Idx1File(), 1_100), (Idx1File(payload=b"Lima"), 2_500)):  # bytes for each file
        like = pqassay.check(file.build())
        files = [dataclasses.replace(like.files[0], path=f"lake/part-{n:05}.parquet") for n in range(count)]
        text = rendered(dataclasses.replace(like, files=files, summary=summarise(files)), FormatName.JUNIT)
        assert len(text) < count * greatest


def test_junit_of_a_run_tells_failed_crashed_skipped_and_expected() -> None:
    root = ET.fromstring(rendered(run_report(), FormatName.JUNIT))
    cases = {
        (suite.get("name"), case.get("classname"), case.get("name")): [child.tag for child in case]
        for suite in root
        for case in suite
    }

    expected = {
        ("hello", "hello", "hello"): ["error"],
        ("IDX1", "idx1.right", "decode"): [],
        ("IDX1", "idx1.none", "lint"): ["skipped"],
        ("PIX", "pix.0", "scan"): ["error"],
        ("PIX", "pix.none", "scan"): ["skipped"],
        ("PIX", "pix.0", "lint"): ["failure"],
        ("PQF", "pqf.0", "read"): ["failure"],
        ("PIX", "pix.0", "decode"): ["skipped", "system-out"],
        ("expectations", "expectations", "plain"): ["failure"],
    }
    assert expected == {key: cases[key] for key in expected}


# ------------------------------------------------------------------------------------------------ Markdown


def html_of(markdown: str) -> str:
    return str(MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown))


class Tags(HTMLParser):
    """The tags of a page, with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_markdown_lets_no_text_of_files_be_markup() -> None:
    text = rendered(wicked(), FormatName.MARKDOWN)
    page = Tags(html_of(text))

    own = re.compile("h[2-4]|p|ul|li|table|thead|tbody|tr|th|td|code|strong|em")
    assert all(own.fullmatch(tag) for tag, _ in page.tags)
    assert all(not attributes for _, attributes in page.tags)
    outside = re.sub(r"(`+).*?\1", "", text)  # what is in no code span
    assert "@everyone" not in outside
    assert "https://" not in outside
    assert "www." not in outside
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\x85\u2028\u202e\udc80-\udcff]", text)
    assert "</script><script>alert(1)</script>" in page.text
    widths = {line.count("|") - line.count("\\|") for line in text.splitlines() if line.startswith("| ")}
    assert widths <= {4, 5, 6, 7, 8, 9, 10, 11}


def test_markdown_groups_by_rule_and_shows_the_first_three() -> None:
    report = museum()
    text = rendered(report, FormatName.MARKDOWN)
    by_rule: dict[str, int] = {}
    for file in report.files:
        for finding in file.findings:
            by_rule[finding.rule] = by_rule.get(finding.rule, 0) + (not finding.known)

    for rule, count in by_rule.items():
        part = text.partition(f"#### {rule} ")[2].partition("\n####")[0].partition("\n###")[0]
        assert min(count, 3) == len(re.findall(r"^- `", part, re.MULTILINE)), rule
        assert (count > 3) == (f"and {count - 3:,} further finding" in part)
    assert "1 known, which do not count" in text
    assert "- `lost.parquet`: not judged: killed" in text


def test_markdown_is_cut_below_what_github_takes_and_says_so() -> None:
    report = wicked()
    (first,) = report.files[0].findings
    files = [
        dataclasses.replace(
            report.files[0],
            path=f"{rule}{'x' * 400}",
            findings=[dataclasses.replace(first, rule=f"X{rule:04}-001", path="y" * 450, message="z" * 500)],
        )
        for rule in range(2000)
    ]
    text = rendered(dataclasses.replace(report, files=files, summary=summarise(files)), FormatName.MARKDOWN)

    assert 900_000 < len(text.encode()) <= render_markdown.GREATEST_SIZE
    assert re.search(r"^\*\*[\d,]+ of [\d,]+ parts are missing here\*\*", text.splitlines()[-1])


# ----------------------------------------------------------------------------------------- the command report


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "report.json"
    path.write_text(museum().to_json())
    return path


@pytest.mark.parametrize("name", FormatName)
def test_the_command_prints_what_a_check_prints(name: FormatName, written: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ["report", str(written), "-v", "--values", "--format", name.value]
    printed = run(app, command)
    saved = run(app, [*command, "--output", str(out)])

    assert (0, 0, "") == (printed.exit_code, saved.exit_code, saved.output)
    expected = f"{museum().to_json()}\n" if name is FormatName.JSON else rendered(museum(), name)
    assert expected == printed.stdout
    assert expected == out.read_text("utf-8")


def test_check_prints_each_format_and_keeps_its_exit_code(tmp_path: Path) -> None:
    path = tmp_path / "bad.parquet"
    path.write_bytes(Idx1File(payload=b"Lima").build())
    report = pqassay.check(str(path), tier="index")
    for name in RENDERED:
        result = run(app, ["check", str(path), "-v", "--values", "--tier", "index", "--format", name.value])
        assert (report.exit_code, rendered(report, name)) == (result.exit_code, result.stdout)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing.json"], "missing.json: No such file"),
        (["{report}", "--output", "{report}"], "this is the input report"),
        (["{report}", "--site", "example.org"], "not an address"),
        (
            ["{report}", "--against", "{report}", "--format", "sarif"],
            "--against compares in the formats text, json, markdown",
        ),
        (["-", "--against", "-"], "both reports cannot come from stdin"),
    ],
)
def test_wrong_usage_of_report_exits_2(arguments: list[str], words: str, written: Path) -> None:
    result = run(app, ["report", *(word.replace("{report}", str(written)) for word in arguments)])

    assert 2 == result.exit_code
    assert words in result.stderr


def test_a_report_can_come_from_stdin() -> None:
    result = run(app, ["report", "-v", "-"], input=museum().to_json())

    assert (0, rendered(museum(), FormatName.TEXT)) == (result.exit_code, result.stdout)


def test_the_site_is_linked_where_it_is_told(written: Path) -> None:
    text = run(app, ["report", str(written), "--format", "html", "--site", "https://example.org"]).stdout

    assert 'href="https://example.org/spec/bloom.html#blm-004"' in text


def test_the_guide_describes_every_format_of_report() -> None:
    guide = (GUIDES / "report.md").read_text("utf-8")

    assert {name.value for name in FormatName} <= set(re.findall(r"^\| `([a-z]+)`", guide, re.MULTILINE))
