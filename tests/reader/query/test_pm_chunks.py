"""Rows by ``_pm`` alone: those that pyarrow reads by the footer, of real pairs and of many schemas, and nothing else fetched."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from typer.testing import CliRunner

from damage import EXAMPLES, tries
from places import INTEROP
from pm_pairs import PmPair, generated, real, real_names, with_chunk, with_column, with_footer, written
from pqassay.cli.main import app
from pqassay_reader.query.facts.pm_chunks import ChunkRows
from pqassay_reader.query.facts.pm_schema import schema_of
from pqassay_reader.query.scan import scan
from pqassay_reference.errors import Refused, Undecodable
from pqassay_reference.pm import write as pm_write
from pqassay_reference.pm.generate import generate_file
from pqassay_reference.pm.query import planned
from pqassay_reference.pm.read import PmReader
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import BytesSource, FileSource
from pqassay_spec.parquet.thrift import ConvertedType, FileMetaData
from pqassay_spec.pm.codes import PhysicalType, Repetition
from pqassay_spec.pm.value import SnapshotColumn


class Counting(BytesSource):
    """A Parquet file that notes the ranges that are read."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data, "data.parquet")
        self.ranges: list[tuple[int, int]] = []

    def read(self, offset: int, length: int) -> bytes:
        self.ranges.append((offset, length))
        return super().read(offset, length)


def rows_of(pair: PmPair, **options: Any) -> tuple[pa.Table, Counting]:
    source = Counting(pair.data or b"")
    return ChunkRows(PmReader.from_bytes(pair.raw), source, **options).table(), source


def columns_of(table: pa.Table) -> list[list[Any]]:
    return [column.to_pylist() for column in table.columns]


def physical(data: bytes) -> pa.Table:
    """The rows of a file whose footer names no logical types, so that a reader returns what is stored."""

    def bare(metadata: FileMetaData) -> None:
        metadata.key_value_metadata = None
        for element in metadata.schema:
            if element.type is not None or element.converted_type not in (
                ConvertedType.LIST,
                ConvertedType.MAP,
            ):
                element.logicalType = element.converted_type = element.scale = element.precision = None
        for group in metadata.row_groups:
            for chunk in group.columns:
                assert chunk.meta_data is not None
                chunk.meta_data.statistics = None

    return pq.read_table(pa.BufferReader(with_footer(data, bare)))


@pytest.mark.parametrize("name", real_names())
def test_the_rows_of_real_pairs_are_those_that_pyarrow_reads(name: str) -> None:
    pair = real(name)
    data = pair.data or b""
    typed, source = rows_of(pair)
    stored, _ = rows_of(pair, logical=False)

    assert columns_of(pq.read_table(pa.BufferReader(data))) == columns_of(typed)
    assert columns_of(physical(data)) == columns_of(stored)
    with_footer_at = PmReader.from_bytes(pair.raw).footer.fields.parquet_footer_offset
    assert [] == [place for place in source.ranges if sum(place) > with_footer_at]


def test_earlier_snapshots_are_read_from_the_file_as_it_is_now() -> None:
    now = real("questdb-9.4.3/o3-chain-5")
    for number in range(5):
        then = real(f"questdb-9.4.3/o3-chain-{number}").data or b""
        reader = PmReader.from_bytes(now.raw, parquet_file_size=len(then))
        found = ChunkRows(reader, BytesSource(now.data or b"")).table()
        assert columns_of(pq.read_table(pa.BufferReader(then))) == columns_of(found)


def test_each_chunk_is_fetched_once_and_nothing_else() -> None:
    pair = real("questdb-9.4.3/o3-chain-5")
    reader = PmReader.from_bytes(pair.raw)
    wanted = [reader.column("l"), reader.column("sy")]
    _, source = rows_of(pair, columns=["l", "sy"], gap=0)
    chunks = [
        (chunk.byte_range_start, chunk.total_compressed)
        for number in range(reader.row_group_count)
        for chunk in (reader.block(number).chunks[place] for place in wanted)
    ]

    assert sum(length for _, length in chunks) == sum(length for _, length in source.ranges)
    assert {byte for at, length in chunks for byte in range(at, at + length)} == {
        byte for at, length in source.ranges for byte in range(at, at + length)
    }


