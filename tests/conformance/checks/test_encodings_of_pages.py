"""Codecs, encodings, dictionary pages and values of every encoding: whether or not there are other claims about a chunk."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pqassay
from damage import turns
from each import each
from pqassay_golden.tiny.parquet import Column, Encoding, Layout, TinyParquet, decimal
from pqassay_spec.grammar.thrift_wire import varint
from pqassay_spec.mutation.file_dissection import take_apart
from pqassay_spec.mutation.mutations import Mutation, mutate
from pqassay_spec.parquet.encoding import delta as delta_encoding
from pqassay_spec.parquet.encoding.levels import packed_run
from pqassay_spec.parquet.encoding.names import ENCODINGS, TYPES, encodes
from pqassay_spec.parquet.encoding.plain import LENGTH
from pqassay_spec.parquet.thrift import Type

CHUNK = "row_groups[0].columns[0]"
FACTS = f"footer.{CHUNK}.meta_data"
ENTRIES = f"{CHUNK}.pages[0]"
OWN = f"{ENTRIES}.header.dictionary_page_header"

MINE = ["PQF-07*", "PQF-08*", "PQF-09*", "PQF-171", "PQF-169"]

LZO_END = bytes.fromhex("11 00 00")  # on its own, so that a false constant is noticed

WORDS = [b"tin", b"lead", b"zinc", b"lead", b"copper", b"tin"]


def found(data: bytes, only: list[str] | None = None) -> set[str]:
    """The rules that a file breaks, which is judged in any case."""
    report = pqassay.check(data, tier="values", only=only or MINE)
    assert report.files[0].outcome != "errored", report.files[0].error
    return {finding.rule for finding in report.files[0].findings}


def tiny(kind: Any, values: list[Any], *, statistics: bool, **layout: Any) -> bytes:
    """A file of one column without nulls."""
    column = Column("c", kind, values, optional=False)
    return TinyParquet((column,), statistics=statistics, layout=Layout(crc=False, **layout)).build()


def with_dictionary(kind: Any, values: list[Any], *, statistics: bool, **layout: Any) -> bytes:
    return tiny(kind, values, statistics=statistics, dictionary=Encoding.RLE_DICTIONARY, **layout)


def written(array: Any, encoding: str, *, statistics: bool = False) -> bytes:
    """A file of one column by pyarrow, with one page."""
    sink = io.BytesIO()
    table = pa.table({"c": array}, schema=pa.schema([pa.field("c", array.type, nullable=False)]))
    pq.write_table(
        table,
        sink,
        use_dictionary=False,
        column_encoding={"c": encoding},
        write_statistics=statistics,
        compression="none",
        store_schema=False,
    )
    return sink.getvalue()


def body(data: bytes, values: bytes) -> bytes:
    """A file whose first page has another body."""
    return mutate(data, Mutation("set", f"{CHUNK}.pages[0].body", values))


def body_of(data: bytes) -> bytes:
    """The body of the first page."""
    page: Any = take_apart(data).row_groups[0].columns[0].pages[0]
    return bytes(page.body)


# ------------------------------------------------------------------------------------------- codecs and encodings


@each(
    ("codec", "version"), turns([(-1,), (8,), (99,), (5000,)], [(1,), (2,)])
)  # version 2: not compressed here
def test_a_codec_that_there_is_not_is_found_from_the_footer_on(codec: int, version: int) -> None:
    data = tiny("int32", [1, 2], statistics=True, version=version)
    data = mutate(data, Mutation("set", f"{FACTS}.codec", codec))

    assert {"PQF-171"} == {finding.rule for finding in pqassay.check(data, tier="footer").files[0].findings}
    assert {"PQF-171"} == found(data)


@pytest.mark.parametrize(
    "lzo",
    [b"\x19" + bytes(8) + LZO_END, bytes.fromhex("00 00 00 08 00 00 00 0c") + b"\x19" + bytes(8) + LZO_END],
)
def test_lzo_is_not_checked_and_breaks_no_rule(lzo: bytes) -> None:
    data = body(tiny("int32", [1, 2], statistics=True), lzo)
    data = mutate(data, Mutation("set", f"{CHUNK}.pages[0].header.uncompressed_page_size", 8))
    report = pqassay.check(mutate(data, Mutation("set", f"{FACTS}.codec", 3)), tier="values")

    assert (None, []) == (report.files[0].error, report.files[0].findings)
    (coverage,) = report.coverages.values()
    assert "LZO" in coverage.reasons["STA-040"]


@pytest.mark.parametrize("raw", [bytes(8), bytes(range(40)), b"\0", LZO_END[1:]])
def test_pages_that_do_not_end_as_lzo_does_are_not_compressed_by_it(raw: bytes) -> None:
    data = body(tiny("int32", [1, 2], statistics=False), raw)

    assert {"PQF-070"} == found(mutate(data, Mutation("set", f"{FACTS}.codec", 3)))


@pytest.mark.parametrize("encoding", [-1, 11, 77])
def test_a_listed_encoding_that_there_is_not_is_found(encoding: int) -> None:
    data = tiny("int32", [1, 2], statistics=False, encoding_stats=True)

    assert {"PQF-171"} == found(mutate(data, Mutation("set", f"{FACTS}.encodings[0]", encoding)))
    assert {"PQF-171"} == found(
        mutate(data, Mutation("set", f"{FACTS}.encoding_stats[0].encoding", encoding))
    )


@each(("encoding", "statistics"), turns([(-1,), (3,), (4,), (5,), (6,), (7,), (77,)], [(True,), (False,)]))
def test_values_of_an_encoding_that_their_type_does_not_have_are_found(
    encoding: int, statistics: bool
) -> None:
    data = tiny("double", [1.0, 2.0], statistics=statistics)

    assert {"PQF-084" if encoding in ENCODINGS else "PQF-169"} == found(
        mutate(data, Mutation("set", f"{CHUNK}.pages[0].header.data_page_header.encoding", encoding))
    )


def test_alp_is_not_read_and_breaks_no_rule() -> None:
    data = tiny("double", [1.0, 2.0], statistics=True)
    encoding = Mutation("set", f"{CHUNK}.pages[0].header.data_page_header.encoding", int(Encoding.ALP))
    report = pqassay.check(mutate(data, encoding), tier="values", only=MINE)

    assert ("conformant where checked", []) == (report.files[0].outcome, report.files[0].findings)
    (coverage,) = report.coverages.values()
    assert "ALP" in coverage.reasons["PQF-078"]


def test_every_type_has_plain_and_bit_packed_has_none() -> None:
    assert all(encodes(Encoding.PLAIN, kind) for kind in Type)
    assert Encoding.BIT_PACKED not in TYPES
    assert not encodes(Encoding.PLAIN, None)


# ---------------------------------------------------------------------------------------------- dictionary pages

DICTIONARIES = pytest.mark.parametrize(
    ("kind", "values"),
    [("int64", [5, 6, 5, 7]), ("string", ["tin", "lead", "tin", ""])],
    ids=["numbers", "texts"],
)
SAID = pytest.mark.parametrize("statistics", [True, False])


@DICTIONARIES
@SAID
def test_entries_too_few_cut_off_or_with_bytes_behind_them_are_found(
    kind: str, values: list[Any], statistics: bool
) -> None:
    data = with_dictionary(kind, values, statistics=statistics)
    raw = body_of(data)
    assert set() == found(data)
    for count in (1, 100, 2**31 - 4):
        assert {"PQF-086"} == found(mutate(data, Mutation("add", f"{OWN}.num_values", count)))
    for cut in (raw[:0], raw[:3], raw[:-1]):
        assert {"PQF-086"} == found(body(data, cut))
    for more in (b"\0", b"\xff" * 40):
        assert {"PQF-087"} == found(body(data, raw + more))


@SAID
def test_entries_that_stand_twice_are_counted(statistics: bool) -> None:
    """pyarrow leaves the second one out."""
    data = with_dictionary("string", ["tin", "lead"], statistics=statistics)
    twice = b"".join(LENGTH.build(len(word)) + word for word in (b"tin", b"lead", b"tin"))
    data = mutate(body(data, twice), Mutation("set", f"{OWN}.num_values", 3))

    assert set() == found(data)
    assert {"PQF-087"} == found(body(data, twice + b"\0"))


@each(("encoding", "statistics"), turns([(-1,), (3,), (5,), (8,), (77,)], [(True,), (False,)]))
def test_entries_are_plain(encoding: int, statistics: bool) -> None:
    data = with_dictionary("int64", [5, 6], statistics=statistics)

    expected = "PQF-085" if encoding in ENCODINGS else "PQF-169"
    assert {expected} == found(mutate(data, Mutation("set", f"{OWN}.encoding", encoding)))


@each(
    ("kind", "values", "rules", "statistics"),
    turns(
        [
            ("int64", [-1, 5, 6], set[str]()),
            ("int64", [5, -1, 6], {"PQF-088"}),
            ("double", [-1.0, 0.5, 6.0], set[str]()),
            ("double", [6.0, 0.5], {"PQF-088"}),
            ("string", ["", "a", "aa", "é"], set[str]()),
            ("string", ["é", "a"], {"PQF-088"}),
            *(
                (decimal(10, 2, physical, length), values, rules)
                for physical, length in (
                    (Type.INT32, None),
                    (Type.INT64, None),
                    (Type.BYTE_ARRAY, None),
                    (Type.FIXED_LEN_BYTE_ARRAY, 8),
                )
                for values, rules in (
                    ([-300, -1, 0, 127, 128, 40_000], set[str]()),
                    ([-1], set[str]()),
                    ([-1, -300], {"PQF-088"}),
                    ([128, 127], {"PQF-088"}),
                )
            ),
            ("float16", [b"\0\xbc", b"\0\x3c"], set[str]()),
            ("float16", [b"\0\x3c", b"\0\xbc"], {"PQF-088"}),
            ("uuid", [bytes(16), b"\xff" * 16], set[str]()),
            ("uuid", [b"\xff" * 16, bytes(16)], {"PQF-088"}),
        ],
        [(True,), (False,)],
    ),
)
def test_entries_ascend_where_it_is_said(
    kind: str, values: list[Any], rules: set[str], statistics: bool
) -> None:
    assert rules == found(with_dictionary(kind, values, statistics=statistics, sorted_dictionary=True))
    assert set() == found(with_dictionary(kind, values, statistics=statistics))


# ------------------------------------------------------------------------------------- values of every encoding

NUMBERS = list(range(0, 900, 3))
FEW = [1, 1000, 5]
TEXT = b"".join(WORDS)
SIZES = [len(word) for word in WORDS]
RESTS = [b"tin", b"alk", b"zinc", b"c", b"tin", b"op"]
RUNS = packed_run([1, 0, 1], width=1)

DELTAS = Encoding.DELTA_BINARY_PACKED
FILES: dict[str, Callable[[bool], bytes]] = {
    "streams": lambda said: tiny("double", [0.5, 1.5], statistics=said, encoding=Encoding.BYTE_STREAM_SPLIT),
    "texts": lambda said: written(pa.array(WORDS), "PLAIN", statistics=said),
    "differences": lambda said: tiny("int64", NUMBERS, statistics=said, encoding=DELTAS),
    "few differences": lambda said: tiny("int64", FEW, statistics=said, encoding=DELTAS),
    "lengths": lambda said: written(pa.array(WORDS), "DELTA_LENGTH_BYTE_ARRAY", statistics=said),
    "prefixes": lambda said: written(pa.array(WORDS), "DELTA_BYTE_ARRAY", statistics=said),
    "fixed": lambda _: written(pa.array([b"abc", b"abd"], pa.binary(3)), "DELTA_BYTE_ARRAY"),
    "flags": lambda said: written(pa.array([True, False, True]), "RLE", statistics=said),
}
"""Files of one page, with or without statistics."""


def lengths(numbers: list[int]) -> bytes:
    """Lengths as differences."""
    return delta_encoding.encode(numbers, bits=32)


def differences(numbers: list[int]) -> bytes:
    return delta_encoding.encode(numbers, bits=64)


def prefixed(prefixes: list[int], rest: list[bytes]) -> bytes:
    """Byte arrays that begin like the one before."""
    return lengths(prefixes) + lengths([len(one) for one in rest]) + b"".join(rest)


BODIES: list[tuple[str, Callable[[bytes], bytes], str]] = [
    *((name, bytes, "") for name in FILES),
    *(("streams", lambda raw, more=more: raw + bytes(more), "PQF-089") for more in (1, 8, 80)),
    ("streams", lambda raw: raw[:-1], "PQF-078"),
    ("texts", lambda raw: raw + b"\0", "PQF-076"),
    ("texts", lambda raw: raw[:-1], "PQF-078"),
    ("texts", lambda _: b"", "PQF-078"),
    ("texts", lambda raw: b"\xff\xff\xff\x7f" + raw[4:], "PQF-078"),
    ("differences", lambda _: differences(NUMBERS), ""),
    ("differences", lambda _: differences(NUMBERS[:-1]), "PQF-091"),
    ("differences", lambda _: differences([*NUMBERS, 1]), "PQF-091"),
    ("differences", lambda _: differences(NUMBERS) + b"\0", "PQF-076"),
    ("differences", lambda _: differences(NUMBERS)[:9], "PQF-078"),
    ("few differences", lambda _: differences(FEW), ""),
    ("few differences", lambda _: differences(FEW)[:-1], "PQF-092"),
    ("few differences", lambda _: differences(FEW)[:13], "PQF-078"),
    ("lengths", lambda _: lengths(SIZES) + TEXT, ""),
    ("lengths", lambda _: lengths(SIZES[:-1]) + TEXT, "PQF-091"),
    ("lengths", lambda _: lengths([*SIZES, 0]) + TEXT, "PQF-091"),
    ("lengths", lambda _: lengths(SIZES) + TEXT[:-1], "PQF-078"),
    ("lengths", lambda _: lengths([-1, *SIZES[1:]]) + TEXT, "PQF-078"),
    ("lengths", lambda _: lengths([*SIZES[:-1], 2**31 - 1]) + TEXT, "PQF-078"),
    ("lengths", lambda _: lengths(SIZES)[:-1], "PQF-092"),
    ("lengths", lambda _: b"\x01" + lengths(SIZES)[1:] + TEXT, "PQF-090"),
    ("lengths", lambda _: delta_encoding.encode([(1 << 63) - 1, -(1 << 63), 0, 7, 0, 0], bits=128) + TEXT, "PQF-079"),
    ("prefixes", lambda _: prefixed([0, 1, 0, 2, 0, 1], RESTS), ""),
    ("prefixes", lambda _: prefixed([1, 1, 0, 2, 0, 1], RESTS), "PQF-078"),
    ("prefixes", lambda _: prefixed([0, 4, 0, 2, 0, 1], RESTS), "PQF-078"),
    ("prefixes", lambda _: prefixed([0, 1, 0, 2, 0], RESTS), "PQF-091"),
    ("prefixes", lambda _: prefixed([0, 1, 0, 2, 0, 1], RESTS[:-1]), "PQF-091"),
    ("fixed", lambda _: lengths([0, 2]) + lengths([3, 2]) + b"abcde", "PQF-078"),
    ("flags", lambda _: LENGTH.build(len(RUNS)) + RUNS, ""),
    ("flags", lambda _: LENGTH.build(len(RUNS)) + RUNS + b"\0", "PQF-076"),
    ("flags", lambda _: b"", "PQF-078"),
    ("flags", lambda _: LENGTH.build(len(RUNS)), "PQF-078"),
    ("flags", lambda _: LENGTH.build(1) + RUNS[:1], "PQF-078"),
    ("flags", lambda _: struct.pack("<I", 2**31) + RUNS, "PQF-078"),
]  # fmt: skip
"""Files, another body for their page, and the rule that it breaks."""


@each(("name", "change", "rule", "said"), turns(BODIES, [(True,), (False,)]))
def test_values_fill_their_page_and_no_more(
    name: str, change: Callable[[bytes], bytes], rule: str, said: bool
) -> None:
    data = FILES[name](said)
    assert ({rule} if rule else set()) == found(body(data, change(body_of(data))))


@pytest.mark.parametrize("encoding", ["PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"])
def test_a_few_bytes_are_not_believed_to_hold_millions_of_values(encoding: str) -> None:
    """So many empty texts take no memory."""
    data = written(pa.array(WORDS), encoding)
    count = 2**31 - 1
    empty = varint(2**31 - 2**31 % 128) + b"\x04" + varint(count) + b"\0" + bytes(5)
    data = body(data, empty * 2)
    for path in (f"{CHUNK}.pages[0].header.data_page_header.num_values", f"{FACTS}.num_values"):
        data = mutate(data, Mutation("set", path, count))
    report = pqassay.check(data, tier="values", only=MINE)

    assert report.files[0].outcome in ("conformant where checked", "untrue")


# --------------------------------------------------------------------------------------------- levels and schema


@pytest.mark.parametrize("optional", [True, False])
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("kind", ["int32", "string"])
def test_a_column_turned_repeated_by_one_field_is_found(optional: bool, version: Any, kind: Any) -> None:
    values: list[Any] = [*range(100, 140)] if kind == "int32" else [f"text {row}" for row in range(40)]
    column = Column("c", kind, values, optional=optional)
    for statistics in (True, False):
        data = TinyParquet((column,), statistics=statistics, layout=Layout(version=version)).build()
        changed = mutate(data, Mutation("set", "footer.schema[1].repetition_type", 2))

        report = pqassay.check(changed, tier="values")
        (file,) = report.files
        assert "nonconformant" == file.outcome
        assert {"PQF-071", "PQF-058"} & {finding.rule for finding in file.findings}
