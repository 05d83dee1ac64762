"""Outcomes of rules that are decided in one pass over the values of a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

from pqassay.under_test.file import Hindrances, Mistake, NotApplicable, NotChecked, NotEverywhere
from pqassay.under_test.violation import Violation, keep_first
from pqassay_spec.base.errors import FormatError


@dataclass
class Outcome:
    """The outcome of one rule: its violations, and the reasons why it could not be tested somewhere."""

    applies: bool = False
    problem: NotChecked | None = None
    hindrances: Hindrances = field(default_factory=Hindrances)
    places: dict[str | None, list[Violation]] = field(default_factory=dict[str | None, list[Violation]])

    def add(self, violation: Violation) -> None:
        """Add a violation; only as many places per column as reports show are kept."""
        keep_first(self.places.setdefault(violation.column, []), violation)

    def hindered(self, reason: Exception, column: str | None = None) -> None:
        """Note why a test was impossible, in a column or in the whole file."""
        if isinstance(reason, FormatError):
            reason = NotChecked.because(reason)
        if isinstance(reason, NotChecked):
            self._note(reason)
            self.hindrances.note(reason, column)

    def _note(self, problem: NotChecked | None) -> None:
        """Keep the first problem; a mistake replaces other problems."""
        if self.problem is None or (isinstance(problem, Mistake) and not isinstance(self.problem, Mistake)):
            self.problem = problem

    def merge(self, other: Outcome) -> None:
        """Add the outcome of the same rule elsewhere."""
        self.applies |= other.applies
        self._note(other.problem)
        self.hindrances.merge(other.hindrances)
        for violation in chain.from_iterable(other.places.values()):
            self.add(violation)

    def result(self) -> Iterator[Violation]:
        """Yield the violations, then raise the reason why the rule was not tested everywhere, if any.

        Raises:
            Mistake: It could not be tested somewhere by a mistake.
            NotEverywhere: It could not be tested somewhere.
            NotApplicable: The file has no subject of the rule.
        """
        yield from chain.from_iterable(self.places.values())
        if isinstance(self.problem, Mistake):
            raise self.problem.with_traceback(None)
        if self.problem is not None:
            raise NotEverywhere(self.problem, self.hindrances)
        if not self.applies and not self.places:
            raise NotApplicable
