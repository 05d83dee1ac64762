"""Conditions with constants that their columns' types do not hold: everybody who asks them agrees with exact arithmetic."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from pqassay.cli.main import app
from pqassay_reader import scan
from pqassay_reader.answer.answerer import Answerer
from pqassay_reader.answer.question import parse_question
from pqassay_reader.condition.text import parse_predicate
from pqassay_reader.lake.indexed_dataset import open_indexed
from pqassay_reader.predicate.exact import exact_predicate
from pqassay_reader.predicate.expressions import TableColumns, evaluated, expression_of
from pqassay_reader.query.rungs import Rung
from pqassay_reference.directory.embedding import add_indexes
from pqassay_reference.directory.making.entry import Request
from pqassay_reference.errors import Refused
from pqassay_spec.directory.codes import Granularity, IndexType

# ------------------------------------------------------------------------------------------------- an oracle


def exact(number: Any, *, as_written: bool) -> Fraction | float:
    """A number as a fraction; a float where it is infinite or NaN."""
    if isinstance(number, float | Decimal) and not Decimal(number).is_finite():
        return float(number)
    if isinstance(number, float) and as_written:
        return Fraction(Decimal(repr(number)))
    return Fraction(number)


def is_nan(number: Any) -> bool:
    """Whether a constant is NaN."""
    return isinstance(number, float) and math.isnan(number)


def compared(name: str, value: Any, constant: Any) -> bool | None:
    """A comparison by size; NaN is equal to nothing, and neither less nor greater."""
    if value is None or constant is None:
        return None
    left = exact(value, as_written=False)
    right = exact(constant, as_written=isinstance(value, Decimal))
    if is_nan(left) or is_nan(right):
        return name == "!="
    return {
        "=": left == right,
        "!=": left != right,
        "<": left < right,
        "<=": left <= right,
        ">": left > right,
        ">=": left >= right,
    }[name]


def truth(tree: Any, value: Any) -> bool | None:
    """The truth of a condition on one column."""
    match tree:
        case ["not", part]:
            found = truth(part, value)
            return None if found is None else not found
        case [("and" | "or") as name, *parts]:
            truths = [truth(part, value) for part in parts]
            decisive = name == "or"
            return decisive if decisive in truths else None if None in truths else not decisive
        case ["is null", _]:
            return value is None
        case [("in" | "not in") as name, _, constants]:
            found = truth(
                [
                    "or",
                    ["not", ["or", ["is null", "x"], ["is not null", "x"]]],
                    *(["=", "x", one] for one in constants),
                ],
                value,
            )
            return found if name == "in" or found is None else not found
        case ["is not null", _]:
            return value is not None
        case [name, _, constant]:
            return compared(name, value, constant)
        case _:
            raise AssertionError(tree)


# ------------------------------------------------------------------------------------------------- what is drawn

WHOLE = {
    kind: (-(1 << kind.bit_width - 1), (1 << kind.bit_width - 1) - 1)
    if pa.types.is_signed_integer(kind)
    else (0, (1 << kind.bit_width) - 1)
    for kind in (
        pa.int8(),
        pa.int16(),
        pa.int32(),
        pa.int64(),
        pa.uint8(),
        pa.uint16(),
        pa.uint32(),
        pa.uint64(),
    )
}
FLOATS = {pa.float32(): 32, pa.float64(): 64}
DECIMALS = [pa.decimal128(4, 2), pa.decimal128(18, 0), pa.decimal128(30, 10), pa.decimal256(50, 3)]
KINDS: list[Any] = [*WHOLE, *FLOATS, *DECIMALS]

SMALL = st.integers(-3, 3)


@cache
def values_of(kind: Any) -> st.SearchStrategy[Any]:
    """Values of a type, those at its ends among them."""
    if kind in WHOLE:
        least, most = WHOLE[kind]
        return st.one_of(
            SMALL.filter(lambda number: number >= least),
            st.integers(least, most),
            st.sampled_from([least, most]),
        )
    if kind in FLOATS:
        few = st.sampled_from([0.0, -0.0, 0.5, -1.5, math.inf, -math.inf, math.nan])
        return st.one_of(SMALL.map(float), few, st.floats(width=32 if FLOATS[kind] == 32 else 64))
    most = 10**kind.precision - 1
    counts = st.one_of(st.integers(-300, 300), st.integers(-most, most), st.sampled_from([-most, most]))
    return counts.map(lambda count: Decimal(f"{count}E{-kind.scale}"))


def beside(number: Any) -> st.SearchStrategy[Any]:
    """Numbers of other types that are near one."""
    whole = math.floor(number) if math.isfinite(number) else 0
    return st.sampled_from(
        [
            whole,
            whole + 1,
            whole - 1,
            whole + 0.5,
            Decimal(whole) + Decimal("0.001"),
            Decimal(f"{whole}.5"),
            Decimal(f"{whole}.00"),
        ]
    )


CONSTANTS: st.SearchStrategy[Any] = st.one_of(
    SMALL,
    st.sampled_from([0.5, -0.5, 2.5, 0.1, 1e39, -1e39, 1e300, 5e-324, math.nan, math.inf, -math.inf, -0.0]),
    st.sampled_from([2**bits + more for bits in (7, 8, 24, 31, 32, 53, 63, 64, 200) for more in (-1, 0, 1)]),
    st.sampled_from([-(2**bits) + more for bits in (7, 24, 31, 53, 63) for more in (-1, 0, 1)]),
    st.sampled_from(
        [Decimal(text) for text in ("0.5", "1.005", "-2.5", "99.995", "1E+500", "-1E-500", "3.00")]
    ),
    st.floats(),
    st.integers(),
    st.decimals(allow_nan=False, allow_infinity=False),
    st.none(),
)


@st.composite
def conditions(draw: st.DrawFn, values: list[Any]) -> list[Any]:
    """A condition on the column ``x``, with constants near its values or far from all."""
    known = [value for value in values if value is not None]
    near = [beside(value) for value in known[:4]]
    constants = st.one_of(CONSTANTS, *near, *([st.sampled_from(known)] if known else []))

    def leaf() -> list[Any]:
        name = draw(st.sampled_from(["=", "!=", "<", "<=", ">", ">=", "in", "not in", "between"]))
        if name == "between":
            return ["and", [">=", "x", draw(constants)], ["<=", "x", draw(constants)]]
        if name.endswith("in"):
            return [name, "x", draw(st.lists(constants, min_size=1, max_size=3))]
        return [name, "x", draw(constants)]

    tree = leaf()
    for _ in range(draw(st.integers(0, 2))):
        shape = draw(st.sampled_from(["not", "and", "or", "null"]))
        tree = (
            ["not", tree]
            if shape == "not"
            else ["or", tree, ["is null", "x"]]
            if shape == "null"
            else [shape, tree, leaf()]
        )
    return tree


@st.composite
def questions(draw: st.DrawFn, kind: Any, most: int) -> tuple[list[Any], list[list[Any]]]:
    """The values of a column, and conditions on it."""
    values = draw(st.lists(st.one_of(values_of(kind), st.none()), min_size=1, max_size=most))
    return values, [draw(conditions(values)) for _ in range(4)]


def stored(values: list[Any], kind: Any) -> Any:
    """The column, and its values as it holds them."""
    if kind == pa.float32():
        values = [None if one is None else float(np.float32(one)) for one in values]
    return pa.array(values, kind)


# ------------------------------------------------------------------------------------------------- the properties

OF_KIND = {kind: questions(kind, 8) for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_comparison_is_by_size_and_never_a_cast(kind: Any) -> None:
    @given(drawn=OF_KIND[kind])
    @settings(max_examples=150)
    def holds(drawn: tuple[list[Any], list[list[Any]]]) -> None:
        column = stored(drawn[0], kind)
        table = pa.table({"x": column})
        for tree in drawn[1]:
            expected = [truth(tree, value) for value in column.to_pylist()]
            assert expected == evaluated(tree, TableColumns(table)).to_pylist(), tree

    holds()


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_the_constants_of_an_exact_condition_are_values_of_the_type(kind: Any) -> None:
    @given(drawn=OF_KIND[kind])
    @settings(max_examples=50)
    def holds(drawn: tuple[list[Any], list[list[Any]]]) -> None:
        for tree in drawn[1]:
            bound = exact_predicate(tree, lambda _: kind)
            constants = list(constants_of(bound))
            for constant in constants:
                number = pa.scalar(constant, kind).as_py()
                assert number == constant or is_nan(number)
            assert repr(bound) == repr(exact_predicate(bound, lambda _: kind))

    holds()


def constants_of(tree: Any) -> Iterator[Any]:
    """The constants of a condition that are not null."""
    match tree:
        case [("and" | "or" | "not"), *parts]:
            for part in parts:
                yield from constants_of(part)
        case [_, _, [*several]]:
            yield from (one for one in several if one is not None)
        case [_, _, constant] if constant is not None:
            yield constant
        case _:
            pass


def written(path: Path, columns: dict[str, Any], *, is_indexed: bool) -> Path:
    """A file of small row groups, with everything that leaves out rows, or with nothing of it."""
    hashed = set(columns) - {"flag"} if is_indexed else set()  # booleans are not hashed
    blooms: Any = {name: {"ndv": 50, "fpp": 0.01} for name in hashed} or None
    pq.write_table(
        pa.table(columns),
        path,
        row_group_size=6,
        max_rows_per_page=2,
        write_batch_size=1,
        write_page_index=is_indexed,
        write_statistics=is_indexed,
        bloom_filter_options=blooms,
        store_decimal_as_integer=True,
    )
    return path


def indexes_of(kind: Any) -> list[Request]:
    """Every index that a column may have."""
    types = [
        IndexType.DISTINCT_SET,
        IndexType.ZONE_SUMS,
        *([] if pa.types.is_decimal(kind) else [IndexType.KLL]),
    ]
    found = [Request(each, (("x",),), Granularity.ROW_GROUP) for each in types]
    return [*found, Request(IndexType.DISTINCT_SET, (("x",),), Granularity.PAGE)]


FILE_KINDS: list[Any] = [pa.int64(), pa.uint8(), pa.uint64(), pa.int8(), *FLOATS, *DECIMALS[:3]]
OF_FILES = {kind: questions(kind, 24) for kind in FILE_KINDS}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pqassay_reader.lake.indexed_dataset.IndexWarning")
@pytest.mark.parametrize("is_indexed", [False, True], ids=["plain", "indexed"])
@pytest.mark.parametrize("kind", FILE_KINDS, ids=str)
def test_scan_prune_and_answer_lose_no_row(
    kind: Any, is_indexed: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    @given(drawn=OF_FILES[kind])
    @settings(max_examples=25)
    def holds(drawn: tuple[list[Any], list[list[Any]]]) -> None:
        column = stored(drawn[0], kind)
        path = written(tmp_path_factory.mktemp("x") / "x.parquet", {"x": column}, is_indexed=is_indexed)
        if is_indexed:
            add_indexes(path, indexes_of(kind))
        dataset, lake = open_indexed(path), Answerer.open(path)
        count = parse_question("SELECT COUNT(*) AS n FROM t")
        for tree in drawn[1]:
            expected = [value for value in column.to_pylist() if truth(tree, value) is True]
            assert repr(expected) == repr(scan(path, tree, ["x"]).to_table().column("x").to_pylist()), tree
            assert repr(expected) == repr(
                scan(path, tree, ["x"], distrust=True).to_table().column("x").to_pylist()
            )
            condition = expression_of(tree, dataset.schema)
            assert not expected or dataset.prune(condition).kept, tree
            if kind not in FLOATS:  # where NaN is beside bounds, Arrow itself loses rows
                assert len(expected) == dataset.to_table(filter=condition).num_rows, tree
            (answer,) = lake.ask(replace(count, predicate=tree)).table.to_pylist()
            assert len(expected) == answer["n"], tree

    holds()


# ------------------------------------------------------------------------------------------------- examples


@pytest.fixture
def numbers(tmp_path: Path) -> Path:
    """A file with a column of each kind."""
    columns = {
        "id": pa.array([0, 1, 2, None, -1], pa.int64()),
        "u8": pa.array([0, 1, 255, None, 7], pa.uint8()),
        "f": pa.array([0.1, 0.5, math.nan, None, math.inf], pa.float32()),
        "price": pa.array(
            [Decimal("1.00"), Decimal("1.01"), Decimal("0.10"), None, Decimal("-1.00")], pa.decimal128(9, 2)
        ),
        "day": pa.array([0, 1, 2, None, -1], pa.date32()),
        "ms": pa.array([0, 1, 2, None, -1], pa.timestamp("ms")),
        "utc": pa.array([0, 1, 2, None, -1], pa.timestamp("us", "UTC")),
        "clock": pa.array([0, 1, 2, None, 86_399_999_999], pa.time64("us")),
        "name": pa.array(["a", "b", "1", None, ""]),
        "flag": pa.array([True, False, True, None, True]),
        "raw": pa.array([b"a", b"b", b"1", None, b""]),
        "fixed": pa.array([b"aa", b"bb", b"11", None, b"cc"], pa.binary(2)),
    }
    return written(tmp_path / "numbers.parquet", columns, is_indexed=True)


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ("id < 0.5", 2),
        ("id = 0.5", 0),
        ("id != 0.5", 4),
        ("id IN (0.5, 1)", 1),
        ("id NOT IN (0.5, 1)", 3),
        ("id NOT IN (0.5, NULL)", 0),
        ("id BETWEEN 0.5 AND 2.5", 2),
        ("NOT (id < 0.5)", 2),
        ("NOT (id = 0.5)", 4),
        ("NOT (id = 0.5) OR id IS NULL", 5),
        ("id < 9223372036854775808", 4),
        ("id > -9223372036854775809", 4),
        ("id >= 1e300", 0),
        ("id < 1e999999999", 4),
        ("id <= 1e-999999999", 2),
        ("u8 > -1", 4),
        ("u8 = 256", 0),
        ("u8 < 255.5", 4),
        ("f = 0.1", 0),
        ("f < 0.1000000014901161193847656251", 1),
        ("f > 1e39", 1),
        ("price = 1.005", 0),
        ("price > 1.005", 1),
        ("price = 0.1", 1),
        ("price < 1e12", 4),
        ("day < '1970-01-01 12:00:00'", 2),
        ("day = '1970-01-01 00:00:00.000000001'", 0),
        ("ms <= '1970-01-01 00:00:00.0015'", 3),
        ("ms > '1600-01-01'", 4),
        ("utc < '1970-01-01 02:00:00.0000005+02:00'", 2),
        ("clock >= '00:00:00.0000005'", 3),
        ("clock < '23:59'", 3),
        ("raw > 'a'", 1),
    ],
)
def test_a_constant_between_the_values_of_a_type(condition: str, count: int, numbers: Path) -> None:
    rows = [scan(numbers, condition, ["id"], without=off).to_table().num_rows for off in ((), list(Rung))]
    answer = Answerer.open(numbers).ask(f"SELECT COUNT(*) AS n FROM t WHERE {condition}").table.to_pylist()

    assert ([count, count], [{"n": count}]) == (rows, answer)


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (
            "u8 > 1 AND id = 'a'",
            "at character 12: column id is int64 and cannot be compared with the text 'a'; write a number",
        ),
        (
            "name = 5",
            "at character 1: column name is string and cannot be compared with the number 5; write text in single quotes",
        ),
        ("'a' = id", "at character 1: column id is int64"),
        ("flag = 1", "column flag is bool and cannot be compared with the number 1; write true or false"),
        ("id IN (1, TRUE)", "cannot be compared with true; write a number"),
        ("id = x'00'", "cannot be compared with the bytes x'00'; write a number"),
        (
            "day = 5",
            "column day is date32[day] and cannot be compared with the number 5; write a day as '2024-01-31'",
        ),
        ("ms = 'soon'", "cannot be compared with the text 'soon'; write a time as '2024-01-31 12:30:00'"),
        ("utc = '2024-01-01'", "write a time as '2024-01-31 12:30:00Z'"),
        ("clock = 'noon'", "write a time as '12:30:00'"),
        ("fixed = x'00'", "cannot be compared with the bytes x'00'; write 2 bytes as x'00ff'"),
        ("name = DATE '2024-01-01'", "write the text alone, without a type"),
    ],
)
def test_what_is_not_comparable_is_refused_where_it_is(condition: str, message: str, numbers: Path) -> None:
    for ask in (
        lambda: scan(numbers, condition),
        lambda: Answerer.open(numbers).ask(f"SELECT COUNT(*) FROM t WHERE {condition}"),
    ):
        with pytest.raises(Refused) as refused:
            ask()
        assert message.partition(": column")[2] in str(refused.value)
    with pytest.raises(Refused) as refused:
        scan(numbers, condition)
    assert message in str(refused.value)


@pytest.mark.parametrize("command", ["scan", "scan --files"])
def test_commands_compare_and_refuse_in_one_line(command: str, numbers: Path) -> None:
    kept = CliRunner().invoke(app, [*command.split(), str(numbers), "id < 0.5", "--format", "json"])
    refused = CliRunner().invoke(app, [*command.split(), str(numbers), "id < 'half'"])

    assert (0, 1) == (kept.exit_code, refused.exit_code)
    assert ('"id":0' if command == "scan" else '"kept"') in kept.stdout.replace(" ", "")
    assert (
        "error: at character 1: column id is int64 and cannot be compared with the text 'half'; write a number\n"
        == refused.stderr
    )


def test_folders_stand_for_numbers_that_are_compared_by_size(tmp_path: Path) -> None:
    for year in (2023, 2024):
        (tmp_path / f"year={year}").mkdir()
        pq.write_table(pa.table({"id": [year]}), tmp_path / f"year={year}" / "a.parquet")

    assert [2024] == scan(tmp_path, "year > 2023.5", ["id"]).to_table().column("id").to_pylist()
    assert [{"n": 2}] == Answerer.open(tmp_path).ask(
        "SELECT COUNT(*) AS n FROM t WHERE year < 99999999999"
    ).table.to_pylist()


def test_a_comparison_read_from_text_knows_its_place() -> None:
    tree = parse_predicate('a = 1 AND ("b c" IN (2) OR 3 < d) AND e BETWEEN 4 AND 5')

    placed = [part.position for part in comparisons_of(tree)]
    assert [1, 12, 28, 39, 39] == placed


def comparisons_of(tree: Any) -> Iterator[Any]:
    """The comparisons of a condition."""
    if tree[0] in ("and", "or", "not"):
        for part in tree[1:]:
            yield from comparisons_of(part)
    else:
        yield tree


@pytest.mark.parametrize("is_uniform", [True, False])
def test_a_question_finds_nan_beside_bounds(tmp_path: Path, is_uniform: bool) -> None:
    pq.write_table(pa.table({"x": [0.0, math.nan]}), tmp_path / "a.parquet")
    kind = pa.float64() if is_uniform else pa.float32()  # other types are read by Arrow's dataset
    pq.write_table(pa.table({"x": pa.array([0.0, math.nan], kind)}), tmp_path / "b.parquet")
    lake = Answerer.open(tmp_path)

    for condition, count in (
        ("x != 0", 2),
        ("NOT (x = 0)", 2),
        ("x = 0", 2),
        ("x > 5", 0),
        ("NOT (x > 5)", 4),
    ):
        assert [{"n": count}] == lake.ask(f"SELECT COUNT(*) AS n FROM t WHERE {condition}").table.to_pylist()
