"""The audit of values: files whose statistics, page index and bloom filters are true are clean, each false one is found by its rule."""

from __future__ import annotations

import io
import struct
from copy import deepcopy
from dataclasses import replace
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pqassay
from audited_values import RULES, judged, rules_of
from damage import tries, turns
from each import each
from pqassay_golden.tiny.columns import AnyType, decimal, fixed
from pqassay_golden.tiny.parquet import Column, Encoding, Layout, ListOf, TinyParquet
from pqassay_spec.mutation.file_dissection import take_apart
from pqassay_spec.mutation.file_layout import put_together
from pqassay_spec.mutation.mutations import Mutation, mutate
from pqassay_spec.parquet.thrift import BoundingBox, GeospatialStatistics, Type

# ------------------------------------------------------------------------------------------------ files are clean


ARROW: dict[str, st.SearchStrategy[Any]] = {
    "bool": st.booleans(),
    "int32": st.integers(-(2**31), 2**31 - 1),
    "uint32": st.integers(0, 2**32 - 1),
    "uint64": st.integers(0, 2**64 - 1),
    "float32": st.floats(width=32),
    "float64": st.floats(),
    "string": st.text(max_size=70),
    "binary": st.binary(max_size=6),
}


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """A few columns with nulls, some of them lists or in structs."""
    rows = draw(st.integers(0, 30))
    columns: dict[str, Any] = {}
    for number in range(draw(st.integers(1, 4))):
        name = draw(st.sampled_from(sorted(ARROW)))
        kind: Any = getattr(pa, {"bool": "bool_"}.get(name, name))()
        value: st.SearchStrategy[Any] = st.none() | ARROW[name]
        match draw(st.sampled_from(["flat", "flat", "list", "struct"])):
            case "list":
                kind, value = pa.list_(kind), st.none() | st.lists(value, max_size=4)
            case "struct":
                kind = pa.struct([("inner", kind)])
                value = st.none() | st.fixed_dictionaries({"inner": value})
            case _:
                pass
        columns[f"c{number}"] = pa.array(draw(st.lists(value, min_size=rows, max_size=rows)), kind)
    return pa.table(columns)


@given(tables(), st.booleans(), st.sampled_from(["1.0", "2.0"]), st.sampled_from([8, 100, 1 << 20]))
@tries(60)
def test_what_pyarrow_writes_is_true(table: pa.Table, dictionary: bool, version: Any, size: int) -> None:
    buffer = io.BytesIO()
    pq.write_table(
        table, buffer, use_dictionary=dictionary, data_page_version=version, data_page_size=size,
        write_batch_size=3, row_group_size=11, write_page_index=size < 1 << 20,
    )  # fmt: skip
    assert set() == rules_of(buffer.getvalue())


EVERYTHING = Layout(
    exact=True,
    distinct_count=True,
    nan_count=True,
    size_statistics=True,
    histograms=True,
    unencoded_bytes=True,
)
TINY: dict[str, tuple[AnyType, st.SearchStrategy[Any]]] = {
    "boolean": ("boolean", st.booleans()),
    "int32": ("int32", st.integers(-(2**31), 2**31 - 1)),
    "uint64": ("uint64", st.integers(0, 2**64 - 1)),
    "double": ("double", st.floats()),
    "total": ("double", st.floats()),
    "float16": ("float16", st.binary(min_size=2, max_size=2)),
    "string": ("string", st.text(max_size=8)),
    "fixed": (fixed(9), st.binary(min_size=9, max_size=9)),
    "decimal": (decimal(9, 2, Type.BYTE_ARRAY), st.integers(-(10**9) + 1, 10**9 - 1)),
    "decimal of 12 bytes": (decimal(20, 2, Type.FIXED_LEN_BYTE_ARRAY, 12), st.integers(-(10**9), 10**9)),
    "int96": ("int96", st.integers(-(10**18), 10**18)),
}
PAGE_ROWS, MOST_ROWS = 3, 10


@st.composite
def tiny_columns(draw: st.DrawFn, names: tuple[str, ...] = tuple(TINY)) -> tuple[str, list[Any], Layout]:
    """One column of a type, with nulls, and how it is laid out."""
    name = draw(st.sampled_from(names))
    _, values = TINY[name]
    rows = draw(st.lists(st.none() | values, min_size=1, max_size=MOST_ROWS))
    layout = replace(
        EVERYTHING,
        nan_count=None if name in ("total", "double", "float16") else False,
        order="total" if name == "total" else "timestamp" if name == "int96" else "type",
        version=draw(st.sampled_from([1, 2])),
        dictionary=draw(st.sampled_from([None, Encoding.RLE_DICTIONARY])) if name != "boolean" else None,
        page_statistics=draw(st.booleans()),
        page_rows=PAGE_ROWS,
    )
    return name, rows, layout


