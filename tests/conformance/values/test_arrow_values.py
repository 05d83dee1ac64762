"""The schema that Arrow keeps against the values, and against a second copy of it."""

from __future__ import annotations

import base64
import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pqassay
from each import each
from idx1_files import edited
from pqassay_spec.parquet.thrift import FileMetaData, KeyValue

RULES = ("PQF-11[1-4]", "PQF-185", "PQF-186")

ARROW, GEO = "ARROW:schema", "geo"


def schema(*fields: Any) -> str:
    return base64.b64encode(pa.schema(fields).serialize().to_pybytes()).decode()


def rules_of(table: Any, *pairs: tuple[str, str], **options: Any) -> list[str]:
    """The rules about copies that are broken in a table with these keys."""
    out = io.BytesIO()
    pq.write_table(table, out, store_schema=False, **options)

    def change(footer: FileMetaData) -> None:
        footer.key_value_metadata = [KeyValue(key=key, value=value) for key, value in pairs]

    (report,) = pqassay.check(edited(out.getvalue(), change), tier="values", only=RULES).files
    assert report.error is None
    return [finding.rule for finding in report.findings]


def texts(distinct: int) -> Any:
    return pa.table({"s": [f"v{number % distinct}" for number in range(distinct + 100)]})


@pytest.mark.parametrize(
    ("index", "distinct", "expected", "use_dictionary"),
    [
        (pa.int8(), 128, [], True),
        (pa.int8(), 129, ["PQF-185"], True),
        (pa.uint8(), 256, [], False),
        (pa.uint8(), 257, ["PQF-185"], False),
        (pa.int16(), 300, [], True),
    ],
)
def test_distinct_values_are_no_more_than_indexes_tell_apart(
    index: Any, distinct: int, expected: list[str], use_dictionary: bool
) -> None:
    copy = schema(pa.field("s", pa.dictionary(index, pa.string())))
    assert expected == rules_of(texts(distinct), (ARROW, copy), use_dictionary=use_dictionary)


def test_distinct_values_are_counted_by_row_group() -> None:
    copy = schema(pa.field("s", pa.dictionary(pa.int8(), pa.string())))
    assert [] == rules_of(texts(200), (ARROW, copy), row_group_size=100)


def test_numbers_are_read_without_a_dictionary() -> None:
    copy = schema(pa.field("n", pa.dictionary(pa.int8(), pa.int64())))
    assert [] == rules_of(pa.table({"n": list(range(200))}), (ARROW, copy))


PAIRS = pa.list_(pa.field("element", pa.int64()), 2)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([[1, 2], None, [3, None]], []),
        ([[1, 2], [3]], ["PQF-185"]),
        ([[1, 2], []], ["PQF-185"]),
        ([[1, 2, 3]], ["PQF-185"]),
        ([], []),
    ],
)
def test_lists_of_one_length_have_it(rows: list[Any], expected: list[str]) -> None:
    lists = pa.array(rows, pa.list_(pa.int64()))
    assert expected == rules_of(pa.table({"l": lists}), (ARROW, schema(pa.field("l", PAIRS))))
    inner = pa.array([[], None, rows], pa.list_(pa.list_(pa.int64())))
    copy = schema(pa.field("l", pa.list_(pa.field("element", PAIRS))))
    assert expected == rules_of(pa.table({"l": inner}), (ARROW, copy))


def extension(name: str, storage: Any) -> Any:
    return pa.field("x", storage, metadata={"ARROW:extension:name": name})


@each(
    ("name", "storage", "column", "expected"),
    [
        ("arrow.uuid", pa.binary(16), pa.array([bytes(16)], pa.binary(16)), []),
        ("arrow.uuid", pa.binary(15), pa.array([bytes(15)], pa.binary(15)), ["PQF-113"]),
        ("arrow.uuid", pa.int64(), pa.array([1]), ["PQF-113"]),
        ("arrow.json", pa.string(), pa.array(["1"]), []),
        ("arrow.json", pa.int64(), pa.array([1]), ["PQF-113"]),
        ("arrow.bool8", pa.int8(), pa.array([1], pa.int8()), []),
        ("arrow.bool8", pa.int64(), pa.array([1]), ["PQF-113"]),
        ("arrow.fixed_shape_tensor", pa.int64(), pa.array([1]), ["PQF-113"]),
        ("somebody.else", pa.int64(), pa.array([1]), []),
    ],
)
def test_extension_types_are_over_their_storage(
    name: str, storage: Any, column: Any, expected: list[str]
) -> None:
    assert expected == rules_of(pa.table({"x": column}), (ARROW, schema(extension(name, storage))))


NUMBERS = pa.table({"i": [1, 2], "s": ["a", "b"], "l": [[1], [2]]})
ITEMS = pa.field("element", pa.int64())
FIRST = schema(pa.field("i", pa.int64()), pa.field("s", pa.string()), pa.field("l", pa.list_(ITEMS)))


@pytest.mark.parametrize(
    ("integer", "text", "items", "expected"),
    [
        (pa.int64(), pa.string_view(), pa.large_list(ITEMS), []),
        (pa.int64(), pa.dictionary(pa.int32(), pa.large_string()), pa.list_(ITEMS), []),
        (pa.timestamp("s"), pa.string(), pa.list_(ITEMS), ["PQF-186"]),
        (pa.duration("s"), pa.string(), pa.list_(ITEMS), ["PQF-186"]),
        (pa.int64(), pa.string(), pa.list_(ITEMS, 1), ["PQF-186"]),
    ],
)
def test_two_copies_say_the_same(integer: Any, text: Any, items: Any, expected: list[str]) -> None:
    second = schema(pa.field("i", integer), pa.field("s", text), pa.field("l", items))
    assert expected == rules_of(NUMBERS, (ARROW, FIRST), (ARROW, second))
    assert expected == rules_of(NUMBERS, (ARROW, second), ("more", ""), (ARROW, FIRST))


def test_copies_of_other_keys_say_the_same_as_well() -> None:
    one, other = '{"a": 1, "b": 2}', '{"b": 2,  "a": 1}'
    assert [] == rules_of(NUMBERS, (GEO, one), (GEO, other))
    assert ["PQF-186"] == rules_of(NUMBERS, ("pandas", one), ("pandas", json.dumps({"a": 2})))
    assert [] == rules_of(NUMBERS, ("pandas", one), ("pandas", "{"), ("somebody", "1"), ("somebody", "2"))
