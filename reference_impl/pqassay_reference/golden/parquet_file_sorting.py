"""Golden cases of rows that are sorted as the footer says, or are not."""

from __future__ import annotations

from pqassay_reference.golden.recipes import set_to
from pqassay_reference.golden.statistics_values import audited, untrue
from pqassay_reference.tiny.columns import Column
from pqassay_reference.tiny.parquet import TinyParquet
from pqassay_spec.parquet.thrift import SortingColumn

SORTED = TinyParquet(
    (
        Column("metal", "string", ["lead", "lead", "lead", "tin", None]),
        Column("depth", "int32", [None, 40, 12, 90, 7]),
    ),
    sorting_columns=[
        SortingColumn(column_idx=0, descending=False, nulls_first=False),
        SortingColumn(column_idx=1, descending=True, nulls_first=True),
    ],
)

GOOD = (
    audited("pqf/sorted-rows", "Rows sorted by two columns, one ascending and one descending, nulls last and nulls first", SORTED, ("PQF-075",)),
)  # fmt: skip

BAD = (
    untrue("pqf/unsorted-rows", "The rows are sorted by the second column the other way round", "A reader that searches or merges sorted rows misses some.", "pqf/sorted-rows", set_to("footer.row_groups[0].sorting_columns[1].descending", False), "PQF-075"),
)  # fmt: skip
