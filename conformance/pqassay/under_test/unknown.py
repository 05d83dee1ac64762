"""Unknown values, and the conditions on which an answer about them depends.

A file may have thousands of things that differ in a few numbers. A rule is tested on one of them, with each of these numbers as an
`Unknown`: it behaves like the number of that thing, and records every comparison. The rule's answer applies to every other thing with the
same results of the comparisons. `Conditions` compiles the recorded comparisons to a function over the columns of all things.

>>> conditions = Conditions()
>>> rows, values = conditions.unknown(0, 20), conditions.unknown(1, 20)
>>> values == rows and values - 1 > 0
True
>>> exceptions = conditions.compiled()
>>> exceptions([[20, 7, 1], [20, 8, 1]], 3)
[1, 2]

Any other use of an unknown value, such as printing it, raises `NotKnown`, so no answer depends on it.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from pqassay_spec.base.stand_ins import StandIn

Columns = Any
"""The values of all things: one sequence for each column, by its position."""


class NotKnown(Exception):  # noqa: N818 - an outcome, not an error
    """An answer would depend on something that is not recorded."""


class Conditions:
    """The recorded comparisons of unknown values, as Python expressions.

    Attributes:
        is_lost: Whether an operation could not be recorded.
    """

    def __init__(self) -> None:
        self._asked: dict[str, bool] = {}
        self._names: dict[Any, str] = {}
        self._columns: dict[str, str] = {}
        self.is_lost = False

    def unknown(self, column: int, value: Any) -> Unknown:
        """The unknown of a column, with the value of one thing."""
        return Unknown(self, self.column(f"columns[{column}]"), value)

    def column(self, source: str) -> str:
        """The variable name of a column value, given as an expression."""
        return self._columns.setdefault(source, f"c{len(self._columns)}")

    def results(self, function: Callable[..., Any], before: Sequence[Any], term: str) -> str:
        """The variable name of a function's result for a column."""
        source = next(source for source, name in self._columns.items() if name == term)
        return self.column(
            f"{self.named(function)}({''.join(f'{self.named(part)}, ' for part in before)}{source})"
        )

    def answer(self, asked: str, value: object) -> bool:
        """Record that an expression is true or false."""
        return self._asked.setdefault(asked, bool(value))

    def named(self, value: Any) -> str:
        """An expression for a known value."""
        if type(value) is int:
            return repr(value)
        try:
            return self._names.setdefault((type(value), value), f"k{len(self._names)}")
        except TypeError:  # compared with an unhashable value
            self.is_lost = True
            raise

    def compiled(self) -> Callable[[Columns, int], list[int]]:
        """A function that finds, among a number of things, the positions of those that may differ."""
        tests = [asked if expected else f"not {asked}" for asked, expected in self._asked.items()]
        test = " and ".join(tests) or "True"
        used = {*re.findall(r"\bc\d+", test)}
        columns = {name: column for column, name in self._columns.items() if name in used}
        source = f"""def exceptions(columns, count):
    found = []
    for number, {"".join(f"{name}, " for name in columns)} in zip(
        range(count), {"".join(f"{column}, " for column in columns.values())}
    ):
        try:
            if {test}: continue
        except Exception: pass
        found.append(number)
    return found"""
        names = {name: value for (_, value), name in self._names.items()}
        exec(compile(source, "<conditions>", "exec"), names)  # noqa: S102 - our own text
        exceptions: Callable[[Columns, int], list[int]] = names["exceptions"]
        return exceptions


class Refused:
    """A value on which every operation is refused."""

    __slots__ = ("conditions_",)

    def __init__(self, conditions: Conditions) -> None:
        self.conditions_ = conditions

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        self.conditions_.is_lost = True
        raise NotKnown

    _use: Any = _refuse
    __getattr__ = __call__ = __bool__ = __len__ = __iter__ = __getitem__ = __contains__ = _use
    __str__ = __repr__ = __format__ = __hash__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _use
    __int__ = __float__ = __index__ = __bytes__ = __neg__ = __abs__ = __invert__ = __divmod__ = _use
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __mod__ = __rmod__ = _use
    __floordiv__ = __rfloordiv__ = __truediv__ = __rtruediv__ = __lshift__ = __rshift__ = _use
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _use


def _compared(sign: str, compare: Callable[[Any, Any], bool]) -> Any:
    def comparison(self: Unknown, other: Any) -> bool:
        term, value = self.parts_of(other)
        return self.conditions_.answer(f"{self.term_} {sign} {term}", compare(self.value_, value))

    return comparison


def _computed(sign: str, compute: Callable[[Any, Any], Any], *, is_reflected: bool = False) -> Any:
    def computation(self: Unknown, other: Any) -> Unknown:
        parts = (self.term_, self.value_), self.parts_of(other)
        (first, before), (second, after) = reversed(parts) if is_reflected else parts
        return Unknown(self.conditions_, f"({first} {sign} {second})", compute(before, after))

    return computation


class Unknown(Refused, StandIn):
    """An unknown value: its expression, and its value for one thing."""

    __slots__ = ("term_", "value_")

    def __init__(self, conditions: Conditions, term: str, value: Any) -> None:
        super().__init__(conditions)
        self.term_ = term
        self.value_ = value

    def parts_of(self, other: Any) -> tuple[str, Any]:
        """The expression for another value, known or unknown, and its value for the same thing."""
        if isinstance(other, Unknown):
            return other.term_, other.value_
        return self.conditions_.named(other), other

    __lt__, __le__ = _compared("<", operator.lt), _compared("<=", operator.le)
    __gt__, __ge__ = _compared(">", operator.gt), _compared(">=", operator.ge)
    _is_equal, _is_other = _compared("==", operator.eq), _compared("!=", operator.ne)
    __add__, __radd__ = _computed("+", operator.add), _computed("+", operator.add, is_reflected=True)
    __sub__, __rsub__ = _computed("-", operator.sub), _computed("-", operator.sub, is_reflected=True)

    def __eq__(self, other: object) -> bool:
        # An absent value has no substitute.
        return other is not None and self._is_equal(other)

    def __ne__(self, other: object) -> bool:
        return other is None or self._is_other(other)

    def __bool__(self) -> bool:
        return self.conditions_.answer(self.term_, self.value_)

    def _only(self, term: str, value: Any) -> Any:
        """Record that other things must have this value, too, and return it."""
        self.conditions_.answer(f"{term} == {self.conditions_.named(value)}", True)
        return value

    def __hash__(self) -> int:
        return hash(self._only(self.term_, self.value_))

    def __len__(self) -> int:
        length: int = self._only(f"len({self.term_})", len(self.value_))
        return length

    def result(self, function: Callable[..., Any], *before: Any) -> Any:
        """See `StandIn`. The result is ``None`` if the value is ``None``."""
        (value,) = function(*before, [self.value_])
        term = self.conditions_.results(function, before, self.term_)
        if self.conditions_.answer(f"{term} is None", value is None):
            return None
        return Unknown(self.conditions_, term, value)

    def decode(self) -> Any:
        """The bytes decoded as text."""
        text = self.result(_texts)
        return self._refuse() if text is None else text


def _texts(raws: Sequence[bytes]) -> list[str | None]:
    """The text of each value; ``None`` for bytes that are not text."""
    texts = (raw.decode(errors="replace") for raw in raws)
    return [text if text.encode() == raw else None for text, raw in zip(texts, raws, strict=True)]
