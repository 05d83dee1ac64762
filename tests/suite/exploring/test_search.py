"""The search finds planted defects, makes them small, and names what they take."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from hypothesis.internal.cache import LRUCache
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from suite.exploring.defective import DEFECTS, Defective

from pqassay_driver import answers  # isort: skip
from pqassay_suite.drivers.protocol import (
    Answer,
    CaseRequest,
    HelloAnswer,
    ScanRequest,
    read_answer,
    read_hello,
    to_json,
)
from pqassay_suite.exploring.asking import Asker, WrongAnswer
from pqassay_suite.exploring.drawing import Choices
from pqassay_suite.exploring.drawn_file import DrawnColumn, DrawnFile, Question
from pqassay_suite.exploring.kinds import SPECIAL
from pqassay_suite.exploring.search import Finding, Search, SearchLimits

pytestmark = pytest.mark.slow

LARGEST = 1500
"""Bytes of a file that was made small."""


@pytest.fixture(autouse=True)
def nothing_from_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hypothesis draws constants of modules that are loaded, which are others in each process of the tests."""
    monkeypatch.setattr(providers, "_get_local_constants", Constants)
    monkeypatch.setattr(providers, "CONSTANTS_CACHE", LRUCache(1024))  # it has them, too


class Here:
    """A driver in this process: `test_explore` asks one in a process of its own."""

    def __init__(self, defect: str) -> None:
        self.driver = Defective(DEFECTS[defect])

    def ask(self, request: CaseRequest, _: Path) -> Answer:
        return self._answers(request)[0]

    def ask_queries(self, request: ScanRequest, _: Path) -> list[Answer]:
        return sorted(self._answers(request), key=lambda answer: answer.seq or 0)

    def _answers(self, request: CaseRequest) -> list[Answer]:
        found = answers(self.driver, json.loads(to_json(request)))
        return [read_answer(json.dumps(answer).encode(), request.op, strict=True) for answer in found]

    def start_afresh(self) -> None:
        """It keeps nothing."""

    def close(self) -> None:
        """It keeps nothing."""


@pytest.fixture
def asker(request: pytest.FixtureRequest) -> Iterator[Asker]:
    """A driver with the defect that the test names."""
    driver = Here(request.param)
    hello = next(iter(answers(driver.driver, {"protocol": 2, "op": "hello"})))
    asker = Asker(driver, read_hello(json.dumps(hello).encode(), strict=True))  # type: ignore[arg-type]
    yield asker
    asker.close()


def search(
    asker: Asker,
    examples: int,
    kind: str = "int32",
    *,
    seed: int = 8,
    lies: bool = False,
    kept: Sequence[Question] = (),
) -> Search:
    choices = Choices([kind], ["none", "snappy"], lies=lies)
    return Search(asker, choices, SearchLimits(3600, examples, seed), kept)


@pytest.mark.parametrize("asker", ["none"], indirect=True)
def test_a_driver_that_is_right_gives_no_finding(asker: Asker) -> None:
    made = search(asker, 12)

    assert [] == list(made.run())
    assert 12 == made.drawn


PLANTED = [
    (
        "nan-beside-bounds",
        {"a column of floats", "NaN", "statistics", "a comparison by order"},
        "without it too",
    ),
    ("second-row-group", {"several row groups", "a comparison by order"}, "without it too"),
    ("bloom-filter", {"bloom filters", "an equality"}, "by the index"),
    ("dictionary-and-nulls", {"a dictionary", "a column beside", "null", "an equality"}, "without it too"),
]


@pytest.mark.parametrize(
    ("asker", "takes", "way"), PLANTED, indirect=["asker"], ids=[name for name, _, _ in PLANTED]
)
def test_a_planted_defect_is_met_soon_and_made_small(asker: Asker, takes: set[str], way: str) -> None:
    kind = "double" if "a column of floats" in takes else "int32"
    finding = next(search(asker, 200, kind).run())

    special = {f"{name}{place}" for name in SPECIAL for place in ("", " in the query")}
    assert takes <= set(finding.takes) <= takes | special
    assert way == finding.difference.blame
    assert len(finding.question.file.written()) < LARGEST
    assert finding.examples < 200
    assert not finding.is_unstable


