"""The checks of what follows from the bodies of pages."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import pqassay
from each import each
from idx1_files import edited, parquet
from pqassay.checks import registry
from pqassay.values.decoding.faults import FaultKind
from pqassay_golden.tiny.parquet import Column, Encoding, Layout, ListOf, TinyParquet
from pqassay_spec.mutation.mutations import Mutation, mutate
from pqassay_spec.parquet.encoding.delta import encode
from pqassay_spec.parquet.encoding.levels import packed_run, repeating_run
from pqassay_spec.parquet.encoding.plain import LENGTH
from pqassay_spec.parquet.thrift import CompressionCodec, FileMetaData

MINE = [
    "PQF-05*",
    "PQF-06*",
    "PQF-07*",
    "PQF-08*",
    "PQF-09*",
    "PQF-154",
    "PIX-04*",
    "PIX-054",
    "PIX-055",
    "PIX-058",
    "STA-046",
]

NUMBERS = [1, None, 2, 3]
LISTS = [[7, None], [], None, [8]]
COLUMNS = (Column("number", "int32", NUMBERS), Column("marks", ListOf("int32"), LISTS))

FIRST = TinyParquet(COLUMNS, page_rows=2).build()
SECOND = TinyParquet(COLUMNS, page_rows=2, layout=Layout(version=2)).build()
BY_DICTIONARY = TinyParquet(
    (Column("metal", "string", ["tin", "lead", "zinc", None]),),
    layout=Layout(dictionary=Encoding.RLE_DICTIONARY),
).build()
FLAGS = TinyParquet((Column("flag", "boolean", [True, None, False]),)).build()
FAR = [2147483647, -2147483648, 0, 7]
DIFFERENCES = TinyParquet(
    (Column("number", "int32", FAR, optional=False),), layout=Layout(encoding=Encoding.DELTA_BINARY_PACKED)
).build()
INDEXED = TinyParquet(
    COLUMNS, page_rows=2, page_index=True, layout=Layout(histograms=True, size_statistics=True)
).build()

NUMBER = "row_groups[0].columns[0]"
MARKS = "row_groups[0].columns[1]"
BODY = f"{NUMBER}.pages[0].body"
LIST_BODY = f"{MARKS}.pages[0].body"


def rules_of(data: bytes, tier: Any = "values") -> set[str]:
    (file,) = pqassay.check(data, tier=tier, only=MINE).files
    return {rule for finding in file.findings for rule in (finding.rule, *finding.also)}


def v1(*levels: bytes, values: bytes = b"") -> bytes:
    """A page body of version 1: levels behind their lengths, then values."""
    return b"".join(LENGTH.build(len(level)) + level for level in levels) + values


def numbers(*values: int) -> bytes:
    return b"".join(value.to_bytes(4, "little") for value in values)


def runs(*values: int, width: int) -> bytes:
    """A run for each value, as the writer makes them."""
    return b"".join(repeating_run(value, 1, width=width) for value in values)


ONE_OF_TWO = packed_run([1, 0], width=1)


def test_a_rule_reports_each_kind_of_fault() -> None:
    rules = registry()

    assert [] == [kind for kind in FaultKind if kind.rule not in rules]


@pytest.mark.parametrize("data", [FIRST, SECOND, BY_DICTIONARY, FLAGS, INDEXED, DIFFERENCES])
def test_good_bodies_break_no_rule(data: bytes) -> None:
    assert set() == rules_of(data)


@each(
    ("body", "rules"),
    [
        (v1(ONE_OF_TWO, values=numbers(1)), set()),
        (v1(repeating_run(1, 1, width=1) + repeating_run(0, 1, width=1), values=numbers(1)), set()),
        (v1(repeating_run(1, 1, width=1), values=numbers(1)), {"PQF-071"}),
        (v1(repeating_run(0, 3, width=1)), {"PQF-071"}),
        (v1(repeating_run(3, 2, width=8)), {"PQF-071"}),
        (v1(ONE_OF_TWO + b"\0\0", values=numbers(1)), {"PQF-071"}),
        (v1(ONE_OF_TWO + packed_run([0] * 8, width=1), values=numbers(1)), {"PQF-154"}),
        (v1(ONE_OF_TWO + repeating_run(0, 9, width=1), values=numbers(1)), {"PQF-154"}),
        (v1(ONE_OF_TWO + packed_run([0] * 8, width=1)[:-1], values=numbers(1)), {"PQF-071"}),
        (LENGTH.build(100) + ONE_OF_TWO, {"PQF-071"}),
        (b"\x02\0", {"PQF-071"}),
        (b"", {"PQF-071"}),
        (v1(ONE_OF_TWO, values=numbers(1) + b"\0"), {"PQF-076"}),
        (v1(ONE_OF_TWO, values=numbers(1)[:3]), {"PQF-078"}),
        (v1(ONE_OF_TWO), {"PQF-078"}),
    ],
)
def test_levels_and_values_fill_a_page_of_version_1(body: bytes, rules: set[str]) -> None:
    assert rules == rules_of(mutate(FIRST, Mutation("set", BODY, body)))


def test_rows_are_counted_by_their_levels() -> None:
    """The first list goes on with one that was never begun: a row less."""
    body = v1(packed_run([1, 1, 0], width=1), packed_run([3, 2, 1], width=2), values=numbers(7))

    assert {"PQF-074"} == rules_of(mutate(FIRST, Mutation("set", LIST_BODY, body)))
    assert {"PQF-074", "PIX-054", "PIX-055", "PIX-058", "STA-046"} == rules_of(
        mutate(INDEXED, Mutation("set", LIST_BODY, body))
    )


@pytest.mark.parametrize(
    ("mutation", "rules"),
    [
        (Mutation("set", f"{NUMBER}.pages[0].header.data_page_header_v2.num_nulls", 2), {"PQF-072"}),
        (Mutation("set", f"{MARKS}.pages[0].header.data_page_header_v2.num_nulls", 0), {"PQF-072"}),
        (Mutation("set", f"{MARKS}.pages[0].header.data_page_header_v2.num_rows", 3), {"PQF-059", "PQF-073"}),
        (Mutation("set", f"{MARKS}.pages[0].body", runs(1, 0, 0, width=1) + runs(3, 2, 1, width=2) + numbers(7)), {"PQF-073"}),
        (Mutation("set", f"{MARKS}.pages[0].header.data_page_header_v2.repetition_levels_byte_length", 1), {"PQF-071"}),
    ],
)  # fmt: skip
def test_pages_of_version_2_count_their_nulls_and_rows(mutation: Mutation, rules: set[str]) -> None:
    assert rules == rules_of(mutate(SECOND, mutation))


@each(
    ("values", "rules"),
    [
        (b"\x02" + packed_run([0, 1, 2], width=2), set()),
        (b"\x02" + packed_run([0, 1, 3], width=2), {"PQF-077"}),
        (b"\x08" + repeating_run(3, 3, width=8), {"PQF-077"}),
        (b"\x20" + repeating_run(2, 3, width=32), set()),
        (b"\x21" + repeating_run(2, 3, width=32), {"PQF-078"}),
        (b"", {"PQF-078"}),
        (b"\x02" + repeating_run(0, 2, width=2), {"PQF-078"}),
        (b"\x02" + packed_run([0, 1, 2], width=2) + b"more", {"PQF-076"}),
        (b"\0" + repeating_run(0, 3, width=0), set()),
    ],
)
def test_indexes_lie_in_the_dictionary_and_fill_the_page(values: bytes, rules: set[str]) -> None:
    body = v1(packed_run([1, 1, 1, 0], width=1), values=values)

    assert rules == rules_of(mutate(BY_DICTIONARY, Mutation("set", f"{NUMBER}.pages[1].body", body)))


def test_indexes_without_a_dictionary_lead_nowhere() -> None:
    encoding = Mutation("set", f"{NUMBER}.pages[0].header.data_page_header.encoding", 8)
    body = v1(ONE_OF_TWO, values=b"\x01" + repeating_run(0, 1, width=1))
    data = mutate(mutate(FIRST, encoding), Mutation("set", BODY, body))

    assert {"PQF-060", "PQF-077"} == rules_of(data)


@pytest.mark.parametrize(
    ("values", "rules"), [(b"\x01", set()), (b"\x01\0", {"PQF-076"}), (b"", {"PQF-078"})]
)
def test_booleans_take_a_bit_each(values: bytes, rules: set[str]) -> None:
    body = v1(packed_run([1, 0, 1], width=1), values=values)

    assert rules == rules_of(mutate(FLAGS, Mutation("set", BODY, body)))


@pytest.mark.parametrize(
    ("values", "rules"),
    [
        (encode(FAR, bits=32), set[str]()),
        (encode(FAR, bits=64), {"PQF-079"}),
        (bytes.fromhex("80 01 04 04 02 02 21 00 00 00") + bytes(132), {"PQF-079"}),  # one miniblock too wide
        (
            bytes.fromhex("80 01 04 04 02 02 00 ff ff ff"),
            set[str](),
        ),  # those without values may have any width
        (
            bytes.fromhex("80 01 04 04 02 80 80 80 80 20 00 00 00 00"),
            {"PQF-079"},
        ),  # the least difference is too wide
        (bytes.fromhex("80 01 00 04 02 02 ff"), {"PQF-090"}),  # no such blocks
        (b"", {"PQF-078"}),
    ],
)
def test_differences_take_no_more_bits_than_values(values: bytes, rules: set[str]) -> None:
    data = mutate(DIFFERENCES, Mutation("set", BODY, values))

    assert rules == rules_of(data)


ROWS_WITH_NULLS = [1, None, 3, 4, None, None, 7, 8, 9, None]
BIT_PACKED = TinyParquet((Column("n", "int32", ROWS_WITH_NULLS),), page_index=True)


def bit_packed(*levels: int) -> bytes:
    """A file of one page whose definition levels, in the deprecated encoding, are these; its values are those of the rows."""
    packed = int("".join(map(str, levels)).ljust(16, "0"), 2).to_bytes(2, "big")
    values = b"".join(value.to_bytes(4, "little") for value in ROWS_WITH_NULLS if value is not None)
    header = f"{NUMBER}.pages[0].header.data_page_header.definition_level_encoding"
    data = mutate(BIT_PACKED.build(), Mutation("set", header, 4))
    return mutate(data, Mutation("set", f"{NUMBER}.pages[0].body", packed + values))


def test_levels_in_the_deprecated_encoding_are_judged() -> None:
    report = pqassay.check(bit_packed(1, 0, 1, 1, 0, 0, 1, 1, 1, 0), tier="values")
    (file,), (coverage,) = report.files, report.coverages.values()

    assert ("conformant", ["PQF-081"]) == (file.outcome, [finding.rule for finding in file.findings])
    assert {"PQF-071", "PQF-074", "PQF-078", "PIX-055"} & set(coverage.checked) >= {"PQF-071", "PQF-074"}
    assert "PQF-081 is broken" == coverage.not_checked["STA-040"].reason


def test_a_null_too_few_in_the_deprecated_encoding_is_found() -> None:
    assert {"PQF-078", "PQF-081"} <= rules_of(bit_packed(1, 1, 1, 1, 0, 0, 1, 1, 1, 0))


@pytest.mark.parametrize("encoding", [0, 2, 5])
def test_other_encodings_of_levels_are_none(encoding: int) -> None:
    header = f"{NUMBER}.pages[0].header.data_page_header.definition_level_encoding"
    report = pqassay.check(mutate(FIRST, Mutation("set", header, encoding)), only=MINE)
    (coverage,) = report.coverages.values()

    assert ["PQF-080"] == [finding.rule for finding in report.files[0].findings]
    assert "PQF-080 is broken" == coverage.not_checked["PQF-071"].reason


def test_a_broken_rule_of_one_page_hides_no_other_page() -> None:
    data = mutate(FIRST, Mutation("set", f"{NUMBER}.pages[0].header.uncompressed_page_size", 99))
    data = mutate(data, Mutation("set", f"{NUMBER}.pages[1].header.crc", 7))
    report = pqassay.check(data, only=MINE)
    (coverage,) = report.coverages.values()

    assert ["PQF-063", "PQF-070"] == [finding.rule for finding in report.files[0].findings]
    assert "PQF-070 is broken" == coverage.not_checked["PQF-074"].reason


@each(
    ("mutation", "rules"),
    [
        (Mutation("remove", f"{NUMBER}.offset_index.page_locations[1]"), {"PIX-040"}),
        (Mutation("duplicate", f"{NUMBER}.offset_index.page_locations[1]"), {"PIX-040"}),
        (Mutation("add", f"{NUMBER}.offset_index.page_locations[1].offset", 1), {"PIX-040"}),
        (Mutation("add", f"{NUMBER}.offset_index.page_locations[1].compressed_page_size", -1), {"PIX-041"}),
        (Mutation("add", f"{NUMBER}.offset_index.page_locations[1].first_row_index", -1), {"PIX-042", "PIX-054"}),
        (Mutation("add", f"{MARKS}.offset_index.page_locations[1].first_row_index", -1), {"PIX-054"}),
        (Mutation("set", f"{NUMBER}.pages[0].header.data_page_header.statistics", {"null_count": 1}), {"PIX-044"}),
        (Mutation("add", f"{MARKS}.column_index.definition_level_histograms[1]", 1), {"PIX-058"}),
        (Mutation("add", f"{MARKS}.column_index.repetition_level_histograms[0]", 1), {"PIX-058"}),
        (Mutation("add", f"footer.{MARKS}.meta_data.size_statistics.repetition_level_histogram[1]", 1), {"STA-046"}),
        (Mutation("add", f"footer.{NUMBER}.meta_data.size_statistics.definition_level_histogram[0]", 1), {"STA-046"}),
    ],
)  # fmt: skip
def test_the_page_index_is_compared_with_the_pages(mutation: Mutation, rules: set[str]) -> None:
    assert rules == rules_of(mutate(INDEXED, mutation))


def test_null_counts_are_compared_with_headers_of_version_2() -> None:
    good = TinyParquet(COLUMNS, page_rows=2, page_index=True, layout=Layout(version=2)).build()

    assert set() == rules_of(good)
    assert {"PIX-043"} == rules_of(mutate(good, Mutation("add", f"{NUMBER}.column_index.null_counts[1]", 1)))


def _one_of(data: bytes) -> tuple[str, str, list[str]]:
    """Rule, place and silent rules of the only FAIL of a file."""
    findings = pqassay.check(data, tier="values").files[0].findings
    (finding,) = (each for each in findings if each.verdict == "FAIL")
    return finding.rule, finding.at[0].field, finding.also


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize(
    "codec", [CompressionCodec.UNCOMPRESSED, CompressionCodec.GZIP, CompressionCodec.ZSTD]
)
def test_a_codec_that_fits_no_page_is_the_field_that_is_reported(
    codec: CompressionCodec, version: str
) -> None:
    words = ["lead" * 40, "zinc" * 40]
    data = parquet(pa.table({"metal": words * 9}), data_page_version=version, compression="snappy")
    field = "footer.row_groups[0].columns[0].meta_data.codec"

    def change(metadata: FileMetaData) -> None:
        facts = metadata.row_groups[0].columns[0].meta_data
        assert facts is not None
        facts.codec = int(codec)

    changed = edited(data, change)
    assert [] == pqassay.check(data, tier="values").files[0].findings
    (finding,) = pqassay.check(changed, tier="values").files[0].findings
    assert ("PQF-070", field, "SNAPPY", codec.name, 1) == (
        finding.rule,
        finding.at[0].field,
        finding.at[0].expected,
        finding.at[0].actual,
        finding.count,
    )


def test_levels_in_runs_that_are_called_bit_packed_are_not_read_as_such() -> None:
    header = f"{NUMBER}.pages[0].header.data_page_header.definition_level_encoding"
    changed = mutate(FIRST, Mutation("set", header, int(Encoding.BIT_PACKED)))
    assert ("PQF-071", BODY, ["PQF-081"]) == _one_of(changed)


def test_indexes_that_are_called_differences_are_one_finding() -> None:
    numbers = parquet(pa.table({"number": [5, 6, 7] * 9}))
    header = f"{NUMBER}.pages[1].header.data_page_header.encoding"
    rule, _, also = _one_of(mutate(numbers, Mutation("set", header, int(Encoding.DELTA_BINARY_PACKED))))
    assert ("PQF-090", {"PQF-060"}) == (rule, {"PQF-060"} & {*also})
