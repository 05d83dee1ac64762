"""Indexes made from data: they are what the chapter's algorithms and plain Python give."""

from __future__ import annotations

import decimal
import math
import random
import struct
from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pqassay_reference.directory.making.described_data import OpenFile
from pqassay_reference.directory.making.entry import MadeIndex, Request, make_index
from pqassay_reference.errors import Refused
from pqassay_spec.base.sources import FileSource
from pqassay_spec.directory import zone_sums
from pqassay_spec.directory.codes import Granularity, IndexType, Placement
from pqassay_spec.directory.distinct_set import DistinctSet, SetFlags, build_sets, read_sets
from pqassay_spec.directory.zone_sums import double_of, double_sum, integer_sum, sums_places
from pqassay_spec.parquet.file import read_footer, read_framing
from pqassay_spec.parquet.thrift import Type

ARROW: Any = pq
"""The type stubs of pyarrow know only part of what it takes."""

ROWS = 3000
SIZES = [1e-310, 1e300, -1e300, 5e-324, 0.1, -0.0, 1e16, -1e16, 3.25]


def _numbers(seed: int) -> list[float | None]:
    chance = random.Random(seed)
    return [
        None if chance.random() < 0.1 else chance.choice([*SIZES, chance.uniform(-1, 1)]) for _ in range(ROWS)
    ]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    chance = random.Random(4)
    table = pa.table(
        {
            "metal": pa.array([chance.choice(["tin", "lead", "", None]) for _ in range(ROWS)]),
            "year": pa.array([chance.choice([1958, 1971, None]) for _ in range(ROWS)], pa.int32()),
            "mass": pa.array(_numbers(5), pa.float64()),
            "lot": pa.array([chance.randrange(-(1 << 63), 1 << 63) for _ in range(ROWS)], pa.int64()),
        }
    )
    found = tmp_path_factory.mktemp("making") / "data.parquet"
    ARROW.write_table(
        table, found, row_group_size=1000, write_page_index=True, data_page_size=1000, write_batch_size=100
    )
    return found


def _made(path: Path, kind: IndexType, *columns: str, **options: Any) -> MadeIndex:
    with FileSource(path) as source:
        framing = read_framing(source)
        file = OpenFile(source, framing, read_footer(source, framing)[0])
        return make_index(file, Request(kind, tuple((name,) for name in columns), **options))


def _groups(path: Path, columns: list[str], size: int) -> list[dict[Any, list[Any]]]:
    """The measures of each combination of keys in each part of a number of rows, by plain Python."""
    rows = ARROW.read_table(path).select(columns).to_pylist()
    parts: list[dict[Any, list[Any]]] = []
    for start in range(0, len(rows), size):
        part: dict[Any, list[Any]] = defaultdict(list)
        for row in rows[start : start + size]:
            *keys, measure = row.values()
            part[tuple(keys)].append(measure)
        parts.append(
            dict(
                sorted(
                    part.items(), key=lambda item: [(k is not None, "" if k is None else k) for k in item[0]]
                )
            )
        )
    return parts


@pytest.mark.parametrize(
    ("granularity", "size"),
    [(Granularity.FILE, ROWS), (Granularity.ROW_GROUP, 1000)],
    ids=["file", "row-group"],
)
def test_sums_of_doubles_by_two_keys_are_those_of_the_chapters_algorithm(
    path: Path, granularity: Granularity, size: int
) -> None:
    blob = _made(path, IndexType.ZONE_SUMS, "year", "metal", "mass", granularity=granularity).stored
    places = sums_places(blob)
    found = [(group.row_count, group.null_count, double_of(group)) for group in places.read_groups(blob)]
    expected = [
        (len(group), group.count(None), double_sum(one for one in group if one is not None))
        for part in _groups(path, ["year", "metal", "mass"], size)
        for group in part.values()
    ]

    assert expected == found


def test_sums_of_integers_take_more_than_64_bits(path: Path) -> None:
    blob = _made(path, IndexType.ZONE_SUMS, "lot", granularity=Granularity.FILE).stored
    (group,) = sums_places(blob).read_groups(blob)

    assert sum(ARROW.read_table(path)["lot"].to_pylist()) == integer_sum(group)


def test_the_blob_of_sums_is_what_the_grammar_builds(path: Path) -> None:
    blob = _made(path, IndexType.ZONE_SUMS, "metal", "lot").stored

    assert blob == zone_sums.SUMS.build(zone_sums.SUMS.parse(blob))


def test_distinct_sets_of_row_groups_are_those_of_plain_python(path: Path) -> None:
    blob = _made(path, IndexType.DISTINCT_SET, "metal").stored
    values = ARROW.read_table(path)["metal"].to_pylist()
    parts = [set(values[start : start + 1000]) for start in range(0, ROWS, 1000)]
    expected = [
        DistinctSet(
            SetFlags.COMPLETE | (SetFlags.NULLS if None in part else 0),
            tuple(sorted(value.encode() for value in part if value is not None)),
        )
        for part in parts
    ]

    assert expected == read_sets(Type.BYTE_ARRAY, None, blob)
    assert blob == build_sets(Type.BYTE_ARRAY, expected)


