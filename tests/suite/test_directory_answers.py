"""Answers about the index directory: the entries that can be used, in any order, and nothing else."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from directory_files import Index, with_directory
from places import GOLDEN_FILES
from pqassay.under_test.file import FileUnderTest, Options
from pqassay_spec.base.sources import BytesSource
from pqassay_suite.cases.manifest import read_manifest
from pqassay_suite.drivers.fulfilled import unfulfilled
from pqassay_suite.drivers.protocol import IndexWish, Wishes
from pqassay_suite.judging.directory_answers import index_wishes, judged_entries

SET = {
    "type": "DISTINCT_SET",
    "granularity": "FILE",
    "columns": [["price"]],
    "parts": [
        {"complete": True, "nulls": False, "nan": True, "values": [{"float": "-0.0"}, {"float": "0.1"}]}
    ],
}
IDX1 = {"type": "IDX1", "granularity": "FILE", "columns": [["metal"]], "parts": [{"values": ["lead", "tin"]}]}
RIGHT = {"entries": [SET, IDX1]}


def answer(change: Callable[[list[Any]], object]) -> dict[str, Any]:
    """The right answer after a change to its entries."""
    entries = copy.deepcopy(RIGHT["entries"])
    change(entries)
    return {"entries": entries}


def values_of(entries: list[Any]) -> list[Any]:
    """The values of the first entry."""
    values: list[Any] = entries[0]["parts"][0]["values"]
    return values


GOOD: dict[str, Callable[[list[Any]], object]] = {
    "as it is": lambda _: None,
    "in another order": lambda entries: entries.reverse(),
    "a float written otherwise": lambda entries: values_of(entries).__setitem__(1, {"float": "1e-1"}),
    "values of IDX1 in another order": lambda entries: entries[1]["parts"][0]["values"].reverse(),
    "a member more": lambda entries: entries[0].update(writer="somebody"),
}

BAD: dict[str, tuple[Callable[[list[Any]], object], str]] = {
    "another zero": (
        lambda entries: values_of(entries).__setitem__(0, {"float": "0.0"}),
        "wrong parts[0].values[0]",
    ),
    "a value lost": (lambda entries: values_of(entries).pop(), "wrong length of parts[0].values"),
    "a flag": (lambda entries: entries[0]["parts"][0].update(nan=False), "wrong parts[0].nan"),
    "a stale entry": (
        lambda entries: entries.append({**SET, "granularity": "PAGE"}),
        "an entry that has to be ignored",
    ),
    "the same twice": (lambda entries: entries.append(SET), "no entries"),
    "no key": (lambda entries: entries[0].pop("columns"), "no entries"),
    "an entry lost": (lambda entries: entries.pop(), "an entry is missing"),
}


@pytest.mark.parametrize("how", GOOD)
def test_the_usable_entries_are_right(how: str) -> None:
    assert judged_entries(RIGHT, answer(GOOD[how]), may_lack=False).right


@pytest.mark.parametrize("how", BAD)
def test_anything_else_is_wrong(how: str) -> None:
    change, reason = BAD[how]
    judged = judged_entries(RIGHT, answer(change), may_lack=False)

    assert (False, True) == (judged.right, judged.reason.startswith(reason))


def test_where_a_damage_may_be_noticed_an_entry_may_be_left_aside_and_a_false_one_stays_wrong() -> None:
    lacking = judged_entries(RIGHT, answer(lambda entries: entries.clear()), may_lack=True)
    false = judged_entries(RIGHT, answer(BAD["a flag"][0]), may_lack=True)

    assert (True, False) == (lacking.right, false.right)


def test_a_writer_is_asked_for_the_indexes_of_the_case() -> None:
    text = (GOLDEN_FILES / "dir" / "sets-of-file" / "case.json").read_bytes()
    case = read_manifest(text, "dir/sets-of-file")
    entries = (case.expect.value or {})["entries"]

    assert [(one["type"], one["columns"]) for one in entries] == [
        (wish.type, wish.columns) for wish in index_wishes(case, None).indexes or []
    ]


WISHES = [
    (IndexWish("DISTINCT_SET", "ROW_GROUP", [["metal"]]), []),
    (IndexWish("DISTINCT_SET", "ROW_GROUP", [["metal"]], "BODY"), []),
    (
        IndexWish("DISTINCT_SET", "ROW_GROUP", [["metal"]], "INLINE"),
        ["indexes: DISTINCT_SET by ROW_GROUP of metal has placement BODY"],
    ),
    (IndexWish("DISTINCT_SET", "FILE", [["metal"]]), ["indexes: no DISTINCT_SET by FILE of metal"]),
    (IndexWish("KLL", "FILE", [["lot"]]), ["indexes: no KLL by FILE of lot"]),
]


@pytest.mark.parametrize(("wish", "missing"), WISHES)
def test_an_index_that_was_wished_for_is_there_and_can_be_used(wish: IndexWish, missing: list[str]) -> None:
    stale = Index(columns=(("lot",),), head={"shape": 1})
    file = FileUnderTest(BytesSource(with_directory(Index(), stale)), Options("pages"))

    assert missing == list(unfulfilled(file, Wishes(indexes=[wish])))
