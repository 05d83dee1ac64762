"""Tables among the targets: each becomes itself and the data files that are live in it; other files are counted.

What a table's metadata say is read here, before the tier is chosen; where they cannot be read, the verdict on the table says why.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from pqassay.errors import UsageError
from pqassay.judge.selection.only_files import NOT_LISTED, REPLACED, OnlyFiles, normal
from pqassay.stores import kinds as file_kinds
from pqassay.stores.table_files import TableAt
from pqassay.stores.targets import Found, Target
from pqassay.tables.claims import DeletedRows, FileClaims, Place
from pqassay.tables.delta.segment import NoVersionError
from pqassay.tables.delta.statistics import claims_of
from pqassay.tables.delta.vectors import deleted_rows
from pqassay.tables.iceberg.entry_claims import claims_of as iceberg_claims
from pqassay.tables.iceberg.metadata import NotKnownError
from pqassay.tables.iceberg.state import PARQUET, ElsewhereError
from pqassay.under_test.tables.states import delta_state, iceberg_state
from pqassay_spec.base.errors import FormatError
from pqassay_spec.rules.catalogue import DEFAULT_FILE
from pqassay_spec.table.layout import DELTA_LOG, ICEBERG_METADATA, TableKind

NOT_LIVE = "not in the table"
"""Why Parquet files below a table are not judged."""

NOT_REACHABLE = "not reachable: it is outside of the folder of the table"

METADATA_FOLDERS = (f"{DELTA_LOG}/", f"{ICEBERG_METADATA}/")


@dataclass
class LiveFile:
    """A file that a table names.

    Attributes:
        path: The file, relative to the table; ``None`` where it is elsewhere.
        name: The file as the table names it.
        claims: Makes what the table says of it.
    """

    path: str | None
    name: str
    claims: Callable[[], FileClaims]


@dataclass
class Live:
    """The files of a table.

    Attributes:
        files: Its data files.
        others: Further files that belong to it, such as deletion vectors, relative to it.
        trouble: Why they are not known, where the table's own verdict does not say it.
        older: Data files that are live and not judged, since only what is new is.
        reason: Why they are not.
    """

    files: Sequence[LiveFile] = ()
    others: set[str] = field(default_factory=set[str])
    trouble: str = ""
    older: Sequence[LiveFile] = ()
    reason: str = ""


def has_tables(found: Found) -> bool:
    """Whether there are tables among the targets."""
    return any(target.is_table for target in found.targets)


def read_tables(found: Found) -> dict[TableAt, Live]:
    """The files of every table.

    Raises:
        UsageError: A table does not have the state that was asked for.
    """
    tables = (target.table for target in found.targets if target.is_table)
    return {table: _READERS[table.kind](table) for table in tables if table is not None}


def expanded(
    found: Found, live: dict[TableAt, Live], *, with_files: bool, only: OnlyFiles | None = None
) -> Found:
    """Targets in which the data files follow their tables.

    Args:
        found: The targets, files and tables.
        live: The files of each table.
        with_files: Whether the data files are judged, too; at tier ``meta`` they are not.
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
            if size is not None:  # that it is missing is a finding about the table
                yield Target(
                    light.name_of(file.path),
                    light.path_of(file.path),
                    table.store,
                    None if size < 0 else size,
                    table=light,
                    claims=file.claims(),
                )


def _limited(found: Found, table: TableAt, live: Live, only: OnlyFiles) -> list[LiveFile]:
    """The files of a table to which a check is limited: those on the list, and those that came since it was written."""
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
    """The files that were live when the list was written, as the table names them; none of them where that state is gone.

    ``None`` where the list does not say which state it was: then nobody knows what came since.
    """
    moment = only.moment_of(table.name, table.kind)
    if moment is None:
        return None
    try:
        return {file.name for file in _READERS[table.kind](replace(table, moment=moment)).files}
    except UsageError:
        return ()  # too old to be read: every file is looked at


def _nothing(table: TableAt) -> FileClaims:
    return FileClaims(table.kind, Place("", 0, ()), "")


def _count_others(found: Found, table: TableAt, live: Live) -> None:
    """Count the files below a table that do not belong to it."""
    own = {file.path for file in live.files} | live.others | {file.path for file in live.older}
    for file in live.older:
        found.ignore(live.reason, file.name if file.path is None else table.name_of(file.path))
    for path in table.files():
        if path in own or path.startswith(METADATA_FOLDERS):
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


# ---------------------------------------------------------------------------------------------------- the formats


def _of_delta(table: TableAt) -> Live:
    if table.moment.ref is not None or (table.moment.snapshot is not None and table.moment.version is None):
        raise UsageError(f"{table.name} is a Delta table: its states are versions, such as 12")
    try:
        state = delta_state(table)
    except NoVersionError as error:
        raise UsageError(f"{table.name}: {error}") from None
    except (FormatError, OSError):
        return Live()  # the verdict on the table says why
    others = {
        table.inside(rows.file) or ""
        for entry in state.entries
        if "deletionVector" in entry.action and isinstance(rows := deleted_rows(entry), DeletedRows)
    }
    return Live(
        [LiveFile(entry.inside, entry.path, partial(claims_of, state, entry)) for entry in state.entries],
        others,
    )


def _of_iceberg(table: TableAt) -> Live:
    if table.moment.version is not None and table.moment.snapshot is None:
        raise UsageError(f"{table.name} is an Iceberg table: its states are snapshots, branches and tags")
    try:
        state = iceberg_state(table)
    except NotKnownError as error:
        if table.moment.snapshot is None and table.moment.ref is None:
            return Live(trouble=str(error))
        raise UsageError(f"{table.name}: {error}") from None
    except ElsewhereError as error:
        return Live(trouble=str(error))
    except (FormatError, OSError):
        return Live()  # the verdict on the table says why
    files = [entry for entry in state.entries if entry.format == PARQUET]
    live = dict.fromkeys(entry.path for entry in files)
    others = {entry.inside for entry in state.entries if entry.format != PARQUET and entry.inside is not None}
    first = {
        entry.path: entry for entry in reversed(files)
    }  # that a file is listed twice is a finding about the table
    return Live(
        [LiveFile(first[path].inside, path, partial(iceberg_claims, state, first[path])) for path in live],
        others,
    )


_READERS: dict[TableKind, Callable[[TableAt], Live]] = {"delta": _of_delta, "iceberg": _of_iceberg}
