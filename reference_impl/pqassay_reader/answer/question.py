"""Questions in SQL: counts, sums, averages, bounds and estimates of columns, by groups, of the rows that satisfy a condition.

sqlglot reads the SQL.  A question may have one table, aggregates, WHERE, GROUP BY, ORDER BY and LIMIT;
anything else is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from sqlglot import expressions as exp
from sqlglot.dialects.sqlite import SQLite

from pqassay_reader.condition.text import column_name, parsed_sql, parsed_tree
from pqassay_reference.columns.literals import Tree
from pqassay_reference.errors import Refused

SUPPORTED = (
    "a question has the form SELECT [columns,] COUNT(*) | COUNT(x) | SUM(x) | AVG(x) | MIN(x) | MAX(x) | "
    "APPROX_COUNT_DISTINCT(x) | APPROX_QUANTILE(x, 0.5), … FROM t "
    "[WHERE condition] [GROUP BY columns] [ORDER BY columns or aggregates] [LIMIT n]"
)
"""The supported SQL, for messages."""

_FUNCTIONS: dict[type[Any], str] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
    exp.ApproxDistinct: "approx_count_distinct",
    exp.ApproxQuantile: "approx_quantile",
}

_KNOWN_PARTS = ("expressions", "from", "from_", "where", "group", "kind", "order", "limit", "offset")

KEPT = 64
"""Number of the most recently parsed questions that are cached."""


class Questions(SQLite):
    """The SQL of conditions; by default, nulls come last, as in DuckDB."""

    NULL_ORDERING = "nulls_are_last"


class Aggregate(NamedTuple):
    """One aggregate, or an estimate, which sketches answer.

    Attributes:
        function: The name of the function.
        column: The column; ``None`` for ``COUNT(*)``.
        rank: The rank of a quantile: the share of values that are at most the quantile.
    """

    function: str
    column: str | None
    rank: float | None = None

    @property
    def is_estimate(self) -> bool:
        """Whether sketches answer it."""
        return self.function.startswith("approx_")

    def __str__(self) -> str:
        """The default name of its column in the answer, as in DuckDB."""
        if self.column is None:
            return "count_star()"
        return f"{self.function}({self.column}{'' if self.rank is None else f', {self.rank}'})"


Item = Aggregate | str
"""The content of a column of the answer: an aggregate, or the name of a group's column."""


class SortKey(NamedTuple):
    """One sort key of an answer: whether the greatest value comes first, and whether nulls come first."""

    item: Item
    descending: bool
    nulls_first: bool


@dataclass(frozen=True)
class Question:
    """A parsed question.

    Attributes:
        output: For each column of the answer, its name and its content.
        group_by: The columns by which rows are grouped.
        predicate: The condition; ``None`` for all rows.
        order_by: The sort keys of the answer; equal rows are ordered by their groups.
        limit: The most rows of the answer; ``None`` for all.
        offset: Number of rows to skip at the beginning.
    """

    output: tuple[tuple[str, Item], ...]
    group_by: tuple[str, ...]
    predicate: Tree | None
    order_by: tuple[SortKey, ...] = ()
    limit: int | None = None
    offset: int = 0

    def _asked(self, *, estimates: bool) -> tuple[Aggregate, ...]:
        items = dict.fromkeys([*(one for _, one in self.output), *(key.item for key in self.order_by)])
        return tuple(one for one in items if isinstance(one, Aggregate) and one.is_estimate is estimates)

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        """The aggregates without estimates, each once."""
        return self._asked(estimates=False)

    @property
    def estimates(self) -> tuple[Aggregate, ...]:
        """The estimates, each once."""
        return self._asked(estimates=True)

    @property
    def measures(self) -> tuple[str, ...]:
        """The columns that are aggregated, each once."""
        return tuple(dict.fromkeys(one.column for one in self.aggregates if one.column is not None))

    @property
    def summed(self) -> frozenset[str | None]:
        """The columns that are summed."""
        return frozenset(one.column for one in self.aggregates if one.function in ("sum", "avg"))


