"""Conditions drawn for columns of every type, with constants of every type, and what they mean: a plain evaluator over fractions.

A value of a column is drawn as a key: a whole number for types that count steps, else the value. A constant is drawn with its meaning for
each class of types that it can be compared with; it cannot be compared with others.
"""

from __future__ import annotations

import datetime as dt
import math
import os
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from pqassay_reference.columns.literals import Moment, TypedText

IS_WHOLE = os.environ.get("PQASSAY_CONDITIONS") == "all"
"""Whether as many conditions are drawn as one waits for by hand: ``PQASSAY_CONDITIONS=all``."""


def examples(few: int, many: int) -> int:
    """How many examples are drawn."""
    return many if IS_WHOLE else few


SECOND = 10**9
DAY = 86_400 * SECOND
UNITS = {"s": SECOND, "ms": 10**6, "us": 1000, "ns": 1}

WHOLE: list[Any] = [
    pa.int8(),
    pa.int16(),
    pa.int32(),
    pa.int64(),
    pa.uint8(),
    pa.uint16(),
    pa.uint32(),
    pa.uint64(),
]
FLOATS: list[Any] = [pa.float16(), pa.float32(), pa.float64()]
DECIMALS: list[Any] = [
    pa.decimal128(4, 2),
    pa.decimal128(18, 0),
    pa.decimal128(30, 10),
    pa.decimal128(38, 38),
    pa.decimal256(50, 3),
]
TEXTS: list[Any] = [pa.string(), pa.large_string(), pa.string_view()]
BYTES: list[Any] = [pa.binary(), pa.large_binary(), pa.binary(2), pa.binary(16)]
DATES: list[Any] = [pa.date32(), pa.date64()]
TIMES: list[Any] = [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")]
CLOCKS: list[Any] = [pa.timestamp(unit) for unit in UNITS]
INSTANTS: list[Any] = [pa.timestamp(unit, "UTC") for unit in ("ms", "us", "ns")]
KINDS: list[Any] = [
    *WHOLE,
    *FLOATS,
    *DECIMALS,
    pa.bool_(),
    *TEXTS,
    *BYTES,
    *DATES,
    *TIMES,
    *CLOCKS,
    *INSTANTS,
    pa.duration("us"),
    pa.dictionary(pa.int32(), pa.string()),
]


def class_of(kind: Any) -> str:
    """The class of a type: what its values are compared as."""
    types = pa.types
    if types.is_dictionary(kind):
        return class_of(kind.value_type)
    classes = [
        ("decimal", types.is_decimal(kind)),
        ("number", types.is_integer(kind) or types.is_floating(kind) or types.is_duration(kind)),
        ("bool", types.is_boolean(kind)),
        ("text", kind in TEXTS),
        ("uuid", types.is_fixed_size_binary(kind) and kind.byte_width == 16),
        ("fixed", types.is_fixed_size_binary(kind)),
        ("bytes", types.is_binary(kind) or types.is_large_binary(kind)),
        ("date", types.is_date(kind)),
        ("time", types.is_time(kind)),
        ("timestamp", types.is_timestamp(kind) and kind.tz is None),
        ("instant", types.is_timestamp(kind)),
    ]
    return next(name for name, fits in classes if fits)


# ------------------------------------------------------------------------------------------------------ columns


def limits(kind: Any) -> tuple[int, int]:
    """The least and the greatest key of a type that counts steps."""
    if pa.types.is_decimal(kind):
        return 1 - 10**kind.precision, 10**kind.precision - 1
    if pa.types.is_unsigned_integer(kind):
        return 0, (1 << kind.bit_width) - 1
    if pa.types.is_time(kind):
        return 0, DAY // UNITS[kind.unit] - 1
    if kind == pa.date64():
        return -106751991167, 106751991167
    return -(1 << kind.bit_width - 1), (1 << kind.bit_width - 1) - 1


LETTERS = st.sampled_from(["", "a", "ab", "b", "B", "z", "é", "\U0001f333", "￿", "a\0", "1", "2024-01-31"])


def keys_of(kind: Any) -> st.SearchStrategy[Any]:
    """Keys of values of a type."""
    name = class_of(kind)
    if name == "text":
        return LETTERS | st.text(max_size=3)
    if name == "bytes":
        return LETTERS.map(str.encode) | st.binary(max_size=3)
    if name in ("uuid", "fixed"):
        size = kind.byte_width
        ends = st.sampled_from([b"\0" * size, b"\xff" * size, b"a" * size, b"a" + b"\0" * (size - 1)])
        return ends | st.binary(min_size=size, max_size=size)
    if name == "bool":
        return st.booleans()
    if pa.types.is_floating(kind):
        width: Any = kind.bit_width
        few = st.sampled_from([0.0, -0.0, 0.5, -1.5, 1.0, 3.0, math.inf, -math.inf, math.nan])
        return few | st.floats(width=width)
    least, most = limits(kind)
    small = st.integers(max(-3, least), min(300, most))
    steps = [least, most, *(one for one in (0, 1, 86_400, 10**6 * 86_400) if least <= one <= most)]
    return small | st.sampled_from(steps) | st.integers(least, most)


def column(kind: Any, keys: list[Any]) -> Any:
    """The array of some keys, ``None`` for null."""
    if pa.types.is_dictionary(kind):
        return pa.array(keys, kind.value_type).dictionary_encode()
    if pa.types.is_decimal(kind):
        return pa.array([None if key is None else scaled(key, kind.scale) for key in keys], kind)
    if kind == pa.float16():
        return pa.array([None if key is None else np.float16(key) for key in keys], kind)
    if pa.types.is_temporal(kind):
        factor = DAY // 10**6 if kind == pa.date64() else 1
        stored: Any = pa.int32() if kind.bit_width == 32 else pa.int64()
        return pa.array([None if key is None else key * factor for key in keys], stored).cast(kind)
    return pa.array(keys, kind)


def scaled(count: int, scale: int) -> Decimal:
    """A decimal, exact whatever the context says."""
    return Decimal((count < 0, tuple(map(int, str(abs(count)))), -scale))


def meaning_of(kind: Any, key: Any) -> Any:
    """The mathematical value of a key: a fraction, nanoseconds, text, bytes; a float where it is infinite or NaN."""
    if key is None or isinstance(key, str | bytes | bool):
        return key
    if isinstance(key, float):
        return Fraction(key) if math.isfinite(key) else key
    if pa.types.is_decimal(kind):
        return Fraction(key, 10**kind.scale)
    if pa.types.is_date(kind):
        return Fraction(key * DAY)
    is_moment = pa.types.is_temporal(kind) and not pa.types.is_duration(kind)
    return Fraction(key * UNITS[kind.unit]) if is_moment else Fraction(key)


# ---------------------------------------------------------------------------------------------------- constants


class Constant(NamedTuple):
    """A constant, and what it means to each class of types that it is compared with."""

    written: Any
    meanings: dict[str, Any]


def number(written: Any) -> Constant:
    """A number of any type."""
    if isinstance(written, float | Decimal) and not Decimal(written).is_finite():
        return Constant(written, dict.fromkeys(("number", "decimal"), float(written)))
    as_written = Fraction(Decimal(repr(written))) if isinstance(written, float) else Fraction(written)
    return Constant(written, {"number": Fraction(written), "decimal": as_written})


def text(written: str) -> Constant:
    """A text that is nothing else."""
    return Constant(written, {"text": written, "bytes": written.encode()})


def raw(written: bytes) -> Constant:
    """Bytes."""
    return Constant(written, dict.fromkeys(("bytes", "fixed", "uuid"), written))


def moment(nanoseconds: int, digits: int, form: str) -> Constant:
    """A moment as text, with some digits behind the second: a day, a clock, a time of day, or with a zone."""
    step = 10 ** (9 - digits)
    count = nanoseconds // step * step
    days, rest = divmod(count, DAY)
    day = (dt.date(1970, 1, 1) + dt.timedelta(days=days)).isoformat()
    seconds, fraction = divmod(rest, SECOND)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    clock += f".{fraction:09}"[: digits + 1] if digits else ""
    if form == "day":
        means = dict.fromkeys(("date", "timestamp"), Fraction(days * DAY))
        return Constant(day, text(day).meanings | means)
    if form == "time":
        return Constant(clock, text(clock).meanings | {"time": Fraction(rest)})
    if form == "clock":
        means = dict.fromkeys(("date", "timestamp"), Fraction(count))
        return Constant(f"{day} {clock}", text(f"{day} {clock}").meanings | means)
    if form == "typed":
        return Constant(TypedText(f"{day} {clock}"), dict.fromkeys(("date", "timestamp"), Fraction(count)))
    zone, shift = ("Z", 0) if form == "zone" else ("+02:00", 7200 * SECOND)
    whole = f"{day} {clock}{zone}"
    return Constant(whole, text(whole).meanings | {"instant": Fraction(count - shift)})


def tagged(kind: str, count: int) -> Constant:
    """A moment as the protocol writes it."""
    means = {"date": {"date": Fraction(count * DAY)}, "time": {"time": Fraction(count)}}
    both = {"timestamp": Fraction(count), "instant": Fraction(count)}
    return Constant(Moment(kind, count), means.get(kind, both))


def uuid(written: bytes) -> Constant:
    """A UUID as text."""
    shown = str(UUID(bytes=written))
    return Constant(shown, text(shown).meanings | {"uuid": written})


EDGES = [
    edge + more
    for bits in (7, 8, 15, 16, 24, 31, 32, 53, 63, 64, 200)
    for edge in (1 << bits, -(1 << bits))
    for more in (-1, 0, 1)
]
FRACTIONS = [0.5, -0.5, 2.5, 0.1, 1e39, -1e39, 1e300, 5e-324, -0.0, 0.0, math.nan, math.inf, -math.inf]
SCALES = [
    "0.5",
    "1.005",
    "-2.5",
    "99.995",
    "1E+500",
    "-1E-500",
    "3.00",
    "12E1",
    "0.1000000014901161193847656",
]

NUMBERS = st.one_of(
    st.integers(-3, 300),
    st.sampled_from(EDGES),
    st.sampled_from(FRACTIONS),
    st.sampled_from(list(map(Decimal, SCALES))),
    st.floats(),
    st.integers(),
    st.decimals(allow_nan=False, allow_infinity=False),
).map(number)
TIMES_OF = st.one_of(
    st.integers(-3, 3).map(lambda days: days * DAY),
    st.integers(-10 * DAY, 10 * DAY),
    st.integers(-700_000, 2_900_000).map(lambda days: days * DAY + 1),
)
MOMENTS = st.one_of(
    st.builds(
        moment,
        TIMES_OF,
        st.sampled_from([0, 3, 6, 9]),
        st.sampled_from(["day", "time", "clock", "zone", "typed", "shifted"]),
    ),
    st.builds(tagged, st.just("date"), st.integers(-(1 << 33), 1 << 33)),
    st.builds(tagged, st.just("time"), st.integers(0, DAY - 1)),
    st.builds(tagged, st.just("timestamp"), st.integers(-(1 << 95), 1 << 95) | TIMES_OF),
)
WORDS = LETTERS.filter(lambda word: word != "2024-01-31").map(text) | st.just(moment(19753 * DAY, 0, "day"))
RAW = (LETTERS.map(str.encode) | st.binary(max_size=3) | st.binary(min_size=15, max_size=17)).map(raw)
UUIDS = st.binary(min_size=16, max_size=16).map(uuid)
ANY = st.one_of(
    NUMBERS, MOMENTS, WORDS, RAW, UUIDS, st.booleans().map(lambda flag: Constant(flag, {"bool": flag}))
)
OF_CLASS = {
    "number": NUMBERS,
    "decimal": NUMBERS,
    "bool": st.booleans().map(lambda flag: Constant(flag, {"bool": flag})),
    "text": WORDS | MOMENTS | UUIDS,
    "bytes": RAW | WORDS,
    "fixed": RAW,
    "uuid": RAW | UUIDS,
    "date": MOMENTS,
    "time": MOMENTS,
    "timestamp": MOMENTS,
    "instant": MOMENTS,
}
NULL = Constant(None, {})


def near(kind: Any, key: Any) -> list[Constant]:
    """Constants of other types that are equal to a value, or near it."""
    name, value = class_of(kind), meaning_of(kind, key)
    if name in ("number", "decimal"):
        if not isinstance(value, Fraction):
            return [number(value)]
        exact = scaled(key, kind.scale) if name == "decimal" else key
        whole = math.floor(value)
        halves = [Decimal(whole) + Decimal("0.001"), Decimal(f"{whole}.5"), Decimal(f"{whole}.00"), exact]
        wholes: list[Any] = [whole, whole + 1, whole - 1]
        return [number(each) for each in (*halves, *wholes, *([whole + 0.5] if abs(whole) < 1 << 60 else []))]
    if name == "bool":
        return [Constant(key, {"bool": key})]
    if name == "text":
        return [] if key[:1].isdigit() else [text(key), text(key + "\0"), text(key[:-1])]
    if name in ("bytes", "fixed", "uuid"):
        return [raw(key), raw(key + b"\0"), raw(key[:-1]), *([uuid(key)] if name == "uuid" else [])]
    count = int(value)
    found = [tagged("date", count // DAY)] if name == "date" else []
    if name == "time":
        return [tagged("time", count), moment(count, 9, "time")]
    if name in ("timestamp", "instant"):
        found = [tagged("timestamp", count + more) for more in (-1, 0, 1)]
    if -700_000 * DAY < count < 2_900_000 * DAY:
        found.append(moment(count, 9, "zone" if name == "instant" else "clock"))
    return found


# ---------------------------------------------------------------------------------------------------- conditions


class Drawn(NamedTuple):
    """Columns, and conditions on them.

    Attributes:
        kinds: The types of the columns, by name.
        keys: Their values.
        trees: Conditions, whose constants are `Constant`.
    """

    kinds: dict[str, Any]
    keys: dict[str, list[Any]]
    trees: list[Any]

    @property
    def table(self) -> pa.Table:
        """The columns."""
        return pa.table({name: column(kind, self.keys[name]) for name, kind in self.kinds.items()})

    def truths(self, tree: Any) -> list[bool | None] | None:
        """The truth of a condition on each row; ``None`` where a constant cannot be compared with its column."""
        if not is_comparable(tree, self.kinds):
            return None
        rows = range(len(next(iter(self.keys.values()))))
        values = {
            name: [meaning_of(kind, key) for key in self.keys[name]] for name, kind in self.kinds.items()
        }
        return [truth(tree, {name: values[name][row] for name in values}, self.kinds) for row in rows]


@st.composite
def drawn(
    draw: st.DrawFn, kinds: list[Any], *, rows: int = 6, trees: int = 3, strangers: bool = True
) -> Drawn:
    """Two columns of some types, and conditions on them.

    Args:
        kinds: The types.
        rows: The most rows.
        trees: How many conditions.
        strangers: Whether constants may be such that cannot be compared with their columns.
    """
    of_columns = {name: draw(st.sampled_from(kinds)) for name in ("x", "y")}
    count = draw(st.integers(1, rows))
    keys = {
        name: [draw(KEYS[kind]) for _ in range(count)] if draw(st.integers(0, 9)) else [None] * count
        for name, kind in of_columns.items()
    }
    for several in keys.values():
        if draw(st.booleans()):
            several[draw(st.integers(0, count - 1))] = None
    return Drawn(of_columns, keys, [draw_tree(draw, of_columns, keys, strangers, 3) for _ in range(trees)])


KEYS = {kind: keys_of(kind) for kind in KINDS}
TESTS = ["=", "!=", "<", "<=", ">", ">=", "=", "<", ">=", "in", "not in", "is null", "is not null"]


def draw_tree(
    draw: st.DrawFn, kinds: dict[str, Any], keys: dict[str, list[Any]], strangers: bool, depth: int
) -> Any:
    """A condition."""
    shape = draw(st.sampled_from(["test", "test", "and", "or", "not"])) if depth else "test"
    if shape != "test":
        parts = 1 if shape == "not" else draw(st.integers(2, 3))
        return [shape, *(draw_tree(draw, kinds, keys, strangers, depth - 1) for _ in range(parts))]
    name, test = draw(st.sampled_from(["x", "x", "y"])), draw(st.sampled_from(TESTS))
    if test.endswith("null"):
        return [test, name]

    def constant() -> Constant:
        return draw_constant(draw, kinds[name], keys[name], strangers)

    if test.endswith("in"):
        return [test, name, [constant() for _ in range(draw(st.integers(0, 4)))]]
    return [test, name, constant()]


def draw_constant(draw: st.DrawFn, kind: Any, keys: list[Any], strangers: bool) -> Constant:
    """A constant: near a value, of the class of the column, or of any other."""
    which = draw(st.integers(0, 19))
    there = [key for key in keys if key is not None]
    if which < 9 and there and (found := near(kind, draw(st.sampled_from(there)))):
        chosen: Constant = draw(st.sampled_from(found))
        return chosen
    if which == 19:
        return NULL
    if which == 18 and strangers:
        stranger: Constant = draw(ANY)
        return stranger
    constant: Constant = draw(OF_CLASS[class_of(kind)])
    return constant if strangers or class_of(kind) in constant.meanings else NULL


def written(tree: Any) -> Any:
    """A condition as the protocol has it, with Python's own constants."""
    if isinstance(tree, Constant):
        return tree.written
    return [written(part) for part in tree] if isinstance(tree, list) else tree


def constants_of(tree: Any) -> list[tuple[str, Constant]]:
    """The constants of a condition, each with its column."""
    if tree[0] in ("and", "or", "not"):
        return [found for part in tree[1:] for found in constants_of(part)]
    operands = tree[2:] if not tree[2:] or isinstance(tree[2], Constant) else tree[2]
    return [(tree[1], operand) for operand in operands]


def is_comparable(tree: Any, kinds: dict[str, Any]) -> bool:
    """Whether each constant of a condition can be compared with its column."""
    return all(
        constant.written is None or class_of(kinds[name]) in constant.meanings
        for name, constant in constants_of(tree)
    )


def truth(tree: Any, values: dict[str, Any], kinds: dict[str, Any]) -> bool | None:
    """The truth of a condition on a row, in three-valued logic."""
    match tree:
        case ["not", part]:
            inner = truth(part, values, kinds)
            return None if inner is None else not inner
        case [("and" | "or") as name, *parts]:
            return joined(name, [truth(part, values, kinds) for part in parts])
        case ["is null", name]:
            return values[name] is None
        case ["is not null", name]:
            return values[name] is not None
        case [("in" | "not in") as test, name, constants]:
            inner = joined("or", [truth(["=", name, each], values, kinds) for each in constants])
            return inner if test == "in" or inner is None else not inner
        case [test, name, constant]:
            return compared(test, values[name], constant.meanings.get(class_of(kinds[name])))
        case _:
            raise AssertionError(tree)


def joined(name: str, truths: list[bool | None]) -> bool | None:
    """Truths joined by AND or OR."""
    decisive = name == "or"
    return decisive if decisive in truths else None if None in truths else not decisive


def compared(test: str, value: Any, constant: Any) -> bool | None:
    """A comparison by size; NaN is equal to nothing, and neither less nor greater."""
    if value is None or constant is None:
        return None
    if any(isinstance(each, float) and math.isnan(each) for each in (value, constant)):
        return test == "!="
    found: dict[str, bool] = {
        "=": value == constant,
        "!=": value != constant,
        "<": value < constant,
        "<=": value <= constant,
        ">": value > constant,
        ">=": value >= constant,
    }
    return found[test]
