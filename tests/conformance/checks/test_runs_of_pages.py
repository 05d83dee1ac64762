"""The checks of runs, of pages without values, and of levels that a column does not have."""

from __future__ import annotations

from typing import Any

import pytest

import pqassay
from damage import turns
from each import each
from pqassay_golden.tiny.parquet import Column, Encoding, Layout, TinyParquet
from pqassay_spec.grammar.thrift_wire import varint, zigzag
from pqassay_spec.mutation.mutations import Mutation, mutate
from pqassay_spec.parquet.encoding import delta as delta_encoding
from pqassay_spec.parquet.encoding.levels import packed_run, repeating_run
from pqassay_spec.parquet.encoding.plain import LENGTH, Int96Timestamp

CHUNK = "row_groups[0].columns[0]"

BOTH_VERSIONS = pytest.mark.parametrize("version", [1, 2])


def judged(data: bytes, body: bytes, page: int = 0) -> tuple[str, list[str]]:
    """The outcome of a file one of whose pages has another body, and the rules that it breaks, beside those about bytes behind values."""
    (file,) = pqassay.check(mutate(data, Mutation("set", f"{CHUNK}.pages[{page}].body", body))).files
    return file.outcome, [finding.rule for finding in file.findings if finding.rule != "PQF-076"]


def section(*runs: bytes) -> bytes:
    """Runs behind their length."""
    return LENGTH.build(len(b"".join(runs))) + b"".join(runs)


def flags(version: Any) -> bytes:
    """Twelve booleans in runs, which are all true, as their statistics say."""
    column = Column("flag", "boolean", [True] * 12, optional=False)
    return TinyParquet((column,), layout=Layout(version=version, encoding=Encoding.RLE)).build()


def places(version: Any) -> bytes:
    """Twelve indexes into a dictionary of five entries."""
    values = [value % 5 for value in range(12)]
    column = Column("number", "int32", values, optional=False)
    layout = Layout(version=version, dictionary=Encoding.RLE_DICTIONARY)
    return TinyParquet((column,), statistics=False, layout=layout).build()


def numbers(version: Any, **layout: Any) -> bytes:
    """Twelve numbers with definition levels."""
    column = Column("number", "int32", list(range(12)))
    return TinyParquet((column,), layout=Layout(version=version, **layout)).build()


DAY = 86_400_000_000_000
NUMBERS = b"".join(number.to_bytes(4, "little") for number in range(12))


# ------------------------------------------------------------------------------------------- runs of more bits


@BOTH_VERSIONS
@pytest.mark.parametrize("value", [2, 3, 128, 255])
def test_a_boolean_takes_one_bit(value: int, version: int) -> None:
    """The statistics are true and not blamed, whatever pyarrow makes of such a boolean."""
    data = flags(version)

    assert ("conformant", []) == judged(data, section(repeating_run(1, 12, width=1)))
    assert ("untrue", ["PQF-157"]) == judged(data, section(repeating_run(value, 12, width=1)))
    mixed = packed_run([1] * 8, width=1) + repeating_run(value, 4, width=1)
    assert ("untrue", ["PQF-157"]) == judged(data, section(mixed))


@BOTH_VERSIONS
@pytest.mark.parametrize(
    ("width", "value", "rules"),
    [(1, 1, []), (1, 2, ["PQF-157"]), (1, 4, ["PQF-157"]), (2, 3, []), (2, 4, ["PQF-157"]), (3, 4, []), (3, 8, ["PQF-077"]), (8, 4, [])],
)  # fmt: skip
def test_an_index_takes_the_bits_of_its_width(width: int, value: int, rules: list[str], version: int) -> None:
    body = bytes((width,)) + packed_run([1, 0] * 4, width=width) + repeating_run(value, 4, width=width)

    assert rules == judged(places(version), body, 1)[1]


# --------------------------------------------------------------------------------------------- runs of no values

EMPTY = [b"\0\0", b"\0\1", b"\1"]
"""Runs that repeat 0 or 1 no times, and one of no groups."""


