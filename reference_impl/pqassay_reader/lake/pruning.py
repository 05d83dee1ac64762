"""Pruning: the files that a filter leaves over, by what is known of the values in their columns.

The decision is Arrow's own.  For each distinct value of a column, over all files, there is a stand-in for a file that
holds this value and no other; Arrow is asked which of the stand-ins a filter leaves over, as it asks itself about
partitions.  So every condition that Arrow can evaluate is decided, on its own or among conditions on other columns:
the values are known exactly.  A file is kept where one of its values is left over, or null is and the file may hold
nulls.  A file without facts about a column is kept as far as that column goes.

Pruning never filters rows: whoever reads the files that are kept applies the filter to their rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pads
import pyarrow.fs as pafs

from pqassay_reader.condition.kinds import compared_type
from pqassay_reader.lake.expression_tree import columns_of, only_looks_up, tree_of, written
from pqassay_reader.lake.value_lists import split_values
from pqassay_reference.columns.column_values import is_text

Mask = npt.NDArray[np.bool_]
"""One truth value per file."""

_FORMAT = pads.ParquetFileFormat()
_NOWHERE = pafs.LocalFileSystem()

_NULL = "null"
"""Name of the stand-in for a file of nulls; the others are named by number."""

_NUMBER = "\0number"
"""Name of a column that no condition speaks of."""

MANY = 200
"""So many values are tried as rows, all at once, where a condition speaks of their column only."""

FAILURES = (pa.ArrowException, ValueError, TypeError, LookupError, OSError, NotImplementedError)
"""Errors of Arrow for a filter that it cannot bind, or cannot evaluate on one of the values."""


class Facts(NamedTuple):
    """The facts about one column in one file.

    Attributes:
        file: Number of the file.
        text: Every distinct value of the column, with line feeds between them; ``None`` if there are none.
        may_be_null: Whether the column may hold nulls.
        pieces: A line feed may also be part of a value.
    """

    file: int
    text: str | None
    may_be_null: bool
    pieces: bool = False


def indexable(kind: pa.DataType) -> bool:
    """True if the values of a column of this type can be compared with what an index holds: text, in any form."""
    types = pa.types
    if types.is_dictionary(kind):
        return indexable(kind.value_type)
    return is_text(kind) or types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind)


@dataclass(eq=False)
class ColumnFacts:
    """The facts about one column in many files; they tell which of the files a filter leaves over.

    Attributes:
        schema: Of the dataset.
        column: Name of a column of text at its top level.
        files: Numbers of the files, each at most once.
        starts: Where the values of each file begin in ``codes``, and where the last ones end.
        codes: For each value of each file its place in ``values``.
        values: The distinct values of all files.
        may_be_null: For each of the files.
        pieces: For each of the files.
    """

    schema: pa.Schema
    column: str
    files: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    codes: npt.NDArray[np.int64]
    values: pa.Array[Any]
    may_be_null: Mask
    pieces: Mask

    @classmethod
    def of(cls, schema: pa.Schema, column: str, facts: Sequence[Facts]) -> ColumnFacts:
        """Gather the facts of single files."""
        values, starts = split_values([single.text for single in facts])
        flat = values.dictionary_encode()
        return cls(
            schema,
            column,
            files=np.array([single.file for single in facts], np.int64),
            starts=starts,
            codes=flat.indices.to_numpy().astype(np.int64),
            values=flat.dictionary.cast(pa.string()),
            may_be_null=np.array([single.may_be_null for single in facts], np.bool_),
            pieces=np.array([single.pieces for single in facts], np.bool_),
        )

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def _compared_type(self) -> Any:
        return compared_type(self.schema.field(self.column).type)

    def possible(self, condition: pc.Expression) -> Possible | None:
        """The files that may hold a row that satisfies a condition; ``None`` where that cannot be told."""
        try:
            survivors = self._survivors(condition)
        except FAILURES:
            return None
        null, alive = bool(survivors[-1]), survivors[:-1]
        counts = np.concatenate([[0], np.cumsum(alive[self.codes])])
        by_value: Mask = counts[self.starts[1:]] > counts[self.starts[:-1]]
        by_null = self.may_be_null & null
        unsure = self.pieces & (not only_looks_up(condition, self.column)) if self.pieces.any() else None
        return Possible(self, alive, by_value, by_null, unsure)

    def _survivors(self, condition: pc.Expression) -> Mask:
        """For each distinct value, and at last for null, whether a row with it may satisfy a condition."""
        survivors = np.zeros(len(self.values) + 1, np.bool_)
        # What cannot be written down may name columns by their numbers, which are others in a table of one column.
        if len(self.values) >= MANY and written(condition) is not None:
            try:
                survivors[self._rows_of_values.filter(condition).column(_NUMBER).to_numpy()] = True
            except FAILURES:
                pass  # it speaks of other columns as well
            else:
                return survivors
        names = [fragment.path for fragment in self._stand_ins.get_fragments(condition)]
        survivors[[len(self.values) if name == _NULL else int(name) for name in names]] = True
        return survivors

    @cached_property
    def _rows_of_values(self) -> pa.Table:
        """A row for each distinct value and one for null: what is true of a value is true of its row."""
        kind = self._compared_type
        values = pa.concat_arrays([self.values.cast(kind), pa.nulls(1, kind)])
        return pa.table([values, pa.array(np.arange(len(values)))], names=[self.column, _NUMBER])

    def values_of(self, position: int, among: Mask, most: int) -> list[Any]:
        """The first few values of a file that are among some; ``position`` counts the files with facts."""
        codes = self.codes[self.starts[position] : self.starts[position + 1]]
        return cast("list[Any]", self.values.take(codes[among[codes]][:most]).to_pylist())

    @cached_property
    def _stand_ins(self) -> pads.FileSystemDataset:
        # As Arrow has them: a text of the column's own type, so that nothing is converted at each question.
        kind, subject = self._compared_type, pc.field(self.column)
        constant: Any = pc.scalar  # its type stub knows no scalars of Arrow
        guarantees = {
            str(number): subject == constant(value) for number, value in enumerate(self.values.cast(kind))
        }
        guarantees[_NULL] = subject.is_null()
        fragments = [
            _FORMAT.make_fragment(name, _NOWHERE, guarantee) for name, guarantee in guarantees.items()
        ]
        place = self.schema.get_field_index(self.column)
        schema = self.schema.set(place, pa.field(self.column, kind))
        return pads.FileSystemDataset(fragments, schema, _FORMAT, _NOWHERE)


@dataclass(frozen=True)
class Possible:
    """The answer of one column about its files under one condition.

    Attributes:
        facts: Of the column.
        alive: For each distinct value, whether a row with it may satisfy the condition.
        by_value: For each file with facts, whether it holds such a value.
        by_null: Whether it may hold a null that may satisfy the condition.
        unsure: Whether its values are not known well enough for this condition; ``None``: all are.
    """

    facts: ColumnFacts
    alive: Mask
    by_value: Mask
    by_null: Mask
    unsure: Mask | None

    @property
    def kept(self) -> Mask:
        """For each file with facts, whether it may hold a row that satisfies the condition."""
        kept = self.by_value | self.by_null
        return kept if self.unsure is None else kept | self.unsure

    def why(self, position: int) -> str:
        """The reason to keep or skip a file, for people; ``position`` counts the files with facts."""
        column = self.facts.column
        if self.unsure is not None and self.unsure[position]:
            return f"{column}: the index has no companion record, which this condition needs"
        reasons: list[str] = []
        if self.by_value[position]:
            found = self.facts.values_of(position, self.alive, SHOWN + 1)
            names = [_shown(value) for value in found[:SHOWN]]
            reasons.append(f"holds {', '.join([*names, '…'] if len(found) > SHOWN else names)}")
        if self.by_null[position]:
            reasons.append("may hold null")
        return f"{column} {' and '.join(reasons)}" if reasons else f"no value of {column} satisfies it"


def _shown(value: Any) -> str:
    """A value, for people; of a long text its beginning."""
    if not isinstance(value, str | bytes):
        return str(value)
    return repr(value) if len(value) <= LONGEST else f"{value[:LONGEST]!r}…"


SHOWN = 3
"""Values that an explanation names."""

LONGEST = 60
"""Characters of a value that it repeats."""


def _no_row_groups() -> Mask:
    return np.zeros(0, np.bool_)


@dataclass(frozen=True)
class Decision:
    """The decision which files are kept under one condition.

    Attributes:
        kept: For each file.
        columns: What each column says that has a say.
        row_groups: For each row group of which distinct sets are known, whether it is kept.
    """

    kept: Mask
    columns: tuple[Possible, ...]
    row_groups: Mask = field(default_factory=_no_row_groups)

    def why(self, file: int, *, otherwise: str) -> str:
        """The reason to keep or skip a file, for people; ``otherwise`` where no column has facts about it."""
        reasons: list[str] = []
        for possible in self.columns:
            place = np.flatnonzero(possible.facts.files == file)
            if len(place):
                position = int(place[0])
                if not self.kept[file] and not possible.kept[position]:
                    return possible.why(position)
                reasons.append(possible.why(position))
        return "; ".join(reasons) or otherwise


def decide(count: int, columns: Iterable[ColumnFacts], condition: pc.Expression) -> Decision:
    """Decide which of ``count`` files may hold a row that satisfies a condition; each column decides on its own."""
    kept = np.ones(count, np.bool_)
    heard: list[Possible] = []
    tree = tree_of(condition)
    named = columns_of(tree) if tree is not None else None
    for facts in columns:
        if named and (facts.column,) not in named:
            continue  # a condition on other columns; one on no column at all may be false
        possible = facts.possible(condition)
        if possible is not None:
            kept[facts.files] &= possible.kept
            heard.append(possible)
    return Decision(kept, tuple(heard))
