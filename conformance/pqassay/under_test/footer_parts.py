"""Parts of a footer that rules are about, each with its position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

from pqassay.under_test.fields import Field, in_footer
from pqassay.under_test.file import FileUnderTest
from pqassay_spec.parquet.thrift import ColumnChunk, KeyValue, RowGroup, SchemaElement

Part = TypeVar("Part")


class FooterEntry(NamedTuple, Generic[Part]):
    """An entry of a list of the footer.

    Attributes:
        file: The file.
        path: The path of the list, below the footer.
        number: Its position.
        part: The entry itself.
    """

    file: FileUnderTest
    path: str
    number: int
    part: Part

    @property
    def field(self) -> Field:
        """Its field in the footer."""
        return in_footer(self.file, f"{self.path}[{self.number}]")


RowGroupUnderTest = FooterEntry[RowGroup]
"""A row group in the footer; in a summary, a row group of another file."""

KeyValueUnderTest = FooterEntry[KeyValue]
"""A pair of the footer's key-value metadata."""

ElementUnderTest = FooterEntry[SchemaElement]
"""An element of the schema, including the root."""


def listed(file: FileUnderTest, path: str, parts: Sequence[Part]) -> list[FooterEntry[Part]]:
    """The entries of a list of the footer, each with its position."""
    return [FooterEntry(file, path, number, part) for number, part in enumerate(parts)]


def path_in_schema(chunk: ColumnChunk) -> list[str] | None:
    """The path of the column that a chunk names; ``None`` if it names none."""
    if chunk.meta_data is not None:
        return chunk.meta_data.path_in_schema
    key = chunk.crypto_metadata and chunk.crypto_metadata.ENCRYPTION_WITH_COLUMN_KEY
    return key.path_in_schema if key else None
