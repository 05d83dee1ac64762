"""Addresses of the documents that rules come from.

The table ``documents.toml`` holds the addresses.  A document without one is a chapter of this specification.

    >>> address("BloomFilter")
    'https://github.com/apache/parquet-format/blob/master/BloomFilter.md'
    >>> address("PM chapter")
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files


@cache
def documents() -> dict[str, str]:
    """Every document that is published elsewhere, and its address."""
    return tomllib.loads((files("pqassay_spec.rules") / "documents.toml").read_text("utf-8"))


def address(document: str) -> str | None:
    """The address of a document; ``None`` for a chapter of this specification."""
    return documents().get(document)
