"""Compact Thrift: bytes against values, for the grammar and the generated decoder alike."""

from __future__ import annotations

import contextlib
import sys
import tracemalloc
from collections.abc import Iterator
from enum import IntEnum
from typing import Any

import pytest

from damage import EXAMPLES, bounded_memory
from each import each
from pqassay_spec.base.errors import FormatError, Malformed, Truncated
from pqassay_spec.grammar.thrift import (
    BINARY,
    BOOL,
    DOUBLE,
    I8,
    I16,
    I32,
    I64,
    STRING,
    EnumOf,
    ListOf,
    Record,
    UnknownField,
    grammar,
    is_text,
    optional,
    required,
    thrift_struct,
)
from pqassay_spec.grammar.thrift_decoder import decode
from pqassay_spec.grammar.thrift_wire import (
    MAX_DEPTH,
    FieldRange,
    WireType,
    element_ranges,
    field_ranges,
    skip,
)
from pqassay_spec.grammar.trace import trace
from pqassay_spec.parquet.thrift import FileMetaData
from thrift_strategies import footer_of, small_file

pytestmark = pytest.mark.slow


class Colour(IntEnum):
    """Two colours."""

    RED = 0
    BLUE = 5


@thrift_struct
class Empty(Record):
    """No fields."""


@thrift_struct
class Flags(Record):
    """Two bools, which are in their headers."""

    first: bool | None = optional(1, BOOL, "First.")
    second: bool | None = optional(2, BOOL, "Second.")


@thrift_struct
class Numbers(Record):
    """One field of each width."""

    byte: int | None = optional(1, I8, "8 bits.")
    short: int | None = optional(2, I16, "16 bits.")
    int: Any = optional(3, I32, "32 bits.")
    long: Any = optional(4, I64, "64 bits.")
    real: float | None = optional(5, DOUBLE, "64 bits, floating.")
    colour: Any = optional(6, EnumOf(Colour), "An enum.")


@thrift_struct
class Texts(Record):
    """Bytes and text."""

    raw: bytes | None = optional(1, BINARY, "Bytes.")
    text: str | None = optional(2, STRING, "Text.")


@thrift_struct
class Lists(Record):
    """One list of each kind."""

    flags: list[bool] | None = optional(1, ListOf(BOOL), "Bools.")
    ints: list[int] | None = optional(2, ListOf(I32), "Integers.")
    texts: list[str] | None = optional(3, ListOf(STRING), "Texts.")
    structs: list[Any] | None = optional(4, ListOf(Flags), "Structs.")
    bytes: list[int] | None = optional(5, ListOf(I8), "Bytes.")
    reals: list[float] | None = optional(6, ListOf(DOUBLE), "Doubles.")


@thrift_struct
class Nested(Record):
    """A struct in a struct."""

    inner: Any = required(3, Flags, "Inside.")
    after: int | None = optional(4, I32, "After it.")


@thrift_struct
class Far(Record):
    """Ids that are near and far from each other."""

    near: bytes | None = optional(1, BINARY, "Distance 1.")
    middle: bytes | None = optional(16, BINARY, "Distance 15, the longest that the short form holds.")
    gap: bytes | None = optional(32, BINARY, "Distance 16.")
    last: bytes | None = optional(32767, BINARY, "The last id there is.")


