"""The documents that rules come from, each at the revision that the rules follow.

The table ``documents.toml`` lists them.  A document without a table there is a chapter of this specification.

    >>> document("BloomFilter").revision
    '24102ed of 2026-08-19'
    >>> address("Encryption", "4.4.2 AAD suffix").rpartition("/")[2]
    'Encryption.md#442-aad-suffix'
    >>> address("PM chapter")
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any

THRIFT = "parquet.thrift"
"""The document whose places are names of the grammar instead of headings."""

SHORT = 7
"""Digits of a short commit id."""

_NO_PART_OF_AN_ANCHOR = re.compile(r"[^\w\- ]")


@dataclass(frozen=True)
class Document:
    """A document at one revision.

    Attributes:
        name: Its name in rules.
        format: The format that it describes.
        address: Its URL.
        date: The date of the commit, or of publication.
        commit: The revision; empty if unknown.
        branch: The branch of the repository with the commit; empty if unknown.
        reason: Why there is no commit, or what the date means instead.
        compared: Commit of a public copy with which the headings were compared, if it is another commit.
        headings: The headings that rules name; empty if its places are names of the grammar.
    """

    name: str
    format: str
    address: str
    date: date
    commit: str = ""
    branch: str = ""
    reason: str = ""
    compared: str = ""
    headings: tuple[str, ...] = ()

    @property
    def revision(self) -> str:
        """The revision in short: commit and date, or only the date."""
        return f"{self.commit[:SHORT]} of {self.date}" if self.commit else f"published {self.date}"

    def place(self, heading: str) -> str:
        """The address of a heading."""
        if self.commit and heading in self.headings:
            return f"{self.address}#{anchor(heading)}"
        return self.address


def anchor(heading: str) -> str:
    """The anchor that GitHub gives a heading.

    >>> anchor("Run Length Encoding / Bit-Packing Hybrid (RLE = 3)")
    'run-length-encoding--bit-packing-hybrid-rle--3'
    """
    return _NO_PART_OF_AN_ANCHOR.sub("", heading.lower()).replace(" ", "-")


@cache
def documents() -> dict[str, Document]:
    """Every document that is published elsewhere, by its name."""
    table: dict[str, dict[str, Any]] = tomllib.loads(
        (files("pqassay_spec.rules") / "documents.toml").read_text("utf-8")
    )
    rows: dict[str, dict[str, Any]] = {
        name: {**row, "headings": tuple(row.get("headings", ()))} for name, row in table.items()
    }
    return {name: Document(name, **row) for name, row in rows.items()}


def document(name: str) -> Document | None:
    """A document by its name; ``None`` for a chapter of this specification."""
    return documents().get(name)


def address(name: str, section: str = "") -> str | None:
    """The address of a document, or of a heading in it; ``None`` for a chapter of this specification."""
    found = document(name)
    return None if found is None else found.place(section)
