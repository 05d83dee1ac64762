"""Chapters of the specification: section numbers for citations, and boxes with the rules of a section.

Anchors are words, so they stay valid if sections are added.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from pages.rules.rule_boxes import brief, spoken_of
from pqassay_spec.rules import catalogue

if TYPE_CHECKING:
    from mkdocs.structure.toc import TableOfContents

FOLDER = "spec/"
"""The folder of the chapters."""

TO_RULES = "../rules/"
"""The relative address of rule pages from a chapter."""

ALSO_ABOUT = {"pages": "parquet_file"}
"""Chapters without their own family, by module, each with the family whose rules it explains."""

RULE_LINK = re.compile(r'<a (?=href="[^"]*#[a-z0-9]+-\d+">[A-Z0-9]+-\d+</a>)')
"""A pattern for a link to a rule by its id."""

HEADING = re.compile(r"<(?P<tag>h[23]) id=\"[^\"]+\">")


def numbered(page: str) -> str:
    """The HTML of a chapter with numbers before the titles of sections and subsections.

    >>> numbered('<h2 id="a">A</h2><h3 id="b">B</h3><h2 id="c">C</h2>')
    '<h2 id="a">1 A</h2><h3 id="b">1.1 B</h3><h2 id="c">2 C</h2>'
    """
    section = part = 0

    def title(match: re.Match[str]) -> str:
        nonlocal section, part
        if match["tag"] == "h2":
            section, part = section + 1, 0
            return f"{match[0]}{section} "
        part += 1
        return f"{match[0]}{section}.{part} "

    return HEADING.sub(title, page)


def with_whole_ids(page: str) -> str:
    """The HTML of a chapter in which no rule id is broken at the end of a line.

    >>> with_whole_ids('<a href="#pm-107">PM-107</a>')
    '<a class="rule-id" href="#pm-107">PM-107</a>'
    """
    return RULE_LINK.sub('<a class="rule-id" ', page)


def number_contents(contents: TableOfContents) -> None:
    """Number the entries of a chapter's table of contents like its sections."""
    for chapter in contents.items:
        for section, entry in enumerate(chapter.children, 1):
            entry.title = f"{section} {entry.title}"
            for part, below in enumerate(entry.children, 1):
                below.title = f"{section}.{part} {below.title}"


def prefixes_of(chapter: str) -> list[str]:
    """The families that a chapter explains, by its name; empty for a chapter whose rules belong to others.

    >>> prefixes_of("pages"), prefixes_of("scan")
    (['PQF'], [])
    """
    module = ALSO_ABOUT.get(chapter, chapter)
    return [family.prefix for family in catalogue.families() if family.module == module]


def with_rules(page: str, prefixes: Collection[str]) -> str:
    """The HTML of a chapter with a box after each section for the rules that the section names first.

    The lists of all rules of a family do not change.
    """
    if not prefixes:
        return page
    starts = [found.start() for found in HEADING.finditer(page)]
    parts = [page[start:end] for start, end in zip([0, *starts], [*starts, len(page)], strict=True)]
    shown: set[str] = set()
    pieces: list[str] = []
    for part in parts:
        pieces.append(part)
        if 'class="rules"' in part:
            continue
        rules = [rule for rule in spoken_of(part, prefixes) if rule.id not in shown]
        shown |= {rule.id for rule in rules}
        if rules:
            pieces.append(f"{brief(rules, TO_RULES)}\n")
    return "".join(pieces)
