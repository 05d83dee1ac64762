"""Convert single values between Python and the JSON form of the protocol.

Source: ``conformance/PROTOCOL.md``, section "Values".
"""

from __future__ import annotations

import decimal
from typing import Any, NamedTuple, cast

from pqassay_spec.base.strict_json import EXACT_INTEGERS

Tree = list[Any]
"""A predicate: its name, then its parts."""


class PlacedTree(list[Any]):
    """A comparison that was parsed from text.

    Attributes:
        position: The character of the text at which it begins, counted from 1.
    """

    position: int = 1


class Moment(NamedTuple):
    """A date, a time of day or a timestamp in the form of the protocol.

    Attributes:
        kind: ``date``, ``time`` or ``timestamp``.
        number: Days since 1970, or nanoseconds since midnight or 1970.
    """

    kind: str
    number: int


class TypedText(str):
    """A constant like ``DATE '2024-01-01'``: text with a type. A column of text is not compared with it as text."""

    __slots__ = ()


def python_value(written: Any) -> Any:
    r"""The Python value of a JSON value, tagged or not.

    >>> python_value({"bytes": "00ff"}), python_value({"float": "-0.0"}), python_value("a")
    (b'\x00\xff', -0.0, 'a')
    """
    match written:
        case {"int": str(text)}:
            return int(text)
        case {"float": str(text)}:
            return float(text)
        case {"bytes": str(text)}:
            return bytes.fromhex(text)
        case {"decimal": str(text)}:
            return decimal.Decimal(text)
        case {"date": str(text)} | {"time": str(text)} | {"timestamp": str(text)}:
            return Moment(next(iter(cast("dict[str, str]", written))), int(text))
        case _:
            return written


def json_value(value: Any) -> Any:
    """The inverse of `python_value`."""
    if isinstance(value, float):
        return {"float": repr(value)}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, int) and abs(value) > EXACT_INTEGERS:
        return {"int": str(value)}
    return value


def decimal_text(unscaled: int, scale: int) -> str:
    """A decimal as text, with all its digits after the point.

    >>> decimal_text(-5, 2), decimal_text(5, 0)
    ('-0.05', '5')
    """
    digits = str(abs(unscaled)).rjust(scale + 1, "0")
    whole, fraction = digits[: len(digits) - scale], digits[len(digits) - scale :]
    return f"{'-' if unscaled < 0 else ''}{whole}{'.' if fraction else ''}{fraction}"


def python_tree(tree: Any) -> Any:
    r"""A predicate with Python values.

    >>> python_tree(["in", "n", [{"bytes": "ff"}, 1]])
    ['in', 'n', [b'\xff', 1]]
    """
    return [python_tree(part) for part in tree] if isinstance(tree, list) else python_value(tree)
