"""What is asked about an unknown value is noted, and true of others only where the same answers come of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from damage import EXAMPLES
from each import each
from pqassay.under_test.unknown import Conditions, NotKnown
from pqassay_spec.parquet.column_order import Order, key, keys

Row = tuple[int, int, bytes]

QUESTIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "less": lambda a, b, _: a < b,
    "not more than a sum": lambda a, b, _: not a > b + 3,
    "between": lambda a, b, _: 0 <= a <= max(b, 2),
    "equal": lambda a, b, _: a == b,
    "different": lambda a, b, _: a != b or b != 0,
    "one of some": lambda a, b, _: a in (0, b, b - 1),
    "in a set": lambda a, *_: a in {1, 2, 3},
    "in a table": lambda a, *_: {0: "none", 1: "one"}.get(a),
    "truth": lambda a, b, _: [bool(a), not b],
    "never absent": lambda a, *_: (a is None, a == None, a != None),  # noqa: E711 - on purpose
    "sum": lambda a, b, _: sum([a, b, 1]) == 4,
    "length": lambda _, __, raw: len(raw),
    "short": lambda _, __, raw: len(raw) < 3,
    "bytes": lambda _, __, raw: raw == b"" or raw > b"a",
    "text": lambda _, __, raw: raw.decode() != "",
    "a number": lambda _, __, raw: (number := key(Order.SIGNED, raw)) is None or number > 7,
    "numbers": lambda _, __, raw: keys(Order.FLOAT, [raw, raw])[0] is None,
    "remainder": lambda a, b, _: 10 - a > b,
}

rows = st.tuples(
    st.integers(-2, 4),
    st.integers(-2, 4),
    st.sampled_from([b"", b"a", b"\xff", bytes(4), b"\x09" * 4, b"\0\0\xc0\x7f"]),
)


def answer(question: Callable[..., Any], row: tuple[Any, ...]) -> Any:
    try:
        return question(*row)
    except (UnicodeDecodeError, NotKnown):
        return "no text"


@each("name", QUESTIONS)
def test_an_answer_is_that_of_all_of_which_the_conditions_hold(name: str) -> None:
    question, agreeing = QUESTIONS[name], []

    @settings(max_examples=50 if EXAMPLES == 1 else 20)
    @given(rows, st.lists(rows, min_size=1, max_size=8))
    def check(first: Row, others: list[Row]) -> None:
        conditions = Conditions()
        unknown = tuple(conditions.unknown(place, value) for place, value in enumerate(first))
        of_unknown = answer(question, unknown)
        assert of_unknown == answer(question, first)
        if conditions.is_lost:
            return
        exceptions = conditions.compiled()
        columns = [list(column) for column in zip(first, *others, strict=True)]
        different = exceptions(columns, 1 + len(others))
        assert 0 not in different
        for number in {*range(len(others))}.difference(number - 1 for number in different):
            assert answer(question, others[number]) == of_unknown
            agreeing.append(others[number])
        alone = [
            number for number in range(len(others)) if exceptions([[value] for value in others[number]], 1)
        ]
        assert alone == [number - 1 for number in different]

    check()
    assert len(agreeing) > 10 // EXAMPLES


@pytest.mark.parametrize(
    "use", [str, repr, list, "{}".format, lambda value: value[0], lambda value: 3 in value]
)
def test_nothing_else_is_said_of_an_unknown_value(use: Callable[[Any], Any]) -> None:
    conditions = Conditions()
    with pytest.raises(NotKnown):
        use(conditions.unknown(0, b"abc"))

    assert conditions.is_lost


@pytest.mark.parametrize(
    "use",
    [int, float, abs, range, lambda value: value * 2, lambda value: -value, lambda value: value.bit_length()],
)
def test_nothing_else_is_computed_from_an_unknown_number(use: Callable[[Any], Any]) -> None:
    conditions = Conditions()
    with pytest.raises(NotKnown):
        use(conditions.unknown(0, 7))

    assert conditions.is_lost


def test_conditions_that_cannot_be_told_do_not_hold() -> None:
    conditions = Conditions()
    assert conditions.unknown(0, 5) > 3

    assert conditions.compiled()([[4, "x", 3]], 3) == [1, 2]