BOTH_WAYS: list[tuple[Record, str]] = [
    (Empty(), "00"),
    (Flags(), "00"),
    (Flags(first=True, second=False), "11 12 00"),
    (Flags(second=True), "21 00"),
    (Numbers(byte=-1), "13 ff 00"),
    (Numbers(byte=127), "13 7f 00"),
    (Numbers(short=-32768), "24 ff ff 03 00"),
    (Numbers(short=32767), "24 fe ff 03 00"),
    (Numbers(int=2**31 - 1), "35 fe ff ff ff 0f 00"),
    (Numbers(int=-(2**31)), "35 ff ff ff ff 0f 00"),
    (Numbers(long=0), "46 00 00"),
    (Numbers(long=-1), "46 01 00"),
    (Numbers(long=63), "46 7e 00"),
    (Numbers(long=64), "46 80 01 00"),
    (Numbers(long=8191), "46 fe 7f 00"),
    (Numbers(long=8192), "46 80 80 01 00"),
    (Numbers(long=2**20 - 1), "46 fe ff 7f 00"),
    (Numbers(long=2**20), "46 80 80 80 01 00"),
    (Numbers(long=2**27 - 1), "46 fe ff ff 7f 00"),
    (Numbers(long=2**27), "46 80 80 80 80 01 00"),
    (Numbers(long=2**63 - 1), "46 fe ff ff ff ff ff ff ff ff 01 00"),
    (Numbers(long=-(2**63)), "46 ff ff ff ff ff ff ff ff ff 01 00"),
    (Numbers(real=1.0), "57 00 00 00 00 00 00 f0 3f 00"),  # little-endian, as every Parquet writer has it
    (Numbers(colour=Colour.BLUE), "65 0a 00"),
    (Numbers(colour=77), "65 9a 01 00"),  # no name, and kept
    (Numbers(byte=1, short=1, int=1, long=1), "13 01 14 02 15 02 16 02 00"),
    (Texts(raw=b""), "18 00 00"),
    (Texts(raw=b"\x00\xff"), "18 02 00 ff 00"),
    (Texts(raw=b"x" * 128), "18 80 01 " + "78" * 128 + "00"),
    (Texts(text="é"), "28 02 c3 a9 00"),
    (Texts(text="\udcff"), "28 01 ff 00"),  # a byte that is not UTF-8
    (Lists(flags=[]), "19 01 00"),
    (Lists(flags=[True, False, True]), "19 31 01 02 01 00"),
    (Lists(ints=[1, -2]), "29 25 02 03 00"),
    (Lists(ints=[0] * 14), "29 e5" + "00" * 14 + "00"),
    (Lists(ints=[0] * 15), "29 f5 0f" + "00" * 15 + "00"),
    (Lists(ints=[0] * 300), "29 f5 ac 02" + "00" * 300 + "00"),
    (Lists(texts=["a", ""]), "39 28 01 61 00 00"),
    (Lists(structs=[Flags(first=True), Flags()]), "49 2c 11 00 00 00"),
    (Lists(bytes=[-1, 1]), "59 23 ff 01 00"),
    (Lists(reals=[-2.0]), "69 17 00 00 00 00 00 00 00 c0 00"),
    (Nested(inner=Flags(first=True), after=1), "3c 11 00 15 02 00"),
    (Far(near=b"", middle=b"", gap=b""), "18 00 f8 00 08 40 00 00"),
    (Far(last=b"x"), "08 fe ff 03 01 78 00"),
    (Far(near=b"", last=b""), "18 00 08 fe ff 03 00 00"),
]
"""One table for both directions: a record and its canonical bytes."""

READ_ONLY: list[tuple[str, Record]] = [
    ("25 02 00", Numbers(unknown=[UnknownField(2, 5, b"\x02")])),  # an i32 where an i16 is declared
    ("14 02 03 02 05 00", Numbers(byte=5, unknown=[UnknownField(1, 4, b"\x02")])),  # id 1 twice, once as an i8
    ("16 02 00", Flags(unknown=[UnknownField(1, 6, b"\x02")])),
    ("36 02 05 04 02 03 02 01 00", Numbers(byte=1, unknown=[UnknownField(3, 6, b"\x02"), UnknownField(2, 5, b"\x02")])),
    ("46 02 06 08 04 00", Numbers(long=2)),  # written twice: the last counts
    ("05 06 02 03 02 01 00", Numbers(byte=1, int=1)),  # out of order, all ids in long form
    ("12 02 04 00", Flags(first=False, second=False)),
    ("12 11 00", Flags(first=False, second=True)),
    ("46 80 80 80 00 00", Numbers(long=0)),  # a varint longer than it need be
    ("19 32 01 02 00 00", Lists(flags=[True, False, False])),  # the other bool type, and 0 for false
    ("29 0c 00", Lists(ints=[])),  # an empty list of anything is an empty list
    ("29 f5 01 02 00", Lists(ints=[1])),  # the long form where the short would do
    ("3c 00 05 08 02 00", Nested(inner=Flags(), after=1)),
]  # fmt: skip
"""Bytes that no canonical writer produces, and what they mean nevertheless."""


