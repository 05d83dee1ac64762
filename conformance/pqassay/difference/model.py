"""The difference of two files as classes, from which JSON and its schema are derived."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from pqassay.report.json_form import members_json, schema_of

SCHEMA_VERSION = 1

Kind = Literal["changed", "added", "removed", "stored otherwise"]
"""The kind of change of a field.

``stored otherwise``: the value is the same, but its bytes or the structural bytes around it differ.
"""


@dataclass(frozen=True)
class Place:
    """A field, or all fields below a path, in one of the files.

    Attributes:
        path: Its path in that file.
        offset, length: Its first byte and its number of bytes; bytes of a structure need not be contiguous.
        value: Its value as text; for two long values, only the part around the first difference.
    """

    path: str
    offset: int
    length: int
    value: str


@dataclass(frozen=True)
class Change:
    """The change of one field, or of all fields below a path.

    Attributes:
        kind: The kind of change.
        path: Its path.
        fields: The number of fields that it covers.
        old, new: Its places; ``null`` if the file does not have it.
        doc: The meaning of the field.
    """

    kind: Kind
    path: str
    fields: int
    old: Place | None
    new: Place | None
    doc: str = ""


@dataclass(frozen=True)
class DifferentFile:
    """One of the two files: its path, its size in bytes, and the errors that prevented reading some fields."""

    path: str
    size: int
    errors: list[str] = field(default_factory=list[str])


@dataclass
class Difference:
    """The difference of two files.

    Attributes:
        old, new: The files.
        same: Whether both files have the same bytes.
        changes: The changes of fields, in the order of the new file.
        follows: Offsets that still lead to the field of the same path, which has moved.
        moved: The number of fields with the same value at another offset.
        unchanged: The number of fields with the same value at the same offset.
        moves: The fields that moved, if requested.
        schema_version: The version of this schema.
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
        """The difference as ASCII JSON. Optional members with their default value are omitted."""
        return members_json(self, indent)


def json_schema() -> dict[str, Any]:
    """JSON Schema of `Difference.to_json`."""
    return schema_of(Difference)
