"""Reports for the tests of what renders them: real ones, and ones whose names and values fight back."""

from __future__ import annotations

import dataclasses
import io
from functools import cache

import pqassay
from idx1_files import Idx1File
from places import GOLDEN_FILES, ROOT
from pqassay.report.baseline_state import BaselineState, StaleEntry
from pqassay.report.formats import OF_RUNS, FormatName
from pqassay.report.model import FileReport, Ignored, Report, Untested, summarise
from pqassay.report.rendering import write_report
from pqassay.report.run.model import (
    Driver,
    Exposure,
    NotAsked,
    Problem,
    QueryResult,
    Result,
    RunLimits,
    RunReport,
    RunSummary,
    scores,
)
from pqassay.report.run.outcomes import counts

RENDERED = [name for name in FormatName if name is not FormatName.JSON]
"""Formats of the report of a check that are made from its JSON."""

RENDERED_OF_RUNS = [name for name in OF_RUNS if name is not FormatName.JSON]
"""The same of the result of a run."""

WICKED = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><b>&amp;]]>',
    "a|b`c``d*e_f_[g](javascript:alert(1))",
    "@everyone https://example.com/ www.example.com #1 <!-- -->",
    "line\nbreak\r\x00\x01\x1b[31m\x85\u2028\ufffe\u202e",
    "\udcff surrogate",
    "{{ 7 * 7 }} {% raw %} %s {0}",
    " lead and trail ",
    "日本 é 🎉",
    "::error::owned",
]
"""Names of columns and files, and values, that are markup, control characters or worse."""


@cache
def museum() -> Report:
    """A check of real broken files, with a known finding and stale entries, an errored file and notes."""
    folder = GOLDEN_FILES / "blm"
    report = pqassay.check(str(folder), tier="index")
    first = next(file for file in report.files if file.outcome == "nonconformant")
    files = [
        dataclasses.replace(
            first,
            findings=[dataclasses.replace(each, known=True) for each in first.findings],
            outcome="conformant",
        ),
        *(file for file in report.files if file is not first),
        dataclasses.replace(
            first, path="lost.parquet", outcome="errored", error="killed", findings=[], notes=["a note"]
        ),
    ]
    files = [dataclasses.replace(file, path=file.path.removeprefix(f"{ROOT}/")) for file in files]
    files = [
        dataclasses.replace(
            file, findings=[dataclasses.replace(each, path=file.path) for each in file.findings]
        )
        for file in files
    ]
    state = BaselineState("known.json", 1, 0, [StaleEntry("gone.parquet", "BLM-001", "the file is gone")])
    return dataclasses.replace(report, files=files, summary=summarise(files, report.ignored), baseline=state)


@cache
def wicked() -> Report:
    """A check whose every text is one of `WICKED`."""
    report = pqassay.check(Idx1File(payload=b"Peru\nSingapura").build())
    (bad,) = report.files
    (finding,) = bad.findings
    files: list[FileReport] = []
    for text in WICKED:
        at = [dataclasses.replace(finding.at[0], field=text, expected=text, actual=text)]
        rows = [finding.hexdump[0], f"{' ' * 10}^^  {text}", text]
        changed = dataclasses.replace(
            finding, path=text, column=text, message=text, remedy=text, explanation=text, hexdump=rows, at=at
        )
        files.append(dataclasses.replace(bad, path=text, findings=[changed], created_by=text, notes=[text]))
        files.append(dataclasses.replace(bad, path=f"{text}2", outcome="errored", error=text, findings=[]))
    ignored = [Ignored(text, 1, [text]) for text in WICKED]
    (key,) = report.coverages
    coverage = dataclasses.replace(
        report.coverages[key],
        not_checked={
            "IDX1-001": Untested("file", WICKED[0]),
            "BLM-021": Untested("tool", WICKED[5]),
            WICKED[3]: Untested("request", WICKED[1]),
        },
    )
    state = BaselineState(WICKED[0], 0, 0, [StaleEntry(text, text, text, text) for text in WICKED])
    return dataclasses.replace(
        report,
        files=files,
        ignored=ignored,
        coverages={key: coverage},
        baseline=state,
        profile=WICKED[1],
        summary=summarise(files, ignored),
    )


