"""Index the files of a task one after the other, on an executor.

Each file is old or new at any moment, never half, because `pqassay_reference.rewrite.embed` replaces it as a whole.  If a file
cannot be indexed, the outcome is a reason; no content of a file ends the task.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from pqassay_reader.lake import index_table
from pqassay_reader.lake.index_table import Entry
from pqassay_reference.columns.column_values import read_distinct_values
from pqassay_reference.rewrite.embed import embed_columns
from pqassay_reference.rewrite.finished_file import ChangedError, WrittenState
from pqassay_spark.index.entries import Settings, Work, entries_of, trusted_values, unknown_columns
from pqassay_spark.index.file_work import FileOutcome, Outcome, answered, outcomes_of
from pqassay_spec.base.sources import FileSource

FLUSH_SECONDS = 20.0
"""Seconds after which new entries are written into the table, so that a kill loses little."""

FLUSH_CHARACTERS = 32 << 20
"""Characters of new values after which they are also written, so that they do not fill the memory."""

PARTS_PER_TASK = 100
"""Greatest number of parts that a task writes; their numbers replace the task's own."""


def index_task(settings: Settings, number: int, files: Sequence[Work]) -> list[FileOutcome]:
    """Index the files of a task, and write their entries into the table.

    Raises:
        OSError: The table cannot be written.
    """
    outcomes: list[FileOutcome] = []
    entries: list[Entry] = []
    flushed = 0
    since, characters = time.monotonic(), 0

    def flush() -> None:
        nonlocal flushed, since, characters
        if entries and settings.table is not None:
            part = number * PARTS_PER_TASK + flushed
            index_table.write_part(settings.table, settings.run, part, entries)
            flushed += 1
        entries.clear()
        since, characters = time.monotonic(), 0

    for file in files:
        done, found = index_one(settings, file)
        outcomes += done
        entries += found
        characters += sum(len(value) for entry in found for value in entry.values)
        is_due = characters > FLUSH_CHARACTERS or time.monotonic() - since > FLUSH_SECONDS
        if is_due and flushed < PARTS_PER_TASK - 1:
            flush()
    flush()
    return outcomes


def index_one(settings: Settings, file: Work) -> tuple[list[FileOutcome], list[Entry]]:
    """Index one file; return the outcome under each of its names, and its entries of the table."""

    def attempt() -> tuple[list[FileOutcome], list[Entry]]:
        if file.store:
            from pqassay_spark.index.stored_file import index_stored  # noqa: PLC0415 - most files are local

            outcome, entries = index_stored(settings, file)
        else:
            outcome, entries = _index(settings, file)
        return outcomes_of(file.names, outcome), entries

    return answered(attempt, lambda reason: (outcomes_of(file.names, Outcome.REFUSED, reason), []), file.path)


def _index(settings: Settings, file: Work) -> tuple[Outcome, list[Entry]]:
    first = settings.columns[0]
    if not settings.force:
        with FileSource(file.path) as source:
            before = os.fstat(source.fileno())
            found = trusted_values(source, first)
            _require_unchanged(before, os.fstat(source.fileno()))
        if found is not None:
            state = WrittenState(before.st_size, before.st_mtime_ns)
            read = [
                found if column == first else read_distinct_values(file.path, column, settings.limit)
                for column in unknown_columns(settings, file, state)
            ]
            if read:
                _require_unchanged(before, os.stat(file.path))  # noqa: PTH116 - paths stay the text that they are
            return Outcome.FRESH, entries_of(settings, file, state, read)
    done = embed_columns(
        file.path, settings.columns, inside_table=settings.inside_table, limit=settings.limit
    )
    return Outcome.INDEXED, entries_of(settings, file, done.state, done.columns)


def _require_unchanged(before: os.stat_result, after: os.stat_result) -> None:
    first, second = ((one.st_ino, one.st_size, one.st_mtime_ns) for one in (before, after))
    if first != second:
        raise ChangedError("it changed while it was read")
