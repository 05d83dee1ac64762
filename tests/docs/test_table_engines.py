"""What was measured of engines is about golden tables that there are, and about rules that they break."""

from __future__ import annotations

import importlib
import json
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from table_pairs import command, observation, table_pairs

from places import GOLDEN_FILES, ROOT
from pqassay_spec.rules.catalogue import family_of
from pqassay_spec.rules.observed import observations


def script(name: str) -> Any:
    """A script of the folder of tools as a module."""
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(ROOT / "tools"))


writer = script("write_table_engines")

MEASURED: list[dict[str, Any]] = json.loads(writer.MEASURED.read_text())


def test_each_row_is_of_a_golden_table_that_breaks_a_rule() -> None:
    for row in MEASURED:
        golden = json.loads((GOLDEN_FILES / row["golden"] / "table.json").read_text())

        assert (golden["kind"], golden["title"]) == ("invalid", row["title"])
        assert family_of(row["rule"]).is_about_tables, row["golden"]
        assert command(row["golden"]) == row["command"]
        assert all(answer["version"] for answer in row["engines"]), row["golden"]
        wrong = [answer for answer in row["engines"] if answer["verdict"] == "rows lost"]
        assert all(0 < answer["lost"] <= row["true_rows"] for answer in wrong), row["golden"]
        assert all(sum(answer["seen"].values()) <= answer["asked"] for answer in row["engines"]), row[
            "golden"
        ]


def test_what_was_observed_of_a_rule_is_what_was_measured() -> None:
    for rule in {row["rule"] for row in MEASURED}:
        found = observations()[rule]
        assert observation(rule, MEASURED, found.date) == found


def test_a_golden_table_is_asked_about_again_once_its_bytes_are_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (pair,) = (one for one in table_pairs(GOLDEN_FILES, "dlt") if one.case == "dlt/maximum-lowered")
    stored = [row for row in MEASURED if row["golden"] == pair.case]
    engines: list[Any] = [SimpleNamespace(title=answer["engine"]) for answer in stored[0]["engines"]]

    assert writer.is_asked(pair, stored, engines)
    assert not writer.is_asked(pair, stored, [*engines, SimpleNamespace(title="another one")])
    monkeypatch.setattr(writer, "digest_of", lambda _: "another one")
    assert not writer.is_asked(pair, stored, engines)
