"""Leaving out row groups: no row is ever lost, and what the statistics settle is left out."""

from __future__ import annotations

import functools
import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
import xxhash
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from damage import tries
from each import each
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.parquet import bloom
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm import skip as pm_skip
from pqassay_spec.pm.block import MIN, Block
from pqassay_spec.pm.codes import ColumnType, PhysicalType, StatFlag, reference
from pqassay_spec.pm.skip import Facts, NotAPredicateError, Possible, may_match, physical_width, possible
from pqassay_spec.pm.value import SnapshotChunk, SnapshotColumn

pytestmark = pytest.mark.slow

BITSET = 64
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

    column: SnapshotColumn
    values: st.SearchStrategy[Any]
    plain: Callable[[Any], bytes]
    order: Callable[[Any], Any] = lambda value: value


def column(physical: int, type_: int, width: int = 0) -> SnapshotColumn:
    return SnapshotColumn("x", physical, 0, type_, width, 0, 1, 1)


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


def facts_of_chunk(column: SnapshotColumn, chunk: SnapshotChunk) -> Facts:
    """The facts that a logical value holds."""
    bitset, width = chunk.bloom, physical_width(column)
    least, most = (raw if raw and width in (None, len(raw)) else None for raw in (chunk.min, chunk.max))
    known = Facts(column, chunk.num_values, chunk.null_count, least, most)
    if not isinstance(bitset, bytes):
        return known
    return known._replace(may_hold=lambda plain: bloom.probe(bitset, hash_of(plain)))


