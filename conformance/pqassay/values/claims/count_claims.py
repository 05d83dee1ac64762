"""Claims that are counts, of a column chunk or of each of its pages: nulls, NaN values, distinct values, bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.fields import Field
from pqassay.under_test.file import NotChecked
from pqassay.under_test.violation import Violation, first_places
from pqassay.values.claims.value_rules import Claim
from pqassay.values.claims.wording import named, plural

if TYPE_CHECKING:
    from pqassay.values.decoding.chunk_values import ChunkValues


@dataclass(frozen=True)
class ChunkCount(Claim):
    """A count over all values of a column chunk.

    Attributes:
        chunk: The chunk.
        name: Its field in the statistics.
        given: The claimed count.
        what: The counted thing, in words.
        counted: Computes the true count.
    """

    chunk: ColumnChunkUnderTest
    name: str
    given: int
    what: str
    counted: Callable[[ChunkValues], int]

    def compare(self, values: ChunkValues) -> Iterator[Violation]:
        """Yield a violation if the true count differs."""
        counted = self.counted(values)
        if self.given != counted:
            yield Violation(
                f"{named(self.chunk)} holds {plural(counted, self.what)}, {self.name} is {self.given}",
                self.chunk.fields.statistics / self.name,
                expected=str(counted),
                actual=str(self.given),
            )


@dataclass(frozen=True)
class NullsOfChunk(ChunkCount):
    """A count of nulls; a separate rule judges nulls around the values of a list.

    Attributes:
        of_lists: If true, only counts are judged that merely omit nulls and empty lists around the values; if false, all others.
    """

    of_lists: bool

    def compare(self, values: ChunkValues) -> Iterator[Violation]:
        """Yield a violation if the true null count differs."""
        if (self.given in values.null_counts[1:]) == self.of_lists:
            yield from super().compare(values)


def nulls_of_chunk(chunk: ColumnChunkUnderTest, *, of_lists: bool) -> Iterator[NullsOfChunk]:
    """Yield the claim of a chunk's null count, if it has one."""
    statistics = chunk.statistics
    if statistics is not None and statistics.null_count is not None:
        yield NullsOfChunk(
            chunk, "null_count", statistics.null_count, "null", lambda values: values.null_counts[0], of_lists
        )


# ------------------------------------------------------------------------------------------------------ of pages


@dataclass(frozen=True)
class CountsOfPages(Claim):
    """A count for each data page of a column chunk.

    Attributes:
        chunk: The chunk.
        name: Their field.
        given: The claimed counts; ``None`` for pages without a count.
        what: The counted thing, in words.
        counted: Computes the true counts of all pages, int64.
        field: The field of each count, by the number of its page.
        of_lists: If true, only null counts are judged that omit nulls around the values; if false, only others; ``None`` for all.
        index: The index with the counts; ``None`` for page headers.
    """

    chunk: ColumnChunkUnderTest
    name: str
    given: Sequence[int | None]
    what: str
    counted: Callable[[ChunkValues], Any]
    field: Callable[[int], Field]
    of_lists: bool | None = None
    index: str | None = None

    def compare(self, values: ChunkValues) -> Iterator[Violation]:
        """Yield a violation for each page whose true count differs."""
        if self.index is not None:
            require_pages(self.given, values, self.index)
        counted = self.counted(values).tolist()
        wrong = [
            page
            for page, (given, count) in enumerate(zip(self.given, counted, strict=True))
            if given not in (None, count)
        ]
        if wrong and self.of_lists is not None:
            without_lists = values.leave_out_lists([-1 if count is None else count for count in self.given])
            wrong = [page for page in wrong if without_lists[page] == self.of_lists]

        def violation(page: int) -> Violation:
            count, given = counted[page], self.given[page]
            head = f"a page of {named(self.chunk)} holds {count} {self.what}, but its header says {given}"
            listed = (
                f"page {page} of {named(self.chunk)} holds {count} {self.what}, but {self.name} says {given}"
            )
            return Violation(
                head if self.index is None else listed,
                self.field(page),
                expected=str(count),
                actual=str(given),
            )

        return first_places(wrong, violation)


def require_pages(listed: Sequence[object], values: ChunkValues, index: str) -> None:
    """Raise `NotChecked` unless an index lists the existing pages; another rule reports the difference."""
    if len(listed) != len(values.counts.values):
        raise NotChecked(f"{index} and column chunk have different numbers of pages", "another rule")


@dataclass(frozen=True)
class DistinctCounts(Claim):
    """Counts of distinct values. The two zeros, and different NaN values, may count as one or several; null may count as a value.

    Attributes:
        given: The claimed counts, ``None`` if absent; a single count for the whole chunk.
        ranges: The least and the greatest correct value of each count.
        named: The subject of each count, for messages.
        field: The field of each count.
    """

    given: Sequence[int | None]
    ranges: Callable[[ChunkValues], Sequence[tuple[int, int]]]
    named: Callable[[int], str]
    field: Callable[[int], Field]

    def compare(self, values: ChunkValues) -> Iterator[Violation]:
        """Yield a violation for each count outside its range."""
        for number, (given, (least, most)) in enumerate(zip(self.given, self.ranges(values), strict=True)):
            if given is not None and not least <= given <= most:
                yield Violation(
                    f"{self.named(number)} holds {least} distinct values, but distinct_count is {given}",
                    self.field(number),
                    expected=str(least) if least == most else f"between {least} and {most}",
                    actual=str(given),
                )
