"""What differs between rows: the same words for the same defect, and others for another one."""

from __future__ import annotations

import pytest

from golden_cases import golden_cases
from pqassay.report.run.model import Result
from pqassay_spec.golden.literals import (
    BinaryLiteral,
    Date,
    Decimal,
    Float,
    List,
    Map,
    Struct,
    Time,
    Timestamp,
    Value,
)
from pqassay_suite.judging.causes import blanked, cause_of, with_shared_causes
from pqassay_suite.judging.differences import (
    Selection,
    cause_words,
    difference_of_rows,
    difference_of_values,
    feature_of,
)

NAN = float("nan")
CASES = {golden.case.id: golden for golden in golden_cases()}


@pytest.mark.parametrize(
    ("wanted", "found", "words"),
    [
        (List([1]), None, "null instead of list"),
        (List([]), None, "null instead of list"),
        (None, List([]), "empty list instead of null"),
        (None, Map([]), "empty map instead of null"),
        ("tin", b"tin", "bytes instead of text"),
        (b"tin", "tin", "text instead of bytes"),
        (True, 1, "integer instead of boolean"),
        (1, True, "boolean instead of integer"),
        (1958, Time("1958000"), "time instead of integer"),
        (List([1, 2]), List([1]), "list with fewer elements"),
        (List([1]), List([1, 2]), "list with more elements"),
        (List([1, None]), List([1, 0]), "in a list: integer instead of null"),
        (List([Float("1.0")]), List([Float("nan")]), "in a list: float: NaN for a number"),
        (Struct({"x": List(["a"])}), Struct({"x": List([BinaryLiteral("61")])}), "in a list in a struct: bytes instead of text"),
        (Struct({"x": 1}), Struct({"y": 1}), "struct with other members"),
        (Map([("a", 1)]), Map([("a", None)]), "in a map: null instead of integer"),
        (Map([("a", 1)]), Map([]), "map with fewer entries"),
        (NAN, 3.0, "float: a number for NaN"),
        (0.0, -0.0, "float: another sign of zero"),
        (4294967295, -1, "integer: another sign"),
        (Timestamp("1"), Timestamp("0"), "timestamp: less precise"),
        (Timestamp("1000"), Timestamp("1000000"), "timestamp: another unit"),
        (Decimal("2.19"), Decimal("0.219"), "decimal: another scale"),
        (Decimal("1.50"), Decimal("1.5"), "decimal: another scale"),
        ("copper", "cop", "text: cut"),
        (b"a", b"ab", "bytes: longer"),
        (Date("1"), Date("2"), "date: another value"),
        (7, 8, "integer: another value"),
    ],
)  # fmt: skip
def test_two_values_differ_by_their_kinds_and_not_by_what_they_are(
    wanted: Value, found: Value, words: str
) -> None:
    difference = difference_of_values(wanted, found)

    assert (words, not words.endswith("another value")) == (difference.words, difference.is_telling)


def test_a_pair_of_rows_is_found_by_what_they_share() -> None:
    wanted: list[list[Value]] = [[1, "a"], [2, "b"], [3, "c"]]

    assert "null instead of text" == difference_of_rows(wanted, [[3, "c"], [2, None], [1, "a"]]).words
    assert "null instead of text" == difference_of_rows(wanted, [[2, None], [1, "a"]]).words
    assert "rows missing" == difference_of_rows(wanted, [[1, "a"]]).words
    assert "integer: another value" == difference_of_rows(wanted, [[1, "a"], [2, "b"], [9, "z"]]).words
    assert "other columns" == difference_of_rows(wanted, [[1], [2], [3]]).words


@pytest.mark.parametrize(
    ("compared", "words"),
    [
        ([NAN, 1.0, 2.0], "rows missing where a float is NaN"),
        ([-0.0, 1.0, 2.0], "rows missing where a float is zero"),
        ([None, 1.0, 2.0], "rows missing where a value is null"),
        ([Struct({"x": None}), 1.0, 2.0], "rows missing where a value is a struct"),
        ([5.0, 1.0, 2.0], "rows missing"),
    ],
)
def test_rows_that_are_selected_wrongly_are_known_by_the_values_that_are_compared(
    compared: list[Value], words: str
) -> None:
    rows: list[list[Value]] = [["tin"], ["lead"], ["zinc"]]

    found = difference_of_rows(rows[:2], rows[1:2], Selection(rows, [[value] for value in compared]))

    assert words == found.words


def test_a_row_that_the_file_has_is_selected_wrongly_and_not_read_wrongly() -> None:
    file: list[list[Value]] = [[3], [5], [7]]
    compared: list[list[Value]] = [[0.0], [-0.0], [1.0]]
    chosen = Selection(file, compared)

    assert (
        "rows missing and rows too many where a float is zero"
        == difference_of_rows([[3]], [[5]], chosen).words
    )
    assert "integer: another value" == difference_of_rows([[3]], [[4]], chosen).words


def test_the_same_null_lists_have_one_cause_in_valid_and_damaged_files_of_every_family() -> None:
    """One reader showed its null lists in eight blocks."""
    shown = {
        cause_words(difference_of_rows([[1, List([2])]], [[1, None]]), CASES[name])
        for name in ("pqf/pages-v2", "pqf/page-of-no-values", "pix/two-timestamps", "blm/length-short")
    }

    assert {"null instead of list"} == shown


def test_numbers_in_place_of_numbers_have_the_cause_of_what_the_file_has() -> None:
    """One block hid five defects."""
    other = difference_of_rows([[1]], [[2]])

    assert "integer: another value (encoding.delta-binary-packed)" == cause_words(
        other, CASES["pqf/differences"]
    )
    assert "integer: another value (row_groups.columns.meta_data.type)" == cause_words(
        other, CASES["pqf/chunk-of-another-type"]
    )
    assert "schema.repetition_type" == feature_of(CASES["pqf/repetition-missing"])


def test_a_refusal_has_its_cause_without_the_column_that_it_names() -> None:
    messages = ["no page 3 of column metal", "no page 12 of column depth", "no page 1 of column number"]
    names = {"metal", "depth", "number"}

    assert {"no page # of column …", "no page # of column number"} == {
        blanked(text, names) for text in messages
    }
    assert "'…' is missing" == blanked("'number' is missing", names)


def test_a_panic_of_rust_is_known_by_where_it_is_and_what_it_says() -> None:
    panics = [
        f"thread '<unnamed>' (4) panicked at src/mod.rs:{line}:5:\n{what}\nnote: run with RUST_BACKTRACE=1"
        for line, what in (
            (7, "index out of bounds"),
            (9, "index out of bounds"),
            (9, "attempt to add with overflow"),
        )
    ]
    causes = [cause_of("read", "crashed", "exit status 1", actual=None, stderr=panic) for panic in panics]

    assert causes[0] == causes[1] != causes[2]


def test_a_scan_of_what_is_read_wrongly_has_the_cause_of_read() -> None:
    def of(case: str, operation: str, cause: str) -> Result:
        return Result(case, "PQF", operation, "failed", cause=cause)  # type: ignore[arg-type]

    results = [
        of("a", "read", "wrong rows: integer: another value (x)"),
        of("a", "scan", "wrong rows: rows missing (x)"),
        of("b", "scan", "wrong rows: rows missing (x)"),
        of("a", "scan", "wrong rows: rows missing where a float is NaN"),
        of("a", "scan", "wrong rows: rows missing (x), by the index"),
    ]
    shared = [one.cause for one in with_shared_causes(results)]

    assert [results[0].cause, results[0].cause, *(one.cause for one in results[2:])] == shared
