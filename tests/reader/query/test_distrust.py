"""A scan that distrusts: every well-formed lie that its condition meets is named, the rows are right, and nobody is accused falsely."""

from __future__ import annotations

import struct
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pqassay_golden.tiny.layout import Layout
from pqassay_golden.tiny.parquet import Column, TinyParquet
from pqassay_reader.pages.extremes import OrderedValues
from pqassay_reader.query.audit.distrust import SHOWN, Lie, Structure, warning_of
from pqassay_reader.query.rungs import Rung
from pqassay_reader.query.scan import Scan, scan
from pqassay_reference.directory.embedding import add_indexes
from pqassay_reference.directory.making.entry import Request
from pqassay_reference.errors import Refused, Undecodable
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.directory.codes import Granularity, IndexType
from pqassay_spec.mutation.mutations import Mutation, mutate
from pqassay_spec.parquet.column_order import Order, is_nan, key
from pqassay_suite.cases.case import golden_folder, load

FAMILIES = ("STA", "PIX", "BLM", "IDX1", "DIR")
"""The families whose invalid files are scanned; of all others, the valid ones."""

LYING = {
    "STA-040", "STA-041", "STA-043", "STA-044", "PIX-042", "PIX-050", "PIX-051", "PIX-052", "PIX-053", "PIX-054",
    "PIX-055", "PIX-056", "BLM-020", "IDX1-016", "IDX1-023", "DIR-026", "DIR-027", "DIR-043",
}  # fmt: skip
"""The rules that a file breaks by a lie about values."""

NOT_BELIEVED = {
    "blm/zeroed": "the reference believes no bloom filter without a bit",
    "pix/values-in-a-null-page": "its null_counts contradict it",
    "interop/arrow-rs-59.0.0/list-page-called-null": "no condition looks into a list",
    "interop/questdb-9.3.4/arrays-as-lists": "no condition looks into a list",
    "dir/greatest-of-a-sketch": "a bound that is greater than all values misleads nobody",
}
"""Lies that nobody is misled by, as the structure is not believed."""

MORE = {
    "blm/without-negative-zero",  # the chunk holds zero with this sign alone
    "idx1/length-into-page-index",
    "pix/ascending-called-descending",
    "pix/column-indexes-swapped",
    "pix/equal-lower-bounds-called-descending",
    "pix/lower-bound-too-great",
    "pix/nan-count-too-great",
    "pix/null-count-0",
    "pix/nulls-of-other-pages",
    "pix/row-of-another-page",
    "pix/row-of-another-page-of-lists",
    "pix/unordered-called-ascending",
    "pix/upper-bound-too-small",
    "sta/bound-cut-in-a-character",
    "sta/histogram-of-fewer-nulls",
    "sta/nan-count-negative",
    "sta/nan-count-too-great",
    "sta/null-count-of-required",
}
"""Files that break rules which can be judged without the values, and lie about these as well."""


def literals(values: Any) -> list[Any]:
    """Some values of a column as a condition writes them; none where it has no way to."""
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    plain = (
        pa.types.is_integer,
        pa.types.is_boolean,
        pa.types.is_string,
        pa.types.is_float32,
        pa.types.is_float64,
    )
    if not any(test(kind) for test in plain):
        return []
    try:
        found = [one for one in values.unique().to_pylist() if one is not None][:9]
    except UnicodeDecodeError:
        return []
    return [{"float": repr(one)} if isinstance(one, float) else one for one in found]


def everything_of(table: pa.Table) -> list[Any] | None:
    """A condition that asks every column for nulls and for its values."""
    parts: list[list[Any]] = []
    for name in table.column_names:
        if table.column_names.count(name) == 1:
            parts.append(["is null", name])
            parts += [["in", name, found]] if (found := literals(table.column(name))) else []
    return ["or", *parts] if parts else None


def met_lies(golden: Any) -> set[Structure]:
    """What distrust names of a golden file."""
    source = BytesSource(golden.content())
    table = pq.read_table(pa.BufferReader(golden.content()))
    predicate, column = everything_of(table), golden.case.column
    rows = scan(source, predicate, distrust=True)
    assert table.num_rows == rows.to_table().num_rows or predicate is not None
    lies = {lie.structure for lie in rows.lies}
    if golden.case.family == "IDX1" and column in table.column_names:
        asked = ["in", column, literals(table.column(column))]
        vouched = scan(source, asked, distrust=True, trust="published", column=column)
        vouched.to_table()
        lies |= {lie.structure for lie in vouched.lies}
    return lies


