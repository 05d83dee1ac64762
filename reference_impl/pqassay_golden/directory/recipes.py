"""Recipes of golden cases of the index directory: a tiny file that gets indexes, and one whose entries were changed.

Blobs that libraries do not always make with the same bytes, such as sketches and compressed ones, are given as bytes.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pqassay_golden.reads import OWN
from pqassay_golden.recipes import DATA, ENGINES, Bad, Made, Valid, input_of
from pqassay_golden.rows import literal_rows
from pqassay_golden.tiny.parquet import TinyParquet
from pqassay_reference.directory.embedding import changed_file
from pqassay_reference.directory.making.blobs import MadeBlob
from pqassay_reference.directory.making.described_data import DescribedData, OpenFile, find_columns
from pqassay_reference.directory.making.entry import MadeIndex, Request, index_of, make_index
from pqassay_reference.directory.reading.stated_values import index_directory
from pqassay_reference.rewrite.footer_splice import footer_and_tail, with_pairs
from pqassay_reference.rewrite.index_directory import stored_indexes
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.directory.codes import Granularity, IndexType, Placement
from pqassay_spec.directory.entries import CRC_SIZE, KEY, Entry, build_directory, with_crc
from pqassay_spec.golden.case import Acceptance, Answering, CheckExpectation, Expect
from pqassay_spec.mutation.mutations import Mutation
from pqassay_spec.parquet.file import read_footer, read_framing
from pqassay_spec.parquet.thrift import CompressionCodec, KeyValue

SINCE = "0.7.0"


@dataclass(frozen=True)
class IndexRecipe:
    """An index of a golden file.

    Attributes:
        type: Its type.
        columns: Its columns, separated by blanks, as paths joined by dots.
        granularity, placement, codec: See `Request`.
        most: Most values of a distinct set.
        blob: The blob before compression, if it is not made from the data.
        value_count: The number of values in that blob.
        stored: The blob as it is stored, if it is compressed.
    """

    type: IndexType
    columns: str
    granularity: Granularity = Granularity.ROW_GROUP
    placement: Placement = Placement.BODY
    codec: CompressionCodec = CompressionCodec.UNCOMPRESSED
    most: int | None = None
    blob: bytes | None = None
    value_count: int = 0
    stored: bytes | None = None

    def made(self, file: OpenFile) -> MadeIndex:
        """The index of a file."""
        paths = tuple(tuple(name.split(".")) for name in self.columns.split())
        request = Request(self.type, paths, self.granularity, self.placement, self.codec, most=self.most)
        if self.blob is None and self.stored is None:
            return make_index(file, request)
        data = DescribedData(file, find_columns(file.metadata, paths), self.granularity)
        for _ in data.row_groups():
            pass  # for the digest of the content
        blob = self.blob
        if blob is None:
            blob = make_index(file, replace(request, codec=CompressionCodec.UNCOMPRESSED)).stored
        counted = (
            self.value_count
            or make_index(file, replace(request, codec=CompressionCodec.UNCOMPRESSED)).entry.head.value_count
        )
        return index_of(data, request, MadeBlob(blob, counted), blob if self.stored is None else self.stored)


Edit = Callable[[Sequence[Entry]], Sequence[str | None]]
"""Makes the values of the keys from the entries of the directory."""


def with_indexes(data: bytes, indexes: Sequence[IndexRecipe]) -> bytes:
    """The file after adding indexes."""
    source = BytesSource(data)
    framing = read_framing(source)
    metadata, _ = read_footer(source, framing)
    file = OpenFile(source, framing, metadata)
    made = [index.made(file) for index in indexes]
    footer = source.read(framing.footer_start, framing.footer_length)
    change = changed_file(file, footer, stored_indexes(metadata), made, set())
    return data[: change.body_end] + change.added + footer_and_tail(change.footer)


def edited(data: bytes, edit: Edit) -> bytes:
    """The file with other values of the directory's keys."""
    source = BytesSource(data)
    framing = read_framing(source)
    metadata, _ = read_footer(source, framing)
    found = stored_indexes(metadata)
    footer = source.read(framing.footer_start, framing.footer_length)
    pairs = [KeyValue(key=KEY, value=value) for value in edit(found.entries)]
    footer = with_pairs(footer, without=found.places, add=pairs)
    return data[: framing.footer_start] + footer_and_tail(footer)


def key_value(data: bytes) -> Any:
    """The bytes of a directory as the value of a key."""
    return base64.b64encode(data).decode()


def binary(change: Callable[[bytes], bytes]) -> Edit:
    """An edit that changes the bytes of the directory before its checksum, which is computed again."""

    def edit(entries: Sequence[Entry]) -> Sequence[str]:
        return [key_value(with_crc(change(build_directory(entries)[:-CRC_SIZE]) + bytes(CRC_SIZE)))]

    return edit


# ------------------------------------------------------------------------------------------------------ recipes


@dataclass(frozen=True)
class GoodDirectory(Valid):
    """A valid file with indexes.

    Attributes:
        file: The file.
        indexes: Its indexes.
        predicate: The condition of a scan.
        edit: Changes the values of its keys.
        misread_by: Engines that do not read the file right, because of their own limitations.
        encode: Whether a writer must be able to write such a file; ``None`` if it is not asked.
    """

    file: TinyParquet
    indexes: Sequence[IndexRecipe]
    predicate: Sequence[Any]
    edit: Edit | None = None
    misread_by: tuple[str, ...] = ()
    encode: Acceptance | None = None

    def make(self, _: Mapping[str, Made]) -> Made:
        """Make the file, see `Recipe`."""
        data = with_indexes(self.file.build(), self.indexes)
        if self.edit is not None:
            data = edited(data, self.edit)
        expect = Expect(
            check=CheckExpectation(rules=[], tier="values"),
            lint="accept",
            decode="accept",
            value=index_directory(BytesSource(data)),
            encode=self.encode,
            read=OWN,
            scan="same-rows",
            predicate=list(self.predicate),
            rows=literal_rows(self.file),
        )
        oracles = [engine for engine in ENGINES if engine not in self.misread_by]
        return Made(self.manifest(input_of(DATA, data), expect, oracles=oracles), data)


def good(
    name: str,
    title: str,
    file: TinyParquet,
    indexes: Sequence[IndexRecipe],
    predicate: Sequence[Any],
    **more: Any,
) -> GoodDirectory:
    """A valid case as one line of a table."""
    return GoodDirectory(f"dir/{name}", title, file, indexes, predicate, since=SINCE, **more)


def bad(
    name: str,
    title: str,
    effect: str,
    parent: str,
    mutation: Mutation,
    *rules: str,
    decode: Answering | None = "either",
    **more: Any,
) -> Bad:
    """An invalid case as one line of a table; readers may ignore entries, but with ``decode="accept"`` must return `index_directory`."""
    return Bad(f"dir/{name}", title, effect, f"dir/{parent}", mutation, rules, decode, since=SINCE, **more)
