"""What README and guide say an index saves is what the benchmark measured."""

from __future__ import annotations

import importlib
import json
import sys
from collections import Counter
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


pages = script("tools", "write_prune_tables")
page_tables = script("tools", "page_tables")
FIGURES: dict[str, Any] = json.loads(pages.FIGURES.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", pages.PAGES, ids=lambda page: page.name)
def test_the_tables_of_a_page_are_those_of_the_figures(page: Path) -> None:
    assert page.read_text(encoding="utf-8") == pages.written(page)


def test_every_table_is_shown_once() -> None:
    made = pages.tables(FIGURES)
    shown = Counter(
        found["name"]
        for page in pages.PAGES
        for found in page_tables.TABLE.finditer(page.read_text("utf-8"))
        if found["name"] in made or found["name"] not in page_tables.IN_README
    )

    assert dict.fromkeys(made, 1) == shown


def test_the_lakes_are_what_the_guide_says_of_them() -> None:
    left = {name: piece["files"] for name, piece in FIGURES["pieces"].items()}
    holding = FIGURES["clustered"]["holding"]

    assert FIGURES["spread"]["files"] == FIGURES["clustered"]["files"] == left["nothing"]
    assert holding == left["set"] == left["table"]
    assert holding <= left["both"] <= left["bloom"] < left["bounds"] < left["nothing"]
    assert FIGURES["spread"]["index_bytes"] < FIGURES["clustered"]["index_bytes"]


def test_loading_pays_where_bounds_say_nothing_and_hardly_for_one_query_where_they_say_a_lot() -> None:
    spread, clustered = (FIGURES[lake]["engines"] for lake in ("spread", "clustered"))

    assert all(times["cold"] < times["native"] for times in spread.values())
    assert all(times["warm"] < times["native"] for times in clustered.values())
    assert clustered["DuckDB"]["cold"] > clustered["DuckDB"]["native"] / 2


def test_a_time_is_shown_beside_how_many_times_as_fast_as_natively_it_is() -> None:
    figures = {"engines": {"DuckDB": {"native": 0.1, "cold": 0.04}, "pyarrow": {"native": 1.0, "cold": 0.5}}}

    assert [
        "|  | by itself | loading included |",
        "| --- | ---: | ---: |",
        "| DuckDB | 100 ms | 40 ms (2.5 times as fast) |",
    ] == list(pages.engines_table({"spread": figures}, "spread", "DuckDB"))
