"""The survey of the bodies of a chunk's pages: read once, one page in memory at a time.

Several rules look at the bodies.  The survey notes for each of them where it is broken, and counts the levels.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pqassay.under_test.file import NotChecked
from pqassay.under_test.pages.walk import PageUnderTest, bodies
from pqassay.under_test.violation import Violation, keep_first
from pqassay.values.decoding.codecs import beginning, decompressed
from pqassay.values.decoding.crc import crc_violation
from pqassay.values.decoding.dictionary_pages import entry_violations
from pqassay.values.decoding.levels import PageCounts, Runs, flat_counts, read_bit_packed, read_runs
from pqassay.values.decoding.list_levels import NOTHING, ListLevels, Stray
from pqassay.values.decoding.page_values import ALL_GROUPS, SHORT_RUN, PageValues, lack_of_groups, taken
from pqassay.values.decoding.shapes import Shapes
from pqassay_spec.base.errors import FormatError, Malformed
from pqassay_spec.parquet.encoding.levels import are_whole_runs, bit_width
from pqassay_spec.parquet.encoding.plain import LENGTH
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.thrift import (
    CompressionCodec,
    DataPageHeader,
    DataPageHeaderV2,
    DictionaryPageHeader,
    Encoding,
)

if TYPE_CHECKING:
    from pqassay.under_test.chunks import ColumnChunkUnderTest

LENGTH_SIZE = LENGTH.sizeof()

NO_LEVELS = np.zeros(1, np.int64)


@dataclass
class Survey:
    """The findings of a survey.

    Attributes:
        problem: Why there are no counts, if so.
        violations: Where each rule is broken, by its id; no more places than are shown.
        unread: Why a page was not read, if so.
        found: The counts of the levels.
        shapes: What the levels say of the groups around.
    """

    problem: FormatError | NotChecked | None = None
    violations: dict[str, list[Violation]] = field(default_factory=dict[str, list[Violation]])
    unread: FormatError | NotChecked | None = None
    found: PageCounts | None = None
    shapes: Shapes | None = None

    @property
    def counts(self) -> PageCounts:
        """The counts of the levels. Raises what was in the way: `FormatError`, `NotChecked`."""
        if self.problem is not None or self.found is None:
            raise self.problem or NotChecked("its levels are not counted", "file")
        return self.found

    def note(self, rule: str, violation: Violation) -> None:
        """Note a place where a rule is broken."""
        keep_first(self.violations.setdefault(rule, []), violation)

    def hinder(self, problem: FormatError | NotChecked) -> None:
        """Note why levels are not counted; what comes first counts."""
        self.problem = self.problem or problem


def beside(chunk: ColumnChunkUnderTest) -> list[SchemaLeaf]:
    """The leaves before and after that of a chunk."""
    if chunk.leaf.parent.parent is None:  # a column of its own
        return []
    leaves = chunk.file.leaves
    return [leaves[place] for place in (chunk.ordinal - 1, chunk.ordinal + 1) if 0 <= place < len(leaves)]


def survey(chunk: ColumnChunkUnderTest) -> Survey:
    """Read the bodies of all pages of a chunk. Raises what `ColumnChunkUnderTest.pages` does."""
    surveyor = _Surveyor(chunk, is_decoded=chunk.is_decoded)
    found = surveyor.run()
    if surveyor.held_beside_values():
        return _Surveyor(chunk, is_decoded=False).run()
    return found


def counts_of(chunk: ColumnChunkUnderTest) -> PageCounts:
    """The counts of the levels of a chunk's data pages.

    Raises:
        Malformed: The pages cannot be walked, decompressed or their levels decoded; it names the rule that they break.
        NotChecked: They are compressed or encoded in a way that pqassay does not read.
    """
    leaf = chunk.leaf
    if not leaf.max_definition_level and not leaf.max_repetition_level:
        return flat_counts(chunk)
    return chunk.part(survey).counts


@dataclass
class _Content:
    """A data page without compression.

    Attributes:
        repetition, definition: Histograms of its levels; of no level at all, the number of its values.
        starts: Whether it begins with a row.
        values: The bytes behind its levels, or the first of them; ``None`` where they are not read.
        length: How many bytes they all are.
    """

    repetition: NDArray[np.int64]
    definition: NDArray[np.int64]
    starts: bool
    values: memoryview | None
    length: int


class _Surveyor:
    """The survey of one chunk, while it is made.

    Attributes:
        is_decoded: Whether its values were decoded, so that byte arrays need not be gone through.
    """

    def __init__(self, chunk: ColumnChunkUnderTest, *, is_decoded: bool) -> None:
        self.chunk = chunk
        self.is_decoded = is_decoded
        self._lengths: list[int] = []
        self.codec = chunk.facts.codec
        self.greatest_definition = chunk.leaf.max_definition_level
        self.greatest_repetition = chunk.leaf.max_repetition_level
        self.entries: int | None = None
        self.shapes = Shapes(chunk.leaf, beside(chunk))
        self.lists = ListLevels(chunk.leaf)
        self.result = Survey(shapes=self.shapes)

    def run(self) -> Survey:
        pages, result = self.chunk.pages, self.result
        try:
            result.found = PageCounts.empty(
                len(self.chunk.data_pages), self.greatest_definition, self.greatest_repetition
            )
        except NotChecked as reason:
            result.hinder(reason)
        number = 0
        for page, body in bodies(self.chunk.file.source, pages):
            if (violation := crc_violation(self.chunk, page, body)) is not None:
                result.note("PQF-063", violation)
            try:
                if page.is_data:
                    self._data_page(page, body, number)
                elif page.is_dictionary:
                    self._dictionary_page(page, body)
            except Malformed as error:
                if error.rule not in NOT_OF_LEVELS:
                    self._hinder(error)
                if error.rule in OWN_RULES:
                    result.note(error.rule, self._violation(page, error))
                else:
                    result.unread = result.unread or error
            except NotChecked as reason:
                self._hinder(reason)
                result.unread = result.unread or reason
            number += page.is_data
        return result

    def _hinder(self, problem: FormatError | NotChecked) -> None:
        """Note that the levels of a page are not counted."""
        self.result.hinder(problem)
        self.lists.skip_page()

    def held_beside_values(self) -> bool:
        """Whether the chunk is decoded, and its pages of nothing but PLAIN byte arrays hold more bytes than those."""
        size = self.chunk.byte_arrays_size
        if not self.is_decoded or size is None or len(self._lengths) != len(self.chunk.data_pages):
            return False
        return sum(self._lengths) > size

    def _violation(self, page: PageUnderTest, error: Malformed) -> Violation:
        if error.rule == "PQF-070":
            return Violation(
                error.reason,
                self.chunk.fields.page(page) / "uncompressed_page_size",
                expected=error.expected,
                actual=error.actual,
            )
        return Violation(
            error.reason,
            error.field or self.chunk.fields.body(page),
            offset=page.body_start,
            length=page.header.compressed_page_size,
            expected=error.expected,
            actual=error.actual,
        )

    def _dictionary_page(self, page: PageUnderTest, body: memoryview) -> None:
        header = page.own_header
        if not isinstance(header, DictionaryPageHeader) or self.entries is not None:
            return  # PQF-053, PQF-054
        self.entries = header.num_values
        # What is wrong with a dictionary hinders no levels.
        try:
            content = decompressed(body, self.codec, page.header.uncompressed_page_size)
            for rule, violation in entry_violations(self.chunk, page, header, content):
                self.result.note(rule, violation)
        except Malformed as error:
            if error.rule == "PQF-070":
                self.result.note("PQF-070", self._violation(page, error))
            else:
                self.result.unread = self.result.unread or error
        except NotChecked as reason:
            self.result.unread = self.result.unread or reason

    def _data_page(self, page: PageUnderTest, body: memoryview, number: int) -> None:
        header = page.data_header
        if header.num_values < 0:
            raise Malformed("a page with fewer values than none", rule="PQF-058", offset=page.offset)
        if isinstance(header, DataPageHeaderV2):
            content = self._second(page, header, body)
        else:
            content = self._first(page, header, body)
        if self.result.found is not None:
            self.result.found.fill(number, content.definition, content.repetition, starts=content.starts)
        if content.values is not None:
            self._values(page, header.encoding, content)

    # ------------------------------------------------------------------------------------------------ levels

    def _first(self, page: PageUnderTest, header: DataPageHeader, body: memoryview) -> _Content:
        """A page of version 1: levels, each behind their length, and values, all compressed together."""
        size = page.header.uncompressed_page_size
        start = self._beginning(page, header, body)
        if start is None:
            start = decompressed(body, self.codec, size)
        rest = start
        sections: list[Runs | None] = []
        for greatest, encoding in (
            (self.greatest_repetition, header.repetition_level_encoding),
            (self.greatest_definition, header.definition_level_encoding),
        ):
            if not greatest:
                sections.append(None)
                continue
            if encoding == Encoding.RLE:
                section, rest = _prefixed(rest)
                sections.append(self._levels(page, section, greatest))
            elif encoding == Encoding.BIT_PACKED:
                levels = _bit_packed(rest, greatest, header.num_values)
                sections.append(levels)
                rest = rest[levels.taken :]
            else:
                raise Malformed(f"levels of encoding {encoding}", rule="PQF-080", offset=page.offset)
        return self._content(page, sections, rest, size - (len(start) - len(rest)))

    def _beginning(self, page: PageUnderTest, header: DataPageHeader, body: memoryview) -> memoryview | None:
        """The first bytes of a page whose values are not looked at, its definition levels among them; ``None`` without a short way to them."""
        if header.encoding != Encoding.PLAIN or not header.num_values or not self.is_decoded:
            return None
        start = beginning(body, self.codec, page.header.uncompressed_page_size)
        if start is None or self.greatest_repetition:
            return None
        needed = LENGTH_SIZE if self.greatest_definition else 0
        if needed and len(start) >= needed:
            needed += int(LENGTH.parse(start[:LENGTH_SIZE]))
        return start if len(start) >= needed else None

    def _second(self, page: PageUnderTest, header: DataPageHeaderV2, body: memoryview) -> _Content:
        """A page of version 2: levels as they are, their lengths in the header, and values, compressed or not."""
        lengths = (header.repetition_levels_byte_length, header.definition_levels_byte_length)
        levels = sum(lengths)
        if min(lengths) < 0 or levels > min(len(body), page.header.uncompressed_page_size):
            raise Malformed("levels longer than their page", rule="PQF-058", offset=page.offset)
        sections: list[Runs | None] = []
        start = 0
        for greatest, length in zip(
            (self.greatest_repetition, self.greatest_definition), lengths, strict=True
        ):
            section = body[start : start + length]
            start += length
            sections.append(self._levels(page, section, greatest) if greatest else None)
        content = self._content(page, sections, None, page.header.uncompressed_page_size - levels)
        codec = self.codec if header.is_compressed is not False else CompressionCodec.UNCOMPRESSED
        try:
            content.values = decompressed(body[levels:], codec, content.length)
        except Malformed as error:  # the levels are uncompressed before it, and are good
            self.result.note("PQF-070", self._violation(page, error))
        except NotChecked as reason:
            self.result.unread = self.result.unread or reason
        return content

    def _levels(self, page: PageUnderTest, section: memoryview, greatest: int) -> Runs:
        """The levels of one section. Raises PQF-071."""
        runs = _levels(section, greatest, page.data_header.num_values)
        if runs.taken < len(section):
            self.result.note(
                MORE_LEVELS,
                Violation(
                    f"{len(section) - runs.taken} bytes of runs follow the levels of page {page.number}",
                    self.chunk.fields.body(page),
                    expected=f"{runs.taken} bytes of levels",
                    actual=f"{len(section)} bytes",
                ),
            )
        return runs

    def _content(
        self, page: PageUnderTest, sections: list[Runs | None], values: memoryview | None, length: int
    ) -> _Content:
        repetition, definition = sections
        count = page.data_header.num_values
        self.shapes.add(repetition, definition)
        try:
            content = _Content(
                NO_LEVELS + count
                if repetition is None
                else repetition.histogram(self.greatest_repetition + 1),
                NO_LEVELS + count
                if definition is None
                else definition.histogram(self.greatest_definition + 1),
                repetition is None or repetition.first in (0, None),
                values,
                length,
            )
        except Malformed as error:
            raise error.within(rule="PQF-071") from None
        stray = self.lists.first_stray(repetition, definition)
        if stray is not None:
            self._note_stray(page, stray)
        for section, what in ((repetition, "repetition levels"), (definition, "definition levels")):
            if section is not None and section.missing:
                self._note_missing(page, section.missing, what)
        return content

    def _note_stray(self, page: PageUnderTest, stray: Stray) -> None:
        before = "nothing" if stray.before == NOTHING else str(stray.before)
        self.result.note(
            "PQF-140",
            Violation(
                f"entry {stray.place} of page {page.number} goes on with a list that is null, empty or not begun",
                self.chunk.fields.body(page),
                expected=f"definition levels of at least {stray.opened}, before it and there",
                actual=f"{before} and {stray.here}",
            ),
        )

    def _note_missing(self, page: PageUnderTest, groups: int, what: str) -> None:
        self.result.note(
            SHORT_RUN,
            Violation(
                f"{lack_of_groups(groups, what)} in page {page.number}",
                self.chunk.fields.body(page),
                expected=ALL_GROUPS,
                actual=f"{groups} fewer",
            ),
        )

    # ------------------------------------------------------------------------------------------------ values

    def _values(self, page: PageUnderTest, encoding: int, content: _Content) -> None:
        """Check what can be checked of the values without keeping them."""
        values = PageValues(
            content.values or memoryview(b""),
            content.length,
            int(content.definition[-1]),
            encoding,
            self.chunk.leaf.element,
            self.entries,
            self.is_decoded,
        )
        if encoding == Encoding.PLAIN:
            self._lengths.append(content.length)
        try:
            length = taken(values)
        except NotChecked as reason:  # the levels before them are good
            self.result.unread = self.result.unread or reason
            return
        if length is not None and content.length > length:
            self._excess(page, f"{length} bytes", f"{content.length} bytes")

    def _excess(self, page: PageUnderTest, expected: str, actual: str) -> None:
        self.result.note(
            "PQF-076",
            Violation(
                f"page {page.number} goes on behind its values, of {expected}",
                self.chunk.fields.body(page),
                expected=expected,
                actual=actual,
            ),
        )


MORE_LEVELS = "PQF-154"
"""The rule about runs behind the levels."""

OF_VALUES = ("PQF-077", "PQF-078", "PQF-079", "PQF-089", "PQF-090", "PQF-091", "PQF-092", SHORT_RUN)
"""Rules of what is behind the levels."""

OWN_RULES = ("PQF-070", "PQF-071", *OF_VALUES)
"""Rules whose check reports what a survey notes."""

NOT_OF_LEVELS = (*OF_VALUES, "PQF-084")
"""Rules that leave the levels of a page in order: the encoding of its values is no matter of theirs."""

HARMLESS = ("PQF-076", "PQF-087", "PQF-088", MORE_LEVELS)
"""Rules that keep no reader from the values."""


def _prefixed(rest: memoryview) -> tuple[memoryview, memoryview]:
    """The levels behind a length, and what follows them."""
    length = int(LENGTH.parse(rest[:LENGTH_SIZE])) if len(rest) >= LENGTH_SIZE else None
    if length is None or length > len(rest) - LENGTH_SIZE:
        raise Malformed(
            "the levels are longer than their page",
            rule="PQF-071",
            expected=f"at most {max(len(rest) - LENGTH_SIZE, 0)} bytes",
            actual="no length" if length is None else f"{length} bytes",
        )
    end = LENGTH_SIZE + length
    return rest[LENGTH_SIZE:end], rest[end:]


def _bit_packed(rest: memoryview, greatest: int, count: int) -> Runs:
    """Levels in the deprecated encoding, which have no length before them. Raises PQF-071."""
    try:
        return read_bit_packed(rest, width=bit_width(greatest), count=count)
    except Malformed as error:
        raise error.within(rule="PQF-071") from None


def _levels(section: memoryview, greatest: int, count: int) -> Runs:
    """The levels of one section, which nothing but whole runs may follow. Raises PQF-071."""
    try:
        runs = read_runs(section, width=bit_width(greatest), count=count)
    except Malformed as error:
        raise error.within(rule="PQF-071") from None
    left = len(section) - runs.taken
    if left > 0 and not are_whole_runs(section[runs.taken :], width=bit_width(greatest)):
        raise Malformed(
            f"the levels end {left} byte{'s' * (left > 1)} before their section does",
            rule="PQF-071",
            expected=f"{runs.taken} bytes of levels",
            actual=f"{len(section)} bytes",
        )
    return runs
