"""The actions of a Delta log, and their claims about data files.

The log of a Delta table is a folder of commits. Each line of a commit is a JSON object with one member, whose name is the
kind of action. Checkpoints have the same actions, as the columns of a Parquet file.

Source: the Delta protocol, "Actions", "Per-file Statistics", "Schema Serialization Format" and "Deletion Vectors".
"""

from __future__ import annotations

from typing import NamedTuple

from pqassay_spec.table.json_objects import JsonMember, JsonObject, optional

# --8<-- [start:grammar]
PROTOCOL = JsonObject(
    "protocol",
    "What a program has to know to read and write the table.",
    (
        JsonMember("minReaderVersion", "integer", "Least version of the protocol that a reader has to know."),
        JsonMember("minWriterVersion", "integer", "Least version that a writer has to know."),
        optional(
            "readerFeatures", "list of strings", "Features that a reader has to know, from version 3 on."
        ),
        optional(
            "writerFeatures", "list of strings", "Features that a writer has to know, from version 7 on."
        ),
    ),
)

METADATA = JsonObject(
    "metaData",
    "What the table is: its columns, how it is partitioned, and its properties.",
    (
        JsonMember("id", "string", "Identifies the table."),
        JsonMember("format", "object", "`provider` is `parquet`, and `options` are empty."),
        JsonMember("schemaString", "string", "The columns, as JSON text."),
        JsonMember("partitionColumns", "list of strings", "Names of the columns whose values the log holds."),
        optional("configuration", "object", "Properties of the table; all values are strings."),
        optional("name", "string", "A name that the user gave."),
        optional("description", "string", "A description that the user gave."),
        optional("createdTime", "integer", "Milliseconds since 1970."),
    ),
)

DELETION_VECTOR = JsonObject(
    "deletionVector",
    "Where the deletion vector of a file is stored: the rows of the data file that are no longer in the table.",
    (
        JsonMember("storageType", "string", "`u`: in a file named by a UUID, `p`: in a file with an absolute path, `i`: in the log."),
        JsonMember("pathOrInlineDv", "string", "An optional prefix and a UUID in Z85, a path, or the vector itself in Z85."),
        optional("offset", "integer", "Where the vector begins in its file; absent if it is in the log."),
        JsonMember("sizeInBytes", "integer", "Bytes of the vector, without its length and its checksum in a file."),
        JsonMember("cardinality", "integer", "Rows that it removes."),
    ),
)  # fmt: skip

STATISTICS = JsonObject(
    "stats",
    "What a writer says about the rows of a file. The members by column are objects that mirror the schema.",
    (
        optional("numRecords", "integer", "Rows of the data file, with those that a deletion vector removes."),
        optional("tightBounds", "boolean", "Whether bounds and counts are exact for the rows that remain; true if absent."),
        optional("minValues", "object", "A lower bound of each column."),
        optional("maxValues", "object", "An upper bound of each column."),
        optional("nullCount", "object", "Nulls of each column."),
    ),
)  # fmt: skip

ADD = JsonObject(
    "add",
    "A data file becomes part of the table, or its entry is replaced.",
    (
        JsonMember("path", "string", "Relative to the folder of the table or absolute; a URI, whose percent signs are decoded."),
        JsonMember("partitionValues", "object", "The value of each partition column, as a string or null."),
        JsonMember("size", "integer", "Bytes of the file."),
        JsonMember("modificationTime", "integer", "Milliseconds since 1970."),
        JsonMember("dataChange", "boolean", "False where rows only moved."),
        optional("stats", "string", "Statistics, as JSON text."),
        optional("tags", "object", "Whatever a writer adds."),
        optional("deletionVector", "object", "The rows that are not part of the table any more."),
        optional("baseRowId", "integer", "The row id of the first row."),
        optional("defaultRowCommitVersion", "integer", "The version that added the file first."),
        optional("clusteringProvider", "string", "What clustered the rows."),
        optional("stats_parsed", "object", "In a checkpoint: the statistics once more, in the types of the columns."),
        optional("partitionValues_parsed", "object", "In a checkpoint: the partition values once more, in the types of the columns."),
    ),
)  # fmt: skip

REMOVE = JsonObject(
    "remove",
    "A data file is no longer part of the table.",
    (
        JsonMember("path", "string", "As in `add`."),
        optional("deletionTimestamp", "integer", "Milliseconds since 1970."),
        JsonMember("dataChange", "boolean", "False where rows only moved."),
        optional("deletionVector", "object", "That of the entry which is removed."),
    ),
)

CHECKSUM = JsonObject(
    "crc",
    "The version checksum file of a version: what should come of reading the log up to it.",
    (
        JsonMember("tableSizeBytes", "integer", "Bytes of all live files."),
        JsonMember("numFiles", "integer", "Live files."),
        JsonMember("numMetadata", "integer", "Always 1."),
        JsonMember("numProtocol", "integer", "Always 1."),
        JsonMember("metadata", "object", "The `metaData` action of the version."),
        JsonMember("protocol", "object", "Its `protocol` action."),
        optional("fileSizeHistogram", "object", "How many live files, and bytes of them, there are by size."),
        optional("numDeletedRecordsOpt", "integer", "Rows that deletion vectors remove."),
        optional("numDeletionVectorsOpt", "integer", "Live deletion vectors."),
        optional("allFiles", "list of objects", "The `add` actions of all live files."),
    ),
)

LAST_CHECKPOINT = JsonObject(
    "_last_checkpoint",
    "Which checkpoint was the newest when somebody wrote it down, and what it holds.",
    (
        JsonMember("version", "integer", "The version of the checkpoint."),
        JsonMember("size", "integer", "Actions in the checkpoint, those of its sidecars included."),
        optional("parts", "integer", "Its files, where it is in several parts."),
        optional("sizeInBytes", "integer", "Bytes of its files."),
        optional("numOfAddFiles", "integer", "`add` actions in it."),
        optional("checkpointSchema", "object", "Its columns, as in `schemaString`."),
        optional("tags", "object", "Whatever a writer adds."),
        optional("checksum", "string", "MD5 of all other members in their canonical form."),
    ),
)

