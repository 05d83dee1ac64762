"""The fast decoder of levels, and what the levels and bodies of pages come to."""

from __future__ import annotations

import gzip
import io
import zlib
from itertools import product
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from damage import turns
from each import each
from pqassay.under_test.chunks import ColumnChunks, ColumnChunkUnderTest
from pqassay.under_test.file import FileUnderTest, NotChecked, Options
from pqassay.values.decoding import levels as page_levels
from pqassay.values.decoding.codecs import decompressed
from pqassay.values.decoding.faults import FaultKind, Faulty, PageFault
from pqassay.values.decoding.levels import PageCounts, read_bit_packed, read_runs
from pqassay.values.decoding.survey import counts_of, survey
from pqassay_spec.base.errors import Malformed
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.parquet.encoding.levels import (
    bit_packed_size,
    decode,
    decode_bit_packed,
    last_run_is_whole,
    packed_run,
    repeating_run,
)
from pqassay_spec.parquet.thrift import CompressionCodec

pytestmark = pytest.mark.slow

ROWS = 3_000


def run_of(width: int) -> st.SearchStrategy[bytes]:
    value = st.integers(0, (1 << width) - 1)
    return st.one_of(
        st.builds(lambda one, count: repeating_run(one, count, width=width), value, st.integers(0, 70)),
        st.builds(lambda values: packed_run(values, width=width), st.lists(value, min_size=1, max_size=40)),
    )


sections = st.integers(0, 32).flatmap(
    lambda width: st.tuples(st.just(width), st.lists(run_of(width), max_size=6).map(b"".join))
)


def both(raw: bytes, width: int, count: int) -> tuple[Any, Any]:
    """What the readable and the fast decoder make of a section: values and bytes taken, or the reason and its place."""
    try:
        slow: Any = decode(raw, width=width, count=count)
    except Malformed as error:
        slow = (error.reason, error.offset)
    try:
        runs = read_runs(memoryview(raw), width=width, count=count)
    except Malformed as error:
        return slow, (error.reason, error.offset)
    values = runs.values().tolist()
    assert (values[0] if values else None) == runs.first
    return slow, (values, runs.taken)


many_runs = st.integers(0, 32).flatmap(
    lambda width: st.tuples(st.just(width), st.lists(run_of(width), max_size=60).map(b"".join))
)


@given(sections | many_runs, st.integers(0, 2000), st.binary(max_size=3))
def test_both_decoders_agree_on_runs(section: tuple[int, bytes], count: int, behind: bytes) -> None:
    width, raw = section
    slow, fast = both(raw + behind, width, count)

    assert slow == fast


@given(st.binary(max_size=40), st.integers(0, 32), st.integers(0, 300))
def test_both_decoders_agree_on_any_bytes(raw: bytes, width: int, count: int) -> None:
    slow, fast = both(raw, width, count)

    assert slow == fast


