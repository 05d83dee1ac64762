"""The metadata of an Iceberg table: the JSON of its metadata file, and the records of manifest lists and manifests, which are Avro.

Source: the Iceberg specification, "Table Metadata Fields", "Snapshots", "Manifest Lists", "Manifests", "Partitioning" and "Appendix C".
"""

from __future__ import annotations

from pqassay_spec.table import iceberg_field_ids as field_ids
from pqassay_spec.table.json_objects import JsonMember, JsonObject, numbered, optional

DELETE_FILE_PATH, DELETE_POSITION, DELETE_ROW = 2_147_483_546, 2_147_483_545, 2_147_483_544
"""The ids of the columns of position deletes."""

# --8<-- [start:grammar]
TABLE_METADATA = JsonObject(
    "metadata",
    "What a table is at one moment: its schemas, how it is partitioned, and its snapshots.",
    (
        JsonMember("format-version", "integer", "Version of the format: 1 to 4."),
        JsonMember("location", "string", "The folder of the table, as a URI."),
        optional("table-uuid", "string", "Which table it is, whatever it is called."),
        optional("last-updated-ms", "integer", "When the metadata were written, in milliseconds since 1970."),
        optional(
            "last-sequence-number",
            "integer",
            "The highest sequence number that a snapshot has, from version 2 on.",
        ),
        optional("last-column-id", "integer", "The highest id that a column has had."),
        optional("schemas", "list of objects", "Every schema that the table has had."),
        optional("current-schema-id", "integer", "Which of them the table has now."),
        optional("partition-specs", "list of objects", "Every way in which the table was partitioned."),
        optional("default-spec-id", "integer", "How files that are written now are partitioned."),
        optional("last-partition-id", "integer", "The highest id that a partition field has had."),
        optional("sort-orders", "list of objects", "Every order in which files of the table may be sorted."),
        optional("default-sort-order-id", "integer", "How files that are written now are sorted."),
        optional(
            "properties",
            "object",
            "Settings; `schema.name-mapping.default` gives names to ids where files have none.",
        ),
        optional(
            "current-snapshot-id",
            "integer",
            "The snapshot that readers see; -1 or absent for an empty table.",
        ),
        optional("snapshots", "list of objects", "The snapshots that are kept."),
        optional("refs", "object", "Names of snapshots: branches and tags."),
        optional("next-row-id", "integer", "Greater than the id of every row, from version 3 on."),
    ),
)
SNAPSHOT = JsonObject(
    "snapshot",
    "The files of a table at one moment.",
    (
        JsonMember("snapshot-id", "integer", "Its number."),
        optional("sequence-number", "integer", "Orders the changes of a table, from version 2 on."),
        JsonMember("timestamp-ms", "integer", "When it was made, in milliseconds since 1970."),
        optional("manifest-list", "string", "The file that lists its manifests."),
        optional("schema-id", "integer", "The schema that the table had then."),
        optional(
            "summary",
            "object",
            "What the change was, its `operation`, and what was added and totals, as texts.",
        ),
        optional(
            "first-row-id", "integer", "From version 3 on: the first of the row ids that it gives away."
        ),
        optional("added-rows", "integer", "From version 3 on: how many row ids it gives away, at most."),
    ),
)
PARTITION_FIELD = JsonObject(
    "partition field",
    "A value that all rows of a data file share.",
    (
        JsonMember("source-id", "integer", "The column from which it follows."),
        optional(
            "field-id", "integer", "Its own number; counted from 1000 on where version 1 leaves it out."
        ),
        JsonMember("name", "string", "Its name."),
        JsonMember(
            "transform",
            "string",
            "How it follows: `identity`, `bucket[N]`, `truncate[W]`, `year`, `month`, `day`, `hour`, `void`.",
        ),
    ),
)
SORT_ORDER = JsonObject(
    "sort order",
    "How the rows of a file are sorted.",
    (
        JsonMember("order-id", "integer", "Its number; 0 is that of files that are not sorted."),
        JsonMember("fields", "list of objects", "The sort keys, in order."),
    ),
)
SORT_FIELD = JsonObject(
    "sort field",
    "One value by which rows are sorted.",
    (
        JsonMember("source-id", "integer", "The column from which it follows."),
        JsonMember("transform", "string", "How it follows; the transforms are those of partitions."),
        JsonMember("direction", "string", "`asc` or `desc`."),
        JsonMember(
            "null-order", "string", "Where nulls are: `nulls-first` or `nulls-last`, in both directions."
        ),
    ),
)
MANIFEST_FILE = JsonObject(
    "manifest_file",
    "The entry of a manifest in a manifest list.",
    (
        numbered(field_ids.MANIFEST_PATH, "manifest_path", "string", "The manifest.", "required"),
        numbered(field_ids.MANIFEST_LENGTH, "manifest_length", "long", "Its bytes.", "required"),
        numbered(
            field_ids.PARTITION_SPEC_ID,
            "partition_spec_id",
            "int",
            "How its files are partitioned.",
            "required",
        ),
        numbered(
            field_ids.MANIFEST_CONTENT,
            "content",
            "int",
            "0: data files, 1: delete files; version 1 has data files alone.",
        ),
        numbered(
            field_ids.MANIFEST_SEQUENCE_NUMBER,
            "sequence_number",
            "long",
            "When it was added; its entries inherit it.",
        ),
        numbered(
            field_ids.MIN_SEQUENCE_NUMBER,
            "min_sequence_number",
            "long",
            "The least data sequence number of its live files.",
        ),
        numbered(field_ids.ADDED_SNAPSHOT_ID, "added_snapshot_id", "long", "The snapshot that added it."),
        numbered(field_ids.ADDED_FILES_COUNT, "added_files_count", "int", "Entries of status 1."),
        numbered(field_ids.EXISTING_FILES_COUNT, "existing_files_count", "int", "Entries of status 0."),
        numbered(field_ids.DELETED_FILES_COUNT, "deleted_files_count", "int", "Entries of status 2."),
        numbered(field_ids.ADDED_ROWS_COUNT, "added_rows_count", "long", "Rows of entries of status 1."),
        numbered(
            field_ids.EXISTING_ROWS_COUNT, "existing_rows_count", "long", "Rows of entries of status 0."
        ),
        numbered(field_ids.DELETED_ROWS_COUNT, "deleted_rows_count", "long", "Rows of entries of status 2."),
        numbered(field_ids.PARTITIONS, "partitions", "list of records", "A summary of each partition field."),
        numbered(field_ids.MANIFEST_KEY_METADATA, "key_metadata", "bytes", "For encryption."),
        numbered(
            field_ids.MANIFEST_FIRST_ROW_ID,
            "first_row_id",
            "long",
            "The first row id of its new files, from version 3 on.",
        ),
    ),
)
FIELD_SUMMARY = JsonObject(
    "field_summary",
    "The claims of a manifest list about one partition field in all entries of a manifest.",
    (
        numbered(field_ids.CONTAINS_NULL, "contains_null", "boolean", "Whether a value is null.", "required"),
        numbered(field_ids.CONTAINS_NAN, "contains_nan", "boolean", "Whether a value is NaN."),
        numbered(
            field_ids.LOWER_BOUND, "lower_bound", "bytes", "The least value that is neither null nor NaN."
        ),
        numbered(field_ids.UPPER_BOUND, "upper_bound", "bytes", "The greatest."),
    ),
)
MANIFEST_ENTRY = JsonObject(
    "manifest_entry",
    "The entry of a file in a manifest.",
    (
        numbered(field_ids.STATUS, "status", "int", "0: existing, 1: added, 2: deleted.", "required"),
        numbered(field_ids.SNAPSHOT_ID, "snapshot_id", "long", "The snapshot that added or deleted it."),
        numbered(
            field_ids.SEQUENCE_NUMBER,
            "sequence_number",
            "long",
            "The data sequence number; null: that of the manifest.",
        ),
        numbered(field_ids.FILE_SEQUENCE_NUMBER, "file_sequence_number", "long", "When the file was added."),
        numbered(field_ids.DATA_FILE, "data_file", "record", "The file.", "required"),
    ),
)
DATA_FILE = JsonObject(
    "data_file",
    "The claims of a manifest about a data file or a delete file.",
    (
        numbered(field_ids.CONTENT, "content", "int", "0: data, 1: position deletes, 2: equality deletes."),
        numbered(field_ids.FILE_PATH, "file_path", "string", "The file.", "required"),
        numbered(
            field_ids.FILE_FORMAT,
            "file_format",
            "string",
            "`parquet`, `avro`, `orc` or `puffin`.",
            "required",
        ),
        numbered(field_ids.PARTITION, "partition", "record", "The values of the partition fields."),
        numbered(
            field_ids.RECORD_COUNT,
            "record_count",
            "long",
            "Its rows, or the deletes that it holds.",
            "required",
        ),
        numbered(field_ids.FILE_SIZE_IN_BYTES, "file_size_in_bytes", "long", "Its bytes.", "required"),
        numbered(field_ids.COLUMN_SIZES, "column_sizes", "map of int to long", "Bytes of each column."),
        numbered(
            field_ids.VALUE_COUNTS,
            "value_counts",
            "map of int to long",
            "Values of each column, nulls and NaN included.",
        ),
        numbered(
            field_ids.NULL_VALUE_COUNTS, "null_value_counts", "map of int to long", "Nulls of each column."
        ),
        numbered(
            field_ids.NAN_VALUE_COUNTS, "nan_value_counts", "map of int to long", "NaN values of each column."
        ),
        numbered(
            field_ids.LOWER_BOUNDS,
            "lower_bounds",
            "map of int to bytes",
            "No value of a column that is neither null nor NaN is less.",
        ),
        numbered(field_ids.UPPER_BOUNDS, "upper_bounds", "map of int to bytes", "None is greater."),
        numbered(field_ids.KEY_METADATA, "key_metadata", "bytes", "For encryption."),
        numbered(
            field_ids.SPLIT_OFFSETS,
            "split_offsets",
            "list of long",
            "Where the file can be split, ascending.",
        ),
        numbered(
            field_ids.EQUALITY_IDS,
            "equality_ids",
            "list of int",
            "The columns that an equality delete compares.",
        ),
        numbered(field_ids.SORT_ORDER_ID, "sort_order_id", "int", "How its rows are sorted."),
        numbered(
            field_ids.FIRST_ROW_ID, "first_row_id", "long", "The id of its first row, from version 3 on."
        ),
        numbered(
            field_ids.REFERENCED_DATA_FILE,
            "referenced_data_file",
            "string",
            "The one file whose rows are deleted.",
        ),
        numbered(
            field_ids.CONTENT_OFFSET, "content_offset", "long", "Where a deletion vector begins in its file."
        ),
        numbered(field_ids.CONTENT_SIZE_IN_BYTES, "content_size_in_bytes", "long", "Its bytes."),
    ),
)
POSITION_DELETE = JsonObject(
    "file_position_delete",
    "A row of a position delete file.",
    (
        numbered(DELETE_FILE_PATH, "file_path", "string", "A data file, as its entry names it.", "required"),
        numbered(DELETE_POSITION, "pos", "long", "The row of it that is deleted, from 0 on.", "required"),
        numbered(DELETE_ROW, "row", "record", "The values of the deleted row."),
    ),
)
# --8<-- [end:grammar]

