"""Indexes of a directory beside data of every type, drawn at random: what the reference algorithms of the specification say about the
rows is found true, and is found false once one value, count or bit of it is another."""

from __future__ import annotations

import datetime as dt
import io
import math
import random
import struct
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pqassay
from directory_files import Index, packed, with_directory
from pqassay.values.directory.exact_sums import double_sums
from pqassay_spec.directory import distinct_set, zone_sums
from pqassay_spec.directory.codes import Granularity, IndexType
from pqassay_spec.directory.distinct_set import DistinctSet, SetFlags
from pqassay_spec.parquet.thrift import Type

CHANCE = random.Random(20261123)
ROWS, GROUP_ROWS, PAGE_ROWS = 600, 200, 50


def test_sums_of_doubles_are_those_of_the_specification_to_the_last_bit() -> None:
    special = [math.inf, -math.inf, 5e-324, -5e-324, 1.7976931348623157e308, -0.0, 0.0]
    drawn = [
        [struct.unpack("<d", CHANCE.randbytes(8))[0] for _ in range(40)] + CHANCE.sample(special, 3)
        for _ in range(300)
    ]
    values = [[value for value in group if not math.isnan(value)] for group in drawn]
    groups = [number for number, group in enumerate(values) for _ in group]
    found = double_sums(groups, [value for group in values for value in group], len(values))

    expected = [zone_sums.double_sum(group) for group in values]
    assert [struct.pack("<d", total) for total in expected] == [
        struct.pack("<d", total.rounded()) for total in found
    ]


def test_a_group_without_doubles_sums_to_positive_zero() -> None:
    (found,) = double_sums([], [], 1)

    assert (0.0, 1.0) == (found.rounded(), math.copysign(1.0, found.rounded()))


COLUMNS: dict[str, tuple[pa.DataType, Type, list[Any]]] = {
    "flags": (pa.bool_(), Type.BOOLEAN, [True, False]),
    "small": (pa.int8(), Type.INT32, [-128, -1, 0, 1, 127]),
    "large": (pa.int64(), Type.INT64, [-(1 << 63), -5, 0, 7, (1 << 63) - 1]),
    "unsigned": (pa.uint64(), Type.INT64, [0, 1, 1 << 63, (1 << 64) - 1]),
    "texts": (pa.string(), Type.BYTE_ARRAY, ["", "a", "ab", "ä", "zinc"]),
    "bytes": (pa.binary(3), Type.FIXED_LEN_BYTE_ARRAY, [b"\0\0\0", b"abc", b"\xff\xff\xff"]),
    "days": (pa.date32(), Type.INT32, [dt.date(1969, 12, 31), dt.date(2020, 1, 1)]),
    "prices": (
        pa.decimal128(30, 2),
        Type.FIXED_LEN_BYTE_ARRAY,
        [Decimal("-1.50"), Decimal("0.00"), Decimal("99999999999999999999999999.99")],
    ),
    "floats": (pa.float32(), Type.FLOAT, [-0.0, 0.0, 1.5, math.inf, -2.5]),
    "doubles": (pa.float64(), Type.DOUBLE, [-0.0, 0.0, 0.1, 1e300, -1e300, 5e-324]),
}
"""Type, physical type and values of each column."""

SUMMED = {"small": 1, "large": 1, "unsigned": 1, "prices": 100, "floats": 1, "doubles": 1}
"""The columns that have sums, and what a value is multiplied by to have no scale."""


def column(name: str) -> list[Any]:
    """Values, nulls and, of floats, NaN, in clusters, so that pages differ."""
    _, physical, values = COLUMNS[name]
    extra = [math.nan] if physical in (Type.FLOAT, Type.DOUBLE) else []
    rows: list[Any] = []
    while len(rows) < ROWS:
        cluster = CHANCE.sample([*values, *extra, None], 2)
        rows += [CHANCE.choice(cluster) for _ in range(PAGE_ROWS)]
    return rows


ROWS_OF = {name: column(name) for name in COLUMNS}
TABLE = pa.table({name: pa.array(ROWS_OF[name], kind) for name, (kind, _, _) in COLUMNS.items()})


def data_of(**options: Any) -> bytes:
    """The file: three row groups of four pages each."""
    buffer = io.BytesIO()
    how = {"row_group_size": GROUP_ROWS, "max_rows_per_page": PAGE_ROWS, "write_page_index": True, **options}
    pq.write_table(TABLE, buffer, **how)
    return buffer.getvalue()


DATA = data_of()

STEPS = {Granularity.FILE: ROWS, Granularity.ROW_GROUP: GROUP_ROWS, Granularity.PAGE: PAGE_ROWS}
"""Rows of the parts of each granularity."""


def raw(name: str, value: Any) -> bytes:
    """The PLAIN bytes of a value, without the length of a text."""
    kind, physical, _ = COLUMNS[name]
    if physical == Type.BOOLEAN:
        return bytes((value,))
    if pa.types.is_decimal(kind):
        return int(value.scaleb(2)).to_bytes(13, "big", signed=True)
    if isinstance(value, dt.date):
        return struct.pack("<i", (value - dt.date(1970, 1, 1)).days)
    if isinstance(value, float):
        return struct.pack("<f" if physical == Type.FLOAT else "<d", value)
    if isinstance(value, int):
        return (value % (1 << 64)).to_bytes(8, "little")[: 4 if physical == Type.INT32 else 8]
    return value if isinstance(value, bytes) else str(value).encode()


def place(value: Any) -> tuple[Any, float]:
    """What a value is sorted by: -0.0 before 0.0."""
    return value, math.copysign(1.0, value) if isinstance(value, float) else 0.0