SCHEMA_FIELD = JsonObject(
    "field",
    "A column of `schemaString`, or a member of a struct.",
    (
        JsonMember("name", "string", "The name that users see."),
        JsonMember(
            "type", "string or object", "The name of a primitive type, or a struct, an array or a map."
        ),
        JsonMember("nullable", "boolean", "Whether values may be null."),
        JsonMember("metadata", "object", "Among others the column's id and its name in files."),
    ),
)
# --8<-- [end:grammar]

STATS_PARSED, PARTITION_PARSED = "stats_parsed", "partitionValues_parsed"
"""The members of an entry in a checkpoint with statistics and partition values in the types of their columns."""

PHYSICAL_NAME = "delta.columnMapping.physicalName"
"""The key of a column's metadata for its name in data files and in statistics."""

COLUMN_ID = "delta.columnMapping.id"
"""The key of a column's metadata for its id, which is the ``field_id`` in data files."""

MAPPING_MODE = "delta.columnMapping.mode"
"""The property for the way to find columns in data files: ``none``, ``name`` or ``id``."""

MAX_COLUMN_ID = "delta.columnMapping.maxColumnId"
"""The property for the greatest column id that was ever used."""

INTEGER_BITS = {"byte": 8, "short": 16, "integer": 32, "long": 64}
"""The integer types and their widths."""

FLOATING = ("float", "double")

PRIMITIVE_TYPES = (
    *INTEGER_BITS,
    *FLOATING,
    "string",
    "boolean",
    "binary",
    "date",
    "timestamp",
    "timestamp_ntz",
    "void",
    "variant",
)
"""The names of primitive types, except ``decimal(precision,scale)``."""

GREATEST_PRECISION = 38
"""Most digits of a decimal."""

KNOWN_READER_FEATURES = (
    "columnMapping",
    "deletionVectors",
    "timestampNtz",
    "v2Checkpoint",
    "vacuumProtocolCheck",
    "typeWidening",
    "typeWidening-preview",
    "variantType",
    "variantType-preview",
    "variantShredding",
    "variantShredding-preview",
)
"""The reader features whose effect on a log is known."""

DRAFT_READER_FEATURES = {
    "adaptiveMetadata": "https://github.com/delta-io/delta/pull/6978",
    "timestampNanos": "https://github.com/delta-io/delta/pull/6082",
    "voidType": "https://github.com/delta-io/delta/pull/7073",
}
"""Reader features that are not in the pinned protocol, each with its proposal."""

REQUIRED = {
    "add": ("path", "partitionValues", "size", "modificationTime", "dataChange"),
    "metaData": ("id", "format", "schemaString", "partitionColumns", "configuration"),
    "protocol": ("minReaderVersion", "minWriterVersion"),
    "crc": tuple(member.name for member in CHECKSUM.members if member.presence == "required"),
}
"""Required members of actions and of version checksum files."""

PROVIDER = "parquet"
"""The name of the file format in `format` of the metadata."""


class Features(NamedTuple):
    """The member of a ``protocol`` that lists features, and the version that requires it."""

    member: str
    version: int


FEATURES_SINCE = {
    "minReaderVersion": Features("readerFeatures", 3),
    "minWriterVersion": Features("writerFeatures", 7),
}
"""Where features are listed, by the member with the version."""

DELETION_VECTORS, TIMESTAMP_NTZ = "deletionVectors", "timestampNtz"
"""The features for files with deletion vectors, and for columns of timestamps without a time zone."""

COLUMN_MAPPING, V2_CHECKPOINT, VARIANT = (
    "columnMapping",
    "v2Checkpoint",
    ("variantType", "variantType-preview"),
)
"""The features by which columns have other names in files, checkpoints have a UUID in their names, and columns hold variants."""

CATALOG_MANAGED = ("catalogManaged", "catalogOwned-preview")
"""The features for tables whose newest commits are known only to a catalog."""

DESCRIPTOR_VECTOR = "pathOrInlineDv"
"""The member that names the file of a deletion vector, or contains the vector."""

DELETION_VECTOR_NAME = "deletion_vector_{}.bin"
"""The name of a file of deletion vectors, with a placeholder for its UUID."""

UUID_LENGTH = 20
"""Characters of a UUID in Z85; ``pathOrInlineDv`` ends with them if the vector is in a file of that name."""

ROW_TRACKING = "rowTracking"
"""The writer feature for row ids."""

ENABLE_ROW_TRACKING = "delta.enableRowTracking"
"""The property that gives every row an id."""

ROW_TRACKING_DOMAIN = "delta.rowTracking"
HIGH_WATER_MARK = "rowIdHighWaterMark"
"""The domain whose configuration has the highest row id so far, and the member for it."""

MATERIALIZED_ROW_ID = "delta.rowTracking.materializedRowIdColumnName"
"""The property that names the column for the ids of rows that were moved to another file."""

DOMAINS = "domainMetadata"
"""The writer feature for domains."""

STATS_AS_JSON, STATS_AS_STRUCT = "delta.checkpoint.writeStatsAsJson", "delta.checkpoint.writeStatsAsStruct"
"""The properties for statistics in checkpoints as texts (the default) and as structs."""

TYPE_WIDENING = ("typeWidening", "typeWidening-preview")
"""The features for columns whose types may have changed."""

TYPE_CHANGES = "delta.typeChanges"
"""The key of a column's metadata for the changes of its type, the oldest first."""
