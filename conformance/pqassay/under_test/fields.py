"""Fields of a file under test: names for the positions of findings, and the search for their bytes.

A field is a structure and the path of one of its parts, as declared in the grammar. It is printed like the paths of the grammar
(``footer.row_groups[0].columns[1].meta_data.num_values``). The place of its bytes is looked up only if a report shows the field.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from pqassay.under_test.file import FileUnderTest, NotApplicable, NotChecked
from pqassay.under_test.pages.walk import HEADERS, PageUnderTest
from pqassay_spec.base.errors import FormatError
from pqassay_spec.grammar.thrift_path import FieldFinder
from pqassay_spec.parquet.thrift import BloomFilterHeader, ColumnIndex, FileMetaData, OffsetIndex, PageHeader

if TYPE_CHECKING:
    from pqassay.under_test.chunks import ColumnChunkUnderTest

NOWHERE = (-1, 0)
"""Offset and length of a field that is absent or cannot be found."""


Located = tuple[FieldFinder | None, int, int]
"""The finder of a structure's fields, if any, with the structure's offset in the file and its length."""


@dataclass(frozen=True)
class Structure:
    """A structure of a file.

    Attributes:
        name: Its path, the prefix of the paths of its fields.
        file: The file that holds its bytes.
        located: Locates it. Raises `FormatError`, `NotApplicable` and `NotChecked` if it cannot be read.
        is_shown_whole: Whether the whole structure is shown for an absent field, instead of the nearest enclosing field.
        beside: The file of a table with its bytes, as reports name it, if that is not the judged file.
    """

    name: str
    file: FileUnderTest
    located: Callable[[], Located]
    is_shown_whole: bool = False
    beside: str | None = None

    def place(self, path: str) -> tuple[int, int]:
        """Offset and length in the file of the field at a path below it. Raises the errors of ``located``."""
        finder, base, length = self.located()
        while finder is not None and path:
            with suppress(FormatError, KeyError):
                if (found := finder.find(path)) is not None:
                    return base + found[0], found[1] - found[0]
            path = "" if self.is_shown_whole else path.rpartition(".")[0]
        return base, length


@dataclass(frozen=True)
class Field:
    """A field of a structure: ``field / "member"`` and ``field[2]`` lead further down.

    Attributes:
        structure: The structure.
        path: The path of the field in the structure; empty for the whole structure.
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
        """Offset and length in the file; `NOWHERE` if its structure cannot be read."""
        try:
            return self.structure.place(self.path)
        except (FormatError, NotApplicable, NotChecked):
            return NOWHERE


def _footer(file: FileUnderTest) -> Structure:
    @cache
    def located() -> Located:
        return FieldFinder(FileMetaData, file.footer), file.framing.footer_start, len(file.footer)

    return Structure(f"{file.prefix}footer", file, located, is_shown_whole=True)


def in_footer(file: FileUnderTest, path: str = "") -> Field:
    """A field of the footer."""
    return Field(file.part(_footer), path)


def named(file: FileUnderTest, path: str) -> Field | None:
    """The field for a path in an error or a range of the specification; ``None`` if it is not in the footer."""
    root, _, rest = path.partition(".")
    return in_footer(file, rest) if root == "footer" else None


def element_places(file: FileUnderTest) -> list[int]:
    """The position in the schema of every leaf."""
    return [place for place, element in enumerate(file.metadata.schema) if place and element.type is not None]


class ChunkFields:
    """Fields of a column chunk: in its footer record, its indexes, its bloom filter and its pages.

    Attributes:
        chunk: The chunk.
        listed: The footer's record of it.
        column_index, offset_index, bloom_header, bitset: Its structures.
    """

    def __init__(self, chunk: ColumnChunkUnderTest) -> None:
        self.chunk = chunk
        self.listed = in_footer(chunk.file, chunk.path)
        self.column_index = self._index("column_index", ColumnIndex)
        self.offset_index = self._index("offset_index", OffsetIndex)
        self.bloom_header = self._field("bloom_filter.header", self._located_bloom_header)
        self.bitset = self._field("bloom_filter.bitset", self._located_bitset)

    @property
    def facts(self) -> Field:
        """The metadata in the footer's record."""
        return self.listed / "meta_data"

    @property
    def statistics(self) -> Field:
        """The statistics in the footer."""
        return self.facts / "statistics"

    @property
    def element(self) -> Field:
        """The column's element of the schema."""
        file = self.chunk.file
        return in_footer(file, f"schema[{file.part(element_places)[self.chunk.ordinal]}]")

    @property
    def sizes(self) -> Field:
        """The size statistics in the footer."""
        return self.facts / "size_statistics"

    def page(self, page: PageUnderTest) -> Field:
        """The header of a page."""

        def located() -> Located:
            raw = self.chunk.file.source.read(page.offset, page.header_length)
            return FieldFinder(PageHeader, raw), page.offset, len(raw)

        return self._field(f"pages[{page.number}].header", located)

    def own_header(self, page: PageUnderTest) -> Field:
        """The part of a page's header that is specific to its type."""
        return self.page(page) / HEADERS[page.header.type]

    def body(self, page: PageUnderTest) -> Field:
        """The body of a page."""
        place = None, page.body_start, page.header.compressed_page_size
        return self._field(f"pages[{page.number}].body", lambda: place)

    def _field(self, name: str, located: Callable[[], Located]) -> Field:
        return Field(Structure(f"{self.chunk.path}.{name}", self.chunk.file, located))

    def _index(self, name: str, kind: type[ColumnIndex | OffsetIndex]) -> Field:
        @cache  # an index may list a million pages, which are walked only once
        def located() -> Located:
            raw: bytes = getattr(self.chunk, f"{name}_bytes")
            return FieldFinder(kind, raw), getattr(self.chunk.chunk, f"{name}_offset"), len(raw)

        return self._field(name, located)

    def _located_bloom_header(self) -> Located:
        base, (_, taken) = self.chunk.facts.bloom_filter_offset or 0, self.chunk.bloom_filter_header
        return FieldFinder(BloomFilterHeader, self.chunk.file.source.read(base, taken)), base, taken

    def _located_bitset(self) -> Located:
        _, taken = self.chunk.bloom_filter_header
        return None, (self.chunk.facts.bloom_filter_offset or 0) + taken, len(self.chunk.bitset)
