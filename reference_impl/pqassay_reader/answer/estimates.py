"""Estimates from sketches: how many distinct values there are, and quantiles, each with the bounds between which the truth lies.

Sketches of many files are united, and never divided: of each row group a condition has to be true of all rows, or of none.
Nothing is read in their place.

Source: chapter ``directory.md``, section "Sketches".
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from pqassay_reader.answer.known_lake import KnownLake
from pqassay_reader.answer.question import Estimate, Question, name_of
from pqassay_reader.answer.settling import Masks
from pqassay_reader.answer.sketches import FileSketches, sketches_of
from pqassay_reader.condition.kinds import compared_type, find_column
from pqassay_reference.directory.making.sketches import library
from pqassay_reference.directory.reading.blob import Numbers
from pqassay_reference.directory.reading.plain_arrays import plain_array
from pqassay_reference.directory.reading.sketches import LIBRARY_FAILURES
from pqassay_reference.errors import Refused
from pqassay_spec.directory.codes import Granularity, IndexType
from pqassay_spec.directory.packed_values import join_values, value_width
from pqassay_spec.directory.sketches import has_quantiles, size_parameter
from pqassay_spec.parquet.column_order import FLOATING, Order, type_order
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.thrift import SchemaElement

DEVIATIONS = 2
"""Standard deviations from an estimate of distinct values to its bounds."""

CONFIDENCES = {IndexType.HLL: 0.95, IndexType.KLL: 0.99}
"""How often the truth lies between the bounds."""

KINDS = {"approx_count_distinct": IndexType.HLL, "approx_quantile": IndexType.KLL}
"""The sketches that answer a function."""


@dataclass(frozen=True)
class Estimated:
    """An estimate that was made.

    Attributes:
        asked: What was asked.
        estimate, lower, upper: Arrow scalars; null where there are no values.
        kind: The sketches that it comes of.
        sketch_count: How many were united.
        parameter: The smallest size parameter among them: ``lg_k`` or ``k``; 0 if there are none.
        error: Of distinct values the relative error of one standard deviation, of a quantile that of its rank; 0 where nothing is lost.
        confidence: How often the truth lies between the bounds.
    """

    asked: Estimate
    estimate: Any
    lower: Any
    upper: Any
    kind: IndexType
    sketch_count: int
    parameter: int
    error: float
    confidence: float

    @property
    def line(self) -> str:
        """The estimate, for people."""
        of_rank = f", rank {self.asked.rank} ± {self.error:.2g}" if self.asked.rank is not None else ""
        sketches = f"{self.sketch_count:,} {self.kind.name} sketch{'' if self.sketch_count == 1 else 'es'}"
        values = [f"{one:,}" if isinstance(one, int) else str(one) for one in self._values]
        return (
            f"{name_of(self.asked)} is approximate: {values[0]}, in {self.confidence:.0%} of cases from {values[1]} to {values[2]}"
            f"{of_rank}; from {sketches}"
        )

    @property
    def _values(self) -> list[Any]:
        return [one.as_py() for one in (self.estimate, self.lower, self.upper)]

    def record(self) -> dict[str, Any]:
        """All of it by name."""
        values = self._values
        return {
            "column": name_of(self.asked),
            "approximate": True,
            "estimate": values[0],
            "lower": values[1],
            "upper": values[2],
            "confidence": self.confidence,
            "error": self.error,
            "sketch": self.kind.name,
            "sketches": self.sketch_count,
            "parameter": self.parameter,
        }


class _Wanted(NamedTuple):
    """The row groups of one file that an estimate is about."""

    file: int
    row_groups: Numbers
    is_whole: bool


class Estimator:
    """Estimates about a lake. Sketches that were read are kept.

    Args:
        lake: The lake.

    Attributes:
        length: Bytes that were read of sketches so far.
    """

    def __init__(self, lake: KnownLake) -> None:
        self._lake = lake
        self._known: dict[tuple[IndexType, str], dict[int, FileSketches]] = {}
        self.length = 0

    def answer(self, asked: Question, known: Masks) -> list[Estimated]:
        """The estimates that a question asks for, in the order of `Question.estimates`.

        Args:
            asked: The question.
            known: What is known of its condition.

        Raises:
            Refused: The library is not there; a condition is not settled by metadata; sketches are missing, stale or damaged.
            OSError: A file cannot be read.
        """
        if not asked.estimates:
            return []
        library()
        wanted = self._wanted(asked, known)
        return [self._estimated(one, wanted) for one in asked.estimates]

    def _wanted(self, asked: Question, found: Masks) -> list[_Wanted]:
        lake = self._lake
        has_rows = lake.row_counts > 0
        needed = has_rows & found.may
        open_places = np.flatnonzero(needed & ~found.must)
        if len(open_places):
            first = int(open_places[0])
            path, group = lake.files[int(lake.file_of[first])].name, int(lake.group_of[first])
            others = f", and {len(open_places) - 1:,} others" if len(open_places) > 1 else ""
            raise Refused(
                f"{asked.estimates[0].function.upper()} is answered from sketches, which cannot be divided, and metadata does not say "
                f"that the condition is true of all rows or of none in row group {group} of {path}{others}"
            )
        wanted: list[_Wanted] = []
        for file in np.unique(lake.file_of[needed]).tolist():
            of_file = lake.file_of == file
            groups = lake.group_of[needed & of_file]
            wanted.append(_Wanted(file, groups, len(groups) == int((has_rows & of_file).sum())))
        return wanted

    def _estimated(self, one: Estimate, wanted: Sequence[_Wanted]) -> Estimated:
        kind = KINDS[one.function]
        path, arrow = find_column(self._lake.schema, one.column)
        if path[0] in self._lake.partitions:
            raise Refused(f"column {one.column} is what folders stand for, of which there are no sketches")
        if pa.types.is_duration(arrow):
            raise Refused(f"{one.function.upper()} of {arrow} is not supported")
        sketches, leaf = self._sketches(one, kind, wanted)
        if kind is IndexType.HLL:
            return _distinct(one, sketches)
        return _quantile(one, sketches, leaf, compared_type(arrow))

    def _sketches(
        self, one: Estimate, kind: IndexType, wanted: Sequence[_Wanted]
    ) -> tuple[list[tuple[str, bytes]], SchemaLeaf | None]:
        """The sketches that are united, each with its file; and the column in one of the files."""
        known = self._read(kind, one.column, [each.file for each in wanted])
        found: list[tuple[str, bytes]] = []
        lacking: list[_Wanted] = []
        leaf: SchemaLeaf | None = None
        for each in wanted:
            file = known[each.file]
            if file.leaf is None:
                continue  # all its rows are null
            leaf = leaf or file.leaf
            _require_alike(one, leaf, file)
            made = file.of(each.row_groups, is_whole=each.is_whole)
            if made is None:
                lacking.append(each)
            else:
                found += [(file.name, sketch) for sketch in made]
        if lacking:
            raise Refused(_what_lacks(one, kind, known[lacking[0].file], lacking))
        return found, leaf

    def _read(self, kind: IndexType, column: str, files: Sequence[int]) -> dict[int, FileSketches]:
        known = self._known.setdefault((kind, column), {})
        missing = [file for file in files if file not in known]
        for file, found in zip(missing, sketches_of(self._lake, kind, column, missing), strict=True):
            known[file] = found
            self.length += found.length
        return known


def _require_alike(one: Estimate, leaf: SchemaLeaf, file: FileSketches) -> None:
    """Raise `Refused` where two files have a column in types whose sketches hold other numbers, or that have none."""
    assert file.leaf is not None
    if _type_of(leaf.element) != _type_of(file.leaf.element):
        raise Refused(
            f"{file.name} has column {one.column} in another type; its sketches cannot be united with others"
        )
    if one.rank is not None and not has_quantiles(file.leaf):
        raise Refused(f"APPROX_QUANTILE takes numbers; column {one.column} of {file.name} holds none")


def _type_of(element: SchemaElement) -> tuple[Any, ...]:
    return (
        element.type,
        element.type_length,
        repr(element.logicalType),
        element.converted_type,
        element.scale,
        element.precision,
    )


def _what_lacks(one: Estimate, kind: IndexType, file: FileSketches, lacking: Sequence[_Wanted]) -> str:
    """Why sketches of a file do not serve, and the command that helps."""
    name, others = kind.name, f" (nor have {len(lacking) - 1:,} other files)" if len(lacking) > 1 else ""
    asked = f"{one.function.upper()}({one.column}) is answered from {name} sketches"
    quoted = shlex.quote(file.name)
    add = f"pqassay index add {quoted} --type {name.lower()} --columns {one.column}"
    if any(entry.granularity is Granularity.FILE for entry in file.entries):
        return (
            f"{asked}, and {file.name} has one of the whole file alone, where the condition is true of {len(lacking[0].row_groups)} "
            f"of its row groups{others}; {add} --granularity row-group"
        )
    if file.aside:
        first = file.aside[0]
        help_of_it = f"pqassay index refresh {quoted}" if first.reason.startswith("stale") else add
        return f"{asked}, and {file.name} has none that is good{others}: {first}; {help_of_it}"
    return f"{asked}, and {file.name} has none of that column{others}; {add}"


# --------------------------------------------------------------------------------------------------- the sketches


def _united(union: Any, read: Any, sketches: Sequence[tuple[str, bytes]]) -> None:
    """Give sketches to a union. Raises `Refused` for one that the library cannot read."""
    for path, sketch in sketches:
        try:
            union(read(sketch))
        except LIBRARY_FAILURES as error:
            raise Refused(f"{path}: a sketch cannot be read: {' '.join(str(error).split())}") from None


def _parameters(kind: IndexType, sketches: Sequence[tuple[str, bytes]]) -> list[int]:
    return [size_parameter(kind.name, sketch) for _, sketch in sketches] or [0]


def _distinct(one: Estimate, sketches: Sequence[tuple[str, bytes]]) -> Estimated:
    """How many distinct values there are."""
    parameters = _parameters(IndexType.HLL, sketches)
    lower = upper = estimate = error = 0.0
    if sketches:
        module = library()
        union = module.hll_union(max(parameters))
        _united(union.update, module.hll_sketch.deserialize, sketches)
        estimate, lower, upper = (
            union.get_estimate(),
            union.get_lower_bound(DEVIATIONS),
            union.get_upper_bound(DEVIATIONS),
        )
        error = max(upper - estimate, estimate - lower) / estimate / DEVIATIONS if estimate else 0.0
    numbers = [
        pa.scalar(value, pa.int64()) for value in (round(estimate), math.floor(lower), math.ceil(upper))
    ]
    return _estimated(one, IndexType.HLL, numbers, parameters, len(sketches), error)


def _estimated(
    one: Estimate,
    kind: IndexType,
    numbers: Sequence[Any],
    parameters: Sequence[int],
    sketch_count: int,
    error: float,
) -> Estimated:
    estimate, lower, upper = numbers
    return Estimated(
        one, estimate, lower, upper, kind, sketch_count, min(parameters), error, CONFIDENCES[kind]
    )


def _quantile(
    one: Estimate, sketches: Sequence[tuple[str, bytes]], leaf: SchemaLeaf | None, kind: pa.DataType
) -> Estimated:
    """The value that a share of all values does not exceed."""
    assert one.rank is not None
    parameters = _parameters(IndexType.KLL, sketches)
    values: list[Any] = [pa.scalar(None, kind)] * 3
    error = 0.0
    if sketches:
        module = library()
        union = module.kll_doubles_sketch(max(parameters))
        _united(union.merge, module.kll_doubles_sketch.deserialize, sketches)
        error = union.normalized_rank_error(False) if union.is_estimation_mode() else 0.0
        if not union.is_empty() and leaf is not None:
            ranks = (one.rank, max(one.rank - error, 0.0), min(one.rank + error, 1.0))
            numbers = [_at_rank(union, rank) for rank in ranks]
            values = [_value(leaf, number, kind) for number in numbers]
    return _estimated(one, IndexType.KLL, values, parameters, len(sketches), error)


def _at_rank(union: Any, rank: float) -> float:
    """The least value that a share of all values does not exceed; the smallest and the largest are exact."""
    if 0.0 < rank < 1.0:
        return float(union.get_quantile(rank, True))
    return float(union.get_max_value() if rank else union.get_min_value())


def _value(leaf: SchemaLeaf, number: float, kind: pa.DataType) -> Any:
    """The value of a column that a number of a KLL sketch stands for, as `pqassay_spec.directory.sketches.kll_item` makes it."""
    element = leaf.element
    order = type_order(element)
    width = value_width(element.type, element.type_length)
    if order in FLOATING:
        raw = np.array(number, f"<f{width}").tobytes()
    elif order is Order.DECIMAL:
        whole = int(number)
        raw = whole.to_bytes(width or whole.bit_length() // 8 + 1, "big", signed=True)
    else:
        limits = np.iinfo(f"{'u' if order is Order.UNSIGNED else 'i'}{width}")
        raw = np.array(min(max(int(number), int(limits.min)), int(limits.max)), limits.dtype).tobytes()
    array = plain_array(element, join_values(int(element.type or 0), [raw]), 1)
    return array.cast(kind, safe=False)[0]


__all__ = ["Estimated", "Estimator"]
