"""Headers of pages among the bytes of a chunk."""

from __future__ import annotations

from pqassay_spec.base.errors import FormatError
from pqassay_spec.grammar.thrift_decoder import decode
from pqassay_spec.parquet.thrift import PageHeader, PageType

HEADER_BYTES = 4 << 10
"""Bytes in which most page headers end; statistics in one may be longer."""


def header_at(view: memoryview, at: int, base: int = 0) -> tuple[PageHeader, int]:
    """The page header at a position of some bytes, and its length. Raises `Malformed`, with ``base`` added to offsets."""
    try:
        return decode(PageHeader, bytes(view[at : at + HEADER_BYTES]), root="page", base=base)
    except FormatError:
        return decode(PageHeader, bytes(view[at:]), root="page", base=base)


def dictionary_end(raw: memoryview) -> int:
    """Bytes of the dictionary page that a chunk begins with, 0 if it does not. Raises `Malformed`."""
    if not raw:
        return 0
    header, length = header_at(raw, 0)
    return length + header.compressed_page_size if header.type == PageType.DICTIONARY_PAGE else 0
