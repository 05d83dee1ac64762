"""Rules about the rows of several columns: the chunks of a row group are decoded one by one, and compared together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pqassay.under_test.chunks import ColumnChunks, ColumnChunkUnderTest
from pqassay.under_test.file import FileUnderTest, NotChecked
from pqassay.under_test.violation import Violation
from pqassay.values.claims.outcomes import Outcome
from pqassay.values.claims.value_rules import Claim, ValueRule

if TYPE_CHECKING:
    from pqassay.values.decoding.chunk_values import ChunkValues


def why_missing(file: FileUnderTest) -> NotChecked | None:
    """The reason why chunks of a file cannot be compared: encryption, or other files; ``None`` without a reason."""
    for obstacle, left_out in file.part(ColumnChunks).left_out.items():
        return NotChecked(left_out.reason, obstacle)
    return None


class JoinedRows(ValueRule):
    """A rule about the rows of several columns. It applies once `ordinals` is set.

    Attributes:
        ordinals: The positions of its columns among the leaves.
    """

    ordinals: frozenset[int] = frozenset()

    def __init__(self, file: FileUnderTest, outcome: Outcome) -> None:
        super().__init__(file, outcome)
        self._groups: dict[int, dict[int, list[Any]]] = {}

    def take(self, values: ChunkValues) -> Any:
        """The data of a chunk that the comparison needs. Called in one of several threads. Raises `FormatError` and `NotChecked`."""
        raise NotImplementedError

    def compare(self, group: int, taken: Mapping[int, Any], /) -> Iterable[Violation]:
        """Compare the rows of a row group, given the taken data of its columns by ordinal. Raises as `take` does."""
        raise NotImplementedError

    def lose(self) -> None:
        """Note that the rows of a row group are unknown."""

    def claims(self, chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
        """The claims about one of the columns."""
        if chunk.ordinal in self.ordinals:
            yield _Column(self, chunk)

    def settle(self, chunk: ColumnChunkUnderTest, taken: list[Any]) -> Iterator[Violation]:
        """Add the taken data of a chunk; once all columns are there, compare the rows."""
        of_group = self._groups.setdefault(chunk.row_group, {})
        of_group[chunk.ordinal] = taken
        if len(of_group) < len(self.ordinals):
            return
        self._groups[chunk.row_group] = {ordinal: [] for ordinal in of_group}  # these values are not needed
        if not all(of_group.values()):
            self.lose()
            return
        try:
            yield from self.compare(chunk.row_group, {ordinal: each[0] for ordinal, each in of_group.items()})
        except Exception:
            self.lose()
            raise

    def finish(self) -> Iterator[Violation]:
        """Raise `NotChecked` unless the rows of all row groups were compared, or the reason is already noted."""
        missing = [
            number
            for number in range(len(self.file.metadata.row_groups))
            if len(self._groups.get(number, ())) < len(self.ordinals)
        ]
        if missing:
            raise why_missing(self.file) or NotChecked(
                f"a column of row group {missing[0]} is not there", "file"
            )
        yield from ()


class _Column(Claim):
    """One chunk of the columns."""

    def __init__(self, rule: JoinedRows, chunk: ColumnChunkUnderTest) -> None:
        self._rule = rule
        self._chunk = chunk
        self._taken: list[Any] = []

    def compare(self, values: ChunkValues) -> Iterator[Violation]:
        """Take the needed data; the result is available when the other columns have been read."""
        self._taken.append(self._rule.take(values))
        return iter(())

    def settle(self) -> Iterator[Violation]:
        """Pass on the taken data."""
        return self._rule.settle(self._chunk, self._taken)


class RuleOfJoins(ValueRule):
    """A rule that compares the rows of several independent sets of columns.

    Attributes:
        joins: The rule for each set.
    """

    def __init__(self, file: FileUnderTest, outcome: Outcome) -> None:
        super().__init__(file, outcome)
        self.joins: list[JoinedRows] = []

    def claims(self, chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
        """The claims about the columns of each set."""
        for join in self.joins:
            yield from join.claims(chunk)

    def finish(self) -> Iterable[Violation]:
        """Finish each set. Raises `NotChecked` if rows could not be compared."""
        for join in self.joins:
            yield from join.finish()
