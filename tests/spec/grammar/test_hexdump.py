"""Hexdumps: rows of bytes with the name of the field that they belong to."""

from __future__ import annotations

import pytest

from each import each
from pqassay_spec.grammar.hexdump import annotated, annotated_ranges, describe, format_row, marked, show
from pqassay_spec.grammar.trace import Leaf, trace
from pqassay_spec.idx1.blob import BLOB, build_blob


def test_a_blob_is_shown_field_by_field() -> None:
    blob = build_blob({"foo", "bar"})
    _, leaves = trace(BLOB, blob, root="idx1", base=52)
    assert list(annotated(blob, leaves, base=52)) == [
        "00000034  49 44 58 31                                      IDX1              idx1.magic = b'IDX1'",
        "00000038  07 00 00 00 00 00 00 00                          ........          idx1.length = 7",
        "00000040  62 61 72 0a 66 6f 6f                             bar.foo           idx1.payload = b'bar\\nfoo'",
    ]


def test_a_field_longer_than_a_row_is_named_in_its_first_row() -> None:
    data = bytes(range(0x41, 0x41 + 20))
    assert list(annotated(data, [Leaf("text", 0, 20, 20)])) == [
        "00000000  41 42 43 44 45 46 47 48 49 4a 4b 4c 4d 4e 4f 50  ABCDEFGHIJKLMNOP  text = 20",
        "00000010  51 52 53 54                                      QRST",
    ]


@pytest.mark.parametrize(("length", "rows"), [(1, 1), (15, 1), (16, 1), (17, 2), (32, 2), (33, 3)])
def test_a_field_takes_as_many_rows_as_its_bytes_fill(length: int, rows: int) -> None:
    assert len(list(annotated(bytes(length), [Leaf("field", 0, length, 0)]))) == rows


def test_bytes_between_two_leaves_are_shown_as_no_structure_and_empty_leaves_not_at_all() -> None:
    leaves = [Leaf("a", 0, 1, 1), Leaf("nothing", 1, 0, b""), Leaf("b", 3, 1, 2)]
    rows = list(annotated(b"\x01\xff\xff\x02", leaves))
    assert [row.split("  ")[-1].strip() for row in rows] == ["a = 1", "(no structure)", "b = 2"]
    assert [row[:8] for row in rows] == ["00000000", "00000001", "00000003"]


@pytest.mark.parametrize(
    ("longest", "expected"),
    [
        (4, ["00000000", "00000010", "*", "00000060"]),
        (3, ["00000000", "*", "00000060"]),
        (1, ["00000000", "*", "00000060"]),
        (7, [f"000000{row}0" for row in range(7)]),
    ],
)
def test_the_middle_of_a_long_field_is_left_out(longest: int, expected: list[str]) -> None:
    rows = list(annotated(bytes(100), [Leaf("long", 0, 100, 0)], longest=longest))
    assert [row.split(" ")[0] for row in rows] == expected


def test_what_is_left_out_is_counted() -> None:
    rows = list(annotated(bytes(100), [Leaf("long", 0, 100, 0)]))
    assert rows[2] == "*         ... 64 bytes left out ..."
    assert rows[3] == "00000060  00 00 00 00                                      ...."


def test_only_the_rows_that_are_shown_are_read() -> None:
    asked: list[tuple[int, int]] = []

    def read(start: int, end: int) -> bytes:
        asked.append((start, end))
        return bytes(end - start)

    leaves = [Leaf("first", 0, 4, 0), Leaf("far", 1 << 40, 4, 0)]
    rows = list(annotated_ranges(read, leaves, 0))
    assert len(rows) == 6
    assert sum(end - start for start, end in asked) == 4 + (16 + 16 + 12) + 4
    assert asked[-1] == (1 << 40, (1 << 40) + 4)


def test_marks_stand_under_the_bytes_that_are_meant() -> None:
    data = bytes(range(0x30, 0x30 + 20))
    assert marked(data, base=100, start=114, end=118) == [
        (
            "00000064  30 31 32 33 34 35 36 37 38 39 3a 3b 3c 3d 3e 3f  0123456789:;<=>?",
            "                                                    ^^ ^^",
        ),
        ("00000074  40 41 42 43                                      @ABC", "          ^^ ^^"),
    ]
    assert [marks for _, marks in marked(data, base=100, start=0, end=100)] == ["", ""]


def test_a_row_shows_ascii_and_dots_for_the_rest() -> None:
    assert format_row(255, b"a~\x7f\x1f\xe9 ") == (
        "000000ff  61 7e 7f 1f e9 20                                a~..."
    )  # the space at the end is cut off


@each(
    ("value", "label", "expected"),
    [
        (7, "", "7"),
        (1, "INT32", "1 (INT32)"),
        (b"ab", "", "b'ab'"),
        ("a\nb", "", "'a\\nb'"),
        ("\udcff", "", "'\\udcff'"),
        ("\u202e\x1b[31m", "", "'\\u202e\\x1b[31m'"),
        (b"x" * 58, "", "b'" + "x" * 58 + "'… (58 bytes)"),
        ("y" * 1000, "", "'" + "y" * 56 + "… (1000 characters)"),
        (True, "", "True"),
        ((4, 8), "", "(4, 8)"),
    ],
)
def test_a_value_is_shown_on_one_line_and_safe_to_print(value: object, label: str, expected: str) -> None:
    shown = show(value, label)
    if "…" in expected:
        assert shown.endswith(expected[expected.index("…") :])
        assert len(shown.partition("…")[0]) == 57
    else:
        assert shown == expected
    assert "\n" not in shown
    assert shown.isprintable()


def test_a_leaf_is_described_by_path_and_value() -> None:
    assert (
        describe(Leaf("footer.schema[1].type", 9, 1, 6, label="BYTE_ARRAY"))
        == "footer.schema[1].type = 6 (BYTE_ARRAY)"
    )
