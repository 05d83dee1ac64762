"""Numbers of sections in the chapters of the specification, by which they are cited; anchors stay words, which outlive a new section."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.structure.toc import TableOfContents

FOLDER = "spec/"
"""Where the chapters are."""

HEADING = re.compile(r"<(?P<tag>h[23]) id=\"[^\"]+\">")


def numbered(page: str) -> str:
    """The HTML of a chapter with numbers before the titles of sections and their parts.

    >>> numbered('<h2 id="a">A</h2><h3 id="b">B</h3><h2 id="c">C</h2>')
    '<h2 id="a">1 A</h2><h3 id="b">1.1 B</h3><h2 id="c">2 C</h2>'
    """
    section = part = 0

    def title(found: re.Match[str]) -> str:
        nonlocal section, part
        if found["tag"] == "h2":
            section, part = section + 1, 0
            return f"{found[0]}{section} "
        part += 1
        return f"{found[0]}{section}.{part} "

    return HEADING.sub(title, page)


def number_contents(contents: TableOfContents) -> None:
    """Number the entries of a chapter's table of contents in the same way."""
    for chapter in contents.items:
        for section, entry in enumerate(chapter.children, 1):
            entry.title = f"{section} {entry.title}"
            for part, below in enumerate(entry.children, 1):
                below.title = f"{section}.{part} {below.title}"
