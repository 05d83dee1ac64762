"""The frame of generated pages: head, tabs, navigation and foot of the index page of their folder.

MkDocs takes tens of milliseconds for each page, mostly for navigation that is the same on all pages of a folder. So the HTML of an index
page with ``frame: true`` in its metadata marks its own parts (``theme/main.html``). A generated page of that folder is the same HTML with
these parts replaced. Such an index page hides its table of contents and its neighbor links (``hide: [toc, footer]``), which would be wrong
on other pages.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from pathlib import Path

from pages.page import Page

PART = re.compile(r"<!-- frame:(?P<name>\w+) -->.*?<!-- /frame:(?P=name) -->", re.DOTALL)
"""A pattern for a marked part of an index page; its names are those of `Frame.page`."""

SKIP = re.compile(r'(<a href=")[^"]*("[^>]* class="md-skip")')
"""A pattern for the link that skips the navigation; the index page's leads to its own first heading."""

TOPIC = re.compile(r'(data-md-component="header-topic">\s*<span class="md-ellipsis">)[^<]*(</span>)')
"""A pattern for the title in the header of a scrolled page."""

CONTENT = "generated"
"""The anchor to which the skip link leads in a generated page."""

MARK = re.compile(r"<!-- /?frame:\w+ -->\n?")

INDEX = "index.html"

PARTS = ("head", "title", "content")
"""The parts that every frame has."""


class Frame:
    """The HTML of an index page, as a template for other pages of its folder."""

    def __init__(self, index: str, site_name: str, address: str) -> None:
        """Take the HTML of an index page with marks, and the public address of its folder, empty if unknown.

        Raises:
            ValueError: The page lacks a mark.
        """
        found = [part["name"] for part in PART.finditer(index)]
        if missing := [name for name in PARTS if name not in found]:
            raise ValueError(f"the index page has no part {missing[0]} to replace: see theme/main.html")
        skipping = SKIP.sub(rf"\g<1>#{CONTENT}\g<2>", index)
        self._pieces = PART.split(TOPIC.sub(r"\g<1><!-- frame:topic --><!-- /frame:topic -->\g<2>", skipping))
        self._site_name = site_name
        self._address = address

    def page(self, page: Page) -> str:
        """The HTML of a page."""
        canonical = f"{self._address}{page.path.rpartition('/')[2]}" if self._address else ""
        parts = {
            "head": f'<meta name="description" content="{html.escape(page.summary)}">'
            + (f'<link rel="canonical" href="{canonical}">' if canonical else ""),
            "topic": html.escape(page.title),
            "title": f"<title>{html.escape(page.title)} - {html.escape(self._site_name)}</title>",
            "content": f'<div id="{CONTENT}">{page.body}</div>',
        }
        pieces = list(self._pieces)
        pieces[1::2] = [parts[name] for name in pieces[1::2]]
        return "".join(pieces)


def write_pages(pages: Iterable[Page], site: Path, site_name: str, address: str) -> list[Page]:
    """Write pages into a built site, and remove the marks from the index pages that framed them.

    Args:
        pages: The pages.
        site: The folder of the built site.
        site_name: Its name.
        address: Its public address with a slash at the end, or an empty text.

    Raises:
        ValueError: Two pages have the same path, or a folder has no index page with ``frame: true``.
    """
    frames: dict[str, Frame] = {}
    written: dict[str, Page] = {}
    for page in pages:
        folder = page.path.rpartition("/")[0]
        if folder not in frames:
            try:
                index = (site / folder / INDEX).read_text(encoding="utf-8")
                frames[folder] = Frame(index, site_name, f"{address}{folder}/" if address else "")
            except (OSError, ValueError) as error:
                raise ValueError(f"{page.path} has no frame: {error}") from error
        if page.path in written or (site / page.path).exists():
            raise ValueError(f"two pages are called {page.path}")
        (site / page.path).write_text(frames[folder].page(page), encoding="utf-8")
        written[page.path] = page
    for path in (site / folder / INDEX for folder in frames):
        path.write_text(MARK.sub("", path.read_text(encoding="utf-8")), encoding="utf-8")
    return list(written.values())