@lru_cache(maxsize=KEPT)
def parse_question(text: str) -> Question:
    """Parse a question.

    >>> asked = parse_question("SELECT AVG(sales_amount) FROM t WHERE nation = 'Singapore' GROUP BY year")
    >>> asked.output, asked.group_by, asked.predicate
    ((('avg(sales_amount)', Aggregate(function='avg', column='sales_amount', rank=None)),), ('year',), ['=', 'nation', 'Singapore'])

    Raises:
        Refused: It is not SQL, or is not supported.
    """
    parsed = parsed_sql(
        text, "question", lambda problem: f"not valid SQL: {problem}; {SUPPORTED}", dialect=Questions
    )
    if not isinstance(parsed, exp.Select):
        raise Refused(f"not a SELECT; {SUPPORTED}")
    table = _table(parsed)
    for column in parsed.find_all(exp.Column):
        if column.table and column.table == table:
            column.set("table", None)
    where, group, order = (parsed.args.get(part) for part in ("where", "group", "order"))
    group_by = tuple(_column(item) for item in group.expressions) if group is not None else ()
    output = tuple(
        (item.alias or str(_item(item.unalias())), _item(item.unalias())) for item in parsed.expressions
    )
    for name, item in output:
        if isinstance(item, str) and item not in group_by:
            raise Refused(f"column {name} is neither aggregated nor in GROUP BY")
    tree = parsed_tree(where.this) if where is not None else None
    keys = tuple(_sort_key(item, output, group_by) for item in order.expressions) if order is not None else ()
    asked = Question(output, group_by, tree, keys, _number(parsed, "limit"), _number(parsed, "offset") or 0)
    if asked.estimates and group_by:
        function = asked.estimates[0].function.upper()
        raise Refused(
            f"{function} is answered from sketches of whole row groups, which have no groups; leave out GROUP BY"
        )
    return asked


def _unsupported(node: Any) -> Refused:
    return Refused(f"{node.sql()!r} is not supported; {SUPPORTED}")


def _table(parsed: Any) -> str:
    """The name of the only table."""
    for part, value in parsed.args.items():
        if value and part not in _KNOWN_PARTS:
            raise Refused(f"{part.upper().rstrip('S_')} is not supported; {SUPPORTED}")
    source = parsed.args.get("from_") or parsed.args.get("from")
    if source is None or not isinstance(source.this, exp.Table):
        raise Refused(f"FROM takes one table; {SUPPORTED}")
    group = parsed.args.get("group")
    if group is not None and any(value for part, value in group.args.items() if part != "expressions"):
        raise Refused(f"GROUP BY only takes columns; {SUPPORTED}")
    return str(source.this.alias_or_name)


def _sort_key(node: Any, output: Sequence[tuple[str, Item]], group_by: Sequence[str]) -> SortKey:
    """The sort key of rows: a column of the answer by its name or position, a group's column, or an aggregate."""
    if node.args.get("with_fill"):
        raise _unsupported(node)
    by = node.this.unnest()
    if isinstance(by, exp.Literal):
        if by.is_string or not by.this.isdigit() or not 1 <= int(by.this) <= len(output):
            raise Refused(f"ORDER BY {by.sql()}: the answer has columns 1 to {len(output)}")
        item = output[int(by.this) - 1][1]
    else:
        named = [one for name, one in output if isinstance(by, exp.Column) and name == _column(by)]
        item = named[0] if named else _item(by)
        if not named and isinstance(item, str) and item not in group_by:
            raise Refused(f"ORDER BY {item}: that is neither a column of the answer nor in GROUP BY")
    return SortKey(item, bool(node.args.get("desc")), bool(node.args.get("nulls_first")))


def _number(parsed: Any, part: str) -> int | None:
    """The number after LIMIT or OFFSET; ``None`` if there is none."""
    node = parsed.args.get(part)
    if node is None:
        return None
    number = node.expression
    others = any(value for name, value in node.args.items() if name not in ("this", "expression"))
    if others or not isinstance(number, exp.Literal) or number.is_string or not number.this.isdigit():
        raise Refused(f"{part.upper()} takes a whole number")
    return int(number.this)


def _item(node: Any) -> Item:
    function = _FUNCTIONS.get(type(node))
    if function is None:
        if not isinstance(node, exp.Column) or column_name(node) is None:
            raise _unsupported(node)
        return _column(node)
    # More arguments, DISTINCT and the like are other parts of the node.
    known = ("this", "quantile") if function == "approx_quantile" else ("this", "big_int")
    if any(value for part, value in node.args.items() if part not in known):
        raise _unsupported(node)
    if isinstance(node.this, exp.Star):
        if function != "count":
            raise _unsupported(node)
        return Aggregate("count", None)
    if function != "approx_quantile":
        return Aggregate(function, _column(node.this))
    rank = node.args.get("quantile")
    try:
        number = float(rank.this) if isinstance(rank, exp.Literal) and not rank.is_string else -1.0
    except ValueError:
        number = -1.0
    if not 0.0 <= number <= 1.0:
        raise Refused("APPROX_QUANTILE takes a column and a number from 0 to 1: APPROX_QUANTILE(x, 0.5)")
    return Aggregate(function, _column(node.this), number)


def _column(node: Any) -> str:
    name = column_name(node)
    if name is None:
        raise Refused(f"{node.unnest().sql()!r} is not a column; {SUPPORTED}")
    return name


__all__ = ["SUPPORTED", "Aggregate", "Item", "Question", "SortKey", "parse_question"]
