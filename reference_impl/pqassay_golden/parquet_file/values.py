"""Golden cases of values and logical types: values that the physical type can store, but the column must not have.

The files have no bounds and no levels: the body of a page is only its values, and no other structure describes them.
"""

from __future__ import annotations

from functools import partial

from pqassay_golden.parquet_file.framing import UNREADABLE
from pqassay_golden.recipes import bad, good, set_to
from pqassay_golden.tiny.parquet import Column, TinyParquet, decimal
from pqassay_spec.mutation.mutations import Mutation
from pqassay_spec.parquet.encoding.levels import packed_run
from pqassay_spec.parquet.encoding.plain import FIXED_WIDTH, LENGTH
from pqassay_spec.parquet.thrift import Type

NAME = Column("name", "string", ["a", "kündé", "𐍈"], optional=False)
NAME_OF_FOUR = Column("name", "string", ["a", "b", "c", "d"], optional=False)
A = ["=", "name", "a"]

NUMBERS = (
    NAME,
    Column("i8", "int8", [-128, 127, 0], optional=False),
    Column("u8", "uint8", [0, 255, 128], optional=False),
    Column("i16", "int16", [-32768, 32767, 0], optional=False),
    Column("u16", "uint16", [0, 65535, 32768], optional=False),
    Column("price", decimal(4, 2, Type.INT32), [-9999, 9999, 0], optional=False),
    Column("amount", decimal(4, 2, Type.FIXED_LEN_BYTE_ARRAY, 3), [-9999, 9999, 0], optional=False),
    Column("day", "date", [-719162, 2932896, 0], optional=False),
    Column("millis", "timestamp_millis", [-62135596800000, 253402300799999, 0], optional=False),
    Column("micros", "timestamp_micros", [-62135596800000000, 253402300799999999, 0], optional=False),
)
TIMES = (
    NAME,
    Column("millis", "time_millis", [0, 86_399_999, 1], optional=False),
    Column("micros", "time_micros", [0, 86_399_999_999, 1], optional=False),
)
JSON = (
    NAME,
    Column("facts", "json", ['{"é": [1, -2.5e3, "\\u00e9"]}', " null ", "[]"], optional=False),
)
DOCUMENTS = [bytes.fromhex("0500000000"), bytes.fromhex("0c0000001061000700000000")] * 2
"""``{}`` and ``{"a": 7}``, twice."""

POINT = bytes.fromhex("01 01000000 000000000000f03f 0000000000000040")

_good = partial(good, family="pqf", since="0.7.0")


def _file(*columns: Column) -> TinyParquet:
    return TinyParquet(columns, statistics=False)


GOOD = (
    _good("values", "The least and the greatest values of narrow integers and of decimals, and the first and the last day of the years 1 to 9999", _file(*NUMBERS), A, "fastparquet"),
    _good("values-times", "The first and the last time of a day", _file(*TIMES), A, "Spark"),
    _good("values-json", "Text of letters beyond ASCII, and JSON", _file(*JSON), A, "Polars", "fastparquet"),
    _good("values-bson", "BSON documents", _file(NAME_OF_FOUR, Column("document", "bson", DOCUMENTS, optional=False)), A, "DuckDB", "fastparquet"),
    _good("values-of-places", "A geometry in well-known binary, and a geography", _file(NAME_OF_FOUR, Column("place", "geometry", [POINT] * 4, optional=False), Column("region", "geography", [POINT, None, None, POINT])), A, "Polars", "Spark", "fastparquet"),
    _good("values-unknown", "A column of unknown type, which holds nulls alone", _file(NAME_OF_FOUR, Column("nothing", "unknown", [None] * 4)), A),
)  # fmt: skip

MISREAD = "Readers keep the low bits alone, and disagree about the value."
DIGITS = "Readers drop digits, refuse the value, or return one that the type cannot hold."
CLOCK = "The time is another one to some readers and null to others, and some refuse it."
CALENDAR = "Readers without a date for the number fail, or end in a panic."
REFUSED = "Most engines refuse the column."


def _numbers(kind: Type, *values: int) -> bytes:
    return b"".join(FIXED_WIDTH[kind].build(value) for value in values)


def texts(*values: bytes) -> bytes:
    """Byte arrays in PLAIN encoding."""
    return b"".join(LENGTH.build(len(value)) + value for value in values)


def _body(column: int, to: bytes) -> Mutation:
    """A mutation that replaces the body of the only page of a column."""
    return set_to(f"row_groups[0].columns[{column}].pages[0].body", to)


_bad = partial(bad, family="pqf", tier="values", since="0.7.0")

