"""Mutations of single values, for all kinds of files: the ways in which a number, a text or a run of bytes can be wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pqassay_spec.grammar.trace import Leaf
from pqassay_spec.mutation.mutations import Mutation


def of_member(path: str, value: Any, member: Any) -> Iterator[Mutation]:
    """Mutations of a member of a flat structure; its construct gives the width of an integer."""
    if isinstance(value, int):
        yield from of_integer(path, value, 8 * member.sizeof())
    else:
        yield from of_value(path, value)


def of_element(path: str, index: int) -> Iterator[Mutation]:
    """Mutations of the place of an element in its list."""
    yield Mutation("remove", f"{path}[{index}]")
    yield Mutation("duplicate", f"{path}[{index}]")
    if index:
        yield Mutation("swap", f"{path}[{index - 1}]", f"{path}[{index}]")


def of_integer(path: str, value: int, bits: int, *, signed: bool = False) -> Iterator[Mutation]:
    """Mutations of an integer of ``bits`` bits: 0, one more, one less, the ends of its range and of smaller ranges."""
    most = (1 << bits - 1) - 1
    others = (0, value + 1, value - 1, most, -most - 1) if signed else _unsigned(value, bits)
    for other in others:
        if other != value and (not signed or -most - 1 <= other <= most):
            yield Mutation("set", path, other)


def _unsigned(value: int, bits: int) -> tuple[int, ...]:
    most = (1 << bits) - 1
    others = (0, value + 1, value - 1, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 40, most >> 1, most)
    return tuple(dict.fromkeys(other for other in others if other != value and 0 <= other <= most))


def of_value(path: str, value: Any) -> Iterator[Mutation]:
    """Mutations by the Python type of a value, if the field has no declaration."""
    others: tuple[Any, ...]
    if isinstance(value, bool):
        others = (not value,)
    elif isinstance(value, int):
        others = _unsigned(value, 64)
    elif isinstance(value, str):
        others = ("", f"{value}x", b"\xff")
    elif isinstance(value, bytes):
        turned = bytes((value[0] ^ 1,)) + value[1:] if value else b"\0"
        others = (b"", turned, value[:-1], value + b"\xff")
    else:
        others = ()
    yield from (Mutation("set", path, other) for other in others if other != value)


def of_leaves(leaves: Iterable[Leaf]) -> Iterator[Mutation]:
    """Mutations of bytes: each leaf of a trace is removed, or all its bits are set; the file is cut at its edges."""
    for leaf in leaves:
        yield Mutation("truncate", "", leaf.offset, raw=True)
        yield Mutation("truncate", "", leaf.offset + leaf.length - 1, raw=True)
        if leaf.length:
            yield Mutation("set", leaf.path, b"", raw=True)
            yield Mutation("set", leaf.path, b"\xff" * leaf.length, raw=True)