@pytest.mark.parametrize("width", [1, 3, 12])
def test_sections_of_many_runs_are_jumped_through(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(width)
    lengths = [int(length) for length in random.integers(1, 200, 500)]
    raw = b"".join(
        repeating_run(1, length, width=width) + packed_run([1, 0] * 8, width=width) for length in lengths
    )
    count = sum(lengths) + 16 * len(lengths) - 3
    walked = decode(raw, width=width, count=count)
    monkeypatch.setattr(page_levels, "_by_steps", None)
    runs = read_runs(raw, width=width, count=count)

    assert walked == (runs.values().tolist(), runs.taken)
    assert np.bincount(walked[0]).tolist() == runs.histogram(2).tolist()


@given(sections, st.integers(1, 100))
def test_a_histogram_counts_the_values(section: tuple[int, bytes], count: int) -> None:
    width, raw = section
    try:
        values, _ = decode(raw, width=width, count=count)
    except Malformed:
        return
    runs = read_runs(raw, width=width, count=count)
    size = min(max(values) + 1, 1 << 10)

    if runs.greatest() < size:
        assert np.bincount(values, minlength=size).tolist() == runs.histogram(size).tolist()
    else:
        with pytest.raises(Malformed, match="a level of"):
            runs.histogram(size)


def test_runs_of_nothing_say_nothing() -> None:
    runs = read_runs(bytes.fromhex("00 07 01 02 01 00 00 02 00"), width=1, count=2)

    assert ([1, 0], 1, [1, 1], 9) == (
        runs.values().tolist(),
        runs.first,
        runs.histogram(2).tolist(),
        runs.taken,
    )


def test_a_run_of_a_thousand_million_nulls_is_counted_without_memory_for_each() -> None:
    runs = read_runs(repeating_run(0, 1_000_000_000, width=1), width=1, count=1_000_000_000)

    assert [1_000_000_000, 0] == runs.histogram(2).tolist()


# --------------------------------------------------------------------------------------------- counts of real files


def nested_table() -> pa.Table:
    numbers = range(ROWS)
    return pa.table(
        {
            "flat": pa.array([None if i % 7 == 0 else i for i in numbers], pa.int64()),
            "required": pa.array(numbers, pa.int32()),
            "flag": pa.array([None if i % 13 == 0 else i % 3 == 0 for i in numbers]),
            "words": pa.array([None if i % 5 == 0 else f"word {i % 37}" for i in numbers]),
            "list": pa.array(
                [None if i % 11 == 0 else [None if j == 1 else j for j in range(i % 4)] for i in numbers],
                pa.list_(pa.int32()),
            ),
            "grid": pa.array(
                [[[1, 2], [], None, [3]], None, [], [None]] * (ROWS // 4), pa.list_(pa.list_(pa.int8()))
            ),
            "struct": pa.array([None if i % 3 == 0 else {"x": None if i % 2 else i} for i in numbers]),
            "nothing": pa.nulls(ROWS, pa.int32()),
        }
    )


def chunks_of(table: pa.Table, **options: Any) -> list[ColumnChunkUnderTest]:
    sink = io.BytesIO()
    schema = pa.schema([field.with_nullable(field.name != "required") for field in table.schema])
    options = {"data_page_size": 500, "write_batch_size": 64, "row_group_size": 1_700, **options}
    pq.write_table(table.cast(schema), sink, write_page_index=True, **options)
    file = FileUnderTest(BytesSource(sink.getvalue()), Options("values"))
    return file.part(ColumnChunks).all


@pytest.mark.parametrize(
    ("codec", "version", "use_dictionary"),
    turns(
        [(codec,) for codec in ("none", "snappy", "gzip", "zstd", "brotli", "lz4")],
        list(product(["1.0", "2.0"], [True, False])),
    ),
)
def test_levels_count_what_pyarrow_wrote(version: str, codec: str, use_dictionary: bool) -> None:
    chunks = chunks_of(
        nested_table(), data_page_version=version, compression=codec, use_dictionary=use_dictionary
    )

    assert 16 == len(chunks)
    assert max(len(chunk.data_pages) for chunk in chunks) > 5
    for chunk in chunks:
        counts = counts_of(chunk)
        starts = [place.first_row_index for place in chunk.offset_index.page_locations]
        sizes = chunk.facts.size_statistics
        surveyed = chunk.part(survey)
        assert ([], None, None) == (surveyed.faults, surveyed.uncounted, surveyed.unread)
        assert len(starts) == len(counts.rows)
        assert list(chunk.column_index.null_counts or []) == counts.nulls.tolist()
        assert starts == [0, *counts.rows.cumsum()[:-1]]
        assert chunk.group.num_rows == counts.rows.sum()
        assert chunk.facts.num_values == counts.values.sum()
        assert counts.starts_with_row.all()
        if sizes is not None and sizes.definition_level_histogram:
            assert sizes.definition_level_histogram == counts.definition_histogram.sum(axis=0).tolist()
        if sizes is not None and sizes.repetition_level_histogram:
            assert sizes.repetition_level_histogram == counts.repetition_histogram.sum(axis=0).tolist()


def test_a_column_without_levels_is_counted_without_reading_its_pages() -> None:
    (required, *_) = (chunk for chunk in chunks_of(nested_table()) if chunk.column == "required")
    counts = counts_of(required)

    assert "survey" not in vars(required)
    assert (1_700, 1_700, 0) == (counts.values.sum(), counts.rows.sum(), counts.nulls.sum())
    assert [[count] for count in counts.values] == counts.definition_histogram.tolist()


def test_histograms_that_take_too_much_memory_are_not_made() -> None:
    with pytest.raises(NotChecked, match="more than 16,777,216 entries"):
        PageCounts.empty(1 << 20, 30, 2)


# ------------------------------------------------------------------------------------------------------- codecs

CODECS: dict[CompressionCodec, Literal["snappy", "gzip", "zstd", "brotli", "lz4_raw"]] = {
    CompressionCodec.SNAPPY: "snappy",
    CompressionCodec.GZIP: "gzip",
    CompressionCodec.ZSTD: "zstd",
    CompressionCodec.BROTLI: "brotli",
    CompressionCodec.LZ4_RAW: "lz4_raw",
}
CONTENT = b"the same words again, " * 100

OTHER_SIZE = "does not decompress by|without compression, but its header says"


@pytest.mark.parametrize("codec", CODECS)
def test_a_page_decompresses_to_its_length_and_to_no_other(codec: CompressionCodec) -> None:
    raw = memoryview(pa.Codec(CODECS[codec]).compress(CONTENT, asbytes=True))

    content = decompressed(raw, codec, len(CONTENT))
    assert (CONTENT, "B") == (bytes(content), content.format)
    for wrong in (0, len(CONTENT) - 1, len(CONTENT) + 1, 2 * len(CONTENT), 2**31 - 1):
        with pytest.raises(Malformed, match=OTHER_SIZE):
            decompressed(raw, codec, wrong)
    for broken in (b"", b"\xff" * 20, bytes(raw[:-3])):
        with pytest.raises(Malformed, match=OTHER_SIZE):
            decompressed(memoryview(broken), codec, len(CONTENT))


@pytest.mark.parametrize("codec", [CompressionCodec.UNCOMPRESSED, *CODECS])
def test_no_page_has_a_negative_length(codec: CompressionCodec) -> None:
    with pytest.raises(Faulty) as caught:
        decompressed(memoryview(b"abc"), codec, -1)

    assert FaultKind.IMPOSSIBLE_SIZE is caught.value.fault.kind


def test_a_page_without_compression_has_its_length() -> None:
    assert CONTENT == decompressed(memoryview(CONTENT), CompressionCodec.UNCOMPRESSED, len(CONTENT))
    with pytest.raises(Malformed, match="has 2200 bytes without compression, but its header says 2201"):
        decompressed(memoryview(CONTENT), CompressionCodec.UNCOMPRESSED, len(CONTENT) + 1)


def hadoop_frame(*parts: bytes) -> bytes:
    """Blocks of LZ4 behind their lengths."""
    packed = [pa.Codec("lz4_raw").compress(part, asbytes=True) for part in parts]
    return b"".join(
        len(part).to_bytes(4, "big") + len(block).to_bytes(4, "big") + block
        for part, block in zip(parts, packed, strict=True)
    )


FRAMINGS = {
    "one block": hadoop_frame(CONTENT),
    "two blocks": hadoop_frame(CONTENT[:1_000], CONTENT[1_000:]),
    "frame": pa.Codec("lz4").compress(CONTENT, asbytes=True),
    "bare": pa.Codec("lz4_raw").compress(CONTENT, asbytes=True),
}


@pytest.mark.parametrize("framing", FRAMINGS)
def test_lz4_is_read_in_each_framing_that_writers_gave_it(framing: str) -> None:
    raw = memoryview(FRAMINGS[framing])
    faults: list[PageFault] = []

    assert CONTENT == bytes(decompressed(raw, CompressionCodec.LZ4, len(CONTENT), faults.append))
    others = {"frame": [("an LZ4 frame",)], "bare": [("a bare block",)]}
    assert others.get(framing, []) == [fault.words for fault in faults]
    for wrong in (0, len(CONTENT) - 1, len(CONTENT) + 1, 2**31 - 1):
        with pytest.raises(Malformed, match=OTHER_SIZE):
            decompressed(raw, CompressionCodec.LZ4, wrong)
    with pytest.raises(Malformed, match=OTHER_SIZE):
        decompressed(raw[:-3], CompressionCodec.LZ4, len(CONTENT))


def deflated(bits: int) -> bytes:
    """The content as zlib writes it: in its own format, in that of GZIP, or without any."""
    stream = zlib.compressobj(wbits=bits)
    return stream.compress(CONTENT) + stream.flush()


GZIP, ZLIB, BARE = deflated(31), deflated(15), deflated(-15)


@each(
    "raw",
    [
        ZLIB,
        BARE,
        GZIP + b"\0",
        GZIP + ZLIB,
        GZIP[:-8],
        GZIP[:-8] + b"\1\2\3\4" + GZIP[-4:],
        GZIP[:-4] + b"\1\2\3\4",
        gzip.compress(b"", mtime=0) + ZLIB,
    ],
)
def test_gzip_is_nothing_else_that_zlib_writes(raw: bytes) -> None:
    with pytest.raises(Malformed, match=OTHER_SIZE):
        decompressed(memoryview(raw), CompressionCodec.GZIP, len(CONTENT))


@pytest.mark.parametrize("members", [1, 2, 3, 70_000])
def test_gzip_may_have_several_members(members: int) -> None:
    raw = gzip.compress(CONTENT[:1000]) + gzip.compress(b"") * (members - 2) + gzip.compress(CONTENT[1000:])
    faults: list[PageFault] = []

    content = decompressed(
        memoryview(raw if members > 1 else GZIP), CompressionCodec.GZIP, len(CONTENT), faults.append
    )

    assert CONTENT == bytes(content)
    assert [members] * (members > 1) == [fault.actual for fault in faults]


def test_nothing_compressed_into_nothing_is_nothing() -> None:
    assert b"" == bytes(decompressed(memoryview(b""), CompressionCodec.ZSTD, 0))


@pytest.mark.parametrize("hidden", [0, 1])
@pytest.mark.parametrize("nullable", [True, False])
def test_the_beginning_of_a_decoded_page_tells_what_the_whole_does(
    hidden: int, nullable: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where headers of pages hide a value."""

    def outcome(chunk: ColumnChunkUnderTest) -> tuple[Any, ...]:
        surveyed = survey(chunk)
        faults = [(page.number, fault) for page, fault in surveyed.faults]
        assert surveyed.levels is not None
        histogram = surveyed.levels.definition_histogram.tolist()
        return faults, str(surveyed.uncounted), str(surveyed.unread), histogram

    names = ["number", "text"]
    columns: list[Any] = [pa.array(range(ROWS)), pa.array([f"text {row}" for row in range(ROWS)])]
    fields = [pa.field(name, part.type, nullable) for name, part in zip(names, columns, strict=True)]
    sink = io.BytesIO()
    table = pa.table(columns, schema=pa.schema(fields))
    pq.write_table(table, sink, compression="snappy", use_dictionary=False, data_page_size=4_000)
    file = FileUnderTest(BytesSource(sink.getvalue()), Options("values"))

    for chunk in file.part(ColumnChunks).all:
        for page in chunk.data_pages:
            page.data_header.num_values -= hidden
        whole = outcome(chunk)
        if (
            chunk.column == "text"
        ):  # bytes behind the texts of a page are looked for where they were not decoded
            whole = (
                [place for place in whole[0] if place[1].kind is not FaultKind.VALUES_RUN_ON],
                *whole[1:],
            )
        chunk.is_decoded = True
        with monkeypatch.context() as patch:
            patch.setattr("pqassay.values.decoding.survey.decompressed", None)
            assert whole == outcome(chunk)
        assert bool(hidden and (nullable or chunk.column == "number")) is bool(whole[0])


@given(
    st.integers(1, 16).flatmap(
        lambda width: st.tuples(st.just(width), st.lists(st.integers(0, 2**width - 1)))
    )
)
def test_both_read_the_deprecated_encoding_alike(given: tuple[int, list[int]]) -> None:
    width, values = given
    text = "".join(f"{value:0{width}b}" for value in values)
    raw = int(text.ljust(8 * bit_packed_size(width, len(values)), "0") or "0", 2).to_bytes(
        bit_packed_size(width, len(values)), "big"
    )

    assert (values, len(raw)) == decode_bit_packed(raw + b"x", width=width, count=len(values))
    runs = read_bit_packed(memoryview(raw + b"x"), width=width, count=len(values))
    assert (values, len(raw)) == (runs.values().tolist(), runs.taken)
    if raw:
        with pytest.raises(Malformed, match="short of"):
            read_bit_packed(memoryview(raw[:-1]), width=width, count=len(values))


@given(st.integers(1, 9), st.integers(1, 4), st.integers(1, 40), st.integers(1, 30))
def test_groups_are_missing_where_the_specification_says_so(
    width: int, groups: int, stored: int, count: int
) -> None:
    header = packed_run([0] * 8 * groups, width=width)[:1]
    raw = header + bytes(min(stored, groups * width))
    try:
        runs = read_runs(raw, width=width, count=min(count, 8 * groups))
    except Malformed:
        return  # not even the values wanted are there
    expected = last_run_is_whole(raw, width=width, count=min(count, 8 * groups))
    assert expected == (not runs.missing)
