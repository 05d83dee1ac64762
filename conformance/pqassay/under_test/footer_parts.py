"""Parts of a footer that rules are about, each with its position."""

from __future__ import annotations

from typing import NamedTuple

from pqassay.under_test.file import FileUnderTest
from pqassay_spec.parquet.thrift import ColumnChunk, RowGroup, SchemaElement


class RowGroupUnderTest(NamedTuple):
    """A row group as the footer lists it, of this file or, in a summary, of another one.

    Attributes:
        file: The file.
        number: Its position.
        listed: What the footer says of it.
    """

    file: FileUnderTest
    number: int
    listed: RowGroup

    @property
    def path(self) -> str:
        """Its place in the footer."""
        return f"footer.row_groups[{self.number}]"


class ElementUnderTest(NamedTuple):
    """An element of the schema, the root among them.

    Attributes:
        number: Its position.
        element: What the footer says of it.
    """

    number: int
    element: SchemaElement

    @property
    def path(self) -> str:
        """Its place in the footer."""
        return f"footer.schema[{self.number}]"


def path_in_schema(chunk: ColumnChunk) -> list[str] | None:
    """The names of the column to which a chunk says that it belongs; ``None`` if it does not say."""
    if chunk.meta_data is not None:
        return chunk.meta_data.path_in_schema
    key = chunk.crypto_metadata and chunk.crypto_metadata.ENCRYPTION_WITH_COLUMN_KEY
    return key.path_in_schema if key else None
