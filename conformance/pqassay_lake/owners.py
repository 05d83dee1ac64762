"""The owners of files of tables, who receive the findings about them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from pqassay.errors import UsageError
from pqassay.report.model import Finding
from pqassay.stores.table_files import TableAt
from pqassay.stores.targets import Target, find
from pqassay_spec.base.errors import FormatError
from pqassay_spec.table import iceberg_field_ids as field_ids
from pqassay_tables.metadata.delta.commits import FileOwners, owner_in_log, owners_in_log
from pqassay_tables.metadata.iceberg.metadata import Json, NotKnownError
from pqassay_tables.metadata.iceberg.state import ElsewhereError
from pqassay_tables.metadata.owner import Owner, owner_of_snapshot
from pqassay_tables.under_test.states import iceberg_state

NOT_LISTED = "the table does not list it"
AS_A_WHOLE = "it is about the table as a whole"
EXPIRED = "the snapshot that added it has expired"


def owner_of(table: str, file: str) -> Owner:
    """The owner of a data file: the writer that added it to a table.

    Args:
        table: The folder or URI of a Delta or Iceberg table.
        file: The file, relative to the table, or by its name in a report.

    Returns:
        The owner in the commit that added the file; if unknown, `Owner.reason` says why.

    Raises:
        UsageError: There is no such table.
    """
    targets = find([table]).targets
    place = targets[0].table if len(targets) == 1 and targets[0].is_table else None
    if place is None:
        raise UsageError(f"{table} is neither a Delta nor an Iceberg table")
    relative = file.removeprefix(f"{place.name.rstrip('/')}/")
    return owners_in(place, [relative])[relative].wrote


def owners_in(table: TableAt, paths: Collection[str]) -> dict[str, FileOwners]:
    """The owners of some data files of a table; if the table cannot be read, the reason says so.

    Args:
        table: The table.
        paths: The data files, relative to it.
    """
    try:
        if table.kind == "delta":
            return owners_in_log(table, paths, table.moment.version)
        return _in_snapshots(table, paths)
    except (FormatError, NotKnownError, ElsewhereError, OSError) as error:
        unknown = Owner(reason=f"the table cannot be read: {error}")
        return {path: FileOwners(unknown, unknown) for path in paths}


class Owners:
    """The owners of findings in the files of a check.

    Within `pqassay.tables.kept.kept_states`, an Iceberg table is read once for all of them.

    Args:
        targets: The judged targets.
        names: The files of the report whose owners are needed.
    """

    def __init__(self, targets: Iterable[Target], names: Collection[str]) -> None:
        asked = set(names)
        self._tables: dict[str, TableAt] = {}
        self._of_files: dict[str, FileOwners] = {}
        paths: dict[TableAt, dict[str, str]] = {}
        full: dict[TableAt, TableAt] = {}
        for target in targets:
            if target.table is None:
                continue
            if target.is_table:
                self._tables[target.name] = full[target.table.light()] = target.table
            elif target.name in asked:
                inside = target.path.removeprefix(target.table.path_of(""))
                paths.setdefault(target.table.light(), {})[inside] = target.name
        for table, names_of in paths.items():
            owners = owners_in(full.get(table, table), names_of)
            self._of_files.update({names_of[path]: owner for path, owner in owners.items()})

    def of_file(self, name: str) -> Owner | None:
        """The owner that added a file to its table; ``None`` for a file outside tables."""
        found = self._of_files.get(name)
        return None if found is None else found.wrote

    def of_finding(self, finding: Finding) -> Owner | None:
        """The owner of a finding: the writer of the file, or of the table's entry if that is wrong.

        ``None`` for a finding without a table.
        """
        file = finding.at[0].file
        if (table := self._tables.get(finding.path)) is not None:
            return Owner(reason=AS_A_WHOLE) if file is None else owner_of_metadata(table, file)
        found = self._of_files.get(finding.path)
        if found is None:
            return None
        return found.wrote if file is None else found.claimed


def owner_of_metadata(table: TableAt, file: str) -> Owner:
    """The writer of a metadata file of a table, who owns findings about the table itself.

    Args:
        table: The table.
        file: The file, relative to the table, or by its name in a report.
    """
    file = file.removeprefix(f"{table.name.rstrip('/')}/")
    try:
        if table.kind == "delta":
            return owner_in_log(table, file)
        state = iceberg_state(table)
        snapshot = state.snapshot_id if file in (state.file, state.list_file) else None
        for manifest in state.manifests:
            if manifest.name == file:
                snapshot = manifest.listed.value(field_ids.ADDED_SNAPSHOT_ID)
        return Owner(reason=NOT_LISTED) if snapshot is None else _in_snapshot(state.kept, snapshot)
    except (FormatError, NotKnownError, ElsewhereError, OSError) as error:
        return Owner(reason=f"the table cannot be read: {error}")


def _in_snapshot(kept: Mapping[Any, Json], snapshot: int | None) -> Owner:
    if snapshot in kept:
        return owner_of_snapshot(kept[snapshot])
    return Owner(str(snapshot or ""), reason=EXPIRED)


def _in_snapshots(table: TableAt, paths: Collection[str]) -> dict[str, FileOwners]:
    state = iceberg_state(table)
    kept = state.kept
    wanted = set(paths)
    unknown = Owner(reason=NOT_LISTED)
    found = dict.fromkeys(paths, FileOwners(unknown, unknown))
    for entry in state.entries:
        if entry.inside in wanted:
            owner = _in_snapshot(kept, entry.snapshot)
            found[entry.inside] = FileOwners(owner, owner)
    return found
