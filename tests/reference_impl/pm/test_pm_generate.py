from __future__ import annotations

import datetime as dt
import json
import shutil
import struct
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import datafusion
import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xxhash
from typer.testing import CliRunner

import pqassay
from places import INTEROP
from pqassay.cli.main import app
from pqassay_reference.errors import Refused
from pqassay_reference.pm.generate import Generated, generate, generate_file
from pqassay_reference.pm.read import PmReader
from pqassay_reference.pm.write import value_size
from pqassay_spec.base.errors import FormatError, Malformed, Unsupported
from pqassay_spec.base.sources import FileSource
from pqassay_spec.parquet import bloom
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.codes import EncodingBit, PhysicalType, Repetition, type_tag
from pqassay_spec.pm.value import ExternalBloom, SnapshotChunk, SnapshotColumn, SnapshotSorting, SnapshotValue

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REAL = sorted(INTEROP.glob("questdb-*/*/_pm"))
REWRITTEN = ("drop-rename-1", "drop-rename-2")
"""Real files that QuestDB rewrote, going by the schema of the Parquet file."""

CHAINS = {"no-statistics-1": 2, **{f"o3-chain-{number}": number + 1 for number in range(1, 6)}}
"""Real files that QuestDB updated, and their snapshots."""

ROWS = 700


# ----------------------------------------------------------------------------------------- files that QuestDB wrote


def path_of(name: str) -> Any:
    return "schema" if name in REWRITTEN else "encode"


@pytest.mark.parametrize("real", REAL, ids=lambda path: f"{path.parts[-3]} {path.parts[-2]}")
def test_files_of_questdb_are_made_again_byte_for_byte(real: Path) -> None:
    with FileSource(real.with_name("data.parquet")) as source:
        done = generate(source, path=path_of(real.parent.name), history=True)

        alone = generate(source, path=path_of(real.parent.name))

    assert (CHAINS.get(real.parent.name, 1), True, ()) == (done.snapshots, done.is_questdb, done.left_out)
    assert (real.read_bytes(), 1) == (done.raw, alone.snapshots)
    assert (real.parent.name in CHAINS) != (done.raw == alone.raw)


def test_there_are_files_of_questdb() -> None:
    assert 17 == len(REAL)
    assert {*REWRITTEN, *CHAINS} <= {path.parent.name for path in REAL}


def test_the_history_is_that_of_the_file_at_each_time() -> None:
    with FileSource(INTEROP / "questdb-9.4.3" / "o3-chain-5" / "data.parquet") as source:
        done = generate(source, path="encode", history=True)
    reader = PmReader.from_bytes(done.raw)
    reader.verify(whole_chain=True)

    sizes = [snapshot.fields.parquet_file_size for snapshot in reader.snapshots()]
    assert [15374, 13185, 10884, 7186, 5405, 3540] == sizes
    for number, size in enumerate(reversed(sizes)):
        then = (INTEROP / "questdb-9.4.3" / f"o3-chain-{number}" / "_pm").read_bytes()
        assert PmReader.from_bytes(then).value() == reader.snapshot(size).value()


def test_only_files_with_a_key_of_their_own_have_a_history(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1]}), tmp_path / "data.parquet")
    key = '{"version":1,"schema":[{"column_type":6,"column_top":0}]}'

    for given in (None, key):
        with pytest.raises(Refused, match="a history needs a Parquet file with a questdb key of its own"):
            generate_file(tmp_path / "data.parquet", questdb_json=given, history=True)


# ------------------------------------------------------------------------------------------- files that others wrote


