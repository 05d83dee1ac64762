"""Read an embedded IDX1 index, as published or without losses.

Source: chapter ``idx1.md``, sections "Reading as published" and "Reading exactly".
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

from pqassay_reference.errors import about
from pqassay_spec.base.errors import FormatError, Malformed
from pqassay_spec.base.sources import FileSource, Source
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.idx1 import companion as idx1_companion
from pqassay_spec.parquet.file import Framing, read_footer, read_framing, read_head
from pqassay_spec.parquet.schema.leaf_columns import leaves
from pqassay_spec.parquet.thrift import FileMetaData

NO_KEY = f"the footer has no key {idx1.KEY}: the file has no IDX1 index"

Trust = Literal["companion", "published"]
"""The trusted indexes: those with a valid companion record, or also those that the caller vouches for."""


class NoIndexError(Malformed):
    """The file does not have an index, which is optional."""


@dataclass(frozen=True)
class Extracted:
    """An index in a file.

    Attributes:
        layout: ``published``, ``draft G0`` or ``draft G1``.
        offset: File offset of the blob.
        values: The written values: the payload split only at line feeds.
        published: The values that the published reader returns; ``None`` for draft G0, which it cannot read.
        companion: The companion record, if there is one that can be trusted.
        mistrust: Why an existing companion record is not trusted.
        length: Bytes of the blob.
    """

    layout: idx1.Layout
    offset: int
    values: tuple[str, ...]
    published: tuple[str, ...] | None
    companion: idx1_companion.Companion | None
    mistrust: str = ""
    length: int = 0

    @property
    def lost(self) -> tuple[str, ...]:
        """Values of the index that the published reader does not return."""
        got = set(self.published or ())
        return tuple(value for value in self.values if value not in got)


def extract_file(path: str | os.PathLike[str]) -> Extracted:
    """Read the index of a local file. Raises the errors of `extract`, with the file's name, and ``OSError``."""
    with FileSource(path) as source, about(os.fspath(path)):
        return extract(source)


def extract(source: Source) -> Extracted:
    """Find and read the index of a Parquet file.

    Raises:
        FormatError: Not a Parquet file, no index, or one that cannot be read; names field and offset.
    """
    read_head(source)
    framing = read_framing(source)
    metadata, _ = read_footer(source, framing)
    return index_of(source, framing, metadata)


def index_of(source: Source, framing: Framing, metadata: FileMetaData) -> Extracted:
    """Read the index of a Parquet file with a parsed footer. Raises the errors of `extract`."""
    values_by_key = {pair.key: pair.value for pair in reversed(metadata.key_value_metadata or [])}
    text = values_by_key.get(idx1.KEY)
    if text is None:
        raise NoIndexError(NO_KEY, field="footer")
    offset = idx1.parse_offset(text)
    length = values_by_key.get(idx1.LENGTH_KEY)
    try:
        blob = idx1.read_blob(source, offset, framing.footer_start)
        layout = idx1.Layout.PUBLISHED if length is None else idx1.Layout.DRAFT_G1
    except Malformed as error:
        if length is None or error.rule not in ("IDX1-005", "IDX1-006"):
            raise
        blob = idx1.read_draft_g0(source, offset, idx1.parse_offset(length), framing.footer_start)
        layout = blob.layout
    companion, mistrust = _companion(source, blob, metadata, values_by_key.get(idx1.COMPANION_KEY))
    values = tuple(idx1.exact_values(blob.payload))
    if not blob.payload and (not metadata.num_rows or (companion and not companion.value_count)):
        values = ()
    published = None if layout is idx1.Layout.DRAFT_G0 else tuple(idx1.published_values(blob.payload))
    return Extracted(layout, offset, values, published, companion, mistrust, blob.end - blob.start)


def idx1_range(metadata: FileMetaData, source: Source, body_end: int) -> tuple[int, int] | None:
    """The range of the blob that the key of IDX1 points to; ``None`` if there is no readable blob."""
    text = next((pair.value for pair in metadata.key_value_metadata or [] if pair.key == idx1.KEY), None)
    try:
        blob = idx1.read_blob(source, idx1.parse_offset(text or ""), body_end)
    except FormatError:
        return None
    return blob.start, blob.end


def _companion(
    source: Source, blob: idx1.Blob, metadata: FileMetaData, text: str | None
) -> tuple[idx1_companion.Companion | None, str]:
    """The companion record if it can be trusted, otherwise the reason."""
    if text is None:
        return None, ""
    raw = source.read(blob.start, blob.end - blob.start)
    try:
        record = idx1_companion.parse_companion(text)
        mistrust = idx1_companion.why_not_trusted(
            record, blob, raw, row_count=metadata.num_rows, columns=leaves(metadata)
        )
    except Malformed as error:
        return None, error.reason
    return (None, mistrust) if mistrust else (record, "")
