"""Tables whose values are at the edges of their types, in pages of every shape: for writers to write and rules to judge.

A column is a pool of values and a type.  `column` lays the pool out in pages of `PAGE` rows, each of another shape: nothing but
nulls, one value over and over, values that ascend or descend, values and nulls in no order.  The same name and count give the same
column on every machine.
"""

from __future__ import annotations

import datetime as dt
import math
import random
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import pyarrow as pa

PAGE = 20
"""Rows of a page, for writers that can be told."""

ROW_GROUP = 60
"""Rows of a row group."""

NAN, INFINITY = math.nan, math.inf


class Kind(NamedTuple):
    """A type and the values that a column of it holds; a required column holds no nulls."""

    type: pa.DataType
    pool: Sequence[Any]
    required: bool = False
    orderly: bool = True
    """Whether Python can sort the values."""


# ------------------------------------------------------------------------------------------------------- the values


def integers(bits: int) -> list[int]:
    """Numbers with a sign."""
    most = (1 << bits - 1) - 1
    return [-most - 1, -most, -1, 0, 1, most - 1, most]


def naturals(bits: int) -> list[int]:
    """Numbers without a sign; those from the middle on look negative to readers that forget it."""
    most = (1 << bits) - 1
    return [0, 1, most >> 1, (most >> 1) + 1, most - 1, most]


def decimals(precision: int, scale: int) -> list[Decimal]:
    """Decimals of all lengths in bytes."""
    whole = [(256**size >> 1) + less for size in range(1, 17) for less in (-1, 0)]
    fits = [number for number in whole if number < 10**precision]
    numbers = [0, 1, 10**precision - 1, *fits]
    return [Decimal(f"{sign}{number}E-{scale}") for number in numbers for sign in ("", "-")]


def moments(unit: str) -> list[int]:
    """Moments around 1970, and at the ends of what counts in nanoseconds."""
    second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    return [
        at * second + more for at in (-9_223_372_036, -1, 0, 951_782_400, 9_223_372_035) for more in (0, 1)
    ]


FLOATS = [NAN, 0.0, -0.0, INFINITY, -INFINITY, 1.5, -1.5, 0.25]
DOUBLES = [*FLOATS, 5e-324, -5e-324, 1.7976931348623157e308, 0.1]

TEXTS = [
    *("", "a", "\0", "\0\0", "a\0", "Zürich", "\u007f" * 70, "y" * 600),
    *("x" * 63, "x" * 64, "x" * 65, "x" * 63 + "é", "x" * 62 + "東京", "x" * 61 + "😀😀"),
    *("é" * 40, "\u07ff" * 40, "\ud7ff" * 30, "\uffff" * 30, "\U0010ffff" * 17, "x" * 60 + "\U0010ffff" * 2),
]
"""Text that is cut after 64 bytes amid a character, and text whose last character has none after it, or none of its length."""

BYTES = [
    *(b"", b"\0", b"\0\0", b"\x7f", b"\x80", b"\xff", b"\xff" * 64, b"\xff" * 70, b"\x7f" * 65, b"\xc3" * 70),
    *(b"a" * 63 + b"\xff\xff", b"a" * 64, b"\0" * 70, b"\xfe" + b"\xff" * 69, b"z" * 600),
]

DAYS = [
    dt.date(1, 1, 1),
    dt.date(1969, 12, 31),
    dt.date(1970, 1, 1),
    dt.date(2024, 2, 29),
    dt.date(9999, 12, 31),
]
TIMES = [dt.time(), dt.time(0, 0, 0, 1000), dt.time(12), dt.time(23, 59, 59, 999_000)]

LISTS = [[], [1], [2, None, 3], [None], [None, None], list(range(30)), [-5], [4, 4]]
PLACE = pa.struct([("city", pa.string()), ("height", pa.int32())])
PLACES = [
    *({"city": "Lima", "height": 154}, {"city": "", "height": None}, {"city": None, "height": None}),
    *({"city": None, "height": -1}, {"city": "東京" * 30, "height": 2**31 - 1}),
]


# ------------------------------------------------------------------------------------------------------- the columns