def matrix() -> pa.Table:
    """A column of each type that Arrow writes, with nulls, empty values and bounds beyond what signed numbers hold."""
    start = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
    numbers = [None if i % 7 == 0 else i % 100 - 50 for i in range(ROWS)]
    columns: dict[str, Any] = {
        "moment": pa.array([start + dt.timedelta(minutes=i) for i in range(ROWS)], pa.timestamp("us", "UTC")),
        "truth": pa.array([i % 3 == 0 for i in range(ROWS)]),
        "u32 high": pa.array([2**32 - 1 - i for i in range(ROWS)], pa.uint32()),
        "f32": pa.array([i / 3 for i in range(ROWS)], pa.float32()),
        "f64": pa.array([i / 3 for i in range(ROWS)], pa.float64()),
        "text": pa.array([None if i % 11 == 0 else f"v{i}日本" for i in range(ROWS)]),
        "long text": pa.array(["x" * 3000 + str(i % 3) for i in range(ROWS)]),
        "empty text": pa.array([""] * ROWS),
        "only nulls": pa.array([None] * ROWS, pa.string()),
        "bytes": pa.array([bytes([i % 256, 255]) for i in range(ROWS)], pa.binary()),
        "five bytes": pa.array([bytes([i % 256]) * 5 for i in range(ROWS)], pa.binary(5)),
        "sixteen bytes": pa.array([bytes([i % 256]) * 16 for i in range(ROWS)], pa.binary(16)),
        "date": pa.array([start.date() + dt.timedelta(days=i) for i in range(ROWS)], pa.date32()),
        "time": pa.array(range(ROWS), pa.time64("us")),
        "ms": pa.array(range(ROWS), pa.timestamp("ms")),
        "ns": pa.array(range(ROWS), pa.timestamp("ns")),
        "array": pa.array([[float(i)] * (i % 3) for i in range(ROWS)], pa.list_(pa.float64())),
        "list": pa.array([None if i % 4 == 0 else [i] * (i % 3) for i in range(ROWS)], pa.list_(pa.int32())),
        "struct": pa.array(
            [{"x": i, "y": str(i)} for i in range(ROWS)], pa.struct([("x", pa.int64()), ("y", pa.string())])
        ),
    }
    for width in (8, 16, 32, 64):
        columns[f"i{width}"] = pa.array(numbers, getattr(pa, f"int{width}")())
        columns[f"u{width}"] = pa.array(map(abs_or_none, numbers), getattr(pa, f"uint{width}")())
    for precision, scale in ((2, 1), (4, 2), (9, 3), (18, 4), (38, 5)):
        values = [None if i % 5 == 0 else Decimal(i % 9 - 4).scaleb(-scale) for i in range(ROWS)]
        columns[f"decimal {precision}"] = pa.array(values, pa.decimal128(precision, scale))
    table = pa.table(columns)
    required = pa.field("moment", table.schema.field("moment").type, nullable=False)
    return table.set_column(0, required, table["moment"])


def abs_or_none(value: int | None) -> int | None:
    return None if value is None else abs(value)


def by_pyarrow(**options: Any) -> Callable[[Path], None]:
    return lambda path: pq.write_table(matrix(), path, **({"row_group_size": 300} | options))


def with_half_floats(path: Path) -> None:
    table = matrix().append_column("f16", pa.array(np.arange(ROWS).astype(np.float16)))
    pq.write_table(table.append_column("nothing", pa.nulls(ROWS)), path)


def in_int96(path: Path) -> None:
    pq.write_table(matrix().select(["ns", "i64"]), path, use_deprecated_int96_timestamps=True)


def with_all_encodings(path: Path) -> None:
    encodings = {
        "i64": "DELTA_BINARY_PACKED",
        "f64": "BYTE_STREAM_SPLIT",
        "text": "DELTA_BYTE_ARRAY",
        "bytes": "DELTA_LENGTH_BYTE_ARRAY",
        "truth": "PLAIN",
    }
    pq.write_table(
        matrix().select([*encodings]),
        path,
        use_dictionary=False,
        column_encoding=encodings,
        compression="brotli",
    )


def by_duckdb(path: Path) -> None:
    duckdb.from_arrow(matrix()).query("t", f"COPY t TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 2048)")


