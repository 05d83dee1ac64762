"""A check that takes over what a findings table says of files that have not changed since, and writes the table anew."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from pqassay.history import findings_table
from pqassay.history.file_stamps import etag, stamps
from pqassay.history.findings_table import FileState, Row
from pqassay.history.verdict_cache import VerdictCache, state_of
from pqassay.judge.checker import Plan, Progress, concluded
from pqassay.judge.one_file import Judged
from pqassay.lake.targets import Target
from pqassay.report.model import Report

Judge = Callable[[Sequence[Target]], Generator[Judged]]
"""Judges files, in their order."""


@dataclass(frozen=True)
class Recorded:
    """The outcome of a check that keeps a table.

    Attributes:
        report: The report.
        states: What the table says of its files beside that.
        kept: How many verdicts are those of an earlier run.
    """

    report: Report
    states: list[FileState]
    kept: int

    @property
    def note(self) -> str:
        """A sentence about verdicts that were taken over; empty where none was."""
        total = self.report.summary.files
        return (
            f"{self.kept:,} of {total:,} verdicts taken from the table: those files did not change"
            if self.kept
            else ""
        )


def recorded(
    plan: Plan,
    table: Path,
    judge: Judge,
    *,
    started: int,
    is_incremental: bool,
    progress: Progress | None = None,
) -> Recorded:
    """Carry out a plan for a findings table, which `findings_table.write` writes then.

    Args:
        plan: What is to be judged.
        table: The folder of the table.
        judge: Judges those files whose verdicts are not taken over.
        started: When the run began, before the files were found; in nanoseconds since 1970.
        is_incremental: Whether to take over what the table says now of files that have not changed.
        progress: Told about each file.

    Raises:
        UsageError: The table cannot be where it is wanted, or cannot be read.
    """
    targets = plan.targets
    findings_table.require_place(table, plan.found.roots, (target.path for target in targets))
    current = stamps(targets)
    kept: dict[int, Row] = {}
    if is_incremental:
        kept = VerdictCache(table, plan.settings).all_kept(targets, current, _etags)
    rest = [target for position, target in enumerate(targets) if position not in kept]
    # Asked for first: what changes while it is judged shall not look unchanged the next time.
    etags = iter(_etags(rest))
    states: list[FileState] = []

    def in_order() -> Generator[Judged]:
        with closing(judge(rest)) as verdicts:
            for position, stamp in enumerate(current):
                if (row := kept.get(position)) is not None:
                    states.append(row.state)
                    yield row.report, row.coverage
                else:
                    report, coverage = next(verdicts)
                    states.append(state_of(stamp, report, next(etags), started=started))
                    yield report, coverage

    with closing(in_order()) as verdicts:
        return Recorded(concluded(plan, verdicts, progress), states, len(kept))


def _etags(targets: Sequence[Target]) -> list[str | None]:
    return [etag(target) for target in targets]
