"""What a check leaves behind beside its report: a run in a history, and metrics."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import typer

from pqassay.cli.check.options import Wanted
from pqassay.errors import UsageError
from pqassay.report.model import Finding, Report
from pqassay_spec.base.sources import write_whole

if TYPE_CHECKING:
    from pqassay.judge.checker import Plan
    from pqassay.judge.owners import Owners

Record = Callable[["Plan", Report], None]


def recording(wanted: Wanted, started: dt.datetime, *, is_partial: bool = False) -> Record:
    """What records the outcome of a check; whether a history can be named so is known before anything is judged.

    Args:
        wanted: Where it is to be recorded.
        started: When the check began.
        is_partial: Whether only some of the files are judged, for a reason that is not in ``wanted``.

    Raises:
        UsageError: It cannot be recorded there.
    """
    if wanted.history is None and wanted.metrics is None:
        return lambda _plan, _report: None
    if wanted.metrics is not None and not wanted.metrics.absolute().parent.is_dir():
        raise UsageError(f"--metrics {wanted.metrics}: there is no folder {wanted.metrics.parent}")
    kept = None
    if wanted.history is not None:
        from pqassay.history.stores import history_at

        kept = history_at(wanted.history)

    def record(plan: Plan, report: Report) -> None:
        from pqassay.judge.owners import Owners

        owners = Owners(plan.targets, [file.path for file in report.files if file.findings or file.error])
        if wanted.metrics is not None:
            _write_metrics(wanted, report, started, owners)
        if kept is not None:
            from pqassay.history.run import Run, rows_of

            run = Run.begun(started, wanted.scope, partial=is_partial or wanted.is_partial)
            kept.append(run.id, rows_of(report, run, owners, _versions(plan)))
            typer.echo(f"history: {run.id} appended to {wanted.history}", err=True)
            _warn_of_itself(plan, str(wanted.history))

    return record


def _warn_of_itself(plan: Plan, history: str) -> None:
    """Say that the files of a history are among those that were checked, which are more every night."""
    folder = os.path.abspath(history.removeprefix("delta:"))
    below = f"{folder}{os.sep}"
    own = sum(not one.store and os.path.abspath(one.path).startswith(below) for one in plan.targets)
    if own:
        typer.echo(
            f"note: {own:,} of the files that were checked {'is' if own == 1 else 'are'} the history's own; --exclude {os.path.basename(folder)} leaves them out",
            err=True,
        )


def _versions(plan: Plan) -> dict[str, int]:
    from pqassay.judge.selection.tables import version_of

    tables = [target.table for target in plan.targets if target.table is not None and target.is_table]
    found = {table.name: version_of(table) for table in tables}
    return {name: version for name, version in found.items() if version is not None}


def _write_metrics(wanted: Wanted, report: Report, started: dt.datetime, owners: Owners) -> None:
    from pqassay.report.metrics import metrics_of

    if wanted.metrics is None:
        return

    def owner(finding: Finding) -> str | None:
        found = owners.of_finding(finding)
        return None if found is None else found.name

    metrics = metrics_of(report, started.timestamp(), owner)
    is_json = wanted.metrics.suffix == ".json"
    text = f"{metrics.to_json()}\n" if is_json else metrics.to_openmetrics()
    try:
        write_whole(wanted.metrics, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise UsageError(f"--metrics {wanted.metrics}: {error.strerror or error}") from None
