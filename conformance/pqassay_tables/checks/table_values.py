"""What a table says of the values of a data file: how a family declares the rules about it, tier ``values``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from pqassay.checks.subjects import Subject
from pqassay.under_test.file import FileUnderTest, NotApplicable, NotChecked, Remembered
from pqassay.values.claims.audit import Family, ValueAudit, claiming
from pqassay_spec.base.errors import FormatError
from pqassay_spec.table.layout import TableKind

if TYPE_CHECKING:
    from pqassay.values.claims.outcomes import Outcome
    from pqassay_tables.values.table_claims import TableFamily


class FinishedFamily(Family, Protocol):
    """A family of claims that is compared once more when all chunks are."""

    @property
    def outcomes(self) -> Mapping[str, Outcome]:
        """What came of each rule; right once `finish` was called."""
        ...

    def finish(self) -> None:
        """Compare what all chunks together decide."""
        ...


MadeFamily = TypeVar("MadeFamily", bound=FinishedFamily)


class FamilyValues(ABC, Generic[MadeFamily]):
    """The values of a file, compared with one family of claims about them: a part of the file."""

    def __init__(self, file: FileUnderTest) -> None:
        self.file = file
        self._family: MadeFamily | None = None
        self._problem: Exception = NotApplicable()

    @abstractmethod
    def make(self) -> MadeFamily:
        """The claims. Raises `FormatError`, `NotChecked` or `NotApplicable` where there is nothing to claim."""

    def family(self) -> MadeFamily:
        """The claims, made anew: a comparison that broke off has seen some of the values."""
        try:
            self._family = self.make()
        except (FormatError, NotApplicable, NotChecked) as error:
            self._problem = error
            raise
        return self._family

    @Remembered
    def outcomes(self) -> Mapping[str, Outcome]:
        """What came of each rule. Raises what the audit of values does."""
        _ = self.file.part(ValueAudit).outcomes
        if self._family is None:
            raise self._problem.with_traceback(None)
        self._family.finish()
        return self._family.outcomes


class ClaimedValues(FamilyValues["TableFamily"]):
    """The values of a data file, compared with what its table says of them: a part of the file."""

    def make(self) -> TableFamily:
        """What the table says."""
        table = self.file.claims.table if self.file.claims is not None else "delta"
        return _MAKERS[table](self.file)


_MAKERS: dict[TableKind, Callable[[FileUnderTest], TableFamily]] = {}


def claimed_values(table: TableKind, make: Callable[[FileUnderTest], TableFamily]) -> Subject[ClaimedValues]:
    """The values of a file of a table of one format; ``make`` makes what the table says of them comparable."""
    _MAKERS[table] = make

    def find(file: FileUnderTest) -> list[ClaimedValues]:
        if file.claims is None or file.claims.table != table:
            return []
        return [file.part(ClaimedValues)]

    return Subject(f"values of a {table} table", find)


def claiming_family(
    kind: type[FamilyValues[Any]], find: Callable[[FileUnderTest], Sequence[FamilyValues[Any]]]
) -> None:
    """Have a family of claims put to the values of those files in which it is found."""

    def make(file: FileUnderTest) -> Family:
        if not find(file):
            raise NotApplicable
        family: Family = file.part(kind).family()
        return family

    _ = claiming(make)


def _claimed(file: FileUnderTest) -> Sequence[ClaimedValues]:
    return [] if file.claims is None else [file.part(ClaimedValues)]


claiming_family(ClaimedValues, _claimed)
