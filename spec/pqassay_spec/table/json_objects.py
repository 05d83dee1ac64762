"""Declarations of the JSON objects of tables: their members, with types and meaning.

>>> POINT = JsonObject("point", "A place.", (JsonMember("x", "number", "How far east."),))
>>> POINT.member("x").doc, POINT.member("y")
('How far east.', None)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Presence = Literal["required", "optional"]


@dataclass(frozen=True)
class JsonMember:
    """A member of a JSON object.

    Attributes:
        name: Its name.
        type: Its type, in words.
        doc: Its meaning.
        presence: Whether it may be absent.
        id: Its number, if members are found by number.
    """

    name: str
    type: str
    doc: str
    presence: Presence = "required"
    id: int | None = None


@dataclass(frozen=True)
class JsonObject:
    """A kind of JSON object.

    Attributes:
        name: Its name.
        doc: Its meaning.
        members: Its members, in the order of the document.
    """

    name: str
    doc: str
    members: tuple[JsonMember, ...]

    def called(self, number: int) -> str:
        """The name of the member with a number. Raises `KeyError`."""
        return {member.id: member.name for member in self.members}[number]

    def member(self, name: str) -> JsonMember | None:
        """The member with a name; ``None`` if there is none."""
        return next((member for member in self.members if member.name == name), None)


def optional(name: str, type_: str, doc: str) -> JsonMember:
    """A member that may be absent."""
    return JsonMember(name, type_, doc, "optional")


def numbered(id_: int, name: str, type_: str, doc: str, presence: Presence = "optional") -> JsonMember:
    """A member that is found by its number."""
    return JsonMember(name, type_, doc, presence, id_)