def by_polars(path: Path) -> None:
    frame = pl.from_arrow(matrix())
    assert isinstance(frame, pl.DataFrame)
    frame.write_parquet(path, statistics="full", row_group_size=300)


def by_datafusion(path: Path) -> None:
    options = datafusion.ParquetWriterOptions(
        bloom_filter_on_write=True, statistics_enabled="page", max_row_group_size=300
    )
    datafusion.SessionContext().from_arrow(matrix()).write_parquet_with_options(path, options)


WRITERS: dict[str, Callable[[Path], None]] = {
    "pyarrow": by_pyarrow(),
    "pyarrow, version 2 pages": by_pyarrow(data_page_version="2.0", compression="zstd", use_dictionary=False),
    "pyarrow, decimals as integers": by_pyarrow(store_decimal_as_integer=True, compression="gzip"),
    "pyarrow, sorted": by_pyarrow(sorting_columns=[pq.SortingColumn(0)], write_page_index=True),
    "pyarrow, no statistics": by_pyarrow(write_statistics=False, compression="none"),
    "pyarrow, bloom filters": by_pyarrow(
        bloom_filter_options={"text": {"ndv": 700, "fpp": 0.01}, "i64": {"ndv": 100, "fpp": 0.01}}
    ),
    "pyarrow, half floats and nothing": with_half_floats,
    "pyarrow, INT96": in_int96,
    "pyarrow, all encodings": with_all_encodings,
    "pyarrow, no rows": lambda path: pq.write_table(matrix().slice(0, 0), path),
    "duckdb": by_duckdb,
    "polars": by_polars,
    "datafusion": by_datafusion,
}


def assert_good_pair(data: Path) -> Generated:
    """Make ``_pm`` beside a file and compare it with what pyarrow says about the file, and with what the judge does."""
    before = (data.read_bytes(), data.stat().st_mtime_ns)
    target, done = generate_file(data)

    assert before == (data.read_bytes(), data.stat().st_mtime_ns)
    assert data.with_name("_pm") == target
    assert done.raw == target.read_bytes()
    with PmReader.map(target) as reader:
        reader.verify()
        assert done.value == reader.value()
    assert_as_pyarrow_says(done.value, pq.read_metadata(data))
    report = pqassay.check(target, tier="values")
    assert [] == [
        (finding.rule, finding.message)
        for file in report.files
        for finding in file.findings
        if finding.verdict == "FAIL"
    ]
    assert [("_pm", "conformant")] == [(Path(file.path).name, file.outcome) for file in report.files]
    return done


@pytest.mark.parametrize("writer", WRITERS)
def test_a_file_of_others_is_described_as_pyarrow_does(writer: str, tmp_path: Path) -> None:
    data = tmp_path / "data.parquet"
    WRITERS[writer](data)

    assert not assert_good_pair(data).is_questdb


@pytest.mark.spark
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_file_of_spark_is_described_as_pyarrow_does(
    version: str, spark: SparkSession, tmp_path: Path
) -> None:
    pq.write_table(matrix().drop_columns(["time", "ns"]), tmp_path / "source.parquet")
    writer = spark.read.parquet(str(tmp_path / "source.parquet")).coalesce(1).write
    writer = writer.option("parquet.bloom.filter.enabled#text", "true").option(
        "parquet.enable.dictionary", "false"
    )
    writer = writer.option("parquet.writer.version", version).option("parquet.block.size", "20000")
    writer.parquet(str(tmp_path / "spark"))
    (data,) = (tmp_path / "spark").glob("*.parquet")
    done = assert_good_pair(data)

    text = [column.name for column in done.value.columns].index("text")
    assert (text,) == done.value.bloom_columns
    # Spark takes the file for what it is, since it leaves alone what begins with an underscore.
    assert ROWS == spark.read.parquet(str(tmp_path / "spark")).count()


