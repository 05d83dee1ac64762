"""The content of distinct sets and zone sums as arrays, for many files at once.

The content of a blob never raises an error here: a damaged blob is ignored, with the reason.

Source: chapter ``directory.md``, sections "Reading", "Distinct sets" and "Zone sums".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pqassay_reader.directory.plain_arrays import Packed, plain_arrays
from pqassay_reference.directory.reading.blob import Blob, Numbers, Parts, read_blob
from pqassay_reference.directory.reading.usable_entries import LeftAside, UsableEntry
from pqassay_spec.base.errors import FormatError, Malformed
from pqassay_spec.base.sources import Source
from pqassay_spec.directory.codes import Granularity, IndexType
from pqassay_spec.directory.distinct_set import SetFlags, SetHead, set_parts
from pqassay_spec.directory.zone_sums import Group, SumKind, sum_kind, sums_places
from pqassay_spec.parquet.file import Framing
from pqassay_spec.parquet.thrift import FileMetaData

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Sets:
    """The distinct sets of one column in one file.

    Attributes:
        column: The column, as a path joined by dots.
        granularity: The granularity of the sets.
        parts: The places of the sets.
        values: The values of all sets, one set after the other: an Arrow array, as pyarrow reads the column.
        starts: The position of the first value of each set, and the end of the last set.
        nulls: For each set, whether its part has a null.
        nans: For each set, whether its part has a NaN.
        complete: For each set, whether it lists all values.
    """

    column: str
    granularity: Granularity
    parts: Parts
    values: Any
    starts: Numbers
    nulls: Mask
    nans: Mask
    complete: Mask


@dataclass(frozen=True)
class Sums:
    """The zone sums of one measure in one file, a row for each group.

    Attributes:
        measure: The measure, as a path joined by dots.
        keys: The key columns, as paths joined by dots.
        granularity: The granularity of the parts.
        kind: The kind of the sums.
        parts: The places of the parts.
        part: For each group, the number of its part.
        groups: Counts and sums, a record of `Group` for each.
        key_values: For each key an Arrow array, in which null is a null key.
        minima, maxima: An Arrow array each, null if every measure is null or NaN.
    """

    measure: str
    keys: tuple[str, ...]
    granularity: Granularity
    kind: SumKind
    parts: Parts
    part: Numbers
    groups: Any
    key_values: tuple[Any, ...]
    minima: Any
    maxima: Any


class Located(NamedTuple):
    """A usable entry of a file whose blob is to be read."""

    usable: UsableEntry
    source: Source
    framing: Framing
    metadata: FileMetaData
    aside: list[LeftAside]


@dataclass
class OpenIndex:
    """An index that is read except its values, which are decoded together with those of other files.

    Attributes:
        located: The entry.
        packed: Its values.
        finish: Makes the index from the arrays of its values.
    """

    located: Located
    packed: list[Packed]
    finish: Callable[[Sequence[Any]], Sets | Sums]


def open_index(located: Located) -> OpenIndex | None:
    """Read the blob of an entry; ``None`` if the entry is ignored, with a reason in the list of its file.

    Raises:
        OSError: The file cannot be read.
    """
    usable = located.usable
    try:
        blob = read_blob(usable, located.source, located.framing, located.metadata)
        of_type = _open_sets if usable.type is IndexType.DISTINCT_SET else _open_sums
        return OpenIndex(located, *of_type(usable, blob))
    except FormatError as error:
        located.aside.append(LeftAside(usable.name, error.reason or str(error)))
        return None


def decoded_indexes(opened: Sequence[OpenIndex | None]) -> list[Sets | Sums | None]:
    """The indexes with their values; ``None`` for an ignored index, with a reason in the list of its file."""
    arrays = iter(plain_arrays([packed for one in opened if one is not None for packed in one.packed]))
    indexes: list[Sets | Sums | None] = []
    for index in opened:
        values = [next(arrays) for _ in index.packed] if index is not None else []
        is_good = index is not None and all(array is not None for array in values)
        if index is not None and not is_good:
            located = index.located
            located.aside.append(LeftAside(located.usable.name, "its values cannot be decoded"))
        indexes.append(index.finish(values) if index is not None and is_good else None)
    return indexes


def read_indexes(located: Sequence[Located]) -> list[Sets | Sums | None]:
    """Read the blobs of many entries of open files. See `open_index` and `decoded_indexes`."""
    return decoded_indexes([open_index(one) for one in located])


def _require_parts(count: int, parts: Parts) -> None:
    if count != len(parts):
        raise Malformed(f"the blob has {count} parts, but the file has {len(parts)}", rule="DIR-021")


def _open_sets(usable: UsableEntry, blob: Blob) -> tuple[list[Packed], Callable[[Sequence[Any]], Sets]]:
    places = set_parts(blob.data)
    _require_parts(len(places), blob.parts)
    heads = np.array([tuple(place.head) for place in places], np.dtype(SetHead.dtype))
    element = usable.leaves[0].element
    packed = [Packed(element, blob.data[place.start : place.end], place.head.value_count) for place in places]

    def finish(values: Sequence[Any]) -> Sets:
        return Sets(
            usable.columns[0],
            usable.granularity,
            blob.parts,
            pa.concat_arrays(values) if values else pa.nulls(0),
            np.concatenate([[0], np.cumsum(heads["value_count"], dtype=np.int64)]),
            *((heads["flags"] & flag) != 0 for flag in (SetFlags.NULLS, SetFlags.NAN, SetFlags.COMPLETE)),
        )

    return packed, finish


def _open_sums(usable: UsableEntry, blob: Blob) -> tuple[list[Packed], Callable[[Sequence[Any]], Sums]]:
    places = sums_places(blob.data)
    _require_parts(places.head.part_count, blob.parts)
    measure = usable.leaves[-1]
    if places.head.key_count != len(usable.leaves) - 1:
        raise Malformed(
            f"the blob has {places.head.key_count} keys, but the entry has {len(usable.leaves) - 1}",
            rule="DIR-031",
        )
    kind = sum_kind(measure)
    if places.head.sum_kind != kind:
        raise Malformed(
            f"sums of kind {places.head.sum_kind}, but the column needs {kind.name}", rule="DIR-031"
        )
    count = places.head.group_count
    groups = np.frombuffer(blob.data, np.dtype(Group.dtype), count, places.groups.start)
    nulls, nans, rows_of_groups = groups["null_count"], groups["nan_count"], groups["row_count"]
    if (nulls > rows_of_groups).any() or (nans > rows_of_groups - nulls).any():
        raise Malformed("a group has more nulls and NaN than rows", rule="DIR-033")
    part = np.repeat(np.arange(len(blob.parts)), places.part_sizes)
    rows = np.zeros(len(blob.parts), np.int64)
    np.add.at(rows, part, rows_of_groups.astype(np.int64))
    if (rows != blob.parts.row_count).any():
        raise Malformed("the rows of the groups do not add up to the rows of the part", rule="DIR-033")
    there: list[Mask] = []
    for place in places.keys:
        nulls = np.frombuffer(blob.data, np.uint8, count, place.nulls.start)
        if (nulls > 1).any():
            raise Malformed("the null byte of a key is neither 0 nor 1", rule="DIR-022")
        there.append(nulls == 0)
    there += [rows_of_groups > groups["null_count"] + nans] * 2
    spans = [*(place.values for place in places.keys), places.minima, places.maxima]
    packed = [
        Packed(leaf.element, blob.data[span.start : span.end], int(is_there.sum()))
        for leaf, span, is_there in zip([*usable.leaves, measure], spans, there, strict=True)
    ]

    def finish(values: Sequence[Any]) -> Sums:
        *keys, least, most = (_spread(array, is_there) for array, is_there in zip(values, there, strict=True))
        *names, name = usable.columns
        return Sums(
            name, tuple(names), usable.granularity, kind, blob.parts, part, groups, tuple(keys), least, most
        )

    return packed, finish


def _spread(values: Any, is_there: Mask) -> Any:
    """Values at the places in the mask, null elsewhere."""
    if is_there.all():
        return values
    places = np.cumsum(is_there) - 1
    return values.take(pa.array(places, pa.int64(), mask=~is_there))


__all__ = [
    "Located",
    "Mask",
    "OpenIndex",
    "Sets",
    "Sums",
    "decoded_indexes",
    "open_index",
    "read_indexes",
]