BASIC: dict[str, Kind] = {
    "flag": Kind(pa.bool_(), [True, False]),
    "small": Kind(pa.int32(), integers(32)),
    "wide": Kind(pa.int64(), integers(64)),
    "always": Kind(pa.int64(), integers(64), required=True),
    "single": Kind(pa.float32(), FLOATS, required=True),
    "double": Kind(pa.float64(), DOUBLES, required=True),
    "not_a_number": Kind(pa.float64(), [NAN], required=True),
    "zeros": Kind(pa.float64(), [0.0, -0.0], required=True),
    "text": Kind(pa.string(), TEXTS),
    "long_text": Kind(pa.string(), ["q" * 5_000, "r" * 5_000]),
    "few": Kind(pa.string(), ["Peru", "Perú", ""]),
    "bytes": Kind(pa.binary(), BYTES),
    "constant": Kind(pa.string(), ["Lima"], required=True),
    "tiny": Kind(pa.int8(), integers(8)),
    "short": Kind(pa.int16(), integers(16)),
}
"""Columns that every writer knows."""

TIMED: dict[str, Kind] = {
    "at_us": Kind(pa.timestamp("us"), moments("us")),
    "at_ms": Kind(pa.timestamp("ms"), moments("ms")),
    "at_ns": Kind(pa.timestamp("ns"), moments("ns")),
}
"""Moments."""

NULLABLE_FLOATS: dict[str, Kind] = {
    "maybe_single": Kind(pa.float32(), FLOATS),
    "maybe_double": Kind(pa.float64(), DOUBLES),
}
"""Floats among which are nulls, which pandas cannot tell from NaN."""

COMMON: dict[str, Kind] = {
    **NULLABLE_FLOATS,
    "nothing": Kind(pa.int32(), []),
    "day": Kind(pa.date32(), DAYS),
    "at_utc": Kind(pa.timestamp("us", "UTC"), moments("us")),
    "price_9": Kind(pa.decimal128(9, 2), decimals(9, 2)),
    "price_18": Kind(pa.decimal128(18, 4), decimals(18, 4)),
    "price_38": Kind(pa.decimal128(38, 10), decimals(38, 10)),
    "price_1": Kind(pa.decimal128(1, 0), decimals(1, 0)),
    "place": Kind(PLACE, PLACES, orderly=False),
    "numbers": Kind(pa.list_(pa.int32()), LISTS, orderly=False),
    "words": Kind(pa.list_(pa.string()), [[], ["a"], [None, ""], ["é" * 40, "b"], [None]], orderly=False),
    "floats": Kind(pa.list_(pa.float64()), [[], [NAN], [None, -0.0], [0.0], [1.5, -INFINITY]], orderly=False),
    "places": Kind(pa.list_(PLACE), [[], [None], PLACES, PLACES[1:3], [None, PLACES[0]]], orderly=False),
    "grid": Kind(
        pa.list_(pa.list_(pa.int64())),
        [[], [None], [[]], [[None]], [[1, None], [], None, [2]], [[], []]],
        orderly=False,
    ),
    "deep": Kind(
        pa.struct([("inner", pa.struct([("numbers", pa.list_(pa.int32()))]))]),
        [{"inner": None}, *({"inner": {"numbers": numbers}} for numbers in [None, *LISTS])],
        orderly=False,
    ),
}
"""Columns that every writer but fastparquet knows."""

TIMES_OF_DAY: dict[str, Kind] = {"time_us": Kind(pa.time64("us"), TIMES)}

MAPS: dict[str, Kind] = {
    "counts": Kind(
        pa.map_(pa.string(), pa.int32()),
        [[], [("k", 1)], [("k", None), ("日", -1)], [(f"k{n}", n) for n in range(5)]],
        orderly=False,
    ),
    "map_of_lists": Kind(
        pa.map_(pa.int32(), pa.list_(pa.float64())),
        [[], [(1, None)], [(1, []), (2, [None, NAN])], [(3, [0.5, -0.0])]],
        orderly=False,
    ),
}

UNSIGNED: dict[str, Kind] = {f"unsigned_{bits}": Kind(_type, naturals(bits)) for bits, _type in (
    (8, pa.uint8()), (16, pa.uint16()), (32, pa.uint32()), (64, pa.uint64()),
)}  # fmt: skip

