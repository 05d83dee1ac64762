"""The page of what was measured of the scan is made from the figures."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from places import ROOT


def script(name: str) -> Any:
    """A script of the folder of tools as a module."""
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(ROOT / "tools"))


tables = script("write_scan_tables")
page_tables = script("page_tables")


def test_the_tables_are_those_of_the_figures() -> None:
    assert tables.written(tables.read_figures()) == tables.PAGE.read_text(encoding="utf-8")


def test_the_table_of_readme_is_that_of_the_figures() -> None:
    assert tables.readme_written(tables.read_figures()) == tables.README.read_text(encoding="utf-8")


def test_the_page_has_every_table_once() -> None:
    text = tables.PAGE.read_text(encoding="utf-8")
    assert sorted(tables.TABLES) == sorted(found["name"] for found in page_tables.TABLE.finditer(text))
