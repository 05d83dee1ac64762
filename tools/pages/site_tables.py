"""Tables that only the site shows: measured figures, options of commands, answers about files from the future.

A page asks for one with ``<!-- site table: NAME -->``.  The modules of `page_tables` make their lines.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

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
"""Modules of `page_tables`, and the figures of each; empty where it reads its own."""


@cache
def makers() -> Mapping[str, str]:
    """By the name of a table, the module that makes it."""
    return {name: module for module in SOURCES for name in _module(module).TABLES}


def lines(name: str, _: Link) -> Iterator[str]:
    """The lines of a table.

    Args:
        name: Its name, with hyphens in place of blanks.

    Raises:
        KeyError: No module makes it.
    """
    module = makers()[name.replace("-", " ")]
    yield from _module(module).TABLES[name.replace("-", " ")](_figures(module))


def _module(name: str) -> Any:
    if str(TOOLS) not in sys.path:  # MkDocs has it there only while it loads the hooks
        sys.path.append(str(TOOLS))
    return importlib.import_module(f"page_tables.{name}")


@cache
def _figures(module: str) -> Any:
    read = getattr(_module(module), "read", None)
    return read() if read else json.loads((ROOT / SOURCES[module]).read_text("utf-8"))
