"""The files that were added to tables since a version, a snapshot or a time: those alone are judged, and their tables."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import unquote

from pqassay.errors import UsageError
from pqassay.judge.selection.tables import Live
from pqassay.stores.table_files import TableAt
from pqassay.tables.delta.actions import Json, actions
from pqassay.tables.iceberg.state import IcebergState
from pqassay.under_test.tables.states import delta_state, iceberg_state
from pqassay_spec.base.errors import FormatError
from pqassay_spec.table.layout import DELTA_LOG, commit_name, delta_commit

_NUMBER = re.compile(r"-?\d{1,19}", re.ASCII)
"""Versions and ids of snapshots; times have other characters in them."""


@dataclass(frozen=True)
class Since:
    """From when on files are judged.

    Attributes:
        number: A version of Delta tables, or the id of a snapshot of Iceberg tables: files that came after it.
        time: A time: files that were committed after it.
        by_table: A number for each table, by the name that reports have for it; tables that are not in it are judged whole.
    """

    number: int | None = None
    time: dt.datetime | None = None
    by_table: Mapping[str, int] | None = None

    def of(self, table: TableAt) -> Since | None:
        """The same for one table; ``None`` if all of it is judged."""
        if self.by_table is None:
            return self
        number = self.by_table.get(table.name)
        return None if number is None else Since(number)

    def __str__(self) -> str:
        if self.time is not None:
            return f"{self.time:%Y-%m-%d %H:%M:%S}Z"
        return "the last run" if self.number is None else str(self.number)


def parse_since(text: str) -> Since:
    """What ``--since`` means: a number, or a time as in ISO 8601, of UTC where it does not say of where.

    Raises:
        UsageError: Neither.

    >>> parse_since("12").number, parse_since("2026-11-20").time.hour
    (12, 0)
    """
    if _NUMBER.fullmatch(text):
        return Since(int(text))
    try:
        time = dt.datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"{text!r} is no version, no id of a snapshot and no time such as 2026-11-20 or 2026-11-20T03:00Z"
        ) from None
    return Since(time=time if time.tzinfo is not None else time.replace(tzinfo=dt.UTC))


def only_since(live: dict[TableAt, Live], since: Since) -> dict[TableAt, Live]:
    """The files of tables without those that were there before; these are kept as `Live.older`.

    Raises:
        UsageError: A table does not know any more what came since then.
    """
    found: dict[TableAt, Live] = {}
    for table, files in live.items():
        own = since.of(table)
        if own is None or files.trouble or not files.files:
            found[table] = files
            continue
        added = _added_to_delta(table, own) if table.kind == "delta" else _added_to_iceberg(table, own)
        newer = [file for file in files.files if file.name in added]
        older = [file for file in files.files if file.name not in added]
        reason = f"in the table since before {own}" if own.time else f"in the table at {own}"
        found[table] = Live(newer, files.others, files.trouble, older, reason)
    return found


def version_of(table: TableAt) -> int | None:
    """The version of a Delta table, or the id of the snapshot, that is judged; ``None`` where it cannot be read."""
    try:
        if table.kind == "delta":
            return delta_state(table).segment.version
        state = iceberg_state(table)
    except Exception:  # noqa: BLE001 - the verdict on the table says why
        return None
    return None if state.snapshot is None else state.snapshot_id


# ------------------------------------------------------------------------------------------------------ Delta


def _added_to_delta(table: TableAt, since: Since) -> set[str]:
    """The files that commits after a moment add, as the log names them."""
    current = delta_state(table).segment.version
    commits = {
        number
        for name in table.listed(DELTA_LOG)
        if (number := delta_commit(name)) is not None and number <= current
    }
    if since.number is not None and since.number > current:
        raise UsageError(f"{table.name}: --since {since.number} is after version {current}, which is judged")
    added: set[str] = set()
    for number in range(current, -1, -1):
        if since.number is not None and number <= since.number:
            return added
        if number not in commits:
            raise UsageError(
                f"{table.name}: the log does not have {commit_name(number)} any more, so that nobody can tell what was "
                f"added since {since}; leave out --since to judge all of the table"
            )
        lines = _actions(table, number)
        at = _time_of(lines)
        if since.time is not None and at is not None and at <= since.time:
            return added
        for action in lines:
            add = action.get("add")
            if isinstance(add, dict) and isinstance(path := cast("Json", add).get("path"), str):
                added.add(unquote(path))
    return added


def _actions(table: TableAt, number: int) -> list[Json]:
    file = f"{DELTA_LOG}/{commit_name(number)}"
    try:
        return [action for _, action in actions(file, table.read(file))]
    except FormatError as error:
        raise UsageError(f"{table.name}: what was added cannot be told: {error}") from None


def _time_of(lines: list[Json]) -> dt.datetime | None:
    """When a commit was made; ``None`` where it does not say it, so that it counts as new."""
    for action in lines:
        info: Any = action.get("commitInfo")
        if isinstance(info, dict):
            members = cast("Json", info)
            return _moment(members.get("inCommitTimestamp", members.get("timestamp")))
    return None


def _moment(milliseconds: Any) -> dt.datetime | None:
    if not isinstance(milliseconds, int) or not 0 <= milliseconds < 1 << 47:
        return None
    return dt.datetime.fromtimestamp(milliseconds / 1000, dt.UTC)


# ---------------------------------------------------------------------------------------------------- Iceberg


def _added_to_iceberg(table: TableAt, since: Since) -> set[str]:
    """The files that snapshots after a moment added, as the manifests name them."""
    state = iceberg_state(table)
    new, is_known = _snapshots_since(table, state, since)
    return {
        entry.path
        for entry in state.entries
        if entry.snapshot in new or (entry.snapshot not in is_known and since.time is not None)
    }


def _snapshots_since(table: TableAt, state: IcebergState, since: Since) -> tuple[set[int], set[int]]:
    """The snapshots after a moment, and those of which that is known either way."""
    given: Any = state.metadata.get("snapshots")
    kept: dict[Any, Json] = {
        cast("Json", one).get("snapshot-id"): cast("Json", one)
        for one in (given if isinstance(given, list) else [])
        if isinstance(one, dict)
    }
    if since.time is not None:
        new = {
            number
            for number, one in kept.items()
            if (at := _moment(one.get("timestamp-ms"))) is None or at > since.time
        }
        if len(new) < len(kept):
            # Snapshots expire from the oldest on: what is not kept came before one that is old already.
            return new, {*kept, *(entry.snapshot for entry in state.entries if entry.snapshot is not None)}
        return new, set(kept)
    new = set[int]()
    number: Any = state.snapshot_id
    while number != since.number:
        one = kept.get(number)
        if one is None or number in new:
            raise UsageError(
                f"{table.name}: snapshot {since.number} is not among those that led to the current one, as far as they are "
                "kept; leave out --since to judge all of the table, or give a time"
            )
        new.add(number)
        number = one.get("parent-snapshot-id")
    return new, set(kept)
