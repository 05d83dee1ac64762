"""The bytes of a file that are not those of the same field in another one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pqassay.difference.tree import Fields, Item
from pqassay.difference.unread import LONGEST, between

Range = tuple[int, int]
"""Bytes ``[start, end)``."""


def changed_bytes(old: Fields, new: Fields, partner: Mapping[int, Item]) -> list[Range]:
    """The bytes of the new file that differ from those of the same field, or belong to no field of the old one.

    Args:
        old, new: The fields of both.
        partner: The new leaf of an old one, by its identity.

    Returns:
        Ranges in the order of their bytes, those that touch as one.
    """
    found: list[Range] = []
    for before in old.items:
        after = partner.get(id(before))
        if after is not None and before.raw != after.raw and after.leaf.length:
            found += _apart(old, new, (before.leaf.offset, before.end), (after.leaf.offset, after.end))
    partners = {id(item) for item in partner.values()}
    for gone, come in between(old, new, partner):
        alone = [item for item in come if id(item) not in partners]
        if alone:
            lost = [item for item in gone if id(item) not in partner]
            found += _of_runs(old, new, lost, alone)
    joined = _joined(found)
    if old.source.size != new.source.size or new.source.size > LONGEST:
        return joined
    # The same bytes at the same offset did not change, whatever they mean now.
    in_place = _joined(list(_apart(old, new, (0, old.source.size), (0, new.source.size))))
    return in_place if _covers(joined, in_place) else joined


def _covers(ranges: Sequence[Range], others: Sequence[Range]) -> bool:
    """Whether all bytes of others are in some ranges; both are joined."""
    places = iter(ranges)
    start = end = -1
    for first, last in others:
        while end < last:
            found = next(places, None)
            if found is None:
                return False
            start, end = found
        if first < start:
            return False
    return True


def _of_runs(old: Fields, new: Fields, gone: Sequence[Item], come: Sequence[Item]) -> Iterator[Range]:
    """What differs where fields took the place of others: all, if there were none."""
    span = (come[0].leaf.offset, max(item.end for item in come))
    is_whole = sum(item.leaf.length for item in come) == span[1] - span[0]
    if gone and is_whole:
        yield from _apart(old, new, (gone[0].leaf.offset, max(item.end for item in gone)), span)
    else:
        yield from ((item.leaf.offset, item.end) for item in come)


def _apart(old: Fields, new: Fields, before: Range, after: Range) -> Iterator[Range]:
    """The bytes of a field that differ; of one whose length changed, those between what is the same at both of its ends."""
    ours, theirs = (
        fields.source.read(start, end - start) for fields, (start, end) in ((old, before), (new, after))
    )
    start = after[0]
    if len(ours) == len(theirs):
        for place, pair in enumerate(zip(ours, theirs, strict=True)):
            if pair[0] != pair[1]:
                yield start + place, start + place + 1
        return
    shorter = min(len(ours), len(theirs))
    first = next((k for k in range(shorter) if ours[k] != theirs[k]), shorter)
    last = next((k for k in range(shorter - first) if ours[-1 - k] != theirs[-1 - k]), shorter - first)
    if first < len(theirs) - last:
        yield start + first, after[1] - last


def _joined(ranges: Sequence[Range]) -> list[Range]:
    found: list[Range] = []
    for start, end in sorted(ranges):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found
