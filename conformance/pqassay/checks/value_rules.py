"""Declarations of rules about values: a rule is registered by its id, beside the rules of its family.

A rule is a function over one thing, most often a column chunk, which yields claims about the values (`Claim`). That is cheap, and happens
before anything is decoded. The comparison of a claim with the values belongs to the kind of claim: bounds, counts and forms are in
`pqassay.values.claims`; a claim of a single rule is beside that rule.

>>> @value_rule("STA-041", of=STATISTICS)                                  # doctest: +SKIP
... def no_value_is_greater_than_max_value(chunk):
...     '''A reader that looks for the value skips the row group.'''
...     for name, raw in _given(chunk, "max_value"):
...         yield ChunkBound(chunk, name, raw, require_order(chunk))

A rule that needs several chunks is a class (`ValueRule`), with an instance for each file.  A rule about the
parts of an index directory is a function of a part whose rows have all been read; it yields the places that
break the rule.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, TypeVar

from pqassay.checks import rule
from pqassay.checks.subjects import VALUES, Subject
from pqassay.under_test.file import FileUnderTest
from pqassay.under_test.violation import Violation
from pqassay.values.claims.audit import Family, claiming
from pqassay.values.claims.outcomes import Outcome
from pqassay.values.claims.value_rules import RuleFamily, Stated

Statement = TypeVar("Statement", bound=Callable[..., Any])

_stated: dict[Subject[Any], dict[str, Stated]] = defaultdict(dict)


class Audited(Protocol):
    """Values that were compared with the claims about them."""

    @property
    def outcomes(self) -> Mapping[str, Outcome]:
        """The outcome of each rule."""
        ...


def value_rule(
    rule_id: str,
    *,
    of: Subject[Any] | None = None,
    only: Callable[[Any], bool] | None = None,
    audited: Subject[Any] = VALUES,
) -> Callable[[Statement], Statement]:
    """Register a function, or a class, as the statement of a rule about values.

    Args:
        rule_id: Its id.
        of: The subject: column chunks, or entries of an index directory. All chunks by default.
        only: Selects the audits to which it applies; all by default.
        audited: The subject of the `Audited` values.
    """

    def register(statement: Statement) -> Statement:
        _stated[audited][rule_id] = Stated(statement, None if of is None else of.find)

        def test(audit: Audited) -> Iterator[Violation]:
            return audit.outcomes[rule_id].result()

        test.__wrapped__ = statement  # type: ignore[attr-defined]  # what states the rule is shown, not this
        rule(rule_id, of=audited, only=only)(test)
        return statement

    return register


def stated(audited: Subject[Any]) -> Mapping[str, Stated]:
    """The rules about some values, by their ids."""
    return _stated[audited]


@claiming
def claims_of_chunks(file: FileUnderTest) -> Family:
    """The claims of the rules about the values of a Parquet file."""
    return RuleFamily(file, stated(VALUES))