def tiny(name: str, rows: list[Any], layout: Layout, *, listed: bool = False) -> TinyParquet:
    """A file of one column, flat or in lists of two."""
    kind = TINY[name][0]
    values = [rows[place : place + 2] for place in range(0, len(rows), 2)] if listed else rows
    column = Column("c", ListOf(kind) if listed else kind, values, layout=layout)
    blooms = () if name == "boolean" else ("c.list.element" if listed else "c",)
    return TinyParquet((column,), page_index=True, bloom_filters=blooms)


@given(tiny_columns(), st.booleans())
@tries(150)
def test_what_the_reference_writes_is_true(column: tuple[str, list[Any], Layout], listed: bool) -> None:
    assert set() == rules_of(tiny(*column, listed=listed).build())


@pytest.mark.parametrize(
    ("kind", "above", "dictionary"),
    turns(
        [(kind, above) for above in (False, True) for kind in ("double", "float", "float16")],
        [(None,), (Encoding.RLE_DICTIONARY,)],
    ),
)
def test_a_bound_of_zero_is_false_where_it_leaves_out_a_zero_that_is_there(
    kind: AnyType, dictionary: Literal[Encoding.RLE_DICTIONARY] | None, above: bool
) -> None:
    """Pages: zeros of both signs; the zero that the bound names; other values."""
    width = {"double": 8, "float": 4, "float16": 2}[str(kind)]
    zero, other = (bytes(width)[:-1] + b"\x80", bytes(width))[:: 1 if above else -1]
    one = {8: struct.pack("<d", 1), 4: struct.pack("<f", 1), 2: struct.pack("<e", 1)}[width]
    beyond_zero = one[:-1] + bytes([one[-1] | 0x80]) if above else one
    pages = [other, zero, zero, zero, beyond_zero, None]
    number = {8: "<d", 4: "<f"}.get(width)
    values = [raw if number is None or raw is None else struct.unpack(number, raw)[0] for raw in pages]
    layout = Layout(dictionary=dictionary, page_rows=2)
    name = "max_value" if above else "min_value"
    data = TinyParquet((Column("c", kind, values, layout=layout),), page_index=True).build()
    assert set() == rules_of(data)

    false = mutate(data, Mutation("set", f"{FACTS}.statistics.{name}", zero))
    assert {"STA-009"} == rules_of(false)
    listed = [f"{CHUNK}.column_index.{name}s[{page}]" for page in range(2)]
    assert {"PIX-037"} == rules_of(mutate(data, Mutation("set", listed[0], zero)))
    assert set() == rules_of(mutate(data, Mutation("set", listed[1], zero)))


# ----------------------------------------------------------------------------------------- each falsehood is found


FACTS = "footer.row_groups[0].columns[0].meta_data"
CHUNK = "row_groups[0].columns[0]"


def falsehoods(data: bytes, name: str) -> list[tuple[str, Mutation]]:
    """Every false statement that is tried on a file of one integer column: the rule that finds it, and the mutation."""
    tree = take_apart(data)
    chunk: Any = tree.row_groups[0].columns[0]
    facts: Any = tree.footer.row_groups[0].columns[0].meta_data
    code = {"int32": "<i", "uint64": "<Q"}[name]

    def moved(raw: bytes, by: int, other: bytes | None = None) -> bytes | None:
        """A bound that is another one; ``None`` for what is not a number, or lies beyond the other bound."""
        if raw == other:
            return None
        try:
            return struct.pack(code, struct.unpack(code, raw)[0] + by)
        except struct.error:
            return None

    given = facts.statistics
    found: list[tuple[str, str, Any]] = [
        ("STA-043", f"{FACTS}.statistics.null_count", given.null_count + 1),
        ("STA-045", f"{FACTS}.statistics.distinct_count", given.distinct_count + 2),
    ]
    if given.min_value is not None:
        found += [
            ("STA-040", f"{FACTS}.statistics.min_value", moved(given.min_value, 1, given.max_value)),
            ("STA-041", f"{FACTS}.statistics.max_value", moved(given.max_value, -1, given.min_value)),
            ("STA-042", f"{FACTS}.statistics.min_value", moved(given.min_value, -1)),
            ("STA-042", f"{FACTS}.statistics.max_value", moved(given.max_value, 1)),
        ]
    index = chunk.column_index
    for page, is_null in enumerate(index.null_pages):
        path = f"{CHUNK}.column_index"
        counts = list(index.null_counts)
        counts[page] += 1
        found += [
            ("PIX-052", f"{path}.null_pages[{page}]", not is_null),
            ("PIX-053", f"{path}.null_counts", counts),
        ]
        if not is_null:
            found += [
                (
                    "PIX-050",
                    f"{path}.min_values[{page}]",
                    moved(index.min_values[page], 1, index.max_values[page]),
                ),
                (
                    "PIX-051",
                    f"{path}.max_values[{page}]",
                    moved(index.max_values[page], -1, index.min_values[page]),
                ),
            ]
    bitset = bytearray(chunk.bloom_filter.bitset)
    lit = next((place for place, byte in enumerate(bitset) if byte), None)
    if lit is not None:
        bitset[lit] &= bitset[lit] - 1
        found.append(("BLM-020", f"{CHUNK}.bloom_filter.bitset", bytes(bitset)))
    return [(rule, Mutation("set", path, to)) for rule, path, to in found if to is not None]


