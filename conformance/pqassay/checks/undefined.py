"""Enum values and union members that the format does not define: each is a finding, and also a gap."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pqassay.under_test.fields import Field
from pqassay.under_test.file import NotChecked
from pqassay.under_test.violation import Violation
from pqassay_spec.parquet.undefined import Undefined


def report_undefined(undefined: Iterable[tuple[Undefined, Field]]) -> Iterator[Violation]:
    """Yield a violation for each undefined member, with its structure.

    Raises:
        NotChecked: There was such a member. A later version of the format may define it, so dependent rules cannot be judged.
    """
    first: Undefined | None = None
    for each, field in undefined:
        first = first or each
        outlook = (
            "a later one may define it"
            if each.number >= 0
            else "Thrift does not allow negative values, so it is likely damage"
        )
        message = f"{each.name} is not defined by this version of the format; {outlook}"
        yield Violation(message, field / each.path, each.defined, str(each.number))
    if first is not None:
        raise unknown(first.name)


def unknown(name: str) -> NotChecked:
    """The reason why rules that depend on an undefined member are not checked."""
    return NotChecked(f"{name} is unknown, possibly from a later version of the format", "tool")
