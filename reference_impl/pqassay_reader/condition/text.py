"""Predicates as people write them: SQL conditions, read into the trees of ``conformance/PROTOCOL.md``.

sqlglot reads the SQL.  What a tree can say is comparisons of one column with constants, ``IN``, ``BETWEEN``, ``IS NULL``,
and ``AND``, ``OR``, ``NOT`` of those; the rest is refused.  Loading sqlglot takes a while, so nothing else is here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

import sqlglot
from sqlglot import expressions as exp
from sqlglot.errors import SqlglotError

from pqassay_reference.columns.literals import PlacedTree, Tree, TypedText
from pqassay_reference.errors import Refused

LONGEST = 10_000
"""Characters of the longest text."""


MOST_SHOWN = 100
"""Characters of the text that a message repeats."""

DIALECT = "sqlite"
"""Of sqlglot's, the one in which ``"x"`` is a name and ``x'00'`` bytes."""


def parse_predicate(text: str, *, dialect: str = DIALECT) -> Tree:
    r"""The tree of a condition. Names in double quotes may hold any character; constants are numbers and ``'text'``.

    With another dialect, the quotes of names and what a backslash means are those of that dialect: in ``spark``,
    ``"x"`` is text, names are in backticks, and ``'a\\nb'`` holds a line feed.

    >>> parse_predicate("year >= 2020 AND nation IN ('Peru', 'Chad')")
    ['and', ['>=', 'year', 2020], ['in', 'nation', ['Peru', 'Chad']]]
    >>> parse_predicate("NOT price BETWEEN -1.5 AND 2 OR \"a b\" IS NULL")
    ['or', ['not', ['and', ['>=', 'price', -1.5], ['<=', 'price', 2]]], ['is null', 'a b']]
    >>> parse_predicate('`a b` = "Peru"', dialect="spark")
    ['=', 'a b', 'Peru']

    Raises:
        Refused: The text is no condition, or one that a tree cannot say.
    """
    if len(text) > LONGEST:
        raise Refused(f"the condition has {len(text)} characters, where {LONGEST} are the most")
    try:
        parsed = sqlglot.parse_one(text, dialect=dialect, into=exp.Condition)
    except SqlglotError as error:
        first = str(error).partition("\n")[0].split(". Line")[0]
        raise Refused(f"{_short(text)!r} is no condition: {_short(first)}") from None
    except RecursionError:
        raise Refused("the condition is nested too deeply") from None
    return parsed_tree(parsed)


def parsed_tree(condition: Any) -> Tree:
    """The tree of a condition that sqlglot has parsed.

    Raises:
        Refused: It is one that a tree cannot say.
    """
    try:
        return _tree(condition)
    except RecursionError:
        raise Refused("the condition is nested too deeply") from None


def _short(text: str) -> str:
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"


def _tree(node: Any) -> Tree:
    readers: dict[type[Any], Callable[[Any], Tree]] = {
        exp.Paren: lambda node: _tree(node.this),
        exp.Not: lambda node: ["not", _tree(node.this)],
        exp.And: lambda node: _joined("and", node),
        exp.Or: lambda node: _joined("or", node),
        exp.Between: _between,
        exp.In: _in,
        exp.Is: _is,
    }
    readers |= dict.fromkeys((exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE), _comparison)
    kind = type(node)
    reader = readers.get(kind)
    if reader is None:
        raise Refused(
            f"{node.sql()!r} is no comparison, IN, BETWEEN or IS NULL, and no AND, OR, NOT of those"
        )
    return reader(node)


def _joined(name: str, node: Any) -> Tree:
    """``a AND b AND c``, which the parser nests to the left, as one list; without recursion, however many there are."""
    kind = type(node)
    parts: list[Any] = []
    rest = node
    while isinstance(rest, kind):
        parts.append(rest.expression)
        rest = rest.this
    parts.append(rest)
    return [name, *map(_tree, reversed(parts))]


_NAMES = {"EQ": "=", "NEQ": "!=", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">="}
_MIRRORED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _comparison(node: Any) -> Tree:
    name = _NAMES[type(node).__name__]
    left, right = node.this, node.expression
    if _column(left) is None and _column(right) is not None:
        left, right, name = right, left, _MIRRORED[name]
    return _placed([name, _required_column(left, node), _constant(right)], node)


