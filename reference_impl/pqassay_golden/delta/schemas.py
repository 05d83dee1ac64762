"""Golden Delta tables whose data files have other columns than the schema, or are live twice."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from pqassay_golden.delta.table import (
    COLUMNS,
    INFO,
    READ_FAILS,
    Json,
    add,
    bad,
    change,
    commit,
    compact,
    lines,
    metadata,
    schema,
)
from pqassay_golden.delta.vectors import DELETED, VECTORS
from pqassay_golden.tables import GoodTable, parquet
from pqassay_golden.tiny.columns import Column, ListOf, MapOf, Member, Struct, decimal
from pqassay_spec.mutation.table_mutations import TableMutation

NULLS = "Queries find null in place of the values of the file."


def _struct(*fields: tuple[str, Any]) -> Json:
    return {
        "type": "struct",
        "fields": [{"name": name, "type": kind, "nullable": True, "metadata": {}} for name, kind in fields],
    }


def _nested(mark: str = "long", weight: str = "double") -> str:
    """The schema of a table with a struct, a list and a map.

    Args:
        mark: The type of a member of the struct.
        weight: The type of the values of the map.
    """
    return compact(
        _struct(
            ("part", _struct(("mark", mark), ("price", "decimal(9,2)"))),
            ("tags", {"type": "array", "elementType": "string", "containsNull": True}),
            ("weights", {"type": "map", "keyType": "string", "valueType": weight, "valueContainsNull": True}),
        )
    )


NESTED = parquet(
    Column("part", Struct((Member("mark", "int64"), Member("price", decimal(9, 2)))), [{"mark": 1, "price": 2}, None]),
    Column("tags", ListOf("string"), [["a", None], []]),
    Column("weights", MapOf("string", "double"), [[("a", 1.5)], None]),
)  # fmt: skip

_WITH_VECTORS = json.loads(DELETED[commit(0)].split(b"\n")[3])["add"]
"""The entry of the first file of the table with deletion vectors."""

RESTORED = {
    **DELETED,
    commit(1): lines(
        {"remove": {"path": "part-0.parquet", "deletionTimestamp": 1_700_000_000_000, "dataChange": True, "deletionVector": VECTORS[0]}},
        {"add": {name: value for name, value in _WITH_VECTORS.items() if name != "deletionVector"}},
    ),
}  # fmt: skip

_ROW_ID = "_row-id-col-6d1b9e4c"
_TRACKED = parquet(Column("id", "int64", [1, 2, 3]), Column(_ROW_ID, "int64", [90, None, 95]))


def _mark(mark: int) -> Json:
    configuration = json.dumps({"rowIdHighWaterMark": mark})
    return {
        "domainMetadata": {"domain": "delta.rowTracking", "configuration": configuration, "removed": False}
    }


TRACKED = {
    commit(0): lines(
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": ["rowTracking", "domainMetadata"]}},
        metadata(schema(id="long"), **{"delta.rowTracking.materializedRowIdColumnName": _ROW_ID}),
        _mark(99),
        add("part-0.parquet", _TRACKED, {"numRecords": 3}, baseRowId=10, defaultRowCommitVersion=0),
    ),
    "part-0.parquet": _TRACKED,
}  # fmt: skip

GOOD_TABLES = (
    GoodTable("dlt/moved-rows", "A file that stores the ids of two rows, and not that of a third", TRACKED),
    GoodTable(
        "dlt/nested",
        "A struct, a list and a map",
        {
            commit(0): lines(
                INFO,
                {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
                metadata(_nested()),
                add("part-0.parquet", NESTED, None),
            ),
            "part-0.parquet": NESTED,
        },
    ),
    GoodTable("dlt/undeleted", "A file whose deletion vector was taken away again", RESTORED),
)


def _columns(**others: Any) -> str:
    """The schema of the plain table, with other types of columns."""
    return schema(**{**COLUMNS, **others})


def _required() -> str:
    """The schema of the plain table with one more column, which cannot be null."""
    declared: Json = json.loads(schema(**COLUMNS))
    declared["fields"].append({"name": "town", "type": "string", "nullable": False, "metadata": {}})
    return compact(declared)


footer = partial(bad, tier="footer", of="unmeasured")


def _schema(text: str, line: int = 1) -> TableMutation:
    return change("metaData.schemaString", text, line=line)


BAD_TABLES = (
    footer("whole-numbers-said-to-be-dates", "A column of whole numbers is one of dates in the schema", READ_FAILS, _schema(_columns(id="date")), "066"),
    footer("another-scale", "A column of decimals has another scale in the schema", "Queries find other numbers, or fail.", _schema(_columns(price="decimal(9,3)")), "066"),
    footer("narrower-than-the-file", "A column is narrower in the schema than in the files", "Queries find other numbers, or fail.", _schema(_columns(id="integer")), "066"),
    footer("member-of-another-type", "A member of a struct is text in the schema, and the file has numbers", READ_FAILS, _schema(_nested(mark="string"), 2), "066", of="nested"),
    footer("values-of-another-type", "The values of a map are booleans in the schema, and the file has numbers", READ_FAILS, _schema(_nested(weight="boolean"), 2), "066", of="nested"),
    footer("required-and-absent", "A column that cannot be null is not in the files", "Queries fail, or find null where there can be none.", _schema(_required()), "067"),
    footer("names-in-capitals", "A column is written in capitals in the schema, and not in the files", NULLS, _schema(schema(**{name.upper() if name == "id" else name: kind for name, kind in COLUMNS.items()})), "068"),
    footer("columns-of-another-table", "The files have none of the columns of the schema", NULLS, _schema(schema(town="string", year="integer")), "069"),
    bad("live-twice", "A file is added without its deletion vector, and the entry with it is not removed", "Readers return the rows of the file once or twice, deleted ones among them.", TableMutation(file=commit(1), op="remove", line=0, path="remove.deletionVector"), "070", of="undeleted"),
    footer("text-said-to-be-bytes", "A column of text is one of bytes in the schema", "Some readers refuse the file.", _schema(_columns(metal="binary")), "071"),
    footer("not-yet-widened", "A column of decimals has more digits in the schema than in the files, and no type may have been widened", "Some readers refuse the file.", _schema(_columns(price="decimal(12,2)")), "071"),
    bad("row-id-of-the-future", "A file stores a row id above the high water mark", "New rows get the ids of others.", change("domainMetadata.configuration", json.dumps({"rowIdHighWaterMark": 94}), line=2), "072", of="moved-rows", tier="values"),
    bad("row-id-stored-and-counted", "A row has the id by its place that another one has stored", "Changes of one row are shown as those of another.", change("add.baseRowId", 89), "073", of="moved-rows", tier="values"),
)  # fmt: skip