def statistics(kind: Kind, values: Sequence[Any]) -> SnapshotChunk:
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
    return SnapshotChunk(
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
    known = facts_of_chunk(kind.column, statistics(kind, values))
    if draw(st.booleans()):
        known = known._replace(null_count=None)
    if draw(st.booleans()):
        known = known._replace(may_hold=None)
    what = draw(st.sampled_from(["both", "both", "both", "no min", "no max", "damaged", "cut"]))
    if what == "damaged" and kind.column.physical_type == BYTE_ARRAY:
        what = "both"  # of any other width, a bound is seen to be damaged
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


@functools.cache
def drawn(name: str) -> tuple[st.SearchStrategy[list[Any]], st.SearchStrategy[list[Any]]]:
    """Values and predicates of a kind of column; to make their strategies takes longer than to draw from them."""
    kind = KINDS[name]
    operands = kind.values | st.none()
    if kind.column.physical_type in pm_skip.FLOATS:
        operands |= doubles | st.integers(-1, 1) | st.just((1 << 53) + 1)
    return st.lists(st.none() | kind.values, max_size=4), predicates(operands)


@pytest.mark.parametrize("name", KINDS)
@given(data=st.data())
@tries(35, suppress_health_check=[HealthCheck.too_slow])
def test_no_row_is_lost(name: str, data: st.DataObject) -> None:
    kind = KINDS[name]
    rows_of, predicates_of = drawn(name)
    values = data.draw(rows_of)
    facts = data.draw(described(kind, values))
    predicate = data.draw(predicates_of)
    found = possible(predicate, {"x": facts}.get)
    rows = [truth(predicate, value) for value in values]
    assert (True in rows) <= found.true
    assert (False in rows) <= found.false


# ------------------------------------------------------------------------------------------------ what is left out


def facts(kind: str, *values: Any, **known: Any) -> Facts:
    """All that is true of some values, but for what is said otherwise."""
    return facts_of_chunk(KINDS[kind].column, statistics(KINDS[kind], values))._replace(**known)


NO_BLOOM: dict[str, Any] = {"may_hold": None}


@each(
    ("known", "left_out", "kept"),
    [
        (facts("DATE", 5, 9, **NO_BLOOM), ["=", 4], ["=", 6]),
        (facts("DATE", 5, 9), ["=", 6], ["=", 9]),
        (facts("DATE", 5, 9), ["in", [4, 7, 10]], ["in", [4, 9]]),
        (facts("DATE", 5, 9), ["in", []], ["not in", []]),
        (facts("DATE", 5, 5), ["!=", 5], ["!=", 6]),
        (facts("DATE", 5, 5), ["not in", [5, 6]], ["not in", [6]]),
        (facts("DATE", 5, 9), ["<", 5], ["<", 6]),
        (facts("DATE", 5, 9), ["<=", 4], ["<=", 5]),
        (facts("DATE", 5, 9), [">", 9], [">", 8]),
        (facts("DATE", 5, 9), [">=", 10], [">=", 9]),
        (facts("DATE", 5, 9), ["between", 10, 12], ["between", 12, 9]),
        (facts("DATE", 5, 9), ["between", 4, 1], ["between", 5, 1]),
        (facts("DATE", -5, -1), [">", -1], [">", -2]),
        (facts("DATE", 5, 9), ["<", 4.0], ["<", 4.5]),
        (facts("DATE", 5, 9), ["is null"], ["is not null"]),
        (facts("DATE", None, None), ["is not null"], ["is null"]),
        (facts("DATE", None, None), ["<", 3], ["is null"]),
        (facts("DATE", None, None), ["in", [1, 2]], ["in", [1, None]]),
        (facts("DATE", 5), ["=", None], ["<", None]),
        (facts("INT", 5, 9, **NO_BLOOM), ["<", 5], [">", 8]),
        (facts("unsigned INT", 1 << 31, (1 << 31) + 5, **NO_BLOOM), [">", (1 << 31) + 5], [">", 1 << 31]),
        (facts("unsigned INT", 1 << 31, (1 << 31) + 5, **NO_BLOOM), ["between", 0, 9], ["<", 0]),
        (facts("unsigned INT", 7, 1 << 31, **NO_BLOOM), ["<", 7], ["<", 8]),
        (facts("IPV4", 5, 1 << 31), [">", 1 << 31], [">", 9]),
        (facts("DOUBLE", 0.0, 1.0), ["<", -0.0], ["<=", -0.0]),
        (facts("DOUBLE", 0.0, 1.0), [">", 1], [">=", 1]),
        (facts("DOUBLE", 2.0**53, 2.0**54), ["<", 1 << 53], ["=", (1 << 53) + 1]),
        (facts("FLOAT", 0.5, 1.0), ["=", 0.25], ["<", 0.6]),
        (facts("VARCHAR", "b", "d"), ["<", "b"], ["<", "ba"]),
        (facts("VARCHAR", "b", "\uffff"), [">", "\U0001f600"], [">", "c"]),
        (facts("VARCHAR", "b", "d"), ["=", "c"], ["=", "b"]),
        (facts("BINARY", b"b", b"\xff"), ["<", b"b"], [">", b"\x80"]),
        (facts("UUID", bytes(16)), [">", bytes(16)], [">=", bytes(16)]),
        (facts("DECIMAL in 4 bytes", -5, 3), ["<", -5], ["<", -4]),
        (facts("DECIMAL in 4 bytes", -5, 3), ["=", 2], ["=", 3]),
        (facts("DECIMAL in any", -5, 3), [">", 3], ["=", 2]),
        (facts("BYTE", 5, 9), ["=", 0], ["=", 5]),
        (facts("BYTE", 5, None), ["=", 3], ["=", 0]),
        (facts("BYTE", 5, None), ["<", 0], ["<", 1]),
        (facts("BYTE", None, None), ["and", ["is null"], ["<", 3], ["in", []]], ["is not null"]),
        (facts("BOOLEAN", True, num_values=1), ["is null"], ["=", False]),
        (facts("INT96", 1, 2, **NO_BLOOM), ["is null"], ["=", 7]),
        (facts("DATE", 5, 9), ["not", ["<", 10]], ["not", ["<", 9]]),
        (facts("DATE", 5, 9), ["not", ["between", 5, 9]], ["not", ["between", 5, 8]]),
        (facts("DATE", 5, 9), ["not", ["not", ["<", 5]]], ["not", ["not", [">", 5]]]),
        (facts("DATE", 5, 9), ["and", [">", 0], ["<", 5]], ["or", [">", 0], ["<", 5]]),
        (facts("DATE", 5, 9), ["not", ["or", [">", 0], ["<", 5]]], ["not", ["and", [">", 0], ["<", 5]]]),
        (facts("DATE", None), ["not", ["=", 1]], ["not", ["is not null"]]),
    ],
)
def test_what_the_statistics_settle_is_left_out(known: Facts, left_out: list[Any], kept: list[Any]) -> None:
    assert (False, True) == (
        may_match(of_x(left_out), {"x": known}.get),
        may_match(of_x(kept), {"x": known}.get),
    )


def of_x(tree: list[Any]) -> list[Any]:
    """A predicate about the column ``x``, which the tables above leave out."""
    if tree[0] in ("and", "or", "not"):
        return [tree[0], *map(of_x, tree[1:])]
    return [tree[0], "x", *tree[1:]]


@each(
    ("known", "predicate"),
    [
        # Not known, or known not to be a number.
        (facts("DATE", 5, 9, null_count=None), ["is null"]),
        (facts("DATE", 5, 9, null_count=3), ["is not null"]),
        (facts("DATE", None, null_count=(1 << 63) + 1, num_values=(1 << 63) + 1), ["is not null"]),
        (facts("DATE", 5, 9, min=None, **NO_BLOOM), [">", 9]),
        (facts("DATE", 5, 9, max=None, **NO_BLOOM), ["=", 1]),
        (facts("DATE", 5, 9, min=b"\5", **NO_BLOOM), ["=", 1]),
        (facts("DATE", 9, 5, min=bytes((9, 0, 0, 0)), max=bytes((5, 0, 0, 0)), **NO_BLOOM), ["=", 1]),
        # NaN: an invalid bound, an operand whose order is not agreed on, a value outside the bounds.
        (facts("DOUBLE", 1.0, min=struct.pack("<d", math.nan), **NO_BLOOM), [">", 5.0]),
        (facts("DOUBLE", 1.0, max=struct.pack("<d", math.nan), **NO_BLOOM), ["<", 0.0]),
        (facts("DOUBLE", 1.0), ["=", math.nan]),
        (facts("DOUBLE", 1.0), ["<", math.nan]),
        (facts("DOUBLE", 1.0), ["in", [5.0, math.nan]]),
        (facts("DOUBLE", 1.0), ["between", math.nan, 0.0]),
        (facts("DOUBLE", 1.0, math.nan), ["not", ["<", 5.0]]),
        (facts("DOUBLE", 1.0, 1.0, math.nan), ["!=", 1.0]),
        # Nulls that QuestDB sees and no count does.
        (facts("DOUBLE", 1.0), ["is null"]),
        (facts("CHAR", 1), ["is null"]),
        (facts("SHORT", None), ["is not null"]),
        (facts("SHORT", None), ["=", 0]),
        (facts("DATE", None), ["=", None]),
        # The sign of integers of other writers, when the bounds allow either.
        (facts("INT", -9, -5, **NO_BLOOM), [">", 0]),
        (facts("LONG", -9, -5, **NO_BLOOM), [">=", 1 << 63]),
        (facts("unknown INT32", 1 << 31, **NO_BLOOM), ["<", 0]),
        # Numbers that engines take for others.
        (facts("FLOAT", 0.1, **NO_BLOOM), ["=", 0.1]),
        (facts("DATE", 5), ["<", 1.5]),
        (facts("LONG", (1 << 53) + 1), ["=", 2.0**53]),
        # Values of another kind.
        (facts("DATE", 5), ["=", "5"]),
        (facts("DATE", 5), ["=", True]),
        (facts("DATE", 5), ["in", [1, "5"]]),
        (facts("DOUBLE", 5.0), ["=", "5"]),
        (facts("VARCHAR", "b"), ["=", 5]),
        (facts("VARCHAR", "b"), ["=", "\ud800"]),
        (facts("UUID", bytes(16)), ["=", "text"]),
        (facts("DECIMAL in 4 bytes", 5), ["=", b"\0\0\0\5"]),
        (facts("BOOLEAN", True), ["=", False]),
        # Rows that are not values.
        (facts("DATE", 5, column=replace(KINDS["DATE"].column, max_rep_level=1)), ["=", 1]),
        (facts("DATE", None, column=replace(KINDS["DATE"].column, max_def_level=2)), ["is not null"]),
        # An order that is not known.
        (facts("UUID", bytes(16), **NO_BLOOM, column=column(FIXED, -1, 16)), ["=", b"\1" * 16]),
        (facts("BINARY", b"b", **NO_BLOOM, column=column(BYTE_ARRAY, ColumnType.ARRAY)), ["=", b"c"]),
    ],
)
def test_what_is_not_settled_is_kept(known: Facts, predicate: list[Any]) -> None:
    assert may_match(of_x(predicate), {"x": known}.get)


def test_a_column_of_which_nothing_is_known_settles_nothing() -> None:
    assert possible(["=", "y", 1], {"x": facts("DATE", 5)}.get) == Possible(true=True, false=True)
    assert not may_match(["and", ["=", "y", 1], ["=", "x", 4]], {"x": facts("DATE", 5)}.get)


@each(
    "predicate",
    [
        [],
        ["and"],
        ["not"],
        ["=", "x"],
        ["=", 1, 1],
        ["like", "x", "a"],
        ["in", "x", 5],
        ["between", "x", 1],
        "=",
        None,
        5,
    ],
)
def test_what_is_no_predicate_is_said(predicate: Any) -> None:
    with pytest.raises(NotAPredicateError, match="is not a predicate"):
        may_match(predicate, {"x": facts("DATE", 5)}.get)


def test_a_predicate_has_a_greatest_depth() -> None:
    tree: list[Any] = ["is null", "x"]
    for _ in range(100_000):
        tree = ["not", tree]
    with pytest.raises(NotAPredicateError, match="at most 100 levels"):
        may_match(tree, {"x": facts("DATE", 5)}.get)


def test_the_columns_of_a_predicate_are_named() -> None:
    tree = ["or", ["not", ["=", "a", 1]], ["and", ["is null", "b"], ["between", "c", 1, 2], ["in", "a", []]]]
    assert {"a", "b", "c"} == pm_skip.columns_of(tree)


@each(
    ("name", "value", "expected"),
    [
        ("DATE", -2, ["feffffff"]),
        ("IPV4", (1 << 32) - 2, ["feffffff"]),
        ("LONG", -1, ["ff" * 8]),
        ("LONG", 1 << 64, []),
        ("DOUBLE", 1, ["000000000000f03f"]),
        ("DOUBLE", -0.0, ["00" * 8, "00" * 7 + "80"]),
        ("FLOAT", 1e300, []),
        ("VARCHAR", "ä", ["c3a4"]),
        ("UUID", bytes(16), ["00" * 16]),
        ("DECIMAL in 4 bytes", -2, ["fffffffe"]),
        ("DECIMAL in 4 bytes", 1 << 31, []),
        ("DECIMAL in any", 5, []),
    ],
)
def test_a_bloom_filter_is_asked_for_the_plain_bytes(name: str, value: Any, expected: list[str]) -> None:
    assert expected == [plain.hex() for plain in pm_skip.plain_bytes(KINDS[name].column, value)]


# --------------------------------------------------------------------------------------------- bounds in a file


def bound(kind: str, flags: int, sizes: int, slot: int, behind: bytes = b"") -> bytes | None:
    """The MIN of a block of one column."""
    record = pm.ColumnChunk(0, 1, flags, sizes, 0, 1, 4, 9, 0, 0, slot, 0)
    raw = pm.BlockHeader(1).build() + pm.ColumnChunk.build(record) + behind
    block = Block(0, 1, [record])
    return pm_skip.read_bound(BytesSource(raw), block, 0, KINDS[kind].column, MIN, len(raw))


INLINED = StatFlag.MIN_STAT_PRESENT | StatFlag.MIN_STAT_INLINED


@each(
    ("found", "expected"),
    [
        (bound("DATE", 0, 4, 5), None),
        (bound("DATE", INLINED, 4, 5), "05000000"),
        (bound("DATE", INLINED, 0, 5), "05000000"),
        (bound("DATE", INLINED, 2, 5), None),
        (bound("LONG", INLINED, 0, 5), "0500000000000000"),
        (bound("UUID", INLINED, 0, 5), None),
        (bound("DECIMAL in 4 bytes", INLINED, 0, 5), "05000000"),
        (bound("VARCHAR", INLINED, 2, 0x6261), "6162"),
        (bound("VARCHAR", INLINED, 0, 0x6261), None),
        (bound("VARCHAR", INLINED, 9, 0x6261), None),
        (bound("UUID", StatFlag.MIN_STAT_PRESENT, 0, reference(0, 16), b"k" * 16), "6b" * 16),
        (bound("UUID", StatFlag.MIN_STAT_PRESENT, 0, reference(0, 15), b"k" * 16), None),
        (bound("UUID", StatFlag.MIN_STAT_PRESENT, 0, reference(1, 16), b"k" * 16), None),
        (bound("VARCHAR", StatFlag.MIN_STAT_PRESENT, 0, reference(2, 9), b"k" * 11), "6b" * 9),
    ],
)
def test_a_bound_of_a_fixed_width_is_read_at_that_width(found: bytes | None, expected: str | None) -> None:
    assert expected == (None if found is None else found.hex())
