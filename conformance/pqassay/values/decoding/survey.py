"""The survey of a chunk's page bodies: each is read once, with one page in memory at a time.

It notes the faults of each page, and counts the levels of those that can be decoded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pqassay.under_test.file import NotChecked
from pqassay.under_test.pages.walk import PageUnderTest, bodies
from pqassay.values.decoding import codecs
from pqassay.values.decoding.crc import crc_fault
from pqassay.values.decoding.dictionary_pages import entry_faults
from pqassay.values.decoding.faults import (
    HARMLESS,
    MISREAD,
    OF_HEADERS,
    FaultKind,
    Faulty,
    PageFault,
    refused_as,
    wrong_encoding,
)
from pqassay.values.decoding.levels import (
    LENGTH_SIZE,
    PageCounts,
    Runs,
    counted,
    flat_counts,
    read_bit_packed,
    read_runs,
    run_faults,
    split_off,
)
from pqassay.values.decoding.list_levels import ListLevels
from pqassay.values.decoding.page_values import PageValues, are_wider, taken
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
    Type,
)

if TYPE_CHECKING:
    from pqassay.under_test.chunks import ColumnChunkUnderTest

_as_page = refused_as(FaultKind.WRONG_SIZE)
beginning, decompressed = _as_page(codecs.beginning), _as_page(codecs.decompressed)


@dataclass
class Survey:
    """The results of reading a chunk's page bodies.

    Attributes:
        shapes: The digests of levels for the groups around the leaf.
        levels: The counts of the levels; ``None`` if they take too much memory.
        faults: The faults of the pages, in order, except those that headers show.
        unread: Why a part of a page without these faults was not examined, if so.
        uncounted: Why the levels of a page are not counted, if so.
    """

    shapes: Shapes
    levels: PageCounts | None = None
    faults: list[tuple[PageUnderTest, PageFault]] = field(
        default_factory=list[tuple[PageUnderTest, PageFault]]
    )
    unread: FormatError | NotChecked | None = None
    uncounted: FormatError | NotChecked | None = None

    @property
    def counts(self) -> PageCounts:
        """The counts of the levels. Raises the error that prevented counting: `FormatError`, `NotChecked`."""
        if self.uncounted is not None or self.levels is None:
            raise self.uncounted or NotChecked("its levels are not counted", "file")
        return self.levels

    @property
    def hindrance(self) -> FormatError | NotChecked | None:
        """The error that prevents readers from reading the values; ``None`` if there is none."""
        grave = next((fault for _, fault in self.faults if fault.kind not in HARMLESS), None)
        return self.uncounted or self.unread if grave is None else Faulty(grave)


def beside(chunk: ColumnChunkUnderTest) -> list[SchemaLeaf]:
    """The neighboring leaves of a chunk's leaf."""
    if chunk.leaf.parent.parent is None:  # a top-level column
        return []
    leaves = chunk.file.leaves
    return [leaves[place] for place in (chunk.ordinal - 1, chunk.ordinal + 1) if 0 <= place < len(leaves)]


def survey(chunk: ColumnChunkUnderTest) -> Survey:
    """Read the bodies of all pages of a chunk. Raises the errors of `ColumnChunkUnderTest.pages`."""
    surveyor = _Surveyor(chunk, is_decoded=chunk.is_decoded)
    surveyor.run()
    if surveyor.has_bytes_beside_values():
        surveyor = _Surveyor(chunk, is_decoded=False)
        surveyor.run()
    return surveyor.result


def counts_of(chunk: ColumnChunkUnderTest) -> PageCounts:
    """The counts of the levels of a chunk's data pages.

    Raises:
        Malformed: The pages cannot be walked, decompressed or their levels decoded; it names the rule that they break.
        NotChecked: They are compressed or encoded in a way that pqassay does not read.
    """
    leaf = chunk.leaf
    if not leaf.max_definition_level and not leaf.max_repetition_level:
        if (fault := misread(chunk)) is not None:
            raise fault
        return flat_counts(chunk)
    return chunk.part(survey).counts


def has_stray_repetition(chunk: ColumnChunkUnderTest) -> bool:
    """Whether a page of version 2 counts bytes of repetition levels. Raises the errors of `ColumnChunkUnderTest.pages`."""
    return any(page.v2 is not None and page.v2.repetition_levels_byte_length for page in chunk.data_pages)


