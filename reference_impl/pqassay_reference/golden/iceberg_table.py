"""Golden Iceberg tables whose metadata need no absolute paths."""

from __future__ import annotations

import json
from typing import Any

from pqassay_reference.golden.tables import BadTable, GoodTable
from pqassay_spec.mutation.table_mutations import TableMutation

METADATA = "metadata/v1.metadata.json"

EMPTY: dict[str, Any] = {
    "format-version": 2,
    "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
    "location": "file:///nowhere",
    "last-sequence-number": 0,
    "last-updated-ms": 1_700_000_000_000,
    "last-column-id": 1,
    "current-schema-id": 0,
    "schemas": [
        {
            "type": "struct",
            "schema-id": 0,
            "fields": [{"id": 1, "name": "id", "required": False, "type": "long"}],
        }
    ],
    "default-spec-id": 0,
    "partition-specs": [{"spec-id": 0, "fields": []}],
    "last-partition-id": 999,
    "default-sort-order-id": 0,
    "sort-orders": [{"order-id": 0, "fields": []}],
    "current-snapshot-id": -1,
    "snapshots": [],
}
"""A table that was made and never written to."""

GOOD_TABLES = (
    GoodTable("ice/empty", "A table without snapshots", {METADATA: f"{json.dumps(EMPTY)}\n".encode()}),
)

BAD_TABLES = (
    BadTable(
        "ice/version-of-the-future",
        "The metadata say that they are of version 9",
        "Queries fail.",
        "ice/empty",
        TableMutation(file=METADATA, op="set", line=0, path="format-version", to=9),
        ("ICE-001",),
        "meta",
    ),
)
