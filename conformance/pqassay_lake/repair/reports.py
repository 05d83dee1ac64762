"""The part of a report that a plan needs: files and findings, from JSON or from a findings table in Parquet."""

from __future__ import annotations

import dataclasses
import json
import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pqassay.checks.commands import OURS
from pqassay.errors import UsageError
from pqassay.report.model import COUNTED, Finding, Report, counts
from pqassay.report.reading import parse
from pqassay_spec.parquet.file import MAGIC
from pqassay_spec.rules.catalogue import TIERS, Tier

COLUMNS = [
    "kind",
    "path",
    "file_kind",
    "created_by",
    "tier",
    "rule",
    "level",
    "verdict",
    "could",
    "column",
    "count",
    "known",
    "message",
    "remedy",
    "files",
    "positions",
]
"""The columns of a findings table that are read."""


@dataclass(frozen=True)
class Concerned:
    """A file or table with findings.

    Attributes:
        path: Its name.
        kind: ``parquet``, ``pm``, ``delta`` or ``iceberg``.
        findings: The findings.
        created_by: The software that wrote it.
    """

    path: str
    kind: str
    findings: list[Finding]
    created_by: str | None = None


@dataclass(frozen=True)
class Reported:
    """The files and findings of a report.

    Findings that a gate or a pin tolerates are included, since they still need repair.

    Attributes:
        name: The path of the report.
        tier: The deepest tier at which files were judged.
        files: Files and tables with findings, and all tables.
    """

    name: str
    tier: Tier
    files: list[Concerned]


def read_report(name: str, *, with_known: bool = False) -> Reported:
    """Read a report: JSON of `pqassay check` or `pqassay spark check`, or the folder or file of a findings table.

    Args:
        name: Its path.
        with_known: Whether to include findings that the baseline lists.

    Raises:
        UsageError: The file cannot be read, or is not a report.
    """
    path = Path(name)
    try:
        if path.is_dir():
            from pqassay_lake.history.findings_table import PART  # noqa: PLC0415 - it loads pyarrow

            path = path / PART
            if not path.exists():
                command = shlex.join(
                    [OURS, "check", "--format", "json", "--output", "report.json", "--", name]
                )
                raise UsageError(f"{name}: a plan is made of a report; write one by `{command}`")
        with path.open("rb") as file:
            is_parquet = file.read(len(MAGIC)) == MAGIC
        if is_parquet:
            return _of_table(path, name, with_known=with_known)
        report = parse(path.read_bytes(), name)
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror or error}") from None
    if not isinstance(report, Report):
        raise UsageError(
            f"{name}: this is a report of `pqassay suite run`; a plan is made of one of `pqassay check`"
        )
    return of_report(report, name, with_known=with_known)


def of_report(report: Report, name: str, *, with_known: bool = False) -> Reported:
    """The files and findings of a check's report. The arguments are those of `read_report`."""
    files: list[Concerned] = []
    for file in report.files:
        findings = [
            finding
            for finding in file.findings
            if counts(dataclasses.replace(finding, known=finding.known and not with_known), report.threshold)
        ]
        if findings or file.kind in ("delta", "iceberg"):
            files.append(Concerned(file.path, file.kind, findings, file.created_by))
    return Reported(name, _deepest({coverage.tier for coverage in report.coverages.values()}), files)


def _deepest(tiers: set[Tier]) -> Tier:
    return max(tiers & set(TIERS), key=TIERS.index, default="footer")


# -------------------------------------------------------------------------------------------- findings tables


def _of_table(path: Path, name: str, *, with_known: bool) -> Reported:
    import pyarrow as pa  # noqa: PLC0415 - reports in JSON do not need it
    import pyarrow.parquet as pq  # noqa: PLC0415 - as above

    from pqassay_lake.history.findings_table import METADATA_KEY  # noqa: PLC0415 - as above

    try:
        with pq.ParquetFile(path) as file:
            about = (file.schema_arrow.metadata or {}).get(METADATA_KEY)
            if about is None:
                raise UsageError(  # noqa: TRY301 - the file is closed here
                    f"{name}: this Parquet file is not a findings table; `pqassay check --reuse` writes one"
                )
            there = [column for column in COLUMNS if column in file.schema_arrow.names]
            level = json.loads(about)["settings"].get("level", "must")
            rows = (row for batch in file.iter_batches(columns=there) for row in batch.to_pylist())
            return _of_rows(rows, name, COUNTED[level], with_known=with_known)
    except UsageError:
        raise
    except (pa.ArrowException, KeyError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UsageError(f"{name}: the findings table cannot be read: {reason}") from None


def _of_rows(
    rows: Iterator[Mapping[str, Any]], name: str, counted: tuple[str, ...], *, with_known: bool
) -> Reported:
    from pqassay_lake.history.findings_table import finding_of  # noqa: PLC0415 - as above

    files: dict[str, Concerned] = {}
    tiers: set[Tier] = set()
    for row in rows:
        tiers.add(cast("Tier", row["tier"]))
        is_finding = row["kind"] == "finding"
        if is_finding and (row["verdict"] not in counted or (row["known"] and not with_known)):
            continue
        if is_finding or row["file_kind"] in ("delta", "iceberg"):
            path = os.fspath(row["path"])
            one = files.setdefault(path, Concerned(path, row["file_kind"], [], row["created_by"]))
            if is_finding:
                found = finding_of(row)
                one.findings.append(dataclasses.replace(found, known=bool(row["known"])))
    return Reported(name, _deepest(tiers), list(files.values()))
