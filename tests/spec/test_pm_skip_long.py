"""Leaving out row groups: no row is ever lost, and what the statistics settle is left out."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from pqassay_spec import bloom, pm_skip
from pqassay_spec.pm_codes import ColumnType, PhysicalType
from pqassay_spec.pm_skip import Facts, facts_of_chunk, possible
from pqassay_spec.pm_value import Chunk, Column

BITSET = 64
EXAMPLES = 2500
INT32, INT64, INT96, FLOAT, DOUBLE = (
    PhysicalType.INT32,
    PhysicalType.INT64,
    PhysicalType.INT96,
    PhysicalType.FLOAT,
    PhysicalType.DOUBLE,
)
BYTE_ARRAY, FIXED = PhysicalType.BYTE_ARRAY, PhysicalType.FIXED_LEN_BYTE_ARRAY


# ------------------------------------------------------------------------------------------- what rows there are


@dataclass(frozen=True)
class Kind:
    """A kind of column: how values become PLAIN bytes, and in which order bounds are found."""

    column: Column
    values: st.SearchStrategy[Any]
    plain: Callable[[Any], bytes]
    order: Callable[[Any], Any] = lambda value: value


def column(physical: int, type_: int, width: int = 0) -> Column:
    return Column("x", physical, 0, type_, width, 0, 1, 1)


def packed(code: str) -> Callable[[Any], bytes]:
    return lambda value: struct.pack(code, value)


def near(*centres: int, low: int, high: int) -> st.SearchStrategy[int]:
    """Whole numbers around some, within limits, so that values meet each other often."""
    return (
        st.sampled_from(centres)
        .flatmap(lambda centre: st.integers(centre - 2, centre + 2))
        .map(lambda number: min(max(number, low), high))
    )


signed32 = near(0, -(1 << 31), (1 << 31) - 1, low=-(1 << 31), high=(1 << 31) - 1)
signed64 = near(0, -(1 << 63), (1 << 63) - 1, 1 << 53, low=-(1 << 63), high=(1 << 63) - 1)
unsigned32 = near(0, 1 << 31, (1 << 32) - 1, low=0, high=(1 << 32) - 1)
unsigned64 = near(0, 1 << 63, (1 << 64) - 1, 1 << 53, low=0, high=(1 << 64) - 1)
small = near(0, low=-128, high=127)
doubles = st.sampled_from([0.0, -0.0, 1.0, -1.5, 0.1, math.inf, -math.inf, math.nan, 1e300, 2.0**53])
floats = doubles.map(lambda value: value if abs(value) < 1e38 or not math.isfinite(value) else 1e10).map(
    lambda value: float(struct.unpack("<f", struct.pack("<f", value))[0])
)
texts = st.text("abä\U0001f600", max_size=3)
raw = st.binary(max_size=2).map(lambda value: value.replace(b"\x02", b"\xff"))
keys = st.sampled_from([bytes(16), b"\xff" * 16, b"\x7f" + bytes(15), b"\x80" + bytes(15)])

KINDS = {
    "INT": Kind(column(INT32, ColumnType.INT), signed32, packed("<i")),
    "unsigned INT": Kind(column(INT32, ColumnType.INT), unsigned32, packed("<I")),
    "unknown INT32": Kind(column(INT32, -1), unsigned32, packed("<I")),
    "LONG": Kind(column(INT64, ColumnType.LONG), signed64, packed("<q")),
    "unsigned LONG": Kind(column(INT64, ColumnType.LONG), unsigned64, packed("<Q")),
    "BYTE": Kind(column(INT32, ColumnType.BYTE), small, packed("<i")),
    "SHORT": Kind(column(INT32, ColumnType.SHORT), small, packed("<i")),
    "CHAR": Kind(column(INT32, ColumnType.CHAR), small.map(abs), packed("<i")),
    "DATE": Kind(column(INT32, ColumnType.DATE), signed32, packed("<i")),
    "TIMESTAMP": Kind(column(INT64, ColumnType.TIMESTAMP | 1 << 17), signed64, packed("<q")),
    "IPV4": Kind(column(INT32, ColumnType.IPV4), unsigned32, packed("<I")),
    "FLOAT": Kind(column(FLOAT, ColumnType.FLOAT), floats, packed("<f")),
    "unknown FLOAT": Kind(column(FLOAT, -1), floats, packed("<f")),
    "DOUBLE": Kind(column(DOUBLE, ColumnType.DOUBLE), doubles, packed("<d")),
    "VARCHAR": Kind(column(BYTE_ARRAY, ColumnType.VARCHAR), texts, str.encode, str.encode),
    "SYMBOL": Kind(column(BYTE_ARRAY, ColumnType.SYMBOL), texts, str.encode, str.encode),
    "BINARY": Kind(column(BYTE_ARRAY, ColumnType.BINARY), raw, bytes),
    "UUID": Kind(column(FIXED, ColumnType.UUID, 16), keys, bytes),
    "DECIMAL in 4 bytes": Kind(
        column(FIXED, ColumnType.DECIMAL32, 4), signed32, lambda value: value.to_bytes(4, "big", signed=True)
    ),
    "DECIMAL in any": Kind(
        column(BYTE_ARRAY, ColumnType.DECIMAL64),
        signed32,
        lambda value: value.to_bytes(5, "big", signed=True),
    ),
    "DECIMAL in INT64": Kind(column(INT64, ColumnType.DECIMAL64), signed64, packed("<q")),
    "BOOLEAN": Kind(column(PhysicalType.BOOLEAN, ColumnType.BOOLEAN), st.booleans(), packed("<?")),
    "INT96": Kind(
        column(INT96, ColumnType.TIMESTAMP), st.integers(0, 9), lambda value: value.to_bytes(12, "little")
    ),
}


def hash_of(plain: bytes) -> int:
    return xxhash.xxh64_intdigest(plain)


def statistics(kind: Kind, values: Sequence[Any]) -> Chunk:
    """A chunk that says all that is true of the values, as Parquet demands: NaN is in no bound, zeros in both signs."""
    there = [value for value in values if value is not None]
    ordered = sorted(
        (value for value in there if not (isinstance(value, float) and math.isnan(value))), key=kind.order
    )
    least, greatest = (ordered[0], ordered[-1]) if ordered else (None, None)
    if kind.column.physical_type in pm_skip.FLOATS and ordered:
        least, greatest = (-0.0 if least == 0 else least), (0.0 if greatest == 0 else greatest)
    bitset = bytearray(BITSET)
    for value in there:
        # Some writers hash both zeros as the positive one, others each as it is.
        bloom.insert(bitset, hash_of(kind.plain(value)))
    has_no_order = kind.column.physical_type == INT96 or least is None
    return Chunk(
        0,
        1,
        len(values),
        4,
        1,
        len(values) - len(there),
        None,
        None if has_no_order else kind.plain(least),
        None if has_no_order else kind.plain(greatest),
        bloom=bytes(bitset),
    )


@st.composite
def described(draw: st.DrawFn, kind: Kind, values: Sequence[Any]) -> Facts:
    """True facts, of which some are not known, not exact, or not to be used."""
    known = facts_of_chunk(kind.column, statistics(kind, values), hash_of)
    if draw(st.booleans()):
        known = known._replace(null_count=None)
    if draw(st.booleans()):
        known = known._replace(may_hold=None)
    what = draw(st.sampled_from(["both", "both", "both", "no min", "no max", "damaged", "cut"]))
    if what in ("no min", "damaged"):
        known = known._replace(min=None if what == "no min" else b"\x01\x02\x03")
    if what == "no max":
        known = known._replace(max=None)
    if what == "cut" and kind.column.type in pm_skip.IN_BYTE_ORDER and known.column.fixed_byte_len == 0:
        known = known._replace(min=(known.min or b"")[:1], max=known.max and known.max + b"\xff")
    return known


# ----------------------------------------------------------------------------------------- what a predicate says


def truth(tree: Any, value: Any) -> bool | None:
    """What a predicate is for a value: true, false, or unknown."""
    match tree:
        case ["not", part]:
            inner = truth(part, value)
            return None if inner is None else not inner
        case ["and", *parts]:
            each = [truth(part, value) for part in parts]
            return False if False in each else None if None in each else True
        case ["or", *parts]:
            each = [truth(part, value) for part in parts]
            return True if True in each else None if None in each else False
        case ["is null", _]:
            return value is None
        case ["is not null", _]:
            return value is not None
        case [("in" | "not in") as name, _, list(operands)]:
            found = truth(["or", *[["=", "x", one] for one in operands]], value)
            return found if name == "in" or found is None else not found
        case ["between", _, first, second]:
            low, high = sorted((first, second))
            return None if value is None else low <= value <= high
        case [name, _, operand]:
            return None if value is None or operand is None else COMPARISONS[name](value, operand)
        case _:
            raise AssertionError(tree)


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def predicates(operands: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    not_null = operands.filter(lambda value: value is not None)
    leaves = st.one_of(
        st.tuples(st.sampled_from(sorted(COMPARISONS)), st.just("x"), operands).map(list),
        st.tuples(st.sampled_from(["in", "not in"]), st.just("x"), st.lists(operands, max_size=3)).map(list),
        st.tuples(st.just("between"), st.just("x"), not_null, not_null).map(list),
        st.sampled_from([["is null", "x"], ["is not null", "x"]]),
    )
    return st.recursive(
        leaves,
        lambda parts: (
            parts.map(lambda part: ["not", part])
            | st.tuples(st.sampled_from(["and", "or"]), st.lists(parts, min_size=1, max_size=3)).map(
                lambda both: [both[0], *both[1]]
            )
        ),
        max_leaves=4,
    )


@pytest.mark.parametrize("name", KINDS)
@given(data=st.data())
@settings(max_examples=EXAMPLES, deadline=None)
def test_no_row_is_lost(name: str, data: st.DataObject) -> None:
    kind = KINDS[name]
    values = data.draw(st.lists(st.none() | kind.values, max_size=4))
    facts = data.draw(described(kind, values))
    operands = kind.values | st.none()
    if kind.column.physical_type in pm_skip.FLOATS:
        operands |= doubles | st.integers(-1, 1) | st.just((1 << 53) + 1)
    predicate = data.draw(predicates(operands))
    found = possible(predicate, {"x": facts}.get)
    rows = [truth(predicate, value) for value in values]
    assert (True in rows) <= found.true
    assert (False in rows) <= found.false