hexed = bytes.fromhex


@each(("record", "text"), BOTH_WAYS)
def test_parsing_and_building_agree_with_the_bytes(record: Record, text: str) -> None:
    data = hexed(text)
    assert grammar(type(record)).parse(data + b"\xff") == record
    assert decode(type(record), data + b"\xff") == (record, len(data))  # what is behind it is left alone
    assert grammar(type(record)).build(record) == data


@each(("text", "record"), READ_ONLY)
def test_what_no_canonical_writer_writes_is_read(text: str, record: Record) -> None:
    data = hexed(text)
    assert grammar(type(record)).parse(data) == record
    assert decode(type(record), data) == (record, len(data))


# ------------------------------------------------------------------------------------------ unknown fields

UNKNOWN: list[tuple[str, UnknownField]] = [
    ("51 00", UnknownField(5, WireType.TRUE, b"")),
    ("52 00", UnknownField(5, WireType.FALSE, b"")),
    ("53 80 00", UnknownField(5, WireType.BYTE, b"\x80")),
    ("54 80 01 00", UnknownField(5, WireType.I16, b"\x80\x01")),
    ("55 80 00 00", UnknownField(5, WireType.I32, b"\x80\x00")),
    ("56 01 00", UnknownField(5, WireType.I64, b"\x01")),
    ("57 00 01 02 03 04 05 06 07 00", UnknownField(5, WireType.DOUBLE, bytes(range(8)))),
    ("58 02 00 ff 00", UnknownField(5, WireType.BINARY, b"\x02\x00\xff")),
    ("59 21 01 02 00", UnknownField(5, WireType.LIST, b"\x21\x01\x02")),
    ("59 f3 02 00 00 00", UnknownField(5, WireType.LIST, b"\xf3\x02\x00\x00")),
    ("5a 15 07 00", UnknownField(5, WireType.SET, b"\x15\x07")),
    ("5b 00 00", UnknownField(5, WireType.MAP, b"\x00")),
    ("5b 01 18 01 01 61 00", UnknownField(5, WireType.MAP, b"\x01\x18\x01\x01\x61")),
    ("5c 11 08 02 00 00 00", UnknownField(5, WireType.STRUCT, b"\x11\x08\x02\x00\x00")),
    ("5d" + "07" * 16 + "00", UnknownField(5, WireType.UUID, b"\x07" * 16)),
    ("08 ff ff 01 00 00", UnknownField(-16384, WireType.BINARY, b"\x00")),  # a long-form id is zigzag
    ("01 00 00", UnknownField(0, WireType.TRUE, b"")),
    ("08 fe ff 03 01 78 00", UnknownField(32767, WireType.BINARY, b"\x01x")),
]


@each(("text", "field"), UNKNOWN)
def test_an_unknown_field_keeps_its_bytes_and_is_built_again(text: str, field: UnknownField) -> None:
    data = hexed(text)
    expected = Flags(unknown=[field])
    assert grammar(Flags).parse(data) == expected
    assert decode(Flags, data) == (expected, len(data))
    assert grammar(Flags).build(expected) == data


def test_unknown_fields_stand_between_known_ones_where_they_stood() -> None:
    data = hexed("01 01 11 13 05 28 01 61 d8 00 16 02 00")
    expected = Far(
        middle=b"",
        unknown=[
            UnknownField(-1, WireType.TRUE, b""),
            UnknownField(0, WireType.TRUE, b""),
            UnknownField(1, WireType.BYTE, b"\x05"),  # declared, as a binary
            UnknownField(3, WireType.BINARY, b"\x01a"),
            UnknownField(17, WireType.I64, b"\x02"),
        ],
    )
    assert decode(Far, data) == (expected, len(data))
    assert grammar(Far).parse(data) == expected
    assert grammar(Far).build(expected) == data


