"""Checks of the index directory against the values of the described columns, tier ``values``."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from pqassay.checks.by_values import by_audit
from pqassay.checks.directory.commands import mending
from pqassay.checks.subjects import Subject
from pqassay.under_test.file import FileUnderTest, NotApplicable, NotChecked, Remembered
from pqassay.under_test.index_directory import EntryUnderTest, IndexDirectory
from pqassay.under_test.violation import Violation
from pqassay.values.claims.audit import Family, ValueAudit, claiming
from pqassay_spec.base.errors import FormatError
from pqassay_spec.directory.codes import IndexType

if TYPE_CHECKING:
    from pqassay.values.claims.outcomes import Outcome
    from pqassay.values.directory.audit import DirectoryFamily, Maker

RULES: dict[int, tuple[str, ...]] = {
    IndexType.DISTINCT_SET: ("DIR-026", "DIR-027", "DIR-028"),
    IndexType.ZONE_SUMS: ("DIR-035", "DIR-036", "DIR-037", "DIR-038"),
    IndexType.HLL: ("DIR-042",),
    IndexType.KLL: ("DIR-043", "DIR-044"),
    IndexType.IDX1: ("DIR-045",),
}
"""The rules that values decide, by the type of the index."""


class DescribedValues:
    """The values of the columns that a directory describes, compared with it: a part of the file."""

    def __init__(self, file: FileUnderTest) -> None:
        self.file = file
        self._family: DirectoryFamily | None = None

    def family(self) -> DirectoryFamily:
        """What the entries say, to be compared: anew, since a comparison that broke off has seen some of the values."""
        from pqassay.values.directory.audit import DirectoryFamily  # noqa: PLC0415 - numpy, at this tier only
        from pqassay.values.directory.sets import Idx1Audit, SetAudit  # noqa: PLC0415 - likewise
        from pqassay.values.directory.sketches import HllAudit, KllAudit  # noqa: PLC0415 - likewise
        from pqassay.values.directory.sums import SumsAudit  # noqa: PLC0415 - likewise

        makers: dict[int, Maker] = {
            IndexType.DISTINCT_SET: SetAudit,
            IndexType.ZONE_SUMS: SumsAudit,
            IndexType.HLL: HllAudit,
            IndexType.KLL: KllAudit,
            IndexType.IDX1: Idx1Audit,
        }
        self._family = made = DirectoryFamily(self.file, makers, RULES)
        return made

    @Remembered
    def outcomes(self) -> Mapping[str, Outcome]:
        """What came of each rule. Raises what the audit of values does, and what keeps the claims from being made."""
        _ = self.file.part(ValueAudit).outcomes
        family = self._family
        if family is None:  # the audit passed over it: making it again says why
            _ = self.family()
            raise NotApplicable
        family.finish()
        return family.outcomes


@claiming
def directory_claims(file: FileUnderTest) -> Family:
    """The claims of a directory about the values of columns, unless no rule about them is tested."""
    with suppress(FormatError, NotApplicable, NotChecked):
        if file.part(IndexDirectory).entries and not all(
            rule in file.left_out for rules in RULES.values() for rule in rules
        ):
            return file.part(DescribedValues).family()
    raise NotApplicable


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
"""The values that a directory describes, compared with what it says of them."""


def miscounts(entry: EntryUnderTest) -> str | None:
    """The rule about counts of zone sums that an entry breaks, as far as the values were looked at; ``None`` if it breaks none."""
    if not entry.file.options.reaches("values"):
        return None
    try:
        outcomes = entry.file.part(DescribedValues).outcomes
    except (FormatError, NotApplicable, NotChecked):
        return None
    return next((rule for rule in ("DIR-035", "DIR-036") if outcomes[rule].places.get(entry.column)), None)


@by_audit("DIR-026", "directory.sets.SetAudit.judge_part", of=DESCRIBED)
def complete_sets_list_every_value() -> None:
    """A reader skips the part when it looks for a value that is missing."""


@by_audit("DIR-027", "directory.sets.SetAudit.judge_part", of=DESCRIBED)
def nulls_and_nan_are_flagged() -> None:
    """A reader skips the part when it looks for nulls, or for NaN."""


@by_audit("DIR-028", "directory.sets.SetAudit.judge_part", of=DESCRIBED)
def listed_values_occur() -> None:
    """A value too many costs a read, never a row."""


@by_audit("DIR-035", "directory.sums.SumsAudit.judge_part", of=DESCRIBED)
def groups_are_those_that_occur() -> None:
    """A group too few, or too many, is one in every answer."""


@by_audit("DIR-036", "directory.sums.SumsAudit.judge_part", of=DESCRIBED)
def nulls_and_nan_are_counted() -> None:
    """An average is divided by what is neither."""


@by_audit("DIR-037", "directory.sums.SumsAudit.judge_part", of=DESCRIBED)
def sums_are_those_of_the_rows() -> None:
    """A sum that is off by one is a wrong answer that nobody notices."""


@by_audit("DIR-038", "directory.sums.SumsAudit.judge_part", of=DESCRIBED)
def bounds_are_those_of_the_rows() -> None:
    """They answer MIN and MAX, and do so exactly."""


@by_audit("DIR-042", "directory.sketches.HllAudit.judge_part", of=DESCRIBED)
def hll_estimates_the_distinct_values() -> None:
    """A bad estimate makes bad plans, and no wrong rows."""


@by_audit("DIR-043", "directory.sketches.KllAudit.judge_part", of=DESCRIBED)
def kll_counts_and_bounds_are_exact() -> None:
    """They are the part of the sketch that is given as exact."""


@by_audit("DIR-044", "directory.sketches.KllAudit.judge_part", of=DESCRIBED)
def kll_ranks_are_nearly_right() -> None:
    """A bad estimate makes bad plans, and no wrong rows."""


@by_audit("DIR-045", "directory.sets.Idx1Audit.judge_part", of=DESCRIBED)
def idx1_lists_every_value() -> None:
    """A reader skips the file when it looks for a value that is missing."""
