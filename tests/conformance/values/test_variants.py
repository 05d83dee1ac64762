"""Variants: their bytes, and their columns, read row by row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pqassay
from damage import tries, turns
from each import each
from pqassay_golden.parquet_file.variants import A7, AB, B8, EIGHT, NAMES, NULL, SHREDDED, TAGS
from pqassay_golden.tiny.parquet import VARIANT, Column, Encoding, Layout, ListOf, TinyParquet
from pqassay_spec.base.errors import Malformed
from pqassay_spec.parquet.encoding import variant
from pqassay_spec.parquet.encoding.variant import read_value
from steps import calls_of

RULES = ("PQF-17[3-9]", "PQF-180")

# ------------------------------------------------------------------------------------------------------- bytes


def number(value: int, width: int) -> bytes:
    return value.to_bytes(8, "little")[:width]


def offsets(parts: Sequence[bytes], width: int) -> bytes:
    return b"".join(number(sum(map(len, parts[:place])), width) for place in range(len(parts) + 1))


@st.composite
def scalars(draw: st.DrawFn) -> bytes:
    if draw(st.booleans()):
        text = draw(st.one_of(st.binary(max_size=3), st.text(max_size=5).map(str.encode)))
        return bytes([len(text) << 2 | 1]) + text
    kind = draw(st.integers(0, 22))
    size = variant.SIZES[kind] if kind < len(variant.SIZES) else 2
    if size is None:
        raw = draw(st.binary(max_size=4))
        return bytes([kind << 2]) + number(len(raw), 4) + raw
    return bytes([kind << 2]) + draw(st.binary(min_size=size, max_size=size))


@st.composite
def containers(draw: st.DrawFn, inner: st.SearchStrategy[bytes]) -> bytes:
    parts = draw(st.lists(inner, max_size=4))
    width, id_width, large = draw(st.integers(1, 4)), draw(st.integers(1, 4)), draw(st.booleans())
    count = number(len(parts), 4 if large else 1)
    if draw(st.booleans()):
        return bytes([(large << 2 | width - 1) << 2 | 3]) + count + offsets(parts, width) + b"".join(parts)
    ids = list(range(len(parts))) if draw(st.booleans()) else [draw(st.integers(0, 4)) for _ in parts]
    first = bytes([(large << 4 | id_width - 1 << 2 | width - 1) << 2 | 2])
    return (
        first
        + count
        + b"".join(number(each, id_width) for each in ids)
        + offsets(parts, width)
        + b"".join(parts)
    )


@st.composite
def dictionaries(draw: st.DrawFn) -> bytes:
    names = draw(
        st.lists(st.one_of(st.binary(max_size=2), st.sampled_from([b"a", b"b", b"c", b"d"])), max_size=6)
    )
    names = sorted(set(names)) if draw(st.booleans()) else names
    width = draw(st.integers(1, 4))
    header = bytes([1 | draw(st.booleans()) << 4 | width - 1 << 6])
    return header + number(len(names), width) + offsets(names, width) + b"".join(names)


@st.composite
def damaged(draw: st.DrawFn, sound: st.SearchStrategy[bytes]) -> bytes:
    raw = bytearray(draw(sound))
    for _ in range(draw(st.integers(0, 2)) if raw else 0):
        raw[draw(st.integers(0, len(raw) - 1))] = draw(st.integers(0, 255))
    return bytes(
        raw[: draw(st.integers(0, len(raw)))] if draw(st.integers(0, 3)) == 0 else raw
    ) + b"x" * draw(st.sampled_from([0, 0, 0, 1]))


VALUES = st.recursive(scalars(), containers, max_leaves=8)
ANY_VALUES = st.one_of(st.binary(max_size=12), VALUES, damaged(VALUES))
ANY_NAMES = st.one_of(st.binary(max_size=8), dictionaries(), damaged(dictionaries()))


@each(
    ("raw", "why"),
    [
        ("", "a value has no first byte"),
        ("0c", "a value of 2 bytes is cut off after 1"),
        ("0c0700", "1 bytes follow it"),
        ("05ff", "a text is not UTF-8"),
        ("40 01000000 ff", "a text is not UTF-8"),
        ("20 27 00000000", "a decimal has a scale of 39"),
        ("03 02 00 02 01 0c07", "the offsets of an object or array lead beyond its values"),
        ("03 02 00 01 03 0c070c", "a value of 2 bytes is cut off after 1"),
        ("02 02 00 01 00 00 02 0c07", "values of an object or array overlap"),
        ("03 ff 00", "the ids and offsets of 255 values are cut off"),
    ],
)
def test_a_value_that_cannot_be_read_says_why(raw: str, why: str) -> None:
    with pytest.raises(Malformed) as error:
        read_value(bytes.fromhex(raw))
    assert error.value.reason == why


# ------------------------------------------------------------------------------------------------------- files


@pytest.mark.parametrize(
    "inner",
    [
        bytes([3 | 6 << 2]) + (3000).to_bytes(4, "little") + bytes(3001 * 3 + 3000),
        bytes([64]) + (50000).to_bytes(4, "little") + b"a" * 50000,
    ],
)
def test_values_that_share_bytes_make_no_more_work_than_they_have_bytes(inner: bytes) -> None:
    ids = b"".join(number(place, 3) for place in range(3000))
    head = bytes([2 | (2 | 2 << 2 | 1 << 4) << 2]) + number(3000, 4)
    raw = head + ids + bytes(3000 * 3) + number(len(inner), 3) + inner

    def refused() -> None:
        with pytest.raises(Malformed):
            read_value(raw)

    assert 1_000 > calls_of(refused)


def rules_of(data: bytes) -> list[str]:
    (report,) = pqassay.check(data, tier="values", only=RULES).files
    assert report.error is None
    return [finding.rule for finding in report.findings]


def row(value: bytes | None, typed: Any = None, metadata: bytes = NAMES) -> dict[str, Any]:
    return {"metadata": metadata, "value": value, "typed_value": typed}


def field(value: bytes | None = None, typed: int | None = None) -> dict[str, Any]:
    return {"a": {"value": value, "typed_value": typed}}


LAYOUTS = {
    "one page": Layout(),
    "pages": Layout(page_rows=2),
    "version 2": Layout(page_rows=2, version=2),
    "dictionary": Layout(page_rows=2, dictionary=Encoding.RLE_DICTIONARY),
}


@each(
    ("last", "expected", "layout"),
    turns(
        [
            (row(AB), []),
            (row(AB, metadata=NAMES[:-1]), ["PQF-176"]),
            (row(AB, metadata=b"\x12" + NAMES[1:]), ["PQF-176"]),
            (row(AB[:-1]), ["PQF-177"]),
            (row(AB, metadata=bytes.fromhex("01 01 00 01 61")), ["PQF-178"]),
            (row(AB, metadata=bytes.fromhex("01 02 00 01 02 62 61")), ["PQF-178"]),
            (row(AB, metadata=bytes.fromhex("01 02 00 01 02 61 61")), ["PQF-178"]),
            (row(NULL, metadata=bytes.fromhex("11 02 00 01 02 61 61")), ["PQF-178"]),
        ],
        [(layout,) for layout in LAYOUTS.values()],
    ),
)
def test_the_last_variant_of_a_column_is_looked_at(
    last: dict[str, Any], expected: list[str], layout: Layout
) -> None:
    rows = [row(EIGHT), None, row(B8), row(AB), last]
    flat = TinyParquet([Column("v", VARIANT, rows)], layout=layout, statistics=False)
    assert expected == rules_of(flat.build())
    listed = TinyParquet(
        [Column("v", ListOf(VARIANT), [rows[:2], [], None, rows])], layout=layout, statistics=False
    )
    assert expected == rules_of(listed.build())


@each(
    ("last", "expected"),
    [
        (row(None, field(typed=1)), []),
        (row(B8, field(NULL)), []),
        (row(None, field()), []),
        (row(EIGHT), []),
        (row(AB), ["PQF-179"]),
        (row(A7, field(typed=7)), ["PQF-179"]),
        (row(A7, field()), ["PQF-179"]),
        (row(EIGHT, field()), ["PQF-179"]),
        (row(None, field(EIGHT, 8)), ["PQF-179"]),
        (row(None, field(AB[:-1])), ["PQF-177"]),
        (row(None), ["PQF-180"]),
        (row(None, field(typed=7), bytes.fromhex("01 01 00 01 62")), ["PQF-178"]),
        (row(None, field(NULL), bytes.fromhex("01 00 00")), ["PQF-178"]),
        (row(None, field(), bytes.fromhex("01 00 00")), []),
    ],
)
def test_shredded_objects_are_in_one_column_or_in_two_parts(
    last: dict[str, Any], expected: list[str]
) -> None:
    rows = [row(B8, field(typed=7)), None, row(EIGHT), last]
    file = TinyParquet([Column("v", SHREDDED, rows)], layout=Layout(page_rows=3), statistics=False)
    assert expected == rules_of(file.build())


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        (row(None, []), []),
        (row(None, [field(EIGHT)["a"]]), []),
        (row(None, [field()["a"]]), ["PQF-180"]),
        (row(None, [{"value": NULL, "typed_value": b"x"}]), ["PQF-179"]),
        (row(b"\x03\0\0"), ["PQF-179"]),
        (row(EIGHT, []), ["PQF-179"]),
        (row(None, [{"value": b"\0\0", "typed_value": None}]), ["PQF-177"]),
    ],
)
def test_shredded_lists_have_elements_that_are_there(last: dict[str, Any], expected: list[str]) -> None:
    rows = [row(None, [{"value": None, "typed_value": b"y"}]), None, row(AB), last]
    file = TinyParquet([Column("v", TAGS, rows)], layout=Layout(page_rows=3), statistics=False)
    assert expected == rules_of(file.build())


def test_a_type_of_a_later_version_is_not_checked() -> None:
    data = TinyParquet([Column("v", VARIANT, [row(b"\xfc\0\0")])], statistics=False).build()
    report = pqassay.check(data, tier="values", only=RULES)
    assert [] == report.files[0].findings
    assert "does not know" in report.coverages[report.files[0].coverage].reasons["PQF-177"]


@tries(60)
@given(st.lists(st.tuples(ANY_VALUES, ANY_NAMES), min_size=1, max_size=5))
def test_no_bytes_keep_a_file_from_being_judged(pairs: list[tuple[bytes, bytes]]) -> None:
    rows = [row(value, field(EIGHT), names) for value, names in pairs]
    rules_of(TinyParquet([Column("v", SHREDDED, rows)], statistics=False).build())
