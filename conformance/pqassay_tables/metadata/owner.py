"""The owner of a file of a table: the job, engine, user and query in the commit that added the file.

Delta writers describe a commit in its ``commitInfo`` action, Iceberg writers in the summary of the snapshot.
The formats require none of this, so every member may be missing. Engines use different names; the common ones
are listed here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pqassay_tables.metadata.delta.actions import object_of

UNKNOWN = "unknown"
"""The name of an unknown owner."""

MOST_CHARACTERS = 200
"""The largest length of a name, which is shown in one line."""

DELTA_JOBS = (
    "job.jobName",
    "job.jobId",
    "jobName",
    "job",
    "app-name",
    "appName",
    "notebook.notebookPath",
    "notebook.notebookId",
)
DELTA_USERS = ("userName", "userId", "user")
DELTA_QUERIES = ("queryId", "operationParameters.queryId", "job.jobRunId", "job.runId", "txnId")
DELTA_ENGINES = ("engineInfo", "clientVersion")

ICEBERG_JOBS = ("app-name", "job", "job-name", "flink.job-id", "app-id", "spark.app.id")
ICEBERG_USERS = ("user", "trino_user")
ICEBERG_QUERIES = ("trino_query_id", "presto_query_id", "query-id", "app-id", "spark.app.id", "flink.job-id")
ICEBERG_ENGINES = ("engine-name", "client")
ENGINE_MEMBERS = {"trino": "trino_query_id", "flink": "flink.job-id", "spark": "spark.app.id"}
"""For each engine, a member that only this engine writes."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of a file, according to the table.

    Attributes:
        commit: The version of a Delta table, or the id of the snapshot of an Iceberg table; empty if unknown.
        at: The time of the commit, in milliseconds since 1970.
        operation: The operation, in the words of its writer.
        job, engine, user, query: The origin of the commit; ``None`` if it does not name it.
        reason: Why the owner is unknown; empty if the commit was found.
    """

    commit: str = ""
    at: int | None = None
    operation: str | None = None
    job: str | None = None
    engine: str | None = None
    user: str | None = None
    query: str | None = None
    reason: str = ""

    @property
    def name(self) -> str:
        """The owner: the job, else the user, else the engine without its version.

        >>> Owner("7", engine="Apache-Spark/4.1.4 Delta-Lake/4.4.0").name
        'Apache-Spark'
        """
        engine = (self.engine or "").partition("/")[0].strip()
        return self.job or self.user or engine or UNKNOWN

    @property
    def line(self) -> str:
        """All known facts in one line.

        >>> Owner("7", operation="WRITE", job="nightly", user="ada").line
        'nightly (commit 7, WRITE, user ada)'
        >>> Owner(reason="the log does not reach back to it").line
        'unknown (the log does not reach back to it)'
        """
        parts = [
            f"commit {self.commit}" if self.commit else "",
            self.operation or "",
            f"engine {self.engine}" if self.engine and self.name != self.engine else "",
            f"user {self.user}" if self.user and self.name != self.user else "",
            f"query {self.query}" if self.query and self.name != self.query else "",
            self.reason,
        ]
        known = ", ".join(one for one in parts if one)
        return f"{self.name} ({known})" if known else self.name


def owner_of_commit(version: int, info: Mapping[str, Any] | None) -> Owner:
    """The owner that a ``commitInfo`` action names.

    >>> owner_of_commit(3, {"operation": "WRITE", "job": {"jobName": "nightly"}, "userName": "ada"}).line
    'nightly (commit 3, WRITE, user ada)'
    """
    if info is None:
        return Owner(str(version), reason="the commit does not name its author")
    at = info.get("inCommitTimestamp", info.get("timestamp"))
    return Owner(
        str(version),
        at if isinstance(at, int) else None,
        _first(info, ("operation",)),
        _first(info, DELTA_JOBS),
        _first(info, DELTA_ENGINES),
        _first(info, DELTA_USERS),
        _first(info, DELTA_QUERIES),
    )


def owner_of_snapshot(snapshot: Mapping[str, Any]) -> Owner:
    """The owner that the summary of a snapshot names.

    >>> summary = {"operation": "append", "engine-name": "spark", "engine-version": "4.0.1", "app-id": "local-17"}
    >>> owner_of_snapshot({"snapshot-id": 5, "summary": summary}).engine
    'spark/4.0.1'
    """
    summary = object_of(snapshot.get("summary"))
    engine = _first(summary, ICEBERG_ENGINES)
    for name, member in ENGINE_MEMBERS.items():
        engine = engine or (name if _first(summary, (member,)) else None)
    version = _first(summary, ("engine-version",))
    at = snapshot.get("timestamp-ms")
    return Owner(
        str(snapshot.get("snapshot-id", "")),
        at if isinstance(at, int) else None,
        _first(summary, ("operation",)),
        _first(summary, ICEBERG_JOBS),
        f"{engine}/{version}" if engine and version else engine,
        _first(summary, ICEBERG_USERS),
        _first(summary, ICEBERG_QUERIES),
    )


def _first(said: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """The first nonempty value among some members; a dot leads into an object, unless a member has this name."""
    for name in names:
        found: Any = said.get(name)
        if found is None and "." in name:
            outer, _, inner = name.partition(".")
            found = object_of(said.get(outer)).get(inner)
        if isinstance(found, (str, int)) and not isinstance(found, bool) and str(found).strip():
            return " ".join(str(found).split())[:MOST_CHARACTERS]
    return None