# ------------------------------------------------------------------------------------- the plan, and what is fetched


def _all_null(folder: Path) -> None:
    shutil.copytree(INTEROP / "questdb-9.4.3" / "all-null", folder, dirs_exist_ok=True)


def _chain(folder: Path) -> None:
    shutil.copytree(INTEROP / "questdb-9.4.3" / "o3-chain-5", folder, dirs_exist_ok=True)


def _many_row_groups(folder: Path) -> None:
    path = folder / "data.parquet"
    pq.write_table(pa.table({"n": range(100), "none": pa.nulls(100, pa.int64())}), path, row_group_size=2)
    generate_file(path)


def _long_chunks(folder: Path) -> None:
    """Row groups that take more than the longest request."""
    path, rows = folder / "data.parquet", 3 << 18
    noise = np.random.default_rng(7).integers(1 << 62, size=rows)
    pq.write_table(pa.table({"n": range(rows), "noise": noise}), path, row_group_size=1 << 18)
    generate_file(path)


@pytest.mark.parametrize("make", [_all_null, _chain, _many_row_groups, _long_chunks])
def test_plan_read_and_scan_make_the_same_requests(
    make: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path)
    data, pm = tmp_path / "data.parquet", tmp_path / "_pm"
    made: list[tuple[int, int]] = []
    read_range = FileSource.read

    def counted(source: FileSource, offset: int, length: int) -> bytes:
        if Path(source.name) == data:
            made.append((offset, length))
        return read_range(source, offset, length)

    def requests_of(*arguments: object) -> list[tuple[int, int]]:
        made.clear()
        done = CliRunner().invoke(app, list(map(str, arguments)))
        assert 0 == done.exit_code, done.stderr
        return sorted(made)

    with PmReader.map(pm) as reader:
        names = ",".join(column.name for column in reader.columns)
    rows = pq.read_table(data)
    monkeypatch.setattr(FileSource, "read", counted)
    for options in ((),) if make is _long_chunks and EXAMPLES > 1 else ((), ("--gap", "0")):
        planned = CliRunner().invoke(app, ["pm", "plan", str(pm), "-c", names, "--json", *options])
        expected = [(each["offset"], each["length"]) for each in json.loads(planned.stdout)["requests"]]

        for command in (("pm", "read", tmp_path), ("scan", data, "--metadata", "pm")):
            written_again = tmp_path / f"{command[0]}{len(options)}.parquet"
            assert expected == requests_of(*command, "-o", written_again, *options)
            again = pq.read_table(written_again)
            assert (rows.column_names, rows.columns) == (again.column_names, again.columns)


@pytest.mark.parametrize(
    ("make", "ranges", "requests"), [(_all_null, (9, 453), (1, 2008)), (_many_row_groups, (50, 5300), (1, 7505))]
)  # fmt: skip
def test_a_plan_counts_ranges_and_requests(
    make: Callable[[Path], None], ranges: tuple[int, int], requests: tuple[int, int], tmp_path: Path
) -> None:
    make(tmp_path)
    with PmReader.map(tmp_path / "_pm") as reader:
        names = ",".join(column.name for column in reader.columns)
    done = CliRunner().invoke(app, ["pm", "plan", str(tmp_path / "_pm"), "-c", names, "--json"])
    record = json.loads(done.stdout)

    assert ranges == (len(record["ranges"]), record["bytes"])
    assert requests == (len(record["requests"]), sum(each["length"] for each in record["requests"]))


def test_a_scan_whose_condition_is_one_column_plans_that_column_alone(tmp_path: Path) -> None:
    _long_chunks(tmp_path)
    found = scan(tmp_path / "data.parquet", "n < 3", ["noise"], metadata="pm", without=["row-groups"])

    assert 3 == found.to_table().num_rows
    with PmReader.map(tmp_path / "_pm") as reader:
        plan = planned(reader, ["n"]).ranges + planned(reader, ["noise"], [0]).ranges
    assert sum(chunk.length for chunk in plan) == found.counters.data.length


