"""Judging rows: all rows of a file, and the rows of a query."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pqassay.literals.rows import digest, multiset, rows_difference
from pqassay_spec.golden.case import ReadExpectation
from pqassay_spec.golden.literals import Value, read_value
from pqassay_suite.cases.case import GoldenCase
from pqassay_suite.drivers.protocol import Accept, Answer, IgnoredIndex, Reject
from pqassay_suite.judging.bench import RIGHT, Asking, Bench, Judgement, described, refusal, refused
from pqassay_suite.judging.differences import Selection, cause_words, difference_of_rows, feature_of


def rows_of(answer: Accept | IgnoredIndex) -> list[list[Value]] | None:
    """The rows of an answer; ``None`` if it has their digest instead."""
    return None if answer.rows is None else [[read_value(value) for value in row] for row in answer.rows]


def are_rows(answer: Accept | IgnoredIndex, right: Sequence[Sequence[Value]]) -> bool:
    """Whether an answer has exactly these rows, in any order, or their digest."""
    rows = rows_of(answer)
    return answer.digest == digest(right) if rows is None else multiset(rows) == multiset(right)


def judged_rows(
    golden: GoldenCase,
    wanted: Sequence[Sequence[Value]],
    answer: Accept | IgnoredIndex,
    words: str,
    chosen: Callable[[], Selection] | None = None,
) -> Judgement:
    """Compare the rows of an answer with the right ones.

    Args:
        golden: The case.
        wanted: The right rows.
        answer: The answer.
        words: The question, in words.
        chosen: Returns the rows that a query selects from; called if rows are wrong.
    """
    rows = rows_of(answer)
    if rows is None:
        if answer.digest == (right := digest(wanted)):
            return RIGHT
        cause = f"wrong rows: another digest ({feature_of(golden)})"
        return Judgement(False, "wrong rows", f"digest {right}", f"digest {answer.digest}", cause=cause)
    difference = rows_difference(wanted, rows)
    if not difference:
        return RIGHT
    kind = difference_of_rows(wanted, rows, chosen() if chosen else None)
    cause = f"wrong rows: {cause_words(kind, golden)}"
    return Judgement(False, "wrong rows", words, difference, cause=cause)


def narrowed(
    names: Sequence[str], wanted: Sequence[Sequence[Value]], found: Sequence[Sequence[Value]]
) -> tuple[str, str]:
    """The columns that differ, in words, and the difference of the rows in only these columns.

    The first is empty, and whole rows are compared, if all columns differ or no single column does.

    >>> narrowed(["a", "b"], [[1, "x"], [2, "y"]], [[1, "x"], [2, "z"]])
    ('column b', '1 row missing: ["y"]; 1 row too many: ["z"]')
    """
    places: list[int] = []
    if len(wanted) == len(found) and all(len(row) == len(names) for row in found):
        places = [
            place
            for place in range(len(names))
            if multiset([row[place]] for row in wanted) != multiset([row[place]] for row in found)
        ]
    if not places or len(places) == len(names):
        return "", rows_difference(wanted, found)
    shown = rows_difference(*([[row[place] for place in places] for row in each] for each in (wanted, found)))
    return f"column{'' if len(places) == 1 else 's'} {', '.join(names[place] for place in places)}", shown


def counted(number: int, thing: str = "row") -> str:
    """A number of things, in words."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def types_of(golden: GoldenCase) -> dict[str, str] | None:
    """The type of each column, in the words of manifests; ``None`` if no manifest has them."""
    if golden.known_facts is not None:
        return None
    rows = golden.rows or (golden.parent.rows if golden.parent else None)
    return None if rows is None else {column.name: column.type for column in rows.columns}


def _names(golden: GoldenCase) -> list[str]:
    """The columns of a case's file."""
    if golden.known_facts is not None:
        return list(golden.known_facts.names)
    rows = golden.rows or (golden.parent.rows if golden.parent else None)
    return rows.names() if rows is not None else list(golden.facts.names)


def _judge(bench: Bench, expected: ReadExpectation, answer: Answer) -> Judgement:
    if isinstance(answer, Reject):
        if expected.refusal == "never":
            return refused(answer, "all rows", bench.accidents)
        return refusal(answer, bench.accidents)
    if not isinstance(answer, Accept):
        return RIGHT
    if expected.refusal == "demanded":
        return Judgement(False, "accepted", "a refusal", described(answer), fault="accepted")
    rows = bench.golden.rows
    if rows is None or expected.rows == "unspecified":
        return RIGHT
    wanted, found = rows.values(), rows_of(answer)
    judged = judged_rows(bench.golden, wanted, answer, f"all {counted(len(wanted))}")
    if judged.right or found is None:
        return judged
    columns, difference = narrowed(rows.names(), wanted, found)
    return replace(judged, difference=columns, actual=f"{columns}: {difference}" if columns else difference)


READING = Asking(
    "read", lambda bench, _: {"columns": _names(bench.golden), "types": types_of(bench.golden)}, _judge
)
"""The operation ``read``."""
