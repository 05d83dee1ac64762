"""What engines do with golden files that break a rule: measured again, it is what the table says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import minimal_pairs
import pytest
from minimal_pairs import Measurement, Pair, chosen, effect_of, observe, pairs

from places import GOLDEN_FILES
from pqassay.judge.workers import WorkerLimits
from pqassay.proof import worker
from pqassay.proof.engine_processes import Asked, EngineProcesses
from pqassay.proof.engines import Engine, require_engines
from pqassay.proof.worker import ProofAnswer
from pqassay_spec.rules.catalogue import rules
from pqassay_spec.rules.observed import EngineAnswers, observations

SAMPLE = ["BLM-007", "PIX-042", "PQF-054", "PIX-001", "IDX1-016"]
"""Rules whose pairs are asked for again: engines lose rows, refuse, have no harm, and are not asked."""

ENGINES = [
    engine
    for engine in require_engines(["duckdb", "datafusion", "datafusion-pushdown", "polars", "pyarrow"])
    if engine.version is not None
]


@pytest.fixture(scope="module")
def running() -> Iterator[EngineProcesses]:
    with EngineProcesses(ENGINES, WorkerLimits(2)) as found:
        yield found


@pytest.mark.slow
def test_a_measurement_of_a_few_rules_gives_what_the_table_says(running: EngineProcesses) -> None:
    measured = dict(observe([rules()[rule] for rule in SAMPLE], GOLDEN_FILES, running, "2026-11-23"))

    versions = {engine.title: engine.version for engine in ENGINES}
    for rule in SAMPLE:
        stored = observations()[rule]
        same = [one for one in stored.engines if one.version == versions.get(one.engine)]
        assert same == [one for one in measured[rule].engines if one in same], rule
        assert (stored.cases, stored.reason) == (measured[rule].cases, measured[rule].reason)


def test_the_files_that_break_a_rule_alone_are_asked_for_first() -> None:
    every = [
        Pair("c", Path("c"), None, ("A-001",)),
        Pair("b", Path("b"), Path("p"), ("A-001",)),
        Pair("a", Path("a"), Path("p"), ("A-001", "A-002")),
        Pair("d", Path("d"), Path("p"), ("A-003", "A-002")),
    ]

    def asked(rule: str, shape_of: Callable[[str, str], str]) -> list[str]:
        return [pair.case for pair in chosen(rule, every, shape_of)]

    assert ["b", "c"] == asked("A-001", lambda _, case: case)
    assert ["b"] == asked("A-001", lambda *_: "one shape")
    assert ["a", "d"] == asked("A-002", lambda _, case: case)
    assert [] == asked("A-004", lambda _, case: case)


@pytest.mark.parametrize(
    ("seen", "answer"),
    [
        ("nothing", ProofAnswer(rows=3)),
        ("rows lost", ProofAnswer(rows=2, lost=1)),
        ("wrong rows", ProofAnswer(rows=3, lost=1, wrong=1)),
        ("read fails", ProofAnswer(error="no", lost=1)),
    ],
)
def test_an_answer_has_an_effect(seen: str, answer: ProofAnswer) -> None:
    assert seen == effect_of(answer)


@pytest.mark.parametrize("is_misled", [True, False])
def test_an_engine_that_is_as_wrong_about_the_healthy_file_is_not_held_against_the_rule(
    is_misled: bool, running: EngineProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(
        _self: EngineProcesses, _engine: Engine, file: str, asked: Sequence[Asked], _size: int
    ) -> list[ProofAnswer]:
        is_broken = "max-too-small" in file
        return [ProofAnswer(lost=1) if is_broken or not is_misled else ProofAnswer(rows=1) for _ in asked]

    monkeypatch.setattr(EngineProcesses, "ask", ask)
    (pair,) = (one for one in pairs(GOLDEN_FILES) if one.case == "sta/max-too-small")
    measurement = Measurement(running)
    measurement.ask(pair, ["STA-041"])
    found = measurement.observation(rules()["STA-041"], [pair], "2026-11-23")

    if is_misled:
        assert {"rows lost"} == {one.seen for one in found.engines}
    else:
        assert ((), minimal_pairs.NO_CONTROL) == (found.engines, found.reason)


def test_a_process_whose_java_has_ended_ends_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Ended(BaseException):
        pass

    def end(status: int) -> None:
        raise Ended(status)

    monkeypatch.setattr("os._exit", end)
    with pytest.raises(Ended) as caught:
        worker._answer("raise ConnectionRefusedError", tmp_path)
    assert worker.JAVA_HAS_ENDED == caught.value.args[0]


def test_a_row_of_the_table_counts_queries_not_files() -> None:
    (engine, *_) = ENGINES
    assert minimal_pairs.Tally().answers(engine, ["a"]) is None
    tally = minimal_pairs.Tally({"rows lost": ["a", "b", "b"], "nothing": ["a"]})

    assert EngineAnswers(engine.title, engine.version or "", "rows lost", 3, 4, "a") == tally.answers(
        engine, ["a"]
    )


@pytest.mark.parametrize(
    ("case", "changes_values", "changes_type"),
    [
        ("sta/max-too-small", False, False),
        ("pqf/values-missing", True, False),
        ("sta/interval-bounds", False, True),
    ],
)
def test_a_mutation_of_values_or_types_is_told_from_one_of_metadata(
    case: str, changes_values: bool, changes_type: bool
) -> None:
    (pair,) = (one for one in pairs(GOLDEN_FILES) if one.case == case)
    assert (changes_values, changes_type) == (pair.changes_values, pair.changes_type)