@pytest.mark.slow
def test_golden_files_that_lie_about_values_are_named_and_no_others() -> None:
    named: set[str] = set()
    expected: set[str] = set(MORE)
    for golden in load(golden_folder()):
        case = golden.case
        lies = case.kind == "invalid" and bool(LYING & set(case.rules)) and case.id not in NOT_BELIEVED
        if case.kind == "valid" or case.family in FAMILIES:
            try:
                named |= {case.id} if met_lies(golden) else set()
            except (FormatError, Undecodable, Refused, pa.ArrowException, OSError):
                assert not lies
            expected |= {case.id} if lies else set()

    assert expected == named


# ------------------------------------------------------------------------------------------------ single lies

NUMBERS = [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233]
METALS = ["tin", "lead", None, "zinc", "nickel", "", "copper", None, "iron", "gold", "tin", "cobalt"]


def trees() -> bytes:
    """Two row groups of six rows, in pages of two and of three."""
    columns = (
        Column("number", "int32", NUMBERS, optional=False, layout=Layout(page_rows=2)),
        Column("metal", "string", METALS, layout=Layout(page_rows=3)),
    )
    return TinyParquet(columns, row_group_rows=6, page_index=True, bloom_filters=("metal",)).build()


def number(value: int) -> bytes:
    """The PLAIN bytes of an INT32."""
    return struct.pack("<i", value)


STATISTICS = "footer.row_groups[0].columns[{}].meta_data.statistics.{}"
COLUMN_INDEX = "row_groups[0].columns[{}].column_index.{}"

LIES: list[tuple[Mutation, list[Any], Lie]] = [
    (
        Mutation("set", STATISTICS.format(0, "max_value"), number(8)),
        [">", "number", 8],
        Lie("", 0, "number", None, Structure.STATISTICS, "no value is greater than 8", "13", 1),
    ),
    (
        Mutation("set", STATISTICS.format(1, "null_count"), 0),
        ["is null", "metal"],
        Lie("", 0, "metal", None, Structure.STATISTICS, "0 nulls", "1 null", 1),
    ),
    (
        Mutation("set", COLUMN_INDEX.format(0, "min_values[1]"), number(5)),
        ["<=", "number", 5],
        Lie("", 0, "number", 1, Structure.COLUMN_INDEX, "no value is less than 5", "3", 0),
    ),
    (
        Mutation("set", COLUMN_INDEX.format(0, "max_values[1]"), number(4)),
        ["in", "number", [5, 8]],
        Lie("", 0, "number", 1, Structure.COLUMN_INDEX, "no value is greater than 4", "5", 1),
    ),
    (
        Mutation("set", COLUMN_INDEX.format(0, "boundary_order"), 2),
        ["=", "number", 5],
        Lie("", 0, "number", None, Structure.COLUMN_INDEX, "the bounds are in DESCENDING order", "they are in another", 0),
    ),
    (
        Mutation("set", "row_groups[0].columns[1].bloom_filter.bitset", b"\1" + bytes(31)),
        ["or", ["=", "metal", "tin"], ["=", "metal", "osmium"]],
        Lie("", 0, "metal", None, Structure.BLOOM_FILTER, "no row holds 'tin'", "1 row", 1),
    ),
    (
        Mutation("set", "row_groups[0].columns[0].offset_index.page_locations[1].first_row_index", 3),
        ["=", "number", 3],
        Lie("", 0, "number", 1, Structure.OFFSET_INDEX, "begins with row 3", "begins with row 2", 1),
    ),
]  # fmt: skip


def asked(data: bytes, predicate: list[Any], **options: Any) -> Scan:
    return scan(BytesSource(data, "trees"), predicate, ["number"], **options)


@pytest.mark.parametrize(("mutation", "predicate", "lie"), LIES, ids=lambda one: getattr(one, "path", ""))
def test_a_lie_is_named_with_what_it_costs_and_the_rows_are_right(
    mutation: Mutation, predicate: list[Any], lie: Lie
) -> None:
    lying = mutate(trees(), mutation)
    rows = asked(lying, predicate, distrust=True)
    right = asked(trees(), predicate).to_table()

    assert right.equals(rows.to_table())
    assert [lie] == [Lie("", *list(vars(one).values())[1:]) for one in rows.lies]
    assert lie.lost == len(right) - len(asked(lying, predicate).to_table()), (
        "what it costs whoever believes it"
    )


