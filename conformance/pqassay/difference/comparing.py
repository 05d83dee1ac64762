"""The comparison of two files: two dumps, path by path."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pqassay.difference.fields import MOST_FIELDS, Fields, TooManyFields, same_bytes, same_ends, shown
from pqassay.difference.model import Change, Difference, DifferentFile, Kind, Place
from pqassay_spec.base.sources import Source
from pqassay_spec.grammar.hexdump import show
from pqassay_spec.grammar.trace import Leaf, Unparsed
from pqassay_spec.rules.catalogue import DEFAULT_FILE

__all__ = ["MOST_FIELDS", "TooManyFields", "compared", "difference"]

AROUND = 12
"""The number of bytes or characters shown before the first difference of two long values."""

MOST_READ = 1 << 20
"""The number of bytes of a long value that are searched for the first difference."""

_DECIMAL = re.compile("0|[1-9][0-9]{0,18}")

_STEP = re.compile(r"(?<!^)[.\[]")
"""The start of each step of a path, except the first."""


def difference(
    old: Source, new: Source, kinds: tuple[str, str] = (DEFAULT_FILE, DEFAULT_FILE), *, moves: bool = False
) -> Difference:
    """Compare two files field by field.

    Args:
        old: The file before, damaged or not.
        new: The file after.
        kinds: Their kinds, see `pqassay.stores.kinds`.
        moves: Whether fields that only moved are listed; otherwise they are only counted.

    Raises:
        TooManyFields: A file has more than `MOST_FIELDS` fields.
        Truncated: A file became shorter during reading.
    """
    return compared(Fields(old, kinds[0]), Fields(new, kinds[1]), moves=moves)


def compared(old: Fields, new: Fields, *, moves: bool = False) -> Difference:
    """The difference of two files whose fields were already read."""
    return _Comparison(old, new).result(lists_moves=moves)


class _Comparison:
    def __init__(self, old: Fields, new: Fields) -> None:
        self._old, self._new = old, new

    def result(self, *, lists_moves: bool) -> Difference:
        """The complete difference."""
        old, new = self._old, self._new
        files = [
            DifferentFile(fields.source.name, fields.source.size, [str(error) for error in fields.errors])
            for fields in (old, new)
        ]
        same = same_bytes(old, new, (0, old.source.size), (0, new.source.size))
        result = Difference(files[0], files[1], same)
        changed, carriers = self._pairs(result, lists_moves=lists_moves)
        for change in (*self._alone("removed", old, new), *self._alone("added", new, old)):
            (carriers if ":" in change.path.rpartition(".")[2] else result.changes).append(change)
        targets = _targets(old, {number for before, _ in changed if (number := _number(before)) is not None})
        for before, after in changed:
            listed = result.follows if self._follows(before, after, targets) else result.changes
            listed.append(self._change("changed", before, after))
        if not result.changes:  # only structural bytes differ, or structures changed places
            result.changes = carriers or result.follows
            result.follows = result.follows if carriers else []
        for changes in (result.changes, result.follows, result.moves):
            changes.sort(key=_by_place)
        return result

    def _pairs(
        self, result: Difference, *, lists_moves: bool
    ) -> tuple[list[tuple[Leaf, Leaf]], list[Change]]:
        """Compare the fields that both files have.

        Returns:
            The pairs with different values, and the changes of structural bytes between fields.
        """
        changed: list[tuple[Leaf, Leaf]] = []
        carriers: list[Change] = []
        for path, before in self._old.leaves.items():
            after = self._new.leaves.get(path)
            if after is None:
                continue
            kind, is_carrier = self._kind(before, after), after.structural
            if kind == "changed" and not is_carrier:
                changed.append((before, after))
            elif kind is not None:
                listed = carriers if is_carrier or _is_in_header(after) else result.changes
                listed.append(self._change("stored otherwise", before, after))
            elif not is_carrier and before.offset == after.offset:
                result.unchanged += 1
            elif not is_carrier:
                result.moved += 1
                if lists_moves:
                    result.moves.append(self._change("changed", before, after))
        return changed, carriers

    def _kind(self, before: Leaf, after: Leaf) -> Kind | None:
        """The kind of change of a field that both files have; ``None`` if it has the same value at any place."""
        is_number = not isinstance(after.value, (bytes, str, Unparsed))
        if type(before.value) is not type(after.value) or (
            is_number and repr(before.value) != repr(after.value)
        ):
            return "changed"
        if same_bytes(self._old, self._new, before[1:3], after[1:3]):
            return None
        return "stored otherwise" if is_number else "changed"

    def _follows(self, before: Leaf, after: Leaf, targets: dict[int, list[str]]) -> bool:
        """Whether a changed offset still leads to the field of the same path, or a changed size is the size of its file."""
        was, now = _number(before), _number(after)
        if (was, now) == (self._old.source.size, self._new.source.size):
            return True
        is_offset = after.path.endswith("offset") or after.path.startswith("footer.key_value_metadata")
        if not is_offset or was is None:
            return False
        return any(path in self._new.leaves and self._new.leaves[path].offset == now for path in targets[was])

    def _alone(self, kind: Kind, fields: Fields, others: Fields) -> Iterator[Change]:
        """The changes for fields that only one file has; a structure that only one file has is one change."""
        alone = [path for path in fields.leaves if path not in others.leaves]
        if not alone:
            return
        parents = {path[: max(0, *map(path.rfind, ".:["))] for path in others.leaves}
        known = {step for parent in parents for step in _steps(parent)}
        groups: dict[str, list[Leaf]] = {}
        for path in alone:
            steps = _steps(path.partition(":")[0] if fields.leaves[path].structural else path)
            top = next((step for step in steps if step not in known), path)
            groups.setdefault(top, []).append(fields.leaves[path])
        for path, leaves in groups.items():
            values = [leaf for leaf in leaves if not leaf.structural] or leaves
            leaf = values[0]
            place = Place(path, leaf.offset, leaf.length, shown(leaf, fields.source))
            if len(values) > 1:
                name = leaf.path.rpartition(".")[2]
                start, length = min(leaf.offset for leaf in leaves), sum(leaf.length for leaf in leaves)
                place = Place(path, start, length, f"{name} = {place.value}, …")
            old, new = (place, None) if kind == "removed" else (None, place)
            yield Change(kind, path, len(values), old, new, leaf.doc if len(values) == 1 else "")

    def _change(self, kind: Kind, before: Leaf, after: Leaf) -> Change:
        pair = ((before, self._old.source), (after, self._new.source))
        values = [shown(leaf, source) for leaf, source in pair]
        if kind == "changed" and max(before.length, after.length) > 4 * AROUND:
            values = self._excerpts(pair)
        old, new = (
            Place(leaf.path, leaf.offset, leaf.length, value)
            for (leaf, _), value in zip(pair, values, strict=True)
        )
        return Change(kind, after.path, 1, old, new, after.doc)

    def _excerpts(self, pair: Sequence[tuple[Leaf, Source]]) -> list[str]:
        """Excerpts of two long values around their first difference."""
        raws = [source.read(leaf.offset, min(leaf.length, MOST_READ)) for leaf, source in pair]
        start = max(same_ends(*raws)[0] - AROUND, 0)
        texts: list[str] = []
        for (leaf, _), raw in zip(pair, raws, strict=True):
            cut = raw[start : start + 2 * AROUND]
            value = cut.decode("utf-8", "replace") if isinstance(leaf.value, str) else cut
            lead, rest = "… " if start else "", " …" if start + len(cut) < leaf.length else ""
            reason = f"{leaf.value}, " if isinstance(leaf.value, Unparsed) else ""
            texts.append(f"{reason}{lead}{show(value, width=8 * AROUND)}{rest}")
        return texts


def _steps(path: str) -> list[str]:
    """A path and all paths above it, from the root.

    >>> _steps("footer.schema[1].name")
    ['footer', 'footer.schema', 'footer.schema[1]', 'footer.schema[1].name']
    """
    return [*(path[: step.start()] for step in _STEP.finditer(path)), path]


def _targets(fields: Fields, offsets: set[int]) -> dict[int, list[str]]:
    """The paths of the fields that begin at each of the offsets."""
    targets: dict[int, list[str]] = {offset: [] for offset in offsets}
    for path, leaf in fields.leaves.items():
        if leaf.offset in offsets:
            targets[leaf.offset].append(path)
    return targets


def _is_in_header(leaf: Leaf) -> bool:
    """Whether a field is a boolean of a Thrift struct: its only byte is a header, which depends on the fields before."""
    return isinstance(leaf.value, bool) and not leaf.path.endswith("]")


def _by_place(change: Change) -> tuple[int, str]:
    place = change.new or change.old
    return (place.offset if place else 0), change.path


def _number(leaf: Leaf) -> int | None:
    """The number in a field, as digits or as a value; ``None`` if there is none."""
    if isinstance(leaf.value, str) and _DECIMAL.fullmatch(leaf.value):
        return int(leaf.value)
    return leaf.value if isinstance(leaf.value, int) and not isinstance(leaf.value, bool) else None