def test_distinct_sets_of_pages_follow_the_offset_index(path: Path) -> None:
    made = _made(path, IndexType.DISTINCT_SET, "lot", granularity=Granularity.PAGE)
    parts = read_sets(Type.INT64, None, made.stored)
    found = [struct.unpack("<q", raw)[0] for part in parts for raw in part.values]

    assert len(parts) == 9
    assert sorted(ARROW.read_table(path)["lot"].to_pylist()) == sorted(found)


def test_a_set_that_is_cut_is_not_complete(path: Path) -> None:
    blob = _made(path, IndexType.DISTINCT_SET, "metal", most=1, granularity=Granularity.FILE).stored

    assert [DistinctSet(SetFlags.NULLS, (b"",))] == read_sets(Type.BYTE_ARRAY, None, blob)


def test_sums_of_decimals_and_infinities_by_groups_are_those_of_plain_python(tmp_path: Path) -> None:
    chance = random.Random(7)
    groups = [chance.randrange(6) for _ in range(400)]
    endless = {1: [math.inf], 2: [-math.inf], 3: [math.inf, -math.inf], 4: [1.7e308], 5: [-1.7e308, math.nan]}
    doubles = [chance.choice([*SIZES, *endless.get(group, [])]) for group in groups]
    wide = [chance.randrange(-(10**30), 10**30) for _ in groups]
    with decimal.localcontext(prec=40):
        decimals = pa.array([decimal.Decimal(number) / 1000 for number in wide], pa.decimal128(30, 3))
    halves = [number >> 70 for number in wide]
    table = pa.table({"g": groups, "x": doubles, "d": decimals, "u": pa.array(map(abs, halves), pa.uint64())})
    ARROW.write_table(table, tmp_path / "sums.parquet", row_group_size=150)

    def sums(column: str, total: Any) -> list[Any]:
        blob = _made(
            tmp_path / "sums.parquet", IndexType.ZONE_SUMS, "g", column, granularity=Granularity.FILE
        ).stored
        return [total(group) for group in sums_places(blob).read_groups(blob)]

    def split(values: list[Any]) -> list[list[Any]]:
        return [
            [one for one, place in zip(values, groups, strict=True) if place == group] for group in range(6)
        ]

    numbers = [[one for one in part if not math.isnan(one)] for part in split(doubles)]
    assert list(map(repr, map(double_sum, numbers))) == list(map(repr, sums("x", double_of)))
    assert list(map(sum, split(wide))) == sums("d", integer_sum)
    assert [sum(map(abs, part)) for part in split(halves)] == sums("u", integer_sum)


def test_decimals_in_bytes_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    numbers = [decimal.Decimal(number) for number in (-(1 << 70), -256, -1, 0, 1, 127, 128, 1 << 70)]
    table = pa.table({"d": pa.array(numbers[::-1], pa.decimal128(30, 0)), "k": [1] * len(numbers)})
    ARROW.write_table(table, tmp_path / "decimals.parquet")
    raws = [int(number).to_bytes(13, "big", signed=True) for number in numbers]
    stored = _made(tmp_path / "decimals.parquet", IndexType.DISTINCT_SET, "d").stored
    blob = _made(tmp_path / "decimals.parquet", IndexType.ZONE_SUMS, "k", "d").stored
    places = sums_places(blob)

    assert [DistinctSet(SetFlags.COMPLETE, tuple(raws))] == read_sets(Type.FIXED_LEN_BYTE_ARRAY, 13, stored)
    assert raws[0] == blob[places.minima.start : places.minima.end]
    assert raws[-1] == blob[places.maxima.start : places.maxima.end]


@pytest.mark.parametrize(
    ("request_of", "said"),
    [
        (("mass", "lot"), "column mass holds floating point numbers, which cannot be keys"),
        (("lot", "lot"), "a column is named twice: lot, lot"),
        (("price",), "the file has no column called price"),
    ],
)
def test_columns_that_do_not_fit_are_refused(path: Path, request_of: tuple[str, ...], said: str) -> None:
    with pytest.raises(Refused) as caught:
        _made(path, IndexType.ZONE_SUMS, *request_of)

    assert said == str(caught.value)


def test_an_index_that_grows_too_large_is_refused(path: Path) -> None:
    with pytest.raises(Refused, match="takes more than 100 bytes"):
        _made(path, IndexType.DISTINCT_SET, "lot", max_bytes=100)


def test_without_the_library_sketches_say_how_to_get_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "datasketches", None)

    with pytest.raises(Refused, match=r"pip install '\.\[sketches\]'"):
        _made(path, IndexType.HLL, "metal", placement=Placement.INLINE)


def test_sketches_have_what_the_chapter_gives_them(path: Path) -> None:
    library = pytest.importorskip("datasketches")
    from pqassay_spec.directory.sketches import split_sketches

    column: list[Any] = ARROW.read_table(path)["mass"].drop_null().to_pylist()
    (kll,) = split_sketches(_made(path, IndexType.KLL, "mass", granularity=Granularity.FILE).stored)
    (hll,) = split_sketches(_made(path, IndexType.HLL, "metal", granularity=Granularity.FILE).stored)
    read = library.kll_doubles_sketch.deserialize(kll)

    assert (len(column), min(column), max(column)) == (read.n, read.get_min_value(), read.get_max_value())
    assert round(library.hll_sketch.deserialize(hll).get_estimate()) == 2  # an empty text is passed over