def test_of_a_good_file_nothing_is_said_and_of_a_rung_that_is_off_neither() -> None:
    good = asked(trees(), ["or", ["is null", "metal"], ["<", "number", 99]], distrust=True)
    mutation, predicate, _ = LIES[0]
    off = asked(mutate(trees(), mutation), predicate, distrust=True, without=[Rung.ROW_GROUPS])

    assert ([], "") == (good.lies if good.to_table() else [], good.warning)
    assert [] == (off.lies if off.to_table() else [])


# ------------------------------------------------------------------------------------------- the index directory

BEFORE, HIDDEN = 17, 1_000_003


def overwritten(path: Path, request: Request) -> Path:
    """A file of two row groups with an index, in which one number was overwritten afterwards: nothing in the footer tells."""
    numbers = [15 + 5 * (at % 2) for at in range(2000)]
    numbers[1500] = BEFORE
    table = pa.table({"number": numbers, "other": [1] * 2000})
    pq.write_table(
        table,
        path,
        row_group_size=1000,
        use_dictionary=False,
        compression="none",
        write_statistics=False,
        write_page_index=request.granularity is Granularity.PAGE,
        data_page_size=2000,
        write_batch_size=250,
    )
    add_indexes(path, [request])
    data = bytearray(path.read_bytes())
    chunk = pq.read_metadata(path).row_group(1).column(0)
    body = data[chunk.data_page_offset : chunk.data_page_offset + chunk.total_compressed_size]
    old, new = BEFORE.to_bytes(8, "little"), HIDDEN.to_bytes(8, "little")
    assert body.count(old) == 1
    at = chunk.data_page_offset + body.index(old)
    data[at : at + 8] = new
    path.write_bytes(data)
    return path


NUMBER = (("number",),)

DIRECTORY_LIES: list[tuple[Request, Lie]] = [
    (
        Request(IndexType.DISTINCT_SET, NUMBER, granularity),
        Lie("", row_group, "number", page, Structure.DISTINCT_SET, f"no value but its {listed}", f"1 row with another: {HIDDEN}", 1),
    )
    for granularity, row_group, page, listed in (
        (Granularity.FILE, None, None, 3),
        (Granularity.ROW_GROUP, 1, None, 3),
        (Granularity.PAGE, 1, 2, 3),
    )
]  # fmt: skip


@pytest.mark.parametrize(("request_", "lie"), DIRECTORY_LIES, ids=lambda one: getattr(one, "structure", ""))
def test_a_distinct_set_that_lacks_a_value_is_named_with_what_it_costs(
    tmp_path: Path, request_: Request, lie: Lie
) -> None:
    path = overwritten(tmp_path / "data.parquet", request_)
    rows = scan(path, f"number = {HIDDEN}", distrust=True)

    assert rows.to_table()["number"].to_pylist() == [HIDDEN]
    assert [lie] == [Lie("", *list(vars(one).values())[1:]) for one in rows.lies]
    assert scan(path, f"number = {HIDDEN}").to_table().num_rows == 0, "which believes it"


def test_a_distinct_set_is_not_asked_where_its_rung_is_off_or_the_condition_names_another_column(
    tmp_path: Path,
) -> None:
    path = overwritten(tmp_path / "data.parquet", DIRECTORY_LIES[1][0])
    off = scan(path, f"number = {HIDDEN}", distrust=True, without=[Rung.SETS])
    other = scan(path, "other = 1", distrust=True)

    assert [] == (off.lies if off.to_table() else [])
    assert [] == (other.lies if other.to_table() else [])


def test_nulls_that_a_distinct_set_denies_are_named() -> None:
    golden = next(one for one in load(golden_folder()) if one.case.id == "dir/nulls-denied")
    rows = scan(BytesSource(golden.content(), "denied"), ["is null", "metal"], distrust=True)
    rows.to_table()

    assert [Lie("denied", 1, "metal", None, Structure.DISTINCT_SET, "no null", "1 null", 1)] == rows.lies


@pytest.mark.parametrize(("granularity", "row_group"), [(Granularity.ROW_GROUP, 1), (Granularity.FILE, None)])
def test_a_sketch_whose_greatest_value_is_too_small_is_named(
    tmp_path: Path, granularity: Granularity, row_group: int | None
) -> None:
    pytest.importorskip("datasketches", reason="sketches take the extra `sketches`")
    request = Request(IndexType.KLL, NUMBER, granularity, parameter=8)
    path = overwritten(tmp_path / "data.parquet", request)
    rows = scan(path, f"number > {HIDDEN - 1}", distrust=True)
    claim, found = "no value is greater than 20.0", f"{float(HIDDEN)!r}"

    assert rows.to_table()["number"].to_pylist() == [HIDDEN]
    assert [Lie(str(path), row_group, "number", None, Structure.KLL, claim, found, 1)] == rows.lies
    assert scan(path, f"number > {HIDDEN - 1}").to_table().num_rows == 0, "which believes it"


