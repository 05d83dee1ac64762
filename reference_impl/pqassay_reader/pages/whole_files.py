"""The distinct values of one column in whole files, from IDX1 indexes or an index table, in the form of distinct sets."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from pqassay_reader.condition.kinds import compared_type
from pqassay_reader.condition.normal import ColumnTest, Condition, folded
from pqassay_reader.condition.rows import ExpressionTest, rows_in
from pqassay_reader.directory.arrays import Mask, Sets
from pqassay_reader.pages.excluding import ColumnSets, Truth, all_masks, any_mask
from pqassay_reference.columns.column_values import is_text
from pqassay_reference.directory.reading.blob import Numbers, Parts
from pqassay_spec.directory.codes import Granularity
from pqassay_spec.idx1 import blob as idx1

SHOWN = 3
"""Most values in an explanation."""

LONGEST = 60
"""Most characters of a value in an explanation."""


def indexable(kind: Any) -> bool:
    """Whether the values of a type can be compared with those of an index: whether it is text, in any form."""
    types = pa.types
    if types.is_dictionary(kind):
        return indexable(kind.value_type)
    return is_text(kind) or types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind)


class FileValues(NamedTuple):
    """The values of a column in one file.

    Attributes:
        column: The column, at the top level.
        file: Number of the file.
        values: The distinct values.
        may_be_null: Whether the column may have nulls.
        in_pieces: Whether values may have line feeds, at which the index splits them.
    """

    column: str
    file: int
    values: tuple[str, ...]
    may_be_null: bool
    in_pieces: bool = False


class WholeFiles(ColumnSets):
    """The values of one column in many files.

    Args:
        name: The name of the column.
        kind: The type in which it is compared.
        files: Numbers of the files.
        starts: The position of the first value of each file in ``codes``, and the end of the last file.
        codes: For each value of each file, its position in ``values``.
        values: The distinct values of all files.
        nulls: For each file, whether the column may have nulls.
        in_pieces: Whether values may have line feeds, at which the index splits them.
    """

    def __init__(
        self,
        name: str,
        kind: Any,
        files: Numbers,
        starts: Numbers,
        codes: Numbers,
        values: Any,
        nulls: Mask,
        *,
        in_pieces: bool = False,
    ) -> None:
        nothing, none = np.zeros(len(files), np.int64), np.zeros(len(files), np.bool_)
        parts = Parts(files, nothing, nothing)
        super().__init__(Sets(name, Granularity.FILE, parts, values, starts, nulls, none, ~none), name, kind)
        self._codes, self._in_pieces = codes, in_pieces

    @classmethod
    def of(cls, schema: pa.Schema, several: Sequence[FileValues]) -> WholeFiles:
        """Collect the values of a column in single files; ``schema`` gives its type."""
        first = several[0]
        texts = chain.from_iterable(file.values for file in several)
        encoded: Any = pa.array(texts, pa.string()).dictionary_encode()
        return cls(
            first.column,
            compared_type(schema.field(first.column).type),
            np.array([file.file for file in several], np.int64),
            np.cumsum([0, *(len(file.values) for file in several)], dtype=np.int64),
            encoded.indices.to_numpy().astype(np.int64),
            encoded.dictionary,
            np.array([file.may_be_null for file in several], np.bool_),
            in_pieces=first.in_pieces,
        )

    @cached_property
    def _distinct(self) -> tuple[Any, Numbers]:
        return pa.concat_arrays([self.values, pa.nulls(2, self.values.type)]), self._codes

    def _truth(self, test: ColumnTest) -> Truth:
        truth = super()._truth(test)
        return truth if self._decides(test) else truth._replace(may=np.ones_like(truth.may))

    def decides(self, condition: Condition) -> bool:
        """Whether the values are enough to decide a condition on their column."""
        return folded(condition, lambda test: test.column != self.name or self._decides(test), all, all)

    def _decides(self, test: ColumnTest) -> bool:
        """Whether the values are enough to decide a test; split values are enough if the constants have no line feeds."""
        is_known = not (isinstance(test, ExpressionTest) or test.values.null)
        points = test.values.points if is_known else None
        separators = idx1.SEPARATOR, idx1.SEPARATOR.encode()
        return not self._in_pieces or (
            points is not None and not any(separators[isinstance(one, bytes)] in one for one in points)
        )

    def why(self, file: int, condition: Condition) -> tuple[bool, str]:
        """Whether the values of a file alone exclude it, and an explanation; empty for unknown files."""
        places = np.flatnonzero(self.sets.parts.row_group == file)
        if not len(places):
            return False, ""
        values, codes = self._distinct

        def of_test(test: ColumnTest) -> Mask:
            return rows_in(test, values) if test.column == self.name else np.ones(len(values), np.bool_)

        alive = np.broadcast_to(folded(condition, of_test, all_masks, any_mask), len(values))
        if not self.decides(condition):
            return False, f"{self.name}: the index has no companion record, which this condition needs"
        place = int(places[0])
        codes_of_file = codes[self.sets.starts[place] : self.sets.starts[place + 1]]
        first = self.values.take(codes_of_file[alive[codes_of_file]][: SHOWN + 1]).to_pylist()
        names = [repr(one) if len(one) <= LONGEST else f"{one[:LONGEST]!r}…" for one in first[:SHOWN]]
        reasons = [f"holds {', '.join([*names, '…'] if len(first) > SHOWN else names)}"] if names else []
        if self.sets.nulls[place] and alive[-1]:
            reasons.append("may hold null")
        message = (
            f"{self.name} {' and '.join(reasons)}" if reasons else f"no value of {self.name} satisfies it"
        )
        return not reasons, message


__all__ = ["FileValues", "WholeFiles", "indexable"]
