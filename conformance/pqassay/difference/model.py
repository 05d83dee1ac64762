"""The difference of two files, as classes from which its JSON and the schema of that are derived."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from pqassay.report.json_form import members_json, schema_of

SCHEMA_VERSION = 1

Kind = Literal["changed", "added", "removed", "stored otherwise"]
"""What became of a field.  ``stored otherwise``: the value is the same in other bytes, or the bytes that hold the structure together
differ."""


@dataclass(frozen=True)
class Place:
    """A field, or all fields below a path, in one of the files.

    Attributes:
        path: Its path in that file.
        offset, length: Its first byte, and how many it has; those of a structure may lie apart.
        value: Its value for people; of two long ones, the part around the first difference.
    """

    path: str
    offset: int
    length: int
    value: str


@dataclass(frozen=True)
class Change:
    """The change of one field, or of all fields below a path.

    Attributes:
        kind: What.
        path: Its path.
        fields: How many fields it stands for.
        old, new: Its places; ``null`` where it is not.
        doc: What the field means.
    """

    kind: Kind
    path: str
    fields: int
    old: Place | None
    new: Place | None
    doc: str = ""


@dataclass(frozen=True)
class DifferentFile:
    """One of the files: its path, its size in bytes, and what kept fields of it from being read."""

    path: str
    size: int
    errors: list[str] = field(default_factory=list[str])


@dataclass
class Difference:
    """The difference of two files.

    Attributes:
        old, new: The files.
        same: Whether they hold the same bytes.
        changes: The changes of fields, in the order of the new file.
        follows: Offsets that lead to the field of the same path as before, which is elsewhere.
        moved: How many fields have the value that they had, at another offset.
        unchanged: How many have it at the same offset.
        moves: The fields that moved, if they were asked for.
        schema_version: Version of these members.
    """

    old: DifferentFile
    new: DifferentFile
    same: bool
    changes: list[Change] = field(default_factory=list[Change])
    follows: list[Change] = field(default_factory=list[Change])
    moved: int = 0
    unchanged: int = 0
    moves: list[Change] = field(default_factory=list[Change])
    schema_version: int = SCHEMA_VERSION

    @property
    def exit_code(self) -> int:
        """0 for files with the same bytes, 1 for others."""
        return 0 if self.same else 1

    def to_json(self, indent: int | None = 2) -> str:
        """The difference as JSON text in ASCII. Optional members that have their default are left out."""
        return members_json(self, indent)


def json_schema() -> dict[str, Any]:
    """JSON Schema of `Difference.to_json`."""
    return schema_of(Difference)
