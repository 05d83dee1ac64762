"""Findings that the expectations of a driver foretell."""

from __future__ import annotations

import pytest

from golden_cases import golden_cases
from pqassay_suite.cases.expectations import parse
from pqassay_suite.drivers.implementations import EXPECTATIONS, implementation
from pqassay_suite.exploring.asking import WrongAnswer
from pqassay_suite.exploring.drawn_file import DrawnColumn, DrawnFile, Question
from pqassay_suite.exploring.known import foretold_by
from pqassay_suite.exploring.search import Finding


@pytest.mark.parametrize(
    ("kind", "value", "words", "case"),
    [
        ("fixed(2)", b"\x00\x00", "bytes: cut", "pqf/fixed"),
        ("binary", b"a", "bytes: cut", None),
        ("fixed(2)", b"\x00\x00", "bytes: longer", None),
    ],
)
def test_the_same_words_about_a_type_of_another_length_are_known(
    kind: str, value: object, words: str, case: str | None
) -> None:
    entries = parse((implementation("fastparquet").folder / EXPECTATIONS).read_bytes()).entries
    question = Question(DrawnFile((DrawnColumn("a", kind, (value,)),)), None, ("a",))
    wrong = WrongAnswer(f"wrong rows: {words}", "other rows", "1 row missing", is_of_rows=True)
    finding = Finding(question, wrong, (f"a column of {kind}",), is_unstable=False, examples=1)

    assert case == foretold_by(finding, entries, {each.case.id: each for each in golden_cases()})
