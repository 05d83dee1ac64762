"""Verdicts of an earlier run that still hold: those on files that have not changed since, judged in the same way.

A file counts as unchanged if its length and times are the same, and also those of the neighboring files that
were read.  An object that was rewritten with the same content has another time; its etag tells that it is the
same.  A verdict is not reused if the file changed so shortly before it was judged that a further change might
have the same time.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pqassay.judge.one_file import Settings
from pqassay.report.model import UNJUDGED, FileReport, Threshold, outcome_of
from pqassay.stores.targets import Target
from pqassay_lake.history.file_stamps import Stamp
from pqassay_lake.history.findings_table import FileState, Row, read

Etags = Callable[[Sequence[Target]], Sequence[str | None]]
"""Asks for the etags of some objects, in order; ``None`` where there is none."""

SETTLED = 2_000_000_000
"""Nanoseconds after which a change is distinguished from the one before, in every file system and store."""


def is_settled(stamp: Stamp, started: int) -> bool:
    """True if a change after the stamp was taken would show in it.

    Args:
        stamp: The stamp.
        started: When the run began, in nanoseconds since 1970; the stamp was taken later.
    """
    return stamp.size >= 0 and stamp.youngest is not None and stamp.youngest < started - SETTLED


def state_of(stamp: Stamp, report: FileReport, etag: str | None, *, started: int) -> FileState:
    """The claims of a table about a file beside the verdict on it.

    Args:
        stamp: The stamp that was taken before it was judged.
        report: The verdict.
        etag: The etag that an object had before that.
        started: When the run began, in nanoseconds since 1970.
    """
    is_reusable = (
        report.outcome not in UNJUDGED and report.size == stamp.size and is_settled(stamp, started=started)
    )
    return FileState(stamp.modified, stamp.beside, etag, is_reusable, started // 1000, stamp.ctime)


class VerdictCache:
    """The verdicts of a table.

    Args:
        table: The folder of the table, which need not exist.
        settings: How this run judges; verdicts of another way are not there.

    Raises:
        UsageError: It is not a findings table.
    """

    def __init__(self, table: Path, settings: Settings) -> None:
        self._level: Threshold = settings.level
        self._rows: Mapping[str, Row] = {
            row.report.path: row for row in read(table, settings) if row.state.is_reusable
        }

    def __len__(self) -> int:
        return len(self._rows)

    def all_kept(self, targets: Sequence[Target], current: Sequence[Stamp], etags: Etags) -> dict[int, Row]:
        """The verdicts that still hold, by the position of the target.

        Args:
            targets: The files.
            current: Their stamps.
            etags: Asks for the etags of objects whose time has changed.
        """
        kept: dict[int, Row] = {}
        doubtful: dict[int, Row] = {}
        if not len(self):
            return kept
        for position, (target, stamp) in enumerate(zip(targets, current, strict=True)):
            if (row := self.kept(target, stamp)) is not None:
                kept[position] = row
            elif (row := self.kept_by_etag(target, stamp)) is not None:
                doubtful[position] = row
        found = etags([targets[position] for position in doubtful])
        still = zip(doubtful.items(), found, strict=True)
        return kept | {position: row for (position, row), one in still if one == row.state.etag}

    def kept(self, target: Target, stamp: Stamp) -> Row | None:
        """The verdict on a file that has not changed by length and time; ``None`` if there is none."""
        row = self._row(target, stamp)
        if row is None or stamp.modified is None:
            return None
        if (stamp.modified, stamp.ctime) != (row.state.modified, row.state.ctime):
            return None
        return self._as_judged(row)

    def kept_by_etag(self, target: Target, stamp: Stamp) -> Row | None:
        """The verdict on an object of another time, which holds if the object still has the etag of the row."""
        row = self._row(target, stamp)
        if row is None or not target.store or not row.state.etag:
            return None
        state = dataclasses.replace(row.state, modified=stamp.modified)
        return dataclasses.replace(self._as_judged(row), state=state)

    def _row(self, target: Target, stamp: Stamp) -> Row | None:
        """The row of the table on a file of this length and with the same beside it."""
        row = self._rows.get(target.name)
        if row is None or target.trouble or row.report.kind != target.kind:
            return None
        is_same = (row.report.size, row.state.beside) == (stamp.size, stamp.beside)
        return row if is_same else None

    def _as_judged(self, row: Row) -> Row:
        """A verdict as the judge gave it: what a baseline knew is for this run's baseline to say."""
        report = dataclasses.replace(
            row.report, outcome=outcome_of(row.report.findings, row.report.gaps, self._level)
        )
        return dataclasses.replace(row, report=report)
