"""Tables that only the site shows: measured figures, options of commands, answers about future files.

A page includes one with ``<!-- site table: NAME -->``. The templates of `page_tables` make the lines.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from page_tables import figures_of, tables_in

from pages.markup import Link

TOOLS = Path(__file__).resolve().parent.parent
ROOT = TOOLS.parent

SOURCES: Mapping[str, str] = {
    "answers": "benchmarks/answer_figures.json",
    "future": "docs/data/future.json",
    "index_writing": "benchmarks/index_write_figures.json",
    "options": "",
    "prune": "benchmarks/prune_figures.json",
    "recall": "",
    "repairs": "docs/data/repairs.json",
    "scale": "",
    "scan": "benchmarks/scan_figures.json",
    "spark_versions": "docs/data/spark_versions.json",
    "weighing": "docs/data/weighing.json",
    "which_index": "benchmarks/which_index_figures.json",
}
"""Templates of `page_tables`, with the figures of each; empty if a module reads its own."""


def lines(name: str, _: Link) -> Iterator[str]:
    """The lines of a table.

    Args:
        name: Its name, with hyphens instead of spaces.

    Raises:
        KeyError: No template makes the table.
    """
    yield from _tables()[name.replace("-", " ")].splitlines()


@cache
def _tables() -> Mapping[str, str]:
    if str(TOOLS) not in sys.path:  # MkDocs makes it available only while it loads the hooks
        sys.path.append(str(TOOLS))
    made = (tables_in(template, figures_of(template, ROOT / path)) for template, path in SOURCES.items())
    return {name: text for each in made for name, text in each.items()}