@pytest.mark.parametrize("asker", ["second-row-group"], indirect=True)
def test_the_same_seed_gives_the_same_finding(asker: Asker) -> None:
    assert next(search(asker, 60).run()) == next(search(asker, 60).run())


@pytest.mark.parametrize("asker", ["second-row-group"], indirect=True)
def test_kept_questions_are_asked_first_and_a_finding_explains_those_with_all_that_it_takes(
    asker: Asker,
) -> None:
    file = DrawnFile((DrawnColumn("a", "int32", (5, 1)),), row_group_rows=1)
    plain = Question(file, ("<", "a", 2), ("a",))
    more = replace(plain, file=replace(file, codec="snappy", page_index=True))
    made = search(asker, 1, kept=[plain, more])

    (finding,) = made.run()
    assert 0 == finding.examples
    assert ("several row groups", "a comparison by order") == finding.takes
    assert 1 <= made.explained


@pytest.mark.parametrize(
    ("predicate", "blame", "is_explained"),
    [
        (("=", "a", 1), "without it too", True),
        (("=", "a", 1), "by the index", False),
        (None, "", True),
    ],
)
def test_a_wrong_read_explains_scans_that_are_as_wrong_without_the_index(
    predicate: tuple[str, str, int] | None, blame: str, is_explained: bool
) -> None:
    file = DrawnFile((DrawnColumn("a", "int32", (1, None)),))
    wrong = WrongAnswer("wrong rows: integer instead of null", "other rows", "", is_of_rows=True)
    read = Finding(Question(file, None, ("a",)), wrong, ("null", "a read of all rows"), False, 1)
    other = replace(wrong, cause="wrong rows: rows too many", blame=blame)

    assert is_explained == read.explains(Question(file, predicate, ("a",)), other)
    assert not read.explains(
        Question(DrawnFile((DrawnColumn("a", "int32", (1, 2)),)), predicate, ("a",)), other
    )


@pytest.mark.parametrize("asker", ["believing"], indirect=True)
def test_a_lie_is_named(asker: Asker) -> None:
    finding = next(search(asker, 1000, seed=7, lies=True).run())

    assert "a lie: an upper bound that is too low" in finding.takes
    assert ["rows missing"] == [finding.difference.fault]
    assert [] == list(search(asker, 10).run())


class Fake:
    """Answers without a process: everything that has a column of numbers is wrong."""

    hello = HelloAnswer("accept", "fake", "1", "Python", ["read"])

    def __init__(self, before: Callable[[int], None]) -> None:
        self.asked, self._before, self.driver = 0, before, self

    def start_afresh(self) -> None:
        """There is no process."""

    def differences(self, questions: Sequence[Question]) -> list[WrongAnswer | None]:
        self.asked += 1
        self._before(self.asked)
        wrong = WrongAnswer("read of PQF: wrong rows", "rows missing", "1 row missing")
        return [wrong if each.file.columns[0].kind == "int32" else None for each in questions]


def findings_of(fake: Fake, clock: Callable[[], float]) -> tuple[Search, list[Finding]]:
    made = Search(fake, Choices(["int32", "string"], ["none"], scans=False), SearchLimits(100))  # type: ignore[arg-type]
    return made, list(made.run(clock))


def test_it_ends_at_its_limit() -> None:
    clock = count(0.0)
    fake = Fake(lambda _: None)
    made, findings = findings_of(fake, lambda: next(clock))

    assert 1 == len(findings)
    assert made.drawn < 200
    assert not made.was_interrupted


@pytest.mark.parametrize("moment", [1, 3, 12, 40])
def test_an_interruption_leaves_a_whole_result(moment: int) -> None:
    clock = count(0.0, 0.001)

    def interrupt(asked: int) -> None:
        if asked == moment:
            raise KeyboardInterrupt

    made, findings = findings_of(Fake(interrupt), lambda: next(clock))

    assert made.was_interrupted
    assert made.findings == findings
    assert all(finding.question.to_json() for finding in findings)
