"""How rules are asked about column chunks that are alike: about one of them, of which no number is known.

A rule is plain Python, and stated once.  It is asked about an example (`pqassay.under_test.examples`); whatever it asks of the numbers of
that is noted, and its answer is that of every chunk of which the same is true, which is looked at for all chunks at once.  So a
footer of a hundred thousand chunks costs some columns of comparisons.  Chunks of which something else is true get an example of their
own, a few times; the rules are asked one by one about what is left, and about what breaks them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from pqassay.checks import Check
from pqassay.checks.subjects import Subject
from pqassay.under_test.alike import FEW
from pqassay.under_test.alike_groups import AlikeGroup
from pqassay.under_test.file import NotApplicable
from pqassay.under_test.unknown import Conditions, Holds

MOST_EXAMPLES = 4
"""Examples of one kind of chunk; where more would be needed, its numbers decide nearly everything."""

SEEN_FIRST = 24
"""Chunks of one kind that are met before one is an example, which takes as long as to ask about thirty."""

MOST_KINDS = 500
"""Kinds of chunks that are remembered, those that were met first being forgotten. What is remembered of one takes some 50 KB."""


Question = tuple[Subject[Any], Check]
"""A check and its subject."""


class Lesson(NamedTuple):
    """What an example has shown.

    Attributes:
        holds: Whether it is so with other chunks, too.
        applied: The rules that were tested and are kept.
        left: What has to be asked about each chunk.
    """

    holds: Holds
    applied: frozenset[str]
    left: tuple[Question, ...]


class _Kind:
    """What is known of one kind of chunk: how many were met, and what examples have shown."""

    def __init__(self) -> None:
        self.seen = 0
        self.lessons: list[Lesson] = []


class Examples:
    """What examples have shown about some rules, by kind of chunk."""

    def __init__(self, questions: Sequence[Question]) -> None:
        self.questions = tuple(questions)
        self._kinds: dict[Hashable, _Kind] = {}

    def ask(self, group: AlikeGroup, applied: set[str]) -> list[tuple[int, tuple[Question, ...]]]:
        """Ask about all chunks of a group; return what is to be asked about which of them, by position in the file."""
        kind = self._kinds.get(group.key)
        if kind is None:
            if len(self._kinds) >= MOST_KINDS:
                del self._kinds[next(iter(self._kinds))]
            kind = self._kinds[group.key] = _Kind()
        kind.seen += len(group)
        lessons = kind.lessons
        left: list[tuple[int, tuple[Question, ...]]] = []
        numbers: Sequence[int] = range(len(group))
        for turn in range(MOST_EXAMPLES):
            if turn == len(lessons) and kind.seen < SEEN_FIRST:
                break
            if turn == len(lessons):
                lessons.append(self._learn(group, numbers[0]))
            lesson = lessons[turn]
            others: Sequence[int] = ()
            if len(numbers) < len(group) or len(group) <= FEW or not lesson.holds.of_all(group.columns):
                others = [number for number in numbers if not lesson.holds.of_one(group.row(number))]
            if len(others) < len(numbers):
                applied |= lesson.applied
                if lesson.left:
                    kept = {*numbers}.difference(others)
                    left += [(group.place(number), lesson.left) for number in sorted(kept)]
            numbers = others
            if not numbers:
                return left
        return [*left, *((group.place(number), self.questions) for number in numbers)]

    def _learn(self, group: AlikeGroup, number: int) -> Lesson:
        """Ask about an example."""
        conditions = Conditions()
        applied: list[str] = []
        left: list[Question] = []
        chunk = group.example(number, conditions)
        for question in self.questions:
            subject, check = question
            if subject.alike_by == "index" and not group.is_read:
                left.append(question)
                continue
            conditions.is_lost = False
            try:
                if subject.is_about(chunk) and (check.only is None or check.only(chunk)):
                    if next(iter(check.test(chunk) or ()), None) is None:
                        applied.append(check.rule)
                    else:
                        left.append(question)
            except NotApplicable:
                pass
            except Exception:  # noqa: BLE001 - asked about each chunk, which says what it is
                left.append(question)
            if conditions.is_lost:
                # Its answer, and what was computed meanwhile, may rest on what is not noted.
                if question not in left:
                    left.append(question)
                chunk = group.example(number, conditions)
        return Lesson(
            conditions.compiled(group.readings),
            frozenset(applied).difference(check.rule for _, check in left),
            tuple(left),
        )
