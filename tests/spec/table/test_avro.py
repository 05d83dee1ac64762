"""The grammar of Avro and its fast decoder: equal on what is good, and both bounded on what is not."""

from __future__ import annotations

import io
import json
import random
from typing import Any

import pytest

from each import each
from places import GOLDEN_FILES
from pqassay_spec.base.errors import FormatError, Malformed
from pqassay_spec.grammar.trace import trace
from pqassay_spec.table.avro import BLOCK_HEADER, CONTAINER_HEADER, LONG, SYNC, grammar_of
from pqassay_spec.table.avro_decoder import decoder, read_long

PLAIN = GOLDEN_FILES / "ice/plain/table/metadata"


def block_of(name: str) -> tuple[Any, bytes, int]:
    """The schema of a file, and the bytes and the count of its first block."""
    data = (PLAIN / name).read_bytes()
    header, leaves = trace(CONTAINER_HEADER, data)
    start = leaves[-1].offset + SYNC
    block, leaves = trace(BLOCK_HEADER, data[start : start + 20], base=start)
    begin = leaves[-1].offset + leaves[-1].length
    return json.loads(header.metadata["avro.schema"]), data[begin : begin + block.size], block.count


def as_lists(value: Any) -> Any:
    """What the grammar makes of bytes, in the form of the fast decoder."""
    if isinstance(value, list):
        items = [as_lists(one) for one in value]
        keyed = all(isinstance(one, dict) and set(one) - {"_io"} == {"key", "value"} for one in value)
        return dict(map(tuple, items)) if items and keyed else items
    return (
        [as_lists(one) for name, one in value.items() if name != "_io"] if isinstance(value, dict) else value
    )


@pytest.mark.parametrize("name", ["manifest-0.avro", "snap-1.avro"])
def test_the_fast_decoder_reads_what_the_grammar_reads(name: str) -> None:
    schema, data, count = block_of(name)
    decode, grammar, position = decoder(schema), grammar_of(schema), 0
    for _ in range(count):
        value, end = decode(data, position)
        assert as_lists(grammar.parse(data[position:end])) == value
        assert grammar.build(grammar.parse(data[position:end])) == data[position:end]
        position = end
    assert len(data) == position


def test_numbers_are_those_of_the_avro_specification() -> None:
    numbers = {
        0: "00",
        -1: "01",
        1: "02",
        -2: "03",
        -64: "7f",
        64: "8001",
        -(1 << 63): "ffffffffffffffffff01",
    }
    assert numbers == {number: LONG.build(number).hex() for number in numbers}
    assert list(numbers) == [read_long(bytes.fromhex(raw), 0)[0] for raw in numbers.values()]


@pytest.mark.parametrize("raw", [b"\x80" * 9 + b"\x02", b"\xff" * 100, b"\xff" * 9 + b"\x7f"])
def test_a_number_has_no_more_than_64_bits(raw: bytes) -> None:
    with pytest.raises(Malformed, match="more than 64 bits"):
        read_long(raw, 0)
    with pytest.raises(Malformed, match="more than 64 bits"):
        LONG.parse(raw)


@each(
    ("schema", "raw"),
    [
        ("bytes", LONG.build(1 << 40)),
        ("bytes", LONG.build(-5)),
        ("string", LONG.build(1 << 62) + b"x"),
        ({"type": "array", "items": "long"}, LONG.build(1 << 50)),
        ({"type": "array", "items": "null"}, LONG.build(1 << 50)),
        ({"type": "array", "items": {"type": "record", "name": "e", "fields": []}}, LONG.build(1 << 30)),
        ({"type": "map", "values": "long"}, LONG.build(1 << 50)),
        (["null", "long"], LONG.build(2)),
        (["null", "long"], LONG.build(-1)),
        ("boolean", b"\x02"),
        ({"type": "fixed", "name": "f", "size": 9}, b"123"),
    ],
)
def test_what_is_announced_and_not_there_is_an_error_at_once(schema: Any, raw: bytes) -> None:
    with pytest.raises((FormatError, IndexError)):
        decoder(schema)(raw, 0)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "record", "name": "r"},
        {"type": "record", "name": "r", "fields": [{"type": "int"}]},
        {"type": "fixed", "name": "f", "size": -1},
        {"type": "fixed", "name": "f", "size": 1 << 40},
        {"type": "record", "name": "r", "fields": [{"name": "again", "type": "r"}]},
        7,
        None,
    ],
)
def test_a_schema_that_is_none_is_refused(schema: Any) -> None:
    for make in (grammar_of, decoder):
        with pytest.raises(Malformed):
            make(schema)


def test_a_type_is_named_once_and_then_called_by_its_name() -> None:
    fixed = {"type": "fixed", "name": "two", "namespace": "n", "size": 2}
    fields = [
        {"name": name, "type": kind} for name, kind in (("a", fixed), ("b", ["null", "two"]), ("c", "n.two"))
    ]
    schema = {"type": "record", "name": "r", "fields": fields}
    raw = b"aa\x02bbcc"
    assert [b"aa", b"bb", b"cc"] == decoder(schema)(raw, 0)[0] == as_lists(grammar_of(schema).parse(raw))
    assert raw == grammar_of(schema).build({"a": b"aa", "b": b"bb", "c": b"cc"})


def test_a_schema_is_followed_no_deeper_than_manifests_need() -> None:
    schema: Any = "long"
    for _ in range(5000):
        schema = {"type": "array", "items": schema}
    for make in (grammar_of, decoder):
        with pytest.raises(Malformed, match="nested deeper"):
            make(schema)


def test_grammar_and_decoder_agree_about_damaged_bytes() -> None:
    schema, good, _ = block_of("manifest-0.avro")
    decode, grammar, dice = decoder(schema), grammar_of(schema), random.Random(25)
    for _ in range(400):
        damaged = bytearray(good)
        for _ in range(dice.randint(1, 3)):
            damaged[dice.randrange(len(good))] = dice.randrange(256)
        fast: Any
        try:
            fast = decode(bytes(damaged), 0)[0]
        except (FormatError, IndexError, ValueError):
            fast = None
        slow: Any
        try:
            slow = as_lists(grammar.parse_stream(io.BytesIO(damaged)))
        except Exception:  # noqa: BLE001 - construct has errors of its own
            slow = None
        assert (slow is None) == (fast is None)
