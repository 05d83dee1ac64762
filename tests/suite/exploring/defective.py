"""Readers for `pqassay suite explore`: each is right but for one planted defect, which its argument names.

python defective.py DEFECT --serve
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from suite.fakes.honest import Honest, run

from pqassay_driver import Query, matching  # isort: skip

ORDER = ("<", "<=", ">", ">=")

Rows = list[list[Any]]


def nan_beside_bounds(file: Any, query: Query, groups: list[Rows]) -> list[Rows]:
    """A row group with NaN and bounds has no row for a comparison by order."""
    if query.predicate[0] not in ORDER:
        return groups
    place = file.schema_arrow.names.index(query.predicate[1])
    return [
        []
        if any(row[place] == {"float": "nan"} for row in rows)
        and file.metadata.row_group(number).column(place).is_stats_set
        else rows
        for number, rows in enumerate(groups)
    ]


def dictionary_and_nulls(file: Any, _: Query, groups: list[Rows]) -> list[Rows]:
    """A null of a column with a dictionary is taken for the first value."""
    for number, rows in enumerate(groups):
        for place in range(len(rows[0]) if rows else 0):
            chunk = file.metadata.row_group(number).column(place)
            values = [row[place] for row in rows if row[place] is not None]
            if chunk.has_dictionary_page and values:
                for row in rows:
                    row[place] = values[0] if row[place] is None else row[place]
    return groups


def second_row_group(_: Any, query: Query, groups: list[Rows]) -> list[Rows]:
    """The second row group is forgotten for ``<``."""
    return [groups[0], *groups[2:]] if query.predicate[0] == "<" else groups


def bloom_filter(file: Any, query: Query, groups: list[Rows]) -> list[Rows]:
    """No value is in a bloom filter."""
    if not query.index or query.predicate[0] != "=":
        return groups
    place = file.schema_arrow.names.index(query.predicate[1])
    chunks = [file.metadata.row_group(number).column(place) for number in range(len(groups))]
    return [[] if chunk.bloom_filter_offset else rows for chunk, rows in zip(chunks, groups, strict=True)]


def believing(file: Any, query: Query, groups: list[Rows]) -> list[Rows]:
    """An upper bound is believed, whatever the values are."""
    if not query.index or query.predicate[0] != "=" or not isinstance(query.predicate[2], int):
        return groups
    place = file.schema_arrow.names.index(query.predicate[1])
    bounds = [file.metadata.row_group(number).column(place).statistics for number in range(len(groups))]
    return [
        [] if each is not None and each.has_min_max and each.max < query.predicate[2] else rows
        for each, rows in zip(bounds, groups, strict=True)
    ]


DEFECTS: dict[str, Callable[[Any, Query, list[Rows]], list[Rows]]] = {
    "none": lambda _, __, groups: groups,
    "nan-beside-bounds": nan_beside_bounds,
    "dictionary-and-nulls": dictionary_and_nulls,
    "second-row-group": second_row_group,
    "bloom-filter": bloom_filter,
    "believing": believing,
}


class Defective(Honest):
    name = "defective"
    index_off = True

    def __init__(self, spoil: Callable[[Any, Query, list[Rows]], list[Rows]]) -> None:
        super().__init__()
        self._spoil = spoil

    def scan(self, path: str, query: Query) -> Rows:
        import pyarrow.parquet as pq
        from arrow_tables import rows_of

        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            groups = [rows_of(file.read_row_group(number), names) for number in range(file.num_row_groups)]
            kept = [row for rows in self._spoil(file, query, groups) for row in rows]
        return [[row[name] for name in query.columns] for row in matching(query.predicate, names, kept)]


if __name__ == "__main__":
    defect = sys.argv.pop(1)
    run(Defective(DEFECTS[defect]))
