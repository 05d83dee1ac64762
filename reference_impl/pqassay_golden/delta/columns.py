"""Golden Delta tables about columns: partition columns that are also stored in files, widened and required columns, and domains."""

from __future__ import annotations

import json
from typing import Any

from pqassay_golden.delta.states import protocol
from pqassay_golden.delta.table import (
    CHECKPOINT,
    INFO,
    PROTOCOL,
    ROWS_LOST,
    Json,
    add,
    bad,
    change,
    commit,
    compact,
    footer,
    lines,
    metadata,
    schema,
    stats_of,
    values,
)
from pqassay_golden.tables import GoodTable, parquet
from pqassay_golden.tiny.columns import Column
from pqassay_spec.mutation.table_mutations import TableMutation
from pqassay_spec.table.delta import DOMAINS, TYPE_CHANGES

# -------------------------------------------------------------------------------------------------- materialized

STORED = parquet(
    Column("id", "int64", [1, 2, 3]),
    Column("city", "string", ["Oslo", "Oslo", "Oslo"]),
    Column("year", "int32", [2024, 2024, 2024]),
)
STORED_STATS = stats_of(3, {"id": 1}, {"id": 3}, {"id": 0})
MATERIALIZED = {
    commit(0): lines(
        INFO,
        PROTOCOL,
        metadata(schema(id="long", city="string", year="integer"), ("city", "year")),
        add("part-0.parquet", STORED, STORED_STATS, {"city": "Oslo", "year": "2024"}),
    ),
    "part-0.parquet": STORED,
}

# ------------------------------------------------------------------------------------------------------- widened


def _widened(old: str = "integer") -> str:
    """A schema with a column of type long that had another type before, and that cannot be null."""
    change_: Json = {"fromType": old, "toType": "long"}
    column: Json = {"name": "id", "type": "long", "nullable": False, "metadata": {TYPE_CHANGES: [change_]}}
    return compact({"type": "struct", "fields": [column]})


NARROW = parquet(Column("id", "int32", [1, 2, 3], optional=False))
WIDENED = {
    commit(0): lines(
        INFO,
        protocol(["typeWidening"], ["typeWidening", "invariants"]),
        metadata(_widened()),
        add("part-0.parquet", NARROW, STORED_STATS),
    ),
    "part-0.parquet": NARROW,
}

# ------------------------------------------------------------------------------------------------------- domains


def _domain(mark: int) -> Json:
    configuration = json.dumps({"owner": mark})
    return {"domainMetadata": {"domain": "town.hall", "configuration": configuration, "removed": False}}


WITH_DOMAINS = protocol(["v2Checkpoint"], ["v2Checkpoint", DOMAINS])
DESCRIBED = metadata(schema(id="long"))
ID_DATA = parquet(Column("id", "int64", [1, 2, 3]))
_ADD = add("part-0.parquet", ID_DATA, STORED_STATS)
DOMAIN = {
    commit(0): lines(WITH_DOMAINS, DESCRIBED, _domain(1)),
    commit(1): lines(INFO, _ADD),
    CHECKPOINT: lines({"checkpointMetadata": {"version": 1}}, WITH_DOMAINS, DESCRIBED, _domain(1), _ADD),
    "part-0.parquet": ID_DATA,
}

ONE_COLUMN = {commit(0): lines(INFO, PROTOCOL, DESCRIBED, _ADD), "part-0.parquet": ID_DATA}

GOOD_TABLES = (
    GoodTable("dlt/materialized", "Partition columns that the file stores as well", MATERIALIZED),
    GoodTable("dlt/widened", "A column that cannot be null, and whose type was widened", WIDENED),
    GoodTable("dlt/one-column", "A file of one column", ONE_COLUMN),
    GoodTable("dlt/domains", "A domain, in a checkpoint beside the commits before it", DOMAIN),
)

_SECOND: Any = metadata(schema(id="long", city="string", year="integer"), ("city", "year"))

BAD_TABLES = (
    values("stored-in-another-city", "A file stores another partition value than the log has", "A reader of the file alone finds another value.", change("add.partitionValues.city", "Rome"), "011", of="materialized"),
    bad("domain-of-another-owner", "A domain says something else in the checkpoint than in the log", "What the domain says is lost with the log.", change("domainMetadata.configuration", json.dumps({"owner": 2}), line=3, file=CHECKPOINT), "045", of="domains"),
    footer("nulls-of-an-absent-column", "A column that the file does not have is said to have no nulls", "A query for nulls skips the file.", change("add.stats.nullCount.town", 0, line=2), "046", of="evolved"),
    bad("widened-from-text", "The type of a column is said to have been text", "Queries fail.", change("metaData.schemaString", _widened("string"), line=2), "047", of="widened"),
    bad("described-twice", "A commit has two metaData actions", "Every reader decides for itself which of the two counts.", TableMutation(file=commit(0), op="insert", line=3, to=compact(_SECOND)), "048", of="materialized"),
    bad("required-and-null", "A column that cannot be null is said to have a null", ROWS_LOST, change("add.stats.nullCount.id", 1), "053", of="widened"),
    bad("type-unknown", "A column has a type that the protocol does not have", "Queries fail.", change("metaData.schemaString", schema(id="number"), line=2), "054", of="one-column"),
    bad("renamed-by-hand", "A column has another name in the schema than in files and statistics", "Queries find null in place of its values.", change("metaData.schemaString", schema(ident="long"), line=2), "055", of="one-column"),
)  # fmt: skip
