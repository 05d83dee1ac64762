"""The reader of Arrow's schema against pyarrow, which writes and reads it as well."""

from __future__ import annotations

import base64
import random

import pyarrow as pa
import pytest

from damage import EXAMPLES
from each import each
from pqassay_spec.base.errors import Malformed
from pqassay_spec.parquet.schema_copies.arrow import DEEPEST, ArrowField, ArrowType, Kind, read_arrow_schema

TYPES = {
    "uint8": pa.uint8(),
    "half float": pa.float16(),
    "double float": pa.float64(),
    "utf8": pa.string(),
    "large_utf8": pa.large_string(),
    "utf8_view": pa.string_view(),
    "binary_view": pa.binary_view(),
    "decimal64(12, 2)": pa.decimal64(12, 2),
    "decimal256(60, -3)": pa.decimal256(60, -3),
    "date32": pa.date32(),
    "date64": pa.date64(),
    "time32[s]": pa.time32("s"),
    "time64[ns]": pa.time64("ns"),
    "timestamp[s]": pa.timestamp("s"),
    "timestamp[us, Europe/Rome]": pa.timestamp("us", "Europe/Rome"),
    "duration[ms]": pa.duration("ms"),
    "duration[ns]": pa.duration("ns"),
    "fixed_size_binary[16]": pa.uuid(),
    "int64": pa.dictionary(pa.int8(), pa.int64()),
    "list": pa.list_(pa.int8()),
    "large_list_view": pa.large_list_view(pa.int8()),
    "fixed_size_list": pa.list_(pa.int8(), 2),
    "map": pa.map_(pa.string(), pa.int8()),
    "struct": pa.struct([("a", pa.int8())]),
    "run_end_encoded": pa.run_end_encoded(pa.int32(), pa.string()),
    "null": pa.null(),
}


def value(schema: pa.Schema) -> str:
    """A schema as it is kept."""
    return base64.b64encode(schema.serialize().to_pybytes()).decode()


@each(("name", "kind"), TYPES.items())
def test_every_type_is_read(name: str, kind: pa.DataType) -> None:
    fields = read_arrow_schema(value(pa.schema([pa.field("c", kind)])), most=10).fields
    assert [("c", name)] == [(field.name, str(field.type)) for field in fields]


def test_children_and_metadata_are_read() -> None:
    schema = pa.schema([pa.field("s", pa.struct([pa.field("a", pa.bool_())]))], metadata={"k": "v"})
    expected = ArrowType(Kind.STRUCT, children=(ArrowField("a", ArrowType(Kind.BOOL)),))
    found = read_arrow_schema(value(schema), most=2)
    assert ((ArrowField("s", expected),), (("k", "v"),)) == found


def test_no_more_fields_are_read_than_asked_for() -> None:
    with pytest.raises(Malformed, match="PQF-112"):
        read_arrow_schema(value(pa.schema([("a", pa.int8()), ("b", pa.int8())])), most=1)


def nested(depth: int) -> pa.Schema:
    """A schema of lists within lists."""
    kind: pa.DataType = pa.int8()
    for _ in range(depth):
        kind = pa.list_(kind)
    return pa.schema([("a", kind)])


def test_fields_are_followed_as_deep_as_pyarrow_goes() -> None:
    assert len(read_arrow_schema(value(nested(DEEPEST)), most=DEEPEST + 1).fields) == 1
    with pytest.raises(Malformed, match="deep"):
        read_arrow_schema(value(nested(DEEPEST + 1)), most=DEEPEST + 2)


TRIED = 2000 // EXAMPLES


def test_what_pyarrow_refuses_is_refused_and_the_rest_is_read() -> None:
    """Damaged messages; texts that are not UTF-8 are refused by others than pyarrow, and a few faults are not looked for."""
    sound = pa.schema([pa.field(f"c{number}", kind) for number, kind in enumerate(TYPES.values())])
    raw = sound.serialize().to_pybytes()
    chance = random.Random(1)
    disagreements = 0
    for _ in range(TRIED):
        damaged = bytearray(raw)
        damaged[chance.randrange(len(raw))] = chance.choice((0, 1, 255, chance.randrange(256)))
        disagreements += _is_read_by_pyarrow(bytes(damaged)) != _is_read(bytes(damaged))
    assert disagreements < TRIED // 5


def _is_read_by_pyarrow(raw: bytes) -> bool:
    try:
        pa.ipc.read_schema(pa.py_buffer(raw))
    except (pa.ArrowException, OSError, ValueError):
        return False
    return True


def _is_read(raw: bytes) -> bool:
    try:
        read_arrow_schema(base64.b64encode(raw).decode(), most=1000)
    except Malformed:
        return False
    return True
