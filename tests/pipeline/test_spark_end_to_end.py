"""From files that Spark writes to a verdict on their indexes, and to three damages."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, NamedTuple

import pyarrow.compute
import pyarrow.dataset
import pyarrow.parquet
import pytest

import pqassay
from pqassay_reference.rewrite.embed import embed_file
from pqassay_spark.produce.sales import NATIONS, YEARS, write_sales
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.parquet.file import read_footer, read_framing, referenced_ranges

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from pqassay.report.model import FileReport

pytestmark = pytest.mark.spark

ROWS = 4_000
FILES = 2


class Sales(NamedTuple):
    """The same sales twice: as Spark wrote them, and with an index in every file."""

    plain: Path
    indexed: Path

    @property
    def files(self) -> list[Path]:
        """The indexed files."""
        return sorted(self.indexed.rglob("*.parquet"))


@pytest.fixture(scope="module")
def written(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Sales:
    folder = tmp_path_factory.mktemp("end_to_end")
    made = Sales(folder / "plain", folder / "indexed")
    # small pages, so that page indexes have several of them
    pages = {"parquet.page.row.count.limit": "200"}
    write_sales(spark, str(made.plain), ROWS, FILES, partition_by="year", options=pages)
    shutil.copytree(made.plain, made.indexed)
    for path in made.files:
        embed_file(path, "nation")
    return made


def sidecars(folder: Path) -> list[str]:
    """Hadoop's checksum files of the data files."""
    return sorted(path.name for path in folder.rglob(".part-*.crc"))


def verdict(content: bytes) -> tuple[FileReport, set[str]]:
    """The report on one file, and the rules that it breaks."""
    file = pqassay.check(content, tier="values").files[0]
    return file, {finding.rule for finding in file.findings}


def index_offset(content: bytes | bytearray) -> int:
    """Where the key of a file says that its index is."""
    source = BytesSource(content)
    metadata, _ = read_footer(source, read_framing(source))
    (text,) = [pair.value for pair in metadata.key_value_metadata or [] if pair.key == idx1.KEY]
    return idx1.parse_offset(str(text))


def test_every_file_that_spark_wrote_has_what_engines_prune_by(written: Sales) -> None:
    for path in written.files:
        source = BytesSource(path.read_bytes())
        metadata, _ = read_footer(source, read_framing(source))
        kinds = {given.kind for given in referenced_ranges(metadata)}
        assert str(metadata.created_by).startswith("parquet-mr version")
        assert kinds == {"column chunk", "column index", "offset index", "bloom filter"}
    assert len(written.files) == FILES * len(YEARS)


def test_every_indexed_file_is_conformant_with_all_its_values_compared(written: Sales) -> None:
    report = pqassay.check(written.files, tier="values")
    checked = {rule for coverage in report.coverages.values() for rule in coverage.checked}
    assert [(file.path, file.findings) for file in report.files] == [
        (str(path), []) for path in written.files
    ]
    assert report.exit_code == 0
    assert {"IDX1-006", "IDX1-009", "IDX1-016", "IDX1-017", "IDX1-021", "IDX1-023", "PQF-009"} <= checked


def test_an_index_holds_the_nations_of_its_file(written: Sales) -> None:
    found: set[str] = set()
    for path in written.files:
        content = path.read_bytes()
        nations = idx1.read_published(BytesSource(content), str(index_offset(content)))
        column = pyarrow.parquet.read_table(path, partitioning=None).column("nation")
        assert nations == set(pyarrow.compute.unique(column).drop_null().to_pylist())
        assert column.null_count > 0
        found |= nations
    assert found == set(NATIONS)


def test_the_checksum_of_the_old_bytes_is_gone_and_spark_reads_the_same_rows(
    spark: SparkSession, written: Sales
) -> None:
    plain, indexed = (spark.read.parquet(str(folder)) for folder in written)
    assert (len(sidecars(written.plain)), sidecars(written.indexed)) == (FILES * len(YEARS), [])
    assert indexed.schema == plain.schema
    assert (plain.count(), indexed.count()) == (ROWS, ROWS)
    assert plain.exceptAll(indexed).isEmpty()
    assert indexed.exceptAll(plain).isEmpty()


def test_arrow_reads_the_same_rows(written: Sales) -> None:
    plain, indexed = (
        pyarrow.dataset.dataset(folder, partitioning="hive").to_table().sort_by("id") for folder in written
    )
    assert indexed.num_rows == ROWS
    assert indexed.equals(plain)


def test_an_overwritten_magic_is_reported_as_that(written: Sales) -> None:
    content = bytearray(written.files[0].read_bytes())
    offset = index_offset(content)
    assert content[offset : offset + 4] == b"IDX1"
    content[offset : offset + 4] = b"IDX2"
    file, rules = verdict(bytes(content))
    assert (rules, file.outcome) == ({"IDX1-006"}, "nonconformant")
    assert file.findings[0].at[0].offset == offset


def test_a_length_that_reaches_past_the_footer_is_reported_as_that(written: Sales) -> None:
    content = bytearray(written.files[0].read_bytes())
    place = index_offset(content) + 4
    content[place : place + 8] = (1 << 40).to_bytes(8, "little")
    file, rules = verdict(bytes(content))
    assert (rules, file.outcome) == ({"IDX1-008"}, "nonconformant")
    assert file.findings[0].at[0].offset == place


def test_a_key_that_a_rewriter_kept_without_the_index_is_reported_as_stale(
    written: Sales, tmp_path: Path
) -> None:
    original, rewritten = written.files[0], tmp_path / "rewritten.parquet"
    keys = pyarrow.parquet.read_metadata(original).metadata
    table = pyarrow.parquet.read_table(original, partitioning=None).replace_schema_metadata(keys)
    # without compression the file gets larger: the offset of old points into the pages of a column
    pyarrow.parquet.write_table(table, rewritten, compression="none", use_dictionary=False)
    assert index_offset(rewritten.read_bytes()) == index_offset(original.read_bytes())
    file, rules = verdict(rewritten.read_bytes())
    assert (rules, file.outcome) == ({"IDX1-007"}, "untrue")
    assert "points into the column chunk" in file.findings[0].message
