"""Strip a finished Parquet file of attached metadata: indexes, bloom filters, statistics, keys.

The file only gets another footer: every byte before it stays in place.  A stripped structure is therefore
not erased; its bytes stay in the body, without references.

Source: chapter ``parquet_file.md``, section "What may be removed from a footer"; chapter ``idx1.md``, section
"Removing an index".
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pqassay_reference.columns.column_values import listed
from pqassay_reference.errors import Refused
from pqassay_reference.rewrite.embed import INDEX_KEYS
from pqassay_reference.rewrite.extract import idx1_range
from pqassay_reference.rewrite.finished_file import FinishedFile, finished_file
from pqassay_reference.rewrite.footer_splice import Removal, without
from pqassay_reference.rewrite.index_directory import (
    body_places,
    relocated,
    restamped,
    stored_indexes,
    with_indexes,
)
from pqassay_reference.rewrite.stored_object import StoredObject, is_uri, stored_object
from pqassay_spec.base.errors import Unsupported
from pqassay_spec.base.sources import Source
from pqassay_spec.directory.entries import KEY, Entry
from pqassay_spec.grammar.thrift_decoder import decode
from pqassay_spec.parquet.file import Framing, is_elsewhere, referenced_ranges
from pqassay_spec.parquet.schema.leaf_columns import leaves
from pqassay_spec.parquet.thrift import ColumnChunk, FileMetaData, RowGroup

COLUMN_INDEX = ("column_index_offset", "column_index_length")
OFFSET_INDEX = ("offset_index_offset", "offset_index_length")
"""Fields of ColumnChunk that refer to one half of the page index."""

BLOOM_FILTER = ("bloom_filter_offset", "bloom_filter_length")
"""Fields of ColumnMetaData that refer to a bloom filter."""

STATISTICS = ("statistics", "size_statistics", "geospatial_statistics")
"""Fields of ColumnMetaData about the values that no reader needs to read them."""

ENCODING_STATS = ("encoding_stats",)
"""Fields of ColumnMetaData that count the pages of a chunk."""

SORTING_COLUMNS = ("sorting_columns",)
ROW_GROUP_HINTS = ("file_offset", "total_compressed_size", "ordinal")
"""Fields of RowGroup: its declared sort order; and facts that follow from its column chunks or its position."""


@dataclass(frozen=True)
class Selection:
    """The parts to strip.

    Raises `ValueError` if nothing is selected, or if parts of the whole file are limited to columns or row
    groups.

    Attributes:
        idx1: The keys of an IDX1 index, including the companion record's and the drafts'.
        directory: The index directory with all its entries, and its blobs in the footer's extension field.
        bloom_filters: The references to bloom filters.
        column_index: The references to column indexes, which have the bounds of pages.
        offset_index: The references to offset indexes, which have the places of pages.  The column indexes of the
            same chunks are removed with them, because they are useless alone.
        statistics: The statistics of column chunks: bounds, counts, sizes and level histograms, bounding boxes.
        encoding_stats: The counts of the pages of column chunks by type and encoding.
        sorting_columns: The sort order that row groups declare.
        row_group_hints: The offset, compressed size and ordinal of row groups, which follow from other fields.
        column_orders: The orders of all columns; bounds and column indexes have no meaning without them.
        keys: Further keys of the footer.
        columns: Only strip chunks of these columns, as paths joined by dots; all by default.
        row_groups: Only strip chunks of these row groups, counted from 0; all by default.
    """

    idx1: bool = False
    directory: bool = False
    bloom_filters: bool = False
    column_index: bool = False
    offset_index: bool = False
    statistics: bool = False
    encoding_stats: bool = False
    sorting_columns: bool = False
    row_group_hints: bool = False
    column_orders: bool = False
    keys: Sequence[str] = ()
    columns: Sequence[str] = ()
    row_groups: Sequence[int] = ()

    def __post_init__(self) -> None:
        if not self.whole_file and not self.of_row_groups and not self.chunks:
            raise ValueError("nothing is selected")
        if self.whole_file and (self.columns or self.row_groups):
            raise ValueError(
                "IDX1, the index directory, keys and column orders belong to the whole file, not to columns or row groups"
            )
        if self.of_row_groups and self.columns:
            raise ValueError("sorting columns and hints belong to whole row groups, not to columns")

    @property
    def whole_file(self) -> bool:
        """Whether a selected part belongs to the file rather than to column chunks."""
        return self.idx1 or self.directory or self.column_orders or bool(self.keys)

    @property
    def of_row_groups(self) -> tuple[str, ...]:
        """The selected fields of row groups."""
        fields = SORTING_COLUMNS if self.sorting_columns else ()
        return (*fields, *(ROW_GROUP_HINTS if self.row_group_hints else ()))

    @property
    def chunks(self) -> bool:
        """Whether a selected part belongs to column chunks."""
        return (
            self.bloom_filters
            or self.column_index
            or self.offset_index
            or self.statistics
            or self.encoding_stats
        )


@dataclass(frozen=True)
class Stripped:
    """The parts that were stripped, or that would be with ``dry_run``.

    Attributes:
        path: The file.
        column_indexes: Number of chunks that lost the reference to their column index.
        offset_indexes: Number of chunks that lost the reference to their offset index.
        bloom_filters: Number of chunks that lost the reference to their bloom filter.
        statistics: Number of chunks that lost statistics of any kind.
        keys: The pairs that the footer lost, by key, in order.
        saved: Number of bytes by which the footer is shorter.
        dead: Bytes of the body that belonged to a structure before, but no longer do.
        elsewhere: Selected chunks that were left alone because they are stored in other files.
        encoding_stats: Number of chunks that lost the counts of their pages.
        row_groups: Number of row groups that lost fields of their own.
        column_orders: Whether the footer lost the orders of its columns.
        indexes: Entries that the index directory lost: all of them, or those for pages whose offset index was removed.
    """

    path: str
    column_indexes: int = 0
    offset_indexes: int = 0
    bloom_filters: int = 0
    statistics: int = 0
    keys: tuple[str, ...] = ()
    saved: int = 0
    dead: int = 0
    elsewhere: int = 0
    encoding_stats: int = 0
    row_groups: int = 0
    column_orders: bool = False
    indexes: tuple[Entry, ...] = ()

    def says_about_values(self, selection: Selection) -> bool:
        """Whether it includes claims that a check compares with the values: bounds, counts, orders, indexes, filters."""
        return any(
            (
                *(self.column_indexes, self.offset_indexes, self.bloom_filters, self.statistics),
                *(self.column_orders, selection.sorting_columns and self.row_groups),
                *(key == KEY or key in INDEX_KEYS for key in self.keys),
                *self.indexes,
            )
        )

    @property
    def anything(self) -> bool:
        """Whether there was anything to strip."""
        return any(
            (
                *(self.column_indexes, self.offset_indexes, self.bloom_filters),
                *(self.statistics, self.encoding_stats, self.row_groups, self.column_orders, self.keys),
                bool(self.indexes),
            )
        )


def strip_file(
    path: str | os.PathLike[str],
    selection: Selection,
    *,
    output: str | os.PathLike[str] | None = None,
    inside_table: bool = False,
    values_are_right: bool = False,
    report: str | os.PathLike[str] | None = None,
    dry_run: bool = False,
) -> Stripped:
    """Strip a file by rewriting its footer, replacing it atomically. For an object, see `pqassay_reference.rewrite.stored_object`.

    A file without any of the selected parts stays unchanged (and is copied if there is an ``output``).
    Chunks that are stored in another file are left alone: that file's own footer describes them, too.

    Args:
        path: A Parquet file, or the URI of one.
        selection: The parts to remove.
        output: Write the stripped file here (for a URI, to another URI) and leave ``path`` unchanged.
        inside_table: Do it even inside a table (Iceberg, Delta, …) whose manifests record the old file size.
        values_are_right: Whether the caller knows that the values are right, so bounds, counts, indexes and
            filters may be removed.
        report: A report of ``pqassay check --format json`` on the file: claims about values may also be
            removed if it finds the metadata false and no values damaged.
        dry_run: Do everything except writing.

    Raises:
        Refused: Claims about values would be removed without confirmation of the values; an unknown column or
            row group; a file inside a table; a store without conditional replacement.
        FormatError: The file is not a Parquet file, or its footer must not be changed.
        OSError: The file cannot be read or its directory written; it changed meanwhile; it is being written.
    """
    name, target = os.fspath(path), None if output is None else os.fspath(output)
    if target is not None and is_uri(target) and not is_uri(name):
        raise Refused("a local file is written to a local path; copy the result to its store")
    opened = (
        stored_object(name, inside_table=inside_table, output=target, dry_run=dry_run)
        if is_uri(name)
        else finished_file(path, inside_table=inside_table, output=output)
    )
    with opened as file:
        _require_plaintext(file.metadata)
        removal, stripped = _removal(file.metadata, file.framing, selection)
        stripped = replace(stripped, path=file.path)
        before = file.footer
        footer = without(before, removal) if removal else before
        if selection.directory:
            gone = stored_indexes(file.metadata)
            footer = with_indexes(footer, stored_indexes(decode(FileMetaData, footer)[0]), (), None)
            stripped = replace(stripped, indexes=gone.entries)
        elif removal:
            footer, lost = _with_good_entries(file.metadata, footer)
            stripped = replace(stripped, indexes=lost)
        if stripped.anything:
            stripped = replace(stripped, saved=len(before) - len(footer), dead=_dead(file, footer))
        if not (dry_run or values_are_right) and stripped.says_about_values(selection):
            doubt = "" if report is None else _doubt_in(report, name, file.framing.size)
            if doubt or report is None:
                raise Refused(
                    f"the removed metadata may be the only evidence of damaged values; {doubt}compare the values with "
                    "their source, then add --values-are-right"
                )
        if not dry_run and (stripped.anything or output is not None):
            file.rewrite(footer, body_end=file.framing.footer_start, output=target)
    return stripped


def _doubt_in(report: str | os.PathLike[str], path: str, size: int) -> str:
    """Why a report on a file of that size does not vouch for its values, as a prefix for a message; empty if it does."""
    name = os.fspath(report)
    try:
        judged = [file for file in json.loads(Path(name).read_text("utf-8"))["files"] if file["size"] == size]
        files = [file for file in judged if Path(file["path"]).resolve() == Path(path).resolve()]
        compared = [one for file in files for one in file["findings"] if one["compares_values"]]
        sides = {one["weighed"]["wrong"] if one.get("weighed") else "either" for one in compared}
    except (ValueError, KeyError, TypeError):
        return f"{name} is not a JSON report of pqassay check; "
    if not files:
        return f"{name} is not about this file as it is now; "
    return (
        ""
        if sides == {"metadata"}
        else f"{name} does not show that the metadata is false and the values are true; "
    )


def _with_good_entries(before: FileMetaData, footer: bytes) -> tuple[bytes, tuple[Entry, ...]]:
    """A footer with an index directory that fits it, and the entries that it lost.

    Fresh entries stay fresh, although the statistics that their shape contains were removed.  An entry for pages is removed
    with the offset index.
    """
    after, _ = decode(FileMetaData, footer)
    indexes = stored_indexes(after)
    if not indexes.entries:
        return footer, ()
    kept, lost = restamped(before, after)
    if tuple(kept) == indexes.entries:
        return footer, ()
    kept, area = relocated(kept, indexes, ())
    return with_indexes(footer, indexes, kept, area), tuple(lost)


def _require_plaintext(metadata: FileMetaData) -> None:
    """Raise `Unsupported` for a file with encrypted columns. A signed footer is refused later, when it is changed."""
    for number, row_group in enumerate(metadata.row_groups):
        for ordinal, chunk in enumerate(row_group.columns):
            if chunk.crypto_metadata is not None or chunk.encrypted_column_metadata is not None:
                raise Unsupported(
                    "the column chunk is encrypted; pqassay has no keys",
                    field=f"footer.row_groups[{number}].columns[{ordinal}]",
                )


# ----------------------------------------------------------------------------------------------- parts to remove


def _removal(metadata: FileMetaData, framing: Framing, selection: Selection) -> tuple[Removal, Stripped]:
    removal, keys = _removal_of_whole_file(metadata, selection)
    counts = Counter[str]()
    if selection.chunks or selection.of_row_groups:
        ordinals = _ordinals(metadata, selection.columns)
        row_groups: dict[str | int, Removal | None] = {}
        for number in _row_groups(metadata, selection.row_groups):
            group = metadata.row_groups[number]
            if going := _row_group_removal(group, framing, ordinals, selection, counts):
                row_groups[number] = going
        if row_groups:
            removal["row_groups"] = row_groups
    stripped = Stripped("", keys=keys, column_orders="column_orders" in removal)
    numbers: dict[str, Any] = dict(counts)
    return removal, replace(stripped, **numbers)


def _removal_of_whole_file(
    metadata: FileMetaData, selection: Selection
) -> tuple[dict[str | int, Removal | None], tuple[str, ...]]:
    """The removal of parts that do not belong to a row group, and the removed keys."""
    removal: dict[str | int, Removal | None] = {}
    if selection.column_orders and metadata.column_orders is not None:
        removal["column_orders"] = None
    pairs = metadata.key_value_metadata or []
    names = {
        *selection.keys,
        *(INDEX_KEYS if selection.idx1 else ()),
        *([KEY] if selection.directory else ()),
    }
    going: dict[str | int, Removal | None] = {n: None for n, pair in enumerate(pairs) if pair.key in names}
    if going:  # with the last pair goes the list
        removal["key_value_metadata"] = going if len(going) < len(pairs) else None
    return removal, tuple(pair.key for pair in pairs if pair.key in names)


def _row_group_removal(
    group: RowGroup,
    framing: Framing,
    ordinals: Collection[int] | None,
    selection: Selection,
    counts: Counter[str],
) -> dict[str | int, Removal | None]:
    """The removal from one row group: its own fields, and those of chunks of some columns."""
    going: dict[str | int, Removal | None] = {
        name: None for name in selection.of_row_groups if getattr(group, name) is not None
    }
    counts["row_groups"] += bool(going)
    columns: dict[str | int, Removal | None] = {}
    for ordinal, chunk in enumerate(group.columns):
        if ordinals is not None and ordinal not in ordinals:
            continue
        if is_elsewhere(chunk, framing):
            counts["elsewhere"] += 1
        elif fields := _chunk_removal(chunk, selection, counts):
            columns[ordinal] = fields
    if columns:
        going["columns"] = columns
    return going


def _chunk_removal(
    chunk: ColumnChunk,
    selection: Selection,
    counts: Counter[str],
) -> Removal:
    """The removal from one chunk."""
    outer: set[str] = set()
    inner: set[str] = set()
    for is_selected, name, record, fields, lost in (
        (selection.column_index or selection.offset_index, "column_indexes", chunk, COLUMN_INDEX, outer),
        (selection.offset_index, "offset_indexes", chunk, OFFSET_INDEX, outer),
        (selection.bloom_filters, "bloom_filters", chunk.meta_data, BLOOM_FILTER, inner),
        (selection.statistics, "statistics", chunk.meta_data, STATISTICS, inner),
        (selection.encoding_stats, "encoding_stats", chunk.meta_data, ENCODING_STATS, inner),
    ):
        if is_selected and record is not None:
            present = [field for field in fields if getattr(record, field) is not None]
            counts[name] += bool(present)
            lost.update(present)
    going: dict[str | int, Removal | None] = dict.fromkeys(sorted(outer))
    if inner:
        going["meta_data"] = dict.fromkeys(sorted(inner))
    return going


def _ordinals(metadata: FileMetaData, names: Sequence[str]) -> Collection[int] | None:
    """Positions of the leaves with one of these names; ``None`` for all."""
    if not names:
        return None
    there = leaves(metadata)
    found = {name: {ordinal for ordinal, leaf in enumerate(there) if leaf.is_called(name)} for name in names}
    for name in names:
        if not found[name]:
            raise Refused(f"there is no column {name}; columns are: {listed(there)}")
    return set[int]().union(*found.values())


def _row_groups(metadata: FileMetaData, numbers: Sequence[int]) -> Iterable[int]:
    count = len(metadata.row_groups)
    for number in numbers:
        if not 0 <= number < count:
            raise Refused(f"there is no row group {number}; the file has {count}, counted from 0")
    return sorted(set(numbers)) if numbers else range(count)


# ------------------------------------------------------------------------------------------------- unused bytes


def _dead(file: FinishedFile | StoredObject, footer: bytes) -> int:
    """Bytes of the body that belong to a structure according to the old footer, but to none according to the new one."""
    after, _ = decode(FileMetaData, footer)
    old = list(_ranges(file.metadata, file.source, file.framing))
    new = list(_ranges(after, file.source, file.framing))
    return _covered(old) - _covered(new)


def _ranges(metadata: FileMetaData, source: Source, framing: Framing) -> Iterator[tuple[int, int]]:
    """Yield every range of the body that the footer assigns to a structure, including the blob of an IDX1 index."""
    body_end = framing.footer_start
    for found in referenced_ranges(metadata, source, framing):
        if 0 <= found.start < found.end <= body_end:
            yield found.start, found.end
    blob = idx1_range(metadata, source, body_end)
    if blob is not None:
        yield blob
    for start, end in body_places(stored_indexes(metadata).entries):
        if 0 <= start < end <= body_end:
            yield start, end


def _covered(ranges: Iterable[tuple[int, int]]) -> int:
    total = reached = 0
    for start, end in sorted(ranges):
        total += max(0, end - max(start, reached))
        reached = max(reached, end)
    return total
