from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import datasource as ds
from pyspark.sql import types as st

from pqassay_reference.errors import Refused
from pqassay_spark.query.datasource import (
    PUSH_DOWN,
    FileGroup,
    PqassayDataSource,
    PrunedReader,
    register,
)
from pqassay_spark.query.file_parts import FilePart, packed
from pqassay_spark.query.lake_indexes import NOTHING
from pqassay_spark.query.lake_listing import Lake, LakeFile
from pqassay_spark.query.partition_names import kind_of_values, partition_of
from pqassay_spark.query.pruned_scan import spark_location
from spark_lakes import rows_of, setting, write_file, write_lake

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

NATIONS: dict[str, list[str | None]] = {
    "a.parquet": ["Peru", "Chad"],
    "b.parquet": ["Chad", "日本"],
    "c.parquet": ["Kenya", None],
}


@pytest.fixture(name="spark", scope="module")
def registered(spark: SparkSession) -> Generator[SparkSession]:
    """The session of all tests, with the source."""
    register(spark)
    yield spark
    spark.conf.unset(PUSH_DOWN)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_lake(tmp_path_factory.mktemp("lake"), NATIONS)


def load(spark: SparkSession, root: Path, **options: str) -> DataFrame:
    return spark.read.format("pqassay").options(**options).load(str(root))


def reader(
    root: Path, *filters: ds.Filter, schema: st.StructType | None = None, **options: str
) -> PrunedReader:
    source = PqassayDataSource({"path": str(root), "prune": "once", **options})
    made = source.reader(schema or source.schema())
    assert isinstance(made, PrunedReader)
    assert list(made.pushFilters(list(filters))) == list(filters)
    return made


def kept(root: Path, *filters: ds.Filter) -> list[str]:
    """The files that a reader with these filters reads."""
    groups = reader(root, *filters).partitions()
    assert all(isinstance(group, FileGroup) for group in groups)
    return sorted(part.file.name[0] for group in groups for part in group.parts)  # type: ignore[attr-defined] # see above


NATION = ("nation",)


@pytest.mark.parametrize(
    ("filters", "files"),
    [
        ([], "abc"),
        ([ds.EqualTo(NATION, "Peru")], "a"),
        ([ds.EqualTo(NATION, "Chad"), ds.Not(ds.EqualTo(NATION, "Peru"))], "ab"),
        ([ds.In(NATION, ("Peru", "Kenya"))], "ac"),
        ([ds.Not(ds.In(NATION, ("Chad", "日本")))], "ac"),
        ([ds.Not(ds.In(NATION, ("Chad", None)))], ""),
        ([ds.In(NATION, ("Peru", None))], "a"),
        ([ds.IsNull(NATION)], "c"),
        ([ds.IsNotNull(NATION)], "abc"),
        ([ds.EqualNullSafe(NATION, None)], "c"),
        ([ds.EqualNullSafe(NATION, "Peru")], "a"),
        ([ds.Not(ds.EqualNullSafe(NATION, "Kenya"))], "abc"),
        ([ds.Not(ds.EqualTo(NATION, "Kenya"))], "ab"),
        ([ds.GreaterThan(NATION, "Kenya")], "ab"),
        ([ds.GreaterThanOrEqual(NATION, "Kenya")], "abc"),
        ([ds.LessThan(NATION, "Chad")], ""),
        ([ds.LessThanOrEqual(NATION, "Chad")], "ab"),
        ([ds.StringStartsWith(NATION, "P")], "a"),
        ([ds.StringEndsWith(NATION, "nya")], "c"),
        ([ds.StringContains(NATION, "本")], "b"),
        ([ds.Not(ds.StringContains(NATION, "e"))], "ab"),
        ([ds.EqualTo(NATION, 5)], "abc"),
        ([ds.EqualTo(("id",), "a.parquet 0")], "abc"),
        ([ds.EqualTo(("nation", "x"), "Peru")], "abc"),
        ([ds.Filter()], "abc"),
    ],
)
def test_each_filter_of_spark_keeps_the_files_that_may_hold_a_row(
    lake: Path, filters: list[ds.Filter], files: str
) -> None:
    assert list(files) == kept(lake, *filters)


def test_a_column_with_another_collation_or_of_fixed_length_is_not_pruned(lake: Path) -> None:
    for field in (
        st.StructField("nation", st.StringType("UTF8_LCASE")),
        st.StructField("nation", st.StringType(), metadata={"__CHAR_VARCHAR_TYPE_STRING": "char(8)"}),
    ):
        made = reader(lake, ds.EqualTo(NATION, "Peru"), schema=st.StructType([field]))
        assert made.left_out(Lake(str(lake)).files()) == (NOTHING, ())


