from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as f
from pyspark.sql import types as st

import pqassay
import pqassay_spark
from pqassay_reference.errors import Refused
from pqassay_reference.rewrite.extract import extract_file
from pqassay_spark.query import arrow_writer
from pqassay_spark.query.arrow_writer import IndexWriter, WrittenFile
from pqassay_spark.query.datasource import PUSH_DOWN, register
from pqassay_spec.base.sources import write_whole
from spark_lakes import files_opened, rows_of, write_file

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

SCHEMA = st.StructType(
    [st.StructField("id", st.LongType()), st.StructField("nation", st.StringType(), nullable=False)]
)


@pytest.fixture(name="spark", scope="module")
def registered(spark: SparkSession) -> Generator[SparkSession]:
    """The session of all tests, with the source."""
    register(spark)
    yield spark
    spark.conf.unset(PUSH_DOWN)


def save(frame: DataFrame, root: Path, mode: str = "append", **options: str) -> None:
    frame.write.format("pqassay").options(**{"column": "nation", **options}).mode(mode).save(str(root))


def everything_below(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*")) if root.exists() else ["(nothing)"]


def batch(*nations: str) -> pa.RecordBatch:
    ids = pa.array(range(len(nations)), pa.int64())
    return pa.RecordBatch.from_arrays([ids, pa.array(nations, pa.string())], names=["id", "nation"])


def writer(
    root: Path, *, overwrite: bool = False, schema: st.StructType = SCHEMA, **options: Any
) -> IndexWriter:
    return IndexWriter(
        str(root), schema, overwrite=overwrite, **{"column": "nation", "compression": "snappy", **options}
    )


def nations_of(root: Path) -> list[Any]:
    tables = [pq.read_table(path, partitioning=None) for path in sorted(root.glob("*.parquet"))]
    return sorted(value for table in tables for value in table.column("nation").to_pylist())


ALL_TYPES = """
    SELECT id, if(id % 7 = 0, NULL, concat('nation ', id % 5)) AS nation, id % 2 = 0 AS flag, CAST(id AS tinyint) AS tiny,
    CAST(id AS smallint) AS small, CAST(id AS int) AS number, CAST(id AS float) AS single, id / 3 AS double,
    CAST(id AS decimal(9, 2)) AS money, CAST(id AS decimal(38, 3)) AS wide, encode(CAST(id AS string), 'UTF-8') AS bytes,
    date_add(date'1500-01-01', CAST(id AS int)) AS day, timestamp'1600-01-01 00:00:00.000001' AS at,
    timestamp_ntz'2024-01-01 00:00:00' AS clock, named_struct('a', id, 'b', array(map('k', date'2024-01-01'))) AS deep,
    array(id, NULL) AS list, 'A' COLLATE UTF8_LCASE AS word
    FROM range(0, 40, 1, 3)
"""


@pytest.mark.spark
def test_every_file_has_an_index_and_is_conformant_with_all_values_compared(
    spark: SparkSession, tmp_path: Path
) -> None:
    frame = spark.sql(ALL_TYPES)
    root = tmp_path / "a b%20[é]"
    save(frame, root)
    files = sorted(root.glob("*.parquet"))
    assert len(files) == 3
    assert [path.name for path in root.iterdir() if path.suffix != ".parquet"] == ["_SUCCESS"]
    report = pqassay.check(files, tier="values")
    assert [(file.outcome, file.findings) for file in report.files] == [("conformant", [])] * 3
    for path in files:
        companion = extract_file(path).companion
        assert companion is not None
        assert (companion.column, companion.null_count > 0) == (("nation",), True)
        # The trap of a Python file object: the page index would be where the writer believed it to be.
        assert pq.read_metadata(path).row_group(0).column(0).has_offset_index
    read = pqassay_spark.read(spark, root, "id >= 0")
    assert frame.schema.simpleString() == read.schema.simpleString()  # read back, everything may be null
    assert rows_of(frame) == rows_of(read)
    peru = pqassay_spark.read(spark, root, "nation = 'no such'")
    assert (rows_of(peru), files_opened(peru)) == ([], 0)


@pytest.mark.spark
def test_a_job_that_fails_leaves_nothing_and_one_that_overwrites_leaves_the_old(
    spark: SparkSession, tmp_path: Path
) -> None:
    good = spark.sql("SELECT id, 'Peru' AS nation FROM range(0, 8, 1, 2)")
    # The last row of the last partition fails, when the other files and most of its own are written.
    bad = good.select("id", f.expr("if(id = 7, raise_error('no such nation'), nation)").alias("nation"))
    with pytest.raises(Exception, match="no such nation"):
        save(bad, tmp_path / "new")
    assert everything_below(tmp_path / "new") == ["(nothing)"]

    save(good, tmp_path / "old")
    before = everything_below(tmp_path / "old")
    with pytest.raises(Exception, match="no such nation"):
        save(bad, tmp_path / "old", mode="overwrite")
    assert before == everything_below(tmp_path / "old")
    with pytest.raises(Exception, match="no such nation"):
        save(bad, tmp_path / "old")
    assert before == everything_below(tmp_path / "old")

    save(good, tmp_path / "old")
    assert nations_of(tmp_path / "old") == ["Peru"] * 16
    read = spark.read.format("pqassay").load(str(tmp_path / "old"))
    save(read.withColumn("nation", f.lit("Chad")), tmp_path / "old", mode="overwrite")  # what it reads, even
    assert nations_of(tmp_path / "old") == ["Chad"] * 16
    assert everything_below(tmp_path / "old")[0] == "_SUCCESS"
    assert not any(name.startswith("_temporary") for name in everything_below(tmp_path / "old"))


@pytest.mark.spark
def test_what_spark_does_not_let_a_python_source_do_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.sql("SELECT 1L AS id, 'Peru' AS nation")
    for mode in ("error", "ignore"):
        with pytest.raises(Exception, match="UNSUPPORTED_DATA_SOURCE_SAVE_MODE"):
            save(frame, tmp_path / "out", mode=mode)
    with pytest.raises(Exception, match=r"(?i)partition"):
        frame.write.format("pqassay").option("column", "nation").partitionBy("nation").mode("append").save(
            str(tmp_path / "out")
        )
    with pytest.raises(Exception, match="the option column has to name the column to index"):
        save(frame, tmp_path / "out", column="id")
    assert everything_below(tmp_path / "out") == ["(nothing)"]


@pytest.mark.spark
def test_no_rows_leave_one_file_that_tells_the_columns(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.sql("SELECT id, 'Peru' AS nation FROM range(0, 4, 1, 2) WHERE id < 0")
    save(frame, tmp_path / "out")
    (file,) = (tmp_path / "out").glob("*.parquet")
    assert pqassay.check([file], tier="values").exit_code == 0
    read = spark.read.parquet(str(tmp_path / "out"))
    assert (read.count(), read.columns) == (0, ["id", "nation"])


def test_a_task_that_is_tried_twice_is_seen_once(tmp_path: Path) -> None:
    made = writer(tmp_path)
    made.write(iter([batch("first attempt")]))
    kept = made.write(iter([batch("second attempt")]))
    empty = made.write(iter([]))
    made.commit([kept, empty])
    assert nations_of(tmp_path) == ["second attempt"]
    assert len(everything_below(tmp_path)) == 2


def test_jobs_side_by_side_leave_each_other_alone(tmp_path: Path) -> None:
    one, two, failing = (writer(tmp_path) for _ in range(3))
    written = [
        made.write(iter([batch(name)])) for made, name in ((one, "one"), (two, "two"), (failing, "bad"))
    ]
    one.commit([written[0]])
    failing.abort([written[2], None])
    two.commit([written[1]])
    assert nations_of(tmp_path) == ["one", "two"]
    assert [name for name in everything_below(tmp_path) if "parquet" not in name] == ["_SUCCESS"]


def test_until_the_last_file_is_seen_there_is_no_mark_of_completeness(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = writer(tmp_path)
    first.commit([first.write(iter([batch("old")]))])
    seen: list[tuple[list[Any], bool]] = []

    def watched(path: Path, content: bytes) -> None:
        seen.append((nations_of(tmp_path), (tmp_path / "_SUCCESS").exists()))
        write_whole(path, content)

    monkeypatch.setattr(arrow_writer, "write_whole", watched)
    second = writer(tmp_path, overwrite=True)
    message = second.write(iter([batch("new")]))
    assert (nations_of(tmp_path), (tmp_path / "_SUCCESS").exists()) == (["old"], True)
    second.commit([message])
    assert seen == [(["new"], False)]
    assert (tmp_path / "_SUCCESS").exists()


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_commit_that_fails_half_way_puts_everything_back(tmp_path: Path, overwrite: bool) -> None:
    for name in ("old a", "old b"):
        first = writer(tmp_path)
        first.commit([first.write(iter([batch(name)]))])
    made = writer(tmp_path, overwrite=overwrite)
    written = [made.write(iter([batch(name)])) for name in ("new a", "new b")]
    missing = WrittenFile("z.parquet")
    with pytest.raises(FileNotFoundError):
        made.commit([*written, missing])
    assert nations_of(tmp_path) == ["old a", "old b"]
    assert (tmp_path / "_SUCCESS").exists()
    made.abort([*written, missing])
    assert [name for name in everything_below(tmp_path) if "parquet" not in name] == ["_SUCCESS"]


def test_an_abort_never_removes_old_files_that_could_not_be_put_back(tmp_path: Path) -> None:
    made = writer(tmp_path, overwrite=True)
    made.write(iter([batch("new")]))
    old = made._staging / "replaced" / "old.parquet"
    old.parent.mkdir()
    old.write_bytes(b"precious")
    with pytest.raises(OSError, match="could not be put back; they are in"):
        made.abort([])
    assert old.read_bytes() == b"precious"


def test_only_what_spark_or_this_writer_wrote_is_overwritten(tmp_path: Path) -> None:
    write_file(tmp_path / "n=1" / "a.parquet", ["old"])
    for name in ("b.parquet", "_SUCCESS", ".b.parquet.crc", "_metadata", ".keep"):
        (tmp_path / name).write_bytes(b"")
    made = writer(tmp_path, overwrite=True)
    (tmp_path / "notes.txt").write_text("precious")
    with pytest.raises(Refused, match=r"holds notes\.txt, which is no output of Spark"):
        writer(tmp_path, overwrite=True)
    message = made.write(iter([batch("new")]))
    with pytest.raises(Refused, match=r"notes\.txt"):
        made.commit([message])
    (tmp_path / "notes.txt").unlink()
    made.commit([message])
    assert [".keep", "_SUCCESS"] == [
        name for name in everything_below(tmp_path) if not name.startswith("part-")
    ]
    assert nations_of(tmp_path) == ["new"]


@pytest.mark.parametrize("name", ["notes.txt", "m=2/notes.txt", ".git/config", "deep/a.parquet"])
def test_a_partition_in_which_somebody_keeps_something_else_is_not_replaced(
    tmp_path: Path, name: str
) -> None:
    for known in ("n=1/a.parquet", "n=1/m=2/.a.parquet.crc", "n=1/_SUCCESS", "n=1/_metadata", f"n=1/{name}"):
        (tmp_path / known).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / known).touch()
    before = everything_below(tmp_path)
    other = name if name.endswith(".txt") else name.rpartition("/")[0]
    with pytest.raises(Refused, match=rf"holds n=1/{other}, which is no output of Spark"):
        writer(tmp_path, overwrite=True)
    assert everything_below(tmp_path) == before


def test_batches_are_gathered_into_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_writer, "GROUP_ROWS", 4)
    made = writer(tmp_path)
    made.commit([made.write(iter([batch("a"), batch(), batch("b", "c"), batch("d", "e"), batch("f")]))])
    (path,) = tmp_path.glob("*.parquet")
    metadata = pq.read_metadata(path)
    assert [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)] == [5, 1]
    assert extract_file(path).values == ("a", "b", "c", "d", "e", "f")


