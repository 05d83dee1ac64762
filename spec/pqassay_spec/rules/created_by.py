"""The writer of a file, parsed from ``created_by`` in its footer: application, version, build.

    >>> parse("parquet-mr version 1.12.3 (build f8dced182c4c1fbdec6ccb3185537b5a01e6ed6b)")
    Writer(application='parquet-mr', version=(1, 12, 3), text='1.12.3')
    >>> parse("Polars")

Source: apache/parquet-format, ``parquet.thrift``, ``FileMetaData.created_by``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_PATTERN = re.compile(r"(?P<application>\S.*?)\s+version\s+(?P<version>[^\s(]+)\s*(?:\(build\s?[^)]*\))?\s*")

_NUMBERS = re.compile(r"v?(\d+(?:\.\d+)*)")

LONGEST = 1000
"""Most characters of the text that are parsed."""

MOST_DIGITS = 9
"""Most digits of a number in a version."""


class Writer(NamedTuple):
    """An application and its version, as numbers and as text; the numbers may be empty."""

    application: str
    version: tuple[int, ...]
    text: str


def parse(text: str) -> Writer | None:
    """The writer that a text names; ``None`` if it does not have the form ``<application> version <version>``."""
    match = _PATTERN.fullmatch(text[:LONGEST]) if len(text) <= LONGEST else None
    return match and Writer(match["application"], numbers(match["version"]), match["version"])


def numbers(version: str) -> tuple[int, ...]:
    """The numbers at the beginning of a version.

    >>> numbers("v1.5.0-SNAPSHOT"), numbers("nightly")
    ((1, 5, 0), ())
    """
    match = _NUMBERS.match(version)
    parts = match[1].split(".") if match else []
    return tuple(map(int, parts)) if all(len(part) <= MOST_DIGITS for part in parts) else ()
