"""Statistics in page headers, held against the values of each page."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import Any

import pytest

import pqassay
from each import each
from pqassay_golden.tiny.columns import AnyType, decimal, fixed
from pqassay_golden.tiny.parquet import Column, Encoding, Layout, ListOf, TinyParquet
from pqassay_spec.mutation.mutations import Mutation, mutate
from pqassay_spec.parquet.thrift import Type

NAN = float("nan")
SAYING = Layout(
    page_statistics=True, exact=True, distinct_count=True, nan_count=True, deprecated=True, page_rows=3
)
OF_BYTES = replace(SAYING, deprecated=False)
RULES = ("STA-05?", "PIX-060")


def written(kind: AnyType, values: list[Any], layout: Layout = SAYING) -> bytes:
    return TinyParquet((Column("c", kind, values),), layout=layout).build()


def header(name: str, page: int = 0, version: int = 1, dictionary: bool = False) -> str:
    """The path of a field of the statistics of a data page."""
    own = "data_page_header" if version == 1 else "data_page_header_v2"
    return f"row_groups[0].columns[0].pages[{page + dictionary}].header.{own}.statistics.{name}"


def rules_of(data: bytes) -> set[str]:
    (file,) = pqassay.check(data, tier="values", only=RULES).files
    assert file.error is None
    return {finding.rule for finding in file.findings}


GOOD: dict[str, bytes] = {
    "numbers": written("int64", [5, 5, None, -7, 8, 9]),
    "floats": written("double", [NAN, 0.0, -0.0, NAN, 1.0, None]),
    "halves": written("float16", [1.0, 1.0, None, 3.0], OF_BYTES),
    "flags": written("boolean", [True, False, None, True, True, True]),
    "text": written("string", ["tin", "", None, "zinc", "zinc", "lead"], OF_BYTES),
    "a dictionary": written("string", ["tin", "", None, "zinc", "zinc", "lead"], replace(OF_BYTES, dictionary=Encoding.RLE_DICTIONARY)),
    "fixed bytes": written(fixed(3), [b"abc", b"abd", b"abc", b"xyz"], OF_BYTES),
    "decimals": written(decimal(20, 2), [5, -5, None, 700, 700], OF_BYTES),
    "lists": written(ListOf("int32"), [[1, 1, None], [], None, [2]]),
    "nulls": written("int32", [None] * 4),
    "version 2": written("int32", [1, 2, 3, 4], replace(SAYING, version=2)),
}  # fmt: skip


@each("name", GOOD)
def test_what_is_true_breaks_no_rule(name: str) -> None:
    assert set() == rules_of(GOOD[name])


@each(
    ("name", "field", "page", "to", "rules"),
    [
        ("numbers", "max", 1, struct.pack("<q", 8), {"STA-052"}),
        ("numbers", "min", 1, struct.pack("<q", -6), {"STA-052"}),
        ("numbers", "max", 1, struct.pack("<q", 99), set()),
        ("text", "max", 1, b"tin", {"STA-052"}),
        # By signed bytes, what is beyond ASCII is less than all ASCII.
        ("text", "min", 1, "é".encode(), set()),
        ("text", "max", 1, "é".encode(), set()),
        ("text", "min", 1, b"m", {"STA-052"}),
        ("numbers", "distinct_count", 0, 2, set()),
        ("numbers", "distinct_count", 0, 3, {"STA-054"}),
        ("numbers", "distinct_count", 0, 0, {"STA-054"}),
        ("numbers", "distinct_count", 1, 4, {"STA-053"}),
        ("flags", "distinct_count", 1, 2, {"STA-054"}),
        ("text", "distinct_count", 1, 3, {"STA-054"}),
        ("fixed bytes", "distinct_count", 0, 3, {"STA-054"}),
        ("floats", "distinct_count", 0, 1, set()),
        ("floats", "distinct_count", 0, 3, set()),
        ("floats", "nan_count", 0, 0, {"STA-056"}),
        ("floats", "nan_count", 1, 3, {"STA-053"}),
        ("numbers", "nan_count", 0, 0, {"STA-053"}),
        ("numbers", "max_value", 1, struct.pack("<q", 11), {"STA-057"}),
        ("floats", "min_value", 0, struct.pack("<d", -1.0), {"STA-057"}),
        ("text", "max_value", 1, b"zinc!", {"STA-057"}),
    ],
)
def test_a_falsehood_is_found_by_its_rule(
    name: str, field: str, page: int, to: object, rules: set[str]
) -> None:
    assert rules == rules_of(mutate(GOOD[name], Mutation("set", header(field, page), to)))


def test_bounds_that_say_the_same_twice_are_found_for_both() -> None:
    data = GOOD["version 2"]
    for name in ("max", "max_value"):
        data = mutate(data, Mutation("set", header(name, version=2), struct.pack("<i", 2)))

    assert {"STA-050", "STA-052"} == rules_of(data)


def test_a_dictionary_counts_what_it_holds_twice_once() -> None:
    data = GOOD["a dictionary"]
    assert {"STA-054"} == rules_of(
        mutate(data, Mutation("set", header("distinct_count", 1, dictionary=True), 3))
    )


@pytest.mark.parametrize(
    ("kind", "values", "bound"),
    [
        ("int32", [1, 2, 3, 4], struct.pack("<i", 2)),
        ("uint32", [1, 1 << 31, 3, 4], struct.pack("<I", 7)),
        ("string", ["a", "b", "é", "c"], b"z"),
    ],
)
def test_bounds_without_an_order_are_compared_by_the_type(
    kind: AnyType, values: list[Any], bound: bytes
) -> None:
    layout = Layout(page_statistics=True, page_rows=3)
    data = TinyParquet((Column("c", kind, values),), page_index=True, layout=layout).build()
    data = mutate(data, Mutation("remove", "footer.column_orders"))
    listed = "row_groups[0].columns[0].column_index.max_values[0]"

    assert set() == rules_of(data)
    assert {"STA-055"} == rules_of(mutate(data, Mutation("set", header("max_value"), bound)))
    assert {"PIX-060"} == rules_of(mutate(data, Mutation("set", listed, bound)))


def test_what_has_no_order_of_its_type_is_left_alone() -> None:
    data = TinyParquet((Column("c", "int96", [0, 5], layout=Layout(order="timestamp")),), page_index=True)
    bare = mutate(data.build(), Mutation("remove", "footer.column_orders"))

    assert set() == rules_of(bare)


def test_deprecated_bounds_of_unsigned_numbers_are_true_by_sign_or_as_unsigned() -> None:
    data = written("uint32", [1, 1 << 31])
    assert set() == rules_of(data)
    assert {"STA-052"} == rules_of(mutate(data, Mutation("set", header("min"), struct.pack("<I", 2))))


@pytest.mark.parametrize(
    ("low", "high", "rules"),
    [
        (b"\x7f", b"\0\x80", set[str]()),  # as numbers
        (b"\0\x80", b"\x7f", set[str]()),  # as signed bytes
        (b"\2", b"\1", {"STA-030"}),
        (b"\x01", b"\xff", {"STA-030"}),
    ],
)
def test_deprecated_bounds_of_decimals_are_in_order_as_numbers_or_as_signed_bytes(
    low: bytes, high: bytes, rules: set[str]
) -> None:
    values = [b"\0\x80", b"\x7f"]
    layout = Layout(page_statistics=True, deprecated=True, bounds=False)
    data = written(decimal(9, 0, Type.BYTE_ARRAY), values, layout)
    data = mutate(data, Mutation("set", header("min"), low))
    data = mutate(data, Mutation("set", header("max"), high))
    (file,) = pqassay.check(data, only=["STA-030"]).files

    assert rules == {finding.rule for finding in file.findings}
