"""The parts of ``pqassay check`` for ``--history``, ``--metrics`` and ``--since last``."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import typer

from pqassay.cli.check.options import Request
from pqassay.errors import UsageError
from pqassay.report.model import Finding, Report
from pqassay.report.redaction import without_values
from pqassay_spec.base.sources import write_whole

if TYPE_CHECKING:
    from pqassay.judge.checker import CheckPlan
    from pqassay.judge.selection.since import Since
    from pqassay_lake.owners import Owners

Record = Callable[["CheckPlan", Report], None]


def recording(request: Request, started: dt.datetime, *, is_partial: bool = False) -> Record:
    """A function that records the outcome of a check; an invalid name of a history is an error before files are judged.

    Args:
        request: The options with the history and the metrics.
        started: The start time of the check.
        is_partial: Whether only some files are judged for a reason outside ``request``.

    Raises:
        UsageError: The outcome cannot be recorded there.
    """
    if request.metrics is not None and not request.metrics.absolute().parent.is_dir():
        raise UsageError(f"--metrics {request.metrics}: there is no folder {request.metrics.parent}")
    kept = None
    if request.history is not None:
        from pqassay_lake.history.stores import history_at

        kept = history_at(request.history)

    def record(plan: CheckPlan, report: Report) -> None:
        from pqassay_lake.owners import Owners

        owners = Owners(plan.targets, [file.path for file in report.files if file.findings or file.error])
        if request.metrics is not None:
            _write_metrics(request, report, started, owners)
        if kept is not None:
            from pqassay_lake.history.run import Run, rows_of

            run = Run.begun(started, request.scope, partial=is_partial or request.is_partial)
            if not request.options.get("values"):
                report = without_values(report, request.salt)
            kept.append(run.id, rows_of(report, run, owners, _versions(plan)))
            typer.echo(f"history: {run.id} appended to {request.history}", err=True)
            _warn_of_itself(plan, str(request.history))

    return record


def _warn_of_itself(plan: CheckPlan, history: str) -> None:
    """Warn that the files of the history itself are checked, and that their number grows with each run."""
    folder = os.path.abspath(history.removeprefix("delta:"))
    below = f"{folder}{os.sep}"
    own = sum(not one.store and os.path.abspath(one.path).startswith(below) for one in plan.targets)
    if own:
        typer.echo(
            f"note: {own:,} of the files that were checked {'is' if own == 1 else 'are'} the history's own; --exclude {os.path.basename(folder)} leaves them out",
            err=True,
        )


def _versions(plan: CheckPlan) -> dict[str, int]:
    from pqassay.judge.selection.tables import version_of

    tables = [target.table for target in plan.targets if target.table is not None and target.is_table]
    found = {table.name: version_of(table) for table in tables}
    return {name: version for name, version in found.items() if version is not None}


def _write_metrics(request: Request, report: Report, started: dt.datetime, owners: Owners) -> None:
    from pqassay_lake.metrics import metrics_of

    if request.metrics is None:
        return

    def owner(finding: Finding) -> str | None:
        found = owners.of_finding(finding)
        return None if found is None else found.name

    metrics = metrics_of(report, started.timestamp(), owner)
    is_json = request.metrics.suffix == ".json"
    text = f"{metrics.to_json()}\n" if is_json else metrics.to_openmetrics()
    try:
        write_whole(request.metrics, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise UsageError(f"--metrics {request.metrics}: {error.strerror or error}") from None


def since_last_run(history: str, scope: str) -> Since:
    """The meaning of ``--since last``: for each table, the state that the last run of a history judged."""
    from pqassay.judge.selection.since import Since
    from pqassay_lake.history.stores import history_at
    from pqassay_lake.history.views import last_versions

    return Since(by_table=last_versions(history_at(history), scope))
