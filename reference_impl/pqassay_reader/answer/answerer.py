"""Answer questions about the files of a lake from their metadata, and with DuckDB from their rows if necessary."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from pqassay_reader.answer.estimates import KINDS, Estimated, estimated
from pqassay_reader.answer.lake import Lake
from pqassay_reader.answer.question import Question, parse_question
from pqassay_reader.answer.row_tables import RowTables
from pqassay_reader.answer.settling import settled
from pqassay_reader.answer.tally import Tally
from pqassay_reader.answer.zones import answered_by_zones
from pqassay_reader.condition.rows import condition_of
from pqassay_reader.directory.arrays import Mask
from pqassay_reader.lake.lake_sets import Progress
from pqassay_reference.errors import Refused
from pqassay_reference.files.listing import Roots, list_files

SKETCHES = tuple(kind.name for kind in KINDS.values())
"""Prefixes of the names of sketches."""


@dataclass(frozen=True)
class Effort:
    """The effort of answering a question.

    Attributes:
        files: Files of the lake.
        files_skipped: Files in which no row satisfies the condition, by their distinct sets.
        files_from_metadata: Files that were answered without reading a row.
        files_read: Files of which rows were read.
        row_groups: Row groups of all files.
        row_groups_skipped: Row groups in which no row satisfies the condition, by distinct sets.
        row_groups_from_metadata: Row groups that zone sums answered.
        row_groups_read: Row groups whose rows were read.
        metadata_bytes: Bytes of footers, which are read when the lake is opened, and of indexes, which are read at their first use.
        metadata_requests: Number of requests for metadata.
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
    metadata_requests: int
    data_bytes: int

    def record(self) -> dict[str, int]:
        """All counters by name."""
        return asdict(self)


@dataclass(frozen=True)
class Answer:
    """An answer.

    Attributes:
        table: The result, in the requested order, or by its groups if there is none.
        effort: The effort.
        estimates: The approximate columns, with their bounds.
    """

    table: pa.Table
    effort: Effort
    estimates: tuple[Estimated, ...] = ()


class Answerer:
    """The files of a folder, opened once for many questions, from one thread at a time. See `Answerer.open`.

    Attributes:
        lake: The facts about the files when they were opened.
    """

    def __init__(self, lake: Lake) -> None:
        self.lake = lake

    @classmethod
    def open(cls, root: Roots, *, filesystem: Any = None, progress: Progress | None = None) -> Answerer:
        """Read the footers of a file, of the files of a folder or behind a URI.

        Args:
            root: As in `pqassay_reader.lake.indexed_dataset.open_indexed`.
            filesystem: As in `pqassay_reader.lake.indexed_dataset.open_indexed`.
            progress: Called with the number of files that were read, and of all files.

        Raises:
            FileNotFoundError: There is no such file or folder.
            Refused: There are no Parquet files in it, or it is a Delta or Iceberg table.
            FormatError: A file is not a Parquet file.
            OSError: A file cannot be read.
        """
        listed = list_files(root, filesystem, "hive")
        if not listed.paths:
            name = os.fspath(root) if isinstance(root, str | os.PathLike) else root
            raise Refused(f"{name}: there are no Parquet files in it")
        return cls(Lake(listed, listed.dataset(), progress))

    @property
    def aside(self) -> list[str]:
        """The entries of directories that were ignored so far, with reasons, one line each; refusals name sketches."""
        lines = [
            f"{file.name}: {one}"
            for file in self.lake.known
            for one in file.directory.aside
            if not one.name.startswith(SKETCHES)
        ]
        return [*lines, *(f"{path}: {reason}" for path, reason in self.lake.unfit.items())]

    def ask(self, question: str | Question) -> Answer:
        """Answer a question.

        Args:
            question: In SQL, see `pqassay_reader.answer.question.SUPPORTED`.

        Raises:
            Refused: It is not supported, or does not fit the columns; or DuckDB is not installed.
            Undecodable: Pages cannot be decoded.
            OSError: A file can no longer be read.

        Counts, sums of whole numbers and decimals, and bounds are exact.  A sum of floating point numbers is
        the exact sum of rows and of zone sums, rounded once at the end; each zone sum was rounded once
        itself.  An average is the exact sum divided by the count, rounded once.  Types are those of DuckDB:
        decimals of 38 digits for sums of whole numbers and decimals, doubles for averages.

        Estimates come only from sketches, never from rows; `Answer.estimates` has their bounds.
        """
        asked = parse_question(question) if isinstance(question, str) else question
        lake = self.lake
        condition = None if asked.predicate is None else condition_of(asked.predicate, lake.schema)
        names = list(dict.fromkeys([*asked.group_by, *asked.measures]))
        tally = Tally(asked, {name: lake.kind(name) for name in names})
        reader = RowTables(lake, names, condition)
        # Statistics that Arrow does not read are used here.
        asks = bool(asked.estimates) or reader.has_floats
        known = settled(lake, condition, reader.fields, asks_statistics=asks)
        needed = np.logical_and.reduce([lake.row_counts > 0, *(part.may for part in known)])
        must = np.logical_and.reduce([needed, *(part.must for part in known)])
        estimates = estimated(lake, asked, needed, must)
        answered, sums = answered_by_zones(lake, asked, known, needed, reader.fields)
        tally.add_zones(sums)
        read = needed & ~answered
        for table in reader.rows(read):
            tally.add_rows(table)
        found = tally.answer({one.asked: one.estimate for one in estimates})
        return Answer(found, self._effort(needed, read, reader.length), tuple(estimates))

    def _effort(self, needed: Mask, read: Mask, data_bytes: int) -> Effort:
        lake = self.lake
        touched, opened = (len(np.unique(lake.file_of[mask])) for mask in (needed, read))
        return Effort(
            len(lake.known),
            len(lake.known) - touched,
            touched - opened,
            opened,
            len(needed),
            int((~needed).sum()),
            int((needed & ~read).sum()),
            int(read.sum()),
            sum(file.length for file in lake.known),
            sum(file.requests for file in lake.known),
            data_bytes,
        )


__all__ = ["Answer", "Answerer", "Effort", "Estimated"]
