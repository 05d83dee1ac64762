"""Looking at an index directory as a careful reader does: its form, and whether its indexes are those of the data.

The reference's own opinion, without the judge: the first thing that is wrong is raised.  What an index should hold is made once more by
the writer of this package; sets and sums have one right content each, so that little is left to compare.

Source: chapter ``directory.md``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pqassay_reference.directory.making.described_data import (
    DescribedData,
    GroupValues,
    OpenFile,
    find_columns,
)
from pqassay_reference.directory.making.entry import Request, make_index, require_fit
from pqassay_reference.directory.making.ordered_values import ColumnValues
from pqassay_reference.directory.making.sketches import library, numbers_of
from pqassay_reference.directory.reading.inventory import plain_blob
from pqassay_reference.errors import Refused
from pqassay_reference.lint.parquet_file_footer import frame
from pqassay_reference.rewrite.index_directory import Indexes, body_places, stored_indexes
from pqassay_spec.base.errors import Malformed
from pqassay_spec.base.sources import FileSource
from pqassay_spec.directory import sketches as sketch_grammar
from pqassay_spec.directory.codes import CODECS, TYPE_VERSION, Granularity, IndexType, Placement
from pqassay_spec.directory.distinct_set import KNOWN_FLAGS, DistinctSet, SetFlags, read_sets
from pqassay_spec.directory.entries import HEADER, KEY, Entry, decode_text
from pqassay_spec.directory.identity import why_stale
from pqassay_spec.directory.packed_values import order_in_blobs, sort_keys, split_values
from pqassay_spec.directory.sketches import has_quantiles
from pqassay_spec.directory.zone_sums import Group, SumsPlaces, sums_places
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.parquet.column_order import FLOATING, is_nan
from pqassay_spec.parquet.file import referenced_ranges
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.thrift import CompressionCodec

WITHOUT_LIMIT = 1 << 62
"""More than any index takes."""


def lint_file(path: str | os.PathLike[str]) -> None:
    """Raise what is wrong with the index directory of a file; a file without one is in order, and so is a stale entry.

    Raises:
        FormatError: The file or its directory is not well-formed, or an index says something false.
        Undecodable: A described column cannot be decoded.
    """
    with FileSource(path) as source:
        framing, metadata = frame(source)
        file = OpenFile(source, framing, metadata)
        indexes = stored_indexes(metadata)
        for error in indexes.damaged:
            raise error
        for pair in metadata.key_value_metadata or []:
            if pair.key == KEY and HEADER.parse(decode_text(pair.value or "")).reserved:
                raise _wrong("DIR-008", "the reserved field is not 0")
        asked = [entry for entry in indexes.entries if _is_asked(file, entry)]
        for entry in asked:
            _lint_entry(file, indexes, entry, asked)


def _is_asked(file: OpenFile, entry: Entry) -> bool:
    head = entry.head
    is_known = head.type in set(IndexType) and head.type_version == TYPE_VERSION
    return is_known and not why_stale(entry, file.metadata)


def _wrong(rule: str, message: str) -> Malformed:
    return Malformed(message, rule=rule, field="directory")


def _lint_entry(file: OpenFile, indexes: Indexes, entry: Entry, others: Sequence[Entry]) -> None:
    head = entry.head
    if head.flags:
        raise _wrong("DIR-008", "an entry has flags")
    known: dict[str, set[Any]] = {
        "granularity": set(Granularity),
        "placement": set(Placement),
        "codec": set(CODECS),
    }
    for name, numbers in known.items():
        if getattr(head, name) not in numbers:
            raise _wrong("DIR-007", f"the {name} is {getattr(head, name)}")
    request = Request(
        IndexType(head.type),
        entry.columns,
        Granularity(head.granularity),
        Placement.BODY,
        max_bytes=WITHOUT_LIMIT,
    )
    if request.type == IndexType.IDX1 and (
        head.placement != Placement.BODY
        or head.granularity != Granularity.FILE
        or head.codec != CompressionCodec.UNCOMPRESSED
    ):
        raise _wrong("DIR-048", "an IDX1 blob is in the body, uncompressed, and describes the file")
    _require_own_bytes(file, entry, others)
    try:
        blob = plain_blob(file, indexes, entry)
    except Refused as error:
        raise _wrong("DIR-015", str(error)) from None
    _lint_blob(file, request, entry, blob)


def _require_own_bytes(file: OpenFile, entry: Entry, others: Sequence[Entry]) -> None:
    for start, end in body_places([entry]):
        taken = [(one.start, one.end) for one in referenced_ranges(file.metadata, file.source)]
        taken += body_places(other for other in others if other is not entry)
        if any(first < end and start < last for first, last in taken):
            raise _wrong("DIR-013", "a blob overlaps another structure")


def _lint_blob(file: OpenFile, request: Request, entry: Entry, blob: bytes) -> None:
    try:
        columns = find_columns(file.metadata, request.columns)
        require_fit(request, columns)
        if request.type in (IndexType.HLL, IndexType.KLL):
            _lint_sketches(DescribedData(file, columns, request.granularity), entry, blob)
            return
        made = make_index(file, request)
    except Refused as error:
        raise _wrong("DIR-011", str(error)) from None
    _require_content(entry, made.entry.head.content)
    leaves = [column.leaf for column in columns]
    if request.type == IndexType.DISTINCT_SET:
        _lint_sets(leaves[0], entry, blob, made.stored)
    elif request.type == IndexType.ZONE_SUMS:
        _lint_sums(leaves, entry, blob, made.stored)
    elif set(idx1.exact_values(blob[idx1.HEADER_SIZE :])) != set(
        idx1.exact_values(made.stored[idx1.HEADER_SIZE :])
    ):
        raise _wrong("DIR-048", "the IDX1 blob does not hold the values of the column")


def _require_content(entry: Entry, content: int) -> None:
    if entry.head.content != content:
        raise _wrong("DIR-017", f"{entry.names} is not the data that the entry was made of")


def _require_count(entry: Entry, count: int) -> None:
    if entry.head.value_count != count:
        raise _wrong("DIR-023", f"the blob holds {count} values, the entry says {entry.head.value_count}")


# ------------------------------------------------------------------------------------------------- distinct sets


def _lint_sets(leaf: SchemaLeaf, entry: Entry, blob: bytes, right: bytes) -> None:
    kind, length = int(leaf.element.type or 0), leaf.element.type_length
    found, wanted = (read_sets(kind, length, data) for data in (blob, right))
    if len(found) != len(wanted):
        raise _wrong("DIR-021", f"there are {len(found)} parts, and {len(wanted)} were to be")
    _require_count(entry, sum(len(part.values) for part in found))
    for part, true in zip(found, wanted, strict=True):
        _lint_set(leaf, part, true)


def _lint_set(leaf: SchemaLeaf, part: DistinctSet, true: DistinctSet) -> None:
    order = order_in_blobs(leaf)
    assert order is not None
    if part.flags & ~KNOWN_FLAGS:
        raise _wrong("DIR-024", "a set has flags that nobody knows")
    keys = sort_keys(order, part.values)
    if any(one is None for one in keys) or any(not one < two for one, two in pairwise(keys)):
        raise _wrong("DIR-025", "the values of a set do not ascend")
    if order in FLOATING and any(is_nan(order, raw) for raw in part.values):
        raise _wrong("DIR-025", "a set lists NaN")
    if part.flags & SetFlags.COMPLETE and not set(true.values) <= set(part.values):
        raise _wrong("DIR-026", "a complete set lacks values")
    if true.flags & ~part.flags & (SetFlags.NULLS | SetFlags.NAN):
        raise _wrong("DIR-027", "a set denies null or NaN")


# ----------------------------------------------------------------------------------------------------- zone sums

_COUNTS = (("row_count", "DIR-035"), ("null_count", "DIR-036"), ("nan_count", "DIR-036"), ("sum_low", "DIR-037"), ("sum_high", "DIR-037"))  # fmt: skip


def _lint_sums(leaves: Sequence[SchemaLeaf], entry: Entry, blob: bytes, right: bytes) -> None:
    found, wanted = sums_places(blob), sums_places(right)
    for name, rule in (("key_count", "DIR-031"), ("sum_kind", "DIR-031"), ("reserved", "DIR-008")):
        if getattr(found.head, name) != getattr(wanted.head, name):
            raise _wrong(rule, f"the {name} of the blob is {getattr(found.head, name)}")
    if len(found.part_sizes) != len(wanted.part_sizes):
        raise _wrong("DIR-021", f"there are {len(found.part_sizes)} parts, not {len(wanted.part_sizes)}")
    _require_count(entry, found.head.group_count)
    if found.part_sizes != wanted.part_sizes:
        raise _wrong("DIR-035", "the parts have other groups than their rows")
    if _keys(leaves, found, blob) != _keys(leaves, wanted, right):
        raise _wrong("DIR-035", "the groups have other keys than their rows, or in another order")
    for one, true in zip(found.read_groups(blob), wanted.read_groups(right), strict=True):
        _lint_group(one, true)
    for name in ("minima", "maxima"):
        span, own = getattr(found, name), getattr(wanted, name)
        if blob[span.start : span.end] != right[own.start : own.end]:
            raise _wrong("DIR-038", f"the {name} are not those of the rows")


def _lint_group(one: Group, true: Group) -> None:
    for name, rule in _COUNTS:
        if getattr(one, name) != getattr(true, name):
            raise _wrong(
                rule, f"the {name} of a group is {getattr(one, name)}, and {getattr(true, name)} is right"
            )


def _keys(leaves: Sequence[SchemaLeaf], places: SumsPlaces, data: bytes) -> list[tuple[bytes, list[bytes]]]:
    keys: list[tuple[bytes, list[bytes]]] = []
    for leaf, place in zip(leaves, places.keys, strict=False):
        nulls = data[place.nulls.start : place.nulls.end]
        kind, length = int(leaf.element.type or 0), leaf.element.type_length
        raws = data[place.values.start : place.values.end]
        keys.append((nulls, split_values(kind, length, raws, nulls.count(0))))
    return keys


# ------------------------------------------------------------------------------------------------------ sketches


def _lint_sketches(data: DescribedData, entry: Entry, blob: bytes) -> None:
    """Preambles, sizes, and of KLL what is exact; how good an estimate is, is left to chance."""
    family = IndexType(entry.head.type).name
    found = sketch_grammar.split_sketches(blob)
    for sketch in found:
        if problem := sketch_grammar.preamble_problem(family, sketch):
            raise _wrong("DIR-040", f"a sketch {problem}")
    allowed = sketch_grammar.SIZE_PARAMETERS[family][1]
    sizes = {sketch_grammar.size_parameter(family, sketch) for sketch in found}
    if len(sizes) > 1 or any(size not in allowed for size in sizes):
        raise _wrong("DIR-041", f"the sketches have sizes {sorted(sizes)}")
    given = [numbers for group in data.row_groups() for numbers in _given(data, group)]
    if data.granularity == Granularity.FILE:
        given = [np.concatenate(given)] if given else [np.zeros(0)]
    if len(found) != len(given):
        raise _wrong("DIR-021", f"there are {len(found)} sketches, and {len(given)} parts")
    _require_content(entry, data.content)
    if family == IndexType.KLL.name:
        _require_count(entry, sum(map(len, given)))
        for sketch, numbers in zip(found, given, strict=True):
            _lint_kll(sketch, numbers)


def _given(data: DescribedData, group: GroupValues) -> Iterator[NDArray[np.float64]]:
    """What each part of a row group gives to a KLL sketch; of HLL nothing is compared, and only the parts count."""
    if not has_quantiles(data.columns[0].leaf):
        yield from (np.zeros(0) for _ in range(group.part_count))
        return
    values = ColumnValues(data.columns[0], group.columns[0])
    for start, stop in zip(group.bounds[:-1].tolist(), group.bounds[1:].tolist(), strict=True):
        yield numbers_of(values, start, stop)


def _lint_kll(sketch: bytes, numbers: NDArray[np.float64]) -> None:
    try:
        read = library().kll_doubles_sketch.deserialize(sketch)
    except (RuntimeError, ValueError, MemoryError, IndexError) as error:
        raise _wrong("DIR-040", f"a sketch cannot be read: {error}") from None
    if read.n != len(numbers):
        raise _wrong("DIR-043", f"a sketch has {read.n} values, and its part {len(numbers)}")
    if len(numbers) and (read.get_min_value(), read.get_max_value()) != (numbers.min(), numbers.max()):
        raise _wrong("DIR-043", "a sketch has other bounds than its part")


__all__ = ["lint_file"]
