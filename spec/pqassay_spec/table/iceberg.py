"""The JSON metadata of an Iceberg table.

Source: the Iceberg specification, "Table Metadata Fields".
"""

from __future__ import annotations

from pqassay_spec.table.json_objects import JsonMember, JsonObject, optional

# --8<-- [start:grammar]
TABLE_METADATA = JsonObject(
    "metadata",
    "What a table is at one moment: its schemas, how it is partitioned, and its snapshots.",
    (
        JsonMember("format-version", "integer", "Version of the format: 1 to 4."),
        JsonMember("location", "string", "The folder of the table, as a URI."),
        optional("current-snapshot-id", "integer", "The snapshot that readers see; -1 or absent for an empty table."),
        optional("snapshots", "list of objects", "The snapshots that are kept."),
        optional("refs", "object", "Names of snapshots: branches and tags."),
    ),
)  # fmt: skip
# --8<-- [end:grammar]

FORMAT_VERSIONS = (1, 2, 3, 4)
"""The versions of the format that are known."""
