"""Expectations: the known failures of an implementation, with an expiry date.

A file of expectations (TOML) belongs to its implementer.  With it, a run passes if it fails exactly as
expected. It fails on any difference: a better result, another wrong answer, an entry that has expired or
matches nothing.

    [[expectation]]
    case = "idx1/carriage-return-*"       # id of a case, or a pattern; or a list of them
    operation = "decode"                  # optional: all operations
    outcome = "failed"                    # "unstable" also allows a pass: an unstable result is sometimes right
    rule = "IDX1-014"                     # optional: the failure must be about this rule
    cause = "wrong values"                # optional: the cause must contain this text
    reason = "lines() drops carriage returns"
    issue = "https://example.org/issues/7"
    expires = 2027-03-01
    varies = true                         # optional: the answers vary at random; "unstable" then allows all of them
    [expectation.answers]                 # optional: the answer for each case; `--write-expectations` writes it
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
from typing import Final, Literal, cast

from pqassay.report import expiry
from pqassay.report.run.model import Problem, Result
from pqassay.report.run.outcomes import NEITHER, Operation, Outcome
from pqassay_spec.base.strict_json import Closed
from pqassay_suite.cases.case import matches

TABLE: Final = "expectation"


class ExpectationsError(ValueError):
    """A file of expectations is wrong. The message names the entry."""


@dataclass(frozen=True)
class Expectation(Closed):
    """One entry. The module describes its members."""

    case: tuple[str, ...]
    outcome: Outcome
    operation: Operation | Literal["hello"] | None = None
    rule: str | None = None
    cause: str | None = None
    reason: str | None = None
    issue: str | None = None
    expires: dt.date | None = None
    varies: bool = False
    answers: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)

    @property
    def name(self) -> str:
        """Its name in messages."""
        first, more = self.case[0], len(self.case) - 1
        cases = f"{first} and {more} more" if more else first
        return f"{cases} ({self.operation})" if self.operation else cases

    def names(self, case: str) -> bool:
        """Whether a case is among its cases."""
        return any(matches(case, pattern) for pattern in self.case)

    def concerns(self, result: Result) -> bool:
        """Whether the entry is about a result.

        Unsupported and inherited results only concern entries that name these outcomes.
        """
        return (
            self.names(result.case)
            and self.operation in (None, result.operation)
            and (result.outcome not in NEITHER or self.outcome == result.outcome)
        )

    def stable(self, result: Result) -> Result:
        """A result without the parts that differ in the next run. An ``unstable`` result loses all of them, even a pass."""
        if self.outcome != "unstable":
            return dataclasses.replace(result, actual=None, stderr=None, query=None, answered=None, pin=None)
        why = self.reason or ""
        return Result(result.case, result.family, result.operation, "unstable", why, cause=self.cause)

    def disagreement(self, result: Result) -> str:
        """Difference between a result and this entry, in words; empty for none."""
        where = f"{result.case} {result.operation}"
        if self.outcome == "unstable" and (self.varies or result.outcome == "passed"):
            return ""
        if result.outcome == "passed":
            return f"{where} passes now; remove the entry"
        if result.outcome != self.outcome:
            return f"{where}: {result.outcome} ({result.reason}), not {self.outcome}"
        if self.rule is not None and self.rule not in (result.rules or ()):
            return f"{where}: {result.outcome}, but about {', '.join(result.rules or ()) or 'no rule'}"
        if self.cause is not None and self.cause not in (result.cause or ""):
            return f"{where}: {result.outcome}, but with another cause: {result.cause}"
        if self.answers and result.pin is not None:
            pinned = self.answers.get(result.case, "nothing")
            if pinned != result.pin:
                return f"{where}: {result.outcome}, but with another answer: {result.pin}; pinned is {pinned}"
        return ""


@dataclass(frozen=True)
class Expectations:
    """The entries of one file.

    Attributes:
        entries: In the order of the file; the first entry about a result decides.
        sha256: Digest of the file.
        others: Ids of cases that the run left out: an entry that is only about them is not judged.
        narrowed: Whether operations were left out as well.
        today: The day in UTC, which decides which entries have expired.
    """

    entries: tuple[Expectation, ...] = ()
    sha256: str | None = None
    others: frozenset[str] = frozenset()
    narrowed: bool = False
    today: dt.date = field(default_factory=expiry.today)

    def compare(self, results: Sequence[Result]) -> tuple[list[Result], list[Problem]]:
        """Mark the expected results, and report the entries that do not hold."""
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
                stable = entry.stable(result) if entry.varies else result
                known = True if stable.outcome != "passed" else None
                compared.append(dataclasses.replace(stable, known=known))
        for number, entry in enumerate(self.entries):
            if entry.expires is not None and entry.expires < self.today:
                problems.append(Problem(entry.name, f"expired on {entry.expires}"))
            if number not in concerned and not (
                self.narrowed
                or (self.others and entry.operation == "hello")
                or any(entry.names(case) for case in self.others)
            ):
                problems.append(Problem(entry.name, "no case that ran matches; remove the entry"))
        return compared, problems

    def unpinned(self, results: Sequence[Result]) -> int:
        """The number of expected results that would also be expected with another wrong answer."""
        return sum(
            result.pin is not None
            and not next(entry for entry in self.entries if entry.concerns(result)).answers
            for result in results
            if result.known
        )


def parse(content: bytes) -> Expectations:
    """Read a file of expectations.

    Raises:
        ExpectationsError: It is not TOML, or an entry is wrong.
    """
    from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415 - only a run needs it

    try:
        document = tomllib.loads(content.decode())
    except (ValueError, RecursionError) as error:
        raise ExpectationsError(str(error)) from None
    rows = document.get(TABLE, [])
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and isinstance(row.get("case"), str):
            row["case"] = [row["case"]]
    try:
        tables = TypeAdapter(dict[Literal["expectation"], list[Expectation]]).validate_python(document)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = (str(part + 1) if isinstance(part, int) else part for part in first["loc"][:3])
        raise ExpectationsError(f"{' '.join(place)}: {first['msg']}") from None
    entries = tuple(tables.get(TABLE, ()))
    for number, entry in enumerate(entries, 1):
        if not entry.case or entry.outcome == "passed" or (entry.answers and not entry.operation):
            needs = "needs a case, an outcome that is not passed, and an operation if it has answers"
            raise ExpectationsError(f"{TABLE} {number} {needs}")
    return Expectations(entries, hashlib.sha256(content).hexdigest())


def written(results: Sequence[Result], before: Expectations) -> str:
    """A file that expects these results, with an entry for each cause of a failure.

    Reason, issue and expiry date of an entry of ``before`` that still holds are kept.
    """
    entries: dict[Expectation, list[Result]] = {}
    for result in results:
        if not result.is_good:
            entries.setdefault(_new_entry(result, before), []).append(result)
    return "\n".join(_toml(_finished(entry, found)) for entry, found in entries.items())


def _finished(entry: Expectation, results: Sequence[Result]) -> Expectation:
    """An entry with its cases, and with the reason of the first case, unless a reason was written by hand."""
    cases = tuple(result.case for result in results)
    answers = {result.case: result.pin for result in results if result.pin is not None}
    return dataclasses.replace(
        entry, case=cases, answers=answers, reason=entry.reason or results[0].reason or None
    )


def _new_entry(result: Result, before: Expectations) -> Expectation:
    """The entry for a result, still without its cases; it has a reason only if one was written by hand."""
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
        if value is not None and value is not False and member.name != "answers":
            lines.append(f"{member.name} = {_value(value)}")
    if entry.answers:
        lines.append(f"[{TABLE}.answers]")
        lines += [f"{_text(case)} = {_text(pin)}" for case, pin in entry.answers.items()]
    return "\n".join(lines) + "\n"


def _value(value: object) -> str:
    if isinstance(value, tuple):
        cases = [_text(case) for case in cast("tuple[str, ...]", value)]
        return cases[0] if len(cases) == 1 else "[\n  " + ",\n  ".join(cases) + ",\n]"
    return str(value).lower() if isinstance(value, bool | dt.date) else _text(str(value))


def _text(text: str) -> str:
    """A basic string of TOML, which treats surrogates and DEL differently than a JSON string."""
    quoted = json.dumps(text.encode("utf-8", "backslashreplace").decode(), ensure_ascii=False)
    return quoted.replace("\x7f", "\\u007f")
