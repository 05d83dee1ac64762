"""Variants among byte arrays: the names in their metadata, and the values within values, those of one depth at a time.

`pqassay_spec.parquet.encoding.variant` says what the bytes mean, one variant after the other; this is tested to agree with it.
A value within another has a byte of its own, so that no bytes make more work than they are many.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pqassay.values.claims.texts import bytes_of, no_utf8
from pqassay_spec.parquet.encoding.variant import (
    ARRAY_LARGE,
    BASIC_MASK,
    COUNT_WIDTHS,
    DECIMALS,
    DEEPEST,
    HEADER_SHIFT,
    ID_SHIFT,
    LENGTH_WIDTH,
    MOST_SCALE,
    OBJECT_LARGE,
    OFFSET_SHIFT,
    SIZES,
    SORTED_BIT,
    STRING,
    VERSION,
    VERSION_MASK,
    WIDTH_MASK,
    Basic,
)

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_SIZES = np.array([-1 if size is None else size for size in SIZES])


def numbers(raw: NDArray[np.uint8], places: Ints, widths: Ints | int) -> Ints:
    """Little-endian numbers of up to four bytes, int64; what lies behind the end of ``raw`` counts as zeros."""
    widths = np.broadcast_to(np.asarray(widths), places.shape)
    found = np.zeros(len(places), np.int64)
    for place in range(int(widths.max(initial=0))):
        is_there = (widths > place) & (places + place < len(raw))
        found[is_there] |= raw[places[is_there] + place].astype(np.int64) << 8 * place
    return found


def spread(starts: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Ranges of integers one behind the other: of which range each integer is, and the integer."""
    of = np.repeat(np.arange(len(starts)), counts)
    before = np.cumsum(counts) - counts
    return of, starts[of] + np.arange(len(of)) - before[of]


def _texts(raw: NDArray[np.uint8], starts: Ints, sizes: Ints) -> Any:
    """Parts of bytes as an array of binary."""
    ends: Any = np.concatenate(([0], np.cumsum(sizes)))
    content: Any = raw[spread(starts, sizes)[1]]
    return pa.Array.from_buffers(
        pa.large_binary(), len(starts), [None, pa.py_buffer(ends), pa.py_buffer(content)]
    )


# ---------------------------------------------------------------------------------------------------- metadata


@dataclass(frozen=True)
class Names:
    """The names in the metadata of variants.

    Attributes:
        is_malformed: Whether each metadata cannot be read, bool; such has no names.
        is_unsorted: Whether it says that its names are sorted, and they are not, bool.
        first, count: Where its names begin among all, and how many there are, int64.
        texts: The names of all, binary; equal ones occur as often as they are stored.
        ranks: The order of each name among all; equal names have equal ones, int64.
    """

    is_malformed: Flags
    is_unsorted: Flags
    first: Ints
    count: Ints
    texts: Any
    ranks: Ints


def read_names(array: Any) -> Names:
    """The names in the metadata of an array of binary without nulls."""
    raw, ends = bytes_of(array)
    starts, sizes = ends[:-1], np.diff(ends)
    header = numbers(raw, starts, (sizes > 0).astype(np.int64))
    widths = (header >> OFFSET_SHIFT) + 1
    count = numbers(raw, starts + 1, widths)
    behind = 1 + widths * (count + 2)
    wrong = (header & VERSION_MASK != VERSION) | (behind > sizes)
    count[wrong] = 0
    of, place = spread(np.zeros(len(count), np.int64), np.where(wrong, 0, count + 1))
    offsets = numbers(raw, starts[of] + 1 + widths[of] * (place + 1), widths[of])
    is_last = place == count[of]
    descends = np.append(offsets[1:] < offsets[:-1], False) & ~is_last
    room = (sizes - behind)[of]
    faulty = descends | ((place == 0) & (offsets != 0)) | (is_last & (offsets != room))
    wrong |= np.bincount(of[faulty], minlength=len(wrong)) > 0
    kept = ~is_last & ~wrong[of]
    count[wrong] = 0
    lengths = np.append(np.diff(offsets), 0)[kept]
    texts = _texts(raw, (starts + behind)[of[kept]] + offsets[kept], lengths)
    no_text = no_utf8(texts)
    first = np.cumsum(count) - count
    if no_text is not None:
        wrong |= np.bincount(of[kept][no_text], minlength=len(wrong)) > 0
    ranks = _ranks(texts)
    falls = np.append(ranks[1:] <= ranks[:-1], False)[: len(ranks)]
    falls &= np.append(place[kept][1:] > 0, False)[: len(ranks)]
    unsorted_ = np.bincount(of[kept][falls], minlength=len(wrong)) > 0
    unsorted_ &= (header & SORTED_BIT != 0) & ~wrong
    return Names(wrong, unsorted_, first, count, texts, ranks)


