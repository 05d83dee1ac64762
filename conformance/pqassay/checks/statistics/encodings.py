"""Checks of the footer's statements about the encodings of a chunk, which readers use for filtering."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.checks.subjects import DATA_PAGES, PAGES
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.pages.walk import DATA_PAGES as DATA_PAGE_TYPES
from pqassay.under_test.violation import Violation, name_in
from pqassay_spec.parquet.thrift import DICTIONARY_ENCODINGS, Encoding

LEVELS = frozenset((Encoding.RLE, Encoding.BIT_PACKED))
"""Encodings of levels, which writers list even for columns without levels."""


def _says_dictionary(chunk: ColumnChunkUnderTest) -> bool:
    """Whether parquet-java concludes from the footer that all data pages use a dictionary."""
    listed = chunk.facts.encoding_stats
    if listed is None:
        return set(chunk.facts.encodings) - LEVELS == {Encoding.PLAIN_DICTIONARY}
    encodings = {entry.encoding for entry in listed if entry.page_type in DATA_PAGE_TYPES}
    return bool(encodings) and encodings.issubset(DICTIONARY_ENCODINGS)


@rule("STA-058", of=DATA_PAGES, only=_says_dictionary)
def dictionaries_are_those_of_all_pages(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Spark skips the row group if the dictionary does not contain the value that it looks for."""
    for page in chunk.data_pages:
        encoding = page.data_header.encoding
        if encoding not in DICTIONARY_ENCODINGS:
            listed = "encodings" if chunk.facts.encoding_stats is None else "encoding_stats"
            name = name_in(Encoding, encoding, str(encoding))
            yield Violation(
                f"the {listed} say that every data page has a dictionary, and page {page.number} is encoded by {name}",
                chunk.fields.facts / listed,
                expected=name,
                actual="dictionaries alone",
            )
            return


@rule("STA-062", of=PAGES)
def encodings_occur(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """The two names of the encoding of dictionary indexes count as one."""
    pages = {header.encoding for page in chunk.pages if (header := page.own_header) is not None}
    if not pages.isdisjoint(DICTIONARY_ENCODINGS):
        pages.update(DICTIONARY_ENCODINGS)
    unused = set(chunk.facts.encodings) - LEVELS - pages
    if not unused:
        return
    names = ", ".join(name_in(Encoding, encoding, str(encoding)) for encoding in sorted(unused))
    said = f"the encodings list {names}, but no page has it"
    yield Violation(said, chunk.fields.facts / "encodings", "the encodings of pages and levels", names)
