"""Partial sums of rows and of zones in a table of DuckDB; then the answer, grouped, ordered and limited.

DuckDB gets decoded values: numbers, booleans and bytes, which compare like the dates, times and text that
they represent.  Sums are exact until the end.  A floating point number is a whole number times a power of
two, and DuckDB adds those with the same power.  NaN is not ordered among numbers, as in conditions: neither the
least nor the greatest is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pqassay_reader.answer.question import Aggregate, Item, Question
from pqassay_reader.answer.zones import GREATEST, LEAST, NANS, NULLS, ROWS, SUM, ZoneSums
from pqassay_reference.errors import Refused

LOWEST = 1074
"""The exponent of the smallest positive double, negated."""

POWER = f"greatest(CAST(floor((floor(log2(abs({{0}}))) - 54) / 32) * 32 AS INTEGER), -{LOWEST})"
"""SQL for an exponent, a multiple of 32: a double is 2 to this power times an integer of at most 86 bits, even with a rounded logarithm."""


@cache
def database() -> Any:
    """A database in memory that reads no files. Raises `Refused` if DuckDB is not installed."""
    try:
        import duckdb  # noqa: PLC0415 - an extra
    except ModuleNotFoundError:
        raise Refused("answering questions needs DuckDB: pip install '.[reader]' in a checkout") from None
    return duckdb.connect(config={"enable_external_access": False})


def plain(values: Any, name: str) -> Any:
    """Values of a column in a type that DuckDB stores unchanged and in the same order. Raises `Refused` if there is none."""
    kind, types = values.type, pa.types
    try:
        if types.is_string(kind) or types.is_large_string(kind):
            return values.cast(pa.binary())
        if types.is_temporal(kind):
            return values.cast(pa.int32() if kind.bit_width == pa.int32().bit_width else pa.int64())
        if types.is_decimal(kind):
            return values.cast(pa.decimal128(38, kind.scale))
        if types.is_null(kind):
            return values.cast(pa.int32())
    except (pa.ArrowException, ValueError) as error:
        raise Refused(
            f"column {name} is {kind}, but decimals in DuckDB have at most 38 digits: {error}"
        ) from None
    return pc.if_else(pc.is_valid(values), True, None) if types.is_nested(kind) else values


def _restored(values: Any, kind: Any) -> Any:
    """The inverse of `plain`: its values in their original type."""
    return values if values.type == kind else values.cast(kind, safe=False)


class Tally:
    """All partial sums for an answer.

    Args:
        asked: The question.
        kinds: The types of all columns in it.

    Raises:
        Refused: A column cannot be summed, compared or grouped by, or DuckDB is not installed.
    """

    def __init__(self, asked: Question, kinds: dict[str, Any]) -> None:
        self._asked, self._kinds = asked, kinds
        self._keys = {name: f"k{place}" for place, name in enumerate(asked.group_by)}
        self._measures = {name: str(place) for place, name in enumerate(asked.measures)}
        bounded = {one.column for one in asked.aggregates if one.function in ("min", "max")}
        self._bounded = [name for name in asked.measures if name in bounded]
        for one in asked.aggregates:
            _require_fits(one, kinds.get(one.column or ""))
        if nested := [name for name in asked.group_by if pa.types.is_nested(kinds[name])]:
            raise Refused(f"column {nested[0]} is {kinds[nested[0]]}, which cannot be grouped by")
        self._cursor = database().cursor()
        self._insert = "CREATE TEMP TABLE parts AS"
        self._nothing = self._of_rows(pa.table({name: pa.array([], kind) for name, kind in kinds.items()}))

    def _is_floating(self, name: str) -> bool:
        return pa.types.is_floating(self._kinds[name])

    def add_rows(self, table: pa.Table) -> None:
        """Add the rows of a table with the columns of groups and measures. Raises `Refused` for a sum of more than 38 digits."""
        self._add(self._of_rows(table))

    def _of_rows(self, table: pa.Table) -> pa.Table:
        columns = self._keys_of(table) | {"w": pa.repeat(1, len(table))}
        for name in self._measures:
            values = plain(table.column(name), name)
            counts = pc.is_valid(values).cast(pa.int64())
            columns |= self._of_measure(name, counts, values, values, values)
        return pa.table(columns)

    def _keys_of(self, table: pa.Table) -> dict[str, Any]:
        return {key: plain(table.column(name), name) for name, key in self._keys.items()}

    def add_zones(self, sums: Sequence[ZoneSums]) -> None:
        """Add groups of rows that are already counted or summed. Raises the errors of `add_rows`."""
        parts: list[pa.Table] = []
        for measure, table in sums:
            columns = self._keys_of(table)
            if measure is None:
                columns["w"] = table.column(ROWS)
            else:
                added: Any = table.column(SUM)
                if self._is_floating(measure):
                    has_nan: Any = pa.array(np.asarray(table.column(NANS)) > 0)
                    added = pc.if_else(has_nan, math.nan, added)
                counts = pc.subtract(table.column(ROWS), table.column(NULLS))
                bounds = (plain(table.column(one), measure) for one in (LEAST, GREATEST))
                columns |= self._of_measure(measure, counts, added, *bounds)
            parts.append(pa.table(columns))
        if parts:
            self._add(*parts)

    def _of_measure(self, name: str, counts: Any, sums: Any, low: Any, high: Any) -> dict[str, Any]:
        at = self._measures[name]
        columns = {f"n{at}": counts}
        if name in self._asked.summed:
            columns[f"x{at}"] = sums.cast(pa.float64()) if self._is_floating(name) else sums
        return columns | ({f"lo{at}": low, f"hi{at}": high} if name in self._bounded else {})

    def _add(self, *parts: pa.Table) -> None:
        """Add parts: rows ``w``, and for each measure the number of values ``n``, sum ``x``, the least ``lo`` and the greatest ``hi``."""
        given = pa.concat_tables([self._nothing, *parts], promote_options="permissive")
        self._cursor.register("given", given)
        output, powers = [*self._keys.values(), "sum(w) AS w"], ["*"]
        for name, at in self._measures.items():
            output.append(f"sum(n{at}) AS n{at}")
            if name in self._bounded:
                is_number = "NOT isnan({0})" if self._is_floating(name) else "true"
                bounds = (("min", f"lo{at}"), ("max", f"hi{at}"))
                output += [f"{one}({of}) FILTER ({is_number.format(of)}) AS {of}" for one, of in bounds]
            if name in self._asked.summed and self._is_floating(name):
                power = POWER.format(f"x{at}")
                powers.append(f"CASE WHEN x{at} <> 0 AND isfinite(x{at}) THEN {power} END AS e{at}")
                output += [f"e{at}", f"sum(CAST(x{at} / pow(2.0, e{at}) AS HUGEINT)) AS v{at}"]
                output.append(f"sum(x{at}) FILTER (NOT isfinite(x{at})) AS x{at}")
            elif name in self._asked.summed:
                output.append(f"sum(x{at}) AS x{at}")
        inner = _select(powers, "given")
        self._run(f"{self._insert} {_select(output, f'({inner})', 'GROUP BY ALL')}")
        self._insert = "INSERT INTO parts BY NAME"

    def _run(self, text: str) -> Any:
        import duckdb  # noqa: PLC0415 - an extra

        try:
            return self._cursor.sql(text)
        except (duckdb.OutOfRangeException, duckdb.ConversionException):
            raise Refused("a sum has more than 38 digits") from None

    # ---------------------------------------------------------------------------------------------- the answer

    def answer(self, estimates: dict[Aggregate, Any]) -> pa.Table:
        """The rows of the answer, in their order.

        Args:
            estimates: An Arrow scalar for each requested estimate.

        Raises:
            Refused: A sum has more than 38 digits.
        """
        if self._insert.startswith("CREATE"):
            self._add()
        asked, groups = self._asked, self._groups()
        items: dict[Item, Any] = {
            name: _restored(groups.column(key), self._kinds[name]) for name, key in self._keys.items()
        }
        items |= {one: self._aggregate(one, groups) for one in asked.aggregates}
        items |= {one: pa.chunked_array([pa.array([value])]) for one, value in estimates.items()}
        places = {item: f"i{place}" for place, item in enumerate(items)}
        self._cursor.register(
            "given", pa.table({places[item]: plain(values, "") for item, values in items.items()})
        )
        order = [
            f"{places[key.item]} {'DESC' if key.descending else 'ASC'} NULLS {'FIRST' if key.nulls_first else 'LAST'}"
            for key in asked.order_by
        ]
        order += [f"{places[name]} ASC NULLS LAST" for name in asked.group_by]
        end = f"ORDER BY {', '.join(order)}" if order else ""
        end += f" LIMIT {'ALL' if asked.limit is None else asked.limit} OFFSET {asked.offset}"
        output = [f"{places[item]} AS o{at}" for at, (_, item) in enumerate(asked.output)]
        found = self._run(_select(output, "given", end)).to_arrow_table()
        columns = [
            _restored(column, items[item].type)
            for column, (_, item) in zip(found.columns, asked.output, strict=True)
        ]
        return pa.table(columns, [name for name, _ in asked.output])

    def _groups(self) -> pa.Table:
        """A row for each group: keys and rows, and for each measure the number of values, sum and bounds; numbers by powers of two."""
        output = [*self._keys.values(), "coalesce(sum(w), 0)::BIGINT AS w"]
        for name, at in self._measures.items():
            output.append(f"coalesce(sum(n{at}), 0)::BIGINT AS n{at}")
            if name in self._bounded:
                output += [f"min(lo{at}) AS lo{at}", f"max(hi{at}) AS hi{at}"]
            if name in self._asked.summed and self._is_floating(name):
                output.append(f"sum(x{at}) AS x{at}")
                output += [f"list({one}{at}) FILTER (v{at} IS NOT NULL) AS {one}{at}" for one in "ev"]
            elif name in self._asked.summed:
                scale = getattr(self._kinds[name], "scale", 0)
                total = f"CAST(sum(x{at}) AS DECIMAL(38, {scale}))"
                output.append(f"CASE WHEN sum(n{at}) > 0 THEN {total} END AS x{at}")
        found: pa.Table = self._run(_select(output, "parts", "GROUP BY ALL")).to_arrow_table()
        return found

    def _aggregate(self, aggregate: Aggregate, groups: pa.Table) -> Any:
        """An aggregate of each group, in its type."""
        if aggregate.column is None:
            return groups.column("w")
        at, kind = self._measures[aggregate.column], self._kinds[aggregate.column]
        counts = groups.column(f"n{at}")
        if aggregate.function == "count":
            return counts
        if aggregate.function in ("min", "max"):
            return _restored(groups.column(f"{'lo' if aggregate.function == 'min' else 'hi'}{at}"), kind)
        sums = groups.column(f"x{at}")
        numbers: list[Any] = counts.to_pylist()
        divisors = numbers if aggregate.function == "avg" else [1] * len(numbers)
        if self._is_floating(aggregate.column):
            parts: list[list[Any]] = [groups.column(f"{part}{at}").to_pylist() for part in "xev"]
            sums_of = map(_double, *parts, divisors)
            values = [total if count else None for total, count in zip(sums_of, numbers, strict=True)]
        elif aggregate.function == "sum":
            return sums
        else:
            totals: list[Any] = sums.to_pylist()
            pairs = zip(totals, divisors, strict=True)
            values = [None if total is None else float(Fraction(total) / divisor) for total, divisor in pairs]
        return pa.chunked_array([pa.array(values, pa.float64())])


def _require_fits(aggregate: Aggregate, kind: Any) -> None:
    """Raise `Refused` if an aggregate does not support the type of its column."""
    is_number = kind is not None and any(
        test(kind) for test in (pa.types.is_integer, pa.types.is_decimal, pa.types.is_floating)
    )
    if aggregate.function in ("sum", "avg") and not is_number:
        raise Refused(f"{aggregate.function.upper()} takes numbers; column {aggregate.column} is {kind}")
    if aggregate.function in ("min", "max") and pa.types.is_nested(kind):
        raise Refused(
            f"{aggregate.function.upper()} takes values that compare; column {aggregate.column} is {kind}"
        )


def _select(output: Sequence[str], source: str, end: str = "") -> str:
    return " ".join(("SELECT", ", ".join(output), "FROM", source, end))


def _double(special: float | None, powers: Any, numbers: Any, divisor: int) -> float:
    """The exact sum of integers times powers of two, divided and rounded once; a ``special`` sum (infinite or NaN) replaces it."""
    if special is not None:
        return special
    pairs = zip(powers or (), numbers or (), strict=True)
    total = sum(int(number) << (power + LOWEST) for power, number in pairs)
    try:
        return float(total / (max(divisor, 1) << LOWEST))
    except OverflowError:
        return math.copysign(math.inf, total)


__all__ = ["Tally"]
