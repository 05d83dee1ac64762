"""The claims of a table about the values of a data file, tier ``values``, and their comparison."""

from __future__ import annotations

from collections.abc import Mapping

from pqassay.checks.subjects import Subject
from pqassay.checks.value_rules import stated
from pqassay.under_test.chunks import ColumnChunks
from pqassay.under_test.file import FileUnderTest, NotApplicable
from pqassay.values.claims.audit import Family, ValueAudit, claiming
from pqassay.values.claims.outcomes import Outcome
from pqassay.values.claims.value_rules import RuleFamily
from pqassay_spec.table.layout import TableKind


class ClaimedValues:
    """The values of a file, compared with the claims of its table; a part of the file."""

    def __init__(self, file: FileUnderTest) -> None:
        self.file = file

    @property
    def outcomes(self) -> Mapping[str, Outcome]:
        """The outcome of each rule. Raises the errors of the audit of values."""
        return self.file.part(ValueAudit).outcomes


def _values_of(table: TableKind) -> Subject[ClaimedValues]:
    def find(file: FileUnderTest) -> list[ClaimedValues]:
        if file.claims is None or file.claims.table != table:
            return []
        return [file.part(ClaimedValues)]

    return Subject(f"values of a {table} table", find)


DELTA_VALUES, ICEBERG_VALUES = _values_of("delta"), _values_of("iceberg")
"""The subjects of values of a file in a table of each format."""


class _ClaimsOfTable(RuleFamily):
    """The claims of a table about a file. For omitted chunks, there are no values to compare."""

    def note_left_out(self, _: ColumnChunks) -> None:
        """Do nothing: each rule itself notes if it needs all chunks."""


@claiming
def _claims_of_table(file: FileUnderTest) -> Family:
    if file.claims is None:
        raise NotApplicable
    return _ClaimsOfTable(file, stated(DELTA_VALUES if file.claims.table == "delta" else ICEBERG_VALUES))