def _ranks(texts: Any) -> Ints:
    encoded = texts.dictionary_encode()
    ranks = np.empty(len(encoded.dictionary), np.int64)
    ranks[pc.array_sort_indices(encoded.dictionary).to_numpy()] = np.arange(len(ranks))
    return np.asarray(ranks[encoded.indices.to_numpy()], np.int64)


# ------------------------------------------------------------------------------------------------------ values


class Fields(NamedTuple):
    """The fields of objects: of which value each is, int64; whether that value is the object itself, bool; of which object, and its id, int64."""

    of: Ints
    is_outermost: Flags
    object: Ints
    id: Ints

    def at(self, kept: Flags) -> Fields:
        """Some of them."""
        return Fields(self.of[kept], self.is_outermost[kept], self.object[kept], self.id[kept])


@dataclass(frozen=True)
class Values:
    """The values of variants.

    Attributes:
        is_malformed: Whether each value cannot be read, bool.
        is_unknown: Whether one has a type that is not known, or is nested deeper than is followed, bool.
        basic: Its kind, int64; -1 of one without a byte.
        fields: The fields of all objects in those that can be read, object by object, in their order.
    """

    is_malformed: Flags
    is_unknown: Flags
    basic: Ints
    fields: Fields


def read_values(array: Any) -> Values:
    """Read the values of an array of binary without nulls."""
    raw, ends = bytes_of(array)
    count = len(ends) - 1
    walk = _Walk(raw, count)
    nodes = _Nodes(np.arange(count), ends[:-1], ends[1:])
    basic = np.where(np.diff(ends) > 0, numbers(raw, nodes.start, 1) & BASIC_MASK, -1)
    ended = walk.level(nodes, is_outermost=True)
    walk.note(np.flatnonzero((ended != ends[1:]) & ~walk.is_unknown))
    for _ in range(DEEPEST):
        if not len(walk.next.of):
            break
        walk.deeper()
    walk.is_unknown[walk.next.of] = True
    of, is_outermost, objects, ids = zip(*walk.fields, strict=True)
    fields = Fields(*map(np.concatenate, (of, is_outermost, objects, ids)))
    return Values(
        walk.is_malformed,
        walk.is_unknown & ~walk.is_malformed,
        basic,
        fields.at(~(walk.is_malformed | walk.is_unknown)[fields.of]),
    )


class _Nodes(NamedTuple):
    """Values of one depth: of which outermost value each is part, where it begins, and where it ends at the latest, int64."""

    of: Ints
    start: Ints
    limit: Ints

    def at(self, kept: Any) -> _Nodes:
        return _Nodes(*(part[kept] for part in self))


class _Containers(NamedTuple):
    """Objects and arrays: their nodes, what they are, where each of their parts begins, how wide its numbers are, how many values there are, and where they end."""

    nodes: _Nodes
    is_object: Flags
    ids: Ints
    id_widths: Ints
    offsets: Ints
    widths: Ints
    values: Ints
    counts: Ints
    size: Ints
    ended: Ints


