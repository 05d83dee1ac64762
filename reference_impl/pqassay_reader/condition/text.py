"""Predicates as text: parse SQL conditions into the trees of ``conformance/PROTOCOL.md``.

sqlglot parses the SQL.  Trees can express comparisons of one column with constants, ``IN``, ``BETWEEN``,
``IS NULL``, and ``AND``, ``OR``, ``NOT`` of those; everything else is refused.  Loading sqlglot is slow, so this
module has no other code.
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
"""Most characters of the text that a message repeats."""

DIALECT = "sqlite"
"""The dialect of sqlglot in which ``"x"`` is a name and ``x'00'`` bytes."""


def parse_predicate(text: str, *, dialect: str = DIALECT) -> Tree:
    r"""The tree of a condition. Names in double quotes may have any character; constants are numbers and ``'text'``.

    Another dialect has its own quotes of names and meaning of backslashes: in ``spark``, ``"x"`` is text,
    names are in backticks, and ``'a\\nb'`` contains a line feed.

    >>> parse_predicate("year >= 2020 AND nation IN ('Peru', 'Chad')")
    ['and', ['>=', 'year', 2020], ['in', 'nation', ['Peru', 'Chad']]]
    >>> parse_predicate("NOT price BETWEEN -1.5 AND 2 OR \"a b\" IS NULL")
    ['or', ['not', ['and', ['>=', 'price', -1.5], ['<=', 'price', 2]]], ['is null', 'a b']]
    >>> parse_predicate('`a b` = "Peru"', dialect="spark")
    ['=', 'a b', 'Peru']

    Raises:
        Refused: The text is not a condition, or trees cannot express it.
    """
    message = f"{_short(text)!r} is not a condition: "
    parsed = parsed_sql(
        text, "condition", lambda problem: message + _short(problem), dialect=dialect, into=exp.Condition
    )
    return parsed_tree(parsed)


def parsed_sql(text: str, what: str, message: Callable[[str], str], **options: Any) -> Any:
    """The tree that sqlglot parses from a text, with its own options.

    Raises `Refused` if it is too long or too deep, and with ``message`` if it is not SQL.
    """
    if len(text) > LONGEST:
        raise Refused(f"the {what} has {len(text)} characters; the limit is {LONGEST}")
    try:
        return sqlglot.parse_one(text, **options)
    except SqlglotError as error:
        raise Refused(message(str(error).partition("\n")[0].split(". Line")[0])) from None
    except RecursionError:
        raise Refused(f"the {what} is nested too deeply") from None


def parsed_tree(condition: Any) -> Tree:
    """The tree of a condition that sqlglot has parsed.

    Raises:
        Refused: Trees cannot express it.
    """
    try:
        return _tree(condition)
    except RecursionError:
        raise Refused("the condition is nested too deeply") from None


def _short(text: str) -> str:
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"


def _tree(node: Any) -> Tree:
    match node:
        case exp.Paren():
            return _tree(node.this)
        case exp.Not():
            return ["not", _tree(node.this)]
        case exp.And() | exp.Or():
            # Chains of any length are flattened without recursion.
            return ["and" if isinstance(node, exp.And) else "or", *map(_tree, node.flatten())]
        case exp.Is() if isinstance(node.expression, exp.Null):
            return ["is null", _required_column(node.this)]
        case exp.In() if node.expressions and node.args.get("query") is None:
            return _placed(
                "in", _required_column(node.this), [_constant(part) for part in node.expressions], node
            )
        case exp.Between():
            column = _required_column(node.this)
            low, high = _constant(node.args["low"]), _constant(node.args["high"])
            orders = [(low, high), (high, low)] if node.args.get("symmetric") else [(low, high)]
            trees = [
                ["and", _placed(">=", column, least, node), _placed("<=", column, most, node)]
                for least, most in orders
            ]
            return trees[0] if len(trees) == 1 else ["or", *trees]
        case _ if type(node) in COMPARISONS:
            name, mirrored = COMPARISONS[type(node)]
            left, right = node.this, node.expression
            if column_name(left) is None and column_name(right) is not None:
                left, right, name = right, left, mirrored
            return _placed(name, _required_column(left), _constant(right), node)
        case _:
            raise _refusal(node, f"is not supported; {ADVICE.get(type(node), WRITE)}")


def _refusal(node: Any, message: str) -> Refused:
    """The refusal of a part of the text, with its position."""
    return Refused(f"at character {_position(node)}: {_short(node.sql())!r} {message}")


def _position(node: Any) -> int:
    """The character at which a part begins, counted from 1."""
    return 1 + min((int(part.meta["start"]) for part in node.walk() if "start" in part.meta), default=0)


COMPARISONS = {
    exp.EQ: ("=", "="),
    exp.NEQ: ("!=", "!="),
    exp.LT: ("<", ">"),
    exp.LTE: ("<=", ">="),
    exp.GT: (">", "<"),
    exp.GTE: (">=", "<="),
}
"""Names of comparisons, and their names with sides exchanged."""

WRITE = "write comparisons, IN, BETWEEN and IS NULL, joined by AND, OR and NOT"
ADVICE = {exp.In: "IN takes a list of constants", exp.Is: "IS takes NULL or NOT NULL"}


def _placed(name: str, column: str, constant: Any, node: Any) -> Tree:
    """A comparison of a column that also stores its position in the text."""
    placed = PlacedTree([name, column, constant])
    placed.position = _position(node)
    return placed


def column_name(node: Any) -> str | None:
    """The column that a node names, as a path joined by dots; ``None`` for other nodes."""
    node = node.unnest()
    if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
        return None
    return ".".join(part.name for part in node.parts)


def _required_column(node: Any) -> str:
    name = column_name(node)
    if name is None:
        raise _refusal(node, "is not a column; compare a column with constants")
    return name


def _constant(node: Any) -> Any:
    """A constant as a Python value; ``DATE '…'`` and similar constants become their text."""
    node = node.unnest()
    match node:
        case exp.Cast():
            return _cast(node)
        case exp.Null():
            return None
        case exp.Boolean():
            return bool(node.this)
        case exp.Literal():
            return node.this if node.is_string else _number(node.this)
        case exp.HexString():
            try:
                return bytes.fromhex(node.this)
            except ValueError:
                raise _refusal(node, "does not hold whole bytes; write bytes as x'00ff'") from None
        case exp.Neg():
            value = _constant(node.this)
            if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
                # A decimal's own minus would round it.
                return value.copy_negate() if isinstance(value, Decimal) else -value
        case _:
            pass
    raise _refusal(node, "is not a constant; write text in single quotes")


CASTS_OF_TEXT = re.compile(
    "DATE|TIME|TIMETZ|DATETIME|TIMESTAMP|TIMESTAMPTZ|TIMESTAMPLTZ|TIMESTAMPNTZ|TEXT|VARCHAR|UUID"
)
"""Types to which text can be cast without change, because they have no length or precision; ``TEXT`` and ``VARCHAR`` keep it as text."""

_DAY = re.compile(r"\s*\d+-\d+-\d+\s*")


def _cast(node: Any) -> Any:
    """The text or null inside a cast that does not change it. Other casts change the value, differently in each engine."""
    value, kind = _constant(node.this), node.to.sql()
    if value is None:
        return value
    is_text = isinstance(value, str) and CASTS_OF_TEXT.fullmatch(kind) is not None
    if is_text and (kind != "DATE" or _DAY.fullmatch(value)):
        return value if kind in ("TEXT", "VARCHAR") else TypedText(value)
    raise _refusal(node, "may change the constant by its cast; write the result of the cast instead")


def _number(text: str) -> int | float | Decimal:
    """A number; a `Decimal` if no float is exactly this number, judged by the digits of the float."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        exact, nearest = Decimal(text), float(text)
        return nearest if Decimal(repr(nearest)) == exact else exact
    except (ValueError, InvalidOperation):
        raise Refused(f"{_short(text)!r} is not a number") from None
