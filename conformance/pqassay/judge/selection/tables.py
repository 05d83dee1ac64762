"""The tables among the targets: each is replaced by itself and its live data files; other files are counted.

A table's metadata are read here, before the tier is chosen. If they cannot be read, the verdict on the table says why.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from pqassay.errors import UsageError
from pqassay.judge.selection.only_files import NOT_LISTED, REPLACED, OnlyFiles, normal
from pqassay.judge.selection.since import Since
from pqassay.judge.table_reader import Live, LiveFile, reader_of
from pqassay.stores import kinds as file_kinds
from pqassay.stores.formats import formats
from pqassay.stores.table_files import TableAt
from pqassay.stores.targets import Found, Target
from pqassay.tables.claims import ClaimPlace, FileClaims
from pqassay_spec.rules.catalogue import DEFAULT_FILE

NOT_LIVE = "not in the table"
"""The reason why Parquet files in a table's folder are not judged."""

NOT_REACHABLE = "not reachable: it is outside of the folder of the table"


def has_tables(found: Found) -> bool:
    """Whether there are tables among the targets."""
    return any(target.is_table for target in found.targets)


def read_tables(found: Found) -> dict[TableAt, Live]:
    """The live files of every table.

    Raises:
        UsageError: A table does not have the requested state.
    """
    tables = (target.table for target in found.targets if target.is_table)
    return {table: reader_of(table.kind).live(table) for table in tables if table is not None}


def expanded(
    found: Found, live: dict[TableAt, Live], *, with_files: bool, only: OnlyFiles | None = None
) -> Found:
    """The targets, with the data files after their tables.

    Args:
        found: The targets, files and tables.
        live: The files of each table.
        with_files: Whether the data files are also judged; at tier ``meta`` they are not.
        only: The files to which the check is limited.
    """
    result = replace(found, targets=[])
    for target in found.targets:
        result.targets.append(target)
        if not target.is_table or target.table is None:
            continue
        of_table = live[target.table]
        if of_table.trouble:
            result.targets[-1] = replace(target, trouble=of_table.trouble)
            continue
        files = of_table.files if only is None else _limited(result, target.table, of_table, only)
        result.targets.extend(_targets(target.table, files, with_files=with_files))
        _count_others(result, target.table, of_table)
    return result


def _targets(table: TableAt, files: Iterable[LiveFile], *, with_files: bool) -> Iterator[Target]:
    light = table.light()
    for file in files:
        if file.path is None:
            yield Target(
                file.name, file.name, size=-1, trouble=NOT_REACHABLE, table=light, claims=_nothing(table)
            )
        elif with_files:
            try:
                size = table.size_of(file.path)
            except OSError:
                size = -1
            if size is not None:  # a missing file is a finding about the table
                yield Target(
                    light.name_of(file.path),
                    light.path_of(file.path),
                    table.store,
                    None if size < 0 else size,
                    table=light,
                    claims=file.claims(),
                )


def _limited(found: Found, table: TableAt, live: Live, only: OnlyFiles) -> list[LiveFile]:
    """The files of a table within a limited check: listed files, and files added since the list was written."""
    before = _live_before(table, only)
    kept: list[LiveFile] = []
    for file in live.files:
        name = file.name if file.path is None else table.name_of(file.path)
        if name in only or (before is not None and file.name not in before):
            kept.append(file)
        else:
            found.ignore(NOT_LISTED, name)
    names = {normal(table.name_of(file.path)) for file in live.files if file.path is not None}
    root = normal(table.name).rstrip("/")
    for path in sorted(only.paths - names):
        if path.startswith(f"{root}/"):
            found.ignore(REPLACED, path)
    return kept


def _live_before(table: TableAt, only: OnlyFiles) -> Collection[str] | None:
    """The files that were live when the list was written, as the table names them; empty if that state no longer exists.

    ``None`` if the list does not name the state: then the added files are unknown.
    """
    moment = only.moment_of(table.name, table.kind)
    if moment is None:
        return None
    try:
        return {file.name for file in reader_of(table.kind).live(replace(table, moment=moment)).files}
    except UsageError:
        return ()  # too old to read: every file is judged


def _nothing(table: TableAt) -> FileClaims:
    return FileClaims(table.kind, ClaimPlace("", 0, ()), "")


def _count_others(found: Found, table: TableAt, live: Live) -> None:
    """Count the files in a table's folder that do not belong to the table."""
    own = {file.path for file in live.files} | live.others | {file.path for file in live.older}
    for file in live.older:
        found.ignore(live.reason, file.name if file.path is None else table.name_of(file.path))
    metadata = tuple(f"{one.folder}/" for one in formats().values())
    for path in table.files():
        if path in own or path.startswith(metadata):
            continue
        name = path.rpartition("/")[2]
        kind = file_kinds.kind_of(name)
        if kind is not None and kind.name == DEFAULT_FILE:
            reason = NOT_LIVE
        elif name.startswith("."):
            reason = file_kinds.HIDDEN
        else:
            reason = NOT_LIVE if kind is None else kind.otherwise or NOT_LIVE
        found.ignore(reason, table.name_of(path))


def only_since(live: dict[TableAt, Live], since: Since) -> dict[TableAt, Live]:
    """The files of tables without older files, which are kept as `Live.older`.

    Raises:
        UsageError: A table no longer knows what was added since then.
    """
    states: dict[TableAt, Live] = {}
    for table, files in live.items():
        own = since.of(table)
        if own is None or files.trouble or not files.files:
            states[table] = files
            continue
        added = reader_of(table.kind).added(table, own)
        newer = [file for file in files.files if file.name in added]
        older = [file for file in files.files if file.name not in added]
        reason = f"in the table since before {own}" if own.time else f"in the table at {own}"
        states[table] = Live(newer, files.others, files.trouble, older, reason)
    return states


def version_of(table: TableAt) -> int | None:
    """The number of the judged state of a table, such as its version; ``None`` if it cannot be read."""
    try:
        return reader_of(table.kind).number(table)
    except Exception:  # noqa: BLE001 - the verdict on the table says why
        return None
