"""The rows that a run appends to a history."""

from __future__ import annotations

import datetime as dt
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from pqassay.report.model import BROKEN, COUNTED, Finding, Report
from pqassay_lake.history.columns import SCHEMA
from pqassay_lake.history.findings_table import clean
from pqassay_lake.metrics import writer_of
from pqassay_lake.owners import Owners
from pqassay_tables.metadata.owner import Owner


@dataclass(frozen=True)
class Run:
    """A run of a check.

    Attributes:
        at: The start time.
        scope: The targets of the check.
        partial: Whether only a part of the scope was judged.
        id: Its unique id; ids begin with the time, so they sort in the order of runs.
    """

    at: dt.datetime
    scope: str
    partial: bool
    id: str

    @classmethod
    def begun(cls, at: dt.datetime, scope: str, *, partial: bool = False) -> Run:
        """A run with a new id."""
        return cls(at, scope, partial, f"{at:%Y%m%dT%H%M%S.%fZ}-{secrets.token_hex(3)}")


def rows_of(report: Report, run: Run, owners: Owners, versions: Mapping[str, int]) -> pa.Table:
    """The rows that a run appends, with the columns of `pqassay_lake.history.columns`.

    Args:
        report: The report of the run.
        run: The run.
        owners: The owners of the files with findings.
        versions: The version or snapshot of each table that was judged, by its name.
    """
    rows = list(_rows(report, run, owners, versions))
    arrays = [pa.array([row.get(field.name) for row in rows], field.type) for field in SCHEMA]
    return pa.Table.from_arrays(arrays, schema=SCHEMA)


def _rows(report: Report, run: Run, owners: Owners, versions: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    common: dict[str, Any] = {
        "run": run.id,
        "at": run.at,
        "scope": run.scope,
        "partial": run.partial,
        "tier": next((one.tier for one in report.coverages.values()), None),
        "pqassay": report.pqassay,
        "rules_sha256": report.rules_sha256,
    }
    summary = report.summary
    yield {
        **common,
        "kind": "run",
        "exit_code": report.exit_code,
        "files": summary.files,
        "nonconformant": summary.broken,
        "errored": summary.errored,
    }
    outcomes = Counter((writer_of(file.created_by), file.outcome) for file in report.files)
    for writer in sorted({writer for writer, _ in outcomes}):
        yield {
            **common,
            "kind": "writer",
            "writer": writer,
            "files": sum(count for (name, _), count in outcomes.items() if name == writer),
            "nonconformant": sum(outcomes[writer, outcome] for outcome in BROKEN),
            "errored": outcomes[writer, "errored"],
        }
    for name, version in versions.items():
        yield {**common, "kind": "table", "path": clean(name), "version": str(version)}
    for file in report.files:
        about = {**common, "path": clean(file.path), "created_by": clean(file.created_by)}
        about["writer"] = clean(writer_of(file.created_by))
        if file.outcome == "errored":
            yield {
                **about,
                "kind": "file",
                "error": clean(file.error),
                **_owner(owners.of_file(file.path)),
            }
        for finding in file.findings:
            yield {**about, "kind": "finding", **_finding(finding, report)} | _owner(
                owners.of_finding(finding)
            )


def _finding(finding: Finding, report: Report) -> dict[str, Any]:
    first = finding.at[0]
    return {
        "rule": finding.rule,
        "verdict": finding.verdict,
        "could": finding.could,
        "observed": None if finding.observed is None else finding.observed.effect,
        "counts": finding.verdict in COUNTED[report.threshold],
        "known": finding.known,
        "not_failing": report.is_not_failing(finding),
        "column": clean(finding.column),
        "count": finding.count,
        "message": clean(finding.message),
        "field": clean(first.field),
        "offset": first.offset,
        "remedy": clean(finding.remedy),
        "explanation": clean(finding.explanation),
    }


def _owner(owner: Owner | None) -> dict[str, Any]:
    if owner is None:
        return {}
    at = None
    if (
        owner.at is not None and abs(owner.at) < 1 << 47
    ):  # beyond this, the number is not the time of a commit
        at = dt.datetime.fromtimestamp(owner.at / 1000, dt.UTC)
    return {
        "owner": clean(owner.name),
        "owner_job": clean(owner.job),
        "owner_engine": clean(owner.engine),
        "owner_user": clean(owner.user),
        "owner_query": clean(owner.query),
        "owner_operation": clean(owner.operation),
        "owner_commit": clean(owner.commit) or None,
        "owner_at": at,
    }