def test_a_warning_tells_people_where_the_lies_are() -> None:
    mutation, predicate, _ = LIES[0]
    rows = asked(mutate(trees(), mutation), predicate, distrust=True)
    rows.to_table(), rows.to_table()

    assert (
        "the query met 1 false claim; the rows that are returned are right all the same\n"
        "  trees, row group 0, column number: statistics: no value is greater than 8; found: 13;"
        " 1 matching row would be lost"
    ) == rows.warning
    assert "and 2 more" in warning_of([rows.lies[0]] * (SHOWN + 2))


def test_lies_of_a_file_that_pyarrow_wrote_are_named(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    table = pa.table({"n": range(3000), "price": [Decimal(n % 700) / 100 for n in range(3000)]})
    pq.write_table(
        table, path, row_group_size=1000, write_page_index=True, data_page_size=512, write_batch_size=64
    )
    lying = mutate(
        path.read_bytes(), Mutation("set", "row_groups[1].columns[1].column_index.max_values[0]", b"\x01\x2d")
    )
    path.write_bytes(
        mutate(
            lying,
            Mutation(
                "set",
                "footer.row_groups[2].columns[0].meta_data.statistics.max_value",
                struct.pack("<q", 2500),
            ),
        )
    )
    rows = scan(path, "n > 1000 AND price > 6.5", distrust=True)

    assert table.filter((pa.compute.field("n") > 1000) & (pa.compute.field("price") > Decimal("6.5"))).equals(
        rows.to_table()
    )
    assert {(1, "price", 0), (2, "n", None)} == {(lie.row_group, lie.column, lie.page) for lie in rows.lies}


# ------------------------------------------------------------------------------------------------ orders

FLOATS = [b"".join((bytes(6), tail)) for tail in (b"\0\0", b"\0\x80", b"\xf0\x3f", b"\xf8\x7f", b"\xf0\xff")]
HALVES = [bytes.fromhex(raw) for raw in ("0000", "0080", "003c", "007e", "00fc")]
DECIMALS = [b"\xff\x6a", b"\0\x01", b"\x7f\xff", b"\x80\x00"]
MOMENTS = [struct.pack("<qi", *one) for one in ((5, 1), (4, 2), (-1, 2), (0, -7))]


@pytest.mark.parametrize(
    ("order", "kind", "raws"),
    [
        (Order.BOOLEAN, None, [b"\0", b"\1"]),
        (Order.SIGNED, pa.int32(), [number(n) for n in (3, -1, 7)]),
        (Order.UNSIGNED, pa.int32(), [number(n) for n in (3, -1, 7)]),
        (Order.FLOAT, pa.float64(), FLOATS),
        (Order.TOTAL, pa.float64(), FLOATS),
        (Order.HALF, pa.binary(2), HALVES),
        (Order.HALF_TOTAL, pa.binary(2), HALVES),
        (Order.BYTES, pa.binary(), [b"", b"a\xff", b"a", b"\x80"]),
        (Order.DECIMAL, pa.binary(2), DECIMALS),
        (Order.DECIMAL, pa.binary(), [*DECIMALS, b"\x80", b"\0\0\x80\0"]),
        (Order.TIMESTAMP, pa.binary(12), MOMENTS),
    ],
)
def test_extremes_are_those_of_the_order(order: Order, kind: Any, raws: list[bytes]) -> None:
    values: Any
    if kind is None:
        values = pa.array([bool(raw[0]) for raw in raws])
    elif pa.types.is_binary(kind) or pa.types.is_fixed_size_binary(kind):
        values = pa.array(raws, kind)
    else:
        values = pa.Array.from_buffers(kind, len(raws), [None, pa.py_buffer(b"".join(raws))])
    nothing = pa.nulls(1, values.type)
    ordered = OrderedValues(pa.chunked_array([nothing, values, nothing]), order)
    found = ordered.extremes(0, len(raws) + 2)
    placed = [raw for raw in raws if not is_nan(order, raw)]

    assert found is not None
    assert min(key(order, raw) for raw in placed) == key(order, found.least)
    assert max(key(order, raw) for raw in placed) == key(order, found.greatest)
    assert (2, len(raws) - len(placed)) == (
        ordered.null_count(0, len(raws) + 2),
        ordered.nan_count(0, len(raws) + 2),
    )
