"""What comes of rules that one pass over the values of a file decides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from pqassay.report.model import FIRST_POSITIONS
from pqassay.under_test.file import Broken, NotApplicable, NotChecked
from pqassay.under_test.violation import Violation
from pqassay_spec.base.errors import FormatError


@dataclass
class Outcome:
    """What came of one rule: its violations, and why it could not be tested somewhere."""

    applies: bool = False
    violations: list[Violation] = field(default_factory=list[Violation])
    problem: NotChecked | None = None
    _of_column: dict[str | None, list[int]] = field(default_factory=dict[str | None, list[int]])

    def add(self, violation: Violation) -> None:
        """Note a violation; of each column, no more places than are shown."""
        places = self._of_column.setdefault(violation.column, [])
        if len(places) < FIRST_POSITIONS:
            places.append(len(self.violations))
            self.violations.append(violation)
        else:
            last = self.violations[places[-1]]
            self.violations[places[-1]] = replace(last, more=last.more + 1 + violation.more)

    def hindered(self, reason: Exception) -> None:
        """Note the first reason why something could not be tested."""
        if isinstance(reason, FormatError):
            reason = Broken(reason.rule) if reason.rule else NotChecked(reason.reason)
        if isinstance(reason, NotChecked):
            self.problem = self.problem or reason

    def merge(self, other: Outcome) -> None:
        """Take over what came of the same rule elsewhere."""
        self.applies |= other.applies
        self.problem = self.problem or other.problem
        for violation in other.violations:
            self.add(violation)

    def result(self) -> Iterator[Violation]:
        """The violations; without any, what kept the rule from being tested everywhere.

        Raises:
            NotChecked: It could not be tested somewhere, and is broken nowhere else.
            NotApplicable: There is nothing that it is about.
        """
        if self.violations:
            return iter(self.violations)
        if self.problem is not None:
            raise self.problem.with_traceback(None)
        if not self.applies:
            raise NotApplicable
        return iter(())
