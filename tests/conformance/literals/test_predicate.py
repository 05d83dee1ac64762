from __future__ import annotations

from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from damage import tries
from each import each
from pqassay.literals.predicate import PredicateError, columns_of, keeps, truth_of
from pqassay_spec.golden.literals import Value

pytestmark = pytest.mark.slow

ROW: dict[str, Value] = {"n": "b", "y": 5, "x": None, "f": float("nan"), "raw": b"\xff"}


@each(
    ("tree", "truth"),
    [
        (["=", "n", "b"], True),
        (["!=", "n", "b"], False),
        (["<", "n", "ba"], True),
        ([">=", "y", 5], True),
        (["=", "x", "b"], None),
        (["!=", "x", "b"], None),
        (["=", "n", None], None),
        (["is null", "x"], True),
        (["is not null", "x"], False),
        (["in", "n", ["a", "b"]], True),
        (["in", "n", ["a", None]], None),
        (["not in", "n", ["a", None]], None),
        (["not in", "n", ["a", "c"]], True),
        (["in", "n", []], False),
        (["and", ["=", "n", "b"], ["=", "x", 1]], None),
        (["and", ["=", "n", "z"], ["=", "x", 1]], False),
        (["or", ["=", "n", "b"], ["=", "x", 1]], True),
        (["or", ["=", "n", "z"], ["=", "x", 1]], None),
        (["not", ["=", "x", 1]], None),
        (["=", "f", {"float": "nan"}], False),
        (["!=", "f", {"float": "nan"}], True),
        (["<", "f", {"float": "1.0"}], False),
        (["<", "y", {"int": "9007199254740993"}], True),
        (["=", "raw", {"bytes": "ff"}], True),
    ],
)
def test_truth_has_three_values(tree: list[Any], truth: bool | None) -> None:
    assert truth is truth_of(tree, ROW)
    assert (truth is True) is keeps(tree, ROW)


@each(
    "tree",
    [
        [],
        ["and"],
        ["~", "n", "b"],
        ["=", "n"],
        ["=", "gone", 1],
        ["=", "n", 1],
        ["=", "n", True],
        ["=", "n", {"float": "1", "int": "1"}],
        ["=", "y", {"int": "five"}],
        ["=", "n", ["b"]],
    ],
)
def test_what_is_no_predicate_is_an_error(tree: list[Any]) -> None:
    with pytest.raises(PredicateError):
        keeps(tree, ROW)


def test_the_columns_of_a_tree_are_found_at_any_depth() -> None:
    tree = ["or", ["not", ["in", "a", [1]]], ["and", ["is null", "b"], ["=", "a", 2]]]

    assert {"a", "b"} == columns_of(tree)


TEXTS = st.sampled_from(["", "a", "b", "ä", "Z"])
NUMBERS = st.integers(-2, 2)


def _leaf(column: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    maybe = st.one_of(values, st.none())
    return st.one_of(
        st.tuples(st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), st.just(column), maybe).map(list),
        st.tuples(
            st.sampled_from(["in", "not in"]), st.just(column), st.lists(maybe, min_size=1, max_size=3)
        ).map(list),
        st.tuples(st.sampled_from(["is null", "is not null"]), st.just(column)).map(list),
    )


TREES = st.recursive(
    st.one_of(_leaf("n", TEXTS), _leaf("y", NUMBERS)),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["and", "or"]), inner, inner).map(list),
        inner.map(lambda tree: ["not", tree]),
    ),
    max_leaves=5,
)


def sql(tree: list[Any]) -> str:
    """The same predicate for DuckDB."""
    op, *parts = tree
    if op in ("and", "or"):
        return "(" + f" {op} ".join(sql(part) for part in parts) + ")"
    if op == "not":
        return f"(not {sql(parts[0])})"
    if op.startswith("is"):
        return f"({parts[0]} {op})"
    if op.endswith("in"):
        return f"({parts[0]} {op} ({', '.join(_literal(item) for item in parts[1])}))"
    return f"({parts[0]} {op} {_literal(parts[1])})"


def _literal(value: Any) -> str:
    return "null" if value is None else f"'{value}'" if isinstance(value, str) else str(value)


@tries(150)
@given(TREES, st.one_of(TEXTS, st.none()), st.one_of(NUMBERS, st.none()))
def test_truth_is_that_of_sql(tree: list[Any], text: str | None, number: int | None) -> None:
    query = f"select {sql(tree)} from (select ?::varchar as n, ?::bigint as y)"
    with duckdb.connect() as connection:
        ((found,),) = connection.execute(query, [text, number]).fetchall()

    assert found is truth_of(tree, {"n": text, "y": number})
