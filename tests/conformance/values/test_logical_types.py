"""Values are what the logical type of their column allows: its least and greatest are, and those next to them are not."""

from __future__ import annotations

import json
import random
import struct
from itertools import product
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pqassay
from damage import tries, turns
from each import each
from pqassay.report.model import FileReport
from pqassay.values.claims import texts
from pqassay_golden.tiny.columns import AnyType, Scalar, decimal, meaning
from pqassay_golden.tiny.parquet import Column, Encoding, Layout, ListOf, TinyParquet
from pqassay_spec.parquet.thrift import ConvertedType, Type

RULES = ("PQF-09[6-9]", "PQF-10[0-5]")

DAY = 86_400_000


def judged(data: bytes, only: tuple[str, ...] = RULES) -> FileReport:
    (report,) = pqassay.check(data, tier="values", only=only).files
    assert report.error is None
    return report


def not_checked(data: bytes) -> dict[str, str]:
    """Why rules could not be tested on a file in which none is broken."""
    report = pqassay.check(data, tier="values", only=RULES)
    assert [] == report.files[0].findings
    reasons = report.coverages[report.files[0].coverage].reasons
    return {rule: reason for rule, reason in reasons.items() if not reason.startswith("left out by")}


def rules_of(data: bytes, only: tuple[str, ...] = RULES) -> list[str]:
    return [finding.rule for finding in judged(data, only).findings]


def i32(value: int) -> bytes:
    return struct.pack("<i", value)


def i64(value: int) -> bytes:
    return struct.pack("<q", value)


def big(width: int, value: int) -> bytes:
    return value.to_bytes(width, "big", signed=True)


class Edge(NamedTuple):
    """A type, the least and greatest values that it allows, values beyond them, and the rule that these break."""

    kind: AnyType
    inside: list[bytes]
    outside: list[bytes]
    rule: str


OLD = {
    name: Scalar(Type.INT32 if "32" not in name else Type.INT64, None, kind)
    for name, kind in (
        ("INT_8", ConvertedType.INT_8),
        ("UINT_16", ConvertedType.UINT_16),
        ("DATE", ConvertedType.DATE),
        ("TIME_MILLIS", ConvertedType.TIME_MILLIS),
    )
}

