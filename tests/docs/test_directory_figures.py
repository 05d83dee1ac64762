"""What guides say that answers and indexes cost is what the benchmarks measured."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from places import ROOT


def script(folder: str, name: str) -> Any:
    """A script of the repository as a module."""
    sys.path.insert(0, str(ROOT / folder))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(ROOT / folder))


pages = script("tools", "write_directory_tables")


@pytest.mark.parametrize("page", pages.PAGES, ids=lambda page: page.name)
def test_tables_are_those_of_the_figures(page: Path) -> None:
    assert page.read_text(encoding="utf-8") == pages.written(page)


def test_the_guide_is_right_about_what_answers_cost() -> None:
    lakes = json.loads(pages.ANSWERS.read_text(encoding="utf-8"))["lakes"]
    ratios = {
        name: one["duckdb"]["least"]["processor"] / one["answer"]["least"]["processor"]
        for name, one in lakes.items()
    }
    # A fifth where most files are skipped; where half of the rows are read, half of what DuckDB reads is the most that can be saved at its speed.
    assert ratios["clustered"] >= 5
    assert 0.8 <= ratios["everywhere"] < 5


def test_the_guide_is_right_about_what_indexes_cost() -> None:
    taken = json.loads(pages.WRITING.read_text(encoding="utf-8"))["taken"]
    idx1 = taken["IDX1"]["processor"]
    assert taken["distinct set"]["processor"] <= 1.25 * idx1
    assert taken["zone sums"]["processor"] <= 1.4 * idx1
    decoding = taken["decoding year, sales_amount"]["processor"]
    assert 1.2 * idx1 < taken["zone sums by nation and year"]["processor"] < 2 * (idx1 + decoding)