@BOTH_VERSIONS
@pytest.mark.parametrize(("empty", "before"), turns([(run,) for run in EMPTY], [(0,), (5,)]))
def test_a_run_of_booleans_holds_some(empty: bytes, before: int, version: int) -> None:
    first = repeating_run(1, before, width=1) if before else b""
    runs = section(first, empty, repeating_run(1, 12 - before, width=1))

    assert ("untrue", ["PQF-158"]) == judged(flags(version), runs)


@BOTH_VERSIONS
@pytest.mark.parametrize("empty", EMPTY)
def test_a_run_of_indexes_holds_some(empty: bytes, version: int) -> None:
    runs = repeating_run(1, 5, width=3) + empty + repeating_run(0, 7, width=3)

    assert ("untrue", ["PQF-158"]) == judged(places(version), b"\3" + runs, 1)


@BOTH_VERSIONS
@pytest.mark.parametrize("empty", EMPTY)
def test_a_run_of_levels_holds_some(empty: bytes, version: int) -> None:
    runs = repeating_run(1, 5, width=1) + empty + repeating_run(1, 7, width=1)
    data = numbers(version)
    if version == 1:
        assert ("untrue", ["PQF-158"]) == judged(data, section(runs) + NUMBERS)
    else:
        header = f"{CHUNK}.pages[0].header.data_page_header_v2.definition_levels_byte_length"
        data = mutate(data, Mutation("set", header, len(runs)))
        assert ("untrue", ["PQF-158"]) == judged(data, runs + NUMBERS)


# --------------------------------------------------------------------------------------------------- runs cut short


@BOTH_VERSIONS
@pytest.mark.parametrize("missing", [0, 1])
def test_the_last_group_is_stored_whole(missing: int, version: int) -> None:
    """Two groups of three bits take six bytes, of which the twelve indexes need five."""
    run = packed_run([value % 5 for value in range(12)], width=3)
    rules = ["PQF-141"] * missing

    assert rules == judged(places(version), b"\3" + run[: len(run) - missing], 1)[1]


# ------------------------------------------------------------------------------------------- pages without values

HEADER = bytes((*varint(128), 4, 0, 0))
"""The header of no numbers as differences."""

WITHOUT_VALUES: dict[str, tuple[dict[str, Any], list[tuple[bytes, list[str]]]]] = {
    "DELTA_BINARY_PACKED": (
        {"encoding": Encoding.DELTA_BINARY_PACKED},
        [
            (HEADER, []),
            (b"", ["PQF-078"]),
            (HEADER[:3], ["PQF-078"]),
            (bytes((0, 4, 0, 0)), ["PQF-090"]),
            (bytes((*varint(128), 0, 0, 0)), ["PQF-090"]),
            (bytes((64, 2, 0, 0)), ["PQF-090"]),
            (bytes((*varint(128), 4, 7, 0)), ["PQF-091"]),
            (HEADER[:-1] + varint(zigzag(1 << 31)), ["PQF-079"]),
            (HEADER[:-1] + varint(zigzag(-(1 << 31))), []),
        ],
    ),
    "RLE_DICTIONARY": (
        {"dictionary": Encoding.RLE_DICTIONARY},
        [(b"\0", []), (b"\3", []), (b"\x21", ["PQF-078"]), (b"", ["PQF-160"])],
    ),
    "BYTE_STREAM_SPLIT": (
        {"encoding": Encoding.BYTE_STREAM_SPLIT},
        [(b"", []), (bytes(3), ["PQF-089"]), (bytes(8), [])],
    ),
    "PLAIN": ({}, [(b"", []), (bytes(3), [])]),
}


@each(
    ("encoding", "body", "rules", "statistics"),
    turns(
        [
            (encoding, body, rules)
            for encoding, (_, bodies) in WITHOUT_VALUES.items()
            for body, rules in bodies
        ],
        [(True,), (False,)],
    ),
)
def test_a_page_of_nulls_is_read_to_its_end(
    encoding: str, body: bytes, rules: list[str], statistics: bool
) -> None:
    """Also where pyarrow is asked for the values of the other page, and refuses this one."""
    column = Column("number", "int32", [7, 8, 9, None, None, None])
    layout = Layout(page_rows=3, **WITHOUT_VALUES[encoding][0])
    data = TinyParquet((column,), statistics=statistics, layout=layout).build()
    page = 2 if encoding == "RLE_DICTIONARY" else 1
    outcome, broken = judged(data, section(repeating_run(0, 3, width=1)) + body, page)

    assert rules == broken
    assert "errored" != outcome