_NO_INTS = np.zeros(0, np.int64)


class _Walk:
    """The walk through values, depth by depth."""

    def __init__(self, raw: NDArray[np.uint8], count: int) -> None:
        self.raw = raw
        self.is_malformed = np.zeros(count, np.bool_)
        self.is_unknown = np.zeros(count, np.bool_)
        self.fields = [Fields(_NO_INTS, np.zeros(0, np.bool_), _NO_INTS, _NO_INTS)]
        self.objects = 0
        self.next = _Nodes(_NO_INTS, _NO_INTS, _NO_INTS)
        self._parents = (_NO_INTS, _NO_INTS)

    def note(self, of: Ints) -> None:
        """Values that cannot be read."""
        self.is_malformed[of] = True

    def deeper(self) -> None:
        """Walk the values of the next depth, each of which has a parent with so much room for all that it holds."""
        self.level(self.next, is_outermost=False)
        kept = ~self.is_malformed[self.next.of]
        self.next = self.next.at(kept)
        self._parents = (self._parents[0][kept], self._parents[1])

    def level(self, nodes: _Nodes, *, is_outermost: bool) -> Ints:
        """Read the values of one depth, and note those within them as the next; return where each ends."""
        empty = nodes.start >= nodes.limit
        self.note(nodes.of[empty])
        first = np.where(empty, 0, numbers(self.raw, nodes.start, 1))
        basic, header = first & BASIC_MASK, first >> HEADER_SHIFT
        is_container = ~empty & ((basic == Basic.OBJECT) | (basic == Basic.ARRAY))
        sizes = self._scalar_sizes(nodes, basic, header)
        ended = np.where(empty, nodes.start, nodes.start + 1 + sizes)
        inner = np.flatnonzero(is_container)
        containers = self._containers(nodes.at(inner), basic[inner], header[inner])
        ended[inner] = containers.ended
        self.note(nodes.of[ended > nodes.limit])
        ended = np.minimum(ended, nodes.limit)
        if not is_outermost:  # values that share bytes would make more work than there are bytes
            parents, room = self._parents
            taken = np.bincount(parents, weights=ended - nodes.start, minlength=len(room))
            self.note(nodes.of[(taken > room)[parents]])
        self._look_at_texts(nodes, basic, header, sizes)
        self._enter(containers, is_outermost=is_outermost)
        return ended

    def _scalar_sizes(self, nodes: _Nodes, basic: Ints, header: Ints) -> Ints:
        """Bytes behind the first one of values that are not containers."""
        is_primitive = basic == Basic.PRIMITIVE
        is_unknown = is_primitive & (header >= len(SIZES))
        self.is_unknown[nodes.of[is_unknown]] = True
        sizes = np.where(is_primitive & ~is_unknown, _SIZES[np.minimum(header, len(SIZES) - 1)], 0)
        room = nodes.limit - nodes.start - 1
        has_length = sizes < 0
        at = nodes.at(has_length)
        sizes[has_length] = LENGTH_WIDTH + numbers(self.raw, at.start + 1, LENGTH_WIDTH)
        is_cut = has_length & (room < LENGTH_WIDTH)
        self.note(nodes.of[is_cut])
        is_short = basic == Basic.SHORT_STRING
        sizes[is_short] = header[is_short]
        is_decimal = is_primitive & np.isin(header, DECIMALS) & (room > 0)
        scales = numbers(self.raw, nodes.start[is_decimal] + 1, 1)
        self.note(nodes.of[is_decimal][scales > MOST_SCALE])
        return sizes

    def _look_at_texts(self, nodes: _Nodes, basic: Ints, header: Ints, sizes: Ints) -> None:
        """Note texts that are not UTF-8."""
        is_short = basic == Basic.SHORT_STRING
        is_text = is_short | ((basic == Basic.PRIMITIVE) & (header == STRING))
        is_text &= ~self.is_malformed[nodes.of]
        skipped = np.where(is_short, 1, 1 + LENGTH_WIDTH)[is_text]
        wrong = no_utf8(_texts(self.raw, nodes.start[is_text] + skipped, sizes[is_text] + 1 - skipped))
        if wrong is not None:
            self.note(nodes.of[is_text][wrong])

    def _containers(self, nodes: _Nodes, basic: Ints, header: Ints) -> _Containers:
        """Objects and arrays, without what is in them."""
        is_object = basic == Basic.OBJECT
        is_large = header & np.where(is_object, OBJECT_LARGE, ARRAY_LARGE) != 0
        counting = np.where(is_large, COUNT_WIDTHS[1], COUNT_WIDTHS[0])
        id_widths = ((header >> ID_SHIFT & WIDTH_MASK) + 1) * is_object
        widths = (header & WIDTH_MASK) + 1
        count = numbers(self.raw, nodes.start + 1, counting)
        ids = nodes.start + 1 + counting
        offsets = ids + count * id_widths
        values = offsets + (count + 1) * widths
        fits = values <= nodes.limit
        size = np.where(fits, numbers(self.raw, values - widths, widths), 0)
        ended = np.where(fits, values + size, nodes.limit + 1)
        fits &= ended <= nodes.limit
        self.note(nodes.of[~fits])
        return _Containers(nodes, is_object, ids, id_widths, offsets, widths, values, count, size, ended)

    def _enter(self, containers: _Containers, *, is_outermost: bool) -> None:
        """Note the values within containers that can be read so far as the next depth."""
        nodes, is_object, ids, id_widths, offsets, widths, values, count, size, ended = containers
        fits = ~self.is_malformed[nodes.of]
        of, place = spread(np.zeros(len(count), np.int64), np.where(fits, count, 0))
        begin = values[of] + numbers(self.raw, offsets[of] + place * widths[of], widths[of])
        until = values[of] + numbers(self.raw, offsets[of] + (place + 1) * widths[of], widths[of])
        until = np.where(is_object[of], ended[of], until)
        lost = (begin > until) | (until > ended[of])
        self.note(nodes.of[of[lost]])
        self.next = _Nodes(nodes.of[of], begin, np.maximum(until, begin)).at(~lost)
        self._parents = (of[~lost], size)
        named = is_object[of]
        of, place = of[named], place[named]
        self.fields.append(
            Fields(
                nodes.of[of],
                np.full(len(of), is_outermost),
                self.objects + of,
                numbers(self.raw, ids[of] + place * id_widths[of], id_widths[of]),
            )
        )
        self.objects += len(count)


def of_entries(values: Any) -> tuple[Any, Ints]:
    """Values of a chunk as an array of entries, and the entry of each value, int64."""
    if pa.types.is_dictionary(values.type):
        return values.dictionary, values.indices.to_numpy().astype(np.int64)
    if isinstance(values, pa.ChunkedArray):
        values = values.cast(pa.large_binary()).combine_chunks()
    return values, np.arange(len(values))


def misnamed(fields: Fields, count: int, metadata: Ints, names: Names) -> tuple[Flags, Ints]:
    """Which values have fields that are not names of their metadata, or not in order; and the name of each field among all.

    Args:
        fields: The fields of all objects.
        count: The number of values.
        metadata: The metadata of each field's value, int64.
        names: The names.
    """
    beyond = fields.id >= names.count[metadata]
    place = np.where(beyond, 0, names.first[metadata] + fields.id)
    ranks = np.append(names.ranks, 0)[place]
    follows = np.append(fields.object[1:] == fields.object[:-1], False)
    falls = np.append(ranks[1:] <= ranks[:-1], False)
    wrong = beyond | (follows & falls)[: len(beyond)] if len(beyond) else beyond
    return np.bincount(fields.of[wrong], minlength=count) > 0, place