def parts(name: str, granularity: Granularity) -> list[list[Any]]:
    """The values of each part."""
    step = STEPS[granularity]
    return [ROWS_OF[name][start : start + step] for start in range(0, ROWS, step)]


def listed(values: list[Any]) -> list[Any]:
    """The distinct values that are neither null nor NaN, in their order."""
    kept = [value for value in values if value is not None and value == value]  # noqa: PLR0124 - NaN
    return [value for value, _ in sorted({place(value) for value in kept})]


def set_of(name: str, values: list[Any]) -> DistinctSet:
    """The complete set of some values."""
    flags = SetFlags.COMPLETE
    flags |= SetFlags.NULLS if None in values else 0
    flags |= SetFlags.NAN if any(isinstance(one, float) and math.isnan(one) for one in values) else 0
    return DistinctSet(int(flags), tuple(raw(name, value) for value in listed(values)))


def sets(name: str, granularity: Granularity, altered: int | None = None) -> Index:
    """The distinct sets of a column; of one part, a value is left out."""
    found = [set_of(name, values) for values in parts(name, granularity)]
    if altered is not None:
        found[altered] = found[altered]._replace(values=found[altered].values[1:])
    blob = distinct_set.build_sets(COLUMNS[name][1], found)
    count = sum(len(part.values) for part in found)
    return Index(blob=blob, columns=((name,),), granularity=granularity, value_count=count)


def rules(*indexes: Index, data: bytes = DATA) -> list[str]:
    """The rules that a file with these indexes breaks."""
    (file,) = pqassay.check(with_directory(*indexes, data=data), tier="values").files
    return [finding.rule for finding in file.findings if finding.rule.startswith("DIR")]


@pytest.mark.parametrize(
    "how", [{}, {"use_dictionary": False, "data_page_version": "2.0", "compression": "zstd"}]
)
def test_true_sets_of_every_type_and_granularity_are_found_true(how: dict[str, Any]) -> None:
    indexes = [sets(name, granularity) for name in COLUMNS for granularity in Granularity]

    assert [] == rules(*indexes, data=data_of(**how))


@pytest.mark.parametrize("granularity", Granularity)
def test_a_value_that_is_left_out_is_found_missing_in_every_type(granularity: Granularity) -> None:
    lost = {
        name: next(place for place, values in enumerate(parts(name, granularity)) if listed(values))
        for name in COLUMNS
    }
    found = rules(*(sets(name, granularity, altered=lost[name]) for name in COLUMNS))

    assert ["DIR-026"] * len(COLUMNS) == found


def sums(name: str, granularity: Granularity, off: int = 0, key: str | None = None) -> Index:
    """The zone sums of a column, by a key; the first sum is off by a number of units, or by a bit of a double."""
    blob_groups, sizes, keys, minima, maxima = b"", [], [], [], []
    kind = zone_sums.SumKind.DOUBLE if name in ("floats", "doubles") else zone_sums.SumKind.INTEGER
    step = STEPS[granularity]
    for start in range(0, ROWS, step):
        rows = range(start, start + step)
        of_rows = [None if key is None else ROWS_OF[key][row] for row in rows]
        combinations = sorted(set(of_rows), key=lambda one: (one is not None, one)) if key else [None]
        sizes.append(len(combinations))
        for combination in combinations:
            values = [
                ROWS_OF[name][row] for row, one in zip(rows, of_rows, strict=True) if one == combination
            ]
            good = [one for one in values if one is not None and one == one]  # noqa: PLR0124 - NaN
            if kind is zone_sums.SumKind.DOUBLE:
                # FLOAT values are summed as they are stored.
                stored = [struct.unpack("<f", raw(name, one))[0] if name == "floats" else one for one in good]
                low, high = zone_sums.double_parts(zone_sums.double_sum(stored))
                low ^= off
            else:
                low, high = zone_sums.integer_parts(sum(int(one * SUMMED[name]) for one in good) + off)
            off = 0
            blob_groups += zone_sums.Group(
                len(values), values.count(None), len(values) - values.count(None) - len(good), low, high
            ).build()
            keys.append(combination)
            if good:
                minima.append(raw(name, min(good, key=place)))
                maxima.append(raw(name, max(good, key=place)))
    head = zone_sums.SumsHead(len(sizes), len(keys), int(key is not None), kind, 0)
    blob = head.build() + struct.pack(f"<{len(sizes)}I", *sizes) + blob_groups
    if key is not None:
        texts = b"".join(packed_text(one) for one in keys if one is not None)
        blob += bytes(one is None for one in keys) + struct.pack("<Q", len(texts)) + texts
    for bounds in (minima, maxima):
        blob += struct.pack("<Q", len(b"".join(bounds))) + b"".join(bounds)
    columns = ((name,),) if key is None else ((key,), (name,))
    return Index(IndexType.ZONE_SUMS, blob, columns, granularity, value_count=len(keys))


def packed_text(text: str) -> bytes:
    """A text as PLAIN has it."""
    (data,) = packed(Type.BYTE_ARRAY, text)
    return struct.pack("<I", len(data)) + data


def test_true_sums_of_every_type_and_granularity_are_found_true() -> None:
    alone = [sums(name, granularity) for name in SUMMED for granularity in Granularity]
    keyed = [sums(name, granularity, key="texts") for name in SUMMED for granularity in list(Granularity)[:2]]

    assert [] == rules(*alone, *keyed)


@pytest.mark.parametrize("granularity", Granularity)
def test_a_sum_that_is_off_by_one_is_found_false_in_every_type(granularity: Granularity) -> None:
    found = rules(*(sums(name, granularity, off=1) for name in SUMMED))

    assert ["DIR-037"] * len(SUMMED) == found