EDGES = {
    "8 bits": Edge("int8", [i32(-128), i32(127)], [i32(-129), i32(128), i32(174)], "PQF-096"),
    "16 bits": Edge("int16", [i32(-32768), i32(32767)], [i32(-32769), i32(40000)], "PQF-096"),
    "8 unsigned bits": Edge("uint8", [i32(0), i32(255)], [i32(256), i32(-1)], "PQF-096"),
    "16 unsigned bits": Edge("uint16", [i32(0), i32(65535)], [i32(65536), i32(-1)], "PQF-096"),
    "8 bits of old": Edge(OLD["INT_8"], [i32(-128), i32(127)], [i32(-129), i32(128)], "PQF-096"),
    "16 bits of old": Edge(OLD["UINT_16"], [i32(0), i32(65535)], [i32(65536), i32(-1)], "PQF-096"),
    "9 digits": Edge(decimal(9, 2, Type.INT32), [i32(-999999999), i32(999999999)], [i32(10**9), i32(-(10**9))], "PQF-097"),
    "18 digits": Edge(decimal(18, 2), [i64(1 - 10**18), i64(10**18 - 1)], [i64(10**18), i64(-(10**18))], "PQF-097"),
    "digits in fixed bytes": Edge(decimal(38, 2, Type.FIXED_LEN_BYTE_ARRAY, 16), [big(16, 1 - 10**38), big(16, 10**38 - 1)], [big(16, 10**38), big(16, -(10**38))], "PQF-097"),
    "digits in bytes": Edge(decimal(4, 2, Type.BYTE_ARRAY), [big(2, -9999), big(9, 9999), b"\0"], [big(2, 10000), big(40, -10000)], "PQF-097"),
    "milliseconds": Edge("time_millis", [i32(0), i32(DAY - 1)], [i32(-1), i32(DAY + 1)], "PQF-098"),
    "milliseconds of old": Edge(OLD["TIME_MILLIS"], [i32(0), i32(DAY - 1)], [i32(-1), i32(DAY + 1)], "PQF-098"),
    "microseconds": Edge("time_micros", [i64(0), i64(DAY * 1000 - 1)], [i64(-1), i64(DAY * 1000 + 1)], "PQF-098"),
    "nanoseconds": Edge("time_nanos", [i64(0), i64(DAY * 10**6 - 1)], [i64(-1), i64(DAY * 10**6 + 1)], "PQF-098"),
    "midnight": Edge("time_millis", [i32(DAY - 1)], [i32(DAY)], "PQF-099"),
    "days": Edge("date", [i32(-719162), i32(2932896)], [i32(-719163), i32(2932897)], "PQF-100"),
    "days of old": Edge(OLD["DATE"], [i32(-719162), i32(2932896)], [i32(-719163), i32(2932897)], "PQF-100"),
    "moments": Edge("timestamp_micros", [i64(-62135596800000000), i64(253402300799999999)], [i64(-62135596800000001), i64(253402300800000000)], "PQF-100"),
    "text": Edge("string", [b"", "é𐍈".encode(), b"a\0"], [b"\xff", b"a\xc3", b"\xa9", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80"], "PQF-101"),
    "enumerated": Edge("enum", [b"ZINC"], [b"ZIN\xc7"], "PQF-101"),
    "JSON": Edge("json", [b'{"a": [1, -2.5e3]}', b" null\n", b"7", b'"\\ud800"'], [b"", b"{'a': 1}", b"[1,]", b"1 2", b'"\n"', b"01", b"+1", b"tru", b"\xef\xbb\xbf1", b'"\\x"', b"1],[1"], "PQF-102"),
    "strict JSON": Edge("json", [b"1e999"], [b"[NaN]", b"-Infinity"], "PQF-103"),
    "BSON": Edge("bson", [b"\5\0\0\0\0"], [b"", b"\4\0\0\0", b"\6\0\0\0\0", b"\5\0\0\0\1"], "PQF-104"),
}  # fmt: skip

LAYOUTS = {"plain": Layout(), "dictionary": Layout(dictionary=Encoding.RLE_DICTIONARY)}


def one_column(kind: AnyType, values: list[Any], layout: Layout, *, statistics: bool = False) -> bytes:
    columns = (Column("number", "int32", list(range(len(values)))), Column("x", kind, values))
    return TinyParquet(columns, page_rows=2, layout=layout, statistics=statistics).build()


@each(
    ("edge", "layout", "statistics"),
    turns([(edge,) for edge in EDGES.values()], list(product(LAYOUTS.values(), [False, True]))),
)
def test_values_at_the_edge_are_right_and_those_beyond_it_are_found(
    edge: Edge, layout: Layout, statistics: bool
) -> None:
    right = one_column(edge.kind, [None, *edge.inside, edge.inside[0]], layout, statistics=statistics)
    assert [] == rules_of(right)
    for wrong in edge.outside:
        values = [edge.inside[0], None, edge.inside[-1], wrong, wrong, edge.inside[0]]
        (finding,) = judged(one_column(edge.kind, values, layout, statistics=statistics)).findings
        assert edge.rule == finding.rule
        assert finding.message.startswith("row 3 of row group 0 of column x, page 1, holds ")
        annotation = "logicalType" if getattr(edge.kind, "logical", edge) is not None else "converted_type"
        assert f"footer.schema[2].{annotation}" == finding.at[0].field
        assert finding.at[0].offset > 0


def test_values_of_lists_are_looked_at() -> None:
    columns = (Column("x", ListOf("int8"), [[1, None], [], None, [7, i32(300)]]),)
    (finding,) = judged(TinyParquet(columns).build()).findings
    assert "row 3 of row group 0 of column x.list.element, page 0, holds 300" in finding.message


def test_both_sides_are_one_finding() -> None:
    data = one_column("int8", [i32(200), i32(-200), i32(1), i32(300)], Layout())
    (finding,) = judged(data).findings
    assert finding.message.startswith("row 0 of")
    assert "(2 more values like it)" in finding.message


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=list(LAYOUTS))
def test_a_column_of_unknown_type_holds_nulls(layout: Layout) -> None:
    assert [] == rules_of(one_column("unknown", [None, None], layout))
    assert ["PQF-105"] == rules_of(one_column("unknown", [None, 5], layout))


def test_precision_that_the_type_cannot_exceed_is_no_matter_of_values() -> None:
    for kind, value in (
        (decimal(10, 2, Type.INT32), i32(-(1 << 31))),
        (decimal(1 << 30, 2, Type.INT64), i64(-(1 << 63))),
        (decimal(1 << 30, 2, Type.BYTE_ARRAY), b"\x7f" * 300),
    ):
        assert [] == rules_of(one_column(kind, [value], Layout()))
    too_long = one_column(decimal(4, 2, Type.BYTE_ARRAY), [bytes(300)], Layout())
    assert {"PQF-097": "decimals of 300 bytes are not compared"} == not_checked(too_long)


def test_types_that_hold_no_more_than_is_allowed_are_not_spoken_of() -> None:
    wide: list[AnyType] = [
        Scalar(Type.INT32, meaning("INTEGER", bitWidth=32, isSigned=False)),
        "uint64",
        "int32",
    ]
    kinds: list[AnyType] = [*wide, "timestamp_nanos", "uuid", "interval", "binary"]
    for kind in kinds:
        value = bytes(16) if kind == "uuid" else b"\xff" * 12 if kind == "interval" else b"\xff" * 4
        value = b"\xff" * 8 if kind in ("uint64", "timestamp_nanos") else value
        report = pqassay.check(one_column(kind, [value], Layout()), tier="values", only=RULES)
        (file,) = report.files
        assert ([], []) == (file.findings, report.coverages[file.coverage].checked)


def test_an_entry_of_a_dictionary_that_no_value_refers_to_is_none() -> None:
    pool = pa.array([b"ok", b"\xff", b"{"])
    for wrong in (texts.no_utf8, texts.no_bson):
        assert wrong(pool) is not None
    values = pa.DictionaryArray.from_arrays(pa.array([0, 0], pa.int32()), pool)
    assert texts.wrong_values(_Decoded(values), texts.no_utf8) is None  # type: ignore[arg-type]
    values = pa.DictionaryArray.from_arrays(pa.array([0, 1, 1], pa.int32()), pool)
    assert texts.wrong_values(_Decoded(values), texts.no_utf8) == (1, 2)  # type: ignore[arg-type]


class _Chunk(NamedTuple):
    row_group: int = 0
    column: str = "x"


class _Decoded(NamedTuple):
    """As much of decoded values as texts need."""

    values: Any
    chunk: _Chunk = _Chunk()


def is_text(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


ODD = st.sampled_from([b"a", b"\xc3", b"\xa9", b"\xe0\xa0", b"\xed", b"\x9f", b"\xf0\x90", b"\x80", "é𐍈".encode(), b""])  # fmt: skip


@tries(200)
@given(
    st.lists(st.lists(ODD, max_size=4).map(b"".join) | st.binary(max_size=5), max_size=12), st.integers(0, 3)
)
def test_utf8_is_what_python_takes_for_it(raws: list[bytes], skipped: int) -> None:
    array = pa.array(raws, pa.binary()).slice(skipped)
    found = texts.no_utf8(array)
    expected = [not is_text(raw) for raw in raws[skipped:]]
    assert expected == ([False] * len(array) if found is None else found.tolist())
    assert any(expected) == (found is not None)


def test_many_values_are_looked_at_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "AT_ONCE", 3)
    raws = [b"a", "é".encode(), b"b", b"\xc3", b"\xa9", b"c", b"d", b"e\xff"]
    found = texts.no_utf8(pa.array(raws, pa.binary()))
    assert found is not None
    assert [not is_text(raw) for raw in raws] == found.tolist()


def json_value(raw: bytes) -> bool:
    try:
        json.loads(raw.decode(), parse_constant=lambda _: None)
    except ValueError:
        return False
    return True


PIECES = st.sampled_from(["[", "]", "{", "}", ",", ":", '"', "1", '"a"', " ", "null", "\\", "NaN"])


@tries(300)
@given(st.lists(st.lists(PIECES, max_size=5).map("".join), min_size=1, max_size=6))
def test_json_is_what_python_takes_for_it_each_by_itself(values: list[str]) -> None:
    raws = [value.encode() for value in values]
    for array in (pa.array(raws, pa.binary()), pa.array(raws, pa.binary()).dictionary_encode()):
        faults = texts.json_faults(_Decoded(array))  # type: ignore[arg-type]
        assert next((n for n, raw in enumerate(raws) if not json_value(raw)), None) == faults.broken


def test_an_entry_that_is_no_json_is_none_unless_a_value_refers_to_it() -> None:
    pool = pa.array([b"[", b"1", b"NaN", b"{"])
    for indices, broken, lenient in (([1, 1], None, None), ([1, 3, 3], 1, None), ([1, 2, 3], 2, 1)):
        values = pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), pool)
        faults = texts.json_faults(_Decoded(values))  # type: ignore[arg-type]
        assert (broken, lenient) == (faults.broken, faults.lenient)


