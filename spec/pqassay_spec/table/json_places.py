r"""Where in a JSON text a member is written, for messages and for mutations: the text is JSON, and is looked through once for each member.

    >>> line = b'{"add":{"size":12,"stats":"{\\"numRecords\\":3}"}}'
    >>> find(line, ("add", "stats", "numRecords"))
    (43, 44)
    >>> changed(line, ("add", "stats", "numRecords"), "[4]")
    b'{"add":{"size":12,"stats":"{\\"numRecords\\":[4]}"}}'
    >>> changed(line, ("add", "size"), None)
    b'{"add":{"stats":"{\\"numRecords\\":3}"}}'
    >>> find(b'{"tags":[1,22]}', ("tags", "[1]"))
    (11, 13)

A member that is a text may hold JSON itself; the path goes on in it. An element of a list is named by its number in brackets.
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
"""Where a value begins and ends, in bytes."""


DEEPEST = 200
"""Levels of objects and lists that `members` goes into."""


class Member(NamedTuple):
    """A value that holds no others.

    Attributes:
        path: The names that lead to it; an element of a list is named by its number in brackets.
        span: Where it is.
        value: What it is.
    """

    path: tuple[str, ...]
    span: Span
    value: Any


class _Found(NamedTuple):
    """A member: where its name and its value begin and end in a text, and in how many texts it is beside the outermost."""

    name: int
    start: int
    end: int
    depth: int


def find(data: bytes, names: Sequence[str]) -> Span | None:
    """The value of a member, in bytes; ``None`` where it is not found.

    Args:
        data: A JSON text, UTF-8.
        names: Names of members, each in the one before.
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
    r"""Yield every value of a JSON text that holds no others, in order; of a text that is an object in JSON, what is in that.

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
    """Yield what is in the value that begins here, and return where it ends."""
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
    """A JSON text with another value of a member; without the member if it is ``None``.

    Args:
        data: A JSON text, UTF-8.
        names: Names of members, each in the one before.
        to: The value, JSON.

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
    """For each character of a JSON string, and behind the last one, where it begins in the text around it."""
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
    """Where the name and the value of a member begin, of the object that begins here; of an element, where its value does."""
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
    """Where an element of the list that begins here begins, twice."""
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
    """The string that begins here, and where it ends."""
    found, end = _DECODER.raw_decode(text, start)
    return str(found), end


def _end(text: str, start: int) -> int:
    """Where the value that begins here ends."""
    return _DECODER.raw_decode(text, start)[1]


def _space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()
