"""Parse page headers in the bytes of a chunk."""

from __future__ import annotations

from pqassay_spec.base.errors import FormatError
from pqassay_spec.grammar.thrift_decoder import decode
from pqassay_spec.parquet.thrift import PageHeader, PageType

HEADER_BYTES = 4 << 10
"""Bytes that are enough for most page headers; a header with statistics may be longer."""


def header_at(view: memoryview, at: int, base: int = 0) -> tuple[PageHeader, int]:
    """The page header at a position in some bytes, and its length. Raises `Malformed`, with ``base`` added to offsets."""
    try:
        return decode(PageHeader, bytes(view[at : at + HEADER_BYTES]), root="page", base=base)
    except FormatError:
        return decode(PageHeader, bytes(view[at:]), root="page", base=base)


def dictionary_end(raw: memoryview) -> int:
    """Bytes of the dictionary page at the beginning of a chunk, or 0 if there is none. Raises `Malformed`."""
    if not raw:
        return 0
    header, length = header_at(raw, 0)
    return length + header.compressed_page_size if header.type == PageType.DICTIONARY_PAGE else 0