@pytest.mark.spark
@pytest.mark.parametrize(
    "condition",
    ["nation = 'Peru'", "nation NOT IN ('Chad', '日本')", "nation = 'Peru' OR id = 'c.parquet 1'", "1 = 1"],
)
def test_plain_sql_gives_the_rows_of_sparks_own_reader(
    spark: SparkSession, lake: Path, condition: str
) -> None:
    expected = rows_of(spark.read.parquet(str(lake)).where(condition))
    assert expected == rows_of(load(spark, lake, prune="once").where(condition))


@pytest.mark.spark
def test_spark_passes_filters_on_only_where_it_is_told_to(spark: SparkSession, tmp_path: Path) -> None:
    torn = write_lake(tmp_path, NATIONS)
    # Whether a file was read is seen by what happens to one that cannot be.
    (torn / "b.parquet").write_bytes(_with_torn_pages(torn / "b.parquet"))
    assert [("a.parquet 0", "Peru")] == rows_of(load(spark, torn, prune="once").where("nation = 'Peru'"))
    with pytest.raises(Exception, match=r"b\.parquet cannot be read"):
        load(spark, torn, prune="once").where("nation = '日本'").collect()
    with setting(spark, PUSH_DOWN, "false"), pytest.raises(Exception, match=PUSH_DOWN):
        load(spark, torn, prune="once").where("nation = 'Peru'").collect()


def _with_torn_pages(path: Path) -> bytes:
    """The bytes of a file with its first pages overwritten."""
    content = bytearray(path.read_bytes())
    content[4:60] = b"\xff" * 56
    return bytes(content)


UTC = dt.UTC
CLOCK = dt.datetime(2024, 2, 29, 1, 2, 3, 4)  # noqa: DTZ001 - what a clock shows, without a zone
EVERYTHING: dict[str, Any] = {
    "flag": [True, None],
    "tiny": pa.array([-128, None], pa.int8()),
    "small": pa.array([-(1 << 15), None], pa.int16()),
    "number": pa.array([1 << 30, None], pa.int32()),
    "long": pa.array([1 << 60, None], pa.int64()),
    "utiny": pa.array([255, None], pa.uint8()),
    "usmall": pa.array([65535, None], pa.uint16()),
    "uint": pa.array([(1 << 32) - 1, None], pa.uint32()),
    "ulong": pa.array([(1 << 64) - 1, None], pa.uint64()),
    "single": pa.array([0.1, None], pa.float32()),
    "double": [float("-inf"), None],
    "money": pa.array([Decimal("-12.30"), None], pa.decimal128(9, 2)),
    "wide": pa.array([Decimal(10) ** 37, None], pa.decimal128(38, 0)),
    "bytes": [b"\x00\xff", None],
    "fixed": pa.array([b"ab", None], pa.binary(2)),
    "day": [dt.date(1, 1, 1), None],
    "instant": pa.array([dt.datetime(1600, 2, 29, 23, 59, 59, 999999, UTC), None], pa.timestamp("us", "UTC")),
    "milli": pa.array([dt.datetime(2024, 2, 29, tzinfo=UTC), None], pa.timestamp("ms", "America/Lima")),
    "clock": pa.array([CLOCK, None], pa.timestamp("us")),
    "took": pa.array([dt.timedelta(seconds=3), None], pa.duration("us")),
    "category": pa.array(["x", None]).dictionary_encode(),
    "large": pa.array(["y", None], pa.large_string()),
    "point": [{"x": 1, "deep": {"y": "z"}}, None],
    "list": [[1, None], None],
    "lists": [[["a"], []], None],
    "map": pa.array([[("k", 1), ("l", None)], None], pa.map_(pa.string(), pa.int64())),
    "people": [[{"name": "n", "tags": ["t"]}], None],
}


@pytest.mark.spark
@pytest.mark.parametrize("int96", [False, True])
def test_values_of_every_type_are_those_of_sparks_own_reader(
    spark: SparkSession, tmp_path: Path, int96: bool
) -> None:
    columns = dict(EVERYTHING)
    if int96:
        columns = {name: columns[name] for name in ("long", "milli", "clock")}
        far = [dt.datetime(9999, 12, 31, tzinfo=UTC), dt.datetime(1600, 1, 1, tzinfo=UTC)]
        columns["far"] = pa.array(far, pa.timestamp("us", "UTC"))
        columns["nested"] = pa.array([[CLOCK], None], pa.list_(pa.timestamp("us")))
    pq.write_table(pa.table(columns), tmp_path / "a.parquet", use_deprecated_int96_timestamps=int96)
    native, ours = spark.read.parquet(str(tmp_path)), load(spark, tmp_path)
    assert native.schema == ours.schema
    assert rows_of(native) == rows_of(ours)