ENCODINGS = {
    "PLAIN": EncodingBit.PLAIN,
    "PLAIN_DICTIONARY": EncodingBit.RLE_DICTIONARY,
    "RLE_DICTIONARY": EncodingBit.RLE_DICTIONARY,
    "DELTA_BINARY_PACKED": EncodingBit.DELTA_BINARY_PACKED,
    "DELTA_LENGTH_BYTE_ARRAY": EncodingBit.DELTA_LENGTH_BYTE_ARRAY,
    "DELTA_BYTE_ARRAY": EncodingBit.DELTA_BYTE_ARRAY,
    "BYTE_STREAM_SPLIT": EncodingBit.BYTE_STREAM_SPLIT,
}
CODECS = {"UNCOMPRESSED": 0, "SNAPPY": 1, "GZIP": 2, "BROTLI": 4, "ZSTD": 6, "LZ4": 7}
PACKED = {"INT32": "<i", "INT64": "<q", "FLOAT": "<f", "DOUBLE": "<d", "BOOLEAN": "<?"}


def assert_as_pyarrow_says(value: SnapshotValue, said: pq.FileMetaData) -> None:
    schema = said.schema
    leaves = [schema.column(number) for number in range(len(schema))]
    assert [leaf.path.split(".")[0] for leaf in leaves] == [column.name for column in value.columns]
    assert [leaf.physical_type for leaf in leaves] == [
        PhysicalType(column.physical_type).name for column in value.columns
    ]
    assert [(leaf.max_definition_level, leaf.max_repetition_level) for leaf in leaves] == [
        (column.max_def_level, column.max_rep_level) for column in value.columns
    ]
    assert [max(leaf.length or 0, 0) for leaf in leaves] == [
        column.fixed_byte_len for column in value.columns
    ]
    assert said.num_row_groups == len(value.row_groups)
    for number, group in enumerate(value.row_groups):
        theirs = said.row_group(number)
        assert theirs.num_rows == group.num_rows
        for ordinal, chunk in enumerate(group.chunks):
            assert_chunk(chunk, value.columns[ordinal], theirs.column(ordinal), leaves[ordinal])


def assert_chunk(chunk: SnapshotChunk, column: SnapshotColumn, said: Any, leaf: Any) -> None:
    assert CODECS[said.compression] == chunk.codec
    assert {ENCODINGS[name] for name in said.encodings if name in ENCODINGS} == set(
        EncodingBit(chunk.encodings)
    )
    assert said.num_values == chunk.num_values
    assert said.total_compressed_size == chunk.length
    assert (said.dictionary_page_offset or said.data_page_offset) == chunk.offset
    found = said.statistics
    if found is None:
        assert (None, None, None, None) == (chunk.null_count, chunk.distinct_count, chunk.min, chunk.max)
        return
    assert (found.null_count if found.has_null_count else None) == chunk.null_count
    assert (found.distinct_count if found.has_distinct_count else None) == chunk.distinct_count
    if not found.has_min_max or found.physical_type == "INT96":
        return
    expected = [plain(found.physical_type, bound) or None for bound in (found.min_raw, found.max_raw)]
    is_high = (column.name, leaf.physical_type) == ("u32 high", "INT32")
    is_half = leaf.logical_type.type == "FLOAT16"
    if is_high or is_half:
        expected = [None, None]
    assert [None if len(bound or b"") > 65_535 else bound for bound in expected] == [chunk.min, chunk.max]


def plain(physical: str, bound: Any) -> bytes:
    """A bound as pyarrow gives it, in Parquet's encoding."""
    return struct.pack(PACKED[physical], bound) if physical in PACKED else bytes(bound)


# -------------------------------------------------------------------------------------------------- what is inferred


def generated(table: pa.Table, tmp_path: Path, **options: Any) -> Generated:
    pq.write_table(table, tmp_path / "data.parquet", **options)
    return assert_good_pair(tmp_path / "data.parquet")