def sayable(text: str) -> str:
    """A text without lone surrogates, which neither values nor causes have."""
    return text.encode("utf-8", "replace").decode()


def run_report(texts: list[str] | None = None) -> RunReport:
    """A run with every outcome; its texts are those that are given."""
    texts = texts or ["plain"]
    results = [
        Result("hello", "", "hello", "protocol error", "no answer", stderr="Traceback\nboom"),
        Result("idx1/right", "IDX1", "decode", "passed", rules=["IDX1-001"]),
        Result("idx1/none", "IDX1", "lint", "unsupported", "not supported (exit status 3)"),
        Result("pix/none", "PIX", "scan", "inherited", "equally wrong about its valid parent"),
    ]
    for number, text in enumerate(texts):
        results += [
            Result(
                f"idx1/{text}",
                "IDX1",
                "decode",
                "failed",
                text,
                ["IDX1-003", "IDX1-016"],
                text,
                text,
                title=text,
                effect=text,
                severity=3,
                cause=f"decode of IDX1: {sayable(text)}",
            ),
            Result(
                f"pix/{number}",
                "PIX",
                "scan",
                "crashed",
                text,
                None,
                stderr=f"{text}\n{text}",
                title=text,
                effect=text,
                severity=5,
                cause=f"crash: {sayable(text)}",
                query=QueryResult(["=", sayable(text), sayable(text)], [text], 16, 1, "by the index"),
            ),
            Result(
                f"pqf/{number}",
                "PQF",
                "read",
                "refused by accident",
                text,
                reader_rules=[text],
                severity=6,
                cause=f"refusal: {sayable(text)}",
                first_difference=text,
            ),
            Result(
                f"pix/{number}",
                "PIX",
                "lint",
                "no credit",
                text,
                ["PIX-012"],
                title=text,
                effect=text,
                cause=f"lint of PIX: {sayable(text)}",
            ),
            Result(f"pix/{number}", "PIX", "decode", "failed", text, known=True, title=text, effect=text),
        ]
    return RunReport(
        schema_version=2,
        kind="run",
        pqassay=pqassay.__version__,
        protocol=2,
        rules_sha256="0" * 64,
        suite_sha256="1" * 64,
        golden_files_sha256="2" * 64,
        driver=Driver(
            ["python3", texts[0]],
            "3" * 64,
            shipped=None,
            name=texts[0],
            version="1.0",
            language=texts[-1],
            capabilities=["idx1.decode"],
            serve=True,
            nan="unordered",
            zeros="equal",
        ),
        limits=RunLimits(10.0, 4 << 30),
        results=results,
        scores=scores(results),
        problems=[Problem(text, text) for text in texts],
        summary=RunSummary(9, len(results), counts([each.outcome for each in results]), len(texts)),
        expectations_sha256="4" * 64,
        exposures=[
            Exposure(f"sta/{text}", "STA", "rows lost", 16, 2, ["=", text, sayable(text)], text)
            for text in texts
        ],
        not_asked=[NotAsked(text, 3) for text in texts],
        index_left_aside=2,
        options=["--timeout", "3"],
    )


def rendered(report: Report | RunReport, name: FormatName) -> str:
    """A report as text of a format, with every detail."""
    stream = io.StringIO()
    write_report(report, name, stream, values=True, verbose=True)
    return stream.getvalue()


def lines_of_files(report: Report) -> list[int]:
    """How many lines the text of a report has about each of its files with findings, if that were the only one."""
    counts_of_lines: list[int] = []
    for file in report.files:
        if file.findings:
            stream = io.StringIO()
            write_report(dataclasses.replace(report, files=[file]), FormatName.TEXT, stream)
            counts_of_lines.append(len(stream.getvalue().splitlines()))
    return counts_of_lines


def samples() -> dict[str, Report | RunReport]:
    """Every report that each format has to render."""
    return {
        "museum": museum(),
        "wicked": wicked(),
        "good": pqassay.check(Idx1File().build()),
        "run": run_report(),
        "wicked run": run_report(WICKED),
    }
