"""The survey of engines: its data name every damage, and pqassay finds each of them."""

from __future__ import annotations

import importlib.util
import json
import sys
from typing import Any

import pytest

import pqassay
from places import ROOT
from pqassay.proof.queries import true_rows
from pqassay.proof.worker import Answered


def load() -> Any:
    spec = importlib.util.spec_from_file_location("engine_survey", ROOT / "tools" / "engine_survey.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["engine_survey"] = module
    spec.loader.exec_module(module)
    return module


survey = load()
DATA = json.loads(survey.DATA.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def good() -> bytes:
    return survey.good_file()  # type: ignore[no-any-return]


def test_the_data_name_every_damage_query_and_engine() -> None:
    assert [(one.name, one.what) for one in survey.DAMAGES] == [
        (one["name"], one["what"]) for one in DATA["damages"]
    ]
    assert [survey.COUNT, *(query.sql for query in survey.QUERIES.values())] == DATA["queries"]
    names = [one.name for one in survey.DAMAGES]
    for engine in DATA["engines"]:
        assert ["(the good file)", *names] == list(engine["cells"])
        assert "." == engine["cells"]["(the good file)"], engine["engine"]
    assert {one.title for one in survey.SURVEYED} >= {one["engine"] for one in DATA["engines"]}


def test_pqassay_finds_what_misleads_an_engine_and_nothing_in_the_good_file(good: bytes) -> None:
    assert [] == survey.rules_of(good)
    (file,) = pqassay.check(good, tier="values").files
    assert "conformant" == file.outcome
    for damage, stored in zip(survey.DAMAGES, DATA["damages"], strict=True):
        found = survey.rules_of(survey.damaged(damage, good))
        assert stored["rules"] == found, damage.name
        assert found, damage.name


def test_every_query_has_rows_that_it_could_lose() -> None:
    rows = survey.table()
    for name, query in survey.QUERIES.items():
        assert 0 < len(true_rows(query, rows)), name


@pytest.mark.parametrize(
    ("expected", "answers"),
    [
        (".", {"a value": Answered(rows=1)}),
        ("W", {"a value": Answered(lost=1), "count(*)": Answered(rows=1)}),
        ("W!", {"everything": Answered(wrong=1), "count(*)": Answered(wrong=1)}),
        ("Wc", {"count(*)": Answered(wrong=1)}),
        ("WE1", {"a value": Answered(lost=1), "everything": Answered(error="no")}),
        ("Ep2", {"a value": Answered(error="no"), "everything": Answered(error="no", has_panicked=True)}),
    ],
)
def test_a_cell_says_what_an_engine_made_of_a_file(expected: str, answers: dict[str, Answered]) -> None:
    assert expected == survey.cell(answers)
