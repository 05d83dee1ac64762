"""What engines were seen to do: a table about every rule, and the words for it."""

from __future__ import annotations

import datetime as dt
import json
from functools import cache
from importlib.resources import files
from typing import get_args

import pytest

from places import GOLDEN_FILES
from pqassay_spec.golden.case import MANIFEST
from pqassay_spec.golden.table_case import TABLE_MANIFEST
from pqassay_spec.rules import observed as module
from pqassay_spec.rules.catalogue import Effect, file_rules
from pqassay_spec.rules.observed import (
    HARM,
    UNMEASURED,
    EngineAnswers,
    Observation,
    Observed,
    observations,
    observed,
    table_text,
)


def test_every_rule_has_an_entry_and_no_other() -> None:
    assert sorted(file_rules()) == list(observations()), "`make observe` measures what is new"


@cache
def broken_by(name: str) -> list[str]:
    """The rules that a golden file or a golden table breaks."""
    folder = GOLDEN_FILES / name
    if (table := folder / TABLE_MANIFEST).is_file():
        found: list[str] = json.loads(table.read_text())["rules"]
    else:
        found = json.loads((folder / MANIFEST).read_text())["expect"]["check"]["rules"]
    return found


def test_an_entry_says_what_was_seen_when_and_in_whom_or_why_nobody_was_asked() -> None:
    for rule in file_rules():
        found = observations()[rule]
        assert dt.date(2026, 1, 1) < dt.date.fromisoformat(found.date), rule
        assert found.engines or found.reason, rule
        assert [] == [name for name in found.cases if rule not in broken_by(name)], rule
        for one in found.engines:
            assert one.version[:1].isdigit(), (rule, one)
            assert 0 < one.count <= one.of, (rule, one)
            assert one.is_harmed == (one.case in found.cases), (rule, one)
        assert bool(found.reason) == (observed(rule).effect == "not asked"), rule


def test_nobody_was_seen_to_suffer_more_than_a_rule_says_it_could_do() -> None:
    grave = get_args(Effect)
    seen = {rule_id: observed(rule_id).effect for rule_id in file_rules()}
    worse = {
        rule.id: (seen[rule.id], rule.could)
        for rule in file_rules().values()
        if seen[rule.id] in grave and grave.index(seen[rule.id]) < grave.index(rule.could)
    }

    assert {} == worse


def test_the_table_is_written_as_it_is_read() -> None:
    content = (files("pqassay_spec.rules") / module.TABLE).read_text("utf-8")
    assert content == table_text(observations())


DUCKDB = EngineAnswers("DuckDB", "2.0.0", "rows lost", 3, 9, "sta/a")
REFUSES = EngineAnswers("Polars", "2.1.0", "read fails", 9, 9, "sta/a")
RIGHT = EngineAnswers("DataFusion", "55.0.0", "nothing", 9, 9)
PUSHDOWN = EngineAnswers("DataFusion, filter pushdown", "55.0.0", "rows lost", 1, 9, "sta/a")


@pytest.mark.parametrize(
    ("engines", "reason", "sentence"),
    [
        ([DUCKDB, REFUSES, RIGHT], "", "rows lost in DuckDB 2.0.0 (1 of 3 engines, 2026-11-23)"),
        ([REFUSES, RIGHT], "", "read fails in Polars 2.1.0 (1 of 2 engines, 2026-11-23)"),
        (
            [DUCKDB, RIGHT, PUSHDOWN],
            "",
            "rows lost in DuckDB 2.0.0 and DataFusion 55.0.0 with filter pushdown (2 of 2 engines, 2026-11-23)",
        ),
        ([RIGHT], "", "nothing: 1 engine was asked, and answered rightly (2026-11-23)"),
        ([RIGHT], "rows do not show it", "not asked: rows do not show it"),
        ([], "no reader has it", "not asked: no reader has it"),
    ],
)
def test_the_gravest_effect_counts_and_engines_with_two_settings_count_once(
    engines: list[EngineAnswers], reason: str, sentence: str
) -> None:
    found = Observation("2026-11-23", ("sta/a",), tuple(engines), reason)

    assert sentence == found.summary.sentence
    assert (found.summary.effect in HARM) == found.summary.is_harm


def test_a_rule_that_the_table_does_not_know_was_not_asked_about() -> None:
    assert Observed("not asked", reason=UNMEASURED) == observed("X-001")