@given(tiny_columns(("int32", "uint64")), st.booleans(), st.data())
@tries(150)
def test_a_falsehood_is_found_by_its_rule_and_by_no_other(
    column: tuple[str, list[Any], Layout], listed: bool, data: st.DataObject
) -> None:
    built = tiny(*column, listed=listed).build()
    rule, mutation = data.draw(st.sampled_from(falsehoods(built, column[0])))
    assert {rule} == rules_of(mutate(built, mutation))


NAN, ONE = struct.pack("<d", float("nan")), struct.pack("<d", 1.0)
POINT = bytes.fromhex("0101000000") + struct.pack("<2d", 5.0, 6.0)
LINE = bytes.fromhex("00000003ea 00000002") + struct.pack(">6d", 1.0, 2.0, 3.0, -1.0, 2.0, 9.0)
BOX = BoundingBox(xmin=-1.0, xmax=5.0, ymin=2.0, ymax=6.0, zmin=3.0, zmax=9.0)
ACROSS = BoundingBox(xmin=5.0, xmax=-170.0, ymin=2.0, ymax=6.0)

SINGLE: dict[str, tuple[Column, str, Mutation]] = {
    "a NaN too many": (
        Column("c", "double", [1.0, float("nan"), None], layout=EVERYTHING),
        "STA-044",
        Mutation("set", f"{FACTS}.statistics.nan_count", 2),
    ),
    "a NaN too many in a page": (
        Column("c", "double", [1.0, float("nan"), None, 2.0], layout=replace(EVERYTHING, page_rows=2)),
        "PIX-056",
        Mutation("set", f"{CHUNK}.column_index.nan_counts", [0, 1]),
    ),
    "bytes of a chunk": (
        Column("c", "string", ["ab", None, "c"], layout=EVERYTHING),
        "STA-047",
        Mutation("set", f"{FACTS}.size_statistics.unencoded_byte_array_data_bytes", 4),
    ),
    "bytes of a page": (
        Column("c", "string", ["ab", None, "c"], layout=EVERYTHING),
        "PIX-059",
        Mutation("set", f"{CHUNK}.offset_index.unencoded_byte_array_data_bytes", [2]),
    ),
    "a deprecated bound": (
        Column("c", "int64", [5, -5], layout=replace(EVERYTHING, deprecated=True)),
        "STA-048",
        Mutation("set", f"{FACTS}.statistics.min", struct.pack("<q", 0)),
    ),
    "a bound in a page header": (
        Column("c", "string", ["ab", None, "c"], layout=Layout(page_statistics=True)),
        "STA-050",
        Mutation("set", f"{CHUNK}.pages[0].header.data_page_header.statistics.min_value", b"b"),
    ),
    "nulls in a page header": (
        Column("c", "string", ["ab", None, "c"], layout=Layout(page_statistics=True, version=2)),
        "STA-050",
        Mutation("set", f"{CHUNK}.pages[0].header.data_page_header_v2.statistics.null_count", 0),
    ),
    "a box with a point beside it": (
        Column("c", "geometry", [POINT, None], layout=Layout(geospatial=GeospatialStatistics(bbox=BOX))),
        "STA-049",
        Mutation("set", f"{FACTS}.geospatial_statistics.bbox.xmax", 4.0),
    ),
    "a box with a line that leaves it": (
        Column("c", "geometry", [POINT, LINE], layout=Layout(geospatial=GeospatialStatistics(bbox=BOX))),
        "STA-049",
        Mutation("set", f"{FACTS}.geospatial_statistics.bbox.zmax", 8.0),
    ),
    "a box across the antimeridian": (
        Column("c", "geometry", [POINT], layout=Layout(geospatial=GeospatialStatistics(bbox=ACROSS))),
        "STA-049",
        Mutation("set", f"{FACTS}.geospatial_statistics.bbox.xmin", 170.0),
    ),
    "a page of nothing but NaN": (
        Column("c", "double", [1.0], optional=False),
        "PIX-057",
        Mutation("set", f"{CHUNK}.pages[0].body", NAN),
    ),
}


