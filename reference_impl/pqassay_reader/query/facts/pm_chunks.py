"""Rows of a Parquet file, using only its ``_pm``: the footer of the Parquet file is never read.

``_pm`` has the range, codec, encodings and number of values of a chunk, and the levels of its column.  It has no logical types;
QuestDB's type codes replace them, and a column without a code returns the physical values.

Source: "Parquet metadata file" (``parquet-metadata.md``), section "Access patterns".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pqassay_reader.query.facts.pm_facts import snapshot_facts
from pqassay_reader.query.fetching.field_pages import FieldPages, Reading
from pqassay_reader.query.fetching.ranges import GAP, Fetched, FetchedRanges
from pqassay_reference.errors import Undecodable
from pqassay_reference.pm.read import PmReader
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import Source


class ChunkRows:
    """Rows of some columns, row group by row group.

    Args:
        reader: The snapshot.
        data: The Parquet file; only its column chunks are read.
        gap: Largest gap in bytes between two ranges that are fetched in one request.
        columns: Names of the columns; all by default. A nested one yields each of its parts.
        rows: Range of row numbers, from 0; all by default.
        logical: Whether values get the types of QuestDB's type codes.

    Raises:
        Refused: There is no such column, or no schema can have the levels of a column.
    """

    def __init__(
        self,
        reader: PmReader,
        data: Source,
        columns: Sequence[str] | None = None,
        rows: range | None = None,
        *,
        gap: int = GAP,
        logical: bool = True,
    ) -> None:
        names = [column.name for column in reader.columns] if columns is None else columns
        self._reader, self._rows = reader, rows
        self._ranges = FetchedRanges(data, gap=gap)
        self._positions = [place for name in dict.fromkeys(names) for place in reader.columns_of(name)]
        self._facts = snapshot_facts(reader, logical=logical)
        kinds = [self._plain(place, self._facts.schema.field(place).type) for place in self._positions]
        self.schema = pa.schema(list(zip(self._labels(), kinds, strict=True)))
        """Names and types of the columns."""

    @property
    def fetched(self) -> Fetched:
        """What was fetched so far."""
        return self._ranges.data

    def batches(self) -> Iterator[pa.Table]:
        """Yield a table for each row group with requested rows. At most one is in memory at a time.

        Raises:
            Malformed: A block, or the page that a chunk begins with, cannot be read.
            Undecodable: A chunk cannot be decoded, or has other rows than in ``_pm``.
        """
        counts = self._facts.row_counts
        stops, asked = list(accumulate(counts)), self._rows
        taken: dict[int, range] = {}
        for number, (stop, count) in enumerate(zip(stops, counts, strict=True)):
            first = stop - count
            rows = (
                range(count)
                if asked is None
                else range(max(asked.start - first, 0), min(asked.stop - first, count))
            )
            if rows:
                taken[number] = rows
        self._ranges.plan(self._facts.pieces(taken, self._positions))
        for number, rows in taken.items():
            first = stops[number] - counts[number]
            columns = [self._column(number, first, place, rows) for place in self._positions]
            yield pa.table(columns, schema=self.schema)
            self._ranges.release(stops[number])

    def table(self) -> pa.Table:
        """All rows in one table. Raises the errors of `batches`."""
        return pa.concat_tables([self.schema.empty_table(), *self.batches()])

    def _labels(self) -> Iterator[str]:
        """Names of the columns; the parts of a nested one are numbered."""
        for place in self._positions:
            name = self._reader.columns[place].name
            parts = list(self._reader.columns_of(name))
            yield name if len(parts) == 1 else f"{name}.{parts.index(place)}"

    def _plain(self, place: int, values: Any) -> Any:
        """Values, or a type, without groups that only represent levels."""
        is_type = isinstance(values, pa.DataType)
        while not self._reader.columns[place].max_rep_level and pa.types.is_struct(
            values if is_type else values.type
        ):
            values = values.field(0).type if is_type else pc.struct_field(values, 0)
        return values

    def _column(self, row_group: int, first_row: int, place: int, rows: range) -> Any:
        field, numbers = self._facts.fields[place], np.arange(rows.start, rows.stop)
        pages = FieldPages(self._facts, self._ranges, row_group, first_row, field, Reading(indexed=False))
        try:
            self._ranges.want(pages.pieces(numbers))
            return self._plain(place, pages.values(numbers))
        except Undecodable as error:
            raise Undecodable(str(error).removeprefix(f"{self._ranges.name}: ")) from error
        except FormatError as error:
            where = f"column {field.arrow.name} in row group {row_group}"
            offset = self._reader.block(row_group).chunks[place].byte_range_start
            raise error.within(file=self._ranges.name, field=where, offset=offset) from None


__all__ = ["ChunkRows"]
