"""Embed an IDX1 index into a finished Parquet file, or while a file is written.

In a finished file of any writer, every byte before the footer stays in place. The blob starts where the
footer began, and only the key-value metadata of the footer change.  Page index and bloom filters stay valid,
because the structures that they describe do not move.

While writing, the blob goes through the same native output stream as the row groups, so the writer counts it
and places page index and bloom filters after it.  (With a Python file object, the writer tracks its own
position without the blob, and every page index offset is then wrong by its length.)

Source: chapter ``idx1.md``, sections "Embedding while writing" and "Embedding into a finished file".
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

import pyarrow as pa
import pyarrow.parquet as pq

from pqassay_reference.columns.column_values import (
    DistinctValues,
    collect,
    find_column,
    is_text,
)
from pqassay_reference.errors import Refused
from pqassay_reference.rewrite.finished_file import FinishedFile, WrittenState, finished_file
from pqassay_reference.rewrite.footer_splice import with_key_values
from pqassay_reference.rewrite.index_directory import body_places, stored_indexes
from pqassay_spec.base.errors import FormatError, Unsupported
from pqassay_spec.base.sources import FileSource, replaced_file, temporary_name
from pqassay_spec.grammar.hexdump import show
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.idx1 import companion as idx1_companion
from pqassay_spec.parquet.file import is_summary, referenced_ranges
from pqassay_spec.parquet.schema.leaf_columns import leaves
from pqassay_spec.parquet.thrift import FileMetaData, KeyValue

DEFAULT_LIMIT = 16 << 20
"""Greatest payload in bytes; a reader loads all of it to decide about one file."""

INDEX_KEYS = frozenset({idx1.KEY, idx1.LENGTH_KEY, idx1.COMPANION_KEY})
"""Keys that belong to an index and are removed with it."""


@dataclass(frozen=True)
class Embedded:
    """The embedded index.

    Attributes:
        path: The file.
        column: The indexed column, as a path joined by dots.
        offset: File offset of the blob.
        payload_length: Bytes of the payload.
        value_count: Distinct values in the index.
        null_count: Nulls in the column.
        row_count: Rows in the file.
        cut: Bytes of an earlier index that was removed because it ended where the footer began.
        dead: Unused bytes of an earlier index, without references.
    """

    path: str
    column: str
    offset: int
    payload_length: int
    value_count: int
    null_count: int
    row_count: int
    cut: int = 0
    dead: int = 0


@dataclass(frozen=True)
class EmbeddedColumns:
    """The values of several columns, and the embedded index of the first.

    Attributes:
        embedded: The embedded index.
        columns: Values, nulls and rows of each column, in the given order.
        state: Size and time of the new file, recorded before it got its name.
    """

    embedded: Embedded
    columns: tuple[DistinctValues, ...]
    state: WrittenState


def embed_file(
    path: str | os.PathLike[str],
    column: str,
    *,
    companion: bool = True,
    inside_table: bool = False,
    limit: int = DEFAULT_LIMIT,
) -> Embedded:
    """Embed an index of ``column`` into a finished file, replacing the file atomically.

    An existing index is replaced.  Another hard link to the file keeps the old bytes.  A Hadoop checksum sidecar (``.NAME.crc``) is
    removed, because it describes the old bytes and Spark would refuse the new ones.

    Args:
        path: A local Parquet file.
        column: A string column, as a path joined by dots.
        companion: Write the companion key, which names the column and states that no value was lost.
        inside_table: Do it even inside a table (Iceberg, Delta, …) whose manifests record the old file size.
        limit: Greatest payload in bytes.

    Raises:
        Refused: IDX1 cannot store the column or a value; a file inside a table; rows in other files.
        FormatError: The file is not a Parquet file, or its footer must not be changed.
        OSError: The file cannot be read or its directory written; it changed meanwhile; it is being written.
        Undecodable: The column's pages cannot be decoded.
    """
    return embed_columns(path, [column], companion=companion, inside_table=inside_table, limit=limit).embedded


def embed_columns(
    path: str | os.PathLike[str],
    columns: Sequence[str],
    *,
    companion: bool = True,
    inside_table: bool = False,
    limit: int = DEFAULT_LIMIT,
) -> EmbeddedColumns:
    """Read several columns, each once, and embed an index of the first, as `embed_file` does.

    A file has one such index; an index table can have the values of other columns.  If one of them cannot be
    read, the file stays as it was.

    Args:
        path: A local Parquet file.
        columns: String columns, as paths joined by dots; at least one.
        companion: See `embed_file`.
        inside_table: See `embed_file`.
        limit: Greatest payload of each column in bytes.

    Raises:
        Refused, FormatError, OSError, Undecodable: See `embed_file`.
    """
    with finished_file(path, inside_table=inside_table) as file:
        metadata = file.metadata
        located = [find_column(leaves(metadata), column) for column in columns]
        if len(located[0][1].path) > 1:
            raise Refused(
                f"column {columns[0]} is in a struct, where readers do not use this index; they use that of "
                f"`pqassay index add --type distinct-set --columns {columns[0]}`"
            )
        if metadata.encryption_algorithm is not None:
            raise Unsupported("the file is encrypted; anyone could read its index", field="footer")
        _require_own_pages(metadata, file)
        read = collect(file.target, located, limit)
        file.require_unchanged()  # or the values are those of another file than the footer
        for counted in read:
            if counted.row_count != metadata.num_rows:
                raise Refused(
                    f"the footer says {metadata.num_rows} rows, column {counted.column} has {counted.row_count}; "
                    "one of them is wrong: write the file again"
                )
        (_, leaf), collected = located[0], read[0]
        blob = _blob(collected)
        offset, cut, dead = _place(file, collected.values)
        keys = _keys(blob, offset, leaf.path, collected, companion=companion)
        footer = with_key_values(file.footer, remove=INDEX_KEYS, add=keys)
        state = file.rewrite(footer, body_end=offset, added=blob)
    embedded = _embedded(path, columns[0], offset, blob, collected)
    return EmbeddedColumns(replace(embedded, cut=cut, dead=dead), read, state)


class IndexingWriter:
    """A `pyarrow.parquet.ParquetWriter` that embeds an index of one column when it is closed.

    The file appears under its name only when everything is written. After an exception in the ``with`` block,
    or in `write` if it may have written rows, no file remains.

    Args:
        path: Path of the new file; an existing file is replaced.
        schema: Schema of the data.
        column: A string column at the top level of the schema.
        companion: Write the companion key.
        limit: Greatest payload in bytes.
        options: Passed to `pyarrow.parquet.ParquetWriter` (``write_page_index``, ``compression``, …).
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        schema: pa.Schema,
        column: str,
        *,
        companion: bool = True,
        limit: int = DEFAULT_LIMIT,
        **options: Any,
    ) -> None:
        if options.get("encryption_properties") is not None:
            raise Refused("the file is to be encrypted; anyone could read its index")
        index = schema.get_field_index(column)
        if index < 0 or not is_text(schema.field(index).type):
            raise Refused(f"there is no string column {column} at the top level of the schema")
        self._column, self._index, self._companion = column, index, companion
        self._path, self._options = path, options
        self._schema = _without_index_keys(schema)
        self._collected = DistinctValues(column, limit)
        self._failed = False
        self.result: Embedded | None = None

    def __enter__(self) -> Self:
        target = Path(os.path.realpath(self._path))
        with contextlib.ExitStack() as stack:
            stack.enter_context(replaced_file(target))
            # A native stream on the same temporary file: `replaced_file` holds the lock, the bytes are written here.
            # The path is bytes, which the function accepts although its stubs do not: a name may not be valid UTF-8.
            name = cast("str", os.fsencode(temporary_name(target)))
            self._sink = stack.enter_context(pa.OSFile(name, "wb"))
            self._writer = stack.enter_context(pq.ParquetWriter(self._sink, self._schema, **self._options))
            written = cast("pa.Schema", self._writer.schema)
            self._column = written.field(self._index).name  # a flavor may have changed it
            self._stack = stack.pop_all()
        return self

    def write(self, data: pa.Table | pa.RecordBatch) -> None:
        """Write a table or batch as one or more row groups.

        Refused rows are not in the file, and writing may continue.  After any other error the file may have some of the
        rows: the writer has then failed, and no file is created.

        Raises:
            Refused: Another schema; a value that is not UTF-8; the limit is exceeded; the writer has failed.
        """
        self._require_not_failed()
        table = pa.Table.from_batches([data]) if isinstance(data, pa.RecordBatch) else data
        if not table.schema.equals(self._schema):
            raise Refused("the rows have another schema than the file")
        batch = DistinctValues(self._column, self._collected.limit)
        for chunk in table.column(self._index).chunks:
            batch.add(chunk)
        self._collected.include(batch)
        try:
            self._writer.write_table(table)
        except BaseException:
            self._failed = True
            raise

    def _require_not_failed(self) -> None:
        if self._failed:
            raise Refused("rows could not be written and may be in the file in part; no file was made of it")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            try:
                self.result = self._finish()
            except BaseException as failure:
                self._stack.__exit__(type(failure), failure, failure.__traceback__)
                raise
        self._stack.__exit__(kind, error, traceback)

    def _finish(self) -> Embedded:
        self._require_not_failed()
        blob = _blob(self._collected)
        offset = self._sink.tell()
        self._sink.write(blob)
        keys = _keys(blob, offset, (self._column,), self._collected, companion=self._companion)
        self._writer.add_key_value_metadata({pair.key: pair.value or "" for pair in keys})
        self._writer.close()
        return _embedded(self._path, self._column, offset, blob, self._collected)


