"""The search: rounds of drawing, shrinking and leaving out, until the time limit."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from hypothesis import HealthCheck, Phase, find, settings
from hypothesis.errors import Flaky, NoSuchExample, Unsatisfiable

from pqassay_spec.mutation.mutations import Inapplicable
from pqassay_suite.exploring.asking import WITHOUT, Asker, WrongAnswer
from pqassay_suite.exploring.drawing import Choices, questions
from pqassay_suite.exploring.drawn_file import Question, QuestionError
from pqassay_suite.exploring.ingredients import READ, ingredients, names_of, smaller

MOST_SHRINKS = 50
"""Most files to ask about while an example is shrunk; leaving out continues from the example at that point."""

MOST_DRAWN = 1_000_000
"""Examples of a round; the limits of the search end it much earlier."""

MOST_ROUNDS = 3
"""Most passes over everything that may be left out; another pass follows if something was left out."""


@dataclass(frozen=True)
class SearchLimits:
    """When the search ends: after how many seconds of wall time, and drawn files; also its random seed."""

    seconds: float
    examples: int = MOST_DRAWN
    seed: int = 0


@dataclass(frozen=True)
class Finding:
    """A question with a wrong answer, as small as possible.

    Attributes:
        question: The question.
        difference: The error in the answer.
        takes: The necessary ingredients: without any of them, the answer is right.
        is_unstable: Whether a fresh process gives a right answer, or another wrong one.
        examples: Number of files that had been drawn when it was found.
    """

    question: Question
    difference: WrongAnswer
    takes: tuple[str, ...]
    is_unstable: bool
    examples: int

    def explains(self, question: Question, difference: WrongAnswer) -> bool:
        """Whether another wrong answer has the same cause: the same words, with all ingredients of this finding.

        A wrong read also explains a scan that is just as wrong without the index.
        """
        if not difference.is_of_rows:
            return self.difference.is_like(difference)
        is_read = self.question.predicate is None and difference.blame == WITHOUT
        takes = {*self.takes} - ({READ} if is_read else set())
        is_like = self.difference.is_of_rows if is_read else self.difference.is_like(difference)
        return is_like and names_of(question) >= takes


class _OverError(KeyboardInterrupt):
    """The limits of the search are exceeded. hypothesis stops at once, because this is an interruption to it."""


@dataclass
class _Target:
    """The wrong answer of a round, the smallest example so far."""

    question: Question
    difference: WrongAnswer
    examples: int
    tries: int = 0

    def take(self, question: Question, difference: WrongAnswer) -> None:
        """Keep the smaller example."""
        if _size(question) < _size(self.question):
            self.question, self.difference = question, difference


def _size(question: Question) -> tuple[int, int, int]:
    return len(question.file.columns), question.file.count, len(question.to_json())


def _frame(question: Question) -> str:
    """A key of everything in a file except its values. Most examples of hypothesis differ only in a value or two, and are skipped."""
    columns = tuple(replace(column, values=()) for column in question.file.columns)
    return repr(replace(question.file, columns=columns))


@dataclass
class Search:
    """A search for wrong answers.

    Attributes:
        asker: The driver.
        choices: The possible choices when drawing.
        limits: When it ends.
        kept: Questions to ask first, such as those of earlier findings.
        findings: The findings, each as small as possible.
        drawn: Number of files that were drawn.
        was_interrupted: Whether the user interrupted it.
    """

    asker: Asker
    choices: Choices
    limits: SearchLimits
    kept: Sequence[Question] = ()
    findings: list[Finding] = field(default_factory=list[Finding])
    drawn: int = 0
    explained: int = 0
    was_interrupted: bool = False
    _target: _Target | None = None
    _frames: set[str] = field(default_factory=set[str])
    _end: float = 0.0

    def run(self, clock: Callable[[], float] = time.monotonic) -> Iterator[Finding]:
        """Yield findings, until a limit is exceeded or the user interrupts."""
        self._clock, self._end = clock, clock() + self.limits.seconds
        rounds = [*(lambda question=each: self._asked_again(question) for each in self.kept)]
        while not self._is_over():
            self._target = None
            self._frames.clear()
            is_last = False
            try:
                is_last = rounds.pop(0)() if rounds else self._round()
            except _OverError:
                pass
            except KeyboardInterrupt:
                self.was_interrupted = True
            if self._target is not None:
                finding = self._finished(self._target)
                self.findings.append(finding)
                yield finding
            if self.was_interrupted or (is_last and self._target is None):
                return

    def _asked_again(self, question: Question) -> bool:
        """Ask a stored question; false, because others follow."""
        (difference,) = self._differences([question])
        if difference is not None and self._is_explained(question, difference):
            self.explained += 1
        elif difference is not None:
            self._target = _Target(question, difference, self.drawn)
        return False

    def _is_over(self) -> bool:
        return self.was_interrupted or self._clock() >= self._end or self.drawn >= self.limits.examples

    def _round(self) -> bool:
        """Draw and shrink; true if there is nothing more to draw."""
        number = len(self.findings)
        try:
            find(
                questions(self.choices),
                self._is_target,
                settings=settings(
                    database=None,
                    max_examples=MOST_DRAWN,
                    deadline=None,
                    suppress_health_check=list(HealthCheck),
                    phases=(Phase.generate, Phase.shrink),
                ),
                random=Random(f"{self.limits.seed} {number}"),  # noqa: S311 - the same examples for the same seed
            )
        except (NoSuchExample, Unsatisfiable):
            return True
        except Flaky:  # the driver is unstable: the target is asked again below
            return False
        return False

    def _is_target(self, asked: Sequence[Question]) -> bool:
        target = self._target
        if target is None:
            if self._is_over():
                raise _OverError
            frame = _frame(asked[0])
            if frame in self._frames:
                return False
            self._frames.add(frame)
            self.drawn += 1
        else:
            target.tries += 1
            if target.tries > MOST_SHRINKS or self._clock() >= self._end:
                raise _OverError
        for question, difference in zip(asked, self._differences(asked), strict=True):
            if difference is None:
                continue
            if target is not None:
                if _is_like(difference, target.difference) and not self._is_explained(question, difference):
                    target.take(question, difference)
                    return True
            elif self._is_explained(question, difference):
                self.explained += 1
            else:
                self._target = _Target(question, difference, self.drawn)
                return True
        return False

    def _is_explained(self, question: Question, difference: WrongAnswer) -> bool:
        return any(finding.explains(question, difference) for finding in self.findings)

    def _differences(self, asked: Sequence[Question]) -> Sequence[WrongAnswer | None]:
        try:
            return self.asker.differences(asked)
        except (QuestionError, Inapplicable):
            return [None] * len(asked)

    def _finished(self, target: _Target) -> Finding:
        """The finding of a target: it is asked alone in a fresh process, and everything unnecessary is left out."""
        self.asker.driver.start_afresh()
        (again,) = self._differences([target.question])
        if again is None or not _is_like(again, target.difference):
            takes = tuple(each.name for each in ingredients(target.question))
            return Finding(
                target.question, target.difference, takes, is_unstable=True, examples=target.examples
            )
        question, difference = target.question, again
        try:
            question, difference = self._left_out(question, difference)
        except KeyboardInterrupt:
            self.was_interrupted = True
        takes = tuple(dict.fromkeys(each.name for each in ingredients(question)))
        return Finding(question, difference, takes, is_unstable=False, examples=target.examples)

    def _left_out(self, question: Question, difference: WrongAnswer) -> tuple[Question, WrongAnswer]:
        """Leave out ingredients, until all that remain are necessary."""
        for _ in range(MOST_ROUNDS):
            before = question
            for others in (lambda each: (one.left_out() for one in ingredients(each)), smaller):
                question, difference = self._reduced(question, difference, others)
            if question == before:
                break
        return question, difference

    def _reduced(
        self,
        question: Question,
        difference: WrongAnswer,
        others: Callable[[Question], Iterator[Question | None]],
    ) -> tuple[Question, WrongAnswer]:
        tried: set[str] = {question.to_json()}
        is_done = False
        while not is_done:
            is_done = True
            for other in others(question):
                if other is None or (text := other.to_json()) in tried:
                    continue
                tried.add(text)
                (still,) = self._differences([other])
                if still is not None and _is_like(still, difference) and not self._is_explained(other, still):
                    question, difference, is_done = other, still, False
                    break
        return question, difference


def _is_like(one: WrongAnswer, other: WrongAnswer) -> bool:
    return one.is_like(other) and one.fault == other.fault
