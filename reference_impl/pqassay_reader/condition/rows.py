"""Evaluate conditions with Arrow: find the rows of a table that satisfy them, or make an expression for a dataset."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pqassay_reader.condition.kinds import Kind, compared_type, find_column
from pqassay_reader.condition.normal import ColumnTest, Condition, folded, normal_form
from pqassay_reader.condition.values import Sides, Values
from pqassay_reference.columns.literals import Tree

FEW = 3
"""Most values that are compared one by one; more values are looked up together."""

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "=": pc.equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


@dataclass(frozen=True)
class ExpressionTest(ColumnTest):
    """A test of one column that only Arrow can evaluate, such as ``starts_with``; its set of values is unknown.

    Attributes:
        written: The expression as Arrow writes it.
        expression: The expression.
    """

    written: bytes
    expression: pc.Expression = field(compare=False)


def condition_of(tree: Sequence[Any], schema: pa.Schema) -> Condition:
    """The normal form of a condition on the columns of a schema. Raises `Refused` like `normal_form` and `find_column`."""
    return normal_form(tree, lambda name: find_column(schema, name)[1])


def rows_of(condition: Condition, table: pa.Table) -> NDArray[np.bool_]:
    """A mask of the rows of a table that satisfy a condition. Nested columns have names joined by dots.

    Raises:
        Refused: There is no such column.
    """
    return folded(
        condition,
        lambda test: rows_in(test, column_of(table, test.column)),
        lambda parts: np.logical_and.reduce(list(parts)),
        lambda parts: np.logical_or.reduce(list(parts)),
    )


def column_of(table: pa.Table, name: str) -> Any:
    """A column of a table in the type in which it is compared. Raises `Refused` if there is no such column."""
    path, kind = find_column(table.schema, name)
    values: Any = table.column(path[0])
    for part in path[1:]:
        values = pc.struct_field(values, part)
    compared = compared_type(kind)
    return values if compared == values.type else values.cast(compared)


def rows_in(test: ColumnTest, values: Any) -> NDArray[np.bool_]:
    """A mask of the values of an array that satisfy a test, in the type in which the column is compared; all if Arrow cannot decide."""
    if isinstance(test, ExpressionTest):
        numbered = pa.table({test.column: values, "": np.arange(len(values))})
        try:
            kept = numbered.filter(test.expression).column(1)
        except (pa.ArrowException, ValueError, TypeError, LookupError):
            return np.ones(len(values), np.bool_)
        return np.isin(np.arange(len(values)), np.asarray(kept))
    mask = _mask(test, values)
    if isinstance(mask, bool):
        return np.full(len(values), mask)
    whole = mask.combine_chunks() if isinstance(mask, pa.ChunkedArray) else mask
    return np.asarray(whole.fill_null(False) if whole.null_count else whole)


def expression_of(condition: Condition | Tree, schema: pa.Schema) -> pc.Expression:
    """The expression of a condition on the columns of a dataset.

    Raises:
        Refused: It is not a condition, names a missing column, or has a constant that cannot be compared with its column.
    """
    if isinstance(condition, list):
        condition = condition_of(condition, schema)

    def of_test(test: ColumnTest) -> pc.Expression:
        path, kind = find_column(schema, test.column)
        reference: Any = pc.field(*path)
        compared = compared_type(kind)
        if compared not in (kind, getattr(kind, "value_type", None)):
            reference = reference.cast(compared)
        mask = _mask(test, reference)
        return pc.scalar(mask) if isinstance(mask, bool) else cast("pc.Expression", mask)

    expression: pc.Expression = folded(
        condition,
        of_test,
        lambda parts: in_pairs(pc.and_kleene, list(parts)),
        lambda parts: in_pairs(pc.or_kleene, list(parts)),
    )
    return expression


def _mask(test: ColumnTest, subject: Any) -> Any:
    """Which values are in a set; null for nulls, unless null is in the set. A plain true or false if it is the same for all."""
    values = test.values
    if values.is_nothing or (values.has_all and values.null):
        return not values.is_nothing
    if values.has_all:
        return pc.is_valid(subject)
    is_null = pc.is_null(subject, nan_is_null=False) if values.null else None
    if not (values.intervals or values.nan):
        return is_null
    truth = _truth(test, subject)
    return truth if is_null is None else pc.or_kleene(truth, is_null)


def _truth(test: ColumnTest, subject: Any) -> Any:
    """Whether values are in a set that has some, but not all of them; null for nulls."""
    values = test.values
    others = values.complement(null=False)
    is_turned = len(others.intervals) < len(values.intervals)
    listed = others if is_turned else values
    if not listed.intervals:  # every number, or none: NaN decides
        return pc.is_nan(subject) if values.nan else pc.invert(pc.is_nan(subject))
    truth = _in_intervals(test.kind, listed, subject)
    if is_turned:
        truth = pc.invert(truth)
    if values.is_floating and values.nan != is_turned:  # NaN is in no interval
        is_nan = pc.is_nan(subject)
        truth = pc.or_kleene(truth, is_nan) if values.nan else pc.and_kleene(truth, pc.invert(is_nan))
    return truth


def _in_intervals(kind: Kind, values: Values, subject: Any) -> Any:
    points = None if values.is_floating or len(values.ends) <= FEW else values.points
    scalar: Any = pc.scalar  # its type stub knows no scalars of Arrow
    wrapped = scalar if isinstance(subject, pc.Expression) else lambda value: value
    if points is not None:
        looked_up = pc.is_in(subject, value_set=kind.array(points))
        return pc.if_else(pc.is_valid(subject), looked_up, wrapped(pa.scalar(None, pa.bool_())))

    def of_interval(sides: Sides) -> Any:
        tests = [COMPARISONS[name](subject, wrapped(kind.array([value])[0])) for name, value in sides]
        return in_pairs(pc.and_kleene, tests)

    return in_pairs(pc.or_kleene, list(map(of_interval, values.ends)))


def in_pairs(function: Callable[[Any, Any], Any], parts: Sequence[Any]) -> Any:
    """All parts joined by an associative function, in pairs: a chain of thousands would be too deep for Arrow."""
    while len(parts) > 1:
        pairs = [function(*parts[at : at + 2]) for at in range(0, len(parts) - 1, 2)]
        parts = [*pairs, *parts[len(pairs) * 2 :]]
    return parts[0]


__all__ = ["ExpressionTest", "column_of", "condition_of", "expression_of", "in_pairs", "rows_in", "rows_of"]