def misread(chunk: ColumnChunkUnderTest) -> Faulty | None:
    """The fault of a decoded chunk that makes its values others, if so."""
    leaf = chunk.leaf
    if not chunk.is_decoded or leaf.max_repetition_level:
        return None
    try:
        is_fixed = leaf.element.type == Type.FIXED_LEN_BYTE_ARRAY
        if leaf.max_definition_level and not is_fixed and not has_stray_repetition(chunk):
            return None
        faults = chunk.part(survey).faults
    except (FormatError, NotChecked):  # rules about pages report that they cannot be walked
        return None
    return next((Faulty(fault) for _, fault in faults if fault.kind in MISREAD), None)


class _Content(NamedTuple):
    """The content of a data page.

    It has its levels, the bytes after them, as stored in a page of version 2, perhaps only the first ones, and their number; and the bytes
    that the header of version 2 calls definition levels.
    """

    repetition: Runs | None
    definition: Runs | None
    values: memoryview
    length: int
    stray: memoryview = memoryview(b"")


class _Surveyor:
    """The survey of one chunk in progress.

    Attributes:
        is_decoded: Whether its values were decoded, so that byte arrays need not be scanned.
    """

    def __init__(self, chunk: ColumnChunkUnderTest, *, is_decoded: bool) -> None:
        self.chunk = chunk
        self.is_decoded = is_decoded
        self._lengths: list[int] = []
        self.codec = chunk.facts.codec
        self.greatest_definition = chunk.leaf.max_definition_level
        self.greatest_repetition = chunk.leaf.max_repetition_level
        statistics = chunk.facts.statistics
        self.counts_nulls = statistics is not None and bool(statistics.null_count)
        self.entries: int | None = None
        self.lists = ListLevels(chunk.leaf)
        self.result = Survey(Shapes(chunk.leaf, beside(chunk)))

    def run(self) -> None:
        """Examine every page. Raises the errors of `ColumnChunkUnderTest.pages`."""
        pages, result = self.chunk.pages, self.result
        try:
            result.levels = PageCounts.empty(
                len(self.chunk.data_pages), self.greatest_definition, self.greatest_repetition
            )
        except NotChecked as reason:
            result.uncounted = reason
        number = 0
        for page, body in bodies(self.chunk.file.source, pages):
            if (fault := crc_fault(page, body)) is not None:
                self._note(page, fault)
            try:
                if page.is_data:
                    self._data_page(page, body, number)
                elif page.is_dictionary:
                    self._dictionary_page(page, body)
            except (Malformed, NotChecked) as reason:
                if isinstance(reason, Faulty) and reason.fault.kind not in OF_HEADERS:
                    self._note(page, reason.fault)
                else:
                    result.unread = result.unread or reason
                reason.__traceback__ = None  # its stack frames refer to the page
            number += page.is_data

    def _note(self, page: PageUnderTest, fault: PageFault) -> None:
        self.result.faults.append((page, fault))

    def has_bytes_beside_values(self) -> bool:
        """Whether the chunk is decoded, and its pages of only PLAIN byte arrays have more bytes than the values."""
        size = self.chunk.byte_arrays_size
        if not self.is_decoded or size is None or len(self._lengths) != len(self.chunk.data_pages):
            return False
        return sum(self._lengths) > size

    def _dictionary_page(self, page: PageUnderTest, body: memoryview) -> None:
        header = page.own_header
        if not isinstance(header, DictionaryPageHeader) or self.entries is not None:
            return  # rules about headers and their number report that
        self.entries = header.num_values
        size = page.header.uncompressed_page_size
        content = decompressed(body, self.codec, size, partial(self._note, page))
        for fault in entry_faults(self.chunk, header, content, size):
            self._note(page, fault)

    def _data_page(self, page: PageUnderTest, body: memoryview, number: int) -> None:
        try:
            counted(page.data_header)
            content, non_null = self._leveled(page, body, number)
        except (Malformed, NotChecked) as reason:
            self.result.uncounted = self.result.uncounted or reason
            self.lists.skip_page()
            raise
        known = len(self.result.faults)
        problem: Malformed | None = None
        try:
            self._values(page, content, non_null)
        except Malformed as reason:
            problem = reason
        is_doubtful = problem is not None or len(self.result.faults) > known or self.counts_nulls
        if is_doubtful and self._has_stray_levels(page, content):
            del self.result.faults[known:]
            problem = self.result.uncounted = Faulty(PageFault(FaultKind.STRAY_LEVELS))
        if problem is not None:
            raise problem

    # ------------------------------------------------------------------------------------------------ levels

    @refused_as(FaultKind.BAD_LEVELS)
    def _leveled(self, page: PageUnderTest, body: memoryview, number: int) -> tuple[_Content, int]:
        """The content of a page, with its levels counted; and the number of non-null values."""
        header = page.data_header
        if isinstance(header, DataPageHeaderV2):
            content = self._second(page, header, body)
        else:
            content = self._first(page, header, body)
        return content, self._count(page, content, number)

    def _first(self, page: PageUnderTest, header: DataPageHeader, body: memoryview) -> _Content:
        """The content of a page of version 1: levels, each after its length, and values, compressed together."""
        size = page.header.uncompressed_page_size
        start = self._beginning(page, header, body)
        if start is None:
            start = decompressed(body, self.codec, size, partial(self._note, page))
        rest = start
        sections: list[Runs | None] = []
        for greatest, encoding in (
            (self.greatest_repetition, header.repetition_level_encoding),
            (self.greatest_definition, header.definition_level_encoding),
        ):
            if not greatest:
                sections.append(None)
            elif encoding == Encoding.RLE:
                section, rest = split_off(rest, "levels")
                sections.append(self._levels(page, section, greatest))
            elif encoding == Encoding.BIT_PACKED:
                if _are_runs(rest, greatest, header.num_values):
                    message = (
                        "the levels are runs after their length, which is RLE, and the header says BIT_PACKED"
                    )
                    raise Malformed(message, expected="BIT_PACKED levels", actual="RLE")
                levels = read_bit_packed(rest, width=bit_width(greatest), count=header.num_values)
                sections.append(levels)
                rest = rest[levels.taken :]
            else:
                raise wrong_encoding(encoding, FaultKind.UNKNOWN_LEVEL_ENCODING)
        repetition, definition = sections
        return _Content(repetition, definition, rest, size - (len(start) - len(rest)))

    def _beginning(self, page: PageUnderTest, header: DataPageHeader, body: memoryview) -> memoryview | None:
        """The first bytes of a page whose values are not examined, including definition levels; ``None`` if the codec has no shortcut."""
        if header.encoding != Encoding.PLAIN or not header.num_values or not self.is_decoded:
            return None
        start = beginning(body, self.codec, page.header.uncompressed_page_size)
        if start is None or self.greatest_repetition or (self.counts_nulls and not self.greatest_definition):
            return None
        needed = LENGTH_SIZE if self.greatest_definition else 0
        if needed and len(start) >= needed:
            needed += int(LENGTH.parse(start[:LENGTH_SIZE]))
        return start if len(start) >= needed else None

    def _second(self, page: PageUnderTest, header: DataPageHeaderV2, body: memoryview) -> _Content:
        """The content of a page of version 2: uncompressed levels with lengths in the header, and values, compressed or not."""
        size = page.header.uncompressed_page_size
        repetition, definition = header.repetition_levels_byte_length, header.definition_levels_byte_length
        start = repetition + definition
        if min(repetition, definition) < 0 or start > min(len(body), size):
            raise Faulty(PageFault(FaultKind.IMPOSSIBLE_SIZE))
        if repetition and not self.greatest_repetition:
            section, rest = body[:definition], body[definition:]
            if self._fits(page, section, rest, size - definition, self.greatest_definition):
                raise Faulty(PageFault(FaultKind.STRAY_LEVELS, actual=repetition))
        return _Content(
            self._levels(page, body[:repetition], self.greatest_repetition),
            self._levels(page, body[repetition:start], self.greatest_definition),
            body[start:],
            size - start,
            body[repetition:start],
        )

    def _levels(self, page: PageUnderTest, section: memoryview, greatest: int) -> Runs | None:
        """The levels of one section, checked to consist of whole runs; ``None`` for a column without these levels."""
        if not greatest:
            return None
        runs = read_runs(section, width=bit_width(greatest), count=page.data_header.num_values)
        left = len(section) - runs.taken
        if left > 0 and not are_whole_runs(section[runs.taken :], width=bit_width(greatest)):
            message = f"the levels end {left} byte{'s' * (left > 1)} before their section does"
            expected = f"{runs.taken} bytes of levels"
            raise Malformed(message, expected=expected, actual=f"{len(section)} bytes")
        if left > 0:
            self._note(page, PageFault(FaultKind.LEVELS_RUN_ON, runs.taken, len(section)))
        return runs

    def _count(self, page: PageUnderTest, content: _Content, number: int) -> int:
        """Count the levels of a page; return the number of non-null values."""
        repetition, definition = content.repetition, content.definition
        count = page.data_header.num_values
        self.result.shapes.add(repetition, definition)
        by_repetition = _histogram(repetition, self.greatest_repetition, count)
        by_definition = _histogram(definition, self.greatest_definition, count)
        stray = self.lists.first_stray(repetition, definition)
        if stray is not None:
            self._note(page, stray)
        for section, what in ((repetition, "repetition levels"), (definition, "definition levels")):
            for fault in run_faults(section, what) if section is not None else ():
                self._note(page, fault)
        if self.result.levels is not None:
            starts = repetition is None or repetition.first in (0, None)
            self.result.levels.fill(number, by_definition, by_repetition, starts=starts)
        return int(by_definition[-1])

    def _has_stray_levels(self, page: PageUnderTest, content: _Content) -> bool:
        """Whether a page of a required column has definition levels, and its other bytes are the values that these count."""
        section, rest, length = content.stray, content.values, content.length
        if self.greatest_definition or self.greatest_repetition:
            return False
        if page.v2 is None:
            try:
                section, rest = split_off(rest, "levels")
            except Malformed:
                return False
            length -= len(content.values) - len(rest)
        return self._fits(page, section, rest, length, 1)

    def _fits(
        self, page: PageUnderTest, section: memoryview, rest: memoryview, length: int, greatest: int
    ) -> bool:
        """Whether bytes are definition levels, and others exactly their values."""
        header, element = page.data_header, self.chunk.leaf.element
        try:
            count, end = header.num_values, 0
            if greatest:
                runs = read_runs(section, width=bit_width(greatest), count=count)
                count, end = int(runs.histogram(greatest + 1)[-1]), runs.taken
            stored = self._stored(page, rest, length)
            values = PageValues(
                stored, length, count, header.encoding, element, self.entries, is_decoded=False
            )
            return end == len(section) and taken(values) in (None, length)
        except (Malformed, NotChecked):
            return False

    # ------------------------------------------------------------------------------------------------ values

    def _stored(self, page: PageUnderTest, values: memoryview, length: int) -> memoryview:
        """The values of a page without compression; in version 2, only they are compressed."""
        header = page.data_header
        if not isinstance(header, DataPageHeaderV2):
            return values
        codec = self.codec if header.is_compressed is not False else CompressionCodec.UNCOMPRESSED
        return decompressed(values, codec, length, partial(self._note, page))

    @refused_as(FaultKind.MISSING_VALUES)
    def _values(self, page: PageUnderTest, content: _Content, count: int) -> None:
        """Check the values as far as possible without keeping them."""
        header, values, length = page.data_header, content.values, content.length
        if not length and not self.chunk.facts.num_values:
            return  # the chunk has no values at all
        values = self._stored(page, values, length)
        if header.encoding == Encoding.PLAIN:
            self._lengths.append(length)
        element = self.chunk.leaf.element
        needed = taken(
            PageValues(values, length, count, header.encoding, element, self.entries, self.is_decoded)
        )
        if needed is None or length <= needed:
            return
        if are_wider(self.chunk, count, length):
            raise Faulty(PageFault(FaultKind.WIDER_VALUES, actual=length // count))
        self._note(page, PageFault(FaultKind.VALUES_RUN_ON, needed, length))


def _are_runs(raw: memoryview, greatest: int, count: int) -> bool:
    """Whether levels have the form of RLE: runs with the right number of levels that fill their stated length."""
    try:
        section, _ = split_off(raw, "levels")
        return count > 0 and read_runs(section, width=bit_width(greatest), count=count).taken == len(section)
    except Malformed:
        return False


def _histogram(levels: Runs | None, greatest: int, count: int) -> NDArray[np.int64]:
    """The histogram of levels; for a column without levels, the number of its values. Raises `Malformed`: see `Runs.histogram`."""
    return np.array([count], np.int64) if levels is None else levels.histogram(greatest + 1)