@pytest.mark.parametrize("encoding", WITHOUT_VALUES)
def test_a_page_of_a_chunk_without_places_may_be_empty(encoding: str) -> None:
    """All engines read such a file."""
    column = Column("number", "int32", [7], optional=False)
    data = TinyParquet((column,), statistics=False, layout=Layout(**WITHOUT_VALUES[encoding][0])).build()
    page = 1 if encoding == "RLE_DICTIONARY" else 0
    header = f"{CHUNK}.pages[{page}].header.data_page_header.num_values"

    assert ("conformant", []) == judged(mutate(data, Mutation("set", header, 0)), b"", page)


@pytest.mark.parametrize(
    ("body", "rules"), [(section(), []), (b"", ["PQF-078"]), (b"\0\0", ["PQF-078"]), (section(b"\4")[:4], ["PQF-078"])]
)  # fmt: skip
def test_a_page_without_booleans_has_the_length_of_its_runs(body: bytes, rules: list[str]) -> None:
    column = Column("flag", "boolean", [True, False, True, None, None, None])
    data = TinyParquet((column,), layout=Layout(page_rows=3, encoding=Encoding.RLE)).build()

    assert rules == judged(data, section(repeating_run(0, 3, width=1)) + body, 1)[1]


# ------------------------------------------------------------------------------------------------- first values


@pytest.mark.parametrize(
    ("kind", "first", "rules"),
    [
        ("int32", (1 << 31) - 12, []),
        ("int32", -(1 << 31), []),
        ("int32", 1 << 31, ["PQF-079"]),
        ("int32", -(1 << 31) - 1, ["PQF-079"]),
        ("int32", 1 << 40, ["PQF-079"]),
        ("int64", (1 << 63) - 12, []),
        ("int64", -(1 << 63), []),
    ],
)
def test_the_first_value_is_one_of_the_type(kind: Any, first: int, rules: list[str]) -> None:
    column = Column("number", kind, list(range(12)), optional=False)
    data = TinyParquet(
        (column,), statistics=False, layout=Layout(encoding=Encoding.DELTA_BINARY_PACKED)
    ).build()
    rest = delta_encoding.encode(list(range(12)), bits=32)[5:]
    body = varint(128) + bytes((4, 12)) + varint(zigzag(first)) + rest

    assert rules == judged(data, body)[1]


# ------------------------------------------------------------------------------------ levels that a column lacks


@pytest.mark.parametrize("name", ["repetition", "definition"])
def test_a_column_without_levels_has_no_bytes_of_them(name: str) -> None:
    column = Column("number", "int32", list(range(12)), optional=False)
    data = TinyParquet((column,), layout=Layout(version=2)).build()
    levels = repeating_run(0, 12, width=1)
    header = f"{CHUNK}.pages[0].header.data_page_header_v2.{name}_levels_byte_length"

    assert ("conformant", []) == judged(data, NUMBERS)
    assert ("conformant", ["PQF-159"]) == judged(
        mutate(data, Mutation("set", header, len(levels))), levels + NUMBERS
    )


# ------------------------------------------------------------------------------------------------------ INT96


@each(
    ("nanoseconds", "rules", "optional"),
    turns(
        [(0, []), (DAY - 1, []), (DAY, ["PQF-163"]), (-1, ["PQF-163"]), ((1 << 63) - 1, ["PQF-163"])],
        [(True,), (False,)],
    ),
)
def test_nanoseconds_are_those_of_a_day(nanoseconds: int, rules: list[str], optional: bool) -> None:
    moment = Int96Timestamp(nanoseconds, 2_440_588).build()
    values = [bytes(12), moment, *[None] * optional]
    data = TinyParquet((Column("moment", "int96", values, optional=optional),)).build()
    (file,) = pqassay.check(data).files

    assert rules == [finding.rule for finding in file.findings]
