"""What the guide says about indexes of different kinds is what the benchmark measured."""

from __future__ import annotations

import json
from typing import Any

from places import ROOT

FIGURES: dict[str, Any] = json.loads(
    (ROOT / "benchmarks" / "which_index_figures.json").read_text(encoding="utf-8")
)


def test_the_guide_is_right_about_which_index_when() -> None:
    shuffled, ordered = (
        {one["cardinality"]: one for one in FIGURES["curves"] if one["sorted"] is is_sorted}
        for is_sorted in (False, True)
    )
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
