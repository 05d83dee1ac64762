"""The metrics of a check, for dashboards and alarms: as OpenMetrics text, and as JSON with the same names.

Labels have few values for any lake: rules, verdicts, effects, and the writers and owners with the most files. Other writers and owners are
counted together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from pqassay.report.bounds import UNKNOWN
from pqassay.report.json_form import members_json
from pqassay.report.model import Finding, Outcome, Report, counts

SCHEMA_VERSION = 1

MOST_GROUPS = 50
"""The number of writers, and of owners, with their own sample."""

OTHERS = "others"


@dataclass(frozen=True)
class Sample:
    """A value with its labels."""

    labels: dict[str, str]
    value: int | float


@dataclass(frozen=True)
class Metric:
    """A gauge; ``help`` describes what it counts."""

    name: str
    help: str
    samples: list[Sample]


@dataclass(frozen=True)
class Metrics:
    """The metrics of one run of ``pqassay check``; ``at`` is its start, in seconds since 1970."""

    schema_version: int
    kind: Literal["metrics"]
    pqassay: str
    at: float
    metrics: list[Metric]

    def to_json(self, indent: int | None = 2) -> str:
        """The metrics as ASCII JSON."""
        return members_json(self, indent)

    def to_openmetrics(self) -> str:
        r"""The metrics as OpenMetrics text, which Prometheus also reads.

        >>> one = Metric("pqassay_files", "Files.", [Sample({"writer": 'a"b'}, 3)])
        >>> print(Metrics(1, "metrics", "0.8", 0.0, [one]).to_openmetrics())
        # TYPE pqassay_files gauge
        # HELP pqassay_files Files.
        pqassay_files{writer="a\"b"} 3
        # EOF
        <BLANKLINE>
        """
        lines: list[str] = []
        for metric in self.metrics:
            lines.append(f"# TYPE {metric.name} gauge")
            lines.append(f"# HELP {metric.name} {_escaped(metric.help)}")
            lines += [f"{metric.name}{_labels(sample.labels)} {sample.value}" for sample in metric.samples]
        return "\n".join([*lines, "# EOF", ""])


def metrics_of(report: Report, at: float, owner: Callable[[Finding], str | None]) -> Metrics:
    """The metrics of a report.

    Args:
        report: The report.
        at: The start of the check, in seconds since 1970.
        owner: Returns the owner of a finding; ``None`` if unknown.
    """
    files = Counter[str](file.outcome for file in report.files)
    findings = Counter(
        (finding.rule, finding.verdict, finding.could, "yes" if finding.known else "no")
        for file in report.files
        for finding in file.findings
    )
    judged = Counter(writer_of(file.created_by) for file in report.files)
    broken: Counter[str] = Counter()
    owned: Counter[str] = Counter()
    for file in report.files:
        counted = [finding for finding in file.findings if counts(finding, report.threshold)]
        if counted:
            broken[writer_of(file.created_by)] += 1
            owned.update({owner(finding) or UNKNOWN for finding in counted})
    gate_files = sum(any(map(report.is_counted, file.findings)) for file in report.files)
    not_failing = sum(report.is_not_failing(finding) for file in report.files for finding in file.findings)
    return Metrics(
        SCHEMA_VERSION,
        "metrics",
        report.pqassay,
        at,
        [
            _single("pqassay_run_timestamp_seconds", "When the check began, in seconds since 1970.", at),
            _single("pqassay_exit_code", "The exit code of the check.", report.exit_code),
            Metric(
                "pqassay_files",
                "Files and tables that were looked at, by outcome.",
                [Sample({"outcome": outcome}, files[outcome]) for outcome in _outcomes(files)],
            ),
            _single("pqassay_files_at_gate", "Files with findings that fail the check.", gate_files),
            _single(
                "pqassay_findings_not_failing",
                "Findings that do not fail the check because their rules are newer than the pinned release.",
                not_failing,
            ),
            Metric(
                "pqassay_findings",
                "Findings, by rule, verdict, worst possible effect, and whether a baseline lists them.",
                [
                    Sample({"rule": rule, "verdict": verdict, "could": could, "known": known}, count)
                    for (rule, verdict, could, known), count in sorted(findings.items())
                ],
            ),
            Metric(
                "pqassay_writer_files",
                "Files that were looked at, by the software that wrote them.",
                _by("writer", judged),
            ),
            Metric(
                "pqassay_writer_nonconformant_files",
                "Files with findings that count, by the software that wrote them.",
                _by("writer", broken, judged),
            ),
            Metric(
                "pqassay_owner_nonconformant_files",
                "Files with findings that count, by owner.",
                _by("owner", owned),
            ),
            _single(
                "pqassay_stale_baseline_entries",
                "Stale entries of the baseline.",
                0 if report.baseline is None else len(report.baseline.stale),
            ),
        ],
    )


def json_schema() -> dict[str, Any]:
    """The JSON Schema of the metrics."""
    from pydantic import TypeAdapter  # noqa: PLC0415 - only this needs it

    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Metrics of pqassay check",
        **TypeAdapter(Metrics).json_schema(),
    }


def writer_of(created_by: str | None) -> str:
    """The software and version that a footer names, without the number of its build.

    >>> writer_of("parquet-mr version 1.13.1 (build db4183109d5b734ec5930d870cdae161e408ddba)")
    'parquet-mr version 1.13.1'
    >>> writer_of(None)
    'unknown'
    """
    return (created_by or "").partition(" (build")[0].strip() or UNKNOWN


def _outcomes(files: Mapping[str, int]) -> list[str]:
    """All outcomes, including those of no file, so that alarms receive a zero instead of no value."""
    return list(dict.fromkeys([*get_args(Outcome), *files]))


def _single(name: str, about: str, value: float) -> Metric:
    return Metric(name, about, [Sample({}, value)])


def _by(label: str, tally: Counter[str], all_: Iterable[str] = ()) -> list[Sample]:
    """The samples of groups, the largest first; the smallest groups are combined, and groups without a file count 0."""
    ranked = sorted({*tally, *all_}, key=lambda name: (-tally[name], name))
    samples = [Sample({label: name}, tally[name]) for name in ranked[:MOST_GROUPS]]
    if rest := ranked[MOST_GROUPS:]:
        samples.append(Sample({label: OTHERS}, sum(tally[name] for name in rest)))
    return samples


def _labels(labels: Mapping[str, str]) -> str:
    pairs = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{pairs}}}" if pairs else ""


def _escaped(text: str) -> str:
    clean = text.encode("utf-8", "backslashreplace").decode()
    return clean.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
