"""The index of the site's search: without useless text, and with generated pages and fields."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pages.page import Page

INDEX = Path("search", "search_index.json")

IN_SCRIPT = Path("search", "search_index.js")
"""The index as a script, for pages opened from disk."""

LEFT_OUT = ("reference/",)
"""Address prefixes of pages that are not searched: names of the code are found in the code."""

DECISIONS, SELDOM = "decisions/", 0.3
"""The address prefix of decisions, which are less often wanted, and the factor of their rank."""

MOST, MOST_OF_DECISIONS = 340, 160
"""The number of characters of one section that are indexed. Longer parts are tables or listings, whose rows have their own pages."""

LONG = 4000
"""The number of characters of HTML from which a table counts as long."""

PASSED_OVER = re.compile(rf"<pre\b.*?</pre>|<table\b(?:(?!</table>).){{{LONG},}}?</table>", re.DOTALL)
"""A pattern for parts that are removed from a page before the slow division into sections."""

BLOCKS = re.compile(r"<pre>.*?</pre>", re.DOTALL)

MARKUP = re.compile(r"<[^>]+>")


def write(site: Path, pages: Iterable[Page], fields: Iterable[dict[str, Any]]) -> None:
    """Rewrite the search index of a built site; do nothing if it has none.

    Args:
        site: The folder of the site.
        pages: Generated pages, which are missing from the index.
        fields: Entries for the fields of structures.
    """
    path = site / INDEX
    if not path.exists():
        return
    index = json.loads(path.read_text(encoding="utf-8"))
    index["docs"] = [*_kept(index["docs"]), *map(entry, pages), *fields]
    text = json.dumps(index, ensure_ascii=False, separators=(",", ":"))
    path.write_text(text, encoding="utf-8")
    (site / IN_SCRIPT).write_text(f"var __index = {text}", encoding="utf-8")


def _kept(entries: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for entry in entries:
        if entry["location"].startswith(LEFT_OUT):
            continue
        if entry["location"].startswith(DECISIONS):
            yield {**entry, "text": shortened(entry["text"], MOST_OF_DECISIONS), "boost": SELDOM}
        else:
            yield {**entry, "text": shortened(entry["text"])}


def skimmed(page: str) -> str:
    """The HTML of a page without listings and long tables.

    >>> skimmed("<p>a</p><pre><code>b</code></pre><table><tr><td>c</table>")
    '<p>a</p><table><tr><td>c</table>'
    """
    return PASSED_OVER.sub("", page)


def shortened(text: str, most: int = MOST) -> str:
    """The text of a section without listings and tags, truncated at a word."""
    plain = " ".join(html.unescape(MARKUP.sub(" ", BLOCKS.sub(" ", text))).split())
    short = plain if len(plain) <= most else plain[:most].rpartition(" ")[0] + " …"
    return f"<p>{html.escape(short, quote=False)}</p>" if short else ""


ALSO_CALLED = {
    "upper bound": "maximum max",
    "lower bound": "minimum min",
    "cut": "truncated",
    "null count": "null_count nulls",
    "rows lost": "missing rows",
}
"""Synonyms for words of pages."""


TAGS_OF = {
    r"upper bound[^.]*\bcut\b": "truncated maximum",
    r"lower bound[^.]*\bcut\b": "truncated minimum",
}
"""Common names for pages with other titles; the search ranks them like the title, above pages that only contain a word."""


def entry(page: Page) -> dict[str, Any]:
    """The search entry of a generated page."""
    spoken = f"{page.title} {page.summary} {page.words}"
    also = " ".join(words for known, words in ALSO_CALLED.items() if re.search(rf"\b{known}\b", spoken))
    parts = (page.summary, page.words, also)
    text = "".join(f"<p>{html.escape(part, quote=False)}</p>" for part in parts if part)
    record: dict[str, Any] = {
        "location": page.path,
        "title": html.escape(page.title, quote=False),
        "text": text,
    }
    if tags := [tag for words, tag in TAGS_OF.items() if re.search(words, spoken, re.IGNORECASE)]:
        record["tags"] = tags
    return record if page.boost == 1 else {**record, "boost": page.boost}
