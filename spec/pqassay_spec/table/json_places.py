r"""The place of a member in a JSON text, for messages and for mutations; each call searches the text once.

    >>> line = b'{"add":{"size":12,"stats":"{\\"numRecords\\":3}"}}'
    >>> find(line, ("add", "stats", "numRecords"))
    (43, 44)
    >>> changed(line, ("add", "stats", "numRecords"), "[4]")
    b'{"add":{"size":12,"stats":"{\\"numRecords\\":[4]}"}}'
    >>> changed(line, ("add", "size"), None)
    b'{"add":{"stats":"{\\"numRecords\\":3}"}}'
    >>> find(b'{"tags":[1,22]}', ("tags", "[1]"))
    (11, 13)

A text member may itself be JSON; the path then continues inside it. An element of a list is named by its number in brackets.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any, NamedTuple

_SPACE = re.compile(r"[ \t\r\n]*")
_INDEX = re.compile(r"\[(\d{1,9})\]", re.ASCII)
_DECODER = json.JSONDecoder()

Span = tuple[int, int]
"""Start and end offset of a value, in bytes."""


DEEPEST = 200
"""Deepest nesting of objects and lists that `members` visits."""


class Member(NamedTuple):
    """A value without members.

    Attributes:
        path: The names on the way to it; an element of a list is named by its number in brackets.
        span: Its place.
        value: The value.
    """

    path: tuple[str, ...]
    span: Span
    value: Any


class _Found(NamedTuple):
    """A member: start and end of its name and its value in a text, and the number of texts that it is nested in."""

    name: int
    start: int
    end: int
    depth: int


def find(data: bytes, names: Sequence[str]) -> Span | None:
    """The place of the value of a member, in bytes; ``None`` if there is no such member.

    Args:
        data: A JSON text, UTF-8.
        names: Names of nested members, the outermost first.
    """
    try:
        text = data.decode()
        found = _find(text, names)
    except (ValueError, IndexError, RecursionError):
        return None
    if found is None:
        return None
    return len(text[: found.start].encode()), len(text[: found.end].encode())


def members(data: bytes) -> Iterator[Member]:
    r"""Yield every value without members of a JSON text, in order; a text that is itself a JSON object is searched as well.

    >>> [(one.path, one.value) for one in members(b'{"add":{"tags":["a"],"stats":"{\\"numRecords\\":3}"}}')]
    [(('add', 'tags', '[0]'), 'a'), (('add', 'stats', 'numRecords'), 3)]

    Raises:
        ValueError: It is not JSON text, or nested too deeply.
    """
    text = data.decode()
    if text.isascii():
        yield from _members(text, (), 0)
        return
    places = [0]
    for character in text:
        places.append(places[-1] + len(character.encode()))
    for one in _members(text, (), 0):
        yield one._replace(span=(places[one.span[0]], places[one.span[1]]))


def _members(text: str, path: tuple[str, ...], depth: int) -> Iterator[Member]:
    try:
        start = _space(text, 0)
        end = yield from _value(text, start, path, depth)
        if _space(text, end) != len(text):
            raise ValueError("something follows the value")
    except IndexError:
        raise ValueError("it ends too early") from None


def _value(text: str, at: int, path: tuple[str, ...], depth: int) -> Generator[Member, None, int]:
    """Yield the values inside the value that begins at a position, and return its end."""
    if depth > DEEPEST:
        raise ValueError(f"it is nested more than {DEEPEST} levels deep")
    mark = text[at]
    if mark not in "{[":
        value, end = _DECODER.raw_decode(text, at)
        if (
            isinstance(value, float)
            and repr(value) != text[at:end]
            and Decimal(repr(value)) != Decimal(text[at:end])
        ):
            value = text[at:end]  # it has more digits than a number of Python
        if isinstance(value, str) and value.startswith("{"):
            with suppress(ValueError):
                inner = list(_members(value, path, depth + 1))
                places = _places_of(text, at)
                for one in inner:
                    yield one._replace(span=(places[one.span[0]], places[one.span[1]]))
                if inner:
                    return end
        yield Member(path, (at, end), value)
        return end
    start, number, closing = at, 0, "}" if mark == "{" else "]"
    at = _space(text, at + 1)
    while text[at] != closing:
        if number:
            at = _space(text, _after(text, at, ","))
        name = f"[{number}]"
        if mark == "{":
            name, at = _string(text, at)
            at = _space(text, _after(text, _space(text, at), ":"))
        at = _space(text, (yield from _value(text, at, (*path, name), depth + 1)))
        number += 1
    if not number:
        yield Member(path, (start, at + 1), {} if mark == "{" else [])
    return at + 1


def _after(text: str, at: int, mark: str) -> int:
    if text[at] != mark:
        raise ValueError(f"{mark!r} is missing at {at}")
    return at + 1


def changed(data: bytes, names: Sequence[str], to: str | None) -> bytes:
    """A JSON text after changing the value of a member, or removing the member if the value is ``None``.

    Args:
        data: A JSON text, UTF-8.
        names: Names of nested members, the outermost first.
        to: The value as JSON.

    Raises:
        KeyError: There is no such member.
    """
    text = data.decode()
    span = _find(text, names)
    if span is None:
        raise KeyError(".".join(names))
    if to is not None:
        for _ in range(span.depth):
            to = json.dumps(to, ensure_ascii=False)[1:-1]
        return (text[: span.start] + to + text[span.end :]).encode()
    before, behind = text[: span.name], text[span.end :]
    if behind.startswith(","):
        behind = behind[1:]
    elif before.endswith(","):
        before = before[:-1]
    return (before + behind).encode()


def _find(text: str, names: Sequence[str]) -> _Found | None:
    start = _space(text, 0)
    name_start = start
    for number, name in enumerate(names):
        if start < len(text) and text[start] == '"':
            inner, _ = _string(text, start)
            found = _find(inner, names[number:])
            if found is None:
                return None
            places = _places_of(text, start)
            return _Found(places[found.name], places[found.start], places[found.end], found.depth + 1)
        member = _member(text, start, name)
        if member is None:
            return None
        name_start, start = member
    return _Found(name_start, start, _end(text, start), 0)


def _places_of(text: str, start: int) -> list[int]:
    """The offset in the text of each character of a JSON string, and of its end."""
    places: list[int] = []
    at = start + 1
    while text[at] != '"':
        places.append(at)
        if text[at] != "\\":
            at += 1
        elif text[at + 1] != "u":
            at += 2
        elif text[at + 2 : at + 4].lower() in ("d8", "d9", "da", "db") and text[at + 6 : at + 8] == "\\u":
            at += 12  # two escapes are one character
        else:
            at += 6
    places.append(at)
    return places


def _member(text: str, start: int, name: str) -> Span | None:
    """Start of the name and of the value of a member of the object at a position; for an element, its start."""
    if text[start : start + 1] == "[" and (index := _INDEX.fullmatch(name)) is not None:
        return _element(text, start, int(index[1]))
    if start >= len(text) or text[start] != "{":
        return None
    at = _space(text, start + 1)
    while text[at] != "}":
        begins = at
        key, at = _string(text, at)
        at = _space(text, _space(text, at) + 1)
        if key == name:
            return begins, at
        at = _space(text, _end(text, at))
        if text[at] == ",":
            at = _space(text, at + 1)
    return None


def _element(text: str, start: int, number: int) -> Span | None:
    """The start of an element of the list at a position, twice."""
    at = _space(text, start + 1)
    while text[at] != "]":
        if not number:
            return at, at
        number -= 1
        at = _space(text, _end(text, at))
        if text[at] == ",":
            at = _space(text, at + 1)
    return None


def _string(text: str, start: int) -> tuple[str, int]:
    """The string that begins at a position, and its end."""
    found, end = _DECODER.raw_decode(text, start)
    return str(found), end


def _end(text: str, start: int) -> int:
    """The end of the value that begins at a position."""
    return _DECODER.raw_decode(text, start)[1]


def _space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()
