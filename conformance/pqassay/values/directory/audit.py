"""The audit of the rows that the entries of an index directory describe, part by part.

It is a family of the audit of values, so each described chunk is decoded once for all families. The thread that decoded a chunk extracts
the data that an entry needs (`EntryAudit.take`). At the end of a row group, the data of all columns are added to its parts, one after the
other (`EntryAudit.add`). Once all rows of a part were added, each rule about indexes of this type is tested on the part. The rules are in
`pqassay.checks.directory`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any, ClassVar

from pqassay.under_test.chunks import ColumnChunks, ColumnChunkUnderTest
from pqassay.under_test.file import FileUnderTest, NotChecked
from pqassay.under_test.index_directory import IndexDirectory
from pqassay.under_test.violation import Violation
from pqassay.values.claims.audit import ChunkClaims
from pqassay.values.claims.outcomes import Outcome
from pqassay.values.claims.value_rules import Compared, RuleFamily, Stated, note_problem
from pqassay.values.decoding.chunk_values import ChunkValues
from pqassay.values.directory.blob import BlobUnderTest, blob_of, require_content
from pqassay.values.directory.columns import value_starts
from pqassay_spec.directory.codes import Granularity


class DescribedPart(ABC):
    """A part of an index: the claims of its blob, and the contents of its rows.

    Attributes:
        blob: The blob of the index.
        entry: The entry of the index.
        number: Its number among the parts.
        row_group: Its row group; ``None`` for the whole file.
    """

    def __init__(self, blob: BlobUnderTest, number: int) -> None:
        self.blob, self.entry, self.number = blob, blob.entry, number
        self.row_group = self.entry.part_groups[number]

    def __str__(self) -> str:
        if self.row_group is None:
            return "the file"
        if self.entry.head.granularity == Granularity.ROW_GROUP:
            return f"row group {self.row_group}"
        page = self.number - self.entry.part_groups.index(self.row_group)
        return f"page {page} of row group {self.row_group}"

    @abstractmethod
    def add(self, taken: Any, /) -> None:
        """Add the taken data of some of its rows."""


PartRule = Callable[[Any], Iterable[Violation]]
"""A rule about a part: it yields violations, and raises the error that prevents the test."""

Asked = Sequence[tuple[PartRule, Outcome]]
"""Rules to test on parts, each with its outcome."""


class EntryAudit:
    """The audit of the rows that an entry describes, with the rules for its parts.

    Attributes:
        part_type: The audited data of each part.
        blob: The blob of the entry.
        entry: The entry.
        ordinals: The positions of its columns among the leaves.
        order: The order of the values of its last column.
    """

    part_type: ClassVar[type[DescribedPart]]

    def __init__(self, blob: BlobUnderTest, asked: Asked) -> None:
        self.blob, self.entry, self._asked = blob, blob.entry, asked
        _ = blob.has_its_parts
        self.ordinals = self.entry.ordinals
        self.order = self.entry.order
        self._is_of_file = self.entry.head.granularity == Granularity.FILE
        self._taken: dict[int, Any] = {}
        self._parts: dict[int, DescribedPart] = {}
        self._is_whole = True
        for _, outcome in asked:
            outcome.applies = True

    def take(self, values: ChunkValues, _column: int, /) -> Any:
        """The needed data of a chunk of one column. Called in one of several threads."""
        rows = self.row_starts(values.chunk.row_group)
        starts = zip(rows, value_starts(values, rows).tolist(), strict=True)
        return [
            self.take_part(values, values.values.slice(first, end - first), last_row - first_row)
            for (first_row, first), (last_row, end) in pairwise(starts)
        ]

    def take_part(self, values: ChunkValues, part: Any, rows: int, /) -> Any:
        """The data that a part needs from its rows; only non-null values are passed."""
        raise NotImplementedError

    def add(self, row_group: int, taken: Sequence[Any]) -> None:
        """Add the taken data of all columns of a row group to its parts; the data of a column are a list with an item for each part."""
        for number, of_part in zip(self.parts_of(row_group), taken[0], strict=False):
            self.part(number).add(of_part)

    def part(self, number: int) -> DescribedPart:
        """A part, with the data added so far."""
        part = self._parts.get(number)
        if part is None:
            part = self._parts[number] = self.part_type(self.blob, number)
        return part

    def parts_of(self, row_group: int) -> range:
        """The parts that contain, or belong to, a row group."""
        if self._is_of_file:
            return range(1)
        groups: list[Any] = self.entry.part_groups
        return range(bisect_left(groups, row_group), bisect_right(groups, row_group))

    def row_starts(self, row_group: int) -> list[int]:
        """The first row of each part of a row group, followed by the end of the last part."""
        if self._is_of_file:
            return [0, self.entry.file.metadata.row_groups[row_group].num_rows]
        return [0, *accumulate(self.entry.part_rows[part] for part in self.parts_of(row_group))]

    def settle(self, chunk: ColumnChunkUnderTest, taken: Any) -> None:
        """Store the taken data of a chunk, or the exception instead; the last column of a row group completes it."""
        self._taken[chunk.ordinal] = taken
        if len(self._taken) < len(set(self.ordinals)):
            return
        taken_of, self._taken = self._taken, {}
        problem = next((error for error in taken_of.values() if isinstance(error, Exception)), None)
        if problem is None and chunk.group.num_rows:
            try:
                self.add(chunk.row_group, [taken_of[ordinal] for ordinal in self.ordinals])
            except Exception as error:  # noqa: BLE001 - see `note_problem`
                problem = error
        if problem is not None:
            self._is_whole = False
            for _, outcome in self._asked:
                note_problem(outcome, problem, self.entry.column)
        elif not self._is_of_file:
            for number in self.parts_of(chunk.row_group):
                self._judge(number)

    def finish(self) -> None:
        """Test the rules on parts that describe the whole file."""
        if self._is_of_file and self._is_whole:
            self._judge(0)

    def _judge(self, number: int) -> None:
        """Test the rules on a part whose rows were all added."""
        part, column = self.part(number), self.entry.column
        for rule, outcome in self._asked:
            try:
                for violation in rule(part):
                    message = f"{self.entry}: {violation.message}"
                    outcome.add(replace(violation, message=message, column=column, row_group=part.row_group))
            except Exception as error:  # noqa: BLE001 - see `note_problem`
                note_problem(outcome, error, column)
        del self._parts[number]


class _ChunkOfEntries:
    """The claims of entries about one chunk."""

    compared: Sequence[Compared] = ()

    def __init__(self, audits: Sequence[EntryAudit], chunk: ColumnChunkUnderTest) -> None:
        self._audits, self._chunk = audits, chunk
        self._taken: list[Any] = [None] * len(audits)
        self.needs_values = chunk.group.num_rows > 0

    def judge(self, values: ChunkValues) -> None:
        """Take the data that each entry needs."""
        chunk, rows = self._chunk, self._chunk.group.num_rows
        if values.entries != rows:
            self.leave(NotChecked(f"{chunk} has {rows} rows, but pyarrow decodes {values.entries}", "file"))
            return
        for place, audit in enumerate(self._audits):
            try:
                self._taken[place] = audit.take(values, audit.ordinals.index(chunk.ordinal))
            except Exception as error:  # noqa: BLE001 - `EntryAudit.settle` notes it
                self._taken[place] = error

    def leave(self, reason: NotChecked) -> None:
        """Note that the values cannot be decoded."""
        self._taken = [reason] * len(self._audits)

    def settle(self) -> None:
        """Pass on the taken data."""
        for audit, taken in zip(self._audits, self._taken, strict=True):
            audit.settle(self._chunk, taken)
        self._taken.clear()


class DirectoryFamily(RuleFamily):
    """The claims of an index directory about the parts of its indexes.

    Args:
        file: The file, whose options determine the omitted rules.
        stated: The rules about parts, by their ids.
        makers: Creates the audit of an entry of each type. It raises the error that prevents reading the blob.
    """

    def __init__(
        self, file: FileUnderTest, stated: Mapping[str, Stated], makers: Mapping[int, type[EntryAudit]]
    ) -> None:
        super().__init__(file, stated)
        self._audits: list[EntryAudit] = []
        self._by_ordinal: defaultdict[int, list[EntryAudit]] = defaultdict(list)
        for entry in file.part(IndexDirectory).entries:
            asked: list[tuple[Any, Outcome]] = [
                (stated[rule_id].statement, self.outcomes[rule_id]) for rule_id, _ in self.rules_about(entry)
            ]
            if not asked:
                continue
            try:
                audit = makers[entry.head.type](blob_of(entry), asked)
                require_content(entry)
            except Exception as error:  # noqa: BLE001 - see `note_problem`
                for _, outcome in asked:
                    note_problem(outcome, error, entry.column)
                continue
            self._audits.append(audit)
            for ordinal in set(audit.ordinals):
                self._by_ordinal[ordinal].append(audit)

    def claim(self, chunk: ColumnChunkUnderTest) -> ChunkClaims | None:
        """The claims of entries about a chunk."""
        audits = self._by_ordinal.get(chunk.ordinal)
        return _ChunkOfEntries(audits, chunk) if audits else None

    def finish(self) -> None:
        """Test the rules on parts that describe the whole file, once all chunks were read."""
        for audit in self._audits:
            audit.finish()

    def note_left_out(self, _: ColumnChunks) -> None:
        """Do nothing: entries about omitted chunks are not checked, and other entries do not depend on these chunks."""
