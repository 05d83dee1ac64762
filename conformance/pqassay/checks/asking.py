"""The engine: visits each subject of a file once, and asks every rule about it.

What is absent is known before any rule is asked; what a screen calls sound is not asked either.  A thing that cannot be read
hinders nobody from judging the others: its rule is broken if another thing breaks it, and *not checked* otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from pqassay.checks import Check, registry
from pqassay.checks.subjects import Subject
from pqassay.report.model import FIRST_POSITIONS
from pqassay.under_test.file import FileUnderTest, NotApplicable, NotChecked
from pqassay.under_test.violation import Violation
from pqassay_spec.base.errors import FormatError, Unsupported
from pqassay_spec.rules.catalogue import rules


@dataclass
class Group:
    """The places in one column where a rule is broken: the first ones, and how many there are."""

    column: str | None
    first: list[Violation]
    count: int = 0


@dataclass
class Answer:
    """What came of one rule on one file.

    Attributes:
        groups: Where it is broken, by column, in the order in which the places were found.
        applies: Whether a thing was tested, or found sound by a screen.
        problem: Why a thing could not be tested, if so; where another one breaks the rule, that is what counts.
        unjudged: Whether that leaves the whole file unjudged: its pages cannot be decoded.
        failure: What kept the rule from being tested on the whole file, through no fault of its bytes.
    """

    groups: dict[str | None, Group] = field(default_factory=dict[str | None, Group])
    applies: bool = False
    problem: str | None = None
    unjudged: bool = False
    failure: str | None = None

    @property
    def is_checked(self) -> bool:
        """Whether the rule was tested: it is broken somewhere, or kept wherever it applies."""
        return self.failure is None and (bool(self.groups) or (self.applies and self.problem is None))

    @property
    def why_not_checked(self) -> str | None:
        """The reason; ``None`` if it was tested, or is not applicable."""
        return self.failure or (None if self.groups else self.problem)

    @property
    def trouble(self) -> str | None:
        """Why the whole file counts as unjudged; ``None`` if it does not."""
        return self.why_not_checked if self.failure or self.unjudged else None

    def note(self, violation: Violation) -> None:
        """Add a place, holding no more of them than are shown."""
        group = self.groups.get(violation.column)
        if group is None:
            group = self.groups[violation.column] = Group(violation.column, [])
        group.count += 1 + violation.more
        if len(group.first) < FIRST_POSITIONS:
            group.first.append(violation)


RAISED = (NotApplicable, NotChecked, FormatError, OSError, MemoryError)
"""What a test raises, and what reading a file raises."""


def ask(file: FileUnderTest, asked: Sequence[str]) -> Mapping[str, Answer]:
    """Ask rules that have a check about a file; returns the answers by their ids. Nothing that the file's bytes can do raises."""
    answers = {rule_id: Answer() for rule_id in asked}
    for subject, screened in _by_subject(tuple(asked)):
        try:
            things = subject.find(file)
        except RAISED as error:
            for check in _all(screened):
                _note_raised(answers[check.rule], check.rule, error, None)
            continue
        if things:
            for screen, checks in screened:
                _ask_about(subject, things, screen, checks, answers)
    return answers


def is_broken(file: FileUnderTest, rule_id: str) -> bool:
    """Whether a file breaks a rule, as far as that can be told."""
    return bool(ask(file, [rule_id])[rule_id].groups)


Screened = Sequence[tuple[Callable[[Any], bool] | None, Sequence[Check]]]
"""Checks of one subject by what screens them."""


@lru_cache(maxsize=64)
def _by_subject(asked: tuple[str, ...]) -> Sequence[tuple[Subject[Any], Screened]]:
    """The checks of rules, by subject and screen; the same for every file of a run."""
    found: dict[Subject[Any], dict[Any, list[Check]]] = {}
    for rule_id in asked:
        check = registry()[rule_id]
        found.setdefault(check.subject, {}).setdefault(check.screen, []).append(check)
    return [(subject, list(screened.items())) for subject, screened in found.items()]


def _all(screened: Screened) -> Iterable[Check]:
    return (check for _, checks in screened for check in checks)


def _ask_about(
    subject: Subject[Any],
    things: Sequence[Any],
    screen: Callable[[Any], bool] | None,
    checks: Sequence[Check],
    answers: Mapping[str, Answer],
) -> None:
    """Ask rules about every thing that their common screen does not call sound."""
    suspects = things
    if screen is not None:
        suspects = [thing for thing in things if not screen(thing)]
        if len(suspects) < len(things):
            for check in checks:
                answers[check.rule].applies = _applies_to_sound(check, things, screen)
    for thing in suspects:
        for check in checks:
            answer = answers[check.rule]
            if answer.failure is None:
                _ask_one(subject, thing, check, answer)


def _applies_to_sound(check: Check, things: Sequence[Any], screen: Callable[[Any], bool]) -> bool:
    return check.only is None or any(screen(thing) and check.only(thing) for thing in things)


def _ask_one(subject: Subject[Any], thing: Any, check: Check, answer: Answer) -> None:
    try:
        if check.only is not None and not check.only(thing):
            return
        for violation in check.test(thing) or ():
            answer.note(subject.placed(violation, thing))
        answer.applies = True
    except RAISED as error:
        _note_raised(answer, check.rule, error, (subject, thing))


def _note_raised(
    answer: Answer, rule_id: str, error: Exception, where: tuple[Subject[Any], Any] | None
) -> None:
    """Note why a test, or what it needed, ended early."""
    if isinstance(error, NotApplicable):
        return
    if isinstance(error, Unsupported):
        answer.failure = error.reason
    elif isinstance(error, NotChecked):
        if answer.problem is None:
            answer.problem, answer.unjudged = str(error), not error.judgeable
    elif isinstance(error, FormatError):
        if error.rule in (None, rule_id):
            violation = violation_from(error, rule_id)
            answer.note(violation if where is None else where[0].placed(violation, where[1]))
        else:
            answer.problem = answer.problem or f"{error.rule} is broken"
    elif isinstance(error, OSError):
        answer.failure = f"the file cannot be read: {error.strerror or error}"
    else:
        answer.failure = "there is not enough memory for it"


def violation_from(error: FormatError, rule_id: str) -> Violation:
    """What an error says of the bytes, as a place where a rule is broken."""
    return Violation(
        message=error.reason,
        field=error.field or rules()[rule_id].field,
        offset=error.offset,
        length=error.length,
        expected=error.expected,
        actual=error.actual,
    )
