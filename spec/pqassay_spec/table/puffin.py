"""Puffin files with deletion vectors and statistics of Iceberg tables: blobs, and a footer with their places.

Source: the Puffin specification, "File structure" and "Footer structure".
"""

from __future__ import annotations

from construct import Const, Int32sl, Int32ul, Struct

from pqassay_spec.table.json_objects import JsonMember, JsonObject, optional

MAGIC = b"PFA1"
"""The first and last bytes of a file; they also precede the JSON of its footer."""

# --8<-- [start:grammar]
HEAD = Struct("magic" / Const(MAGIC) * "`PFA1`.")
TAIL = Struct(
    "size" / Int32sl * "Bytes of the JSON before it, which lists the blobs.",
    "flags" / Int32ul * "The lowest bit: the JSON is compressed.",
    "magic" / Const(MAGIC) * "`PFA1` again.",
)
FOOTER = JsonObject(
    "footer",
    "The JSON ahead of the last bytes.",
    (
        JsonMember("blobs", "list of objects", "What is in the file."),
        optional("properties", "object", "More about the file, as texts, such as who wrote it."),
    ),
)
BLOB = JsonObject(
    "blob",
    "The facts of the footer about a blob.",
    (
        JsonMember("type", "string", "What the blob is."),
        JsonMember("fields", "list of integers", "The columns that it is about, by their ids."),
        JsonMember(
            "snapshot-id", "integer", "The snapshot that it was computed from; -1 for a deletion vector."
        ),
        JsonMember("sequence-number", "integer", "That of the snapshot; -1 for a deletion vector."),
        JsonMember("offset", "integer", "Where the blob begins in the file."),
        JsonMember("length", "integer", "Bytes of the blob in the file."),
        optional("compression-codec", "string", "How the blob is compressed; absent if it is not."),
        optional("properties", "object", "More about the blob, as texts."),
    ),
)
# --8<-- [end:grammar]

VECTOR = "deletion-vector-v1"
"""The type of a blob with a deletion vector."""

REFERENCED_DATA_FILE, CARDINALITY = "referenced-data-file", "cardinality"
"""Properties of the blob of a deletion vector: the data file whose rows it removes, and the number of rows."""

COMPRESSED = 1
"""The flag for a compressed JSON in the footer."""
