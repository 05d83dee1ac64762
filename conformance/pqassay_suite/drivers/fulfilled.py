"""Check whether a written file fulfills the wishes of the request."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import pairwise
from typing import Any, NamedTuple

from pqassay.under_test.chunks import ColumnChunks, ColumnChunkUnderTest
from pqassay.under_test.file import FileUnderTest, NotChecked
from pqassay.under_test.index_directory import IndexDirectory
from pqassay_spec.base.errors import FormatError
from pqassay_spec.directory.codes import Granularity, IndexType, Placement
from pqassay_spec.parquet.thrift import CompressionCodec, RowGroup
from pqassay_suite.drivers.protocol import IndexWish, SortingWish, Wishes


class Written(NamedTuple):
    """A written file: its row groups, the chunks of row groups with rows, and the usable indexes of its directory."""

    groups: list[RowGroup]
    chunks: list[ColumnChunkUnderTest]
    indexes: list[IndexWish]


def unfulfilled(file: FileUnderTest, wishes: Wishes) -> Iterator[str]:
    """The wishes that a file does not fulfill, in words; a file without rows has no chunks to check.

    Raises:
        FormatError, NotApplicable, NotChecked: The file cannot be read.
    """
    chunks = [chunk for chunk in file.part(ColumnChunks).all if chunk.group.num_rows]
    written = Written(file.metadata.row_groups, chunks, list(_indexes(file)))
    for name, problem in PROBLEMS.items():
        wish = getattr(wishes, name)
        if wish is not None and (found := problem(written, wish)):
            yield f"{name}: {found}"


def _row_group_rows(written: Written, wish: int) -> str:
    most = max((group.num_rows for group in written.groups), default=0)
    return f"{most} rows in a row group" if most > wish else ""


def _page_rows(written: Written, wish: int) -> str:
    for chunk in written.chunks:
        if chunk.leaf.max_repetition_level == 0 and _has_pages(chunk):
            starts = [*chunk.page_places.first_rows, chunk.group.num_rows]
            most = max(end - start for start, end in pairwise(starts))
            if most > wish:
                return f"{most} rows in a page of column {chunk.column}"
    return ""


def _has_pages(chunk: ColumnChunkUnderTest) -> bool:
    return chunk.chunk.offset_index_offset is not None


def _switch(has: Callable[[ColumnChunkUnderTest], bool]) -> Callable[[Written, bool], str]:
    """A check of a wish that is true or false; ``has`` is the property of a chunk."""

    def problem(written: Written, wish: bool) -> str:
        odd = next((chunk.column for chunk in written.chunks if has(chunk) != wish), None)
        return "" if odd is None else f"column {odd} has {'none' if wish else 'one'}"

    return problem


def _bloom_filter(written: Written, wish: list[str]) -> str:
    for chunk in written.chunks:
        if chunk.column in wish and chunk.facts.bloom_filter_offset is None:
            return f"none for column {chunk.column}"
    return ""


def _sorting(written: Written, wish: list[SortingWish]) -> str:
    wanted = [(one.column, one.descending) for one in wish]
    for group in written.groups:
        paths = [facts.path_in_schema if (facts := chunk.meta_data) else [] for chunk in group.columns]
        declared = [(".".join(paths[one.column_idx]), one.descending) for one in group.sorting_columns or []]
        if declared[: len(wanted)] != wanted:
            return "not declared"
    return ""


def _data_page_version(written: Written, wish: int) -> str:
    found = {2 if page.v2 is not None else 1 for chunk in written.chunks for page in chunk.data_pages}
    return "" if found <= {wish} else f"there are pages of version {min(found - {wish})}"


def _codec(written: Written, wish: str) -> str:
    names = {int(codec): codec.name.lower() for codec in CompressionCodec}
    others = {names.get(chunk.facts.codec, "unknown") for chunk in written.chunks} - {wish}
    return ", ".join(sorted(others))


def _indexes(file: FileUnderTest) -> Iterator[IndexWish]:
    """The indexes of a file's directory that readers do not ignore, without those of named types."""
    for one in file.part(IndexDirectory).entries:
        with suppress(FormatError, NotChecked):
            if one.is_described and not one.is_named:
                columns = [list(path) for path in one.entry.columns]
                kind, granularity = IndexType(one.head.type), Granularity(one.head.granularity)
                yield IndexWish(kind.name, granularity.name, columns, Placement(one.head.placement).name)


def _missing_index(written: Written, wish: list[IndexWish]) -> str:
    placed = {(one.type, one.granularity, str(one.columns)): one.placement for one in written.indexes}
    for one in wish:
        placement = placed.get((one.type, one.granularity, str(one.columns)))
        what = f"{one.type} by {one.granularity} of {', '.join('.'.join(path) for path in one.columns)}"
        if placement is None:
            return f"no {what}"
        if one.placement not in (None, placement):
            return f"{what} has placement {placement}"
    return ""


PROBLEMS: Mapping[str, Callable[[Written, Any], str]] = {
    "row_group_rows": _row_group_rows,
    "page_rows": _page_rows,
    "statistics": _switch(lambda chunk: chunk.facts.statistics is not None),
    "page_index": _switch(_has_pages),
    "dictionary": _switch(lambda chunk: bool(chunk.dictionary_pages)),
    "bloom_filter": _bloom_filter,
    "sorting": _sorting,
    "data_page_version": _data_page_version,
    "codec": _codec,
    "indexes": _missing_index,
}
"""For each wish, a function that returns the problem of a file with it; empty if the wish is fulfilled."""
