"""Functions for templates of steppers: numbers with their nouns, and addresses of sections."""

from __future__ import annotations

from pages.markup import Link


def address(link: Link, page: str, anchor: str) -> str:
    """The HTML address of a section in a Markdown page."""
    return link(page, anchor).replace(".md#", ".html#")


def counted(count: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "page"), counted(1_234, "byte")
    ('1 page', '1,234 bytes')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
