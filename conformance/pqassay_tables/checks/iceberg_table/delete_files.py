"""Checks of delete files: their columns, tier ``footer``, and the rows of position deletes, tier ``values``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from pqassay.checks import rule
from pqassay.checks.subjects import Subject
from pqassay.checks.value_rules import value_rule
from pqassay.tables.claims import DeletesClaims
from pqassay.under_test.fields import in_footer
from pqassay.under_test.file import Broken, FileUnderTest, NotApplicable, NotChecked, Remembered
from pqassay.under_test.violation import Violation
from pqassay.values.claims.joined_rows import JoinedRows
from pqassay.values.claims.outcomes import Outcome
from pqassay.values.claims.wording import others
from pqassay_spec.parquet.thrift import Type
from pqassay_spec.table import iceberg_field_ids as field_ids
from pqassay_spec.table.iceberg import DELETE_COLUMNS, DELETE_FILE_PATH, DELETE_POSITION
from pqassay_tables.checks.iceberg_table.deletes import REMEDY
from pqassay_tables.checks.table_values import ICEBERG_VALUES, ClaimedValues
from pqassay_tables.metadata import repairs
from pqassay_tables.under_test.claimed_columns import ClaimedFile
from pqassay_tables.under_test.iceberg_table import state_around
from pqassay_tables.under_test.states import scope_of
from pqassay_tables.under_test.table import claim_field

if TYPE_CHECKING:
    from pqassay.values.decoding.chunk_values import ChunkValues
    from pqassay_tables.values.position_deletes import DataFiles, Deletes, Half

PHYSICAL = {DELETE_FILE_PATH: Type.BYTE_ARRAY, DELETE_POSITION: Type.INT64}
"""The physical types of the columns of position deletes."""


def _delete_files(file: FileUnderTest) -> list[ClaimedFile]:
    if file.claims is None or file.claims.deletes is None:
        return []
    _ = file.metadata
    return [file.part(ClaimedFile)]


DELETE_FILE: Subject[ClaimedFile] = Subject("delete file of an Iceberg table", _delete_files)
"""A file of position deletes or equality deletes."""


@rule("ICE-044", of=DELETE_FILE)
def delete_files_have_their_columns(file: ClaimedFile) -> Iterator[Violation]:
    """Readers without these columns fail, or treat them as null and delete other rows."""
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
        message = (
            f"{file.name} deletes by column {name or number}, and has {'no column' if ordinal is None else 'one'} "
            f"{'of its id' if ordinal is None else f'of type {actual}'}"
        )
        place = deletes.place
        yield file.wrong(
            place,
            message,
            f"a column with the field id {number}"
            + (f" of type {PHYSICAL[number].name}" if number in PHYSICAL else ""),
            actual,
            remedy=REMEDY if deletes.by_position else "",
            column=name or None,
        )


# ------------------------------------------------------------------------------------------------ position deletes

COLUMNS, SCOPE = "ICE-044", "ICE-026"
"""The rules that a delete file has its columns, and that it applies to a data file."""

REWRITE, RESTORED = REMEDY, repairs.ICEBERG_BEFORE.text


class PositionDeletes:
    """The rows of a position delete file, with the table around it; a part of the file, created once for all rules about it."""

    def __init__(self, file: FileUnderTest) -> None:
        self._file = file
        self.owner = file.part(ClaimedFile)
        self._known: tuple[int, Deletes] | None = None

    @Remembered
    def claims(self) -> DeletesClaims:
        """The claims of the table about it. Raises `NotApplicable` for other files."""
        deletes = self.owner.claims.deletes
        if deletes is None or not deletes.by_position:
            raise NotApplicable
        return deletes

    @Remembered
    def columns(self) -> tuple[int, int]:
        """The positions of its two columns. Raises `NotChecked`."""
        ordinals: list[int] = []
        for field_id, name, _ in DELETE_COLUMNS:
            ordinal = self.owner.ordinal_of(field_id, (name,))
            if ordinal is None or self._file.leaves[ordinal].element.type != PHYSICAL[field_id]:
                raise Broken(COLUMNS)
            if self._file.leaves[ordinal].max_repetition_level:
                raise NotChecked(f"column {name} is in a list", "file")
            ordinals.append(ordinal)
        return ordinals[0], ordinals[1]

    @Remembered
    def data_files(self) -> DataFiles:
        """The data files of the table. Raises `NotChecked`."""
        from pqassay_tables.values.position_deletes import DataFiles  # noqa: PLC0415 - numpy, at this tier only

        state, place = state_around(self._file), self.claims.place
        for manifest in state.manifests:
            if manifest.name == place.file and place.entry < len(manifest.entries):
                return DataFiles(state, scope_of(state), manifest.entries[place.entry], self._file)
        raise NotChecked("the table has changed since its files were listed", "file", judgeable=False)

    @property
    def is_dead(self) -> bool:
        """Whether the deletes apply to no data file."""
        return bool(self.data_files.scope.why_dead(self.data_files.entry))

    def joined(self, group: int, taken: Mapping[int, Half]) -> Deletes:
        """The deletes of a row group, from its two columns. Raises `NotChecked`."""
        from pqassay_tables.values.position_deletes import joined  # noqa: PLC0415 - numpy, at this tier only

        if self._known is None or self._known[0] != group:
            paths, positions = self.columns
            self._known = group, joined(group, taken[paths], taken[positions])
        return self._known[1]


def _deletes_positions(values: ClaimedValues) -> bool:
    claims = values.file.claims
    return claims is not None and claims.deletes is not None and claims.deletes.by_position


class OfPositions(JoinedRows):
    """A rule about the rows of a position delete file."""

    def __init__(self, file: FileUnderTest, outcome: Outcome) -> None:
        super().__init__(file, outcome)
        self.deletes = file.part(PositionDeletes)
        outcome.applies = self.applies(self.deletes.claims)
        self.ordinals = frozenset(self.deletes.columns)
        self.data_files = self.deletes.data_files
        if not outcome.applies:
            self.ordinals = frozenset()

    def applies(self, claims: DeletesClaims) -> bool:
        """Whether the rule applies to such a file."""
        _ = claims
        return True

    def take(self, values: ChunkValues) -> Half:
        """The values, which are kept until the other column was read."""
        from pqassay_tables.values.position_deletes import half_of  # noqa: PLC0415 - numpy, at this tier only

        return half_of(values)

    def compare(self, group: int, taken: Mapping[int, Half]) -> Iterator[Violation]:
        """Compare the rows of a row group."""
        return self.broken(group, self.deletes.joined(group, taken))

    def broken(self, group: int, deletes: Deletes) -> Iterator[Violation]:
        """Yield the violations in the rows of a row group. Raises `NotChecked`."""
        raise NotImplementedError

    def false(
        self, group: int, row: int, message: str, expected: str, actual: str, column: int, remedy: str
    ) -> Violation:
        """The violation of a row."""
        ordinal, name = self.deletes.columns[column], ("file_path", "pos")[column]
        return Violation(
            f"row {row} of row group {group} of {self.deletes.owner.name} {message}",
            in_footer(self.file, f"row_groups[{group}].columns[{ordinal}]") / "meta_data",
            expected,
            actual,
            column=name,
            row_group=group,
            remedy=remedy,
        )


@value_rule("ICE-045", audited=ICEBERG_VALUES, only=_deletes_positions)
class DeletesAreOfTheFileThatIsNamed(OfPositions):
    """Readers look for deletes of other files elsewhere, so rows of these files reappear."""

    def applies(self, claims: DeletesClaims) -> bool:
        """Whether the table names the data file of the deletes."""
        return claims.named is not None

    def broken(self, group: int, deletes: Deletes) -> Iterator[Violation]:
        """Yield a violation if a row has another path."""
        named = str(self.deletes.claims.named)
        others_ = [raw != named.encode() for raw in deletes.paths]
        for row, path, more in deletes.first_of(others_):
            name = deletes.name(path)
            message = f"deletes a row of {name}, but its entry names {named}{more}"
            place = claim_field(self.file, self.data_files.entry.place(field_ids.REFERENCED_DATA_FILE))
            yield replace(self.false(group, row, message, named, name, 0, RESTORED), field=place)


@value_rule("ICE-046", audited=ICEBERG_VALUES, only=_deletes_positions)
class DeletedPositionsAreThoseOfRows(OfPositions):
    """The deletes belong to another file: deleted rows reappear."""

    def broken(self, group: int, deletes: Deletes) -> Iterator[Violation]:
        """Yield a violation if a row has no path, or no position of its data file."""
        if deletes.missing is not None:
            row, count = int(deletes.missing.argmax()), int(deletes.missing.sum())
            message, expected = f"has no file_path or no pos{others(count)}", "a data file and a position"
            yield self.false(group, row, message, expected, "null", 1, RESTORED)
        for row, path, number, limit, count in deletes.beyond(self.data_files):
            known = f", which has {limit} rows" if limit is not None else ""
            message = f"deletes row {number} of {deletes.name(path)}{known}{others(count)}"
            expected = "0 or more" if number < 0 else f"less than {limit}"
            yield self.false(group, row, message, expected, str(number), 1, RESTORED)


@value_rule("ICE-047", audited=ICEBERG_VALUES, only=_deletes_positions)
class DeletesNameLiveDataFiles(OfPositions):
    """If the path is written differently, deleted rows reappear."""

    def __init__(self, file: FileUnderTest, outcome: Outcome) -> None:
        super().__init__(file, outcome)
        if outcome.applies and self.deletes.is_dead:
            raise Broken(SCOPE)

    def applies(self, claims: DeletesClaims) -> bool:
        """Whether the table does not name the data file; if it does, another rule judges whether the deletes apply to it."""
        return claims.named is None

    def broken(self, group: int, deletes: Deletes) -> Iterator[Violation]:
        """Yield a violation if a path is not a data file to which the deletes apply."""
        why = [self.data_files.why_not(raw) for raw in deletes.paths]
        for row, path, more in deletes.first_of(list(map(bool, why))):
            name = deletes.name(path)
            message = f"deletes a row of {name}, {why[path]}{more}"
            yield self.false(group, row, message, "a live data file of its partition", name, 0, REWRITE)


@value_rule("ICE-048", audited=ICEBERG_VALUES, only=_deletes_positions)
class DeletesAreSorted(OfPositions):
    """Readers that merge deletes with rows in order miss some deletes."""

    _last: tuple[bytes, int] | None = None

    def lose(self) -> None:
        """Note that the row before the next row group is unknown."""
        self._last = None

    def broken(self, group: int, deletes: Deletes) -> Iterator[Violation]:
        """Yield a violation if a row belongs before the previous row, also across row groups."""
        if not len(deletes.rows):
            return
        falls, before = deletes.falls(), self._last
        count = int(falls.sum())
        if before is not None and deletes.at(0) < before:
            yield self._unsorted(group, int(deletes.rows[0]), before, deletes.at(0), 1 + count)
        elif count:
            place = int(falls.argmax())
            row = int(deletes.rows[place + 1])
            yield self._unsorted(group, row, deletes.at(place), deletes.at(place + 1), count)
        self._last = deletes.at(len(deletes.rows) - 1)

    def _unsorted(
        self, group: int, row: int, before: tuple[bytes, int], after: tuple[bytes, int], count: int
    ) -> Violation:
        from pqassay_tables.values.position_deletes import shown_path  # noqa: PLC0415 - numpy, at this tier only

        expected = "deletes that are sorted by file_path, then by pos"
        if before[0] != after[0]:
            one, other = shown_path(before[0]), shown_path(after[0])
            message = f"deletes a row of {other} after a row of {one}{others(count)}"
            return self.false(group, row, message, expected, f"{one} before {other}", 0, REWRITE)
        message = f"deletes row {after[1]} after row {before[1]} of the same file{others(count)}"
        return self.false(group, row, message, expected, f"{before[1]} before {after[1]}", 1, REWRITE)