def _without_index_keys(schema: pa.Schema) -> pa.Schema:
    """A schema without the keys of an index: the schema of a file that was read may have them."""
    kept = {key: value for key, value in (schema.metadata or {}).items() if key.decode() not in INDEX_KEYS}
    return schema.with_metadata(kept)


def _require_own_pages(metadata: FileMetaData, file: FinishedFile) -> None:
    """Raise `Refused` for pages in other files: pyarrow would read the bytes at the same offsets of this file."""
    if any(is_summary(metadata, name, file.framing) for name in (os.fspath(file.path), str(file.target))):
        raise Refused("this is a summary of other files; embed an index into each of those")
    for number, row_group in enumerate(metadata.row_groups):
        for chunk in row_group.columns:
            if chunk.file_path:
                raise Refused(
                    f"row group {number} is stored in another file, {show(chunk.file_path)}; "
                    "IDX1 describes the rows of one file"
                )


def _blob(collected: DistinctValues) -> bytes:
    try:
        return idx1.build_blob(collected.values)
    except ValueError as error:
        raise Refused(f"column {collected.column}: {error}") from None


def _embedded(
    path: str | os.PathLike[str], column: str, offset: int, blob: bytes, collected: DistinctValues
) -> Embedded:
    return Embedded(
        path=str(path),
        column=column,
        offset=offset,
        payload_length=len(blob) - idx1.HEADER_SIZE,
        value_count=len(collected.values),
        null_count=collected.null_count,
        row_count=collected.row_count,
    )


