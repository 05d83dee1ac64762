"""The fields in which a golden file differs from its parent, with their bytes, for rule and case pages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, cast

from pages.cases.changed_bytes import changed_bytes
from pages.cases.hex_view import HexView
from pages.places import GOLDEN_FILES
from pqassay.difference import Difference
from pqassay.difference.comparing import compared
from pqassay.difference.fields import Fields
from pqassay.difference.marks import marked_rows
from pqassay.stores.kinds import dumped_as
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.mutation.mutations import IN_DATA
from pqassay_spec.pm import grammar as pm


class ByteChange(NamedTuple):
    """A field that differs.

    Attributes:
        path: Its path.
        kind: The kind of change.
        doc: Its meaning.
        old, new: Its values; empty if absent.
        before, after: Rows of a hexdump with its bytes; each may be followed by a row of marks.
    """

    path: str
    kind: str
    doc: str
    old: str
    new: str
    before: Sequence[str]
    after: Sequence[str]


class Changed(NamedTuple):
    """The differences between a golden file and its parent.

    Attributes:
        file: The name of the file.
        sizes: The sizes in bytes of the parent's file and of this one.
        shown: The changed fields with their bytes, the one that the mutation names first.
        others: The paths of other changed fields.
    """

    file: str
    sizes: tuple[int, int]
    shown: Sequence[ByteChange]
    others: Sequence[str]


@cache
def fields_of(case_id: str, name: str) -> Fields:
    """The fields of a golden file, cached since it has many descendants and several pages."""
    return Fields(BytesSource((GOLDEN_FILES / case_id / name).read_bytes()), dumped_as(name))


def changed_file(case: Mapping[str, Any]) -> str:
    """The name of the file in which a case differs from its parent; without a parent, its input."""
    is_beside = case.get("mutation", {}).get("path", "").startswith(IN_DATA)
    return pm.DATA_NAME if is_beside else str(case["input"]["file"])


class Comparison(NamedTuple):
    """A golden file and its parent: the fields of both, the difference, and the changed bytes."""

    before: Fields
    after: Fields
    difference: Difference
    changed: Sequence[tuple[int, int]]

    def view(self, name: str) -> HexView:
        """The hex view of the file, with marks at the changed bytes."""
        follows = [one.new.offset for one in self.difference.follows if one.new is not None]
        return HexView(name, self.after, self.changed, follows)


@cache
def comparison_of(parent: str, case_id: str, name: str) -> Comparison:
    """Compare a named file in the folder of a case with that of its parent."""
    before, after = (fields_of(one, name) for one in (parent, case_id))
    return Comparison(before, after, compared(before, after), changed_bytes(before, after))


def comparison(case: Mapping[str, Any]) -> Comparison:
    """Compare a golden file with its parent."""
    return comparison_of(case["parent"], case["id"], changed_file(case))


def changed(case: Mapping[str, Any], most: int) -> Changed:
    """Compare a golden file with its parent; at most ``most`` fields are shown with their bytes."""
    path = case["mutation"]["path"].removeprefix(IN_DATA)
    return changed_in(comparison(case), changed_file(case), path, most)


def changed_in(comparison: Comparison, name: str, path: str, most: int) -> Changed:
    """The changed fields; fields at a path come first, and at most ``most`` have their bytes."""
    before, after, found, _ = comparison
    changes = sorted(
        found.changes, key=lambda change: not (change.path.startswith(path) or path.startswith(change.path))
    )
    shown: list[ByteChange] = []
    for change in changes[:most]:
        rows = marked_rows(change, (before.source, after.source), most=2)
        texts = [[line for row, marks in side for line in (row, marks) if line] for side in rows]
        values = [place.value if place is not None else "" for place in (change.old, change.new)]
        shown.append(ByteChange(change.path, change.kind, change.doc, *values, *texts))
    return Changed(
        name, (before.source.size, after.source.size), shown, [change.path for change in changes[most:]]
    )


def mutation_sentence(case: Mapping[str, Any]) -> str:
    """The single change of a case in words, with code between backticks."""
    mutation = case["mutation"]
    to = f" to `{_written(mutation['to'])}`" if "to" in mutation else ""
    raw = ", and nothing else is adapted" if mutation.get("raw") else ""
    return f"**{mutation['op']}** `{mutation['path'] or 'file'}`{to}{raw}"


def _written(value: Any) -> str:
    """A value of a manifest, without JSON syntax.

    >>> _written({"bytes": "00ff"}), _written({"int": "7"}), _written(None)
    ('bytes 00ff', '7', 'null')
    """
    members = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    if len(members) == 1 and isinstance(told := next(iter(members.values())), str):
        return f"{next(iter(members))} {told}".removeprefix("int ").removeprefix("float ").replace("`", "'")
    return json.dumps(value, ensure_ascii=False).replace("`", "'")
