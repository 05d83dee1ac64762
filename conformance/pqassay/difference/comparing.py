"""What became of each field of a file: the walk through both trees."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pqassay.difference.alignment import paired
from pqassay.difference.changed_bytes import changed_bytes
from pqassay.difference.model import Change, Difference, DifferentFile, Kind, Place
from pqassay.difference.tree import (
    MOST_FIELDS,
    WINDOW,
    Fields,
    Item,
    Node,
    TooManyFields,
    is_offset,
    shown,
    steps,
)
from pqassay.difference.unread import Stretch, stretches
from pqassay_spec.base.sources import Source
from pqassay_spec.grammar.hexdump import show
from pqassay_spec.grammar.trace import Unparsed
from pqassay_spec.rules.catalogue import DEFAULT_FILE

__all__ = ["MOST_FIELDS", "TooManyFields", "compared_with_bytes", "difference"]

LENGTH = "_length"
"""Ends the names of fields that hold the length of the structure of the rest of the name."""

_DECIMAL = re.compile("0|[1-9][0-9]{0,18}")

WHAT_IS_LEFT = re.compile(r"gaps\[\d+\]|body|.*\.rest")
"""Paths of what belongs to no structure, and is not a thing that has another value now."""

EXTENTS = {"total_compressed_size": "pages", "compressed_page_size": "body"}
"""Fields that hold the length of something beside the structure that they are in."""

AROUND = 12
"""Bytes or characters before the first difference of two long values that are shown."""

MOST_READ = 1 << 20
"""Bytes of a long value in which the first difference is sought."""


def difference(
    old: Source, new: Source, kinds: tuple[str, str] = (DEFAULT_FILE, DEFAULT_FILE), *, moves: bool = False
) -> Difference:
    """Compare two files field by field.

    Args:
        old: The file before, damaged or not.
        new: The file after.
        kinds: Their kinds, see `pqassay.stores.kinds`.
        moves: Whether fields that only moved are listed, and not only counted.

    Raises:
        TooManyFields: A file has more than `MOST_FIELDS` fields.
        Truncated: A file became shorter while it was read.
    """
    return compared(Fields(old, kinds[0]), Fields(new, kinds[1]), moves=moves)


def compared(old: Fields, new: Fields, *, moves: bool = False) -> Difference:
    """Compare files whose fields were read."""
    return _Comparison(old, new, moves=moves).told()


def compared_with_bytes(old: Fields, new: Fields) -> tuple[Difference, list[tuple[int, int]]]:
    """Compare files whose fields were read; beside the difference, the bytes of the new file that are not those of the old one.

    Bytes are compared with those of the same field, wherever that lies, so that what only moved is not among them.

    Returns:
        The difference, and the ranges ``[start, end)`` in the order of their bytes.
    """
    comparison = _Comparison(old, new, moves=False)
    return comparison.told(), comparison.changed_bytes()


class _Comparison:
    def __init__(self, old: Fields, new: Fields, *, moves: bool) -> None:
        self._old, self._new, self._lists_moves = old, new, moves
        self._partner: dict[int, Item] = {}
        """Of the position of an old leaf among `items`, by identity, the new one."""
        self._paired: dict[str, Node] = {}
        """The new node of an old path, for what follows records of the footer."""
        self._only_old: list[Node] = []
        self._only_new: list[Node] = []
        self._changed: list[tuple[Item, Item]] = []
        self._otherwise: list[tuple[Item, Item]] = []
        self._parts_alone: list[tuple[Item | None, Item | None]] = []
        self._reordered: list[tuple[Node, Node]] = []
        self._moved: list[tuple[Item, Item]] = []
        self._unchanged = 0

    def told(self) -> Difference:
        """Everything."""
        old, new = self._old, self._new
        files = [
            DifferentFile(fields.source.name, fields.source.size, [str(error) for error in fields.errors])
            for fields in (old, new)
        ]
        told = Difference(files[0], files[1], _same_bytes(old.source, new.source))
        self._walk()
        unread = stretches(old, new, self._partner, self._only_old, self._only_new)
        changes: list[Change] = []
        for found in unread:
            told.unread += found.unread
            changes += self._of_stretch(found)
        settled = {id(node) for found in unread for node in (*found.old_nodes, *found.new_nodes)}
        for before, after in self._changed:
            change = self._change("changed", before, after)
            (told.follows if self._follows(before, after) else changes).append(change)
        gone, come = (
            [piece for node in nodes if id(node) not in settled for piece in node.in_one_piece()]
            for nodes in (self._only_old, self._only_new)
        )
        changes += [self._below("removed", node, None) for node in gone]
        changes += [self._below("added", None, node) for node in come]
        changes += [self._below("reordered", *pair) for pair in self._reordered]
        changes += [self._change("stored otherwise", *pair) for pair in self._otherwise]
        if not changes and not told.same:  # nothing but what holds fields together is different
            changes = [self._change("stored otherwise", *pair) for pair in self._parts_alone]
        if not changes:  # structures changed places
            changes, told.follows = told.follows, []
        told.changes = sorted(changes, key=_by_place)
        told.follows.sort(key=_by_place)
        told.moved, told.unchanged = len(self._moved), self._unchanged
        if self._lists_moves:
            told.moves = [self._change("changed", *pair) for pair in self._moved]
        return told

    def changed_bytes(self) -> list[tuple[int, int]]:
        """The bytes of the new file that differ from those of the same fields in the old one, or that belong to new fields."""
        return changed_bytes(self._old, self._new, self._partner)

    # ----------------------------------------------------------------------------------------------- the walk

    def _walk(self) -> None:
        old, new = self._old.root, self._new.root
        # What the footer says of a chunk tells which chunk it is.
        names = sorted({*old.children, *new.children}, key=lambda name: name != "footer")
        for name in names:
            self._pair(old.children.get(name), new.children.get(name))

    def _pair(self, old: Node | None, new: Node | None) -> None:
        waiting: list[tuple[Node | None, Node | None]] = [(old, new)]
        while waiting:
            before, after = waiting.pop()
            if before is None or after is None:
                if before is not None:
                    self._only_old.append(before)
                if after is not None:
                    self._only_new.append(after)
                continue
            if (before.item is None) != (after.item is None) and (before.item or after.item):
                self._only_old.append(before)
                self._only_new.append(after)
                continue
            if _is_something_else(before.item, after.item):
                self._only_old.append(before)
                self._only_new.append(after)
                continue
            self._paired[before.path] = after
            self._items(before, after)
            if before.is_list and after.is_list:
                waiting += reversed(self._elements(before, after))
            else:
                names = dict.fromkeys((*before.children, *after.children))
                waiting += [(before.children.get(name), after.children.get(name)) for name in reversed(names)]

    def _elements(self, old: Node, new: Node) -> list[tuple[Node | None, Node | None]]:
        """Pair the elements of two lists: as the footer's records of them, or by what names them."""
        recorded = self._paired.get(f"footer.{old.path}")
        if recorded is not None and recorded.path == f"footer.{new.path}":
            keys = {id(record): key for key, record in recorded.children.items()}
            mates: dict[str | int, Node] = {}
            for element in old.children.values():
                record = self._paired.get(f"footer.{element.path}")
                key = keys.get(id(record))
                if key is not None and key in new.children:
                    mates[key] = element
            taken = {id(element) for element in mates.values()}
            pairs: list[tuple[Node | None, Node | None]] = [
                (element, None) for element in old.children.values() if id(element) not in taken
            ]
            return pairs + [(mates.get(key), element) for key, element in new.children.items()]
        before, after = list(old.children.values()), list(new.children.values())
        found: list[tuple[Node | None, Node | None]] = []
        last = -1
        for i, j in paired(old, new):
            if i is not None and j is not None:
                if i < last:
                    self._reordered.append((before[i], after[j]))
                last = max(last, i)
            found.append((None if i is None else before[i], None if j is None else after[j]))
        return found

    def _items(self, old: Node, new: Node) -> None:
        if old.item is not None and new.item is not None:
            self._item(old.item, new.item)
        for part in dict.fromkeys((*old.parts, *new.parts)):
            before, after = old.parts.get(part), new.parts.get(part)
            if before is not None and after is not None:
                self._partner[id(before)] = after
                if before.raw == after.raw:
                    continue
            self._parts_alone.append((before, after))

    def _item(self, before: Item, after: Item) -> None:
        self._partner[id(before)] = after
        if before.value != after.value or before.is_unparsed != after.is_unparsed:
            self._changed.append((before, after))
        elif before.raw != after.raw and not _is_in_header(before):
            self._otherwise.append((before, after))
        elif before.leaf.offset != after.leaf.offset:
            self._moved.append((before, after))
        else:
            self._unchanged += 1
        if before.raw != after.raw and _is_in_header(before):
            self._parts_alone.append((before, after))

    # -------------------------------------------------------------------------------------- what follows others

    def _follows(self, before: Item, after: Item) -> bool:
        """Whether a changed offset or length leads to the same structure as before."""
        name = before.leaf.path.rpartition(".")[2]
        was, now = _number(before), _number(after)
        if was is None or now is None:
            return False
        if (was, now) == (self._old.source.size, self._new.source.size):
            return True
        if before.leaf.path == "tail.footer_length":
            return self._extents_are("footer", was, now)
        parent = before.leaf.path.rpartition(".")[0].removeprefix("footer.").removesuffix(".meta_data")
        if name in EXTENTS:
            return self._extents_are(f"{parent.removesuffix('.header')}.{EXTENTS[name]}", was, now)
        if name.endswith(LENGTH):
            return self._extents_are(f"{parent}.{name.removesuffix(LENGTH)}", was, now)
        if is_offset(name) or before.leaf.path.startswith("footer.key_value_metadata"):
            return any(
                (partner := self._partner.get(id(item))) is not None and partner.leaf.offset == now
                for item in self._starts().get(was, ())
            )
        return False

    def _extents_are(self, path: str, was: int, now: int) -> bool:
        """Whether a structure that is in both files, with another content, is so long in each."""
        old, new = self._old.root.at(*steps(path)), self._paired.get(path)
        if old is None or new is None:
            return False
        ends = [node.parts.get("stop") for node in (old, new)]
        contents = [[item.raw for item in node.items() if item not in ends] for node in (old, new)]
        if contents[0] == contents[1] or any(
            WHAT_IS_LEFT.fullmatch(item.leaf.path) for node in (old, new) for item in node.leaves()
        ):
            return False  # it is the length that changed, and not the structure
        lengths = [end - start for start, end in (old.span(), new.span())]
        return lengths == [was, now]

    def _starts(self) -> dict[int, list[Item]]:
        """The old leaves by their offsets."""
        if not hasattr(self, "_by_offset"):
            self._by_offset: dict[int, list[Item]] = {}
            for item in self._old.items:
                self._by_offset.setdefault(item.leaf.offset, []).append(item)
        return self._by_offset

    # ------------------------------------------------------------------------------------------------ what is told

    def _change(self, kind: Kind, before: Item | None, after: Item | None) -> Change:
        old = None if before is None else _place(before, self._old.source)
        new = None if after is None else _place(after, self._new.source)
        if before is not None and after is not None and kind == "changed" and before.value != after.value:
            old, new = self._excerpts(before, after, old, new)
        known = after or before
        path, doc = ("", "") if known is None else (known.leaf.path, known.leaf.doc)
        return Change(kind, path, 1, old, new, doc)

    def _excerpts(
        self, before: Item, after: Item, old: Place | None, new: Place | None
    ) -> tuple[Place | None, Place | None]:
        """Of two long values, the part around the first difference."""
        if old is None or new is None or max(before.leaf.length, after.leaf.length) <= 4 * AROUND:
            return old, new
        raws = [
            source.read(item.leaf.offset, min(item.leaf.length, MOST_READ))
            for item, source in ((before, self._old.source), (after, self._new.source))
        ]
        first = next(
            (k for k, pair in enumerate(zip(*raws, strict=False)) if pair[0] != pair[1]), min(map(len, raws))
        )
        texts: list[str] = []
        for item, raw, place in zip((before, after), raws, (old, new), strict=True):
            start = max(first - AROUND, 0)
            cut = raw[start : start + 2 * AROUND]
            value = cut if not isinstance(item.leaf.value, str) else cut.decode("utf-8", "replace")
            lead, rest = "… " if start else "", " …" if start + len(cut) < item.leaf.length else ""
            told = f"{place.value}, " if isinstance(item.leaf.value, Unparsed) else ""
            texts.append(f"{told}{lead}{show(value, width=8 * AROUND)}{rest}")
        return _with(old, texts[0]), _with(new, texts[1])

    def _below(self, kind: Kind, old: Node | None, new: Node | None) -> Change:
        """A structure as one change."""
        known = new or old
        doc, path = "", "" if known is None else known.path
        places: list[Place | None] = []
        count = 0
        for node, fields in ((old, self._old), (new, self._new)):
            if node is None:
                places.append(None)
                continue
            items = list(node.leaves())
            count = max(count, len(items))
            if len(items) == 1:
                places.append(_place(items[0], fields.source))
                path, doc = (node.path if node.children else items[0].leaf.path), items[0].leaf.doc
            else:
                start, end = node.span()
                places.append(Place(node.path, start, end - start, _summary(items, fields.source)))
        return Change(kind, path, count, places[0], places[1], doc)

    def _of_stretch(self, found: Stretch) -> Iterator[Change]:
        """What differs where one of the files cannot be read."""
        before, after = found.old_items, found.new_items
        if not before and not after:
            return
        if len(before) <= 1 and len(after) <= 1:
            yield self._change("changed", *(items[0] if items else None for items in (before, after)))
            return
        places = [
            Place(
                items[0].leaf.path,
                items[0].leaf.offset,
                items[-1].end - items[0].leaf.offset,
                _summary(items, fields.source),
            )
            if items
            else None
            for items, fields in ((before, self._old), (after, self._new))
        ]
        known = after if any(not item.is_unparsed for item in after) else before or after
        yield Change("changed", known[0].leaf.path, max(len(before), len(after)), places[0], places[1])


