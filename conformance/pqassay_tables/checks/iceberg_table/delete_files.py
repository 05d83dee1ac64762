"""Checks of delete files: their columns, tier ``footer``, and the rows that position deletes name, tier ``values``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pqassay.checks import rule
from pqassay.checks.by_values import by_audit
from pqassay.checks.subjects import Subject
from pqassay.under_test.file import FileUnderTest, NotApplicable
from pqassay.under_test.violation import Violation
from pqassay_spec.parquet.thrift import Type
from pqassay_spec.table.iceberg import DELETE_COLUMNS, DELETE_FILE_PATH, DELETE_POSITION
from pqassay_tables.checks.iceberg_table.deletes import REMEDY
from pqassay_tables.checks.table_values import FamilyValues, claiming_family
from pqassay_tables.under_test.claimed_columns import ClaimedFile
from pqassay_tables.under_test.table import claim_field

if TYPE_CHECKING:
    from pqassay_tables.values.position_deletes import PositionFamily

PHYSICAL = {DELETE_FILE_PATH: Type.BYTE_ARRAY, DELETE_POSITION: Type.INT64}
"""How the columns of position deletes are stored."""


def _delete_files(file: FileUnderTest) -> list[ClaimedFile]:
    if file.claims is None or file.claims.deletes is None:
        return []
    _ = file.metadata
    return [file.part(ClaimedFile)]


DELETE_FILE: Subject[ClaimedFile] = Subject("delete file of an Iceberg table", _delete_files)
"""A file of position deletes or equality deletes."""


@rule("ICE-044", of=DELETE_FILE)
def delete_files_have_their_columns(file: ClaimedFile) -> Iterator[Violation]:
    """Readers that do not find them fail, or take them for null and delete other rows."""
    deletes = file.claims.deletes
    if deletes is None:
        raise NotApplicable
    wanted = (
        [(number, name) for number, name, _ in DELETE_COLUMNS] if deletes.by_position else deletes.compared
    )
    if not wanted:
        raise NotApplicable  # ICE-022 says so
    for number, name in wanted:
        by_name = () if deletes.by_position or not file.claims.has_names else (name,)
        ordinal = file.ordinal_of(number, by_name)
        if ordinal is None:
            actual = "none"
        else:
            found, expected = file.file.leaves[ordinal].element.type, PHYSICAL.get(number)
            if expected is None or found == expected:
                continue
            actual = "of another type" if found is None else Type(found).name
        yield Violation(
            f"{file.name} deletes by column {name or number}, and has {'no column' if ordinal is None else 'one'} "
            f"{'of its id' if ordinal is None else f'of type {actual}'}",
            claim_field(file.file, deletes.place),
            expected=f"a column with the field id {number}"
            + (f" of type {PHYSICAL[number].name}" if number in PHYSICAL else ""),
            actual=actual,
            column=name or None,
            remedy=REMEDY if deletes.by_position else "",
        )


class DeletedPositions(FamilyValues["PositionFamily"]):
    """The rows of a position delete file: a part of the file."""

    def make(self) -> PositionFamily:
        """What they have to keep."""
        from pqassay_tables.values.position_deletes import PositionFamily  # noqa: PLC0415 - numpy, at this tier only

        return PositionFamily(self.file)


def _positions(file: FileUnderTest) -> list[DeletedPositions]:
    claims = file.claims
    if claims is None or claims.deletes is None or not claims.deletes.by_position:
        return []
    return [file.part(DeletedPositions)]


claiming_family(DeletedPositions, _positions)

POSITIONS: Subject[DeletedPositions] = Subject("position deletes of an Iceberg table", _positions)
"""The rows of a position delete file."""


@by_audit("ICE-045", "position_deletes.PositionFamily.compare", of=POSITIONS)
def deletes_are_of_the_file_that_is_named() -> None:
    """Readers look for deletes of other files elsewhere, and rows of these files come back."""


@by_audit("ICE-046", "position_deletes.PositionFamily.compare", of=POSITIONS)
def deleted_positions_are_those_of_rows() -> None:
    """The deletes are those of another file: rows that were to go remain."""


@by_audit("ICE-047", "position_deletes.PositionFamily.compare", of=POSITIONS)
def deletes_name_live_data_files() -> None:
    """Where the name is written in another way, rows that were to be deleted come back."""


@by_audit("ICE-048", "position_deletes.PositionFamily.compare", of=POSITIONS)
def deletes_are_sorted() -> None:
    """Readers that merge the deletes with the rows as they come leave some out."""
