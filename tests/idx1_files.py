"""Small Parquet files with an IDX1 index, good or broken in one chosen way."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pqassay_reference.rewrite.footer_splice import footer_and_tail, with_key_values
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.grammar.thrift import grammar
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.idx1 import companion as idx1_companion
from pqassay_spec.parquet.file import read_footer, read_framing
from pqassay_spec.parquet.thrift import FileMetaData, KeyValue

NATIONS = ["Singapore", "Peru", None, "Côte d'Ivoire", "Peru", "日本"]
PAYLOAD = "Côte d'Ivoire\nPeru\nSingapore\n日本".encode()


def table(values: Sequence[str | None] = tuple(NATIONS)) -> pa.Table:
    """A table whose column ``nation`` holds the values."""
    return pa.table(
        {"nation": pa.array(values, pa.string()), "year": pa.array(range(len(values)), pa.int64())}
    )


def parquet(data: pa.Table, **options: Any) -> bytes:
    """The bytes of a Parquet file with a page index."""
    buffer = io.BytesIO()
    pq.write_table(data, buffer, **{"write_page_index": True, **options})
    return buffer.getvalue()


@dataclass
class Idx1File:
    """A Parquet file with a blob before its footer.

    Attributes:
        data: The Parquet file without an index.
        payload: The payload; ``None`` for no blob at all.
        magic: The first bytes of the blob.
        length: The length field; the payload's own by default.
        offset: Text of the offset key; where the blob is by default.
        keys: Keys of the footer, as ``(key, value)``; ``{offset}`` in a value becomes the blob's offset.
    """

    data: bytes = field(default_factory=lambda: parquet(table()))
    payload: bytes | None = PAYLOAD
    magic: bytes = idx1.MAGIC
    length: int | None = None
    keys: Sequence[tuple[str, str | None]] = ((idx1.KEY, "{offset}"),)

    def blob(self) -> bytes:
        """Magic, length and payload."""
        if self.payload is None:
            return b""
        length = len(self.payload) if self.length is None else self.length
        return self.magic + length.to_bytes(8, "little") + self.payload

    def build(self) -> bytes:
        """The bytes of the file."""
        framing = read_framing(BytesSource(self.data))
        body = self.data[: framing.footer_start]
        footer = self.data[framing.footer_start : framing.tail_start]
        pairs = [
            KeyValue(key=key, value=value.replace("{offset}", str(len(body))) if value is not None else None)
            for key, value in self.keys
        ]
        return body + self.blob() + footer_and_tail(with_key_values(footer, remove=(), add=pairs))

    def recorded(self, *column: str, rows: int, values: int, nulls: int = 0) -> bytes:
        """The bytes of the file with a companion record of a column and its counts."""
        record = idx1_companion.make_companion(
            self.blob(),
            offset=self.build().index(idx1.MAGIC),
            column=column,
            row_count=rows,
            value_count=values,
            null_count=nulls,
        )
        self.keys = [(idx1.KEY, "{offset}"), (idx1.COMPANION_KEY, record.to_json())]
        return self.build()


def edited(data: bytes, edit: Any) -> bytes:
    """A Parquet file whose decoded footer was changed by ``edit(metadata)``."""
    source = BytesSource(data)
    framing = read_framing(source)
    metadata, _ = read_footer(source, framing)
    edit(metadata)
    footer = bytes(grammar(FileMetaData).build(metadata))
    content: bytes = data[: framing.footer_start] + footer_and_tail(footer)
    return content


def companion(**changes: Any) -> str:
    """The companion record of the default file, with some members changed."""
    file = Idx1File()
    offset = read_framing(BytesSource(file.data)).footer_start
    record = idx1_companion.make_companion(
        file.blob(), offset=offset, column=("nation",), row_count=len(NATIONS), value_count=4, null_count=1
    )
    return idx1_companion.Companion(**{**vars(record), **changes}).to_json()
