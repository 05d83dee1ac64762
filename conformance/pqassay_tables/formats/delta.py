"""The reader of Delta tables, see `pqassay.judge.table_reader.TableReader`."""

from __future__ import annotations

import datetime as dt
from functools import partial
from typing import Any, cast
from urllib.parse import unquote

from pqassay.errors import UsageError
from pqassay.judge.selection.since import Since
from pqassay.judge.table_reader import Live, LiveFile
from pqassay.stores.formats import Moment
from pqassay.stores.table_files import TableAt
from pqassay.tables.claims import DeletedRows, FileClaims
from pqassay.under_test.file import FileUnderTest
from pqassay_spec.base.errors import FormatError
from pqassay_spec.table.layout import DELTA_LOG, commit_name, delta_commit
from pqassay_tables.formats.commit_time import time_in
from pqassay_tables.metadata import repairs
from pqassay_tables.metadata.delta.actions import Json, actions
from pqassay_tables.metadata.delta.segment import NoVersionError
from pqassay_tables.metadata.delta.statistics import claims_of
from pqassay_tables.metadata.delta.vectors import deleted_rows
from pqassay_tables.under_test.states import delta_state
from pqassay_tables.under_test.table import DeltaTable


class DeltaReader:
    """The `TableReader` for Delta."""

    def live(self, table: TableAt) -> Live:
        """See `TableReader`."""
        if table.moment.version is None and (table.moment.snapshot, table.moment.ref) != (None, None):
            raise UsageError(f"{table.name} is a Delta table: give a version, such as 12")
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

    def added(self, table: TableAt, since: Since) -> set[str]:
        """The files that commits after a moment add; see `TableReader`."""
        current = delta_state(table).segment.version
        commits = {
            number
            for name in table.listed(DELTA_LOG)
            if (number := delta_commit(name)) is not None and number <= current
        }
        if since.number is not None and since.number > current:
            raise UsageError(
                f"{table.name}: --since {since.number} is after version {current}, which is judged"
            )
        added: set[str] = set()
        for number in range(current, -1, -1):
            if since.number is not None and number <= since.number:
                return added
            if number not in commits:
                raise UsageError(
                    f"{table.name}: the log no longer has {commit_name(number)}, so pqassay cannot tell which files were "
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

    def number(self, table: TableAt) -> int | None:
        """The version; see `TableReader`."""
        return delta_state(table).segment.version

    def moment(self, number: int) -> Moment:
        """See `TableReader`."""
        return Moment(version=number)

    def view(self, file: FileUnderTest) -> DeltaTable:
        """See `TableReader`."""
        return file.part(DeltaTable)

    def remedy_of(self, rule_id: str, remedy: str) -> str:
        """See `TableReader`."""
        return repairs.remedy_of(rule_id, remedy)

    def rewriting(self, _: FileClaims) -> str:
        """See `TableReader`."""
        return repairs.DELTA_FILE.text


DELTA = DeltaReader()


def _actions(table: TableAt, number: int) -> list[Json]:
    file = f"{DELTA_LOG}/{commit_name(number)}"
    try:
        return [action for _, action in actions(file, table.read(file))]
    except FormatError as error:
        raise UsageError(f"{table.name}: the added files are unknown: {error}") from None


def _time_of(lines: list[Json]) -> dt.datetime | None:
    """The time of a commit; ``None`` if it is missing, so that the commit counts as new."""
    for action in lines:
        info: Any = action.get("commitInfo")
        if isinstance(info, dict):
            members = cast("Json", info)
            return time_in(members.get("inCommitTimestamp", members.get("timestamp")))
    return None
