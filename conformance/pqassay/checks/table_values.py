"""What a table says of the values of a data file: how a family declares the rules about it, tier ``values``."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from pqassay.checks.subjects import Subject
from pqassay.under_test.file import FileUnderTest, NotApplicable, NotChecked, Remembered
from pqassay.values.audit import Family, ValueAudit, claiming
from pqassay_spec.base.errors import FormatError
from pqassay_spec.table.layout import TableKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from pqassay.values.outcomes import Outcome
    from pqassay.values.table_claims import TableFamily


class ClaimedValues:
    """The values of a data file, compared with what its table says of them: a part of the file."""

    def __init__(self, file: FileUnderTest) -> None:
        self.file = file
        self._family: TableFamily | None = None

    def family(self) -> TableFamily:
        """What the table says: anew, since a comparison that broke off has seen some of the values."""
        table = self.file.claims.table if self.file.claims is not None else "delta"
        self._family = _MAKERS[table](self.file)
        return self._family

    @Remembered
    def outcomes(self) -> Mapping[str, Outcome]:
        """What came of each rule. Raises what the audit of values does."""
        _ = self.file.part(ValueAudit).outcomes
        if self._family is None:
            raise NotApplicable
        self._family.finish()
        return self._family.outcomes


_MAKERS: dict[TableKind, Callable[[FileUnderTest], TableFamily]] = {}


def claimed_values(table: TableKind, make: Callable[[FileUnderTest], TableFamily]) -> Subject[ClaimedValues]:
    """The values of a file of a table of one format; ``make`` makes what the table says of them comparable."""
    _MAKERS[table] = make

    def find(file: FileUnderTest) -> list[ClaimedValues]:
        if file.claims is None or file.claims.table != table:
            return []
        return [file.part(ClaimedValues)]

    return Subject(f"values of a {table} table", find)


@claiming
def table_claims(file: FileUnderTest) -> Family:
    """The claims of a table about the values of its file."""
    with suppress(FormatError, NotApplicable, NotChecked):
        if file.claims is not None:
            return file.part(ClaimedValues).family()
    raise NotApplicable
