"""Golden Iceberg tables whose data files have other columns than the schema, or stored row ids; and invalid equality deletes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

from pqassay_golden.iceberg.files import METADATA, Files, Json, data_file, entry, int32, table
from pqassay_golden.iceberg.table import GOOD_TABLES as PLAIN_TABLES
from pqassay_golden.iceberg.table import bad, deletes
from pqassay_golden.iceberg.vectors import GOOD_TABLES as OF_VECTORS
from pqassay_golden.iceberg.vectors import vectors
from pqassay_golden.tables import GoodTable, parquet
from pqassay_golden.tiny.columns import Column, ListOf, Member, Struct
from pqassay_spec.mutation.table_mutations import TableMutation
from pqassay_spec.table.iceberg import NAME_MAPPING, STORED_ROW_ID

PART = "data/part-0.parquet"
OTHER_ROWS = "Changes of one row are shown as those of another."


def _field(number: int, name: str, kind: Any, *, required: bool = False) -> Json:
    return {"id": number, "name": name, "required": required, "type": kind}


def one_file(
    columns: Sequence[Json],
    data: bytes,
    rows: int,
    *,
    version: int = 2,
    first: int | None = None,
    **more: Any,
) -> Files:
    """A table of one file."""
    entries = [entry(data_file(PART, data, rows, first_row_id=first))]
    of_list = {"first_row_id": first}
    return table(
        columns,
        entries,
        {PART: data},
        manifests_of=version,
        of_list=of_list,
        rows=rows,
        version=version,
        **more,
    )


# ------------------------------------------------------------------------------------------------------------ schemas

PLACES = {"type": "struct", "fields": [_field(4, "x", "double"), _field(5, "y", "double")]}
TAGS = {"type": "list", "element-id": 6, "element": "string", "element-required": False}
COLUMNS = [_field(1, "id", "long"), _field(2, "place", PLACES), _field(3, "tags", TAGS)]
TYPED = one_file(
    COLUMNS,
    parquet(
        Column("id", "int64", [1, 2], field_id=1),
        Column("place", Struct((Member("x", "double"), Member("y", "double"))), [{"x": 1.0, "y": 2.0}, None], field_id=2),
        Column("tags", ListOf("string"), [["a"], []], field_id=3),
    ),
    2,
    last_column_id=6,
    properties={NAME_MAPPING: json.dumps([{"field-id": 4, "names": ["x"]}, {"field-id": 5, "names": ["y"]}])},
)  # fmt: skip


def _evolved(columns: Sequence[Json]) -> TableMutation:
    """A mutation that changes the schema of the table to another one."""
    content: Json = json.loads(TYPED[METADATA])
    content["schemas"].append({"type": "struct", "schema-id": 1, "fields": list(columns)})
    content |= {"current-schema-id": 1, "last-column-id": 9}
    return TableMutation(file=METADATA, op="write", line=0, to=json.dumps(content, separators=(",", ":")))


NAMED = one_file(
    COLUMNS[:1],
    parquet(Column("id", "int64", [1, 2, 3])),
    3,
    properties={NAME_MAPPING: json.dumps([{"field-id": 1, "names": ["id"]}])},
)

# ------------------------------------------------------------------------------------------------------------ row ids


def moved(stored: Sequence[int | None] = (90, None, 95), first: int = 10) -> Files:
    """A table with a file of moved rows, which stores their ids, and a new file.

    Args:
        stored: The ids that it stores.
        first: The id of its first row, from which ids that are not stored are counted.
    """
    data = parquet(
        Column("id", "int64", [1, 2, 3], field_id=1),
        Column("_row_id", "int64", list(stored), field_id=STORED_ROW_ID),
        row_group_rows=2,
    )
    return one_file(COLUMNS[:1], data, 3, version=3, first=first, next_row_id=100)


MOVED = moved()


# -------------------------------------------------------------------------------------------------------- truncations

TRUNCATED = [{"source-id": 1, "field-id": 1000, "name": "id_trunc", "transform": "truncate[10]"}]


def truncated(value: int = -2_147_483_640) -> Files:
    """A table that is partitioned by truncated numbers, with a file without rows.

    Args:
        value: The partition value.
    """
    columns = [_field(1, "id", "int")]
    data = parquet(Column("id", "int32", [], field_id=1))
    entries = [entry(data_file(PART, data, 0, {"id_trunc": value}, split_offsets=None))]
    summary = {
        "contains_null": False,
        "contains_nan": None,
        "lower_bound": int32(-(1 << 31)),
        "upper_bound": int32((1 << 31) - 1),
    }
    return table(columns, entries, {PART: data}, partition=TRUNCATED, avro=[(1000, "id_trunc", "int")], of_list={"partitions": [summary]}, rows=0)  # fmt: skip


WRAPPED = truncated()

BY_TWO = deletes(compared=(1, 2))

GOOD_TABLES = (
    GoodTable("ice/deletes-by-two-columns", "An equality delete that compares a number and a text", BY_TWO),
    GoodTable("ice/typed", "A number, a struct whose members have names and no ids, and a list", TYPED),
    GoodTable("ice/named", "A file without ids, for which the table has names", NAMED),
    GoodTable("ice/moved-rows", "A file that stores the ids of two rows, and not that of a third", MOVED),
    GoodTable("ice/truncated", "A file of no rows, among those of the least numbers", WRAPPED),
)

_bad = partial(bad, (*PLAIN_TABLES, *OF_VECTORS, *GOOD_TABLES), tier="footer")

BAD_TABLES = (
    _bad("number-said-to-be-text", "A column of numbers is text in the schema", "Queries fail.", _evolved([_field(1, "id", "string"), *COLUMNS[1:]]), "094", of="typed"),
    _bad("long-said-to-be-int", "A column is narrower in the schema than in the file", "Queries find other numbers, or fail.", _evolved([_field(1, "id", "int"), *COLUMNS[1:]]), "094", of="typed"),
    _bad("element-said-to-be-a-number", "A list of text is one of numbers in the schema", "Queries fail.", _evolved([*COLUMNS[:2], _field(3, "tags", {**TAGS, "element": "long"})]), "094", of="typed"),
    _bad("required-column-absent", "A column that cannot be null is not in the file", "Queries fail, or find null where there can be none.", _evolved([*COLUMNS, _field(9, "town", "string", required=True)]), "095", of="typed"),
    _bad("names-taken-away", "A file has no ids, and the table no names", "Queries find null in place of the values, or fail.", TableMutation(file=METADATA, op="set", line=0, path="properties", to={}), "096", of="named"),
    _bad("equality-of-numbers-with-a-point", "An equality delete compares a column of floating point numbers", "Every reader decides for itself which rows are deleted.", deletes(compared=6), "097", of="deletes", tier="meta"),
    _bad("equality-of-one-column-twice", "An equality delete names a column twice", "Some readers fail.", deletes(compared=(1, 1)), "098", of="deletes-by-two-columns", tier="meta"),
    _bad("snapshot-without-row-ids", "A snapshot of version 3 has no first row id", "The rows cannot be followed from one snapshot to the next.", TableMutation(file=METADATA, op="remove", line=0, path="snapshots.[0].first-row-id"), "099", of="moved-rows", tier="meta"),
    _bad("row-ids-of-deletes", "The manifest list gives row ids to a manifest of deletes", "None that is known.", vectors(first_row_id=16), "100", of="vectors", tier="meta"),
    _bad("row-id-of-the-future", "A file stores a row id that the table has not given away", "New rows get the ids of others.", moved((90, None, 100)), "101", of="moved-rows", tier="values"),
    _bad("row-id-stored-twice", "A file stores one row id twice", OTHER_ROWS, moved((90, None, 90)), "102", of="moved-rows", tier="values"),
    _bad("row-id-stored-and-inherited", "A row inherits the id that another one has stored", OTHER_ROWS, moved((90, None, 11)), "102", of="moved-rows", tier="values"),
    _bad("truncated-and-wrapped", "The least numbers are in the partition of the greatest", "Queries for numbers below another one skip the file, and rows are missing.", truncated(2_147_483_646), "103", of="truncated", tier="meta"),
    _bad("text-said-to-be-bytes", "A list of text is one of bytes in the schema", "Some readers refuse the file.", _evolved([*COLUMNS[:2], _field(3, "tags", {**TAGS, "element": "binary"})]), "104", of="typed"),
)  # fmt: skip
