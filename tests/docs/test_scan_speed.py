"""The page of what was measured of the scan is made from the figures."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import pytest

from places import ROOT


def tool() -> Any:
    """The script that makes the tables, as a module."""
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        return importlib.import_module("write_scan_tables")
    finally:
        sys.path.remove(str(ROOT / "tools"))


tables = tool()


def test_the_tables_are_those_of_the_figures() -> None:
    page = tables.PAGE.read_text(encoding="utf-8")
    assert tables.with_tables(page, tables.read_figures()) == page


def test_the_page_has_every_table_once() -> None:
    names = [found["name"] for found in tables.TABLE.finditer(tables.PAGE.read_text(encoding="utf-8"))]
    assert sorted(tables.TABLES) == sorted(names)


def test_a_comment_that_names_no_table_is_an_error() -> None:
    with pytest.raises(KeyError, match="no such"):
        tables.with_tables("<!-- table: no such -->\n<!-- end -->", tables.read_figures())
