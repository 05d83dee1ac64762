r"""The place of a member in a JSON text, for messages and for mutations; each call walks the text once.

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


_PARENT = object()
"""In place of a value with members."""


class _Place(NamedTuple):
    """A value: its path, the start of its name, its start and end, the number of texts that it is nested in, and the value or `_PARENT`."""

    path: tuple[str, ...]
    name: int
    start: int
    end: int
    depth: int
    value: Any


def find(data: bytes, names: Sequence[str]) -> Span | None:
    """The place of the value of a member, in bytes; ``None`` if there is no such member.

    Args:
        data: A JSON text, UTF-8.
        names: Names of nested members, the outermost first.
    """
    try:
        text = data.decode()
        place = _find(text, names)
    except (ValueError, RecursionError):
        return None
    if place is None:
        return None
    return len(text[: place.start].encode()), len(text[: place.end].encode())


def members(data: bytes) -> Iterator[Member]:
    r"""Yield every value without members of a JSON text, in order; a text that is itself a JSON object is searched as well.

    >>> [(member.path, member.value) for member in members(b'{"add":{"tags":["a"],"stats":"{\\"numRecords\\":3}"}}')]
    [(('add', 'tags', '[0]'), 'a'), (('add', 'stats', 'numRecords'), 3)]

    Raises:
        ValueError: It is not JSON text, or nested too deeply.
    """
    text = data.decode()
    leaves = (place for place in _places(text, (), 0) if place.value is not _PARENT)
    if text.isascii():
        yield from (Member(leaf.path, (leaf.start, leaf.end), leaf.value) for leaf in leaves)
        return
    offsets = [0]
    for character in text:
        offsets.append(offsets[-1] + len(character.encode()))
    for leaf in leaves:
        yield Member(leaf.path, (offsets[leaf.start], offsets[leaf.end]), leaf.value)


def _places(text: str, path: tuple[str, ...], depth: int) -> Iterator[_Place]:
    """Yield every value in a text; a value with members comes after these, a text before its members."""
    try:
        start = _space(text, 0)
        end = yield from _value(text, start, start, path, depth)
        if _space(text, end) != len(text):
            raise ValueError("something follows the value")
    except IndexError:
        raise ValueError("it ends too early") from None


def _value(text: str, name: int, at: int, path: tuple[str, ...], depth: int) -> Generator[_Place, None, int]:
    """Yield the value that begins at a position and the values inside it, and return its end."""
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
        inner: list[_Place] = []
        if isinstance(value, str) and value.startswith("{"):
            with suppress(ValueError):
                inner = list(_places(value, path, depth + 1))
        yield _Place(path, name, at, end, 0, _PARENT if inner else value)
        if inner:
            offsets = _offsets(text, at)
            for each in inner:
                yield _Place(
                    each.path,
                    offsets[each.name],
                    offsets[each.start],
                    offsets[each.end],
                    each.depth + 1,
                    each.value,
                )
        return end
    start, number, closing = at, 0, "}" if mark == "{" else "]"
    at = _space(text, at + 1)
    while text[at] != closing:
        if number:
            at = _space(text, _after(text, at, ","))
        begins, key = at, f"[{number}]"
        if mark == "{":
            key, at = _DECODER.raw_decode(text, at)
            at = _space(text, _after(text, _space(text, at), ":"))
        at = _space(text, (yield from _value(text, begins, at, (*path, str(key)), depth + 1)))
        number += 1
    yield _Place(path, name, start, at + 1, 0, _PARENT if number else {} if mark == "{" else [])
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


def _find(text: str, names: Sequence[str]) -> _Place | None:
    path = tuple(names)
    return next((place for place in _places(text, (), 0) if place.path == path), None)


def _offsets(text: str, start: int) -> list[int]:
    """The offset in the text of each character of a JSON string, and of its end."""
    offsets: list[int] = []
    at = start + 1
    while text[at] != '"':
        offsets.append(at)
        if text[at] != "\\":
            at += 1
        elif text[at + 1] != "u":
            at += 2
        elif text[at + 2 : at + 4].lower() in ("d8", "d9", "da", "db") and text[at + 6 : at + 8] == "\\u":
            at += 12  # two escapes are one character
        else:
            at += 6
    offsets.append(at)
    return offsets


def _space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return at if match is None else match.end()
