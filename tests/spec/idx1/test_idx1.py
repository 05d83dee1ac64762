"""IDX1: the published reading with its losses, the reading and writing without, and the companion record."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from each import each
from pqassay_spec.base.errors import FormatError, Malformed, Truncated
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.grammar.trace import Leaf
from pqassay_spec.idx1.blob import (
    BLOB,
    Blob,
    Layout,
    Loss,
    build_blob,
    exact_values,
    is_canonical_offset,
    losses,
    lossless_order,
    parse_offset,
    published_payload,
    published_values,
    read_blob,
    read_draft_g0,
    read_header,
    read_published,
    trace_blob,
)
from pqassay_spec.idx1.companion import (
    COMPANION_FIELDS,
    Companion,
    blob_crc,
    make_companion,
    parse_companion,
    why_not_trusted,
)
from pqassay_spec.parquet.schema.leaf_columns import leaves
from pqassay_spec.parquet.thrift import FileMetaData, SchemaElement, Type

# ----------------------------------------------------------------------------------------- the offset key


@each(
    ("text", "offset", "canonical"),
    [
        ("52", 52, True),
        ("0", 0, True),
        ("+52", 52, False),
        ("00052", 52, False),
        ("+0052", 52, False),
        ("000", 0, False),
        ("0" * 100 + "7", 7, False),
        ("18446744073709551615", 2**64 - 1, True),
        ("+00018446744073709551615", 2**64 - 1, False),
    ],
)
def test_the_published_reader_accepts_one_plus_sign_and_leading_zeros(
    text: str, offset: int, canonical: bool
) -> None:
    assert parse_offset(text) == offset
    assert is_canonical_offset(text) == canonical


@each(
    "text",
    [
        "", "+", "-5", "-0", "++5", "+-5", "abc", " 52", "52 ", "52\n", "\t52", "0x76", "118.0", "1e3", "1_000", "1,000",
        "\uff15\uff12", "\u0665\u0662", "5²", "52\x00", "\ufeff52", "18446744073709551616", "99999999999999999999", "1" * 5000,
    ],
)  # fmt: skip
def test_any_other_text_is_no_offset(text: str) -> None:
    with pytest.raises(Malformed) as caught:
        parse_offset(text)
    assert caught.value.rule == "IDX1-003"
    assert len(caught.value.reason) < 120


# -------------------------------------------------------------------------------- payloads and their values

PAYLOADS: list[tuple[bytes, list[str], list[str], list[tuple[Loss, int, str]]]] = [
    # payload, what the published reader gets, what was written, what is lost
    (b"", [], [""], []),
    (b"foo", ["foo"], ["foo"], []),
    (b"foo\nbar", ["foo", "bar"], ["foo", "bar"], []),
    (b"\na", ["", "a"], ["", "a"], []),
    (b"a\n\nb", ["a", "", "b"], ["a", "", "b"], []),
    (b"a\n", ["a"], ["a", ""], [(Loss.EMPTY_LAST, 1, "")]),
    (b"a\nb\n", ["a", "b"], ["a", "b", ""], [(Loss.EMPTY_LAST, 3, "")]),
    (b"\n", [""], ["", ""], [(Loss.EMPTY_LAST, 0, "")]),
    (b"a\r\nb", ["a", "b"], ["a\r", "b"], [(Loss.CARRIAGE_RETURN, 1, "a\r")]),
    (b"b\na\r", ["b", "a\r"], ["b", "a\r"], []),
    (b"\r", ["\r"], ["\r"], []),
    (b"\r\n", [""], ["\r", ""], [(Loss.CARRIAGE_RETURN, 0, "\r"), (Loss.EMPTY_LAST, 1, "")]),
    (b"\r\nx", ["", "x"], ["\r", "x"], [(Loss.CARRIAGE_RETURN, 0, "\r")]),
    (b"a\r\r\nb", ["a\r", "b"], ["a\r\r", "b"], [(Loss.CARRIAGE_RETURN, 2, "a\r\r")]),
    (b"a\r\nb\nc\rd\ne\r", ["a", "b", "c\rd", "e\r"], ["a\r", "b", "c\rd", "e\r"], [(Loss.CARRIAGE_RETURN, 1, "a\r")]),
    (b"x\ny\nz", ["x", "y", "z"], ["x", "y", "z"], []),  # the sets {"x\ny", "z"} and {"x", "y", "z"} look the same
    ("é\r\nb".encode(), ["é", "b"], ["é\r", "b"], [(Loss.CARRIAGE_RETURN, 2, "é\r")]),  # positions count bytes
]  # fmt: skip


@each(("payload", "published", "exact", "lost"), PAYLOADS)
def test_the_published_reading_the_exact_reading_and_the_losses(
    payload: bytes, published: list[str], exact: list[str], lost: list[tuple[Loss, int, str]]
) -> None:
    assert published_values(payload) == published
    assert exact_values(payload) == exact
    assert list(losses(payload)) == lost


@each(
    "value",
    [
        "x\u2028y",  # line separator
        "x\u2029y",  # paragraph separator
        "x\u0085y",  # next line
        "x\x0by",  # vertical tab
        "x\x0cy",  # form feed
        "x\x1cy\x1dz\x1e",  # file, group and record separators
        "x\x00y",
        "\ufeffx",  # byte order mark
        "x\ry",
        "日本 😀 é e\u0301",
    ],
)
def test_nothing_but_a_line_feed_ends_a_value(value: str) -> None:
    assert published_values(value.encode()) == [value]
    assert published_values(f"a\n{value}\nb".encode()) == ["a", value, "b"]
    assert exact_values(value.encode()) == [value]
    assert set(published_values(published_payload(lossless_order([value, "a"])))) == {value, "a"}


@pytest.mark.parametrize(
    ("payload", "position"),
    [(b"\xff", 0), (b"ab\xffc", 2), (b"ab\xc3", 2), (b"a\xed\xa0\x80", 1), (b"\xc0\x80", 0)],
)
def test_a_payload_that_is_not_utf_8_is_malformed_at_its_first_bad_byte(
    payload: bytes, position: int
) -> None:
    for read in (published_values, exact_values, lambda data: list(losses(data))):
        with pytest.raises(Malformed) as caught:
            read(payload)
        assert (caught.value.rule, caught.value.field, caught.value.offset) == (
            "IDX1-010",
            "idx1.payload",
            position,
        )


# ----------------------------------------------------------------------------------- writing without losses


@each(
    ("values", "payload"),
    [
        ([], b""),
        (["a"], b"a"),
        (["b", "a", "b"], b"a\nb"),
        (["a", ""], b"\na"),
        (["", "\r"], b"\n\r"),
        (["\r"], b"\r"),
        (["a\r", "b"], b"b\na\r"),
        (["\U00010000", "\uffff"], "\uffff\n\U00010000".encode()),  # by code point, not by UTF-16 unit
        (["é", "e", "z"], "e\nz\né".encode()),
    ],
)
def test_the_order_that_loses_nothing(values: list[str], payload: bytes) -> None:
    assert build_blob(values) == b"IDX1" + len(payload).to_bytes(8, "little") + payload
    assert published_values(payload) == lossless_order(values)
    assert list(losses(payload)) == []


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([""], "IDX1 cannot hold '' alone: an empty payload is the empty set"),
        (["a", "x\ny"], r"IDX1 cannot hold 'x\\ny': a line feed separates values"),
        (["\n"], r"IDX1 cannot hold '\\n': a line feed separates values"),
        (["\ud800"], r"IDX1 cannot hold '\\ud800': it is not UTF-8"),
        (["a\r", "b", "c\r"], r"IDX1 cannot hold both 'a\\r' and 'c\\r': only the last value"),
    ],
)
def test_a_set_that_the_format_cannot_hold_is_refused_by_name(values: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        lossless_order(values)


TROUBLE = st.text(st.sampled_from("\r\n\t ab\u2028\u0085\x0b\x0c\x00\ufeffé"), max_size=3)


@given(st.sets(st.one_of(TROUBLE, st.text(max_size=5), st.text(st.characters(), max_size=2)), max_size=8))
def test_any_set_of_text_is_refused_or_read_back_whole(values: set[str]) -> None:
    try:
        blob = build_blob(values)
    except ValueError:
        trailing = [value for value in values if value.endswith("\r")]
        unfit = [value for value in values if "\n" in value or any("\ud800" <= c <= "\udfff" for c in value)]
        assert unfit or len(trailing) > 1 or values == {""}
        return
    payload = bytes(BLOB.parse(blob).payload)
    assert set(published_values(payload)) == values
    assert list(losses(payload)) == []
    assert not values or set(exact_values(payload)) == values
    assert build_blob(sorted(values, reverse=True)) == blob


@given(st.lists(TROUBLE, max_size=6))
def test_what_is_lost_is_what_the_two_readings_differ_in(values: list[str]) -> None:
    payload = published_payload(values)
    exact = exact_values(payload)
    lost = [value for _, _, value in losses(payload)]
    changed = [value for value in exact[:-1] if value.endswith("\r")]
    assert lost == changed + ([""] if len(exact) > 1 and not exact[-1] else [])
    assert published_values(payload) == [
        *(value.removesuffix("\r") for value in exact[:-1]),
        *filter(None, exact[-1:]),
    ]


# ------------------------------------------------------------------------------------------ finding the blob

BLOB_BYTES = bytes.fromhex("49 44 58 31  07 00 00 00 00 00 00 00  62 61 72 0a 66 6f 6f")
FILE = b"PAR1" + bytes(48) + BLOB_BYTES + b"a footer"
BODY_END = len(FILE) - 8


def damaged(place: int, replacement: bytes) -> BytesSource:
    """The file with bytes of the blob replaced, ``place`` counted from its magic."""
    data = bytearray(FILE)
    data[52 + place : 52 + place + len(replacement)] = replacement
    return BytesSource(bytes(data))


def test_the_blob_typed_by_hand_is_what_is_built() -> None:
    assert build_blob({"foo", "bar"}) == BLOB_BYTES
    assert blob_crc(BLOB_BYTES) == 3490453832


@pytest.mark.parametrize("text", ["52", "+52", "00052"])
def test_the_published_reader_finds_the_blob(text: str) -> None:
    assert read_published(BytesSource(FILE), text) == {"foo", "bar"}


@pytest.mark.parametrize(
    ("length", "expected"), [(0, set()), (6, {"bar", "fo"}), (8, {"bar", "fooa"}), (9, {"bar", "fooa "})]
)
def test_a_length_that_is_a_little_wrong_gives_a_wrong_set_without_an_error(
    length: int, expected: set[str]
) -> None:
    assert read_published(damaged(4, length.to_bytes(8, "little")), "52") == expected


@each(
    ("source", "text", "rule", "field", "offset"),
    [
        (BytesSource(FILE), "abc", "IDX1-003", None, None),
        (BytesSource(FILE), "4", "IDX1-006", "idx1", 4),
        (BytesSource(FILE), "53", "IDX1-006", "idx1", 53),
        (BytesSource(FILE), str(len(FILE) - 11), "IDX1-006", "idx1", len(FILE) - 11),
        (BytesSource(FILE), str(len(FILE)), "IDX1-006", "idx1", len(FILE)),
        (BytesSource(FILE), str(2**63 - 1), "IDX1-006", "idx1", 2**63 - 1),
        (BytesSource(FILE), str(2**64 - 1), "IDX1-006", "idx1", 2**64 - 1),
        (damaged(0, b"idx1"), "52", "IDX1-006", "idx1", 52),
        (damaged(4, (16).to_bytes(8, "little")), "52", "IDX1-008", "idx1.length", 64),
        (damaged(4, (7).to_bytes(8, "big")), "52", "IDX1-008", "idx1.length", 64),
        (damaged(4, (2**40).to_bytes(8, "little")), "52", "IDX1-008", "idx1.length", 64),
        (damaged(4, b"\xff" * 8), "52", "IDX1-008", "idx1.length", 64),
        (damaged(14, b"\xff"), "52", "IDX1-010", "idx1.payload", 66),
    ],
)
def test_where_the_published_reader_fails_or_dies_this_one_raises(
    source: BytesSource, text: str, rule: str, field: str | None, offset: int | None
) -> None:
    with pytest.raises(FormatError) as caught:
        read_published(source, text)
    assert (caught.value.rule, caught.value.field, caught.value.offset) == (rule, field, offset)


def test_a_blob_is_read_with_its_range_and_traced() -> None:
    source = BytesSource(FILE)
    blob = read_blob(source, 52, BODY_END)
    assert blob == Blob(Layout.PUBLISHED, start=52, payload_start=64, end=71, payload=b"bar\nfoo")
    assert [(leaf.path, leaf.offset, leaf.length, leaf.value) for leaf in trace_blob(source, blob)] == [
        ("idx1.magic", 52, 4, b"IDX1"),
        ("idx1.length", 56, 8, 7),
        ("idx1.payload", 64, 7, b"bar\nfoo"),
    ]


@pytest.mark.parametrize(
    ("source", "offset", "rule", "field", "place"),
    [
        (BytesSource(FILE), len(FILE) - 11, "IDX1-005", "idx1", len(FILE) - 11),
        (BytesSource(FILE), 2**64 - 1, "IDX1-005", "idx1", 2**64 - 1),
        (BytesSource(FILE), 4, "IDX1-006", "idx1.magic", 4),
        (damaged(4, (8).to_bytes(8, "little")), 52, "IDX1-008", "idx1.length", 56),
        (damaged(4, b"\xff" * 8), 52, "IDX1-008", "idx1.length", 56),
    ],
)
def test_a_blob_that_does_not_fit_names_its_rule_and_its_place(
    source: BytesSource, offset: int, rule: str, field: str, place: int
) -> None:
    with pytest.raises(Malformed) as caught:
        read_blob(source, offset, BODY_END)
    assert (caught.value.rule, caught.value.field, caught.value.offset) == (rule, field, place)


def test_a_header_is_read_whatever_its_length_says() -> None:
    assert read_header(damaged(4, b"\xff" * 8), 52) == 2**64 - 1


def test_the_first_drafts_payload_is_read_by_the_length_of_its_key() -> None:
    source = BytesSource(b"PAR1bar\nfoo|footer")
    blob = read_draft_g0(source, 4, 7, body_end=12)
    assert blob == Blob(Layout.DRAFT_G0, start=4, payload_start=4, end=11, payload=b"bar\nfoo")
    assert trace_blob(source, blob) == [
        Leaf("idx1.payload", 4, 7, b"bar\nfoo", "The values, as in the published layout.")
    ]
    with pytest.raises(Malformed) as caught:
        read_draft_g0(source, 4, 9, body_end=12)
    assert (caught.value.rule, caught.value.offset) == ("IDX1-008", 4)
    with pytest.raises(Truncated):
        read_draft_g0(source, 4, 100, body_end=1000)


# ------------------------------------------------------------------------------------------ the companion key

GOOD: dict[str, Any] = {
    "column": ["country", "näme"],
    "offset": 52,
    "length": 7,
    "crc32": 3490453832,
    "row_count": 3,
    "value_count": 2,
    "null_count": 0,
    "lossless": True,
}


def test_a_companion_is_made_written_and_parsed_again() -> None:
    companion = make_companion(
        BLOB_BYTES, offset=52, column=["country", "näme"], row_count=3, value_count=2, null_count=0
    )
    assert companion.to_json() == (
        '{"column":["country","näme"],"offset":52,"length":7,"crc32":3490453832,'
        '"row_count":3,"value_count":2,"null_count":0,"lossless":true}'
    )
    assert parse_companion(companion.to_json()) == companion
    assert json.loads(companion.to_json()) == GOOD


def test_members_of_the_companion_are_documented_in_the_order_in_which_they_are_written() -> None:
    assert [field.name for field in COMPANION_FIELDS] == list(GOOD)
    assert [field.name for field in COMPANION_FIELDS] == list(Companion.__annotations__)
    assert all(field.doc.endswith(".") for field in COMPANION_FIELDS)


def test_members_that_are_not_declared_are_ignored() -> None:
    assert parse_companion(json.dumps({**GOOD, "later": [1]})) == parse_companion(json.dumps(GOOD))


def test_a_companion_that_says_it_lost_something_is_well_formed() -> None:
    assert parse_companion(json.dumps({**GOOD, "lossless": False})).lossless is False


@given(
    st.builds(
        Companion,
        column=st.lists(st.text(), min_size=1, max_size=3).map(tuple),
        lossless=st.booleans(),
        **{
            name: st.integers(0, 2**64 - 1)
            for name in ("offset", "length", "crc32", "row_count", "value_count", "null_count")
        },
    )
)
def test_any_companion_survives_being_written_and_parsed(companion: Companion) -> None:
    assert parse_companion(companion.to_json()) == companion


NOT_A_COUNT = "a whole number from 0 to 2^64-1"


@each(
    ("member", "value", "what"),
    [
        ("column", "country", "a list of names"),
        ("column", [], "a list of names"),
        ("column", [1], "a list of names"),
        ("column", {"0": "country"}, "a list of names"),
        ("offset", "52", NOT_A_COUNT),
        ("offset", -1, NOT_A_COUNT),
        ("offset", 2**64, NOT_A_COUNT),
        ("offset", 52.0, NOT_A_COUNT),
        ("offset", None, NOT_A_COUNT),
        ("length", True, NOT_A_COUNT),
        ("crc32", 1.5, NOT_A_COUNT),
        ("row_count", [3], NOT_A_COUNT),
        ("value_count", {}, NOT_A_COUNT),
        ("null_count", False, NOT_A_COUNT),
        ("lossless", 1, "true or false"),
        ("lossless", "true", "true or false"),
        ("lossless", None, "true or false"),
    ],
)
def test_a_member_of_another_type_is_named(member: str, value: object, what: str) -> None:
    with pytest.raises(Malformed) as caught:
        parse_companion(json.dumps({**GOOD, member: value}))
    assert str(caught.value) == f"key pqassay.distinct_index: member {member!r} is not {what} [IDX1-020]"


@each("member", list(GOOD))
def test_a_missing_member_is_named(member: str) -> None:
    with pytest.raises(Malformed) as caught:
        parse_companion(json.dumps({name: value for name, value in GOOD.items() if name != member}))
    assert caught.value.reason == f"member {member!r} is missing"
    assert caught.value.rule == "IDX1-020"


@each(
    "text",
    [
        "",
        "{",
        "52",
        "null",
        "[]",
        '"text"',
        "{}x",
        "\ud800",
        "[" * 100_000,
        '{"offset": ' + "9" * 10_000 + "}",
    ],
)
def test_what_is_no_json_object_is_malformed(text: str) -> None:
    with pytest.raises(Malformed) as caught:
        parse_companion(text)
    assert caught.value.rule == "IDX1-020"


def test_a_companion_record_of_two_columns_with_one_path_is_not_trusted() -> None:
    data = build_blob(["a"])
    source = BytesSource(data)
    blob = read_blob(source, 0, len(data))
    record = make_companion(data, offset=0, column=["n"], row_count=1, value_count=1, null_count=0)
    leaf = SchemaElement(name="n", type=Type.BYTE_ARRAY)

    def trusted(*columns: SchemaElement) -> bool:
        schema = [SchemaElement(name="root", num_children=len(columns)), *columns]
        metadata = FileMetaData(version=1, schema=schema, num_rows=1, row_groups=[])
        return not why_not_trusted(record, blob, data, row_count=1, columns=leaves(metadata))

    assert (True, False, False) == (trusted(leaf), trusted(leaf, leaf), trusted())
