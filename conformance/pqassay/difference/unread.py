"""Bytes that can be read in one of two files alone: compared with the fields that the other one has there.

Where a length or an offset is wrong, what it leads to is not found, and the same bytes are fields in one file and one leaf that nobody
takes apart in the other.  Of such a stretch, fields whose bytes begin or end it in both files are the same, and not gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pqassay.difference.tree import Fields, Item, Node

LONGEST = 16 << 20
"""Bytes of a stretch that are compared."""


@dataclass
class Stretch:
    """Bytes between two fields that both files have.

    Attributes:
        old_items, new_items: The fields in which it differs, in the order of their bytes.
        old_nodes, new_nodes: The nodes whose fate is thereby told.
        unread: How many fields of one file are in the other byte for byte.
    """

    old_items: list[Item] = field(default_factory=list[Item])
    new_items: list[Item] = field(default_factory=list[Item])
    old_nodes: list[Node] = field(default_factory=list[Node])
    new_nodes: list[Node] = field(default_factory=list[Node])
    unread: int = 0


def stretches(
    old: Fields, new: Fields, partner: Mapping[int, Item], only_old: Sequence[Node], only_new: Sequence[Node]
) -> list[Stretch]:
    """Find and compare the stretches that are not taken apart in one of the files.

    Args:
        old, new: The fields of both.
        partner: The new leaf of an old one, by its identity.
        only_old, only_new: Nodes without a partner.
    """
    if not any(item.is_unparsed for node in (*only_old, *only_new) for item in node.leaves()):
        return []
    owners = [{id(item): node for node in nodes for item in node.items()} for nodes in (only_old, only_new)]
    found: list[Stretch] = []
    for before, after in between(old, new, partner):
        nodes = [
            list({id(own[id(item)]): own[id(item)] for item in items if id(item) in own}.values())
            for items, own in zip((before, after), owners, strict=True)
        ]
        if any(item.is_unparsed for item in (*before, *after)) and any(nodes):
            told = _compared(old, new, before, after)
            if told is not None:
                told.old_nodes, told.new_nodes = nodes
                found.append(told)
    return found


def between(old: Fields, new: Fields, partner: Mapping[int, Item]) -> Iterator[tuple[list[Item], list[Item]]]:
    """Yield what lies between leaves that both files have, in the order of both.

    Args:
        old, new: The fields of both.
        partner: The new leaf of an old one, by its identity.
    """
    places = {id(item): place for place, item in enumerate(new.items)}
    run: list[Item] = []
    start = 0
    for item in old.items:
        if item.leaf.length == 0:
            continue
        mate = partner.get(id(item))
        place = -1 if mate is None else places.get(id(mate), -1)
        if place < start:
            run.append(item)
            continue
        between = [one for one in new.items[start:place] if one.leaf.length]
        if run or between:
            yield run, between
        run, start = [], place + 1
    rest = [one for one in new.items[start:] if one.leaf.length]
    if run or rest:
        yield run, rest


def _compared(old: Fields, new: Fields, before: list[Item], after: list[Item]) -> Stretch | None:
    """Compare two runs of leaves byte for byte; ``None`` where that says nothing."""
    if not before or not after:
        return None
    (a0, a1), (b0, b1) = _span(before), _span(after)
    if max(a1 - a0, b1 - b0) > LONGEST:
        return None
    ours, theirs = old.source.read(a0, a1 - a0), new.source.read(b0, b1 - b0)
    shorter = min(len(ours), len(theirs))
    first = next((k for k in range(shorter) if ours[k] != theirs[k]), shorter)
    last = next((k for k in range(shorter - first) if ours[-1 - k] != theirs[-1 - k]), shorter - first)
    told = Stretch()
    told.old_items, same_old = _apart(before, a0 + first, a1 - last)
    told.new_items, same_new = _apart(after, b0 + first, b1 - last)
    told.unread = max(same_old, same_new)
    return told


def _span(items: Sequence[Item]) -> tuple[int, int]:
    return items[0].leaf.offset, max(item.end for item in items)


def _apart(items: Sequence[Item], start: int, end: int) -> tuple[list[Item], int]:
    """The leaves with a byte in the part that differs, and how many fields have none."""
    touched = [
        item for item in items if item.leaf.offset < max(end, start + 1) and item.end > start and start < end
    ]
    values = [item for item in touched if not item.leaf.structural]
    same = sum(not item.leaf.structural and not item.is_unparsed for item in items)
    return values or touched, same - sum(not item.is_unparsed for item in values)
