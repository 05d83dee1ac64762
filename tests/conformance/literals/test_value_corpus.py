"""The corpus of values and predicates, against the chains that it is made of and against DuckDB."""

from __future__ import annotations

import itertools
import json
from typing import Any

import duckdb
from value_corpus import CHAINS, CORPUS, DECLARATIONS, WORDS, WRITTEN, value_of

from places import ROOT
from pqassay.literals.predicate import COMPARISONS, CONNECTIVES, MEMBERSHIPS, NEGATION, NULL_TESTS, truth_of
from pqassay_spec.golden.literals import write_value

CONTENT: dict[str, list[Any]] = json.loads((ROOT / CORPUS).read_text(encoding="utf-8"))
ENTRIES = CONTENT["predicates"]


def test_every_value_is_written_as_it_was_read() -> None:
    again = [
        WRITTEN.dump_python(write_value(value_of(written)), mode="json") for written in CONTENT["values"]
    ]
    assert CONTENT["values"] == again


def test_every_kind_of_value_is_there() -> None:
    tags = {next(iter(value)) for value in CONTENT["values"] if isinstance(value, dict)}
    expected = {"int", "float", "bytes", "decimal", "date", "time", "timestamp", "list", "struct", "map"}
    assert expected == tags
    assert {bool, int, str, type(None), dict} == {type(value) for value in CONTENT["values"]}


def test_every_operator_has_every_truth_that_it_can_have() -> None:
    two, three = {"true", "false"}, {"true", "false", "unknown"}
    expected = {
        **dict.fromkeys((*COMPARISONS, *MEMBERSHIPS, *CONNECTIVES, NEGATION), three),
        **dict.fromkeys(NULL_TESTS, two),
    }
    truths: dict[str, set[str]] = {}
    for entry in ENTRIES:
        truths.setdefault(entry["predicate"][0], set()).add(entry["truth"])
    assert expected == truths


def test_truth_follows_the_order_of_the_chains() -> None:
    for groups in CHAINS.values():
        places = [(place, value) for place, group in enumerate(groups) for value in group]
        for (place, value), (other_place, other) in itertools.product(places, repeat=2):
            row = {"x": value_of(value)}
            expected = {name: compare(place, other_place) for name, compare in COMPARISONS.items()}
            assert expected == {name: truth_of([name, "x", other], row) for name in COMPARISONS}, (
                value,
                other,
            )


def test_an_entry_holds_under_every_declaration_that_it_allows() -> None:
    for entry in ENTRIES:
        row = {"x": value_of(entry["value"])}
        for declared in DECLARATIONS:
            if all(entry.get(member, word) == word for member, word in vars(declared).items()):
                assert entry["truth"] == WORDS[truth_of(entry["predicate"], row, declared)]


def test_where_nan_is_greatest_truth_is_that_of_duckdb() -> None:
    compared = [
        entry
        for entry in ENTRIES
        if entry.get("nan", "greatest") == "greatest"
        and entry.get("zeros", "equal") == "equal"
        and entry["predicate"][0] in COMPARISONS
        and _is_float(entry["value"])
        and _is_float(entry["predicate"][2])
    ]
    queries = ", ".join(f"?::double {entry['predicate'][0]} ?::double" for entry in compared)
    values = [value["float"] for entry in compared for value in (entry["value"], entry["predicate"][2])]
    with duckdb.connect() as connection:
        (found,) = connection.execute(f"select {queries}", values).fetchall()
    assert [entry["truth"] for entry in compared] == [WORDS[truth] for truth in found]


def _is_float(written: Any) -> bool:
    return isinstance(written, dict) and "float" in written