BAD = (
    _bad("integer-of-9-bits", "174 is stored in a column of signed integers of 8 bits", MISREAD, "values", _body(1, _numbers(Type.INT32, -128, 174, 0)), "PQF-096"),
    _bad("integer-below-zero", "-1 is stored in a column of unsigned integers of 8 bits", MISREAD, "values", _body(2, _numbers(Type.INT32, -1, 255, 128)), "PQF-096"),
    _bad("integer-of-17-bits", "65,536 is stored in a column of unsigned integers of 16 bits", MISREAD, "values", _body(4, _numbers(Type.INT32, 0, 65536, 32768)), "PQF-096"),
    _bad("decimal-of-5-digits", "A decimal of 4 digits on INT32 has 5", DIGITS, "values", _body(5, _numbers(Type.INT32, -9999, 10000, 0)), "PQF-097"),
    _bad("decimal-of-5-digits-in-bytes", "A decimal of 4 digits on fixed bytes has 5, and is negative", DIGITS, "values", _body(6, b"".join(value.to_bytes(3, "big", signed=True) for value in (-10000, 9999, 0))), "PQF-097"),
    _bad("time-below-zero", "A time of day is negative", CLOCK, "values-times", _body(1, _numbers(Type.INT32, -1, 86_399_999, 1)), "PQF-098"),
    _bad("time-of-the-next-day", "A time of day is later than its end", CLOCK, "values-times", _body(2, _numbers(Type.INT64, 0, 86_400_000_001, 1)), "PQF-098"),
    _bad("time-at-the-end", "A time of day is the midnight that ends it", CLOCK, "values-times", _body(2, _numbers(Type.INT64, 0, 86_400_000_000, 1)), "PQF-099"),
    _bad("date-of-the-year-10000", "A date is the first day of the year 10000", CALENDAR, "values", _body(7, _numbers(Type.INT32, -719162, 2932897, 0)), "PQF-100"),
    _bad("timestamp-infinite", "A timestamp is the greatest number of microseconds, DuckDB's infinity", CALENDAR, "values", _body(9, _numbers(Type.INT64, -62135596800000000, (1 << 63) - 1, 0)), "PQF-100"),
    _bad("text-of-another-code", "A text without bounds is stored in Latin-1", REFUSED, "values-json", _body(0, texts(b"a", b"k\xfcnd\xe9", "𐍈".encode())), "PQF-101"),
    _bad("text-cut-within-a-character", "A text ends within a character, which the next one goes on with", REFUSED, "values-json", _body(0, texts(b"a", b"bl\xc3", b"\xa9")), "PQF-101"),
    _bad("json-with-single-quotes", "A value of a JSON column is how Python writes a dictionary", UNREADABLE, "values-json", _body(1, texts(b"{'a': 1}", b" null ", b"[]")), "PQF-102"),
    _bad("json-of-two-values", "Two values of a JSON column are JSON only if one is put behind the other", UNREADABLE, "values-json", _body(1, texts(b"[1", b"2]", b"[]")), "PQF-102"),
    _bad("json-nan", "A JSON value holds NaN", "Strict parsers refuse the text.", "values-json", _body(1, texts(b'{"a": NaN}', b" null ", b"[]")), "PQF-103"),
    _bad("bson-cut-off", "A BSON document lacks its last byte", "A reader that takes the document apart fails.", "values-bson", _body(1, texts(*DOCUMENTS[:3], DOCUMENTS[3][:-1])), "PQF-104"),
    _bad("geometry-as-text", "A geometry is stored as text, not in well-known binary", "DuckDB refuses the column.", "values-of-places", _body(1, texts(POINT, POINT, b"POINT (1 2)", POINT)), "PQF-181"),
    _bad("geometry-with-a-reference-system", "A geometry has a reference system of its own, which PostGIS writes and well-known binary does not have", "Readers that know no such type refuse the column.", "values-of-places", _body(1, texts(POINT, POINT, POINT, bytes.fromhex("01 01000020 e6100000 000000000000f03f 0000000000000040"))), "PQF-181"),
    _bad("geometry-cut-off", "A geometry is cut off", "DuckDB refuses the column.", "values-of-places", _body(1, texts(POINT, POINT, POINT, POINT[:-1])), "PQF-181"),
    _bad("unknown-with-a-value", "A column of unknown type holds a number", "Most readers make null of it, others do not.", "values-unknown", _body(1, LENGTH.build(2) + packed_run([1, 0, 0, 0], width=1) + _numbers(Type.INT32, 7)), "PQF-105"),
)  # fmt: skip
