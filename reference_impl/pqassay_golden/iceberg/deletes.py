"""Golden Iceberg tables with delete files, sort orders and row ids, and copies with one false claim about them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from pqassay_golden.iceberg.files import (
    DELETES,
    LOCATION,
    METADATA,
    Files,
    Json,
    data_file,
    entry,
    parts_of,
    table,
)
from pqassay_golden.iceberg.table import ADDED, BY_EARLIER, COLUMNS, PARTS, ROWS, bad, deletes
from pqassay_golden.iceberg.table import GOOD_TABLES as PLAIN_TABLES
from pqassay_golden.tables import GoodTable, parquet
from pqassay_golden.tiny.columns import Column
from pqassay_spec.mutation.table_mutations import TableMutation
from pqassay_spec.table.iceberg import DELETE_FILE_PATH, DELETE_POSITION

Delete = tuple[int, int]
"""The number of a data file, and the position of a row in it."""

NAMES = [f"{LOCATION}/data/part-{number}.parquet" for number in range(3)]
"""The paths of the two data files, and a path without a file."""

# --------------------------------------------------------------------------------------------------- position deletes

OF_BOTH: Sequence[Delete] = ((0, 1), (0, 6), (1, 0), (1, 4))
OF_ONE: Sequence[Delete] = ((1, 3), (1, 5))


def position_deletes(rows: Sequence[Delete], position_id: int = DELETE_POSITION) -> bytes:
    """A position delete file, in row groups of two rows."""
    return parquet(
        Column(
            "file_path",
            "string",
            [NAMES[file] for file, _ in rows],
            optional=False,
            field_id=DELETE_FILE_PATH,
        ),
        Column("pos", "int64", [position for _, position in rows], optional=False, field_id=position_id),
        row_group_rows=2,
    )


def deleting(
    of_both: Sequence[Delete] = OF_BOTH,
    of_one: Sequence[Delete] = OF_ONE,
    position_id: int = DELETE_POSITION,
    first_row_id: int | None = None,
    **more: Any,
) -> Files:
    """A table with two delete files: one has rows of both data files, the other claims to have rows of the second only.

    Args:
        of_both, of_one: The deletes of each.
        position_id: The id of the column of positions in the first.
        first_row_id: The first row id of the data files.
        **more: Further metadata, see `metadata`.
    """
    datas = {
        "data/deletes-0.parquet": position_deletes(of_both, position_id),
        "data/deletes-1.parquet": position_deletes(of_one),
    }
    named = [None, NAMES[1]]
    counts = [len(of_both), len(of_one)]
    entries = [
        entry(data_file(path, data, count, content=1, split_offsets=None, referenced_data_file=name))
        for (path, data), count, name in zip(datas.items(), counts, named, strict=True)
    ]
    return table(
        COLUMNS,
        ADDED,
        {**datas, **parts_of(PARTS)},
        of_list={**BY_EARLIER, "first_row_id": first_row_id},
        deletes=entries,
        of_deletes={"sequence_number": 2, "min_sequence_number": 2},
        sequence=2,
        **more,
    )


POSITIONS = deleting()

UPGRADED = deleting(version=3, first_row_id=0, next_row_id=2 * ROWS)
_VERSION = UPGRADED[DELETES].index(b"format-version") + len(b"format-version") + 1
"""Offset of the version in the header of the manifest of deletes."""


# --------------------------------------------------------------------------------------------------------- sort orders

SORT_ORDERS: list[Json] = [
    {"order-id": 0, "fields": []},
    {
        "order-id": 1,
        "fields": [
            {"source-id": 2, "transform": "truncate[1]", "direction": "desc", "null-order": "nulls-first"},
            {"source-id": 6, "transform": "identity", "direction": "asc", "null-order": "nulls-last"},
        ],
    },
]

NAN = b"\0\0\0\0\0\0\xf8\x7f"
SORTED: Sequence[tuple[str | None, Any]] = (
    (None, 7.5),
    ("zinc", 0.0),
    ("zeal", -0.0),
    ("tin", -3.0),
    ("tan", 5.0),
    ("toy", NAN),
    ("top", None),
    ("iron", 1.0),
    ("iris", 2.0),
)
"""Texts sorted by their first letter, descending, then masses ascending; the fourth and the fifth row are in two row groups."""


def sorted_rows(rows: Sequence[tuple[str | None, Any]] = SORTED, order: int = 1) -> Files:
    """A table with one sorted file."""
    data = parquet(
        Column("metal", "string", [text for text, _ in rows], field_id=2),
        Column("mass", "double", [mass for _, mass in rows], field_id=6),
        row_group_rows=4,
    )
    entries = [entry(data_file("data/part-0.parquet", data, len(rows), sort_order_id=order))]
    more: Json = {"rows": len(rows), "sort_orders": SORT_ORDERS, "default_sort_order_id": 1}
    return table(COLUMNS, entries, parts_of([data]), **more)


IN_ORDER = sorted_rows()


def swapped(first: int) -> Files:
    """The sorted table after swapping a row with the next one."""
    rows = list(SORTED)
    rows[first], rows[first + 1] = rows[first + 1], rows[first]
    return sorted_rows(rows)


# ------------------------------------------------------------------------------------------------------------- row ids


def row_ids(first: int = 100) -> Files:
    """A table of version 3 with two files: the rows of the first inherit their ids, the second has its own.

    Args:
        first: The first row id of the second file.
    """
    entries = [
        entry(data_file("data/part-0.parquet", PARTS[0], ROWS)),
        entry(data_file("data/part-1.parquet", PARTS[1], ROWS, first_row_id=first)),
    ]
    of_list = {"first_row_id": 64}
    return table(
        COLUMNS, entries, parts_of(PARTS), manifests_of=3, of_list=of_list, version=3, next_row_id=108
    )


WITH_IDS = row_ids()

GOOD_TABLES = (
    GoodTable("ice/position-deletes", "Position deletes of both data files, and some that are of one alone", POSITIONS),
    GoodTable("ice/upgraded", "A table of version 3 with position deletes from before", UPGRADED),
    GoodTable("ice/sorted", "A file that is sorted by the first letter of a text and by numbers, with nulls, NaN and both zeros", IN_ORDER),
    GoodTable("ice/row-ids", "Rows with ids: those of one file are inherited, and those of the other its own", WITH_IDS),
)  # fmt: skip

COME_BACK = "Deleted rows come back."
_bad = partial(bad, (*PLAIN_TABLES, *GOOD_TABLES), tier="values")

BAD_TABLES = (
    _bad("deletes-of-the-same-age", "An equality delete is not newer than the data", COME_BACK, deletes(sequence=1), "026", of="deletes", tier="meta"),
    _bad("sort-order-of-nobody", "A file has a sort order that the table does not know", "Readers sort the rows once more.", sorted_rows(order=7), "027", of="sorted", tier="meta"),
    _bad("row-ids-twice", "Rows of two files have the same ids", "Changes of one row are shown as those of another.", row_ids(first=71), "028", of="row-ids", tier="meta"),
    _bad("next-row-id-too-small", "The next row id is that of a row", "New rows get the ids of others.", TableMutation(file=METADATA, op="set", line=0, path="next-row-id", to=107), "029", of="row-ids", tier="meta"),
    _bad("row-ids-of-the-future", "A snapshot gives away row ids beyond the next one", "New rows get the ids of others.", TableMutation(file=METADATA, op="set", line=0, path="snapshots.[0].added-rows", to=109), "092", of="row-ids", tier="meta"),
    _bad("equality-without-its-column", "An equality delete compares a column that its file does not have", "Other rows are deleted, or none.", deletes(compared=2), "044", of="deletes", tier="footer"),
    _bad("positions-by-another-id", "The column of positions has another id", "Queries fail.", deleting(position_id=DELETE_POSITION - 5), "044", of="position-deletes", tier="footer"),
    _bad("deletes-of-two-files", "Deletes of another file are in a file that names one", COME_BACK, deleting(of_one=((0, 3), (1, 5))), "045", of="position-deletes"),
    _bad("deletes-behind-the-rows", "A delete is of a row that the data file does not have", COME_BACK, deleting(of_both=((0, 1), (0, 8), (1, 0), (1, 4))), "046", of="position-deletes"),
    _bad("deletes-of-no-file", "Deletes are of a data file that is not in the table", COME_BACK, deleting(of_both=((0, 1), (0, 6), (1, 0), (2, 4))), "047", of="position-deletes"),
    _bad("deletes-not-sorted", "Deletes of one file are not in the order of its rows", "Readers that merge them with the rows leave one out.", deleting(of_both=((0, 6), (0, 1), (1, 0), (1, 4))), "048", of="position-deletes"),
    _bad("deletes-not-sorted-by-file", "Deletes are not in the order of their files, over two row groups", "Readers that look for a file by its neighbours do not find it.", deleting(of_both=((1, 0), (1, 4), (0, 1), (0, 6))), "048", of="position-deletes"),
    _bad("position-deletes-added", "Position deletes were added to a table of version 3", COME_BACK, TableMutation(file=DELETES, op="bytes", offset=_VERSION, to="33"), "077", of="upgraded", tier="meta"),
    _bad("rows-in-another-order", "Two rows of a sorted file are in each other's place", "Readers that merge sorted files return wrong rows.", swapped(4), "049", of="sorted"),
    _bad("row-groups-in-another-order", "The last row of a row group belongs behind the first one of the next", "Readers that merge sorted files return wrong rows.", swapped(3), "049", of="sorted"),
)  # fmt: skip
