"""Standard JSON from untrusted sources: refuses the extensions that Python's own reader accepts."""

from __future__ import annotations

import json
import re
from typing import Any, ClassVar

CLOSED = {"extra": "forbid"}
"""Configures the JSON Schema of a class, as its ``__pydantic_config__``: members that it does not declare are errors."""


class Closed:
    """Base of dataclasses that are `CLOSED`."""

    __pydantic_config__: ClassVar = CLOSED


EXACT_INTEGERS = 1 << 53
"""Largest magnitude at which every whole number is exact as a double, and JSON readers of all languages agree."""

WHOLE_NUMBER = re.compile(r"-?[0-9]{1,40}", re.ASCII)
"""The text of a whole number; the limit of 40 digits exceeds the numbers of every format."""


def exact_integer(number: int) -> Any:
    """A whole number; beyond `EXACT_INTEGERS` it is ``{"int": "<digits>"}``. Members of enums become plain numbers."""
    return int(number) if abs(number) <= EXACT_INTEGERS else {"int": str(int(number))}


def parse(text: str) -> Any:
    """Parse a JSON text; time and memory are proportional to its length.

    Raises:
        ValueError: It is not JSON, is nested too deeply, or has a number of thousands of digits, a duplicate
            member in an object, or a number that JSON does not allow.

    >>> parse('{"a": [1, null]}')
    {'a': [1, None]}
    """
    try:
        return json.loads(text, object_pairs_hook=distinct_members, parse_constant=refuse_constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def distinct_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The members of an object. Raises an error on a duplicate, because readers disagree about which value counts."""
    members: dict[str, Any] = {}
    for name, value in pairs:
        if name in members:
            raise ValueError(f"member {name[:60]!r} occurs twice")
        members[name] = value
    return members


def refuse_constant(name: str) -> Any:
    """Refuse ``NaN`` and the infinities, which Python reads and JSON does not have."""
    raise ValueError(f"{name} is not JSON")