def _is_in_header(item: Item) -> bool:
    """Whether a field is a boolean of a Thrift struct: its bytes are a header, which also counts what lies before."""
    return isinstance(item.leaf.value, bool) and not item.leaf.path.endswith("]")


def _is_something_else(before: Item | None, after: Item | None) -> bool:
    """Whether two leaves of what is left over hold other bytes: one has nothing to do with the other then."""
    if before is None or after is None or before.value == after.value:
        return False
    return any(
        item.is_unparsed and WHAT_IS_LEFT.fullmatch(item.leaf.path) is not None for item in (before, after)
    )


def _by_place(change: Change) -> tuple[int, str]:
    place = change.new or change.old
    return (place.offset if place else 0), change.path


def _place(item: Item, source: Source) -> Place:
    return Place(item.leaf.path, item.leaf.offset, item.leaf.length, shown(item, source))


def _with(place: Place, value: str) -> Place:
    return Place(place.path, place.offset, place.length, value)


def _summary(items: Sequence[Item], source: Source) -> str:
    """The first field of a structure, and a sign that there are more."""
    if not items:
        return ""
    first = items[0]
    name = first.leaf.path.rpartition(".")[2]
    more = ", …" if len(items) > 1 else ""
    return f"{name} = {shown(first, source)}{more}"


def _number(item: Item) -> int | None:
    """The number that a field holds, in digits or not."""
    value = item.leaf.value
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    is_decimal = isinstance(value, str) and _DECIMAL.fullmatch(value) is not None
    return int(value) if is_decimal else None


def _same_bytes(old: Source, new: Source) -> bool:
    if old.size != new.size:
        return False
    return all(
        old.read(start, min(WINDOW, old.size - start)) == new.read(start, min(WINDOW, old.size - start))
        for start in range(0, old.size, WINDOW)
    )
