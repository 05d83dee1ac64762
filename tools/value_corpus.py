"""The corpus of values and predicates with which authors of drivers test their code.

It is ``conformance/pqassay/corpus/values.json``.  Its members:

* ``values``: values as the protocol writes them. Reading one and writing it gives the same again.
* ``predicates``: ``{"value", "predicate", "truth"}``, a value of the column ``x``, a predicate and its truth there: ``true``,
  ``false`` or ``unknown``. Where readers differ, ``nan`` or ``zeros`` names their declarations for which it holds.

This module defines it as chains of ascending values; truth comes from `pqassay.literals.predicate`, and a test compares both.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import TypeAdapter

from pqassay.literals.predicate import COMPARISONS, Semantics, truth_of
from pqassay_spec.golden.literals import Value, Written, read_value

CORPUS = "conformance/pqassay/corpus/values.json"

ABOUT = (
    "Values and predicates to test a driver with; see conformance/PROTOCOL.md. Written by `make generate`."
)

Json = Any
"""A value in its JSON form."""


def _tagged(tag: str, *contents: str) -> list[Json]:
    return [{tag: content} for content in contents]


def _each(values: Iterable[Json]) -> list[list[Json]]:
    return [[value] for value in values]


CHAINS: dict[str, list[list[Json]]] = {
    "boolean": [[False], [True]],
    "whole number": [
        *_each(_tagged("int", "-9223372036854775808", "-9007199254740993")),
        *_each([-9007199254740992, -1, 0, 1, 4294967295, 9007199254740992]),
        *_each(_tagged("int", "9007199254740993", "9223372036854775807")),
        *_each(_tagged("int", "9223372036854775808", "18446744073709551615")),
    ],
    "float": [
        *_each(_tagged("float", "-inf", "-1.5", "-5e-324")),
        _tagged("float", "0.0"),
        *_each(_tagged("float", "5e-324", "0.1", "0.10000000149011612", "0.3", "0.30000000000000004")),
        *_each(_tagged("float", "65504.0", "1e+22", "1.7976931348623157e+308", "inf")),
    ],
    "whole number and float": [
        [-1, {"float": "-1.0"}],
        [{"float": "-0.5"}],
        [0, {"float": "0.0"}],
        [1, {"float": "1.0"}],
        [{"float": "1.5"}],
        [2, {"float": "2.0"}],
    ],
    "text": _each(
        [
            "",
            "\0",
            " ",
            "A",
            "B",
            "a",
            "a\0",
            "aa",
            "e\u0301",
            "z",
            "\x7f",
            "\x80",
            "é",
            "ÿ",
            "日本",
            "\ue000",
            "\ufeff",
            "\uffff",
            "\U00010000",
            "😀",
            "😀a",
            "\U0010ffff",
        ]
    ),
    "bytes": _each(_tagged("bytes", "", "00", "0000", "01", "61", "6100", "7f", "80", "ff", "ff00")),
    "decimal": [
        _tagged("decimal", "-99999999999999999999.99"),
        _tagged("decimal", "-1.50", "-1.5", "-1.500000000000000000000"),
        _tagged("decimal", "-0.01"),
        _tagged("decimal", "0", "0.00"),
        _tagged("decimal", "0.1", "0.10"),
        _tagged("decimal", "0.10000000000000000001"),
        _tagged("decimal", "9.99"),
        _tagged("decimal", "10", "10.0"),
        _tagged("decimal", "9007199254740992.01"),
        _tagged("decimal", "9007199254740992.02"),
        _tagged("decimal", "99999999999999999999999999999999999999"),
    ],
    "date": _each(_tagged("date", "-719162", "-1", "0", "9", "19000", "2932896")),
    "time": _each(_tagged("time", "0", "1", "999999999", "86399999999999")),
    "timestamp": _each(
        _tagged(
            "timestamp",
            "-9223372036854775808",
            "-1",
            "0",
            "1700000000000000000",
            "1700000000000000001",
            "9223372036854775807",
        )
    ),
}
"""Kinds of values, each as groups of equal values in ascending order."""

DECLARED_APART = _tagged("float", "nan", "-0.0", "0.0", "inf", "1.5")
"""Floats whose comparison depends on the declarations of a reader."""

NESTED: list[Json] = [
    {"list": []},
    {"list": [None]},
    {"list": [1, None, {"int": "-9007199254740993"}]},
    {"list": [{"list": [{"float": "nan"}]}, {"list": []}, None]},
    {"struct": {"city": "東京", "height": {"decimal": "40.00"}, "seen": None}},
    {"struct": {"inner": {"struct": {"raw": {"bytes": ""}, "flags": {"list": [True, False]}}}}},
    {"map": []},
    {"map": [["b", 1], ["a", None]]},
    {"map": [[2, {"struct": {"at": {"timestamp": "0"}}}], [1, {"list": [{"date": "0"}, {"time": "0"}]}]]},
]
"""Values that are not compared; only null tests apply."""

AWKWARD_TEXTS: list[Json] = ['"', "\\", "/", "\b\f\n\r\t", "\u2028\u2029", "\u0085", '{"int":"1"}', "null"]

DECLARATIONS = [Semantics(nan, zeros) for nan in ("unordered", "greatest") for zeros in ("equal", "apart")]

COLUMN = "x"

WORDS = {True: "true", False: "false", None: "unknown"}

WRITTEN: TypeAdapter[Any] = TypeAdapter(Written)
"""The conversion of JSON values to the input of `read_value`."""


def value_of(written: Json) -> Value:
    """The value of its JSON form."""
    return read_value(WRITTEN.validate_python(written))


def entries_of(value: Json, predicate: list[Json]) -> Iterator[dict[str, Json]]:
    """The truth of a predicate on a value: one entry, or one for each declaration that makes a difference."""
    row = {COLUMN: value_of(value)}
    truths = {declared: truth_of(predicate, row, declared) for declared in DECLARATIONS}
    for members in ((), ("nan",), ("zeros",), ("nan", "zeros")):
        said: dict[tuple[str, ...], set[bool | None]] = {}
        for declaration, truth in truths.items():
            said.setdefault(tuple(getattr(declaration, member) for member in members), set()).add(truth)
        if all(len(of_declaration) == 1 for of_declaration in said.values()):
            for words, (truth,) in said.items():
                declared = dict(zip(members, words, strict=True))
                yield {"value": value, "predicate": predicate, "truth": WORDS[truth], **declared}
            return


def compared(value: Json, literal: Json, operators: Iterable[str] = COMPARISONS) -> Iterator[dict[str, Json]]:
    """Yield the comparisons of a value with a literal."""
    for operator in operators:
        yield from entries_of(value, [operator, COLUMN, literal])


def of_chain(groups: list[list[Json]]) -> Iterator[dict[str, Json]]:
    """Yield comparisons, memberships and null tests of one kind: each value with itself, its equals, and both neighbors."""
    for group in groups:
        yield from compared(group[0], group[0])
        for value, other in itertools.permutations(group, 2):
            yield from compared(value, other, ("=", "<", ">="))
    for less, greater in itertools.pairwise(groups):
        yield from compared(less[0], greater[0], ("=", "<", "<="))
        yield from compared(greater[0], less[0], ("!=", "<", ">="))
    first, last = groups[0][0], groups[-1][0]
    for value, other in itertools.permutations((first, last), 2):
        yield from compared(value, other)
    yield from compared(None, first)
    yield from compared(last, None)
    yield from of_lists(first, last)


def of_lists(first: Json, last: Json) -> Iterator[dict[str, Json]]:
    """Yield memberships and null tests with two different values."""
    lists = ([first], [last], [last, first], [first, None], [last, None], [None])
    for operator, items in itertools.product(("in", "not in"), lists):
        yield from entries_of(first, [operator, COLUMN, items])
    for operator in ("in", "not in"):
        yield from entries_of(None, [operator, COLUMN, [first, last]])
    yield from null_tests(first)
    yield from null_tests(last)


def null_tests(value: Json) -> Iterator[dict[str, Json]]:
    """Yield the null tests of a value."""
    for operator in ("is null", "is not null"):
        yield from entries_of(value, [operator, COLUMN])


def of_declared_floats() -> Iterator[dict[str, Json]]:
    """Yield comparisons and memberships of NaN and the two zeros."""
    for one, other in itertools.product(DECLARED_APART, repeat=2):
        yield from compared(one, other)
        yield from entries_of(one, ["in", COLUMN, [other]])
        yield from entries_of(one, ["not in", COLUMN, [other, {"float": "2.5"}]])
    yield from compared({"float": "nan"}, 1)
    yield from compared({"float": "-0.0"}, 0)
    yield from entries_of({"float": "nan"}, ["not", ["<", COLUMN, {"float": "1.5"}]])
    for value in DECLARED_APART:
        yield from null_tests(value)


def of_connectives() -> Iterator[dict[str, Json]]:
    """Yield all three truth values under ``and``, ``or`` and ``not``, also nested."""
    yes, no, unknown = ["=", COLUMN, 5], ["<", COLUMN, 5], ["=", COLUMN, None]
    trees: list[list[Json]] = [["not", part] for part in (yes, no, unknown)]
    for name in ("and", "or"):
        trees += [[name, part] for part in (yes, no, unknown)]
        trees += [[name, one, other] for one, other in itertools.product((yes, no, unknown), repeat=2)]
        trees += [[name, *parts] for parts in itertools.permutations((yes, no, unknown))]
    trees += [["not", tree] for tree in trees[3:]]
    trees += [["and", ["or", no, ["not", no]], ["not", ["and", unknown, no]]], ["not", ["not", unknown]]]
    for tree in trees:
        yield from entries_of(5, tree)
    yield from entries_of(None, ["or", ["is null", COLUMN], ["<", COLUMN, 5]])
    yield from entries_of(None, ["and", ["is not null", COLUMN], ["not", ["<", COLUMN, 5]]])


def corpus() -> dict[str, list[Json]]:
    """The values, and the predicates with their truth."""
    chained = [value for groups in CHAINS.values() for group in groups for value in group]
    values: list[Json] = [None, *chained, *DECLARED_APART, *AWKWARD_TEXTS, *NESTED]
    entries = [
        *(entry for groups in CHAINS.values() for entry in of_chain(groups)),
        *of_declared_floats(),
        *null_tests(None),
        *(entry for value in NESTED for entry in null_tests(value)),
        *of_connectives(),
    ]
    return {"values": _distinct(values), "predicates": _distinct(entries)}


def _distinct(items: list[Json]) -> list[Json]:
    return list({json.dumps(item): item for item in items}.values())


def contents() -> dict[str, str]:
    """The text of the file: ASCII JSON with one entry per line."""
    members = [f'"about": {json.dumps(ABOUT)}']
    for name, items in corpus().items():
        lines = ",\n".join(json.dumps(item) for item in items)
        members.append(f'"{name}": [\n{lines}\n]')
    return {CORPUS: "{\n" + ",\n".join(members) + "\n}\n"}
