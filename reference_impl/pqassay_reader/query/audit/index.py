"""The audit of a file's own index: whether its set of values holds those of the column.

Source: chapter ``idx1.md``, section "When it may be trusted".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pqassay_reader.query.audit.distrust import NAMED, Lie, Structure
from pqassay_reference.rewrite.extract import Extracted
from pqassay_spec.idx1 import blob as idx1


class IndexAudit:
    """The index of one file, while the row groups of the file are read.

    Args:
        file: The file.
        index: Its index.
        column: The column that it describes.
        skips: Whether it proves, if it is true, that no row satisfies the condition.
    """

    def __init__(self, file: str, index: Extracted, column: str, *, skips: bool) -> None:
        self._file, self._index, self._skips = file, index, skips
        self.column = column
        self._set = pa.array([value.encode() for value in index.values], pa.large_binary())
        self._matched = self._nulls = self._missing = 0
        self._named: list[bytes] = []
        self.is_whole = False
        """Whether all row groups were seen."""

    def see(self, values: Any, matched: int) -> None:
        """Take note of a row group.

        Args:
            values: Its values of the column, a chunked array.
            matched: Its rows that satisfy the condition.
        """
        self._matched += matched
        self._nulls += values.null_count
        flat = values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values
        raw = pc.drop_null(flat.cast(pa.large_binary()))
        is_missing = pc.invert(pc.is_in(raw, value_set=self._set))
        if self._index.companion is None:
            # Nobody says that values are whole in such an index: one with a line feed is there in pieces.
            is_whole = pc.invert(pc.match_substring(raw, idx1.SEPARATOR))
            is_missing = pc.and_(is_missing, is_whole)
        missing = raw.filter(is_missing)
        self._missing += len(missing)
        if len(self._named) < NAMED:
            named = [*self._named, *pc.unique(missing.slice(0, 1 << 16)).slice(0, NAMED).to_pylist()]
            self._named = list(dict.fromkeys(named))[:NAMED]

    def lies(self) -> Iterator[Lie]:
        """What was found false so far."""
        lost = self._matched if self._skips else 0
        if self._missing:
            names = ", ".join(repr(raw.decode(errors="replace")[:40]) for raw in self._named)
            rows = "1 row with another" if self._missing == 1 else f"{self._missing} rows with others"
            yield self._lie(f"no value but its {len(self._set)}", f"{rows}: {names}", lost)
        companion = self._index.companion
        if companion is not None and self._is_false(companion.null_count):
            yield self._lie(f"null_count {companion.null_count}", f"null_count {self._nulls}", lost)

    def _is_false(self, null_count: int) -> bool:
        """Whether a count of nulls can be told to be false: of a file that was not read to its end, only if it is too small."""
        return self._nulls > null_count or (self.is_whole and self._nulls < null_count)

    def _lie(self, claim: str, found: str, lost: int) -> Lie:
        return Lie(self._file, None, self.column, None, Structure.IDX1, claim, found, lost)


__all__ = ["IndexAudit"]