def test_rows_that_a_limit_leaves_out_are_not_fetched(tmp_path: Path) -> None:
    _many_row_groups(tmp_path)
    found = scan(tmp_path / "data.parquet", columns=["n"], limit=2, metadata="pm", gap=0)
    found.to_table()

    with PmReader.map(tmp_path / "_pm") as reader:
        assert planned(reader, ["n"], [0]).ranges[0].length == found.counters.data.length


def test_more_nulls_than_memory_should_hold_are_not_made_up() -> None:
    pair, many = generated(written(pa.table({"n": pa.nulls(4, pa.int64())}))), 3_000_000
    value = with_chunk(pair.value, 0, 0, num_values=many, null_count=many)
    (group,) = value.row_groups
    lying = pair.saying(replace(value, row_groups=(replace(group, num_rows=many),)))
    with pytest.raises(Undecodable):
        rows_of(lying)


ROWS = 60

KINDS: list[tuple[str, pa.DataType, Any]] = [
    ("flag", pa.bool_(), lambda row: row % 3 == 0),
    ("small", pa.int8(), lambda row: row - 30),
    ("whole", pa.int64(), lambda row: row * 10**15),
    ("real", pa.float64(), lambda row: row / 7),
    ("half", pa.float32(), lambda row: row / 4),
    ("text", pa.string(), lambda row: f"value {row % 7}"),
    ("bytes", pa.binary(), lambda row: bytes([row])),
    ("fixed", pa.binary(5), lambda row: b"%05d" % row),
    ("money", pa.decimal128(12, 2), lambda row: Decimal(row * 3) / 4 * 4),
    ("moment", pa.timestamp("us", "UTC"), lambda row: row * 1_000_003),
    ("list", pa.list_(pa.float64()), lambda row: None if row % 5 == 0 else [float(row)] * (row % 4)),
    ("lists", pa.list_(pa.list_(pa.float64())), lambda row: [[float(row)], []] if row % 2 else []),
]


@st.composite
def pairs(draw: st.DrawFn) -> tuple[pa.Table, bytes]:
    """A table of some kinds of columns, with nulls, and the file that pyarrow makes of it in some way."""
    chosen = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=4, unique_by=lambda kind: kind[0]))
    modulus = draw(st.integers(1, 9))
    columns = {
        name: pa.array(
            [None if row % modulus == modulus - 1 > 0 else value(row) for row in range(ROWS)], kind
        )
        for name, kind, value in chosen
    }
    table = pa.table(columns)
    return table, written(
        table,
        row_group_size=draw(st.sampled_from([7, 30, ROWS])),
        compression=draw(st.sampled_from(["none", "snappy", "gzip", "zstd", "lz4"])),
        use_dictionary=draw(st.booleans()),
        data_page_version=draw(st.sampled_from(["1.0", "2.0"])),
        data_page_size=draw(st.sampled_from([64, 1 << 20])),
    )


@tries(40, suppress_health_check=[HealthCheck.too_slow])
@given(pairs(), st.data())
def test_the_rows_of_any_schema_are_those_that_pyarrow_reads(
    made: tuple[pa.Table, bytes], data: st.DataObject
) -> None:
    table, raw = made
    start = data.draw(st.integers(0, ROWS))
    rows = range(start, data.draw(st.integers(start, ROWS + 5)))
    found, _ = rows_of(generated(raw), rows=rows, logical=False)

    assert columns_of(physical(raw).slice(rows.start, len(rows))) == columns_of(found)
    assert table.schema.names == found.schema.names


def test_the_parts_of_a_nested_column_are_numbered() -> None:
    table = pa.table({"s": pa.array([{"a": 1, "b": "x"}, None, {"a": None, "b": "z"}]), "n": [1, 2, 3]})
    found, _ = rows_of(generated(written(table)), columns=["s"])

    assert {"s.0": [1, None, None], "s.1": ["x", None, "z"]} == found.to_pydict()


def test_columns_and_rows_that_are_not_there() -> None:
    pair = real("questdb-9.4.3/bloom")
    with pytest.raises(Refused, match="there is no column nope"):
        rows_of(pair, columns=["nope"])
    assert 0 == rows_of(pair, rows=range(1000, 2000))[0].num_rows


