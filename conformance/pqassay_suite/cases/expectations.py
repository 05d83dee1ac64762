"""Expectations: what an implementation is known to get wrong, with an expiry date.

A file of expectations (TOML) belongs to its implementer.  It makes a run pass that fails only as foretold, and fail as soon as
anything differs: a better result, another wrong answer, an entry that has expired or that is about nothing.

    [[expectation]]
    case = "idx1/carriage-return-*"       # id of a case, or a pattern; or a list of them
    operation = "decode"                  # optional: all operations
    outcome = "failed"                    # "unstable" also allows a pass: what is unstable is right now and then
    rule = "IDX1-014"                     # optional: the failure must be about this rule
    cause = "wrong values"                # optional: its cause must have this in it
    reason = "lines() drops carriage returns"
    issue = "https://example.org/issues/7"
    expires = 2027-03-01
    [expectation.answers]                 # optional: what came, of each case; `--write-expectations` writes it
    "idx1/carriage-return-last" = "rows 8fd0a3c1b2e4f567"
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast, get_args

from pqassay.report import expiry
from pqassay.report.run.model import NEITHER, OUTCOMES, Operation, Outcome, Problem, Result
from pqassay_suite.cases.case import matches

TABLE = "expectation"

_ALLOWED = tuple(outcome for outcome in OUTCOMES if outcome != "passed")


class ExpectationsError(ValueError):
    """A file of expectations is wrong. The message names the entry."""


@dataclass(frozen=True)
class Expectation:
    """One entry. See the module for its members."""

    case: tuple[str, ...]
    outcome: Outcome
    operation: str | None = None
    rule: str | None = None
    cause: str | None = None
    reason: str | None = None
    issue: str | None = None
    expires: dt.date | None = None
    answers: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)

    @property
    def name(self) -> str:
        """Its name in messages."""
        first, more = self.case[0], len(self.case) - 1
        cases = f"{first} and {more} more" if more else first
        return f"{cases} ({self.operation})" if self.operation else cases

    def names(self, case: str) -> bool:
        """True if a case is among its cases."""
        return any(matches(case, pattern) for pattern in self.case)

    def concerns(self, result: Result) -> bool:
        """True if a result is what this entry is about. What is unsupported or inherited only concerns an entry that says so."""
        return (
            self.names(result.case)
            and self.operation in (None, result.operation)
            and (result.outcome not in NEITHER or self.outcome == result.outcome)
        )

    def disagreement(self, result: Result) -> str:
        """Difference between a result and this entry, in words; empty for none."""
        where = f"{result.case} {result.operation}"
        if result.outcome == "passed" and self.outcome == "unstable":
            return ""
        if result.outcome == "passed":
            return f"{where} passes now; remove the entry"
        if result.outcome != self.outcome:
            return f"{where}: {result.outcome} ({result.reason}), not {self.outcome}"
        if self.rule is not None and self.rule not in (result.rules or ()):
            return f"{where}: {result.outcome}, but about {', '.join(result.rules or ()) or 'no rule'}"
        if self.cause is not None and self.cause not in (result.cause or ""):
            return f"{where}: {result.outcome}, but by another cause: {result.cause}"
        if self.answers and result.pin is not None:
            pinned = self.answers.get(result.case, "nothing")
            if pinned != result.pin:
                return f"{where}: {result.outcome}, but with another answer: {result.pin}; pinned is {pinned}"
        return ""


@dataclass(frozen=True)
class Expectations:
    """The entries of one file.

    Attributes:
        entries: In the order of the file; the first that concerns a result decides.
        sha256: Digest of the file.
        others: Ids of cases that the run left out: an entry about one of them alone is not judged.
        narrowed: Operations were left out as well.
        today: The day in UTC, which decides what has expired.
    """

    entries: tuple[Expectation, ...] = ()
    sha256: str | None = None
    others: frozenset[str] = frozenset()
    narrowed: bool = False
    today: dt.date = field(default_factory=expiry.today)

    def compare(self, results: Sequence[Result]) -> tuple[list[Result], list[Problem]]:
        """Mark the results that are as foretold, and say which entries do not hold."""
        problems: list[Problem] = []
        concerned: set[int] = set()
        compared: list[Result] = []
        for result in results:
            number = next((n for n, entry in enumerate(self.entries) if entry.concerns(result)), None)
            if number is None:
                compared.append(result)
                continue
            concerned.add(number)
            entry = self.entries[number]
            if disagreement := entry.disagreement(result):
                problems.append(Problem(entry.name, disagreement))
                compared.append(result)
            else:
                known = True if result.outcome != "passed" else None
                compared.append(dataclasses.replace(result, known=known))
        for number, entry in enumerate(self.entries):
            if entry.expires is not None and entry.expires < self.today:
                problems.append(Problem(entry.name, f"expired on {entry.expires}"))
            if number not in concerned and not self._left_out(entry):
                problems.append(Problem(entry.name, "no case that ran matches; remove the entry"))
        return compared, problems

    def unpinned(self, results: Sequence[Result]) -> int:
        """How many results are as foretold, and would be with another wrong answer as well."""
        return sum(
            result.pin is not None
            and not next(entry for entry in self.entries if entry.concerns(result)).answers
            for result in results
            if result.known
        )

    def _left_out(self, entry: Expectation) -> bool:
        return self.narrowed or any(entry.names(case) for case in self.others)


def parse(content: bytes) -> Expectations:
    """Read a file of expectations.

    Raises:
        ExpectationsError: No TOML, or a wrong entry.
    """
    try:
        document = tomllib.loads(content.decode())
    except (ValueError, RecursionError) as error:
        raise ExpectationsError(str(error)) from None
    stray = sorted(set(document) - {TABLE})
    rows = document.get(TABLE, [])
    if stray or not isinstance(rows, list):
        raise ExpectationsError(
            f"unknown {', '.join(stray)}" if stray else f"{TABLE} is not a list of tables"
        )
    entries = tuple(_entry(row, number) for number, row in enumerate(rows, 1))
    return Expectations(entries, hashlib.sha256(content).hexdigest())


def _entry(row: Any, number: int) -> Expectation:
    place = f"entry {number}"
    if not isinstance(row, dict):
        raise ExpectationsError(f"{place}: no table")
    members = dict(cast("dict[str, Any]", row))
    place = f"{place} ({members.get('case', 'without case')})"
    names = [member.name for member in dataclasses.fields(Expectation)]
    if stray := sorted(set(members) - set(names)):
        raise ExpectationsError(f"{place}: unknown {', '.join(stray)}; there are {', '.join(names)}")
    for name in names:
        if name in members and not _is_of_its_type(name, members[name]):
            words = WORDS.get(name, "text")
            raise ExpectationsError(f"{place}: {name} is not {words}")
    for name, choices in (("outcome", _ALLOWED), ("operation", (*get_args(Operation), "hello"))):
        if name in members and members[name] not in choices:
            raise ExpectationsError(f"{place}: {name} is {members[name]!r}, not one of {', '.join(choices)}")
    for name in ("case", "outcome", *(("operation",) if "answers" in members else ())):
        if not members.get(name):
            raise ExpectationsError(f"{place}: {name} is missing")
    cases: str | list[str] = members.pop("case")
    return Expectation((cases,) if isinstance(cases, str) else tuple(cases), **members)


WORDS = {
    "expires": "a date such as 2027-03-01",
    "case": "text, or a list of texts",
    "answers": "a table of texts",
}
"""What members are that are not text."""


def _is_of_its_type(name: str, value: object) -> bool:
    if name == "case" and isinstance(value, list):
        return all(isinstance(case, str) for case in cast("list[object]", value))
    if name == "answers":
        return isinstance(value, dict) and all(
            isinstance(pin, str) for pin in cast("dict[str, object]", value).values()
        )
    return type(value) is (dt.date if name == "expires" else str)


def written(results: Sequence[Result], before: Expectations) -> str:
    """A file that foretells these results: an entry for each cause of what is not good.

    Reason, issue and expiry date of an entry of ``before`` that still holds are kept.
    """
    entries: dict[Expectation, list[Result]] = {}
    for result in results:
        if not result.is_good:
            entries.setdefault(_new_entry(result, before), []).append(result)
    return "\n".join(_toml(_finished(entry, found)) for entry, found in entries.items())


def changes(results: Sequence[Result], before: Expectations, after: Expectations) -> list[str]:
    """What new expectations change, for a person to read before they take the place of the old ones.

    Args:
        results: All results, what passed included.
        before: The expectations that are there.
        after: Those that foretell the results.

    Returns:
        A line for each kind of change, with a line for each of its cases behind it; none where nothing changes.
    """
    groups: dict[str, list[str]] = {}
    for result in results:
        entry = next((entry for entry in before.entries if entry.concerns(result)), None)
        if change := _change(entry, result):
            groups.setdefault(change[0], []).append(f"  {result.case} {result.operation}{change[1]}")
    asked = {result.case for result in results}
    for entry in before.entries:
        gone = [case for case in entry.case if not any(matches(one, case) for one in asked)]
        groups.setdefault("no longer asked", []).extend(f"  {case}" for case in gone)
    kept = {(entry.reason, entry.issue, entry.expires) for entry in after.entries}
    for entry in before.entries:
        if (entry.reason or entry.issue) and (entry.reason, entry.issue, entry.expires) not in kept:
            words = ", ".join(str(part) for part in (entry.reason, entry.issue, entry.expires) if part)
            groups.setdefault("loses its reason, issue or expiry", []).append(f"  {entry.name}: {words}")
    return [line for what, lines in groups.items() if lines for line in (f"{what}: {len(lines)}", *lines)]


def _change(entry: Expectation | None, result: Result) -> tuple[str, str] | None:
    """What is new of a result: the kind of change with its cause, and what is the case's own."""
    if entry is None:
        return None if result.is_good else (f"new, {result.outcome}, {result.cause}", f": {result.pin or ''}")
    if result.is_good and entry.outcome not in (result.outcome, "unstable"):
        return f"{result.outcome} now, was {entry.outcome}, {entry.cause}", ""
    if result.is_good:
        return None
    if result.outcome != entry.outcome:
        return f"{result.outcome}, was {entry.outcome}", f": {result.reason}"
    if entry.cause is not None and entry.cause not in (result.cause or ""):
        return f"by another cause: {result.cause}, was {entry.cause}", ""
    pinned = entry.answers.get(result.case)
    if result.pin is not None and pinned != result.pin:
        return "with another answer", f": {result.pin}, was {pinned or 'not pinned'}"
    return None


