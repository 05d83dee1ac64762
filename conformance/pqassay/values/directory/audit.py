"""What the entries of an index directory say of the values of their columns, compared with these values.

A family of the audit of values: each described chunk is decoded once, with all that others say of it.  What an audit of one entry
needs of a chunk it takes in the thread that decoded it (`EntryAudit.take`); what it takes of all columns of a row group is put
together where the row group ends, one after the other (`EntryAudit.add`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.file import FileUnderTest, NotChecked
from pqassay.under_test.index_directory import EntryUnderTest, IndexDirectory
from pqassay.under_test.violation import Violation
from pqassay.values.claims.outcomes import Outcome
from pqassay.values.decoding.chunk_values import ChunkValues
from pqassay.values.directory.blob import BlobUnderTest, blob_of, require_content
from pqassay_spec.base.errors import FormatError
from pqassay_spec.directory.codes import Granularity

Outcomes = dict[str, Outcome]
"""The outcome of each rule, by its id."""


class EntryAudit(ABC):
    """What one entry says, and what comes of it.

    Attributes:
        blob: The blob of the entry.
        rules: The rules that this decides.
        outcomes: What came of each.
    """

    rules: tuple[str, ...] = ()

    def __init__(self, blob: BlobUnderTest, outcomes: Outcomes) -> None:
        self.blob, self.entry, self.outcomes = blob, blob.entry, outcomes
        _ = blob.has_its_parts
        self.ordinals = self.entry.ordinals
        self._taken: dict[int, Any] = {}
        self._problem: NotChecked | None = None
        self._is_whole = True
        for rule in self.rules:
            outcomes[rule].applies = True

    # -------------------------------------------------------------------------------- what each type of index does

    @abstractmethod
    def take(self, values: ChunkValues, column: int, /) -> Any:
        """What is needed of a chunk of one of the columns; in one thread among several."""

    @abstractmethod
    def empty(self) -> Any:
        """What is needed of a chunk without rows."""

    @abstractmethod
    def add(self, row_group: int, parts: Sequence[int], taken: list[Any], /) -> None:
        """Put together what was taken of all columns of a row group, which has these parts of the blob, or begins or goes on with one."""

    @abstractmethod
    def judge_part(self, number: int) -> None:
        """Compare a part, all of whose rows were added."""

    # ------------------------------------------------------------------------------------------- what is the same

    def parts_of(self, row_group: int) -> range:
        """The parts of the blob that a row group belongs to, or has."""
        if self.entry.head.granularity == Granularity.FILE:
            return range(1)
        if self.entry.head.granularity == Granularity.ROW_GROUP:
            return range(row_group, row_group + 1)
        groups = self.entry.part_groups
        first = next((place for place, group in enumerate(groups) if group == row_group), len(groups))
        return range(first, first + groups.count(row_group))

    def row_starts(self, row_group: int) -> list[int]:
        """The row of the row group with which each of its parts begins, and behind them their end."""
        if self.entry.head.granularity != Granularity.PAGE:
            return [0, self.entry.file.metadata.row_groups[row_group].num_rows]
        starts = [0]
        for part in self.parts_of(row_group):
            starts.append(starts[-1] + self.entry.part_rows[part])
        return starts

    def settle(self, chunk: ColumnChunkUnderTest, taken: Any, problem: NotChecked | None) -> None:
        """Note what was taken of a chunk, or why nothing was; the last column of a row group ends it."""
        self._problem = self._problem or problem
        self._taken[chunk.ordinal] = taken
        if len(self._taken) < len(set(self.ordinals)):
            return
        taken_of_all = [self._taken[ordinal] for ordinal in self.ordinals]
        reason, self._problem = self._problem, None
        self._taken = {}
        if reason is None:
            try:
                self._end(chunk.row_group, taken_of_all)
            except (FormatError, NotChecked) as error:
                reason = error if isinstance(error, NotChecked) else NotChecked.because(error)
        if reason is not None:
            self._is_whole = False
            self.hinder(reason)

    def _end(self, row_group: int, taken: list[Any]) -> None:
        parts = self.parts_of(row_group)
        self.add(row_group, parts, taken)
        if self.entry.head.granularity != Granularity.FILE:
            for number in parts:
                self._judge(number)

    def finish(self) -> None:
        """Compare what describes the whole file."""
        if self.entry.head.granularity != Granularity.FILE or not self._is_whole:
            return
        self._judge(0)

    def _judge(self, number: int) -> None:
        """Compare a part; one that cannot be judged keeps no other from it."""
        try:
            self.judge_part(number)
        except (FormatError, NotChecked) as error:
            self.hinder(error)

    def hinder(self, reason: Exception, *rules: str) -> None:
        """Note why some of the rules, or all, could not be tested."""
        for rule in rules or self.rules:
            self.outcomes[rule].hindered(reason, self.entry.column)

    def note(self, rule: str, number: int, violation: Violation) -> None:
        """Add a place in a part where a rule is broken."""
        row_group = self.entry.part_groups[number]
        said = f"{self.entry}: {violation.message}"
        self.outcomes[rule].add(
            replace(violation, message=said, column=self.entry.column, row_group=row_group)
        )

    def name_of(self, number: int) -> str:
        """A part, for messages."""
        granularity, row_group = self.entry.head.granularity, self.entry.part_groups[number]
        if granularity == Granularity.FILE:
            return "the file"
        if granularity == Granularity.ROW_GROUP:
            return f"row group {row_group}"
        page = number - self.parts_of(row_group or 0).start
        return f"page {page} of row group {row_group}"


Maker = Callable[[BlobUnderTest, Outcomes], EntryAudit]
"""Makes the audit of an entry. Raises what keeps its blob from being read."""


class _Claim:
    """What an entry says of one chunk."""

    def __init__(self, audit: EntryAudit, chunk: ColumnChunkUnderTest) -> None:
        self._audit, self._chunk = audit, chunk
        self._taken: Any = None
        self._problem: NotChecked | None = None
        self.needs_values = chunk.group.num_rows > 0
        if not self.needs_values:
            self._taken = audit.empty()

    def judge(self, values: ChunkValues) -> None:
        """Take what is needed."""
        rows = self._chunk.group.num_rows
        if values.entries != rows:
            said = f"{self._chunk} has {rows} rows, and pyarrow decodes {values.entries}"
            self._problem = NotChecked(said, "file")
            return
        try:
            self._taken = self._audit.take(values, self._audit.ordinals.index(self._chunk.ordinal))
        except (FormatError, NotChecked) as error:
            self._problem = error if isinstance(error, NotChecked) else NotChecked.because(error)

    def leave(self, reason: NotChecked) -> None:
        """Take note that the values cannot be decoded."""
        self._problem = reason

    def settle(self) -> None:
        """Hand over what was taken."""
        self._audit.settle(self._chunk, self._taken, self._problem)
        self._taken = None


class _Claims:
    """What several entries say of one chunk."""

    def __init__(self, claims: Sequence[_Claim]) -> None:
        self._claims = claims
        self.needs_values = any(claim.needs_values for claim in claims)

    def judge(self, values: ChunkValues) -> None:
        """Take what each needs."""
        for claim in self._claims:
            claim.judge(values)

    def leave(self, reason: NotChecked) -> None:
        """Take note that the values cannot be decoded."""
        for claim in self._claims:
            claim.leave(reason)

    def settle(self) -> None:
        """Hand over what was taken."""
        for claim in self._claims:
            claim.settle()


class DirectoryFamily:
    """The claims of an index directory about the chunks of a file.

    Attributes:
        outcomes: What came of each rule; right once `finish` was called.
    """

    def __init__(
        self,
        file: FileUnderTest,
        makers: dict[int, Maker],
        rules: dict[int, tuple[str, ...]],
    ) -> None:
        """Gather what the entries say.

        Args:
            file: The file.
            makers: What audits an entry of each type.
            rules: The rules that this decides.
        """
        self.outcomes: Outcomes = {rule: Outcome() for of_type in rules.values() for rule in of_type}
        self._audits: list[EntryAudit] = []
        self._by_ordinal: dict[int, list[EntryAudit]] = {}
        for entry in file.part(IndexDirectory).entries:
            kind = entry.head.type
            asked = [rule for rule in rules.get(kind, ()) if rule not in file.left_out]
            if not asked:
                continue
            try:
                self._audits.append(self._made(entry, makers[kind]))
            except (FormatError, NotChecked) as reason:
                for rule in asked:
                    self.outcomes[rule].hindered(reason, entry.column)
        for audit in self._audits:
            for ordinal in set(audit.ordinals):
                self._by_ordinal.setdefault(ordinal, []).append(audit)

    def _made(self, entry: EntryUnderTest, make: Maker) -> EntryAudit:
        blob = blob_of(entry)
        audit = make(blob, self.outcomes)
        require_content(entry)
        return audit

    def claim(self, chunk: ColumnChunkUnderTest) -> _Claims | None:
        """What the entries say of a chunk."""
        audits = self._by_ordinal.get(chunk.ordinal)
        return _Claims([_Claim(audit, chunk) for audit in audits]) if audits else None

    def finish(self) -> None:
        """Compare what describes the whole file, once all chunks were seen."""
        for audit in self._audits:
            audit.finish()
        self._audits = []