def _keys(
    blob: bytes, offset: int, column: tuple[str, ...], collected: DistinctValues, *, companion: bool
) -> list[KeyValue]:
    keys = [KeyValue(key=idx1.KEY, value=str(offset))]
    if companion:
        record = idx1_companion.make_companion(
            blob,
            offset=offset,
            column=column,
            row_count=collected.row_count,
            value_count=len(collected.values),
            null_count=collected.null_count,
        )
        keys.append(KeyValue(key=idx1.COMPANION_KEY, value=record.to_json()))
    return keys


def _place(file: FinishedFile, values: Collection[str]) -> tuple[int, int, int]:
    """The offset of the new blob, and the bytes of an old one that are cut or left unused.

    An old index is only cut if it is certain: its companion record agrees with all its bytes, or it has exactly the
    values of the new one.  A length field alone proves nothing about the bytes that it covers.
    """
    source, metadata, end = file.source, file.metadata, file.framing.footer_start
    pairs = {pair.key: pair.value for pair in reversed(metadata.key_value_metadata or [])}
    try:
        blob = idx1.read_blob(source, idx1.parse_offset(pairs.get(idx1.KEY) or ""), end)
        certain = _is_certain(source, blob, pairs.get(idx1.COMPANION_KEY), values)
    except FormatError:
        return end, 0, 0  # no index, or a stale or damaged one, whose bytes are not known
    size = blob.end - blob.start
    needed = [(found.start, found.end) for found in referenced_ranges(metadata, source)]
    needed += body_places(stored_indexes(metadata).entries)  # one of them may be this very blob
    shared = any(start < blob.end and blob.start < stop for start, stop in needed)
    if shared:
        return end, 0, 0
    return (blob.start, size, 0) if blob.end == end and certain else (end, 0, size)


def _is_certain(source: FileSource, blob: idx1.Blob, companion: str | None, values: Collection[str]) -> bool:
    if set(idx1.exact_values(blob.payload)) == set(values):
        return True
    if companion is None:
        return False
    raw = source.read(blob.start, blob.end - blob.start)
    return not any(
        idx1_companion.companion_disagreements(idx1_companion.parse_companion(companion), blob, raw)
    )