def _finished(entry: Expectation, results: Sequence[Result]) -> Expectation:
    """An entry with its cases, and with the reason of the first, unless one was written by hand."""
    cases = tuple(result.case for result in results)
    answers = {result.case: result.pin for result in results if result.pin is not None}
    return dataclasses.replace(
        entry, case=cases, answers=answers, reason=entry.reason or results[0].reason or None
    )


def _new_entry(result: Result, before: Expectations) -> Expectation:
    """The entry for a result, yet without its cases, and without a reason unless one was written by hand."""
    kept = next((entry for entry in before.entries if entry.concerns(result)), None)
    if kept is None or dataclasses.replace(kept, answers={}).disagreement(result):
        kept = Expectation((), result.outcome)
    return dataclasses.replace(
        kept,
        case=(),
        answers={},
        operation=result.operation,
        cause=kept.cause or result.cause,
    )


def _toml(entry: Expectation) -> str:
    lines = [f"[[{TABLE}]]"]
    for member in dataclasses.fields(Expectation):
        value = getattr(entry, member.name)
        if value is not None and member.name != "answers":
            lines.append(f"{member.name} = {_value(value)}")
    if entry.answers:
        lines.append(f"[{TABLE}.answers]")
        lines += [f"{_text(case)} = {_text(pin)}" for case, pin in entry.answers.items()]
    return "\n".join(lines) + "\n"


def _value(value: object) -> str:
    if isinstance(value, tuple):
        cases = [_text(case) for case in cast("tuple[str, ...]", value)]
        return cases[0] if len(cases) == 1 else "[\n  " + ",\n  ".join(cases) + ",\n]"
    return str(value) if isinstance(value, dt.date) else _text(str(value))


def _text(text: str) -> str:
    """A basic string of TOML, which differs from a JSON string in what it does with surrogates and DEL."""
    quoted = json.dumps(text.encode("utf-8", "backslashreplace").decode(), ensure_ascii=False)
    return quoted.replace("\x7f", "\\u007f")