REQUIRED_SINCE = {
    "last-updated-ms": 1,
    "last-column-id": 1,
    **dict.fromkeys(("table-uuid", "last-sequence-number", "schemas", "current-schema-id"), 2),
    **dict.fromkeys(("partition-specs", "default-spec-id", "last-partition-id"), 2),
    **dict.fromkeys(("sort-orders", "default-sort-order-id"), 2),
    "next-row-id": 3,
}
"""The first version of the format that requires each member of the metadata, in addition to `format-version` and `location`."""

REQUIRED_IN_1 = ("schema", "partition-spec")
"""Members that version 1 requires, and later versions do not have."""

REQUIRED_OF_SNAPSHOTS = ("snapshot-id", "timestamp-ms")
"""Required members of a snapshot in every version. Further members became required later, but snapshots from version 1 may lack them."""

OPERATIONS = ("append", "replace", "overwrite", "delete")
"""The operations in the summary of a snapshot."""

PRIMITIVE_TYPES: dict[str, int] = {
    **dict.fromkeys(("boolean", "int", "long", "float", "double", "decimal", "date", "time"), 1),
    **dict.fromkeys(("timestamp", "timestamptz", "string", "uuid", "fixed", "binary"), 1),
    **dict.fromkeys(("timestamp_ns", "timestamptz_ns", "unknown", "variant", "geometry", "geography"), 3),
}
"""The first version that has each primitive type; parameters in brackets are omitted."""

