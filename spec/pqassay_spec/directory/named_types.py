"""Index types that their owner named, such as ``org.example.bitmap``, instead of types that the chapter numbered.

The number of such a type follows from its name. A reader that knows only numbers can therefore distinguish two named types,
skip both, and keep both when it writes the directory again:
    >>> type_number("org.example.bitmap"), is_named(type_number("org.example.bitmap"))
    (65300, True)

Source: chapter ``directory.md``, section "Named types".
"""

from __future__ import annotations

import re
import zlib

# --8<-- [start:names]
FIRST_NAMED = 1 << 15
"""The least number of a named type; the chapter gives its own types smaller ones."""

MOST_CHARACTERS = 255
"""The most characters of a name."""

_FORM = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*(?:\.[a-z0-9]+(?:[-_][a-z0-9]+)*)+")


def is_named(number: int) -> bool:
    """Whether the type has a name, which its entries then give."""
    return number >= FIRST_NAMED


def type_number(name: str) -> int:
    """The number of a named type: 32768 plus the lowest 15 bits of the CRC-32 of its name."""
    return FIRST_NAMED | zlib.crc32(name.encode()) & FIRST_NAMED - 1


def is_type_name(text: str) -> bool:
    """Whether a text is a name for a type: at least two labels with dots between them.

    A label has small letters and digits of ASCII, with single hyphens or underscores between them.
    """
    return len(text) <= MOST_CHARACTERS and _FORM.fullmatch(text) is not None


# --8<-- [end:names]