def test_levels_that_no_schema_has_are_refused() -> None:
    with pytest.raises(Refused, match="repetition level 2 and definition level 1, which is not possible"):
        schema_of(SnapshotColumn("x", PhysicalType.INT32, max_rep_level=2, max_def_level=1))


@pytest.mark.parametrize("levels", [(0, 0), (0, 3), (1, 1), (1, 2), (1, 3), (2, 4), (2, 7), (3, 5)])
@pytest.mark.parametrize("repetition", [Repetition.REQUIRED, Repetition.OPTIONAL])
def test_a_schema_has_the_levels_that_it_was_made_for(levels: tuple[int, int], repetition: int) -> None:
    repetition_level, definition_level = levels
    column = SnapshotColumn(
        "x", PhysicalType.INT32, -1, -1, 0, repetition_level, definition_level, repetition
    )
    kinds = [element.repetition_type for element in schema_of(column)]

    assert (repetition_level, definition_level) == (kinds.count(2), kinds.count(2) + kinds.count(1))


def test_what_pm_says_wrongly_is_found_or_refused() -> None:
    pair = real("questdb-9.4.3/bloom")
    reader = PmReader.from_bytes(pair.raw)
    value = reader.value()
    for changed, error in (
        (with_chunk(value, 0, 1, offset=len(pair.data or b"")), (FormatError,)),
        (with_chunk(value, 0, 1, length=5), (FormatError, Undecodable)),
        (with_chunk(value, 0, 1, codec=6), (Undecodable,)),
        (with_column(value, 1, max_def_level=0), (Undecodable,)),
    ):
        broken = PmPair(pm_write.create(changed), pair.data)
        with pytest.raises(error):
            rows_of(broken)


# ------------------------------------------------------------------------------------------------------- the command


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(INTEROP / "questdb-9.4.3" / "o3-chain-5", tmp_path / "2024-01-01"))


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, ["pm", "read", *map(str, arguments)])


def test_read_prints_a_table_and_says_what_it_fetched(folder: Path) -> None:
    result = run(folder, "--columns", "l,sy", "--rows", "1..3")

    assert ["l  sy", "2  k2", "3  k0"] == result.stdout.splitlines()
    assert "bytes in 1 request; the Parquet footer was not read" in result.stderr


def test_read_shows_the_first_rows_unasked(folder: Path) -> None:
    lines = run(folder, "-c", "l").stdout.splitlines()

    assert (42, "… the first 40 of 95 rows; name others with --rows FROM..TO") == (len(lines), lines[-1])


def test_read_writes_json_and_parquet(folder: Path, tmp_path: Path) -> None:
    made, text = tmp_path / "rows.parquet", tmp_path / "rows.json"
    assert [0, 0] == [
        run(folder, "--format", "parquet", "-o", made).exit_code,
        run(folder, "--format", "json", "-o", text, "-c", "sy").exit_code,
    ]
    whole = pq.read_table(folder / "data.parquet")

    assert columns_of(whole) == columns_of(pq.read_table(made))
    assert [{"sy": value} for value in whole.column("sy").to_pylist()] == [
        json.loads(line) for line in text.read_text().splitlines()
    ]


def test_read_goes_back_to_an_earlier_snapshot(folder: Path) -> None:
    assert 48 == len(run(folder, "--parquet-size", 3540, "--format", "json").stdout.splitlines())


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--format", "parquet"], 2, "--format parquet needs --output FILE"),
        (["--rows", "7"], 2, "a range is written FROM..TO"),
        (["--columns", "nope"], 1, "there is no column nope"),
        (["--output", "/nowhere/rows"], 2, "there is no folder /nowhere"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_line(
    arguments: list[str], code: int, told: str, folder: Path
) -> None:
    result = run(folder, *arguments)

    assert (code, True) == (result.exit_code, told in result.stderr)
    assert 1 == len(result.stderr.splitlines())


def test_a_file_that_was_cut_short_is_named(folder: Path) -> None:
    data = folder / "data.parquet"
    data.write_bytes(data.read_bytes()[:4000])
    result = run(folder)

    assert 1 == result.exit_code
    assert result.stderr.startswith(f"error: {data}, offset ")
