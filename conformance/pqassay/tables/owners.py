"""Who wrote a file of a table: what the commit says that added it, of its user, its job, its engine and its query.

Neither format demands any of this.  Engines write what they like under names of their own; those that are known are read here, and
what is not said is not guessed: a file whose commit is not in the log any more has no owner.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, cast

from pqassay.tables.delta.actions import Json, actions
from pqassay.tables.delta.state import AddEntry
from pqassay.tables.files import TableFiles
from pqassay.tables.iceberg.manifests import Entry
from pqassay.tables.iceberg.state import IcebergState
from pqassay_spec.base.errors import FormatError
from pqassay_spec.table import iceberg_field_ids as field_ids
from pqassay_spec.table.iceberg import ADDED
from pqassay_spec.table.layout import DELTA_LOG, delta_commit


class Owner(NamedTuple):
    """Who wrote a file, as its table says; what it does not say is empty.

    Attributes:
        user: The person or account.
        job: The job or application.
        engine: The software.
        query: The query or run.
    """

    user: str = ""
    job: str = ""
    engine: str = ""
    query: str = ""

    @property
    def line(self) -> str:
        """All of it in one line.

        >>> Owner(job="load prices", engine="Spark 4.1.4").line
        'job load prices, by Spark 4.1.4'
        """
        parts = ((self.user, ""), (self.job, "job "), (self.engine, "by "), (self.query, "query "))
        return ", ".join(f"{word}{value}" for value, word in parts if value)


USER = ("userName", "userId", "user", "owner")
JOB = (
    "jobName",
    "job",
    "jobId",
    "notebook",
    "spark.app.name",
    "app-name",
    "spark.app.id",
    "app-id",
    "flink.job-id",
)
ENGINE = ("engineInfo", "engine-name", "clientVersion", "iceberg-version")
QUERY = ("queryId", "trino_query_id", "query-id", "runId", "txnId")
"""Names of members of a Delta ``commitInfo`` and of the summary of an Iceberg snapshot, the most telling first."""

OF_JOB = ("jobName", "jobId", "notebookId")
"""Members of a job that is an object."""

ENGINE_VERSION = "engine-version"


def owner_of(said: Mapping[str, Any]) -> Owner:
    """The owner that a ``commitInfo`` or the summary of a snapshot names.

    >>> owner_of({"job": {"jobName": "load prices"}, "engineInfo": "delta-rs:py-1.6.6"})
    Owner(user='', job='load prices', engine='delta-rs:py-1.6.6', query='')
    """
    engine = _first(said, ENGINE)
    if version := said.get(ENGINE_VERSION):
        engine = f"{engine} {version}".strip()
    return Owner(_first(said, USER), _first(said, JOB), engine, _first(said, QUERY))


def _first(said: Mapping[str, Any], names: Iterable[str]) -> str:
    for name in names:
        given = said.get(name)
        if isinstance(given, dict):
            given = _first(cast("Json", given), OF_JOB)
        if isinstance(given, (str, int)) and str(given):
            return " ".join(str(given).split())[:200]
    return ""


class DeltaOwners:
    """Owners of the files of a Delta table. Commits are read once each, when they are asked for."""

    def __init__(self, files: TableFiles) -> None:
        self._files = files
        self._found: dict[str, Owner | None] = {}

    def of(self, entry: AddEntry) -> Owner | None:
        """The owner of a live file; ``None`` where the log does not say it."""
        if entry.file not in self._found:
            self._found[entry.file] = self._of_commit(entry.file)
        return self._found[entry.file]

    def _of_commit(self, name: str) -> Owner | None:
        if delta_commit(name.removeprefix(f"{DELTA_LOG}/")) is None:
            return None  # of a checkpoint, which tells who wrote nothing
        try:
            for _, action in actions(name, self._files.read(name)):
                info: Any = action.get("commitInfo")
                if isinstance(info, dict):
                    return owner_of(cast("Json", info))
        except (FormatError, OSError):
            return None
        return None


def iceberg_owner(state: IcebergState, entry: Entry) -> Owner | None:
    """The owner of a live file of an Iceberg table; ``None`` where the snapshot that added it is gone, or says nothing."""
    if entry.status != ADDED:
        return None
    identifier = entry.manifest.listed.value(field_ids.ADDED_SNAPSHOT_ID)
    snapshots: Any = state.metadata.get("snapshots") or []
    for snapshot in snapshots:
        if isinstance(snapshot, dict) and cast("Json", snapshot).get("snapshot-id") == identifier:
            summary: Any = cast("Json", snapshot).get("summary")
            return owner_of(cast("Json", summary)) if isinstance(summary, dict) else None
    return None
