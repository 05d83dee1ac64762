"""Expectations: what an implementation is known to get wrong, with an expiry date.

A file of expectations (TOML) belongs to its implementer.  With it, a run passes if it fails exactly as
expected. It fails on any difference: a better result, another wrong answer, an entry that has expired or
matches nothing.

    [[expectation]]
    case = "idx1/carriage-return-*"       # id of a case, or a pattern; or a list of them
    operation = "decode"                  # optional: all operations
    outcome = "failed"                    # "unstable" also allows a pass: what is unstable is right now and then
    rule = "IDX1-014"                     # optional: the failure must be about this rule
    cause = "wrong values"                # optional: its cause must have this in it
    reason = "lines() drops carriage returns"
    issue = "https://example.org/issues/7"
    expires = 2027-03-01
    varies = true                         # optional: the library answers by chance; "unstable" then allows everything
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
    """One entry. See the module for its members."""

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
        """True if a case is among its cases."""
        return any(matches(case, pattern) for pattern in self.case)

    def concerns(self, result: Result) -> bool:
        """True if a result is what this entry is about.

        Unsupported and inherited results only concern entries that name these outcomes.
        """
        return (
            self.names(result.case)
            and self.operation in (None, result.operation)
            and (result.outcome not in NEITHER or self.outcome == result.outcome)
        )

    def stable(self, result: Result) -> Result:
        """A result without what the next run answers in another way. An ``unstable`` one keeps nothing, not even a pass."""
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
        """Mark the results that are as expected, and say which entries do not hold."""
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
                self.narrowed or any(entry.names(case) for case in self.others)
            ):
                problems.append(Problem(entry.name, "no case that ran matches; remove the entry"))
        return compared, problems

    def unpinned(self, results: Sequence[Result]) -> int:
        """How many results are as expected, and would be with another wrong answer as well."""
        return sum(
            result.pin is not None
            and not next(entry for entry in self.entries if entry.concerns(result)).answers
            for result in results
            if result.known
        )


def parse(content: bytes) -> Expectations:
    """Read a file of expectations.

    Raises:
        ExpectationsError: No TOML, or a wrong entry.
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
    """A file that foretells these results: an entry for each cause of what is not good.

    Reason, issue and expiry date of an entry of ``before`` that still holds are kept.
    """
    entries: dict[Expectation, list[Result]] = {}
    for result in results:
        if not result.is_good:
            entries.setdefault(_new_entry(result, before), []).append(result)
    return "\n".join(_toml(_finished(entry, found)) for entry, found in entries.items())


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
    """A basic string of TOML, which differs from a JSON string in what it does with surrogates and DEL."""
    quoted = json.dumps(text.encode("utf-8", "backslashreplace").decode(), ensure_ascii=False)
    return quoted.replace("\x7f", "\\u007f")
