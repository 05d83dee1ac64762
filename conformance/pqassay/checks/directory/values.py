"""The claims of an index directory about the values of columns, compared part by part.

The rules are in the module of their type of index (`sets`, `sums`, `sketches`). Each is a function over a part: the claims of its blob, and
the contents of its rows (`pqassay.values.directory.audit.DescribedPart`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from pqassay.checks.directory.commands import remedy_for
from pqassay.checks.directory.entries import ENTRY
from pqassay.checks.subjects import Subject
from pqassay.checks.value_rules import stated
from pqassay.under_test.file import FileUnderTest, NotApplicable
from pqassay.under_test.index_directory import IndexDirectory
from pqassay.under_test.violation import Violation
from pqassay.values.claims.audit import Family, ValueAudit, claiming
from pqassay_spec.directory.codes import IndexType

if TYPE_CHECKING:
    from pqassay.values.directory.audit import EntryAudit

Thing = TypeVar("Thing")

NAMED = 3
"""The number of values or groups that a message lists."""


@claiming
def directory_claims(file: FileUnderTest) -> Family:
    """The claims of a directory about the values of columns."""
    if not file.part(IndexDirectory).entries:
        raise NotApplicable
    from pqassay.values.directory.audit import DirectoryFamily  # noqa: PLC0415 - numpy, at this tier only
    from pqassay.values.directory.sets import SetAudit  # noqa: PLC0415 - likewise
    from pqassay.values.directory.sketches import HllAudit, KllAudit  # noqa: PLC0415 - likewise
    from pqassay.values.directory.sums import SumsAudit  # noqa: PLC0415 - likewise

    makers: dict[int, type[EntryAudit]] = {
        IndexType.DISTINCT_SET: SetAudit,
        IndexType.ZONE_SUMS: SumsAudit,
        IndexType.HLL: HllAudit,
        IndexType.KLL: KllAudit,
        IndexType.IDX1: SetAudit,
    }
    return DirectoryFamily(file, stated(DESCRIBED), makers)


def _of_entry(violation: Violation, audit: ValueAudit) -> Violation:
    """The violation with the command that repairs the entry of its field."""
    for entry in audit.file.part(IndexDirectory).entries:
        if str(violation.field).startswith(f"{entry.root}."):
            return replace(violation, remedy=remedy_for(entry))
    return violation


DESCRIBED: Subject[ValueAudit] = Subject(
    "described values", lambda file: [file.part(ValueAudit)] if ENTRY.find(file) else [], _of_entry
)
"""The subject of rules that compare values with the claims of a directory."""


def first_of(things: Sequence[Thing], text: Callable[[Thing], str]) -> str:
    """The first few of some things, for messages."""
    return ", ".join(map(text, things[:NAMED])) + ", …" * (len(things) > NAMED)
