"""Rules that `pqassay.values` decides: each names the function there that does.

One pass over the values decides several rules.  What is declared here is a rule's name and why it
matters; its test collects what came of it.

>>> @by_audit("PIX-052", "claims.pages.PageClaims._judge_null_pages")      # doctest: +SKIP
... def null_pages_hold_nothing_but_nulls():
...     '''A reader skips a page of nothing but nulls whatever value it looks for.'''
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, Protocol

from pqassay.checks import rule
from pqassay.checks.subjects import VALUES, Subject
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.violation import Violation
from pqassay.values.claims.audit import ValueAudit

if TYPE_CHECKING:
    from pqassay.values.claims.outcomes import Outcome
    from pqassay.values.decoding.levels import PageCounts
    from pqassay.values.decoding.survey import Survey

Declaration = Callable[[], None]
"""A function whose name says what the rule wants, and whose docstring why."""


class Audited(Protocol):
    """Values that were compared with what is said of them."""

    @property
    def outcomes(self) -> Mapping[str, Outcome]:
        """The outcome of each rule."""
        ...


def by_audit(
    rule_id: str,
    decided_by: str | None = None,
    *,
    of: Subject[Any] = VALUES,
    only: Callable[[Any], bool] | None = None,
) -> Callable[[Declaration], Declaration]:
    """Declare a rule that the audit of all values decides.

    Args:
        rule_id: Its id.
        decided_by: What compares the values with what is said of them, below `pqassay.values`; left out where that is in the
            family's own room.
        of: The subject, which is `Audited`.
        only: To which of them it applies, if not to all.
    """

    def register(declaration: Declaration) -> Declaration:
        @rule(rule_id, of=of, only=only, decided_by=decided_by)
        @wraps(declaration)
        def test(audit: Audited) -> Iterator[Violation]:
            return audit.outcomes[rule_id].result()

        return declaration

    return register


def survey_of(chunk: ColumnChunkUnderTest) -> Survey:
    """The survey of the bodies of a chunk's pages; see `pqassay.values.decoding.survey.survey`."""
    chunk.file.part(ValueAudit).run_with_surveys()
    from pqassay.values.decoding.survey import survey  # noqa: PLC0415 - numpy and pyarrow, at this tier only

    return chunk.part(survey)


def counts_of(chunk: ColumnChunkUnderTest) -> PageCounts:
    """The counts of a chunk's levels; see `pqassay.values.decoding.survey.counts_of`."""
    chunk.file.part(ValueAudit).run_with_surveys()
    from pqassay.values.decoding import survey  # noqa: PLC0415 - numpy and pyarrow, at this tier only

    return survey.counts_of(chunk)