TRANSFORMS = ("identity", "bucket", "truncate", "year", "month", "day", "hour", "void")
"""The transforms from columns to partition and sort fields; parameters in brackets are omitted."""

MOST_PRECISION = 38
"""Most digits of a decimal."""

FILE_FORMATS = ("avro", "orc", "parquet", "puffin")
"""The formats of files; writers use upper or lower case."""

FORMAT_VERSIONS = (1, 2, 3, 4)
"""The known versions of the format."""

EXISTING, ADDED, DELETED = 0, 1, 2
"""Statuses of entries."""

DATA, POSITION_DELETES, EQUALITY_DELETES = 0, 1, 2
"""Contents of files."""

FIRST_PARTITION_FIELD = 1000
"""The id of the first partition field, if version 1 does not give one."""

FIRST_RESERVED_ID = 2_147_483_448
"""The first id that columns of a table may not use: the greatest 200 ids belong to columns that the format defines."""

DELETE_COLUMNS = ((DELETE_FILE_PATH, "file_path", "string"), (DELETE_POSITION, "pos", "long"))

UNSORTED = 0
"""The id of the sort order of unsorted files."""

ROW_IDS_SINCE = 3
"""The first version of the format with row ids."""

STORED_ROW_ID = 2_147_483_540
"""The id of the data file column for the ids of rows that were moved to it."""

VECTORS_SINCE = 3
"""The first version of the format in which position deletes are only written as deletion vectors."""

FORMAT_VERSION = "format-version"
"""The key of a manifest's header for its version."""

HEADER_KEYS = {"schema": 1, "partition-spec": 1, "partition-spec-id": 2, FORMAT_VERSION: 2, "content": 2}
"""The keys in the header of a manifest, with the first version that requires each; writers omit `schema-id`, which version 2 requires."""

BRANCH, TAG = "branch", "tag"
"""The kinds of references."""

NAME_MAPPING = "schema.name-mapping.default"
"""The property that maps names to ids for files without ids."""

MAIN = "main"
"""The branch of the current snapshot."""

VERSION_HINT = "version-hint.text"
"""The file beside the metadata with the number of the newest version when it was written."""