@pytest.mark.parametrize(
    ("fields", "options", "words"),
    [
        ("v variant", {}, "column v has the type variant.*pqassay spark index"),
        ("i interval day to second", {}, "column i has the type interval day to second"),
        ("s struct<y: interval year>", {}, r"column s\.y has the type interval year"),
        ("id long", {"column": None}, "one of text at the top level: nation"),
        ("id long", {"column": "planet"}, "one of text at the top level: nation"),
        ("id long", {"compression": "lzo"}, "compression is 'lzo'; it takes one of snappy"),
    ],
)
def test_what_this_writer_does_not_have_is_refused_before_anything_is_written(
    tmp_path: Path, fields: str, options: dict[str, Any], words: str
) -> None:
    kinds = {
        "v variant": st.VariantType(),
        "i interval day to second": st.DayTimeIntervalType(),
        "s struct<y: interval year>": st.StructType([st.StructField("y", st.YearMonthIntervalType(0, 0))]),
    }
    name = fields.split(" ", maxsplit=1)[0]
    schema = st.StructType(
        [st.StructField(name, kinds.get(fields, st.LongType())), st.StructField("nation", st.StringType())]
    )
    with pytest.raises(Refused, match=words):
        writer(tmp_path / "out", schema=schema, **options)
    assert not (tmp_path / "out").exists()


def test_values_that_no_index_can_hold_leave_no_file(tmp_path: Path) -> None:
    made = writer(tmp_path / "out")
    with pytest.raises(Refused, match="column nation"):
        made.write(iter([batch("a\nb")]))
    made.abort([None])
    assert everything_below(tmp_path / "out") == ["(nothing)"]


def test_stores_and_tables_of_others_are_left_to_others(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="is no folder of this machine; write with Spark's own writer"):
        IndexWriter("s3a://lake/x", SCHEMA, column="nation", overwrite=False, compression="snappy")
    (tmp_path / "t" / "_delta_log").mkdir(parents=True)
    (tmp_path / "t" / "_delta_log" / f"{0:020}.json").write_text("{}")
    with pytest.raises(Refused, match="is part of the Delta"):
        writer(tmp_path / "t")
