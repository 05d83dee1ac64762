"""Checks of column chunks that claim to be encrypted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from pqassay.checks import rule
from pqassay.checks.subjects import Subject
from pqassay.under_test.fields import Field, in_footer
from pqassay.under_test.file import FileUnderTest
from pqassay.under_test.footer_parts import path_in_schema
from pqassay.under_test.pages.walk import PageUnderTest, chunk_range, walk
from pqassay.under_test.violation import Violation
from pqassay_spec.base.errors import FormatError
from pqassay_spec.parquet.thrift import ColumnChunk


class EncryptedChunk(NamedTuple):
    """A column chunk of this file that claims to be encrypted."""

    file: FileUnderTest
    row_group: int
    path: str
    chunk: ColumnChunk

    @property
    def field(self) -> Field:
        """The field that makes the claim."""
        return in_footer(self.file, self.path) / "crypto_metadata"

    def plain_pages(self) -> list[PageUnderTest]:
        """The pages that can be read without a key; empty if there are none or the chunk has no values."""
        facts = self.chunk.meta_data
        try:
            start, end = chunk_range(self.file, self.chunk, self.path)
            pages = walk(self.file.source, start, end, self.path, facts.num_values if facts else 0)
        except FormatError:
            return []
        return pages if any(page.is_data and page.own_header is not None for page in pages) else []


def _encrypted(file: FileUnderTest) -> list[EncryptedChunk]:
    if file.is_summary or file.alike is not None:  # none of the similar chunks claims it
        return []
    return [
        EncryptedChunk(file, number, f"row_groups[{number}].columns[{ordinal}]", chunk)
        for number, group in enumerate(file.metadata.row_groups)
        for ordinal, chunk in enumerate(group.columns)
        if chunk.crypto_metadata is not None and not file.is_elsewhere(chunk)
    ]


def _placed(violation: Violation, place: EncryptedChunk) -> Violation:
    column = ".".join(path_in_schema(place.chunk) or []) or None
    return replace(violation, column=column, row_group=place.row_group)


ENCRYPTED = Subject("encrypted chunk", lambda file: file.part(_encrypted), _placed)
"""A column chunk of this file with crypto_metadata."""


@rule("PQF-170", of=ENCRYPTED)
def chunks_that_claim_it_are_encrypted(place: EncryptedChunk) -> Iterator[Violation]:
    """Readers without keys skip the column or refuse the file, and readers that ignore the field read it."""
    if place.file.metadata.encryption_algorithm is None:
        message = "the chunk has crypto_metadata, but the footer names no encryption algorithm"
    elif place.file.options.reaches("pages") and (pages := place.plain_pages()):
        message = f"the chunk has crypto_metadata, but its {len(pages):,} pages can be read without a key"
    else:
        return
    yield Violation(
        message, place.field, "no crypto_metadata on a chunk that is not encrypted", "crypto_metadata"
    )