ARROW: dict[str, Kind] = {
    **TIMES_OF_DAY,
    **MAPS,
    **UNSIGNED,
    "half": Kind(pa.float16(), FLOATS),
    "half_required": Kind(pa.float16(), FLOATS, required=True),
    "fixed_1": Kind(pa.binary(1), [b"\0", b"\x7f", b"\x80", b"\xff"]),
    "fixed_5": Kind(pa.binary(5), [b"\0" * 5, b"\xff" * 5, b"\x7f\xff\xff\xff\xff", b"ab\0\0\0"]),
    "fixed_80": Kind(pa.binary(80), [b"\0" * 80, b"\xff" * 80, b"x" * 80, b"x" * 64 + b"\xff" * 16]),
    "time_ms": Kind(pa.time32("ms"), TIMES),
    "time_ns": Kind(pa.time64("ns"), TIMES),
    "day_64": Kind(pa.date64(), DAYS),
    "at_s": Kind(pa.timestamp("s"), moments("s")),
    "took": Kind(pa.duration("ns"), integers(64)),
    "all_days": Kind(pa.date32(), integers(32)),
    "all_moments": Kind(pa.timestamp("ns"), integers(64)),
    "price_76": Kind(pa.decimal256(76, 38), decimals(76, 38)),
    "price_below": Kind(pa.decimal128(5, 5), decimals(5, 5)),
    "large_text": Kind(pa.large_string(), TEXTS),
    "text_view": Kind(pa.string_view(), TEXTS),
    "category": Kind(pa.dictionary(pa.int8(), pa.string()), ["b", "a", "", "c"]),
    "pair": Kind(pa.list_(pa.int32(), 2), [[1, 2], [None, 3], [None, None]], orderly=False),
    "void": Kind(pa.null(), []),
    "required_list": Kind(
        pa.list_(pa.field("element", pa.int32(), nullable=False)), [[], [1], [3, 2]], orderly=False
    ),
}
"""Columns that only writers of Arrow know."""


# ------------------------------------------------------------------------------------------------------- the layout


def laid_out(kind: Kind, count: int, seed: str) -> list[Any]:
    """``count`` values in pages of every shape; the seed says which comes first."""
    chance = random.Random(seed)  # the same again each time

    def anything() -> Any:
        return kind.pool[int(chance.random() * len(kind.pool))] if kind.pool else None

    def ordered(*, down: bool) -> list[Any]:
        page = [anything() for _ in range(PAGE)]
        return sorted(page, reverse=down) if kind.orderly and kind.pool else page

    shapes: list[Callable[[], list[Any]]] = [
        lambda: [anything() for _ in range(PAGE)],
        lambda: ordered(down=False),
        lambda: ordered(down=True),
        lambda: [anything()] * PAGE,
        lambda: [kind.pool[-1] if kind.pool else None] * PAGE,
    ]
    if not kind.required:
        shapes += [
            lambda: [None] * PAGE,
            lambda: [None if chance.random() < 1 / 3 else anything() for _ in range(PAGE)],
            lambda: [None] * (PAGE - 1) + [anything()],
        ]
    start = int(chance.random() * len(shapes))
    pages = [shapes[(start + number) % len(shapes)]() for number in range(-(-count // PAGE))]
    return [value for page in pages for value in page][:count]


_columns: dict[tuple[str, int, int], tuple[Kind, pa.Array[Any]]] = {}
"""Columns that were made, with their kinds, whose identities are keys: every writer writes the same ones again and again."""


def column(name: str, kind: Kind, count: int) -> pa.Array[Any]:
    """One column, made once."""
    key = name, id(kind), count
    if key not in _columns:
        _columns[key] = kind, _column(name, kind, count)
    return _columns[key][1]


def _column(name: str, kind: Kind, count: int) -> pa.Array[Any]:
    """Days and moments that Python lacks are given as numbers."""
    values = laid_out(kind, count, name)
    if pa.types.is_temporal(kind.type) and any(isinstance(value, int) for value in values):
        return pa.array(values, pa.int32() if kind.type.bit_width == 32 else pa.int64()).cast(kind.type)
    return pa.array(values, kind.type)


def table(kinds: Mapping[str, Kind], count: int) -> pa.Table:
    """The columns, and before them the number of the row, up and down."""
    fields: list[pa.Field[Any]] = [
        pa.field("up", pa.int64(), nullable=False),
        pa.field("down", pa.int32(), nullable=False),
    ]
    arrays: list[Any] = [pa.array(range(count), pa.int64()), pa.array(range(0, -count, -1), pa.int32())]
    for name, kind in kinds.items():
        fields.append(pa.field(name, kind.type, nullable=not kind.required))
        arrays.append(column(name, kind, count))
    return pa.table(arrays, schema=pa.schema(fields))
