"""The values of the columns that an index directory describes, compared with it part by part.

The rules about them are beside those about the same type of index (`sets`, `sums`, `sketches`).  Each is a function over a part: what its blob
claims, and what its rows hold (`pqassay.values.directory.audit.DescribedPart`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from pqassay.checks.directory.commands import mending
from pqassay.checks.subjects import Subject
from pqassay.checks.value_rules import stated
from pqassay.under_test.file import FileUnderTest, NotApplicable, Remembered
from pqassay.under_test.index_directory import IndexDirectory
from pqassay.under_test.violation import Violation
from pqassay.values.claims.audit import Family, ValueAudit, claiming
from pqassay_spec.directory.codes import IndexType

if TYPE_CHECKING:
    from pqassay.values.claims.outcomes import Outcome
    from pqassay.values.directory.audit import DirectoryFamily, EntryAudit

Thing = TypeVar("Thing")

NAMED = 3
"""Values, or groups, that a message names."""


class DescribedValues:
    """The values of the columns that a directory describes: a part of the file."""

    def __init__(self, file: FileUnderTest) -> None:
        self.file = file
        self._family: DirectoryFamily | None = None

    def family(self) -> DirectoryFamily:
        """What is to be compared: made again each time, since a comparison that broke off has seen some of the values."""
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
        self._family = DirectoryFamily(self.file, stated(DESCRIBED), makers)
        return self._family

    @Remembered
    def outcomes(self) -> Mapping[str, Outcome]:
        """The outcome of each rule. Raises what the audit of values does, and what keeps the claims from being made."""
        _ = self.file.part(ValueAudit).outcomes
        family = self._family or self.family()  # where the audit passed over it, making it again says why
        family.finish()
        return family.outcomes


@claiming
def directory_claims(file: FileUnderTest) -> Family:
    """The claims of a directory about the values of columns."""
    if not file.part(IndexDirectory).entries:
        raise NotApplicable
    return file.part(DescribedValues).family()


def _described(file: FileUnderTest) -> list[DescribedValues]:
    directory = file.part(IndexDirectory)
    if directory.directories and not directory.entries:
        directory.require_readable()
    return [file.part(DescribedValues)] if directory.entries else []


def _of_entry(violation: Violation, described: DescribedValues) -> Violation:
    """With the command that mends the entry whose field the violation names."""
    for entry in described.file.part(IndexDirectory).entries:
        if str(violation.field).startswith(f"{entry.root}."):
            return replace(violation, remedy=mending(entry))
    return violation


DESCRIBED: Subject[DescribedValues] = Subject("described values", _described, _of_entry)
"""The values that a directory describes, compared with what is claimed of them."""


def first_of(things: Sequence[Thing], text: Callable[[Thing], str]) -> str:
    """The first of some things, for messages."""
    return ", ".join(map(text, things[:NAMED])) + ", …" * (len(things) > NAMED)
