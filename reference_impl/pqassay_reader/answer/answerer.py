"""Questions to the files of a lake, answered from their index directories, and from their rows where those do not suffice."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pads

from pqassay_reader.answer.estimates import Estimated, Estimator
from pqassay_reader.answer.known_lake import KnownLake, Progress, know_lake
from pqassay_reader.answer.ordering import SortedBy, order_of
from pqassay_reader.answer.plan import Plan, plan
from pqassay_reader.answer.question import Item, Question, parse_question
from pqassay_reader.answer.row_reading import RowReader, Rows, compared, has_floats
from pqassay_reader.answer.settling import all_of, settled, some_row_of
from pqassay_reader.answer.tally import Tally, has_sum
from pqassay_reader.condition.kinds import compared_type, find_column
from pqassay_reader.condition.rows import condition_of
from pqassay_reference.errors import Refused
from pqassay_reference.files.listing import Roots, list_files

ROWS_AT_ONCE = 1 << 20
"""Rows that are added together."""


@dataclass(frozen=True)
class Effort:
    """What it took to answer a question.

    Attributes:
        files: Files of the lake.
        files_skipped: Files in which no row satisfies the condition, by their distinct sets.
        files_from_metadata: Files that were answered without reading a row.
        files_read: Files of which rows were read.
        row_groups: Row groups of all files.
        row_groups_skipped: Those in which no row satisfies the condition, by distinct sets.
        row_groups_from_metadata: Those that zone sums answered.
        row_groups_read: Those whose rows were read.
        metadata_bytes: Bytes of footers and indexes, which are read once: when the lake is opened, and sketches when they are first asked for.
        data_bytes: Bytes of column chunks that were read for this question.
    """

    files: int
    files_skipped: int
    files_from_metadata: int
    files_read: int
    row_groups: int
    row_groups_skipped: int
    row_groups_from_metadata: int
    row_groups_read: int
    metadata_bytes: int
    data_bytes: int

    def record(self) -> dict[str, int]:
        """All of it by name."""
        return asdict(self)


@dataclass(frozen=True)
class Answer:
    """An answer.

    Attributes:
        table: The result, in the order that was asked for, and by its groups where none was.
        effort: What it took.
        estimates: Which of its columns are approximate, and within which bounds.
    """

    table: pa.Table
    effort: Effort
    estimates: tuple[Estimated, ...] = ()


class Answerer:
    """The files of a folder, opened once and asked often. See `Answerer.open`.

    Attributes:
        lake: What is known of the files, as they were when they were opened.
    """

    def __init__(self, dataset: pads.FileSystemDataset, lake: KnownLake) -> None:
        self._dataset = dataset
        self.lake = lake
        self._estimator = Estimator(lake)

    @classmethod
    def open(cls, root: Roots, *, filesystem: Any = None, progress: Progress | None = None) -> Answerer:
        """Read footers and indexes of a file, of the files of a folder or behind a URI.

        Args:
            root: As for `pqassay_reader.lake.indexed_dataset.open_indexed`.
            filesystem: Likewise.
            progress: Called with the files that were read, and how many there are.

        Raises:
            FileNotFoundError: There is no such file or folder.
            Refused: There are no Parquet files in it, or it is a Delta or Iceberg table.
            FormatError: A file is no Parquet file.
            OSError: A file cannot be read.
        """
        listed = list_files(root, filesystem, "hive")
        if not listed.paths:
            raise Refused(
                f"{os.fspath(root) if isinstance(root, str | os.PathLike) else root}: there are no Parquet files in it"
            )
        dataset = listed.dataset()
        return cls(dataset, know_lake(listed, dataset, progress))

    @property
    def aside(self) -> list[str]:
        """What was left aside of the directories, and why, one line for each."""
        lines = [f"{file.name}: {one}" for file in self.lake.files for one in file.directory.aside]
        return [*lines, *(f"{path}: {reason}" for path, reason in self.lake.unfit.items())]

    def ask(self, question: str | Question) -> Answer:
        """Answer a question.

        Args:
            question: In SQL, see `pqassay_reader.answer.question.SUPPORTED`.

        Raises:
            Refused: It is not supported, or does not fit the columns.
            Undecodable: Its pages cannot be decoded.
            OSError: A file cannot be read any more.

        Counts, sums of whole numbers and decimals, and bounds are exact.  A sum of floating point numbers is the exact sum of what is added,
        rounded once at the end: of rows, and of zone sums, each of which was rounded once itself.  An average is the exact sum divided by the
        count, rounded once.  Types are those of DuckDB: decimals of 38 digits for sums of whole numbers and decimals, doubles for averages.

        Estimates come of sketches alone, never of rows, and of their bounds as `Answer.estimates` has them.
        """
        asked = parse_question(question) if isinstance(question, str) else question
        schema = self.lake.schema
        condition = None if asked.predicate is None else condition_of(asked.predicate, schema)
        kinds = {name: _kind(schema, name) for name in (*asked.group_by, *asked.measures)}
        for one in asked.aggregates:
            if one.function in ("sum", "avg") and not has_sum(kinds[one.column or ""]):
                raise Refused(
                    f"{one.function.upper()} takes numbers; column {one.column} is {kinds[one.column or '']}"
                )
        names = list(dict.fromkeys([*asked.group_by, *asked.measures]))
        reader = RowReader(self.lake, self._dataset, names, condition)
        # What the reader may not leave to Arrow's reading of statistics is asked of them here.
        asks = bool(asked.estimates) or has_floats(condition, schema)
        known = settled(self.lake, condition, asks_statistics=asks)
        estimates = self._estimator.answer(asked, all_of(known, len(self.lake.row_counts)))
        found = plan(self.lake, asked, known)
        tally = Tally(asked.group_by, kinds, asked.aggregates)
        self._add_zones(tally, asked, found)
        rows = reader.rows(np.flatnonzero(found.read), some_row_of(known, len(self.lake.row_counts)))
        data_bytes = _add_rows(tally, rows, names)
        columns = tally.results(asked.aggregates)
        columns |= {one.asked: pa.array([one.estimate]) for one in estimates}
        return Answer(
            _in_order(asked, columns, len(tally.groups)), self._effort(found, data_bytes), tuple(estimates)
        )

    def _add_zones(self, tally: Tally, asked: Question, found: Plan) -> None:
        for measure, uses in found.uses.items():
            for use in uses:
                table, chosen = use.table, use.chosen
                places = pa.array(chosen)
                keys = [table.key_values[table.keys.index(name)].take(places) for name in asked.group_by]
                groups = tally.groups.of_rows(keys, len(chosen))
                zones = table.groups[chosen]
                if measure is None:
                    tally.add_counts(zones["row_count"].astype(np.int64), groups)
                else:
                    minima, maxima = table.minima.take(places), table.maxima.take(places)
                    tally.measures[measure].add_zones(zones, minima, maxima, groups, len(tally.groups))

    def _effort(self, found: Plan, data_bytes: int) -> Effort:
        lake = self.lake
        count = len(lake.files)
        touched, read = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
        np.logical_or.at(touched, lake.file_of, found.needed)
        np.logical_or.at(read, lake.file_of, found.read)
        return Effort(
            count,
            int((~touched).sum()),
            int((touched & ~read).sum()),
            int(read.sum()),
            len(lake.file_of),
            int((~found.needed).sum()),
            int((found.needed & ~found.read).sum()),
            int(found.read.sum()),
            lake.metadata_length + self._estimator.length,
            data_bytes,
        )


def _add_rows(tally: Tally, several: Iterable[Rows], names: Sequence[str]) -> int:
    """Add rows that satisfy the condition; return how many bytes of chunks were read for them."""
    length = 0

    def tables() -> Iterator[pa.Table]:
        nonlocal length
        for rows in several:
            length += rows.length
            if rows.table is not None:
                yield compared(rows.table, names)

    for table in _together(tables()):
        tally.add_rows(table)
    return length


def _in_order(asked: Question, columns: dict[Item, Any], count: int) -> pa.Table:
    """The columns of the answer, in the order of its rows."""
    keys = [SortedBy(columns[key.item], key.descending, key.nulls_first) for key in asked.order_by]
    order = order_of([*keys, *(SortedBy(columns[name]) for name in asked.group_by)], count)
    end = None if asked.limit is None else asked.offset + asked.limit
    chosen: Any = pa.array(order[asked.offset : end])
    return pa.table(
        [columns[one].take(chosen) for _, one in asked.output], [name for name, _ in asked.output]
    )


def _kind(schema: pa.Schema, name: str) -> Any:
    return compared_type(find_column(schema, name)[1])


def _together(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """Tables joined to some of about `ROWS_AT_ONCE` rows."""
    held: list[pa.Table] = []
    rows = 0
    for table in tables:
        held.append(table)
        rows += len(table)
        if rows >= ROWS_AT_ONCE:
            yield pa.concat_tables(held)
            held, rows = [], 0
    if held:
        yield pa.concat_tables(held)


__all__ = ["Answer", "Answerer", "Effort", "Estimated"]
