"""Values that are not known yet, and the conditions on which an answer about them rests.

A file may have thousands of things that differ in a few numbers.  A rule is asked about one of them, in which each of these numbers
is `Unknown`: it behaves like the number of that one thing, and takes note of everything that the rule asks about it.  What the rule
answered, it answers about every other thing of which the same is true.  `Conditions` writes that down as a function that
looks at all things at once, column by column.

>>> conditions = Conditions()
>>> rows, values = conditions.unknown(0, 20), conditions.unknown(1, 20)
>>> values == rows and values - 1 > 0
True
>>> holds = conditions.compiled()
>>> holds.of_all([[20, 7], [20, 7]]), holds.of_all([[20, 7], [20, 8]]), holds.of_one([7, 8])
(True, False, False)

Whatever else is done with an unknown value, such as to print it, raises `NotKnown`: no answer rests on it then.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any, NamedTuple, NoReturn

from pqassay_spec.base.stand_ins import StandIn

Columns = Any
"""The values of things, one sequence for each column, by its position."""


Reading = tuple[Any, str]
"""An object, and how a value is read with it: ``{0}[{1}]`` where it is a dict, ``{0}({1})`` where it is a function."""


class NotKnown(Exception):  # noqa: N818 - an outcome, not an error
    """An answer would rest on more than is noted."""


class Term(NamedTuple):
    """Something computed from unknown values.

    Attributes:
        kind: ``column``, ``constant``, ``result``, or the name of a function in `operator`.
        parts: Its terms; of a column the position, of a constant type and value, of a result the function, its arguments and the term.
    """

    kind: str
    parts: tuple[Any, ...]


class Holds(NamedTuple):
    """Whether conditions hold.

    Attributes:
        of_all: Of all things; where that cannot be told at once, it says no.
        of_one: Of a thing with these values.
    """

    of_all: Callable[[Columns], bool]
    of_one: Callable[[Columns], bool]


class Conditions:
    """What was asked about unknown values.

    Attributes:
        is_lost: Whether something was asked that cannot be noted.
    """

    def __init__(self) -> None:
        self._asked: dict[Term, bool] = {}
        self.is_lost = False

    def unknown(self, column: int, value: Any) -> Unknown:
        """The value of a column, of which one is known."""
        return Unknown(self, Term("column", (column,)), value)

    def answer(self, term: Term, value: object) -> bool:
        """Note that something is true or false."""
        try:
            return self._asked.setdefault(term, bool(value))
        except TypeError:  # compared with what has no hash
            self.is_lost = True
            raise

    def compiled(self, readings: Sequence[Reading | None] = ()) -> Holds:
        """What tells whether the same is true of other things.

        Args:
            readings: How the value of each column is read, where ``of_one`` is not given the values themselves.
        """
        of_all, of_one = _Source(True, ()), _Source(False, readings)
        return Holds(of_all.function(self._asked), of_one.function(self._asked))


def _constant(value: Any) -> Term:
    return Term("constant", (type(value), value))


class Unknown(StandIn):
    """A value that is not known; ``value`` is that of one thing."""

    __slots__ = ("conditions_", "term_", "value_")

    def __init__(self, conditions: Conditions, term: Term, value: Any) -> None:
        self.conditions_ = conditions
        self.term_ = term
        self.value_ = value

    def _compared(self, name: str, other: Any) -> bool:
        if isinstance(other, Unknown):
            term, value = other.term_, other.value_
        else:
            term, value = _constant(other), other
        return self.conditions_.answer(
            Term(name, (self.term_, term)), getattr(operator, name)(self.value_, value)
        )

    def __lt__(self, other: Any) -> bool:
        return self._compared("lt", other)

    def __le__(self, other: Any) -> bool:
        return self._compared("le", other)

    def __gt__(self, other: Any) -> bool:
        return self._compared("gt", other)

    def __ge__(self, other: Any) -> bool:
        return self._compared("ge", other)

    def __eq__(self, other: object) -> bool:
        # What is absent has no stand-in.
        return other is not None and self._compared("eq", other)

    def __ne__(self, other: object) -> bool:
        return other is None or self._compared("ne", other)

    def __bool__(self) -> bool:
        return self.conditions_.answer(Term("truth", (self.term_,)), self.value_)

    def _only(self, term: Term, value: Any) -> Any:
        """A value that other things have to have as well."""
        self.conditions_.answer(Term("eq", (term, _constant(value))), True)
        return value

    def __hash__(self) -> int:
        return hash(self._only(self.term_, self.value_))

    def __len__(self) -> int:
        length: int = self._only(Term("len", (self.term_,)), len(self.value_))
        return length

    def _computed(self, name: str, first: Any, second: Any) -> Unknown:
        terms, values = zip(
            *(
                (part.term_, part.value_) if isinstance(part, Unknown) else (_constant(part), part)
                for part in (first, second)
            ),
            strict=True,
        )
        return Unknown(self.conditions_, Term(name, terms), getattr(operator, name)(*values))

    def __add__(self, other: Any) -> Unknown:
        return self._computed("add", self, other)

    def __radd__(self, other: Any) -> Unknown:
        return self._computed("add", other, self)

    def __sub__(self, other: Any) -> Unknown:
        return self._computed("sub", self, other)

    def __rsub__(self, other: Any) -> Unknown:
        return self._computed("sub", other, self)

    def result(
        self, function: Callable[..., Any], *before: Any, many: Callable[..., Sequence[Any]] | None = None
    ) -> Any:
        """See `StandIn`. ``None`` is returned where it is ``None``."""
        try:
            value = function(*before, self.value_)
        except Exception:
            self.conditions_.is_lost = True
            raise
        term = Term("result", (function, many, before, self.term_))
        if self.conditions_.answer(Term("is_none", (term,)), value is None):
            return None
        return Unknown(self.conditions_, term, value)

    def decode(self) -> Any:
        """The text that bytes are."""
        return self.result(bytes.decode)

    def _refuse(self, *_: Any) -> NoReturn:
        self.conditions_.is_lost = True
        raise NotKnown

    __str__ = __repr__ = __format__ = __iter__ = __getitem__ = __contains__ = _refuse
    __int__ = __float__ = __index__ = __bytes__ = __neg__ = __abs__ = __invert__ = __call__ = _refuse
    __mul__ = __rmul__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __truediv__ = __rtruediv__ = (
        _refuse
    )
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __lshift__ = __rshift__ = __divmod__ = (
        _refuse
    )
    __getattr__ = _refuse


# ------------------------------------------------------------------------------------------- conditions as functions


class _Source:
    """Writes conditions down as a function of columns, or of the values of one thing."""

    def __init__(self, of_all: bool, readings: Sequence[Reading | None]) -> None:
        self.of_all = of_all
        self.readings = readings
        self.names: dict[str, Any] = {"repeat": repeat}
        self.lines: list[str] = []
        self.known: dict[Term, str] = {}

    def function(self, asked: dict[Term, bool]) -> Callable[[Columns], bool]:
        """The function that tells whether all these terms are as true as they are said to be; it says no where it cannot tell."""
        for term, expected in asked.items():
            self.lines.append(f"        if {self.fails(term, expected)}: return False")
        source = "\n".join(
            [
                "def holds(c):",
                "    try:",
                "        pass",
                *self.lines,
                "    except Exception: return False",
                "    return True",
            ]
        )
        exec(compile(source, "<conditions>", "exec"), self.names)  # noqa: S102 - our own text
        function: Callable[[Columns], bool] = self.names["holds"]
        return function

    def named(self, value: Any) -> str:
        """A name for an object."""
        name = f"k{len(self.names)}"
        self.names[name] = value
        return name

    def fails(self, term: Term, expected: bool) -> str:
        """What is true where a condition does not hold, of any thing."""
        if term.kind == "truth":
            value = self.value(term.parts[0])
            if self.of_all:
                return f"not all({value})" if expected else f"any({value})"
            return f"not {value}" if expected else value
        if term.kind == "is_none":
            value = self.value(term.parts[0])
            if self.of_all:
                return f"{value}.count(None) < len({value})" if expected else f"None in {value}"
            return f"{value} is {'not ' * expected}None"
        first, second = map(self.value, term.parts)
        if self.of_all:
            compare = self.named(getattr(operator, term.kind))
            return f"{'not all' if expected else 'any'}(map({compare}, {first}, {second}))"
        return f"{'not ' * expected}{first} {_SIGNS[term.kind]} {second}"

    def value(self, term: Term) -> str:
        """An expression for the values of a term."""
        if term.kind == "constant":
            name = self.named(term.parts[1])
            return f"repeat({name})" if self.of_all else name
        if term.kind == "column" and self.of_all:
            return f"c[{term.parts[0]}]"
        if term not in self.known:
            expression = self.expression(term)
            self.known[term] = name = f"v{len(self.known)}"
            self.lines.append(f"        {name} = {expression}")
        return self.known[term]

    def expression(self, term: Term) -> str:
        """The expression for a term that is computed."""
        if term.kind == "column":
            (place,) = term.parts
            reading = self.readings[place] if place < len(self.readings) else None
            return (
                f"c[{place}]" if reading is None else reading[1].format(self.named(reading[0]), f"c[{place}]")
            )
        if term.kind == "result":
            function, many, before, part = term.parts
            value = self.value(part)
            if self.of_all and many is not None:
                return f"{self.named(many)}({', '.join([*map(self.named, before), value])})"
            if self.of_all:
                constants = [f"repeat({self.named(argument)})" for argument in before]
                return f"list(map({self.named(function)}, {', '.join([*constants, value])}))"
            return f"{self.named(function)}({', '.join([*map(self.named, before), value])})"
        values = [*map(self.value, term.parts)]
        if self.of_all:
            function = len if term.kind == "len" else getattr(operator, term.kind)
            return f"list(map({self.named(function)}, {', '.join(values)}))"
        return f"len({values[0]})" if term.kind == "len" else f" {_SIGNS[term.kind]} ".join(values)


_SIGNS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=", "add": "+", "sub": "-"}
