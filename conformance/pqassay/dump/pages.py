"""The trace of the pages of a column chunk: every field of their headers, and their bodies.

A body is one leaf with a description, unless it is small enough to be decoded, see `pqassay.dump.bodies`.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum

from pqassay.dump.bodies import BodyTrace, is_taken_apart
from pqassay.dump.forms import Sink
from pqassay.dump.regions import Tracer, structure, unparsed
from pqassay.under_test.file import NotChecked
from pqassay.under_test.pages.walk import LONGEST_HEADER, PageUnderTest, each_page
from pqassay_spec.base.errors import FormatError, Malformed
from pqassay_spec.base.sources import Source
from pqassay_spec.grammar.thrift import grammar
from pqassay_spec.grammar.trace import Leaf
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.thrift import (
    ColumnMetaData,
    CompressionCodec,
    DataPageHeaderV2,
    Encoding,
    PageHeader,
    PageType,
)


class ChunkTrace:
    """The trace of the pages of one column chunk.

    Args:
        source: The file.
        facts: The footer's metadata of the chunk.
        path: Its path, ``row_groups[0].columns[1]``.
        start, end: The range of its bytes.
        leaf: Its column; ``None`` if the schema lacks it.
    """

    def __init__(
        self, source: Source, facts: ColumnMetaData, path: str, start: int, end: int, leaf: SchemaLeaf | None
    ) -> None:
        self._source, self._facts, self._path, self._leaf = source, facts, path, leaf
        self._start, self._end = start, end

    def __call__(self, sink: Sink) -> FormatError | None:
        """Pass the leaves to a sink, page by page; return the error if the pages end too early."""
        position, number = self._start, 0
        try:
            for page in each_page(self._source, self._start, self._end, self._path, self._facts.num_values):
                self._header(page.number, page.offset, page.header_length)(sink)
                sink(list(self._body(page)))
                position, number = page.offset + page.stored_length, page.number + 1
        except NotChecked as problem:
            return Malformed(str(problem), field=self._path, offset=position)
        except FormatError as error:
            length = min(self._end - position, LONGEST_HEADER)
            if error.rule != "PQF-051" or "goes on" not in error.reason:
                self._header(number, position, length)(sink)
            return error
        return None

    def _header(self, number: int, start: int, length: int) -> Tracer:
        root = f"{self._path}.pages[{number}].header"
        return structure(grammar(PageHeader), lambda: self._source.read(start, length), root, start)

    def _body(self, page: PageUnderTest) -> Iterator[Leaf]:
        """The leaves of a body: levels and values if it is small, else one leaf.

        A larger page of version 2 is split into levels and values, since its header says where the levels end.
        """
        path, position = f"{self._path}.pages[{page.number}].body", page.body_start
        end = page.offset + page.stored_length
        v2 = page.v2
        if self._leaf is not None and self._is_plain(page) and is_taken_apart(page):
            yield from BodyTrace(page, self._leaf, self._source.read(position, end - position), path).leaves()
            return
        if v2 is not None:
            for name, length in (
                ("repetition_levels", v2.repetition_levels_byte_length),
                ("definition_levels", v2.definition_levels_byte_length),
            ):
                if 0 < length <= end - position:
                    reason = f"{name.replace('_', ' ')}, {length} bytes, never compressed"
                    yield unparsed(f"{path}.{name}", position, position + length, reason)
                    position += length
            path = f"{path}.values"
        if position < end:
            yield unparsed(path, position, end, self._what(page, end - position))

    def _is_plain(self, page: PageUnderTest) -> bool:
        """Whether the values of a page are uncompressed."""
        is_exempt = page.v2 is not None and page.v2.is_compressed is False
        return is_exempt or self._facts.codec == CompressionCodec.UNCOMPRESSED

    def _what(self, page: PageUnderTest, length: int) -> str:
        header, facts = page.header, self._facts
        kind = _name(PageType, header.type).lower().replace("_", " ")
        parts = [f"{kind} body" if page.v2 is None else "values"]
        own = page.own_header
        if own is not None:
            parts.append(_name(Encoding, own.encoding))
        codec = _name(CompressionCodec, facts.codec)
        if isinstance(own, DataPageHeaderV2):
            levels = own.repetition_levels_byte_length + own.definition_levels_byte_length
        else:
            levels = 0
        if self._is_plain(page):
            parts.append(f"{length} bytes, not compressed")
        else:
            parts.append(f"{codec}, {length} bytes -> {header.uncompressed_page_size - levels}")
        return ", ".join(parts)


def _name(names: type[IntEnum], value: int) -> str:
    """The name of an enum value; its number if it has no name."""
    try:
        return str(names(value).name)
    except ValueError:
        return f"{names.__name__} {value}"
