"""What the guide says about indexes of different kinds is what the benchmark measured."""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

from places import ROOT


def script(folder: str, name: str) -> Any:
    """A script of the repository as a module."""
    sys.path.insert(0, str(ROOT / folder))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(ROOT / folder))


pages = script("tools", "write_which_index_tables")
FIGURES: dict[str, Any] = json.loads(pages.FIGURES.read_text(encoding="utf-8"))


def test_tables_and_picture_are_those_of_the_figures() -> None:
    assert pages.PAGE.read_text(encoding="utf-8") == pages.written(pages.PAGE, FIGURES)
    assert pages.PICTURE.read_text(encoding="utf-8") == pages.picture(FIGURES)


def test_the_guide_is_right_about_which_index_when() -> None:
    shuffled = {one["cardinality"]: one for one in pages.curves_of(FIGURES, is_sorted=False)}
    ordered = {one["cardinality"]: one for one in pages.curves_of(FIGURES, is_sorted=True)}
    groups = FIGURES["row_groups"]

    # Sorted: bounds leave what sets do, for a value that occurs.
    assert [one["sets"]["kept"][0] for one in ordered.values()] == [
        one["bounds"]["kept"][0] for one in ordered.values()
    ]
    # Few values: sets are small; nothing helps a query for a value that occurs.
    assert shuffled[10]["sets"]["bytes"] < 0.05 * shuffled[10]["bytes"]
    assert {groups} == {shuffled[10][kind]["kept"][0] for kind in ("bounds", "bloom", "idx1", "sets")}
    assert [groups, 0] == [shuffled[10][kind]["kept"][1] for kind in ("bounds", "sets")]
    # As many values as rows: a filter says nearly as much, and is much smaller.
    last = shuffled[max(shuffled)]
    assert last["bloom"]["kept"][0] <= 3
    assert 5 * last["bloom"]["bytes"] < last["sets"]["bytes"]
