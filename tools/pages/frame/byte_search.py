"""Entries of the site's search for single bytes, such as ``byte 29 descriptor``.

Each field with a fixed place gets an entry that leads to its row in the table of fields. A patch also makes numbers searchable: lunr, the
search of the theme, confuses sets of tokens that differ only in digits (`mend_worker`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from pages.pictures.byte_layout import Field, byte_anchors, fields_of, slug
from pages.pictures.declared import declared
from pages.pictures.layouts import WHOLE, title
from pages.places import CHAPTERS

LAYOUT = re.compile(r"^<!-- layout: (\S+) -->$", re.MULTILINE)

BOOST = 6
"""The factor by which an entry ranks before other pages with the same words."""

WORKERS = "assets/javascripts/workers"

CONFUSING, PLAIN = "=e+s+o.id}return e}", '=e+s+o.id+" "}return e}'
"""Code in lunr's ``TokenSet.toString`` that joins labels of edges and numbers of nodes: without a separator, and with a space.

Without the space, an edge ``1`` to node 23 looks like an edge ``12`` to node 3. Different sets are then merged, and a search for such a
token fails.
"""


def mend_worker(site: Path) -> None:
    """Patch the search worker of a built site so that it distinguishes tokens with digits.

    Raises:
        ValueError: The worker has another version than the patch.
    """
    for path in (site / WORKERS).glob("search.*.js"):
        text = path.read_text(encoding="utf-8")
        if PLAIN not in text:
            if text.count(CONFUSING) != 1:
                raise ValueError(
                    f"{path.name} is another search than the one that pages.frame.byte_search changes"
                )
            path.write_text(text.replace(CONFUSING, PLAIN), encoding="utf-8")


def entries() -> Iterator[dict[str, Any]]:
    """Yield an entry for each field with a fixed place of each structure that a chapter draws."""
    for chapter in sorted(CHAPTERS.glob("*.md")):
        text = chapter.read_text(encoding="utf-8")
        heading = text.partition("\n")[0].removeprefix("# ").partition(":")[0].replace("`", "")
        for name in LAYOUT.findall(text):
            if name not in WHOLE:
                for field in fields_of(declared(name), slug(name)):
                    yield from _entry(
                        field, f"spec/{chapter.stem}.html", f"{title(name)}, {heading}", slug(name)
                    )


def _entry(field: Field, page: str, structure: str, prefix: str) -> Iterator[dict[str, Any]]:
    anchors = list(byte_anchors(field, prefix))
    if anchors:
        numbers = " ".join(f"byte {anchor.rpartition('-')[2]}" for anchor in anchors)
        yield {
            "location": f"{page}#{anchors[0]}",
            "title": f"{field.place.capitalize()} of {structure}: {field.name}",
            "text": f"<p>{escape(field.doc)} {escape(field.type.replace('`', ''))}.</p><p>{numbers}</p>",
            "boost": BOOST,
        }
