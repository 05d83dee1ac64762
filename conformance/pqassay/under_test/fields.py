"""Fields of a file under test: what the position of a finding names, and what finds its bytes.

A field is a structure and the way to one of its parts, as the grammar declares them.  It is printed like the paths of the grammar
(``footer.row_groups[0].columns[1].meta_data.num_values``); where its bytes are, is looked up for those fields that a report shows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from pqassay.under_test.file import FileUnderTest, NotApplicable, NotChecked
from pqassay.under_test.page_walk import HEADERS, PageUnderTest
from pqassay_spec.base.errors import FormatError
from pqassay_spec.grammar.thrift_path import FieldFinder
from pqassay_spec.parquet.thrift import BloomFilterHeader, ColumnIndex, FileMetaData, OffsetIndex, PageHeader

if TYPE_CHECKING:
    from pqassay.under_test.chunks import ColumnChunkUnderTest

NOWHERE = (-1, 0)
"""Offset and length of what is not in the file, or cannot be found."""


class Structure(Protocol):
    """A structure of a file.

    Attributes:
        name: Its path, with which the paths of its fields begin.
        file: The file that holds its bytes.
    """

    @property
    def name(self) -> str:
        """See above."""
        ...

    @property
    def file(self) -> FileUnderTest:
        """See above."""
        ...

    def place(self, path: str, /) -> tuple[int, int]:
        """Offset and length in the file of the field at a path below it, or of the nearest thing around that field.

        Raises:
            FormatError, NotApplicable, NotChecked: The structure cannot be read.
        """
        ...


@dataclass(frozen=True)
class Field:
    """A field of a structure: ``field / "member"`` and ``field[2]`` lead further down.

    Attributes:
        structure: The structure.
        path: The way to the field from there; empty for the whole structure.
    """

    structure: Structure
    path: str = ""

    def __str__(self) -> str:
        return ".".join(filter(None, (self.structure.name, self.path)))

    def __truediv__(self, member: str) -> Field:
        """A member, or one of its own members; the field itself if the name is empty."""
        return replace(self, path=".".join(filter(None, (self.path, member))))

    def __getitem__(self, index: int) -> Field:
        """An element of a list."""
        return replace(self, path=f"{self.path}[{index}]")

    def place(self) -> tuple[int, int]:
        """Offset and length in the file; `NOWHERE` where its structure cannot be read."""
        try:
            return self.structure.place(self.path)
        except (FormatError, NotApplicable, NotChecked):
            return NOWHERE


@dataclass(frozen=True)
class Encoded:
    """A structure that Thrift encodes.

    Attributes:
        name, file: See `Structure`.
        located: What finds its fields, its offset in the file and its length.
    """

    name: str
    file: FileUnderTest
    located: Callable[[], tuple[FieldFinder, int, int]]

    def place(self, path: str) -> tuple[int, int]:
        """See `Structure.place`."""
        finder, base, length = self.located()
        while path:
            try:
                if (found := finder.find(path)) is not None:
                    return base + found[0], found[1] - found[0]
            except (FormatError, KeyError):
                pass
            path = path.rpartition(".")[0]
        return base, length


@dataclass(frozen=True)
class Range:
    """A structure of bytes that have no fields.

    Attributes:
        name, file: See `Structure`.
        located: Its offset in the file and its length.
    """

    name: str
    file: FileUnderTest
    located: Callable[[], tuple[int, int]]

    def place(self, _: str) -> tuple[int, int]:
        """See `Structure.place`."""
        return self.located()


class Footer:
    """The footer of a Parquet file, ``file.part(Footer)``; a field that is not there is the whole footer."""

    def __init__(self, file: FileUnderTest) -> None:
        self.file = file
        self._finder: FieldFinder | None = None

    @property
    def name(self) -> str:
        """See `Structure`."""
        return f"{self.file.prefix}footer"

    def place(self, path: str) -> tuple[int, int]:
        """See `Structure.place`."""
        start, footer = self.file.framing.footer_start, self.file.footer
        if self._finder is None:
            self._finder = FieldFinder(FileMetaData, footer)
        try:
            found = self._finder.find(path) if path else None
        except (FormatError, KeyError):
            found = None
        begin, end = found or (0, len(footer))
        return start + begin, end - begin


def in_footer(file: FileUnderTest, path: str = "") -> Field:
    """A field of the footer."""
    return Field(file.part(Footer), path)


def named(file: FileUnderTest, path: str) -> Field | None:
    """The field that the specification names in an error or a range; ``None`` of what is not in the footer."""
    root, _, rest = path.partition(".")
    return in_footer(file, rest) if root == "footer" else None


class ChunkFields:
    """Fields of a column chunk: in the footer's record of it, in its indexes, its bloom filter and its pages.

    Attributes:
        chunk: The chunk.
        listed: The footer's record of it.
        column_index, offset_index, bloom_header, bitset: Its structures.
    """

    def __init__(self, chunk: ColumnChunkUnderTest) -> None:
        self.chunk = chunk
        self.listed = in_footer(chunk.file, chunk.path)
        self.column_index = self._encoded("column_index", self._located_column_index)
        self.offset_index = self._encoded("offset_index", self._located_offset_index)
        self.bloom_header = self._encoded("bloom_filter.header", self._located_bloom_header)
        self.bitset = Field(Range(f"{chunk.path}.bloom_filter.bitset", chunk.file, self._located_bitset))
        self._finders: dict[type[ColumnIndex | OffsetIndex], FieldFinder] = {}

    @property
    def facts(self) -> Field:
        """The metadata in the footer's record."""
        return self.listed / "meta_data"

    @property
    def statistics(self) -> Field:
        """The statistics in the footer."""
        return self.facts / "statistics"

    @property
    def sizes(self) -> Field:
        """The size statistics in the footer."""
        return self.facts / "size_statistics"

    def page(self, page: PageUnderTest) -> Field:
        """The header of a page."""

        def located() -> tuple[FieldFinder, int, int]:
            raw = self.chunk.file.source.read(page.offset, page.header_length)
            return FieldFinder(PageHeader, raw), page.offset, len(raw)

        return self._encoded(f"pages[{page.number}].header", located)

    def own_header(self, page: PageUnderTest) -> Field:
        """The part of a page's header that is for its type."""
        return self.page(page) / HEADERS[page.header.type]

    def body(self, page: PageUnderTest) -> Field:
        """The body of a page."""
        place = page.body_start, page.header.compressed_page_size
        return Field(Range(f"{self.chunk.path}.pages[{page.number}].body", self.chunk.file, lambda: place))

    def _encoded(self, name: str, located: Callable[[], tuple[FieldFinder, int, int]]) -> Field:
        return Field(Encoded(f"{self.chunk.path}.{name}", self.chunk.file, located))

    def _located_column_index(self) -> tuple[FieldFinder, int, int]:
        return self._located(ColumnIndex, self.chunk.column_index_bytes, self.chunk.chunk.column_index_offset)

    def _located_offset_index(self) -> tuple[FieldFinder, int, int]:
        return self._located(OffsetIndex, self.chunk.offset_index_bytes, self.chunk.chunk.offset_index_offset)

    def _located(
        self, kind: type[ColumnIndex | OffsetIndex], raw: bytes, base: int | None
    ) -> tuple[FieldFinder, int, int]:
        # An index may list a million pages, which are walked once.
        if kind not in self._finders:
            self._finders[kind] = FieldFinder(kind, raw)
        return self._finders[kind], base or 0, len(raw)

    def _located_bloom_header(self) -> tuple[FieldFinder, int, int]:
        base, (_, taken) = self.chunk.facts.bloom_filter_offset or 0, self.chunk.bloom_filter_header
        return FieldFinder(BloomFilterHeader, self.chunk.file.source.read(base, taken)), base, taken

    def _located_bitset(self) -> tuple[int, int]:
        _, taken = self.chunk.bloom_filter_header
        return (self.chunk.facts.bloom_filter_offset or 0) + taken, len(self.chunk.bitset)
