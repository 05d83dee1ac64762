"""Estimates from sketches: numbers of distinct values, and quantiles, each with bounds around the true value.

Sketches can be combined, but not divided: for each row group, the condition must be true of all rows, or of none.
Rows are never read instead.

Source: chapter ``directory.md``, section "Sketches".
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from pqassay_reader.answer.lake import Lake
from pqassay_reader.answer.question import Aggregate, Question
from pqassay_reader.condition.kinds import compared_type, find_column, kind_of
from pqassay_reader.directory.arrays import Mask
from pqassay_reader.directory.plain_arrays import Packed, plain_arrays, stored_type
from pqassay_reader.directory.sketches import LIBRARY_FAILURES, EntrySketches, read_sketches
from pqassay_reader.lake.known_file import KnownFile
from pqassay_reference.directory.making.sketches import library
from pqassay_reference.directory.reading.blob import Numbers
from pqassay_reference.directory.reading.usable_entries import LeftAside, UsableEntry
from pqassay_reference.errors import Refused
from pqassay_spec.base.errors import FormatError
from pqassay_spec.directory.codes import Granularity, IndexType
from pqassay_spec.directory.sketches import has_quantiles, size_parameter
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf

DEVIATIONS = 2
"""Standard deviations between an estimate of distinct values and its bounds."""

CONFIDENCES = {IndexType.HLL: 0.95, IndexType.KLL: 0.99}

KINDS = {"approx_count_distinct": IndexType.HLL, "approx_quantile": IndexType.KLL}
"""The type of sketches for each function."""


@dataclass(frozen=True)
class Estimated:
    """An estimate.

    Attributes:
        asked: The function and its column.
        estimate, lower, upper: Arrow scalars; null if there are no values.
        kind: The type of the sketches.
        sketch_count: Number of combined sketches.
        parameter: The smallest size parameter among them: ``lg_k`` or ``k``; 0 if there are none.
        error: The relative error of one standard deviation for distinct values, or the error of the rank for a quantile; 0 if exact.
    """

    asked: Aggregate
    estimate: Any
    lower: Any
    upper: Any
    kind: IndexType
    sketch_count: int
    parameter: int
    error: float

    @property
    def confidence(self) -> float:
        """The probability that the true value is between the bounds."""
        return CONFIDENCES[self.kind]

    @property
    def line(self) -> str:
        """The estimate as text for people."""
        of_rank = f", rank {self.asked.rank} ± {self.error:.2g}" if self.asked.rank is not None else ""
        sketches = f"{self.sketch_count:,} {self.kind.name} sketch{'' if self.sketch_count == 1 else 'es'}"
        values = (one.as_py() for one in (self.estimate, self.lower, self.upper))
        best, lower, upper = (f"{one:,}" if isinstance(one, int) else str(one) for one in values)
        share = f"in {self.confidence:.0%} of cases from {lower} to {upper}"
        return f"{self.asked} is approximate: {best}, {share}{of_rank}; from {sketches}"

    def record(self) -> dict[str, Any]:
        """All fields by name."""
        return {
            "column": str(self.asked),
            "approximate": True,
            **{name: getattr(self, name).as_py() for name in ("estimate", "lower", "upper")},
            "confidence": self.confidence,
            "error": self.error,
            "sketch": self.kind.name,
            "sketches": self.sketch_count,
            "parameter": self.parameter,
        }


class _Sketched(NamedTuple):
    """One file of an estimate: the row groups whose rows all satisfy the condition, and whether the others have no rows."""

    file: KnownFile
    row_groups: Numbers
    is_whole: bool


def estimated(lake: Lake, asked: Question, needed: Mask, must: Mask) -> list[Estimated]:
    """The estimates of a question, in the order of `Question.estimates`.

    Args:
        lake: The files.
        asked: The question.
        needed: For each row group, whether a row may satisfy the condition.
        must: For each row group, whether all rows do.

    Raises:
        Refused: The library is not installed; metadata do not settle the condition; or sketches are missing, stale or damaged.
        OSError: A file cannot be read.
    """
    if not asked.estimates:
        return []
    library()
    doubtful = np.flatnonzero(needed & ~must)
    if len(doubtful):
        first = int(doubtful[0])
        path, group = lake.known[int(lake.file_of[first])].name, int(lake.group_of[first])
        others = f", and {len(doubtful) - 1:,} others" if len(doubtful) > 1 else ""
        raise Refused(
            f"{asked.estimates[0].function.upper()} is answered from sketches of whole row "
            f"groups, but metadata cannot show that all or no rows match in row group {group} "
            f"of {path}{others}"
        )
    sketched: list[_Sketched] = []
    for number in np.unique(lake.file_of[needed]).tolist():
        of_file = lake.file_of == number
        groups = lake.group_of[needed & of_file]
        is_whole = len(groups) == int(((lake.row_counts > 0) & of_file).sum())
        sketched.append(_Sketched(lake.known[number], groups, is_whole))
    return [_of_lake(lake, one, sketched) for one in asked.estimates]


def _of_lake(lake: Lake, aggregate: Aggregate, sketched: Sequence[_Sketched]) -> Estimated:
    path, arrow = find_column(lake.schema, aggregate.column or "")
    if path[0] in lake.partitions:
        raise Refused(f"column {aggregate.column} is a partition column, which has no sketches")
    if pa.types.is_duration(arrow) or pa.types.is_nested(arrow):
        raise Refused(f"{aggregate.function.upper()} of {arrow} is not supported")
    kind = KINDS[aggregate.function]
    sketches: list[tuple[str, bytes]] = []
    lacking: list[_Sketched] = []
    leaf: SchemaLeaf | None = None
    with ThreadPoolExecutor(lake.threads) as pool:
        for each, (column, made) in zip(
            sketched, pool.map(partial(_of_file, aggregate, path, kind), sketched), strict=True
        ):
            if column is None:
                continue  # all its rows are null
            leaf = leaf or column
            _require_alike(aggregate, leaf, column, each.file.name)
            if made is None:
                lacking.append(each)
            else:
                sketches += [(each.file.name, sketch) for sketch in made]
    if lacking:
        raise Refused(_what_lacks(aggregate, kind, lacking))
    sizes = [size_parameter(kind.name, sketch) for _, sketch in sketches] or [0]
    union = _united(kind, max(sizes), sketches) if sketches else None
    if kind is IndexType.HLL:
        values, error = _distinct(union)
    else:
        values, error = _quantile(union, aggregate.rank or 0.0, leaf, compared_type(arrow))
    best, lower, upper = values
    return Estimated(aggregate, best, lower, upper, kind, len(sketches), min(sizes), error)


def _of_file(
    aggregate: Aggregate, path: Sequence[str], kind: IndexType, asked: _Sketched
) -> tuple[SchemaLeaf | None, list[bytes] | None]:
    """The column in a file (``None`` if missing), and the fewest sketches for exactly these row groups (``None`` if there are none)."""
    file = asked.file
    leaves = [leaf for leaf in file.facts.leaves if leaf.is_at(path)]
    if not leaves:
        return None, None
    if len(leaves) > 1:
        raise Refused(f"{file.name}: there are {len(leaves)} columns called {aggregate.column}")
    several = [_entry_sketches(file, entry) for entry in file.entries.get((kind, aggregate.column or ""), ())]
    known = [each for each in several if each is not None]
    for each in sorted(known, key=lambda entry: len(entry.sketches)):
        if each.granularity is not Granularity.FILE:
            places = np.flatnonzero(np.isin(each.row_group, asked.row_groups)).tolist()
            return leaves[0], [each.sketches[place] for place in places]
        if asked.is_whole:
            return leaves[0], each.sketches
    return leaves[0], None


def _entry_sketches(file: KnownFile, entry: UsableEntry) -> EntrySketches | None:
    """The sketches of an entry, cached; ``None`` if it is ignored."""
    key = entry.entry.key
    if key not in file.blobs:
        try:
            file.blobs[key] = read_sketches(entry, file, file.facts.framing, file.facts.metadata)
        except FormatError as error:
            file.directory.aside.append(LeftAside(entry.name, error.reason or str(error)))
            file.blobs[key] = None
    sketches: EntrySketches | None = file.blobs[key]
    return sketches


def _require_alike(aggregate: Aggregate, leaf: SchemaLeaf, other: SchemaLeaf, name: str) -> None:
    """Raise `Refused` if two files have a column in types with different numbers in sketches, or without sketches."""
    if stored_type(leaf.element) != stored_type(other.element):
        raise Refused(
            f"{name} has column {aggregate.column} in another type; its sketches cannot be merged with others"
        )
    if aggregate.rank is not None and not has_quantiles(other):
        raise Refused(f"APPROX_QUANTILE takes numbers; column {aggregate.column} of {name} holds none")


def _what_lacks(aggregate: Aggregate, kind: IndexType, lacking: Sequence[_Sketched]) -> str:
    """Why the sketches of a file are not usable, and the command that helps."""
    file = lacking[0].file
    others = f" (nor have {len(lacking) - 1:,} other files)" if len(lacking) > 1 else ""
    asked = f"{aggregate.function.upper()}({aggregate.column}) is answered from {kind.name} sketches"
    quoted = shlex.quote(file.name)
    add = f"pqassay index add {quoted} --type {kind.name.lower()} --columns {aggregate.column}"
    of_it = file.entries.get((kind, aggregate.column or ""), ())
    if any(entry.granularity is Granularity.FILE and file.blobs[entry.entry.key] for entry in of_it):
        return (
            f"{asked}; {file.name} only has one of the whole file, but the condition is true "
            f"of only {len(lacking[0].row_groups)} of its row groups{others}; {add} "
            "--granularity row-group"
        )
    names = "index directory", f"{kind.name} of {aggregate.column} by "
    for aside in (entry for entry in file.directory.aside if entry.name.startswith(names)):
        help_of_it = f"pqassay index refresh {quoted}" if aside.reason.startswith("stale") else add
        return f"{asked}; {file.name} has no usable sketch{others}: {aside}; {help_of_it}"
    return f"{asked}; {file.name} has no such sketch of that column{others}; {add}"


# --------------------------------------------------------------------------------------------------- the sketches


def _united(kind: IndexType, size: int, sketches: Sequence[tuple[str, bytes]]) -> Any:
    """The union of sketches. Raises `Refused` for a sketch that the library cannot read."""
    if kind is IndexType.HLL:
        union: Any = library().hll_union(size)
        add, read = union.update, library().hll_sketch.deserialize
    else:
        union = library().kll_doubles_sketch(size)
        add, read = union.merge, library().kll_doubles_sketch.deserialize
    for path, sketch in sketches:
        try:
            add(read(sketch))
        except LIBRARY_FAILURES as error:
            raise Refused(f"{path}: a sketch cannot be read: {' '.join(str(error).split())}") from None
    return union


def _distinct(union: Any) -> tuple[Any, float]:
    """The number of distinct values with bounds, and its error."""
    if union is None:
        return [pa.scalar(0, pa.int64())] * 3, 0.0
    estimate, lower = union.get_estimate(), union.get_lower_bound(DEVIATIONS)
    upper = union.get_upper_bound(DEVIATIONS)
    error = max(upper - estimate, estimate - lower) / estimate / DEVIATIONS if estimate else 0.0
    counts = round(estimate), math.floor(lower), math.ceil(upper)
    return [pa.scalar(count, pa.int64()) for count in counts], error


def _quantile(union: Any, rank: float, leaf: SchemaLeaf | None, kind: pa.DataType) -> tuple[Any, float]:
    """The value that a share of all values does not exceed, with bounds, and the error of its rank."""
    error = union.normalized_rank_error(False) if union is not None and union.is_estimation_mode() else 0.0
    if union is None or union.is_empty() or leaf is None:
        return [pa.scalar(None, kind)] * 3, error
    ranks = rank, max(rank - error, 0.0), min(rank + error, 1.0)
    return [_value(leaf, _at_rank(union, each), kind) for each in ranks], error


def _at_rank(union: Any, rank: float) -> float:
    """The least value that a share of all values does not exceed; the minimum and the maximum are exact."""
    if 0.0 < rank < 1.0:
        return float(union.get_quantile(rank, True))
    return float(union.get_max_value() if rank else union.get_min_value())


def _value(leaf: SchemaLeaf, number: float, kind: pa.DataType) -> Any:
    """The column value for a number in a KLL sketch, the inverse of `pqassay_spec.directory.sketches.kll_item`."""
    (empty,) = plain_arrays([Packed(leaf.element, b"", 0)])
    stored = kind_of(empty.type)
    if stored.step is not None:
        least, most = stored.limits
        number = min(max(int(number), least), most)
    return stored.array([number]).cast(kind, safe=False)[0]


__all__ = ["Estimated", "estimated"]