@pytest.mark.spark
def test_what_spark_wrote_and_noted_is_read_back(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.sql(
        "SELECT 'A' COLLATE UTF8_LCASE AS word, timestamp'2024-01-01 00:00:00' AS at, "
        "timestamp_ntz'2024-01-01 00:00:00' AS clock, named_struct('a', 1, 'b', array(map('k', date'1500-01-01'))) AS s"
    )
    frame.coalesce(1).write.parquet(f"file://{tmp_path}/out")
    native, ours = spark.read.parquet(f"file://{tmp_path}/out"), load(spark, tmp_path / "out")
    assert native.schema == ours.schema
    assert rows_of(native) == rows_of(ours)
    assert len(rows_of(ours.where("word = 'a'"))) == 1


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pa.array([1], pa.timestamp("ns", "UTC")), "counts nanoseconds"),
        (pa.array([1], pa.time64("us")), "has the type time64"),
        (pa.array([1.0], pa.float16()), "has the type halffloat"),
        (pa.array([Decimal(10) ** 50], pa.decimal256(60, 0)), r"has the type decimal256\(60, 0\)"),
        (pa.array([{"a": [dt.time(1)]}]), r"column c\.a\.element has the type time64"),
    ],
)
def test_a_type_that_spark_reads_in_another_way_or_not_at_all_is_refused(
    tmp_path: Path, column: Any, words: str
) -> None:
    pq.write_table(pa.table({"c": column}), tmp_path / "a.parquet")
    with pytest.raises(Refused, match=words):
        PqassayDataSource({"path": str(tmp_path)}).schema()


def test_files_of_the_old_calendar_are_refused(tmp_path: Path) -> None:
    table = pa.table({"c": [1]}).replace_schema_metadata({"org.apache.spark.legacyDateTime": ""})
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(Refused, match="calendar of Spark 2; read it with Spark's own reader"):
        PqassayDataSource({"path": str(tmp_path)}).schema()


@pytest.mark.spark
def test_partition_columns_are_those_of_sparks_own_reader(spark: SparkSession, tmp_path: Path) -> None:
    folders = {
        "number": ["1", "+5", "007", "-3", "__HIVE_DEFAULT_PARTITION__"],
        "long": ["1", "99999999999"],
        "day": ["2024-01-01", "1999-12-31"],
        "text": ["1", "x", "a%2Fb c", "ü"],
        "mixed": ["2024-01-01", "1"],
        "no_day": ["2024-02-30"],
        "flag": ["true"],
        "nothing": ["__HIVE_DEFAULT_PARTITION__"],
        "latin": ["%C3%A9"],
    }
    for name, values in folders.items():
        for value in values:
            write_file(tmp_path / name / f"{name}={value}" / "m=1" / "a.parquet", ["Peru"])
        native, ours = spark.read.parquet(str(tmp_path / name)), load(spark, tmp_path / name)
        assert native.schema == ours.schema
        assert rows_of(native) == rows_of(ours)


@pytest.mark.spark
def test_a_schema_decides_what_partition_values_are(spark: SparkSession, tmp_path: Path) -> None:
    write_file(tmp_path / "n=1.5" / "nation=Kenya" / "a.parquet", ["Peru"])
    with pytest.raises(Exception, match="partition column n look like numbers or times"):
        load(spark, tmp_path)
    frame = spark.read.format("pqassay").schema("nation string, n double, more long").load(str(tmp_path))
    assert rows_of(frame.where("nation = 'Kenya'")) == [("Kenya", 1.5, None)]
    assert rows_of(spark.read.format("pqassay").schema("n double").load(str(tmp_path))) == [(1.5,)]
    with pytest.raises(Exception, match=r"'1\.5' of partition column n is no int"):
        spark.read.format("pqassay").schema("n int").load(str(tmp_path)).collect()


@pytest.mark.parametrize(
    ("values", "kind"),
    [(["1e3"], None), (["NaN"], None), ([" 1"], None), (["2024-01-01 00:00:00"], None), (["1" * 30], None)],
)
def test_values_that_java_may_take_for_numbers_or_times_are_nobodys_guess(
    values: list[str], kind: str | None
) -> None:
    assert kind == kind_of_values(values)


