"""Verdicts of an earlier run that are still valid: on unchanged files, with the same settings.

A file counts as unchanged if its length and times are the same, and also those of the neighboring files that were read. An object that was
rewritten with the same content has another time; its etag shows that it is the same. A verdict is not reused if the file changed shortly
before it was judged, since a later change might have the same time.
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
"""A function that requests the etags of some objects, in order; ``None`` for an object without one."""

SETTLED = 2_000_000_000
"""The number of nanoseconds after which any file system and store gives a change another time."""


def is_settled(stamp: Stamp, started: int) -> bool:
    """Whether any change after the stamp was taken would change the stamp.

    Args:
        stamp: The stamp.
        started: The start of the run, in nanoseconds since 1970; the stamp was taken later.
    """
    return stamp.size >= 0 and stamp.youngest is not None and stamp.youngest < started - SETTLED


def state_of(stamp: Stamp, report: FileReport, etag: str | None, *, started: int) -> FileState:
    """The state of a file to be stored beside its verdict.

    Args:
        stamp: The stamp taken before judging.
        report: The verdict.
        etag: The etag of an object before judging.
        started: The start of the run, in nanoseconds since 1970.
    """
    is_reusable = (
        report.outcome not in UNJUDGED and report.size == stamp.size and is_settled(stamp, started=started)
    )
    return FileState(stamp.modified, stamp.beside, etag, is_reusable, started // 1000, stamp.ctime)


class VerdictCache:
    """The verdicts of a table.

    Args:
        table: The folder of the table, which need not exist.
        settings: The settings of this run; verdicts with other settings are not used.

    Raises:
        UsageError: The folder is not a findings table.
    """

    def __init__(self, table: Path, settings: Settings) -> None:
        self._level: Threshold = settings.level
        self._rows: Mapping[str, Row] = {
            row.report.path: row for row in read(table, settings) if row.state.is_reusable
        }

    def __len__(self) -> int:
        return len(self._rows)

    def all_kept(self, targets: Sequence[Target], current: Sequence[Stamp], etags: Etags) -> dict[int, Row]:
        """The verdicts that are still valid, by the position of the target.

        Args:
            targets: The files.
            current: Their stamps.
            etags: Requests the etags of objects whose time has changed.
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
        """The verdict on a file with unchanged size and times; ``None`` if there is none."""
        row = self._row(target, stamp)
        if row is None or stamp.modified is None:
            return None
        if (stamp.modified, stamp.ctime) != (row.state.modified, row.state.ctime):
            return None
        return self._as_judged(row)

    def kept_by_etag(self, target: Target, stamp: Stamp) -> Row | None:
        """The verdict on an object with another time, for use if the object still has the etag of the row."""
        row = self._row(target, stamp)
        if row is None or not target.store or not row.state.etag:
            return None
        state = dataclasses.replace(row.state, modified=stamp.modified)
        return dataclasses.replace(self._as_judged(row), state=state)

    def _row(self, target: Target, stamp: Stamp) -> Row | None:
        """The row of the table for a file of this size, with the same files beside it."""
        row = self._rows.get(target.name)
        if row is None or target.trouble or row.report.kind != target.kind:
            return None
        is_same = (row.report.size, row.state.beside) == (stamp.size, stamp.beside)
        return row if is_same else None

    def _as_judged(self, row: Row) -> Row:
        """A verdict without the mark ``known``, which depends on the baseline of this run."""
        report = dataclasses.replace(
            row.report, outcome=outcome_of(row.report.findings, row.report.gaps, self._level)
        )
        return dataclasses.replace(row, report=report)
