from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pqassay_reader.condition.text import LONGEST, parse_predicate
from pqassay_reference.errors import Refused


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a = 1", ["=", "a", 1]),
        ("a == 1", ["=", "a", 1]),
        ("a <> 1.5", ["!=", "a", 1.5]),
        ("5 < a", [">", "a", 5]),
        ("5 >= a", ["<=", "a", 5]),
        ("a = -5", ["=", "a", -5]),
        ("a = - -5", ["=", "a", 5]),
        ("a = 99999999999999999999", ["=", "a", 99999999999999999999]),
        ("a = 1e3", ["=", "a", 1000.0]),
        ("a = 'it''s'", ["=", "a", "it's"]),
        ("a = ''", ["=", "a", ""]),
        ("a = x'00FF'", ["=", "a", b"\x00\xff"]),
        ("a = TRUE", ["=", "a", True]),
        ("a = NULL", ["=", "a", None]),
        ("日本 = 'é'", ["=", "日本", "é"]),
        ('"a b" = 1', ["=", "a b", 1]),
        ('"a""b" = 1', ["=", 'a"b', 1]),
        ("t.a.b = 1", ["=", "t.a.b", 1]),
        ("(a) = (1)", ["=", "a", 1]),
        ("ts >= TIMESTAMP '2024-01-01 00:00'", [">=", "ts", "2024-01-01 00:00"]),
        ("a IS NULL", ["is null", "a"]),
        ("a IS NOT NULL", ["not", ["is null", "a"]]),
        ("a IN (1, 'x', NULL)", ["in", "a", [1, "x", None]]),
        ("a NOT IN (1)", ["not", ["in", "a", [1]]]),
        ("a BETWEEN 1 AND 2", ["and", [">=", "a", 1], ["<=", "a", 2]]),
        (
            "a BETWEEN 1 AND 2 AND b = 1 AND c = 2",
            ["and", ["and", [">=", "a", 1], ["<=", "a", 2]], ["=", "b", 1], ["=", "c", 2]],
        ),
        (
            "a = 1 OR b = 2 AND NOT c = 3",
            ["or", ["=", "a", 1], ["and", ["=", "b", 2], ["not", ["=", "c", 3]]]],
        ),
        ("(a = 1 OR b = 2) AND c = 3", ["and", ["or", ["=", "a", 1], ["=", "b", 2]], ["=", "c", 3]]),
        ("a = 1 -- a comment", ["=", "a", 1]),
    ],
)
def test_conditions_are_read(text: str, tree: Any) -> None:
    found = parse_predicate(text)

    assert tree == found
    assert repr(tree) == repr(found)  # True is equal to 1, and 1000 to 1000.0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is not a condition"),
        ("a =", "is not a condition"),
        ("a = 'x", "is not a condition"),
        ("a = 1; DROP TABLE x", "is not a condition"),
        ("SELECT 1", "is not a condition"),
        ("a = x'0'", "write bytes as"),
        ("a", "'a' is not supported"),
        ("a LIKE 'x%'", "is not supported"),
        ("a = b", "at character 5: 'b' is not a constant"),
        ("a = ?", "is not a constant"),
        ("1 = 1", "'1' is not a column"),
        ("upper(a) = 'X'", "'UPPER(a)' is not a column"),
        ("a + 1 = 2", "'a + 1' is not a column"),
        ("a IN (SELECT 1)", "IN takes a list of constants"),
        ("a IS TRUE", "IS takes NULL or NOT NULL"),
        ("x.* = 1", "is not a column"),
        ("(" * 4000 + "a = 1" + ")" * 4000, "nested too deeply"),
        ("NOT " * 2000 + "a = 1", "nested too deeply"),
        ("a = 1 OR (b = 1 AND " * 400 + "a = 1" + ")" * 400, "nested too deeply"),
        ("a = '" + "x" * LONGEST + "'", "10006 characters; the limit is 10000"),
    ],
)
def test_what_a_tree_cannot_say_is_refused(text: str, words: str) -> None:
    with pytest.raises(Refused) as caught:
        parse_predicate(text)

    assert words in str(caught.value)
    assert 300 > len(str(caught.value))


def test_many_parts_are_one_list() -> None:
    assert ["or", *([["=", "a", 1]] * 1000)] == parse_predicate(" OR ".join(["a = 1"] * 1000))


CHARACTERS = st.text(alphabet="ab1'\"=<>()-., xANDORNTIULBEWISnul*?;:/\\é\x00\n", max_size=40)


@given(CHARACTERS | st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = parse_predicate(text)
    except Refused:
        return
    assert isinstance(found[0], str)
