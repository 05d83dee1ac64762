"""The owners of files of tables: whom a finding about a file is for."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, cast

from pqassay.errors import UsageError
from pqassay.lake.table_files import TableAt
from pqassay.lake.targets import Target, find
from pqassay.tables.delta.commits import FileOwners, owner_in_log, owners_in_log
from pqassay.tables.iceberg.metadata import Json, NotKnownError
from pqassay.tables.iceberg.state import ElsewhereError, IcebergState
from pqassay.tables.owner import Owner, owner_of_snapshot
from pqassay.under_test.tables.iceberg_table import iceberg_state
from pqassay_spec.base.errors import FormatError
from pqassay_spec.table import iceberg_field_ids as field_ids

NOT_LISTED = "the table does not list it"
EXPIRED = "the snapshot that added it has expired"


def owner_of(table: str, file: str) -> Owner:
    """Who added a file to a table.

    Args:
        table: The folder or URI of a Delta or Iceberg table.
        file: The file, relative to the table, or as a report names it.

    Returns:
        What the commit says that added it; where none is found, `Owner.reason` says why.

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
    """The owners of some data files of a table; where the table cannot be read, the reason says so.

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


def owners_of_targets(targets: Collection[Target], names: Collection[str]) -> dict[str, FileOwners]:
    """The owners of some of the targets of a check, by the names that its report has.

    Args:
        targets: The targets.
        names: Those of the files that are asked for.
    """
    wanted = set(names)
    tables: dict[TableAt, dict[str, str]] = {}
    full: dict[TableAt, TableAt] = {}
    for target in targets:
        if target.table is not None and target.is_table:
            full[target.table.light()] = target.table
        elif target.table is not None and target.name in wanted:
            prefix = target.table.path_of("")
            tables.setdefault(target.table.light(), {})[target.path.removeprefix(prefix)] = target.name
    found: dict[str, FileOwners] = {}
    for table, paths in tables.items():
        owners = owners_in(full.get(table, table), paths)
        found.update({paths[path]: owner for path, owner in owners.items()})
    return found


def owner_of_metadata(table: TableAt, file: str) -> Owner:
    """Who wrote a file of a table's metadata: whom a finding about the table itself is for.

    Args:
        table: The table.
        file: The file, relative to the table.
    """
    try:
        if table.kind == "delta":
            return owner_in_log(table, file)
        state = iceberg_state(table)
        snapshot = state.snapshot_id if file in (state.file, state.list_file) else None
        for manifest in state.manifests:
            if manifest.name == file:
                snapshot = manifest.listed.value(field_ids.ADDED_SNAPSHOT_ID)
        return Owner(reason=NOT_LISTED) if snapshot is None else _in_snapshot(_snapshots(state), snapshot)
    except (FormatError, NotKnownError, ElsewhereError, OSError) as error:
        return Owner(reason=f"the table cannot be read: {error}")


def _snapshots(state: IcebergState) -> Mapping[Any, Any]:
    """The snapshots that the metadata keep, by their ids."""
    given: Any = state.metadata.get("snapshots")
    snapshots = cast("list[Any]", given) if isinstance(given, list) else []
    return {cast("Json", one).get("snapshot-id"): one for one in snapshots if isinstance(one, dict)}


def _in_snapshot(kept: Mapping[Any, Any], snapshot: int | None) -> Owner:
    if snapshot in kept:
        return owner_of_snapshot(kept[snapshot])
    return Owner(str(snapshot or ""), reason=EXPIRED)


def _in_snapshots(table: TableAt, paths: Collection[str]) -> dict[str, FileOwners]:
    state = iceberg_state(table)
    kept = _snapshots(state)
    wanted = set(paths)
    unknown = Owner(reason=NOT_LISTED)
    found = dict.fromkeys(paths, FileOwners(unknown, unknown))
    for entry in state.entries:
        if entry.inside in wanted:
            owner = _in_snapshot(kept, entry.snapshot)
            found[entry.inside] = FileOwners(owner, owner)
    return found
