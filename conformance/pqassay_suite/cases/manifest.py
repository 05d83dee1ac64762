"""Read manifests of golden cases: their JSON Schema, and contradictions among their members."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from pqassay.literals.predicate import PredicateError, columns_of, keeps
from pqassay.report.json_form import schema_of
from pqassay.stores.kinds import kind_of
from pqassay_spec.golden.case import MANIFEST, Case, Expect
from pqassay_spec.golden.literals import ValueNotReadableError
from pqassay_spec.mutation.mutations import Mutation
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.value_json import NotAValueError
from pqassay_spec.pm.value_json import from_json as pm_value
from pqassay_spec.rules.catalogue import rules
from pqassay_suite.drivers.protocol import adapter

DIRECTORY = "DIR"
"""The family whose values list the indexes of a file."""


def file_kind(case: Case) -> str:
    """The kind of a case's input, see `pqassay.stores.kinds`; empty if it has none."""
    kind = kind_of(case.input.file)
    return kind.name if kind else ""


def handed_over(case: Case) -> str:
    """The file name for an implementation's input: neither it nor its folder reveals the verdict."""
    return pm.FILE_NAME if file_kind(case) == "pm" else "data.parquet"


def json_schema() -> dict[str, Any]:
    """JSON Schema of a manifest."""
    return schema_of(Case)


class ManifestError(ValueError):
    """A manifest that is incomplete, or that contradicts itself. The message names the member."""


def read_manifest(text: bytes, place: str) -> Case:
    """The case of a manifest.

    Args:
        text: The manifest, JSON.
        place: The folder of the manifest, relative to the folder of all cases, with slashes.

    Raises:
        ManifestError: The manifest is wrong.
    """
    from pydantic import ValidationError  # noqa: PLC0415 - only a run needs it

    try:
        case = cast("Case", adapter(Case).validate_json(text, strict=True))
    except ValidationError as error:
        first = error.errors()[0]
        member = ".".join(str(part) for part in first["loc"])
        raise ManifestError(f"{member or 'the manifest'}: {first['msg']}") from None
    if problem := _inconsistency(case, place):
        raise ManifestError(problem)
    if case.mutation is None:
        return case
    return replace(case, mutation=Mutation.from_json(vars(case.mutation)))


REMARKS = ("INFO", "POLICY")
"""Verdicts that leave a file of foreign software valid."""

DEPRECATED = frozenset({"PQF-081"})
"""Rules against deprecated features of the format: writers should not use them, but readers must return the rows."""


def _inconsistency(case: Case, place: str) -> str:
    """The contradiction among the members of a manifest; empty if there is none."""
    expect, others = case.expect, [given.file for given in case.input.beside or ()]
    plain = all(
        Path(name).name == name and name not in ("", "..", MANIFEST) for name in (case.input.file, *others)
    )
    known, reported = rules(), expect.check.rules
    worse = [rule for rule in reported if case.mutation or rule not in DEPRECATED]
    if case.is_foreign:
        worse = [rule for rule in reported if rule not in known or known[rule].verdict not in REMARKS]
    wrong = {
        f"its id is {case.id}, its folder {place}": case.id != place,
        "an input outside its folder": not plain,
        "two files of one name": len({handed_over(case), *others}) <= len(others),
        "kind must be invalid exactly if the judge reports rules; for files of foreign software, remarks do not count": (
            case.kind == "invalid"
        )
        != bool(worse),
        "decode needs a value": expect.decode in ("accept", "either") and expect.value is None,
        "scan needs rows and a predicate": bool(expect.scan)
        and (expect.rows is None or expect.predicate is None),
        **_reading_problems(case),
        "only a _pm has snapshots, prune, plan and updates": file_kind(case) != "pm"
        and any((expect.snapshots, expect.prune, expect.plan, expect.update)),
    }
    if file_kind(case) == "pm":
        wrong["encode needs the value of a file with one snapshot"] = bool(expect.encode) and (
            expect.value is None or bool(expect.value.get("previous_sizes"))
        )
    elif case.family == DIRECTORY:
        wrong["encode needs rows and a value with entries"] = bool(expect.encode) and (
            expect.rows is None or not (expect.value or {}).get("entries")
        )
    else:
        wrong["encode needs rows and a column"] = bool(expect.encode) and None in (expect.rows, case.column)
    problem = next((words for words, applies in wrong.items() if applies), "")
    return problem or (_pm_problem(expect) if file_kind(case) == "pm" else "") or _row_problem(expect)


def _reading_problems(case: Case) -> dict[str, bool]:
    """Possible problems of the expectation about all rows, each with whether it occurs."""
    read = case.expect.read
    if read is None:
        return {}
    return {
        "only Parquet files are read": file_kind(case) == "pm",
        "read needs its expected rows": read.rows != "unspecified" and case.expect.rows is None,
        "rows of a parent need a parent": read.rows == "parent" and case.parent is None,
        "a case that demands a refusal has no right rows": read.refusal == "demanded"
        and read.rows != "unspecified",
    }


def _pm_problem(expect: Expect) -> str:
    """The problem of the expectations about a ``_pm``; empty if there is none."""
    try:
        if expect.value is not None:
            pm_value(expect.value)
        for number, snapshot in enumerate(expect.snapshots or ()):
            if snapshot.value is not None:
                pm_value(snapshot.value)
            elif snapshot.answer != "reject":
                return f"snapshots[{number}] needs a value"
    except NotAValueError as error:
        return f"value: {error}"
    for number, prune in enumerate(expect.prune or ()):
        if not set(prune.must_keep) <= set(prune.kept):
            return f"prune[{number}]: kept lacks row groups of must_keep"
        if problem := _predicate_problem(prune.predicate):
            return f"prune[{number}]: {problem}"
    for number, plan in enumerate(expect.plan or ()):
        if plan.answer != "reject" and plan.ranges is None:
            return f"plan[{number}] needs ranges"
    return ""


def _predicate_problem(predicate: list[Any]) -> str:
    """The problem of a predicate whose columns have no known rows; empty if there is none."""
    try:
        keeps(predicate, dict.fromkeys(columns_of(predicate)))
    except (PredicateError, ValueNotReadableError, IndexError, TypeError) as error:
        return str(error)
    return ""


def _row_problem(expect: Expect) -> str:
    if expect.rows is None:
        return ""
    names = expect.rows.names()
    try:
        records = [dict(zip(names, values, strict=True)) for values in expect.rows.values()]
        for record in records if expect.predicate is not None else ():
            keeps(expect.predicate or [], record)
        unknown = columns_of(expect.predicate) - set(names) if expect.predicate is not None else set[str]()
    except (PredicateError, ValueNotReadableError, ValueError, IndexError, TypeError) as error:
        return f"rows and predicate: {error}"
    return f"the predicate names {min(unknown)}, which is not a column" if unknown else ""