def test_a_percent_sign_stands_for_one_character() -> None:
    assert partition_of("k%3D=a%2Fb%C3%A9/n=/x=__HIVE_DEFAULT_PARTITION__/f=1") == {"k=": "a/bÃ©", "x": None}


def test_the_files_are_those_that_spark_reads(tmp_path: Path) -> None:
    write_lake(
        tmp_path,
        {
            name: ["x"]
            for name in [
                *("flat/a", "flat/_b", "flat/.c", "flat/sub/d", "flat/_h/e", "part/n=1/a", "part/b"),
                *("part/n=1/sub/c", "part/_n=1/d", "mixed/n=1/a", "mixed/m=1/b", "stray/n=1/a", "stray/s/b"),
            ]
        },
    )
    assert ["a"] == [file.name for file in Lake(str(tmp_path / "flat")).files()]
    with pytest.raises(Refused, match="is partitioned by _n and n"):
        Lake(str(tmp_path / "part")).files()
    (tmp_path / "part" / "_n=1" / "d").unlink()
    assert ["n=1/a", "n=1/sub/c"] == [file.name for file in Lake(f"file://{tmp_path}/part").files()]
    with pytest.raises(Refused, match="is partitioned by m and n"):
        Lake(str(tmp_path / "mixed")).files()
    with pytest.raises(Refused, match="s/b, which is in none of them"):
        Lake(str(tmp_path / "stray")).files()


@pytest.mark.spark
def test_files_with_fewer_more_or_otherwise_spelt_columns_are_read(
    spark: SparkSession, tmp_path: Path
) -> None:
    write_file(tmp_path / "a.parquet", ["Peru"])
    pq.write_table(pa.table({"more": [1], "NATION": ["Chad"]}), tmp_path / "b.parquet")
    pq.write_table(pa.table({"more": [1]}), tmp_path / "c.parquet")
    native = rows_of(spark.read.schema("id string, nation string").parquet(str(tmp_path)))
    assert native == rows_of(load(spark, tmp_path))
    exact = rows_of(load(spark, tmp_path, caseSensitive="true").where("nation IS NOT NULL"))
    assert [("a.parquet 0", "Peru")] == exact


@pytest.mark.spark
@pytest.mark.parametrize("name", ["a b%20[é]{x}*日?^$\\w", "col:on"])
def test_odd_names_are_read(spark: SparkSession, tmp_path: Path, name: str) -> None:
    root = write_lake(tmp_path / name, {"per%41 ü.parquet": ["Peru"], "br[a].parquet": ["Chad"]})
    assert [("per%41 ü.parquet 0", "Peru")] == rows_of(load(spark, root).where("nation = 'Peru'"))
    assert rows_of(spark.read.parquet(spark_location(root))) == rows_of(load(spark, root))


def test_what_cannot_be_read_is_said(tmp_path: Path, lake: Path) -> None:
    with pytest.raises(Refused, match="has no Parquet files; give a schema"):
        PqassayDataSource({"path": str(tmp_path)}).schema()
    with pytest.raises(Refused, match="give a path"):
        PqassayDataSource({}).schema()
    with pytest.raises(Refused, match="it takes companion or published"):
        reader(lake, trust="everybody")
    with pytest.raises(Refused, match="it takes never or once"):
        reader(lake, prune="always")
    made = reader(lake, schema=st.StructType([st.StructField("nation", st.LongType())]))
    with pytest.raises(Refused, match="column nation is string, which is not read as int64"):
        list(made.read(made.partitions()[0]))
    assert list(made.read(ds.InputPartition(None))) == []


def test_a_relative_path_is_that_of_the_driver_wherever_a_task_runs(
    lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(lake.parent)
    made = PqassayDataSource({"path": lake.name}).reader(
        st.StructType([st.StructField("id", st.StringType())])
    )
    monkeypatch.chdir("/")
    assert sum(len(batch) for group in made.partitions() for batch in made.read(group)) == 6


def test_files_are_packed_into_groups_of_about_the_same_size() -> None:
    mega = 1 << 20
    sizes = [200, 60, 60, 1, 1, 1]
    files = [FilePart(LakeFile(f"f{number}", size * mega, {})) for number, size in enumerate(sizes)]
    groups = [[part.size // mega for part in group] for group in packed(files, 2)]
    assert groups == [[200], [60, 60], [1, 1, 1]]
    assert packed([], 2) == []
    small = [FilePart(LakeFile(f"f{number}", 100, {})) for number in range(8)]
    assert [len(group) for group in packed(small, 2)] == [4, 4]
