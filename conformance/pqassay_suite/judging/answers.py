"""Judging answers: the requests of each operation about a case, and whether the answers are right.

Operations and families are tables.  A judgement is about one exchange. Crashes, and the credit of right answers, are
decided elsewhere.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast, get_args

from pqassay.literals.rows import rows_difference
from pqassay.report.run.outcomes import Operation
from pqassay_spec.golden.case import Acceptance, Answering, Case
from pqassay_spec.golden.literals import Rows
from pqassay_suite.drivers import protocol
from pqassay_suite.drivers.protocol import Accept, Answer
from pqassay_suite.drivers.written_file import Inspection, WrittenFile
from pqassay_suite.judging import directory_answers, pm_answers, row_answers
from pqassay_suite.judging.bench import RIGHT, Asking, Bench, Judgement, expects
from pqassay_suite.judging.differences import difference_of_rows
from pqassay_suite.judging.pm_updates import UPDATING


@dataclass(frozen=True)
class Family:
    """Properties of a family that judging depends on.

    Attributes:
        proof: Rules that must have been tested on a written file; they prove that the structure exists and fits the values.
        required: Members that a decoded value must have.
        unordered: Members that are compared as sets.
        column_option: Option of the check that names the column.
        whole: Whether values are compared completely; otherwise only `required` members and those of the answer are compared.
        sparse: Whether they are compared completely, but members that are ``null`` are ignored.
        entries: Whether a value is a list of entries, which are compared by key; it then also lists the entries for a writer.
    """

    proof: tuple[str, ...]
    required: frozenset[str] = frozenset()
    unordered: frozenset[str] = frozenset()
    column_option: str = ""
    whole: bool = False
    sparse: bool = False
    entries: bool = False


FAMILIES: dict[str, Family] = {
    "IDX1": Family(
        required=frozenset({"values"}),
        unordered=frozenset({"values"}),
        column_option="idx1_column",
        proof=("IDX1-006", "IDX1-008", "IDX1-010", "IDX1-016"),
    ),
    "PQF": Family(proof=()),
    "STA": Family(proof=()),
    "PIX": Family(proof=(), sparse=True),
    "BLM": Family(proof=(), sparse=True),
    "PM": Family(proof=("PM-001", "PM-012", "PM-017"), whole=True),
    # Rules of every type of index: DIR-021 does not apply to IDX1.
    "DIR": Family(proof=("DIR-014", "DIR-015", "DIR-016", "DIR-017"), entries=True),
}


def _judge_decode(bench: Bench, answering: Answering, answer: Answer) -> Judgement:
    expect = bench.case.expect
    if (judged := expects(answering, answer, bench.accidents)) is not None or not isinstance(answer, Accept):
        return judged or RIGHT
    family, value = FAMILIES[bench.case.family], answer.value or {}
    if family.whole:
        return pm_answers.judged_value(expect.value, value)
    if family.entries:
        return directory_answers.judged_entries(expect.value or {}, value, may_lack=answering == "either")
    if family.sparse:
        return pm_answers.judged_value(expect.value, without_nulls(value), is_closed=True)
    for name in sorted(family.required - set(value)):
        return Judgement(False, "incomplete value", f"a member {name!r}", f"members {sorted(value)}")
    for name, wanted in (expect.value or {}).items():
        if name in value and (
            difference := _difference(wanted, value[name], unordered=name in family.unordered)
        ):
            return Judgement(False, f"wrong {name}", *difference)
    return RIGHT


def without_nulls(value: Any) -> Any:
    """A JSON value without the members that are null; nulls in lists stay."""
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return {name: without_nulls(one) for name, one in members.items() if one is not None}
    return [without_nulls(one) for one in value] if isinstance(value, list) else value


def _difference(wanted: Any, actual: Any, *, unordered: bool) -> tuple[str, str] | None:
    """The wanted and the actual value in words; ``None`` if they are equal."""
    if not unordered:
        return None if wanted == actual and type(wanted) is type(actual) else (_short(wanted), _short(actual))
    if not isinstance(actual, list):
        return "a list", _short(actual)
    there = {json.dumps(item, sort_keys=True) for item in actual}
    here = {json.dumps(item, sort_keys=True) for item in wanted}
    if there == here:
        return None
    lost, strange = sorted(here - there), sorted(there - here)
    parts = [f"without {_listed(lost)}"] * bool(lost) + [f"with {_listed(strange)}"] * bool(strange)
    return row_answers.counted(
        len(here), "value"
    ), f"{row_answers.counted(len(there), 'value')}, {', '.join(parts)}"


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 120 else f"{text[:119]}…"


def _listed(items: Sequence[str]) -> str:
    shown = ", ".join(item if len(item) <= 60 else f"{item[:59]}…" for item in items[:3])
    return f"{shown}, …" if len(items) > 3 else shown


# -------------------------------------------------------------------------------------------------- writing


def _encode_members(bench: Bench, _: object) -> dict[str, Any]:
    case = bench.case
    if FAMILIES[case.family].whole:
        return {"value": case.expect.value, "wishes": _wishes(bench)}
    return {"column": case.column, "rows": case.expect.rows, "wishes": _wishes(bench)}


def _wishes(bench: Bench) -> protocol.Wishes | None:
    """The wishes of a case; for a directory, the indexes in its value."""
    wishes = bench.golden.wishes
    if not FAMILIES[bench.case.family].entries:
        return wishes
    return directory_answers.index_wishes(bench.case, wishes)


def demanded(wishes: protocol.Wishes, rows: Rows) -> protocol.Wishes:
    """The wishes that a written file must fulfill: no document requires a bloom filter for a column without values."""
    names = rows.names()
    filled = {name for row in rows.rows for name, value in zip(names, row, strict=True) if value is not None}
    filters = [name for name in wishes.bloom_filter or () if name in filled]
    return replace(wishes, bloom_filter=filters or None)


def _judge_encode(bench: Bench, acceptance: Acceptance, answer: Answer) -> Judgement:
    there = bench.output.is_file() and not bench.output.is_symlink()
    judged = expects(acceptance, answer, bench.accidents)
    if judged is not None and judged.right and there:
        return Judgement(False, "refused, and left a file", "no file at the given path", "a file")
    if judged is not None:
        return judged
    if not there:
        return Judgement(False, "nothing was written", "a file at the given path", "no regular file")
    return _judge_written(bench)


def _judge_written(bench: Bench) -> Judgement:
    """Judge the file that a writer wrote: first the rules, then its rows or its value, and finally the wishes."""
    case = bench.case
    family, rows = FAMILIES[case.family], case.expect.rows or Rows([], [])
    options = {family.column_option: case.column or ""} if family.column_option else {}
    asked = _wishes(bench)
    wishes = None if asked is None else demanded(asked, rows)
    inspected = bench.inspector.inspect(Inspection(str(bench.output), options, rows.names(), wishes))
    if isinstance(inspected, str):
        return Judgement(False, "the written file cannot be judged", "a file that can be checked", inspected)
    judged = _judged_file(bench, family, rows, inspected)
    return dataclasses.replace(
        judged, warnings=tuple(f"{rule}: {message}" for rule, message in inspected.warnings)
    )


def _judged_file(bench: Bench, family: Family, rows: Rows, inspected: WrittenFile) -> Judgement:
    case, came = bench.case, Rows(rows.columns, inspected.rows).values()
    other_rows = "" if inspected.error or family.whole else rows_difference(rows.values(), came)
    if inspected.failures:
        broken = tuple(rule for rule, _ in inspected.failures)
        parts = [f"{rule}: {message}" for rule, message in inspected.failures]
        parts += [f"and {problem}" for problem in (inspected.error, other_rows) if problem]
        cause = f"writes what breaks {', '.join(sorted(set(broken)))}"
        return Judgement(
            False, "the written file breaks rules", "no rule broken", "; ".join(parts), broken, cause=cause
        )
    if inspected.error:
        return Judgement(
            False, "the written file cannot be read", "a file that can be checked and read", inspected.error
        )
    if missing := [rule for rule in family.proof if rule not in inspected.checked]:
        return Judgement(
            False,
            f"the written file holds no {case.family}",
            f"{case.family} for column {case.column}" if case.column else case.family,
            f"{', '.join(missing)} found nothing to test",
            tuple(missing),
        )
    if family.whole:
        return pm_answers.judged_value(case.expect.value, inspected.value or {}, "the written file has a ")
    if other_rows:
        kind = difference_of_rows(rows.values(), came)
        return Judgement(
            False,
            "the written file holds other rows",
            f"{len(rows.rows)} rows as given",
            other_rows,
            cause=f"writes other rows: {kind.words}",
        )
    if inspected.unfulfilled:
        wish = inspected.unfulfilled[0].partition(":")[0]
        return Judgement(
            False,
            f"the written file differs from the request: {wish}",
            "as requested, or unsupported",
            "; ".join(inspected.unfulfilled),
            fault="unfulfilled",
            cause=f"wish not met: {wish}",
        )
    return RIGHT


def judged_unsupported(bench: Bench) -> Judgement:
    """Judge the output of a writer that cannot fulfill a request: no file, or one without the structure; its rules and rows are judged."""
    if not bench.output.is_file() or bench.output.is_symlink():
        return RIGHT
    judged = _judge_written(bench)
    return dataclasses.replace(RIGHT, warnings=judged.warnings) if judged.fault == "unfulfilled" else judged


ASKING: dict[Operation, Asking] = {
    asking.operation: asking
    for asking in (
        row_answers.READING,
        Asking(
            "decode",
            lambda bench, _: {"column": bench.case.column, "probes": bench.case.expect.probes},
            _judge_decode,
        ),
        Asking(
            "lint",
            lambda bench, _: {"column": bench.case.column},
            lambda bench, acceptance, answer: expects(acceptance, answer, bench.accidents) or RIGHT,
        ),
        Asking("encode", _encode_members, _judge_encode),
        UPDATING,
        *pm_answers.ASKING,
    )
}
"""Requests and judgements of each operation but `scan`, whose requests carry many queries: `pqassay_suite.running.scanning`."""


def operations(case: Case) -> list[Operation]:
    """Operations that a case asks for, in the order of a run."""
    asked = {name for name, asking in ASKING.items() if asking.expected(case)}
    asked |= {"scan"} if case.expect.scan else set()
    return [name for name in get_args(Operation) if name in asked]
