from __future__ import annotations

import hashlib
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from each import each
from pqassay.literals.rows import canonical_row, digest, rows_difference
from pqassay_spec.golden.literals import (
    BinaryLiteral,
    Date,
    Decimal,
    Float,
    List,
    LongInteger,
    Map,
    Rows,
    Struct,
    Time,
    Timestamp,
    Value,
    ValueNotReadableError,
    Written,
    read_value,
    write_value,
)

VALUES = st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.floats(), st.text(), st.binary())


@given(VALUES)
def test_a_value_survives_the_way_through_json(value: Value) -> None:
    there = json.loads(json.dumps(write_value(value), default=vars))
    tags = {"int": LongInteger, "float": Float, "bytes": BinaryLiteral}
    if isinstance(there, dict):
        ((tag, text),) = there.items()
        there = tags[tag](text)

    assert canonical_row([value]) == canonical_row([read_value(there)])


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (2**53, 2**53),
        (-(2**53) - 1, LongInteger("-9007199254740993")),
        (0.1, Float("0.1")),
        (-0.0, Float("-0.0")),
        (math.inf, Float("inf")),
        (b"\x00\xff", BinaryLiteral("00ff")),
    ],
)
def test_what_other_languages_would_change_is_tagged(value: Value, written: object) -> None:
    assert written == write_value(value)


WRONG: list[Written] = [
    *(LongInteger("1.0"), LongInteger(" 1"), Float("x"), BinaryLiteral("0g"), Decimal("1,5"), Decimal("NaN")),
    *(Date("2020-01-01"), Time("1.5"), Timestamp("")),
]


@each("written", WRONG)
def test_a_tag_with_another_text_is_an_error(written: Written) -> None:
    with pytest.raises(ValueNotReadableError):
        read_value(written)


def test_rows_are_compared_without_order_and_with_their_number() -> None:
    assert "" == rows_difference([["a", 1], ["b", None]], [["b", None], ["a", 1]])
    assert '1 row too many: ["a"]' == rows_difference([["a"]], [["a"], ["a"]])
    assert '2 rows missing: ["a"]' == rows_difference([["a"], ["a"]], [])


def test_rows_of_every_type_are_read_from_json_and_compared() -> None:
    values = [
        *(True, {"decimal": "-1.50"}, {"date": "-1"}, {"time": "0"}, {"timestamp": "1"}),
        {"list": [{"float": "nan"}, None, {"list": []}]},
        {"struct": {"b": 1, "a": {"bytes": "ff"}}},
        {"map": [["k", {"int": "9007199254740993"}]]},
    ]
    columns = [{"name": f"c{number}", "type": "any", "nullable": True} for number in range(len(values))]
    rows = TypeAdapter(Rows).validate_python({"columns": columns, "rows": [values]})
    (row,) = rows.values()

    assert row[:5] == [True, Decimal("-1.50"), Date("-1"), Time("0"), Timestamp("1")]
    assert row[6:] == [
        Struct({"b": 1, "a": BinaryLiteral("ff")}),
        Map([("k", LongInteger("9007199254740993"))]),
    ]
    assert canonical_row(row) == (
        '[true,{"decimal":"-1.50"},{"date":"-1"},{"time":"0"},{"timestamp":"1"},'
        '{"list":[{"float":"7ff8000000000000"},null,{"list":[]}]},'
        '{"struct":{"a":{"bytes":"ff"},"b":1}},{"map":[["k",{"int":"9007199254740993"}]]}]'
    )


ALIKE: list[tuple[Value, Value]] = [
    *((0.0, -0.0), (1, 1.0), ("1", 1), (b"a", "a"), (None, ""), (True, 1), (Decimal("1.0"), Decimal("1"))),
    *((Date("1"), Time("1")), (List([]), Map([])), (List([1]), List([1, 1])), (Struct({}), None)),
]


@each(("left", "right"), ALIKE)
def test_values_that_look_alike_are_told_apart(left: Value, right: Value) -> None:
    assert rows_difference([[left]], [[right]])


def test_nan_is_nan_whatever_its_bits() -> None:
    assert "" == rows_difference([[math.nan]], [[-math.nan]])


def test_the_digest_is_what_the_protocol_describes() -> None:
    lines = ['["a\\n\\u00e9\\ud83d\\ude00\\u007f",1]', '["b",null]', '["b",{"float":"3ff0000000000000"}]']
    text = "".join(f"{line}\n" for line in lines)
    rows: list[list[Value]] = [["b", 1.0], ["b", None], ["a\né😀\x7f", 1]]

    assert hashlib.sha256(text.encode()).hexdigest() == digest(rows)