@each("name", SINGLE)
def test_what_only_some_columns_say_is_compared_as_well(name: str) -> None:
    column, rule, mutation = SINGLE[name]
    data = TinyParquet((column,), page_index=not column.layout or not column.layout.page_statistics).build()
    assert set() == rules_of(data)
    bounds = {"STA-040", "STA-041", "STA-042"}  # of the last one, whose only value is another one now
    assert {rule} == rules_of(mutate(data, mutation)) - bounds


def test_a_page_of_nothing_but_nan_may_be_bounded_by_infinities() -> None:
    data = TinyParquet((Column("c", "double", [1.0], optional=False),), page_index=True).build()
    data = mutate(data, Mutation("set", f"{CHUNK}.pages[0].body", NAN))
    for name, bound in (("min_values", float("-inf")), ("max_values", float("inf"))):
        data = mutate(data, Mutation("set", f"{CHUNK}.column_index.{name}[0]", struct.pack("<d", bound)))
    assert set() == rules_of(data)


@pytest.mark.parametrize(
    ("held", "rules"), [([0.0], {"BLM-021"}), ([-0.0, 0.0], set[str]()), ([1.0], {"BLM-021"})]
)
def test_a_bloom_filter_holds_both_zeros_where_one_is_stored(held: list[float], rules: set[str]) -> None:
    def bitset(numbers: list[float]) -> bytes:
        file = TinyParquet((Column("c", "double", numbers),), bloom_filters=("c",))
        return bytes(take_apart(file.build()).row_groups[0].columns[0].bloom_filter.bitset)  # type: ignore[union-attr]  # it was asked for

    data = TinyParquet((Column("c", "double", [-0.0]),), bloom_filters=("c",)).build()
    assert rules == rules_of(mutate(data, Mutation("set", f"{CHUNK}.bloom_filter.bitset", bitset(held))))


def test_a_finding_names_row_group_page_row_and_value() -> None:
    column = Column("c", ListOf("int32"), [[1], [], [2, None, 3], None, [4], [9]])
    data = TinyParquet((column,), page_rows=2, page_index=True).build()
    false = mutate(data, Mutation("set", f"{CHUNK}.column_index.max_values[2]", struct.pack("<i", 8)))
    (finding,) = judged(false, only=RULES).findings
    assert (
        "row 5 of row group 0 of column c.list.element, page 2, holds 9, but the page's upper bound is 8"
        == finding.message
    )
    (position,) = finding.at
    assert f"{CHUNK}.column_index.max_values[2]" == position.field
    assert ("at least 9", "8", 0) == (position.expected, position.actual, position.row_group)


# ------------------------------------------------------------------------------------------------------ decoding


TEXTS = Column("c", "string", ["a", "b", None, "c"], layout=Layout(dictionary=Encoding.RLE_DICTIONARY))


def with_an_entry_twice() -> bytes:
    """A file whose dictionary says a, a, c."""
    data = TinyParquet((TEXTS,)).build()
    entries = b"".join(len(text).to_bytes(4, "little") + text for text in (b"a", b"a", b"c"))
    return mutate(data, Mutation("set", f"{CHUNK}.pages[0].body", entries))


def test_a_dictionary_may_hold_an_entry_twice() -> None:
    """pyarrow drops the second one, and its indexes point to other values then."""
    data = with_an_entry_twice()
    assert ["a", "a", None, "c"] == pq.read_table(io.BytesIO(data)).column("c").to_pylist()
    assert set() == rules_of(data)
    assert {"STA-041"} == rules_of(mutate(data, Mutation("set", f"{FACTS}.statistics.max_value", b"b")))