# ------------------------------------------------------------------------------------------- what is wrong


def both_raise(record: type[Record], data: bytes, **place: Any) -> FormatError:
    """Decode with both, see both fail in the same way, and return the error of the generated decoder."""
    with pytest.raises(FormatError) as by_decoder:
        decode(record, data, **place)
    with pytest.raises(FormatError) as by_grammar:
        trace(grammar(record), data, **place)
    assert type(by_decoder.value) is type(by_grammar.value)
    assert str(by_decoder.value) == str(by_grammar.value)
    return by_decoder.value


WRONG: list[tuple[type[Record], str, str, str, int]] = [
    (Flags, "", "x", "the structure is not finished where its bytes end", 0),
    (Flags, "11", "x", "the structure is not finished where its bytes end", 1),
    (Flags, "10 00", "x", "wire type 0 does not exist", 0),
    (Flags, "1e 00", "x", "wire type 14 does not exist", 1),
    (Flags, "01 fe ff 07 00", "x", "field id 65535 exceeds 16 bits", 0),
    (Flags, "01 81 80 04 00", "x", "field id -32769 exceeds 16 bits", 0),
    (Far, "08 fe ff 03 00 11 00", "x", "field id 32768 exceeds 16 bits", 5),
    (Numbers, "24 80 80 04 00", "x.short", "a value that exceeds 16 bits", 1),
    (Numbers, "24 ff ff 07 00", "x.short", "a value that exceeds 16 bits", 1),
    (Numbers, "35 80 80 80 80 10 00", "x.int", "a value that exceeds 32 bits", 1),
    (Numbers, "65 80 80 80 80 10 00", "x.colour", "a value that exceeds 32 bits", 1),
    (Numbers, "46 ff ff ff ff ff ff ff ff ff 02 00", "x.long", "a varint that exceeds 64 bits", 1),
    (Numbers, "46 80 80 80 80 80 80 80 80 80 80 00", "x.long", "a varint longer than 10 bytes", 1),
    (Numbers, "46 80", "x.long", "the structure is not finished where its bytes end", 1),
    (Numbers, "57 00 00", "x.real", "stream read less than specified amount, expected 8, found 2", 1),
    (Numbers, "13", "x.byte", "stream read less than specified amount, expected 1, found 0", 1),
    (Texts, "18 05 61 62", "x.raw", "a value of 5 bytes with 2 bytes left", 2),
    (Lists, "19 31 01 03 01 00", "x.flags[1]", "3 is not a bool", 3),
    (Lists, "29 26 02 02 00", "x.ints", "a list of wire type 6 where 5 is declared", 2),
    (Lists, "29 95 02 02", "x.ints", "9 elements with 2 bytes left", 1),
    (Lists, "49 2c 11 00 10 00 00", "x.structs[1]", "wire type 0 does not exist", 4),
    (Nested, "45 02 00", "x", "Nested lacks its required field 3, inner", 3),
]


@each(("record", "text", "path", "reason", "offset"), WRONG)
def test_both_name_what_is_wrong_its_path_and_its_offset(
    record: type[Record], text: str, path: str, reason: str, offset: int
) -> None:
    error = both_raise(record, hexed(text), root="x", base=100, rule="PQF-004")
    assert isinstance(error, Malformed)
    assert (error.field, error.reason, error.offset, error.rule) == (path, reason, 100 + offset, "PQF-004")


def test_a_missing_required_field_names_the_path_of_its_struct() -> None:
    data = hexed("15 02 19 2c 48 01 72 00 15 02 00 16 00 19 0c 00")
    error = both_raise(FileMetaData, data, root="footer", base=4)
    assert str(error) == "offset 15, footer.schema[1]: SchemaElement lacks its required field 4, name"


def test_a_footer_cut_anywhere_is_malformed_at_an_offset_inside_it() -> None:
    footer = footer_of(small_file())
    assert decode(FileMetaData, footer)[1] == len(footer)
    for cut in range(0, len(footer), EXAMPLES):
        error = both_raise(FileMetaData, footer[:cut], root="footer", base=1000, rule="PQF-004")
        assert isinstance(error, Malformed)
        assert error.offset is not None
        assert 1000 <= error.offset <= 1000 + cut
        assert (error.field or "").startswith("footer")
        assert error.rule == "PQF-004"