def test_types_of_arrow_are_inferred(tmp_path: Path) -> None:
    expected = {
        "moment": 8, "truth": 1, "u32 high": 5, "f32": 9, "f64": 10, "text": 26, "long text": 26, "empty text": 26,
        "only nulls": 26, "bytes": 18, "five bytes": -1, "sixteen bytes": 24, "date": 7, "time": 6, "ms": 7, "ns": 8,
        "array": 27, "list": 5, "struct": 26, "i8": 2, "i16": 3, "i32": 5, "i64": 6, "u8": 5, "u16": 5, "u32": 5,
        "u64": 6, "decimal 2": 28, "decimal 4": 29, "decimal 9": 30, "decimal 18": 31, "decimal 38": 32,
    }  # fmt: skip
    done = generated(matrix(), tmp_path)
    assert expected == {column.name: type_tag(column.type) for column in done.value.columns}


def test_a_sorted_timestamp_becomes_the_designated_one(tmp_path: Path) -> None:
    by_time = {"row_group_size": 100, "sorting_columns": [pq.SortingColumn(0)]}
    done = generated(matrix().select(["moment", "i64"]), tmp_path, **by_time)
    backwards = matrix().select(["moment", "i64"]).sort_by([("moment", "descending")])

    assert (0, (SnapshotSorting(0),)) == (done.value.designated_timestamp, done.value.sorting)
    done = generated(
        backwards.cast(done_schema(backwards)), tmp_path, **by_time
    )  # what is declared is not true
    assert -1 == done.value.designated_timestamp


def done_schema(table: pa.Table) -> pa.Schema:
    """The schema with a first column that cannot be null, which sorting forgets."""
    return table.schema.set(0, table.schema.field(0).with_nullable(False))


def test_bloom_filters_are_copied_or_referred_to_or_left_out(tmp_path: Path) -> None:

    data = tmp_path / "data.parquet"
    WRITERS["pyarrow, bloom filters"](data)
    copied, external, without = (
        generate_file(data, blooms=mode)[1].value for mode in ("inlined", "external", "none")
    )
    names = [column.name for column in copied.columns]
    columns = tuple(sorted((names.index("text"), names.index("i64"))))

    assert (columns, columns, ()) == (copied.bloom_columns, external.bloom_columns, without.bloom_columns)
    assert (False, True, False) == (copied.bloom_external, external.bloom_external, without.bloom_external)
    raw = data.read_bytes()
    for ours, theirs in zip(copied.row_groups, external.row_groups, strict=True):
        for column in columns:
            inlined, place = ours.chunks[column].bloom, theirs.chunks[column].bloom
            assert isinstance(place, ExternalBloom)
            assert raw[place.offset : place.offset + place.length] == inlined
    first = copied.row_groups[0].chunks[names.index("text")].bloom
    assert isinstance(first, bytes)
    assert all(bloom.probe(first, xxhash.xxh64_intdigest(f"v{i}日本".encode())) for i in (1, 10, 299))
    assert not all(bloom.probe(first, xxhash.xxh64_intdigest(f"v{i}日本".encode())) for i in range(300, 400))


def test_a_bound_that_is_too_long_is_left_out_and_said(tmp_path: Path) -> None:
    data = tmp_path / "data.parquet"
    frame = datafusion.SessionContext().from_arrow(pa.table({"s": ["a", "b" * 70_000]}))
    frame.write_parquet_with_options(
        data, datafusion.ParquetWriterOptions(statistics_truncate_length=100_000)
    )
    found = pq.read_metadata(data).row_group(0).column(0).statistics
    done = assert_good_pair(data)
    (chunk,) = done.value.row_groups[0].chunks

    assert found is not None
    assert "b" * 70_000 == found.max
    assert (b"a", None) == (chunk.min, chunk.max)
    assert [("MAX", "s")] == [(left.what, left.name) for left in done.left_out]


def test_a_bound_that_was_cut_short_is_not_exact(tmp_path: Path) -> None:
    data = tmp_path / "data.parquet"
    pl.DataFrame({"s": ["a", "b" * 70_000]}).write_parquet(data, statistics="full")
    (chunk,) = assert_good_pair(data).value.row_groups[0].chunks

    assert (b"b" * 63 + b"c", False) == (chunk.max, chunk.max_exact)