def test_json_beyond_a_limit_is_not_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "MOST_JSON", 40)
    monkeypatch.setattr(texts, "WIDEST_JSON", 20)
    short, long = [b"[1, 2]"] * 9, [b"[1, 2]", b"[" + b" " * 30 + b"]"]
    for values, words in ((short, "holds more JSON than the"), (long, "holds a JSON value of 32 bytes")):
        reasons = not_checked(one_column("json", values, Layout()))
        assert {"PQF-102", "PQF-103"} == set(reasons)
        assert words in reasons["PQF-102"]
    assert ["PQF-102"] == rules_of(one_column("json", [b"{", *short], Layout()))


def test_json_nested_too_deeply_is_not_checked() -> None:
    reasons = not_checked(one_column("json", [b"[" * 100_000 + b"]" * 100_000], Layout()))
    assert "nested more deeply" in reasons["PQF-102"]


def test_long_integers_of_json_are_read() -> None:
    assert [] == rules_of(one_column("json", [b"1" * 20_000], Layout()))


def test_json_that_is_no_text_is_left_to_that_rule() -> None:
    report = pqassay.check(one_column("json", [b"[1", b"\xff"], Layout()), tier="values", only=RULES)
    (file,) = report.files
    assert ["PQF-101"] == [finding.rule for finding in file.findings]
    assert "not all values are UTF-8" == report.coverages[file.coverage].reasons["PQF-102"]


@pytest.mark.parametrize(
    ("value", "is_read"), [(b"{}", True), (b"", False), (b"{'a': 1}", False), (b"1 2", False), (b"NaN", True)]
)
def test_duckdb_refuses_what_is_no_json(tmp_path: Any, value: bytes, is_read: bool) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(one_column("json", [value], Layout()))
    read = duckdb.connect().read_parquet(str(path)).project("x").fetchall
    if is_read:
        assert [(value.decode(),)] == read()
    else:
        with pytest.raises(duckdb.InvalidInputException, match="Malformed JSON"):
            read()


def test_many_random_texts_have_the_same_first_fault() -> None:
    chance = random.Random(7)
    good = [json.dumps({"a": chance.random(), "b": "é" * chance.randrange(9)}).encode() for _ in range(5_000)]
    for place in (0, 1, 2_500, 4_999):
        raws = [*good[:place], b"[1", *good[place + 1 :]]
        faults = texts.json_faults(_Decoded(pa.array(raws, pa.binary())))  # type: ignore[arg-type]
        assert (place, None) == (faults.broken, faults.lenient)
