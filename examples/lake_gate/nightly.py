"""The nightly job: write, check the tables, keep the findings, plan what to do, and fail if anything is broken that nobody knows of.

    python nightly.py --night 2026-11-20 [--labels] [--accept]

What is checked, how deep, and what counts is said in pqassay.toml; what is known, in known.json.  The job leaves

    findings/run=<night>/findings.parquet   every finding of the night, with its owner: one table over all nights
    report/report.json, report/summary.md   the report, for programs and for people
    report/plan/                            the quarantine list and the statements that mend it

and ends with the exit status of `pqassay check`.  ``--accept`` accepts what is broken, by the software that wrote it: known.json is
written anew, so that its findings are known on the nights to come.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# The type stubs of pyarrow leave parts of what is used here unknown.
from __future__ import annotations

import argparse
import datetime as dt
import sys
import tomllib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from writers import load_labels, load_prices  # type: ignore[import-not-found]  # beside this file

import pqassay
from pqassay.baseline import Baseline
from pqassay.repair.model import Plan
from pqassay.repair.planning import plan_of
from pqassay.repair.reports import of_report
from pqassay.repair.writing import write_plan
from pqassay.report.model import Report

KNOWN = Path("known.json")
REPORT = Path("report", "report.json")
FINDINGS = Path("findings")


def check() -> Report:
    """Check what pqassay.toml names, as `pqassay check` does; the report is kept for programs."""
    gate = tomllib.loads(Path("pqassay.toml").read_text())["check"]
    report = pqassay.check(
        gate["paths"],
        tier=gate["tier"],
        fail_on=gate["fail-on"],
        preview=gate["preview"],
        baseline=KNOWN if KNOWN.exists() else None,
    )
    REPORT.parent.mkdir(exist_ok=True)
    REPORT.write_text(report.to_json())
    return report


def planned(report: Report) -> Plan | None:
    """The plan of the night, known findings included; `None` where nothing is broken."""
    found = of_report(report, str(REPORT), with_known=True)
    if not any(file.findings for file in found.files):
        return None
    plan = plan_of(found)
    write_plan(plan, REPORT.parent / "plan")
    return plan


def append_findings(report: Report, plan: Plan | None, night: str) -> None:
    """Add the findings of the night to those of all nights; a night that runs again replaces its own."""
    owners = {file.path: file.owner for file in plan.files} if plan is not None else {}
    rows = [
        {
            "path": file.path,
            "created_by": file.created_by,
            "owner": owners.get(file.path),
            "rule": one.rule,
            "verdict": one.verdict,
            "could": one.could,
            "column": one.column,
            "count": one.count,
            "known": one.known,
        }
        for file in report.files
        for one in file.findings
    ]
    texts = ("path", "created_by", "owner", "rule", "verdict", "could", "column")
    kinds: dict[str, pa.DataType] = {
        **dict.fromkeys(texts, pa.string()),
        "count": pa.int64(),
        "known": pa.bool_(),
    }
    schema = pa.schema(kinds)
    folder = FINDINGS / f"run={night}"
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, schema), folder / "findings.parquet")


def counted(count: int, noun: str) -> str:
    """A number of things."""
    return f"{count} {noun}{'s' * (count != 1)}"


def summary(report: Report, plan: Plan | None) -> str:
    """The night in Markdown, short enough for the page of a build."""
    counts = report.summary
    lines = [
        f"### {counts.files} files: {counts.nonconformant} nonconformant, {counts.errored} not judged; {counts.known} known findings",
        "",
    ]
    owners = {file.path: file for file in plan.files} if plan is not None else {}
    new = [(file, one) for file in report.files for one in file.findings if report.is_counted(one)]
    if new:
        lines += ["| File | Rule | What it costs | Writer | Owner |", "| --- | --- | --- | --- | --- |"]
    for file, one in new:
        owner = (owners[file.path].owner if file.path in owners else None) or "the table does not say"
        cells = (f"`{file.path}`", one.rule, one.could, file.created_by or "", owner)
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    if plan is not None:
        files = counted(len(plan.files), "file")
        statements = counted(sum(len(step.statements) for step in plan.steps), "statement")
        lines += [
            "",
            f"{files} in quarantine (`report/plan/quarantine.csv`), {statements} to mend them (`report/plan/repair.sql`)",
        ]
    return "\n".join([*lines, ""])


def main(arguments: list[str]) -> int:
    """Do the night's work."""
    yesterday = str(dt.datetime.now(dt.UTC).date() - dt.timedelta(days=1))
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--night", default=yesterday, help="YYYY-MM-DD")
    parser.add_argument("--labels", action="store_true", help="the second job runs as well")
    parser.add_argument(
        "--accept", action="store_true", help="write known.json anew, by writer; write nothing else"
    )
    options = parser.parse_args(arguments)
    if options.accept:
        Baseline.of(check(), KNOWN, by_writer=True).write()
        return 0

    load_prices(options.night)
    if options.labels:
        load_labels(options.night)
    report = check()
    plan = planned(report)
    append_findings(report, plan, options.night)
    text = summary(report, plan)
    (REPORT.parent / "summary.md").write_text(text)
    print(text)
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
