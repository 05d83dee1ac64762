"""What Spark writes with every option and type of the matrix, against literal rows and readers that are not Spark."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.dataset
import pyarrow.parquet
import pytest

import pqassay
from engines import ENGINES, WHOLE, Limit, Rows, cell, engine
from places import INTEROP
from pqassay_spark.produce.writer_matrix import MATRIX, WriterCase, write_case, write_matrix
from pqassay_spec.base.sources import FileSource
from pqassay_spec.parquet.file import chunks_of_this_file, read_footer, read_framing
from pqassay_spec.parquet.thrift import FileMetaData
from verdicts import serious
from written_features import features

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

Written = dict[str, list[Path]]

ONE_FILE = [case for case in MATRIX if case.partition_by is None]
READABLE = [case for case in ONE_FILE if not case.select]
"""Cases whose columns are those of the literals."""

NUMBERS = {"intervals": [(1, 86_402_000_003), (2, None), (3, -86_400_000_000)]}
"""What all but Spark find where only Spark knows what the numbers mean."""

LIMITS = {
    ("fastparquet", name): Limit("2026.9.0", reason, says)
    for names, reason, says in (
        (("codec-lz4",), "it takes the frame of Hadoop for a block", "Decompression failed"),
        (("pages-v2",), "no delta encoding where there are nulls", "null delta-int not implemented"),
        (("pages-v2-delta", "everything"), "no delta encoding of text", "an encoding of pages"),
        (("decimal", "decimal-legacy"), "a decimal is a double to it", "DECIMAL, which becomes a float"),
        (("date",), "a day beyond the range of nanoseconds is another one", "text='-56160'"),
        (("small-numbers",), "a null float is a NaN", "nulls in a column of floats"),
        (("nested", "nested-legacy"), "a struct is lost, and its leaves are columns", "nesting of column"),
    )
    for name in names
}
"""Reader and case to what goes wrong."""


@pytest.fixture(scope="module")
def written(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Written:
    """The files of every case, by its name."""
    out = tmp_path_factory.mktemp("matrix")
    write_matrix(spark, f"file://{out}")
    return {case.name: sorted((out / case.name).rglob("*.parquet")) for case in MATRIX}


def as_cells(table: list[tuple[Any, ...]] | tuple[tuple[Any, ...], ...]) -> Rows:
    return Counter(cell(row) for row in table)


def test_every_case_has_the_features_that_it_names(written: Written) -> None:
    wrong: dict[str, tuple[set[str], set[str]]] = {}
    for case in MATRIX:
        for path in written[case.name]:
            with FileSource(path) as source:
                found = features(source)
            if not case.holds <= found or case.lacks & found:
                wrong[case.name] = (set(case.holds - found), set(case.lacks & found))
    assert {} == wrong
    assert [] == [case.name for case in MATRIX if not case.holds | case.lacks]
    assert len({case.name for case in MATRIX}) == len(MATRIX)


def test_every_file_is_conformant_with_all_its_values_compared(written: Written) -> None:
    paths = [path for paths in written.values() for path in paths]
    report = pqassay.check(paths, tier="values")
    assert len(MATRIX) + 7 == len(paths)  # one is partitioned into eight
    assert [] == [(file.path, serious(file)) for file in report.files if serious(file)]
    assert {"conformant"} == {file.outcome for file in report.files}


@pytest.mark.parametrize("name", ENGINES)
def test_a_reader_finds_the_literal_rows(name: str, spark: SparkSession, written: Written) -> None:
    alike: dict[str, list[WriterCase]] = defaultdict(list)
    for case in READABLE:
        alike[case.schema].append(case)
    reader, answers = engine(name, lambda: spark), dict[str, Rows | Exception]()
    for cases in alike.values():
        paths = {written[case.name][0]: case.name for case in cases}
        found = reader.read_all(list(paths), [WHOLE])
        answers |= {paths[path]: answer for (path, _), answer in found.items()}
    limits = {case: limit for (engine_name, case), limit in LIMITS.items() if engine_name == name}
    right = {
        case.name: as_cells(NUMBERS.get(case.name, case.rows) if name != "spark" else case.rows)
        for case in READABLE
    }
    wrong = {case: answer for case, answer in answers.items() if answer != right[case]}
    assert answers.keys() == right.keys()
    assert {} == {case: answer for case, answer in wrong.items() if case not in limits}
    assert {} == {case: wrong.get(case) for case, limit in limits.items() if not limit.explains(wrong[case])}


def test_a_variant_holds_the_json_that_it_was_made_from(spark: SparkSession, written: Written) -> None:
    (case,) = (case for case in MATRIX if case.name == "variant")
    found = spark.read.parquet(str(written["variant"][0])).selectExpr("id", "to_json(v)").collect()
    assert [(number, text and json.loads(text)) for number, text in case.rows] == [
        (number, text and json.loads(text)) for number, text in sorted(found)
    ]
    stored = pyarrow.parquet.read_table(written["variant"][0]).column("v").to_pylist()
    assert {"metadata", "value"} <= set(stored[0] or ())


def test_the_values_of_folders_and_files_together_are_the_literal_rows(written: Written) -> None:
    (case,) = (case for case in MATRIX if case.partition_by)
    root = written[case.name][0].parents[1]
    names = ["city", "founded", "area", "district", "code"]
    table = pyarrow.dataset.dataset(root, partitioning="hive").to_table(columns=names)
    assert as_cells(case.rows) == as_cells([tuple(row.values()) for row in table.to_pylist()])
    assert 8 == len(written[case.name])


def test_the_same_case_is_the_same_bytes_each_time_in_one_java_process(
    spark: SparkSession, written: Written, tmp_path: Path
) -> None:
    again = [case for case in MATRIX if case.name in ("defaults", "everything", "nested")]
    for case in again:
        write_case(spark, case, f"file://{tmp_path / case.name}")
        (path,) = (tmp_path / case.name).glob("*.parquet")
        assert written[case.name][0].read_bytes() == path.read_bytes()
    assert 3 == len(again)


def apart(path: Path) -> tuple[bytes, FileMetaData]:
    """Everything before the footer, and the footer with each list of encodings sorted.

    The list comes from a set whose order differs from one Java process to the next.
    """
    with FileSource(path) as source:
        framing = read_framing(source)
        metadata, _ = read_footer(source, framing)
        for _, _, _, chunk in chunks_of_this_file(metadata):
            if chunk.meta_data is not None:
                chunk.meta_data.encodings.sort()
        return source.read(0, framing.footer_start), metadata


def test_the_golden_files_of_this_spark_are_what_it_writes(spark: SparkSession, written: Written) -> None:
    golden = INTEROP / f"spark-{spark.version}"
    stored = {path.parent.name: path for path in golden.glob("*/data.parquet")}
    if not stored:
        pytest.skip(f"there are no golden files of Spark {spark.version}")
    common = stored.keys() & written.keys()
    assert 21 == len(common)
    assert [] == [name for name in common if apart(stored[name]) != apart(written[name][0])]


def test_a_case_leaves_the_session_as_it_was(spark: SparkSession, written: Written) -> None:
    assert written
    assert "INT96" == spark.conf.get("spark.sql.parquet.outputTimestampType")
    assert "false" == spark.conf.get("spark.sql.parquet.writeLegacyFormat")