TWO = TinyParquet((Column("bad", "string", ["abcd"]), Column("good", "int32", [5])), layout=EVERYTHING)


def test_a_chunk_that_cannot_be_decoded_hinders_no_other() -> None:
    body = bytes(TWO.build())
    page: Any = take_apart(body).row_groups[0].columns[0].pages[0]
    false = mutate(
        body,
        Mutation(
            "set", "footer.row_groups[0].columns[1].meta_data.statistics.max_value", struct.pack("<i", 4)
        ),
    )
    data = mutate(false, Mutation("set", f"{CHUNK}.pages[0].body", page.body[:-8] + b"\xff" * 8))
    report = pqassay.check(data, tier="values", only=RULES)
    [file] = report.files
    assert [("STA-041", "good")] == [(finding.rule, finding.column) for finding in file.findings]
    reasons = report.coverages[file.coverage].reasons
    assert "PQF-078 is broken" == reasons["STA-040"]
    assert (None, "nonconformant") == (file.error, file.outcome)


def with_an_empty_page_first(kind: AnyType, values: list[Any]) -> bytes:
    """A file whose first page holds nothing, behind which pyarrow looks for no other."""
    layout = replace(EVERYTHING, page_statistics=False)
    tree = take_apart(bytes(TinyParquet((Column("c", kind, values),), layout=layout).build()))
    pages = tree.row_groups[0].columns[0].pages
    empty: Any = deepcopy(pages[0])
    empty.header.data_page_header.num_values = 0
    empty.header.crc = None
    empty.body = bytes(8 if isinstance(kind, ListOf) else 4)  # the lengths of levels that are not there
    pages.insert(0, empty)
    return put_together(tree)


@pytest.mark.parametrize(
    ("kind", "values"), [("int32", [5, 9]), (ListOf("int32"), [[5], [9, None]])], ids=["flat", "lists"]
)
def test_values_that_the_decoder_leaves_out_are_neither_missed_nor_called_true(
    kind: AnyType, values: list[Any]
) -> None:
    data = with_an_empty_page_first(kind, values)
    assert 0 == pq.read_table(io.BytesIO(data)).num_rows

    report = pqassay.check(data, tier="values", only=("STA-04?", "PQF-062"))
    [file] = report.files
    assert ["PQF-062"] == [finding.rule for finding in file.findings]
    reasons = report.coverages[file.coverage].reasons
    for rule in ("STA-040", "STA-041", "STA-042"):
        assert reasons[rule].endswith("but pyarrow decodes 0"), rule


@pytest.mark.parametrize(
    ("orders", "rules"), [(True, {"STA-041"}), (False, set[str]())], ids=["with orders", "without"]
)
def test_bounds_without_an_order_are_not_compared(orders: bool, rules: set[str]) -> None:
    data = TinyParquet((Column("c", "int32", [5, 9]),)).build()
    data = mutate(data, Mutation("set", f"{FACTS}.statistics.max_value", struct.pack("<i", 8)))
    data = data if orders else mutate(data, Mutation("remove", "footer.column_orders"))
    report = pqassay.check(data, tier="values", only=("STA-04?",))
    [file] = report.files
    assert rules == {finding.rule for finding in file.findings}
    reason = None if orders else "the footer gives no order for column c"
    assert reason == report.coverages[file.coverage].reasons.get("STA-041")


def test_int96_timestamps_are_compared_as_they_are_stored() -> None:
    """Years that no timestamp of nanoseconds reaches."""
    days = [struct.pack("<qi", 0, day) for day in (1, 5_000_000)]
    column = Column("c", "int96", days, layout=Layout(order="timestamp", exact=True))
    data = TinyParquet((column,), page_index=True, bloom_filters=("c",)).build()
    assert set() == rules_of(data)
    false = struct.pack("<qi", -1, 5_000_000)
    assert {"STA-041"} == rules_of(mutate(data, Mutation("set", f"{FACTS}.statistics.max_value", false)))


@each("name", [name for name in TINY if name != "boolean"])
def test_a_row_group_without_rows_is_audited(name: str) -> None:
    column = Column("c", TINY[name][0], [])
    data = TinyParquet((column,), row_group_rows=[0], layout=EVERYTHING, bloom_filters=("c",)).build()
    assert set() == rules_of(data)
    false = mutate(data, Mutation("set", f"{FACTS}.statistics.distinct_count", 1))
    assert {"STA-045"} == rules_of(false)
