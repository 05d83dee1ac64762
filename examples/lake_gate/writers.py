"""Two jobs that write into one Delta table, each with a release that writes something false, and the table does not notice.

`load_prices` writes by deltalake 1.6.6, which puts the bounds of wide decimals into the log with fewer digits than they have: a query for
the greatest price finds no row.  `load_labels` writes its file by pyarrow 26.0.1, which takes an unused category for the least value where there is
a null, and adds it to the table with true bounds.  Put your own jobs in their place; the gate knows nothing of them.
"""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, write_deltalake
from deltalake.transaction import AddAction

TABLE = Path("lake", "prices")

KINDS: dict[str, pa.DataType] = {"night": pa.string(), "price": pa.decimal128(18, 3), "label": pa.string()}
SCHEMA = pa.schema(KINDS)

GREATEST = Decimal("998549721027727.625")


def load_prices(night: str) -> None:
    """Append the prices of a night."""
    rows = pa.table(
        {
            "night": [night] * 4,
            "price": pa.array([GREATEST, Decimal("1.500"), Decimal("2.250"), None], pa.decimal128(18, 3)),
            "label": ["b", "c", None, "d"],
        },
        schema=SCHEMA,
    )
    said = CommitProperties(custom_metadata={"jobName": "load_prices", "userName": "pricing"})
    write_deltalake(TABLE, rows, mode="append", commit_properties=said)


def load_labels(night: str) -> None:
    """Append the labels of a night: the file by one library, the commit by another."""
    labels = pa.DictionaryArray.from_arrays(pa.array([1, None, 1], pa.int8()), pa.array(["a", "b"]))
    price = pa.array([Decimal("3.000")] * 3, pa.decimal128(18, 3))
    rows = pa.table({"night": [night] * 3, "price": price, "label": labels})
    path = TABLE / f"labels-{night}.parquet"
    pq.write_table(rows, path, store_schema=False)
    stats = {
        "numRecords": 3,
        "minValues": {"night": night, "price": 3, "label": "b"},
        "maxValues": {"night": night, "price": 3, "label": "b"},
        "nullCount": {"night": 0, "price": 0, "label": 1},
    }
    table = DeltaTable(TABLE)
    added = AddAction(path.name, path.stat().st_size, {}, 0, True, json.dumps(stats))
    said = CommitProperties(custom_metadata={"jobName": "load_labels", "userName": "taxonomy"})
    table.create_write_transaction([added], "append", table.schema(), commit_properties=said)