# --------------------------------------------------------------------------------------------- hostile bytes

HUGE = "ff ff ff ff ff ff ff ff ff 01"
HOSTILE: dict[str, bytes] = {
    "a known list of 2^31 structs": hexed("15 02 19 fc 80 80 80 80 08 00"),
    "a known list of 2^64-1 structs": hexed("15 02 19 fc" + HUGE),
    "an unknown list of 2^31 bools": hexed("09 c8 01 f1 80 80 80 80 08 01"),
    "an unknown map of 2^64-1 pairs": hexed("0b c8 01" + HUGE + "11"),
    "a known text of 2^63 bytes": hexed("68 80 80 80 80 80 80 80 80 80 01 61"),
    "an unknown binary of 2^63 bytes": hexed("08 c8 01 80 80 80 80 80 80 80 80 80 01 61"),
    "a known varint of 11 bytes": hexed("15 80 80 80 80 80 80 80 80 80 80 00"),
    "an unknown varint of 11 bytes": hexed("06 c8 01 80 80 80 80 80 80 80 80 80 80 00"),
    "a varint without an end": hexed("16") + b"\xff" * 10_000,
    "structs 2,000 deep": hexed("0c c8 01") + b"\x1c" * 2_000,
    "lists 2,000 deep": hexed("09 c8 01") + b"\x19" * 2_000,
    "maps 2,000 deep": hexed("0b c8 01") + b"\x01\x1b\x01" * 2_000,
    "lists of lists of the greatest size": hexed("09 c8 01") + b"\xf9\xff\xff\x03" * 2_000,
    "bool fields without an end": b"\x11" * 100_000,
}


@contextlib.contextmanager
def steps_within(most: int) -> Iterator[None]:
    """A limited number of lines of Python run within the block."""
    steps = 0

    def step(*_: object) -> Any:
        nonlocal steps
        steps += 1
        assert steps <= most, f"more than {most} lines of Python have run"
        return step

    before = sys.gettrace()
    sys.settrace(step)
    try:
        yield
    finally:
        sys.settrace(before)
    assert steps > 0


@each("data", HOSTILE.values())
def test_hostile_lengths_are_malformed_at_once_and_in_little_memory(data: bytes) -> None:
    assert isinstance(both_raise(FileMetaData, data, root="footer"), Malformed)
    for limit in (steps_within(2000 + 50 * len(data)), bounded_memory(len(data))):
        with limit, pytest.raises(Malformed):
            decode(FileMetaData, data)


