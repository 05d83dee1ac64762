"""Questions in SQL: counts, sums, averages and bounds of columns, by groups, of the rows that satisfy a condition.

sqlglot reads the SQL.  Whatever is more than one table, aggregates, WHERE and GROUP BY is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast

import sqlglot
from sqlglot import expressions as exp
from sqlglot.errors import SqlglotError

from pqassay_reference.errors import Refused
from pqassay_reference.predicate.literals import Tree
from pqassay_reference.predicate.text import DIALECT, LONGEST, parsed_tree

Function = Literal["count", "sum", "avg", "min", "max"]

SUPPORTED = (
    "a question has the form SELECT [columns,] COUNT(*) | COUNT(x) | SUM(x) | AVG(x) | MIN(x) | MAX(x), … FROM t "
    "[WHERE condition] [GROUP BY columns]"
)
"""What can be asked."""

_FUNCTIONS: dict[type[Any], Function] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
}


class Aggregate(NamedTuple):
    """One aggregate.

    Attributes:
        function: What is computed.
        column: Of which column; ``None`` for ``COUNT(*)``.
    """

    function: Function
    column: str | None


@dataclass(frozen=True)
class Question:
    """What is asked.

    Attributes:
        output: For each column of the answer its name, and what it holds: an aggregate or the name of a group's column.
        group_by: The columns by which rows are grouped.
        predicate: The condition; ``None`` for all rows.
    """

    output: tuple[tuple[str, Aggregate | str], ...]
    group_by: tuple[str, ...]
    predicate: Tree | None

    @property
    def measures(self) -> tuple[str, ...]:
        """The columns that are aggregated, each once."""
        found = (
            one.column for _, one in self.output if isinstance(one, Aggregate) and one.column is not None
        )
        return tuple(dict.fromkeys(found))


def parse_question(text: str) -> Question:
    """Read a question.

    >>> asked = parse_question("SELECT AVG(sales_amount) FROM t WHERE nation = 'Singapore' GROUP BY year")
    >>> asked.output, asked.group_by, asked.predicate
    ((('avg(sales_amount)', Aggregate(function='avg', column='sales_amount')),), ('year',), ['=', 'nation', 'Singapore'])

    Raises:
        Refused: It is no SQL, or none that is supported.
    """
    if len(text) > LONGEST:
        raise Refused(f"the question has {len(text)} characters, where {LONGEST} are the most")
    try:
        parsed: Any = sqlglot.parse_one(text, dialect=DIALECT)
    except SqlglotError as error:
        first = str(error).partition("\n")[0].split(". Line")[0]
        raise Refused(f"that is no SQL: {first}; {SUPPORTED}") from None
    except RecursionError:
        raise Refused("the question is nested too deeply") from None
    if not isinstance(parsed, exp.Select):
        raise Refused(f"that is no SELECT; {SUPPORTED}")
    table = _table(parsed)
    for column in parsed.find_all(exp.Column):
        if column.table and column.table == table:
            column.set("table", None)
    where, group = parsed.args.get("where"), parsed.args.get("group")
    group_by = tuple(_column(one) for one in group.expressions) if group is not None else ()
    output = tuple(_output(one) for one in parsed.expressions)
    for name, one in output:
        if isinstance(one, str) and one not in group_by:
            raise Refused(f"column {name} is neither aggregated nor in GROUP BY")
    return Question(output, group_by, parsed_tree(where.this) if where is not None else None)


_KNOWN_PARTS = ("expressions", "from", "from_", "where", "group", "kind")


def _table(parsed: Any) -> str:
    """What the one table is called."""
    for part, value in parsed.args.items():
        if value and part not in _KNOWN_PARTS:
            raise Refused(f"{part.upper().rstrip('S_')} is not supported; {SUPPORTED}")
    source = parsed.args.get("from_") or parsed.args.get("from")
    if source is None or not isinstance(source.this, exp.Table):
        raise Refused(f"FROM takes one table; {SUPPORTED}")
    group = parsed.args.get("group")
    if group is not None and any(value for part, value in group.args.items() if part != "expressions"):
        raise Refused(f"GROUP BY takes columns alone; {SUPPORTED}")
    return str(source.this.alias_or_name)


def _output(node: Any) -> tuple[str, Aggregate | str]:
    name = node.alias if isinstance(node, exp.Alias) else ""
    node = node.unalias()
    kind = cast("type[Any]", type(node))
    function = _FUNCTIONS.get(kind)
    if function is None:
        if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
            raise Refused(f"{node.sql()!r} is not supported; {SUPPORTED}")
        column = _column(node)
        return name or column, column
    # More arguments, DISTINCT and the like are others of the node's parts.
    if any(value for part, value in node.args.items() if part not in ("this", "big_int")):
        raise Refused(f"{node.sql()!r} is not supported; {SUPPORTED}")
    if isinstance(node.this, exp.Star):
        if function != "count":
            raise Refused(f"{node.sql()!r} is not supported; {SUPPORTED}")
        return name or "count_star()", Aggregate("count", None)
    column = _column(node.this)
    return name or f"{function}({column})", Aggregate(function, column)


def _column(node: Any) -> str:
    node = node.unnest()
    if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
        raise Refused(f"{node.sql()!r} is no column; {SUPPORTED}")
    return ".".join(part.name for part in node.parts)


__all__ = ["SUPPORTED", "Aggregate", "Question", "parse_question"]
