"""Mistakes in documents, each with the golden file and the test that show it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pages.markup import Link, case_link, table
from pages.places import CHAPTERS, ERRATA

PM_CHAPTER = CHAPTERS / "pm.md"

CONTRADICTIONS = "## Where the document contradicts itself or real files"
"""The section of the `_pm` chapter with the table."""


class Mistake(NamedTuple):
    """A mistake in a document.

    Attributes:
        place: Its place.
        says: The text of the document.
        right: The right statement.
        golden: Id of the golden case that shows it.
        test: The test that shows it, as a pytest id.
    """

    place: str
    says: str
    right: str
    golden: str
    test: str


class Document(NamedTuple):
    """A document with mistakes: its title, its address, and the mistakes."""

    title: str
    address: str
    mistakes: Sequence[Mistake]


def documents() -> dict[str, Document]:
    """The documents of ``errata.toml``, by their names on pages."""
    read = tomllib.loads(ERRATA.read_text(encoding="utf-8"))
    return {
        name: Document(one["title"], one["address"], [Mistake(**mistake) for mistake in one["mistake"]])
        for name, one in read.items()
    }


def errata(document: Document, link: Link) -> Iterator[str]:
    """Yield the mistakes of a document, each with the golden file and the test that show it."""
    yield f"[{document.title}]({document.address})"
    rows = (
        (mistake.place, mistake.says, mistake.right, _shown_by(mistake, link))
        for mistake in document.mistakes
    )
    yield from table(("Place", "It says", "It is so", "Shown by"), rows)


def _shown_by(mistake: Mistake, link: Link) -> str:
    path, _, name = mistake.test.partition("::")
    return f"{case_link(mistake.golden, link)}<br><small>`{path}`: {name.removeprefix('test_').replace('_', ' ')}</small>"


def contradictions(link: Link) -> Iterator[str]:
    """Yield the table of the chapter on ``_pm``. Raises `LookupError` if the chapter has none."""
    _, found, rest = PM_CHAPTER.read_text(encoding="utf-8").partition(CONTRADICTIONS)
    rows = [line for line in rest.partition("\n## ")[0].splitlines() if line.startswith("|")]
    if not found or not rows:
        raise LookupError(f"{PM_CHAPTER.name} has no table in a section {CONTRADICTIONS[3:]}")
    yield from (
        "",
        *(re.sub(r"\]\(#([^)]+)\)", lambda to: f"]({link('spec/pm.md', to[1])})", row) for row in rows),
        "",
    )


def lines(name: str, link: Link) -> Iterator[str]:
    """Yield the mistakes of a document, by its name on a page; ``pm`` is the table of the `_pm` chapter."""
    yield from contradictions(link) if name == "pm" else errata(documents()[name], link)
