"""Tests of rules on similar column chunks: on one example whose numbers are unknown.

A rule is plain Python and is written once. The rule is tested on an example (`pqassay.under_test.examples`), and its comparisons of the
example's numbers are recorded. Its answer applies to every chunk with the same results of these comparisons, which are computed for all
chunks at once. So a footer of a hundred thousand chunks costs only a few columns of comparisons. Chunks with other results get their own
example, up to `MOST_EXAMPLES` of them. The rules are then tested one by one on the remaining chunks, and on chunks that break them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

from pqassay.checks import Check
from pqassay.checks.subjects import Subject
from pqassay.under_test.alike import AlikeChunks
from pqassay.under_test.examples import ExampleChunk, situation
from pqassay.under_test.file import FileUnderTest, NotApplicable
from pqassay.under_test.unknown import Conditions

MOST_EXAMPLES = 4
"""The number of examples of one kind of chunk; a kind that needs more depends on nearly all its numbers."""

SEEN_FIRST = 24
"""The number of chunks of one kind that are seen before an example is made. An example takes as long as testing about thirty chunks."""

MOST_KINDS = 500
"""The number of kinds of chunks that are remembered; the oldest are forgotten first. One kind takes some 50 KB."""


Question = tuple[Subject[Any], Check]
"""A check and its subject."""


class Lesson(NamedTuple):
    """The result of an example.

    Attributes:
        exceptions: Finds the chunks for which the result may differ.
        applied: The rules that were tested and are kept.
        left: The rules that have to be tested on each chunk.
    """

    exceptions: Callable[[AlikeChunks, int], list[int]]
    applied: frozenset[str]
    left: tuple[Question, ...]


class _Kind:
    """The facts about one kind of chunk: how many were seen, and what examples showed."""

    def __init__(self) -> None:
        self.seen = 0
        self.lessons: list[Lesson] = []


class Examples:
    """The results of examples for a set of rules, by kind of chunk."""

    def __init__(self, questions: Sequence[Question]) -> None:
        self.questions = tuple(questions)
        self._kinds: dict[Hashable, _Kind] = {}

    def ask(
        self, file: FileUnderTest, group: AlikeChunks, applied: set[str]
    ) -> list[tuple[int, tuple[Question, ...]]]:
        """Test all chunks of a group by examples.

        Returns the position in the file of each remaining chunk, with the questions that must be asked about it.
        """
        key = situation(file), group.kind, group.shapes
        kind = self._kinds.get(key)
        if kind is None:
            if len(self._kinds) >= MOST_KINDS:
                del self._kinds[next(iter(self._kinds))]
            kind = self._kinds[key] = _Kind()
        kind.seen += len(group.places)
        left: list[tuple[int, tuple[Question, ...]]] = []
        numbers = {*range(len(group.places))}
        for turn in range(MOST_EXAMPLES):
            if turn == len(kind.lessons):
                if kind.seen < SEEN_FIRST:
                    break
                kind.lessons.append(self._learn(file, group, min(numbers)))
            lesson = kind.lessons[turn]
            others = numbers.intersection(lesson.exceptions(group, len(group.places)))
            if len(others) < len(numbers):
                applied |= lesson.applied
                left += [(group.places[number], lesson.left) for number in numbers - others if lesson.left]
            numbers = others
            if not numbers:
                return left
        return [*left, *((group.places[number], self.questions) for number in numbers)]

    def _learn(self, file: FileUnderTest, group: AlikeChunks, number: int) -> Lesson:
        """Make an example of a chunk and test the rules on it."""
        conditions = Conditions()
        applied: list[str] = []
        left: list[Question] = []
        chunk = ExampleChunk(file, group, number, conditions)
        for question in self.questions:
            subject, check = question
            if subject.alike_by == "index" and not group.are_read and file.options.reaches("index"):
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
                # The answer and values computed meanwhile may depend on comparisons that are not recorded.
                if question not in left:
                    left.append(question)
                chunk = ExampleChunk(file, group, number, conditions)
        return Lesson(
            conditions.compiled(),
            frozenset(applied).difference(check.rule for _, check in left),
            tuple(left),
        )
