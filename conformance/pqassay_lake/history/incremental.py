"""A check that reuses the verdicts of a findings table for unchanged files, and writes the table again."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from pathlib import Path

from pqassay.errors import UsageError
from pqassay.judge.checker import CheckPlan, Work
from pqassay.judge.one_file import Judged
from pqassay.report.model import Report
from pqassay_lake.history import findings_table
from pqassay_lake.history.file_stamps import stamps
from pqassay_lake.history.findings_table import FileState, Row
from pqassay_lake.history.verdict_cache import VerdictCache, state_of


class Keeper:
    """A check that keeps a findings table: takes verdicts from it, and writes it.

    Args:
        plan: The plan to judge.
        table: The folder of the table.
        work: The workers, which judge the files without a reusable verdict.
        started: The start of the run, before the search for files, in nanoseconds since 1970.
        is_reused: Whether to reuse the table's verdicts on unchanged files.

    Raises:
        UsageError: The table cannot be at this place, or cannot be read.
    """

    def __init__(self, plan: CheckPlan, table: Path, work: Work, *, started: int, is_reused: bool) -> None:
        findings_table.require_place(table, plan.found.roots, (target.path for target in plan.targets))
        self._plan, self._table, self._work, self._started = plan, table, work, started
        self._current = stamps(plan.targets)
        self._kept: dict[int, Row] = {}
        if is_reused:
            cache = VerdictCache(table, plan.settings)
            self._kept = cache.all_kept(plan.targets, self._current, work.etags)
        self._states: dict[int, FileState] = {}

    def verdicts(self, positions: Sequence[int]) -> Generator[Judged]:
        """Yield the verdicts on targets, in order, reusing earlier verdicts that are still valid.

        Args:
            positions: Positions of the targets.
        """
        rest = [self._plan.targets[position] for position in positions if position not in self._kept]
        with closing(self._work.judge(self._plan, rest, wants_etags=True)) as fresh:
            for position in positions:
                if (row := self._kept.get(position)) is not None:
                    self._states[position] = row.state
                    yield row.report, row.coverage
                else:
                    (report, coverage), etag = next(fresh)
                    self._states[position] = state_of(
                        self._current[position], report, etag, started=self._started
                    )
                    yield report, coverage

    def write(self, report: Report, positions: Sequence[int]) -> None:
        """Write the table.

        Args:
            report: The report, or a part of it.
            positions: The positions of the targets of its files.

        Raises:
            UsageError: The table cannot be written; the old table stays unchanged.
        """
        states = [self._states[position] for position in positions]
        try:
            findings_table.write(self._table, report, states, self._plan.settings)
        except OSError as error:
            raise UsageError(
                f"{self._table}: the table cannot be written: {error.strerror or error}"
            ) from None

    @property
    def note(self) -> str:
        """A sentence about reused verdicts; empty if there are none."""
        kept = len(self._kept.keys() & self._states.keys())
        total = len(self._states)
        return (
            f"{kept:,} of {total:,} verdicts taken from the table: those files did not change" if kept else ""
        )
