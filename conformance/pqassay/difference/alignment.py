"""Which element of a list is which in the other file.

Elements that something names are paired by it: a key-value pair by its key, a schema element by its name, a column chunk by
its column.  Others are paired by their positions while both lists are equally long, and else by their content.
"""

from __future__ import annotations

import difflib
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence

from pqassay.difference.tree import Node

Pair = tuple[int | None, int | None]
"""The positions of an element in the old and the new list; ``None`` where it is not."""

LONGEST = 2000
"""Elements, of those that differ, in which common ones are sought; longer lists are paired by position."""

NAMES: tuple[tuple[str, ...], ...] = (("key",), ("name",), ("meta_data", "path_in_schema"))
"""The ways from an element to what names it."""

MOST_COMPARED = 24
"""Elements on one side of a replaced stretch of which each is compared with each on the other side."""


def paired(old: Node, new: Node) -> list[Pair]:
    """Pair the elements of two lists, in the order of the new one as far as there is one.

    Elements that are in both by name and in another order are paired all the same.
    """
    before, after = _elements(old), _elements(new)
    names = [_names(elements) for elements in (before, after)]
    if names[0] is not None and names[1] is not None:
        return _by_tokens(before, after, names[0], names[1], named=True)
    if len(before) == len(after):
        return [(place, place) for place in range(len(before))]
    tokens = [[element.signature for element in elements] for elements in (before, after)]
    return _by_tokens(before, after, tokens[0], tokens[1], named=False)


def _elements(node: Node) -> list[Node]:
    return list(node.children.values())


def _names(elements: Sequence[Node]) -> list[Hashable] | None:
    """What names each element; ``None`` where one has no name."""
    found: list[Hashable] = []
    for element in elements:
        name = next((below for way in NAMES if (below := element.at(*way)) is not None), None)
        if name is None:
            return None
        found.append(name.signature)
    return found


def _by_tokens(
    before: Sequence[Node],
    after: Sequence[Node],
    old: Sequence[Hashable],
    new: Sequence[Hashable],
    *,
    named: bool,
) -> list[Pair]:
    first = 0
    while first < min(len(old), len(new)) and old[first] == new[first]:
        first += 1
    last = 0
    while last < min(len(old), len(new)) - first and old[-1 - last] == new[-1 - last]:
        last += 1
    pairs: list[Pair] = [(place, place) for place in range(first)]
    pairs += _middle(before, after, old, new, (first, len(old) - last), (first, len(new) - last), named=named)
    pairs += [(len(old) - place, len(new) - place) for place in range(last, 0, -1)]
    return pairs


def _middle(
    before: Sequence[Node],
    after: Sequence[Node],
    old: Sequence[Hashable],
    new: Sequence[Hashable],
    in_old: tuple[int, int],
    in_new: tuple[int, int],
    *,
    named: bool,
) -> list[Pair]:
    """Pair what lies between a common beginning and a common end."""
    (i1, i2), (j1, j2) = in_old, in_new
    if max(i2 - i1, j2 - j1) > LONGEST:
        return _in_turn(range(i1, i2), range(j1, j2))
    matcher = difflib.SequenceMatcher(None, old[i1:i2], new[j1:j2], autojunk=False)
    pairs: list[Pair] = []
    blocks: list[tuple[list[int], list[int]]] = []
    for kind, a1, a2, b1, b2 in matcher.get_opcodes():
        if kind == "equal":
            pairs += [(i1 + a1 + k, j1 + b1 + k) for k in range(a2 - a1)]
        else:
            blocks.append((list(range(i1 + a1, i1 + a2)), list(range(j1 + b1, j1 + b2))))
    if named:
        pairs += _elsewhere(old, new, blocks)
    for ours, theirs in blocks:
        pairs += _replaced(before, after, ours, theirs)
    return sorted(pairs, key=lambda pair: (pair[1] if pair[1] is not None else pair[0] or 0, pair[0] or 0))


def _elsewhere(
    old: Sequence[Hashable], new: Sequence[Hashable], blocks: Sequence[tuple[list[int], list[int]]]
) -> list[Pair]:
    """Take out of the stretches that differ, and pair, what has one name in both lists and another position."""
    missing = Counter(old[i] for ours, _ in blocks for i in ours)
    extra = Counter(new[j] for _, theirs in blocks for j in theirs)
    places: dict[Hashable, int] = {}
    for ours, _ in blocks:
        for i in list(ours):
            if missing[old[i]] == 1 == extra[old[i]]:
                places[old[i]] = i
                ours.remove(i)
    pairs: list[Pair] = []
    for _, theirs in blocks:
        for j in list(theirs):
            if new[j] in places:
                pairs.append((places[new[j]], j))
                theirs.remove(j)
    return pairs


def _in_turn(ours: Sequence[int], theirs: Sequence[int]) -> list[Pair]:
    """Pair by position; what is left over on one side is in that list alone."""
    both = min(len(ours), len(theirs))
    pairs: list[Pair] = [(ours[k], theirs[k]) for k in range(both)]
    pairs += [(i, None) for i in ours[both:]]
    return pairs + [(None, j) for j in theirs[both:]]


def _replaced(
    before: Sequence[Node], after: Sequence[Node], ours: list[int], theirs: list[int]
) -> list[Pair]:
    """Pair elements of which none is the same: in turn, if there are as many; else those that have most in common."""
    if len(ours) == len(theirs) or not ours or not theirs or max(len(ours), len(theirs)) > MOST_COMPARED:
        return _in_turn(ours, theirs)
    contents = {("old", i): _content(before[i]) for i in ours} | {
        ("new", j): _content(after[j]) for j in theirs
    }
    best: dict[tuple[int, int], int] = defaultdict(int)
    for a in reversed(range(len(ours))):
        for b in reversed(range(len(theirs))):
            alike = (contents["old", ours[a]] & contents["new", theirs[b]]).total()
            best[a, b] = max(best[a + 1, b], best[a, b + 1], best[a + 1, b + 1] + alike)
    pairs: list[Pair] = []
    a = b = 0
    while a < len(ours) and b < len(theirs):
        alike = (contents["old", ours[a]] & contents["new", theirs[b]]).total()
        if alike and best[a, b] == best[a + 1, b + 1] + alike:
            pairs.append((ours[a], theirs[b]))
            a, b = a + 1, b + 1
        elif best[a, b] == best[a + 1, b]:
            pairs.append((ours[a], None))
            a += 1
        else:
            pairs.append((None, theirs[b]))
            b += 1
    return pairs + [(i, None) for i in ours[a:]] + [(None, j) for j in theirs[b:]]


def _content(node: Node) -> Counter[Hashable]:
    """The fields of an element by path and value."""
    skipped = len(node.path)
    return Counter((item.leaf.path[skipped:], item.raw) for item in node.leaves())