def test_what_counts_as_the_key_can_be_given(tmp_path: Path) -> None:
    data = tmp_path / "data.parquet"
    pq.write_table(matrix().select(["moment", "text"]), data)
    key = {
        "version": 1,
        "schema": [
            {"column_type": 131080, "column_top": 0, "id": 4},
            {"column_type": 12, "column_top": 0, "format": 1},
        ],
        "unused_bytes": 7,
    }
    done = generate_file(data, questdb_json=json.dumps(key))[1]
    first, second = done.value.columns

    assert (True, 0, 7) == (done.is_questdb, done.value.designated_timestamp, done.value.unused_bytes)
    assert (131080, 4, 12, True) == (first.type, first.id, second.type, second.local_key_is_global)
    assert Repetition.OPTIONAL == second.repetition


# ----------------------------------------------------------------------------------------------- what cannot be done


def test_damaged_files_and_keys_are_named(tmp_path: Path) -> None:
    data = tmp_path / "data.parquet"
    pq.write_table(pa.table({"a": [1]}), data)
    with pytest.raises(
        Malformed, match=r"data.parquet.*key questdb.version: version 3 is unknown \[PM-121\]"
    ):
        generate_file(data, questdb_json='{"version": 3, "schema": []}')
    with pytest.raises(Unsupported, match="without the key questdb"):
        generate_file(data, path="encode")
    raw = data.read_bytes()
    for broken in (b"", raw[:-9], raw[:30], raw[: len(raw) // 2] + raw[-8:], b"PARE" + raw[4:]):
        data.write_bytes(broken)
        with pytest.raises(FormatError, match=r"data\.parquet"):
            generate_file(data)
    assert [data] == list(tmp_path.iterdir())


def test_a_file_that_describes_others_is_refused(tmp_path: Path) -> None:
    pq.write_metadata(matrix().schema, str(tmp_path / "_metadata"))

    with pytest.raises(Refused, match="it describes other files"):
        generate_file(tmp_path / "_metadata")


def test_no_parquet_file_is_overwritten_even_if_it_is_encrypted(tmp_path: Path) -> None:
    data, encrypted = tmp_path / "data.parquet", tmp_path / "secret.parquet"
    pq.write_table(pa.table({"a": [1]}), data)
    encrypted.write_bytes(b"PARE" + bytes(100) + b"PARE")
    for path in (data, encrypted):
        before = path.read_bytes()
        with pytest.raises(Refused, match="is a Parquet file, which _pm would replace"):
            generate_file(data, path)
        assert before == path.read_bytes()


def test_snapshots_that_are_lost_with_the_file_that_is_replaced_are_named(tmp_path: Path) -> None:
    data = tmp_path / "data.parquet"
    shutil.copy(INTEROP / "questdb-9.4.3" / "o3-chain-5" / "data.parquet", data)
    _, whole = generate_file(data, history=True, path="encode")
    assert ((), 6) == (whole.lost, whole.snapshots)

    result = CliRunner().invoke(app, ["pm", "generate", str(data)])
    assert (0, True) == (result.exit_code, "had 5 more snapshots" in result.stderr)
    assert ((), 6) == (generate_file(data, history=True)[1].lost, whole.snapshots)
    assert value_size(whole.value) not in generate_file(data)[1].lost


def test_what_stands_there_is_replaced_whole(tmp_path: Path) -> None:
    data, target = tmp_path / "data.parquet", tmp_path / "_pm"
    pq.write_table(pa.table({"a": [1]}), data)
    target.write_bytes(b"something older" * 1000)
    done = generate_file(data)[1]

    assert done.raw == target.read_bytes()
    assert {data, target} == set(tmp_path.iterdir())
    assert len(done.raw) == pm.FixedHeader.read(done.raw).parquet_meta_file_size
