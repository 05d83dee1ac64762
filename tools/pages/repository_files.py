"""Pages from files in the repository's root, such as the changelog, with adapted links."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from pages.markup import Link
from pages.page import Site
from pages.places import ROOT

LINK = re.compile(r"\[([^\]]+)\]\((?![a-z]+:|#)([^)\s]+)\)")

DOCS = "docs/"

CHAPTERS = "spec/chapters/"


def lines(name: str, link: Link, site: Site) -> Iterator[str]:
    """Yield the text of a file of the repository's root without its title.

    Raises:
        OSError: The file does not exist.
    """
    text = (ROOT / name).read_text(encoding="utf-8").partition("\n")[2]
    yield LINK.sub(lambda found: _linked(found[1], found[2], link, site), text)


def _linked(words: str, target: str, link: Link, site: Site) -> str:
    """A link to a page of the site, or to the repository if its address is known, or only the words."""
    path, _, anchor = target.partition("#")
    path = posixpath.normpath(path)
    if path.startswith(CHAPTERS):
        return f"[{words}]({_page(f'spec/{path.removeprefix(CHAPTERS)}', anchor, link)})"
    if path.startswith(DOCS) and path.endswith(".md"):
        return f"[{words}]({_page(path.removeprefix(DOCS), anchor, link)})"
    return f"[{words}]({site.repository.rstrip('/')}/blob/main/{target})" if site.repository else words


def _page(path: str, anchor: str, link: Link) -> str:
    return link(path, anchor).removesuffix("#")
