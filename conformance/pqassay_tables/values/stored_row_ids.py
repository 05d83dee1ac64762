"""The row ids stored in a data file, compared with the inherited row ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pqassay.tables.claims import RowIdClaims
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.fields import in_footer
from pqassay.under_test.file import FileUnderTest
from pqassay.under_test.violation import Violation
from pqassay.values.claims.joined_rows import JoinedRows
from pqassay.values.claims.outcomes import Outcome
from pqassay.values.claims.value_rules import Claim, ComparedBy
from pqassay.values.claims.wording import others
from pqassay_spec.parquet.thrift import Type
from pqassay_tables.under_test.claimed_columns import ClaimedFile

if TYPE_CHECKING:
    from pqassay.values.decoding.chunk_values import ChunkValues


def _ordinal(owner: ClaimedFile, ids: RowIdClaims) -> int | None:
    """The position of the column of stored ids; ``None`` if the file has no such integer column."""
    ordinal = owner.ordinal_of(ids.field_id, ids.path)
    if ordinal is None:
        return None
    leaf = owner.file.leaves[ordinal]
    return ordinal if leaf.element.type == Type.INT64 and not leaf.max_repetition_level else None


def ids_given_away(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """Yield the claim that the table has assigned all stored ids."""
    owner = chunk.file.part(ClaimedFile)
    ids = owner.claims.row_ids
    if ids is None or _ordinal(owner, ids) != chunk.ordinal:
        return

    def compare(values: ChunkValues) -> Iterator[Violation]:
        stored = values.values.to_numpy()
        beyond = (stored < 0) | (stored >= ids.end)
        if beyond.any():
            place = int(beyond.argmax())
            actual, group = int(stored[place]), chunk.row_group
            yield Violation(
                f"row {values.row_of(place)} of row group {group} of {owner.name} has the "
                f"stored row id {actual}, but the table's next row id is "
                f"{ids.end}{others(int(beyond.sum()))}",
                in_footer(chunk.file, chunk.path) / "meta_data",
                expected=f"0 to {ids.end - 1}",
                actual=str(actual),
                column=chunk.leaf.name,
                row_group=group,
                remedy=owner.claims.remedy,
            )

    yield ComparedBy(compare)


class DistinctRowIds(JoinedRows):
    """The claim that no two rows of a file have the same id, whether stored or inherited."""

    def __init__(self, file: FileUnderTest, outcome: Outcome) -> None:
        super().__init__(file, outcome)
        self._owner = file.part(ClaimedFile)
        self._ids = self._owner.claims.row_ids
        ordinal = None if self._ids is None else _ordinal(self._owner, self._ids)
        outcome.applies = ordinal is not None
        self.ordinals = frozenset(() if ordinal is None else (ordinal,))
        self._of_rows: list[Any] = []
        self._rows: list[Any] = []

    def take(self, values: ChunkValues) -> Any:
        """The stored ids, a mask of the rows with one, and the number of rows."""
        return values.values.to_numpy(), values.valid, values.entries

    def compare(self, group: int, taken: Mapping[int, Any]) -> Iterator[Violation]:
        """Keep the ids of a row group, and the positions of its rows in the file."""
        import numpy as np  # noqa: PLC0415 - at this tier only

        (stored, valid, entries) = next(iter(taken.values()))
        start = sum(one.num_rows for one in self.file.metadata.row_groups[:group])
        rows = np.arange(start, start + entries)
        first = None if self._ids is None else self._ids.first
        ids = rows + (first or 0)
        ids[valid] = stored
        has_id = valid if first is None else slice(None)
        self._of_rows.append(ids[has_id])
        self._rows.append(rows[has_id])
        yield from ()

    def finish(self) -> Iterator[Violation]:
        """Compare all ids. Raises `NotChecked` if some are unknown."""
        import numpy as np  # noqa: PLC0415 - at this tier only

        if self._of_rows:
            ids, rows = np.concatenate(self._of_rows), np.concatenate(self._rows)
            order = np.argsort(ids, kind="stable")
            again = ids[order[1:]] == ids[order[:-1]]
            if again.any():
                place = int(again.argmax())
                before, after = (int(rows[order[place + step]]) for step in (0, 1))
                actual = int(ids[order[place]])
                ordinal = next(iter(self.ordinals))
                yield Violation(
                    f"rows {before} and {after} of {self._owner.name} have the row id {actual}{others(int(again.sum()))}",
                    in_footer(self.file, f"row_groups[0].columns[{ordinal}]") / "meta_data",
                    expected="a unique id for each row",
                    actual=f"{actual} twice",
                    column=self.file.leaves[ordinal].name,
                    remedy=self._owner.claims.remedy,
                )
        yield from super().finish()
