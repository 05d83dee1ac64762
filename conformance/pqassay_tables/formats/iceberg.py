"""The reader of Iceberg tables, see `pqassay.judge.table_reader.TableReader`."""

from __future__ import annotations

from functools import partial
from typing import Any

from pqassay.errors import UsageError
from pqassay.judge.selection.since import Since
from pqassay.judge.table_reader import Live, LiveFile
from pqassay.stores.formats import Moment
from pqassay.stores.table_files import TableAt
from pqassay.tables.claims import FileClaims
from pqassay.under_test.file import FileUnderTest
from pqassay_spec.base.errors import FormatError
from pqassay_tables.formats.commit_time import time_in
from pqassay_tables.metadata import repairs
from pqassay_tables.metadata.iceberg.entry_claims import claims_of
from pqassay_tables.metadata.iceberg.metadata import NotKnownError
from pqassay_tables.metadata.iceberg.state import PARQUET, ElsewhereError, IcebergState
from pqassay_tables.under_test.iceberg_table import IcebergTable
from pqassay_tables.under_test.states import iceberg_state


class IcebergReader:
    """The `TableReader` for Iceberg."""

    def live(self, table: TableAt) -> Live:
        """See `TableReader`."""
        if table.moment.version is not None and table.moment.snapshot is None:
            raise UsageError(f"{table.name} is an Iceberg table: give a snapshot, branch or tag")
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
        others = {
            entry.inside for entry in state.entries if entry.format != PARQUET and entry.inside is not None
        }
        first = {
            entry.path: entry for entry in reversed(files)
        }  # a file that is listed twice is a finding about the table
        return Live(
            [LiveFile(first[path].inside, path, partial(claims_of, state, first[path])) for path in live],
            others,
        )

    def added(self, table: TableAt, since: Since) -> set[str]:
        """The files that snapshots after a moment added; see `TableReader`."""
        state = iceberg_state(table)
        new, is_known = _snapshots_since(table, state, since)
        return {
            entry.path
            for entry in state.entries
            if entry.snapshot in new or (entry.snapshot not in is_known and since.time is not None)
        }

    def number(self, table: TableAt) -> int | None:
        """The id of the snapshot; see `TableReader`."""
        state = iceberg_state(table)
        return None if state.snapshot is None else state.snapshot_id

    def moment(self, number: int) -> Moment:
        """See `TableReader`."""
        return Moment(snapshot=number)

    def view(self, file: FileUnderTest) -> IcebergTable:
        """See `TableReader`."""
        return file.part(IcebergTable)

    def remedy_of(self, rule_id: str, remedy: str) -> str:
        """See `TableReader`."""
        return repairs.remedy_of(rule_id, remedy)

    def rewriting(self, claims: FileClaims) -> str:
        """See `TableReader`."""
        return (repairs.ICEBERG_FILE if claims.deletes is None else repairs.ICEBERG_POSITIONS).text


ICEBERG = IcebergReader()


def _snapshots_since(table: TableAt, state: IcebergState, since: Since) -> tuple[set[int], set[int]]:
    """The snapshots after a moment, and the snapshots for which it is known whether they are after it."""
    kept = state.kept
    if since.time is not None:
        new = {
            number
            for number, one in kept.items()
            if (at := time_in(one.get("timestamp-ms"))) is None or at > since.time
        }
        if len(new) < len(kept):
            # The oldest snapshots expire first, so a missing snapshot is older than one that is already old.
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
