"""Filters that Spark passes on to sources in Python, as questions to indexes.

Spark has brought the constants to the types of their columns by then, and passes no filter on for which it cannot do that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow.compute as pc
from pyspark.sql import datasource as ds
from pyspark.sql.types import StringType

from pqassay_spark.query.comparisons import Condition
from pqassay_spark.query.questions import AskedColumn, question

COMPARISONS: dict[type[ds.Filter], str] = {
    ds.EqualTo: "=",
    ds.GreaterThan: ">",
    ds.GreaterThanOrEqual: ">=",
    ds.LessThan: "<",
    ds.LessThanOrEqual: "<=",
}

MATCHES: dict[type[ds.Filter], Any] = {
    ds.StringStartsWith: pc.starts_with,
    ds.StringEndsWith: pc.ends_with,
    ds.StringContains: pc.match_substring,
}


def columns_of(given: ds.Filter) -> tuple[str, ...]:
    """The column at the top level of a schema that a filter is about, if it is about one."""
    inner: Any = given.child if isinstance(given, ds.Not) else given
    attribute = getattr(inner, "attribute", ())
    return tuple(attribute) if len(attribute) == 1 else ()


def filter_condition(given: ds.Filter, columns: Mapping[str, AskedColumn]) -> Condition:
    """The question to the indexes of some columns for one of Spark's filters; ``None`` where there is none."""
    negated = isinstance(given, ds.Not)
    inner: Any = given.child if isinstance(given, ds.Not) else given
    if not columns_of(given):
        return None
    (name,) = columns_of(given)
    if type(inner) in MATCHES:
        is_text = name in columns and isinstance(columns[name].kind, StringType)
        if not is_text or not isinstance(inner.value, str):
            return None
        found: pc.Expression = MATCHES[type(inner)](pc.field(columns[name].name), inner.value)
        return ~found if negated else found
    tree = _tree(inner, name)
    if tree is None:
        return None
    return question(["not", tree] if negated else tree, columns)


def _tree(pushed: Any, name: str) -> list[Any] | None:
    match pushed:
        case ds.IsNull():
            return ["is null", name]
        case ds.IsNotNull():
            return ["is not null", name]
        case ds.In():
            return ["in", name, list(pushed.value)]
        case ds.EqualNullSafe(value=None):
            return ["is null", name]
        case ds.EqualNullSafe():  # never unknown: so its negation holds for null
            return ["and", ["is not null", name], ["=", name, pushed.value]]
        case _ if type(pushed) in COMPARISONS:
            return [COMPARISONS[type(pushed)], name, pushed.value]
        case _:
            return None
