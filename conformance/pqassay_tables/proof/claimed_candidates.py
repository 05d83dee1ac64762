"""Queries that may show the effect of a table's false claim; see `pqassay.proof.candidates`."""

from __future__ import annotations

import contextlib
from itertools import chain
from typing import Any

from pqassay.proof.candidates import MOST_QUERIES, RowStretch, every_column, nulls, outside, within
from pqassay.proof.queries import Query
from pqassay.proof.true_values import TrueValues, bound_value
from pqassay.report.model import Finding
from pqassay.tables.claims import BOUNDS, FileClaims, Metric, Typed
from pqassay.under_test.file import NotChecked
from pqassay_tables.under_test.claimed_bounds import stored_bound


def claimed_candidates(
    finding: Finding, values: TrueValues, claims: FileClaims, name: str, remaining: Any
) -> list[Query]:
    """The queries to try for a table's false claim about a file, the most promising first.

    Args:
        finding: The finding.
        values: The values of the file.
        claims: The claims of the table about it.
        name: The column of the finding, or any column if it has none.
        remaining: The column's values in the live rows of the table.

    Raises:
        NotChecked: There are none; the message says why.
    """
    column = values.column(name)
    rows = remaining.combine_chunks()
    stretch = RowStretch(next(iter(values.chunks.values())), column, rows, None, 0, len(rows), "")
    queries: dict[Query, None] = {}
    if finding.column is None:
        queries[every_column(values)] = None
    if finding.column is None or counts_rows(finding):
        queries[Query(())] = None
    leaf = next(leaf for leaf in values.file.leaves if leaf.is_called(name))
    bounds: list[Any] = [None, None]
    metrics = claims.metrics
    columns = () if metrics is None else metrics.columns()
    column_of_table = next((each for each in columns if each.name == name), None)
    if (
        metrics is not None
        and column_of_table is not None
        and (reading := column_of_table.reading) is not None
    ):
        for place, metric in enumerate(BOUNDS):
            raw = metrics.given(metric).get(column_of_table.key)
            with contextlib.suppress(NotChecked, ValueError):
                bound = None if raw is None else Typed(reading.kind, reading.read(raw))
                stored = (
                    None if bound is None else stored_bound(leaf.element, bound, above=metric is Metric.UPPER)
                )
                bounds[place] = bound_value(leaf, stored) if isinstance(stored, bytes) else None
    nulls_first = bool(finding.at) and "null" in finding.at[0].field.lower()
    streams = [outside(stretch, *bounds), within(stretch), nulls(stretch)]
    for query in chain.from_iterable(reversed(streams) if nulls_first else streams):
        queries[query] = None
    queries[Query((column,))] = None
    return list(queries)[:MOST_QUERIES]


def counts_rows(finding: Finding) -> bool:
    """Whether a finding is about the number of rows or nulls."""
    return any(
        "count" in position.field.lower() or "records" in position.field.lower() for position in finding.at
    )