def test_unknown_bools_which_have_no_bytes_of_their_own_cost_little_memory() -> None:
    data = b"".join(b"\x01\x02" + b"\x11" * 4_000 for _ in range(10)) + b"\x00"
    tracemalloc.start()
    try:
        record, length = decode(Empty, data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (len(record.unknown), length) == (40_010, len(data))
    assert peak < 64 * len(data)


@pytest.mark.parametrize("opening", ["1c", "19"])
def test_unknown_fields_nest_up_to_the_limit(opening: str) -> None:
    closing, wire = "00" if opening == "1c" else "03", int(opening, 16) & 15

    def nested(levels: int) -> bytes:
        return hexed(opening) * (levels - 1) + hexed(closing) * (levels if opening == "1c" else 1)

    assert skip(nested(MAX_DEPTH), 0, wire) == len(nested(MAX_DEPTH))
    with pytest.raises(Malformed, match="nesting deeper than 100 levels"):
        skip(nested(MAX_DEPTH + 2), 0, wire)


# -------------------------------------------------------------------------------------------------- records


def test_a_record_takes_no_field_that_its_table_lacks() -> None:
    with pytest.raises(TypeError, match="Flags has no field fourth, third"):
        Flags(first=True, third=True, fourth=False)


def test_records_are_equal_by_type_fields_and_unknown_fields_and_show_what_is_set() -> None:
    unknown = UnknownField(9, 1, b"")
    assert Flags(first=True) == Flags(first=True)
    assert Flags(first=True) != Flags(first=False)
    assert Flags() != Empty()
    assert Flags(unknown=[unknown]) != Flags()
    assert repr(Texts(text="a")) == "Texts(text='a')"
    assert repr(Empty(unknown=[unknown])) == f"Empty(unknown=({unknown!r},))"


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (Nested(), "Nested.inner is required"),
        (Numbers(short=32768), "32768 does not fit into 16 bits"),
        (Numbers(int=-(2**31) - 1), "-2147483649 does not fit into 32 bits"),
    ],
)
def test_what_cannot_be_written_is_the_callers_mistake(record: Record, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        grammar(type(record)).build(record)


def test_text_knows_whether_it_was_utf_8_and_an_enum_labels_its_values() -> None:
    assert is_text("é")
    assert not is_text(decode(Texts, hexed("28 01 ff 00"))[0].text or "")
    colour = EnumOf(Colour)
    assert (colour.name, colour.label(5), colour.label(6)) == ("Colour", "BLUE", "unknown")


# ------------------------------------------------------------------------------------- ranges without decoding


def test_field_ranges_say_where_each_field_stands() -> None:
    data = hexed("ff 11 08 40 01 61 15 02 00 ff")
    assert list(field_ranges(data, 1)) == [
        FieldRange(id=1, wire=1, start=1, value=2, end=2),
        FieldRange(id=32, wire=8, start=2, value=4, end=6),
        FieldRange(id=33, wire=5, start=6, value=7, end=8),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("05", []),
        ("25 02 80 01", [(1, 2), (2, 4)]),
        ("31 01 02 01", [(1, 2), (2, 3), (3, 4)]),
        ("28 01 61 00", [(1, 3), (3, 4)]),
        ("2c 11 00 00", [(1, 3), (3, 4)]),
    ],
)
def test_element_ranges_say_where_each_element_stands(text: str, expected: list[tuple[int, int]]) -> None:
    assert element_ranges(hexed(text), 0) == expected

    with pytest.raises(Truncated, match="4294967295 elements with 0 bytes left"):
        element_ranges(hexed("fc ff ff ff ff 0f"), 0)


@each(
    ("wire", "element", "units"),
    [
        (WireType.STRUCT, b"\x00", 1),
        (WireType.STRUCT, b"\x00\x00\x15\x02\x00", 3),
        (WireType.I32, b"\x01", 1),
        (WireType.I64, b"\x81\x82\x03\x7f", 2),
        (WireType.I64, b"\xff" * 9 + b"\x01\x02", 2),
        (WireType.TRUE, b"\x01", 1),
        (WireType.BYTE, b"\x80", 1),
        (WireType.DOUBLE, bytes(8), 1),
        (WireType.BINARY, b"\x02ab", 1),
    ],
)
def test_long_lists_are_skipped_as_if_one_by_one(wire: WireType, element: bytes, units: int) -> None:
    for times in (1, 10, 40, 301):
        count = times * units
        listed = bytes((0xF0 | wire, count & 127 | 128, count >> 7)) + element * times
        assert len(listed) == skip(listed + b"\x07", 0, WireType.LIST)
        with pytest.raises(Truncated):
            skip(listed[:-1], 0, WireType.LIST)


def test_a_varint_that_is_too_long_is_found_among_many() -> None:
    for wrong in (b"\xff" * 10 + b"\x01", b"\xff" * 9 + b"\x02"):
        with pytest.raises(Malformed, match="a varint"):
            skip(b"\xf5\x64" + b"\x01" * 50 + wrong + b"\x01" * 49, 0, WireType.LIST)


def test_a_list_of_millions_of_elements_takes_no_step_for_each() -> None:
    for wire in (WireType.STRUCT, WireType.I64, WireType.TRUE, WireType.BYTE):
        size = b"\x80\x89\x7a"  # two million
        data = bytes((0xF0 | wire,)) + size + b"\x00" * 2_000_000
        with steps_within(300):
            end = skip(data, 0, WireType.LIST)
        assert len(data) == end
