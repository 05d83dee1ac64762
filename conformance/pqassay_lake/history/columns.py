"""The columns of a history.

It has a row for each run, each writer and table of a run, each finding, and each file that could not be judged.

Files without findings have no row, so a history grows with the findings and not with the files; the rows of writers count all files.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

TIME = pa.timestamp("us", tz="UTC")


@dataclass(frozen=True)
class Column:
    """A column of a history: its name, its type, and its description."""

    name: str
    type: pa.DataType
    doc: str


COLUMNS = (
    Column("run", pa.string(), "which run: its time and a random part"),
    Column("at", TIME, "when it began"),
    Column("kind", pa.string(), "what the row is about: `run`, `writer`, `table`, `finding`, or `file` for one that could not be judged"),
    Column("scope", pa.string(), "paths to check, separated by commas"),
    Column("partial", pa.bool_(), "whether only a part was judged: new files, a sample, files of a list"),
    Column("tier", pa.string(), "the tier of the check"),
    Column("pqassay", pa.string(), "the version of pqassay"),
    Column("rules_sha256", pa.string(), "digest of the rules"),
    Column("exit_code", pa.int32(), "`run`: the exit code of the check"),
    Column("files", pa.int64(), "`run`, `writer`: files that were looked at"),
    Column("nonconformant", pa.int64(), "`run`, `writer`: those with findings that count, nonconformant or untrue"),
    Column("errored", pa.int64(), "`run`, `writer`: those that could not be judged"),
    Column("writer", pa.string(), "`writer`, `finding`, `file`: the software and version that wrote the file, or `unknown`"),
    Column("created_by", pa.string(), "`finding`, `file`: what the footer says about the writer"),
    Column("version", pa.string(), "`table`: the version of a Delta table, or the snapshot of an Iceberg table, that was judged"),
    Column("path", pa.string(), "`finding`, `file`, `table`: the file or table"),
    Column("error", pa.string(), "`file`: why it could not be judged"),
    Column("rule", pa.string(), "`finding`: id of the rule that is broken"),
    Column("verdict", pa.string(), "`finding`: `FAIL`, `WARN`, `POLICY` or `INFO`"),
    Column("could", pa.string(), "`finding`: the worst that the breach can do to readers"),
    Column("observed", pa.string(), "`finding`: the gravest effect that was seen in engines"),
    Column("counts", pa.bool_(), "`finding`: whether it makes the file nonconformant or untrue, unless a baseline lists it"),
    Column("known", pa.bool_(), "`finding`: whether a baseline lists it"),
    Column("not_failing", pa.bool_(), "`finding`: whether it fails nothing only because its rule came after the release to which the check is pinned"),
    Column("column", pa.string(), "`finding`: the column"),
    Column("count", pa.int64(), "`finding`: how many places break the rule"),
    Column("message", pa.string(), "`finding`: what was found"),
    Column("field", pa.string(), "`finding`: first position, the grammar path of the field"),
    Column("offset", pa.int64(), "`finding`: first position, byte of the file"),
    Column("remedy", pa.string(), "`finding`: a command that repairs the file"),
    Column("explanation", pa.string(), "`finding`: a known defect of the writer that does this"),
    Column("owner", pa.string(), "`finding`, `file`: the owner: the job, else the user, else the engine of the commit"),
    Column("owner_job", pa.string(), "the job that the commit names"),
    Column("owner_engine", pa.string(), "the engine that the commit names"),
    Column("owner_user", pa.string(), "the user that the commit names"),
    Column("owner_query", pa.string(), "the query or run of the job that the commit names"),
    Column("owner_operation", pa.string(), "the operation of the commit"),
    Column("owner_commit", pa.string(), "the version of the Delta table, or the snapshot of the Iceberg table"),
    Column("owner_at", TIME, "when it was committed"),
)  # fmt: skip
"""Every column, in order."""

SCHEMA = pa.schema([pa.field(column.name, column.type) for column in COLUMNS])
