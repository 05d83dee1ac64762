"""What README and guide say an index saves is what the benchmark measured."""

from __future__ import annotations

import json
from typing import Any

from page_tables import tables_in

from places import ROOT

FIGURES: dict[str, Any] = json.loads((ROOT / "benchmarks" / "prune_figures.json").read_text(encoding="utf-8"))


def test_the_lakes_are_what_the_guide_says_of_them() -> None:
    left = {name: piece["files"] for name, piece in FIGURES["pieces"].items()}
    holding = FIGURES["clustered"]["holding"]

    assert FIGURES["spread"]["files"] == FIGURES["clustered"]["files"] == left["nothing"]
    assert holding == left["set"] == left["table"]
    assert holding <= left["both"] <= left["bloom"] < left["bounds"] < left["nothing"]
    assert FIGURES["spread"]["index_bytes"] < FIGURES["clustered"]["index_bytes"]


def test_the_table_pays_where_bounds_say_nothing_and_hardly_where_they_say_a_lot() -> None:
    spread, clustered = (FIGURES[lake]["engines"] for lake in ("spread", "clustered"))

    assert all(times["table"] < times["native"] for times in spread.values())
    assert all(times["warm"] < times["native"] for times in clustered.values())
    assert clustered["DuckDB"]["table"] > clustered["DuckDB"]["native"] / 2


def test_a_time_is_shown_beside_how_many_times_as_fast_as_natively_it_is() -> None:
    spread = {**FIGURES["spread"], "engines": {"DuckDB": {"native": 0.1, "cold": 0.04}}}

    assert [
        "|  | by itself | loading included |",
        "| --- | ---: | ---: |",
        "| DuckDB | 100 ms | 40 ms (2.5 times as fast) |",
    ] == tables_in("prune", {**FIGURES, "spread": spread})["pruning"].splitlines()[1:4]