def _between(node: Any) -> Tree:
    column = _required_column(node.this, node)
    low, high = _constant(node.args["low"]), _constant(node.args["high"])
    from_low, to_high = _placed([">=", column, low], node), _placed(["<=", column, high], node)
    tree = ["and", from_low, to_high]
    if not node.args.get("symmetric"):
        return tree
    return ["or", tree, ["and", [">=", column, high], ["<=", column, low]]]


def _in(node: Any) -> Tree:
    if not node.expressions or node.args.get("query") is not None:
        raise Refused(f"{node.sql()!r}: IN takes a list of constants")
    column, constants = _required_column(node.this, node), [_constant(part) for part in node.expressions]
    return _placed(["in", column, constants], node)


def _placed(comparison: Tree, node: Any) -> Tree:
    """A comparison that knows where it is in the text."""
    placed = PlacedTree(comparison)
    placed.position = 1 + min((part.meta["start"] for part in node.walk() if "start" in part.meta), default=0)
    return placed


def _is(node: Any) -> Tree:
    if not isinstance(node.expression, exp.Null):
        raise Refused(f"{node.sql()!r}: IS takes NULL or NOT NULL")
    return ["is null", _required_column(node.this, node)]


def _column(node: Any) -> str | None:
    node = node.unnest()
    if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
        return None
    return ".".join(part.name for part in node.parts)


def _required_column(node: Any, whole: Any) -> str:
    name = _column(node)
    if name is None:
        raise Refused(f"{whole.sql()!r}: {node.sql()!r} is no column; a column is compared with constants")
    return name


def _constant(node: Any) -> Any:
    """A constant as Python has it; ``DATE '…'`` and the like are their text."""
    node = node.unnest()
    if isinstance(node, exp.Cast):
        return _cast(node)
    if isinstance(node, exp.Neg):
        value = _constant(node.this)
        if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
            # A decimal's own minus would round it.
            return value.copy_negate() if isinstance(value, Decimal) else -value
    elif isinstance(node, exp.Null):
        return None
    elif isinstance(node, exp.Boolean):
        return bool(node.this)
    elif isinstance(node, exp.HexString):
        return _bytes(node)
    elif isinstance(node, exp.Literal):
        return node.this if node.is_string else _number(node.this)
    raise Refused(f"{node.sql()!r} is no constant; text is in single quotes")


CASTS_OF_TEXT = re.compile(
    "DATE|TIME|TIMETZ|DATETIME|TIMESTAMP|TIMESTAMPTZ|TIMESTAMPLTZ|TIMESTAMPNTZ|TEXT|VARCHAR|UUID"
)
"""Types that text may be said to have, without a length or precision that would cut it."""

PLAIN_TEXT = ("TEXT", "VARCHAR")
"""Those of them by which text stays text."""

_DAY = re.compile(r"\s*\d+-\d+-\d+\s*")


def _cast(node: Any) -> Any:
    """Text or null with the type that it has anyhow. Other casts make another value of it, each engine in its own way."""
    value, kind = _constant(node.this), node.to.sql()
    if value is None:
        return value
    is_text = isinstance(value, str) and CASTS_OF_TEXT.fullmatch(kind) is not None
    if is_text and (kind != "DATE" or _DAY.fullmatch(value)):
        return value if kind in PLAIN_TEXT else TypedText(value)
    raise Refused(
        f"{node.sql()!r}: the cast may change the constant; write what it results in, without a cast"
    )


def _bytes(node: Any) -> bytes:
    """``x'00ff'``, which the parser holds as digits."""
    try:
        return bytes.fromhex(node.this)
    except ValueError:
        raise Refused(f"{node.sql()!r}: bytes are written as x'00ff'") from None


def _number(text: str) -> int | float | Decimal:
    """A number; a `Decimal` where no float is the same number, in so far as floats are told apart by their digits."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        exact, nearest = Decimal(text), float(text)
        return nearest if Decimal(repr(nearest)) == exact else exact
    except (ValueError, InvalidOperation):
        raise Refused(f"{_short(text)!r} is no number") from None
