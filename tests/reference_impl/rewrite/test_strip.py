from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import datafusion
import duckdb
import fastparquet  # type: ignore[import-untyped]  # it has no types
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pqassay
from idx1_files import Idx1File, edited, parquet, table
from kills import killed_everywhere
from places import GOLDEN_FILES
from pqassay_reference.errors import Refused
from pqassay_reference.rewrite import finished_file
from pqassay_reference.rewrite.embed import IndexingWriter, embed_file
from pqassay_reference.rewrite.strip import Selection, Stripped
from pqassay_reference.rewrite.strip import strip_file as stripped_file
from pqassay_spec.base.errors import FormatError, Malformed, Unsupported
from pqassay_spec.base.sources import BytesSource, temporary_name
from pqassay_spec.grammar.thrift import UnknownField
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.parquet.file import read_footer, read_framing
from pqassay_spec.parquet.thrift import (
    AesGcmV1,
    ColumnCryptoMetaData,
    EncryptionAlgorithm,
    EncryptionWithFooterKey,
    FileMetaData,
)
from verdicts import serious

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.slow

ROWS = 4000
NATIONS = ["Peru", "日本", None, "Côte d'Ivoire", "Singapore", "Chad", ""]
strip_file = partial(stripped_file, values_are_right=True)
"""The caller knows the values here."""

EVERYTHING = Selection(idx1=True, bloom_filters=True, column_index=True, offset_index=True, statistics=True)
SELECTIONS = {
    "idx1": Selection(idx1=True),
    "bloom filters": Selection(bloom_filters=True),
    "page index": Selection(column_index=True, offset_index=True),
    "column index": Selection(column_index=True),
    "statistics": Selection(statistics=True),
    "everything": EVERYTHING,
    "one column": Selection(column_index=True, offset_index=True, statistics=True, columns=["nation"]),
    "one row group": Selection(column_index=True, offset_index=True, bloom_filters=True, row_groups=[0]),
}


def data() -> pa.Table:
    """Rows with nulls, an empty string and numbers in no order, wide enough for several pages."""
    return pa.table(
        {
            "n": pa.array(range(ROWS), pa.int64()),
            "nation": pa.array([NATIONS[i * i % 7] for i in range(ROWS)], pa.string()),
            "price": pa.array(
                [None if i % 11 == 0 else i * 37 % 1000 / 8 for i in range(ROWS)], pa.float64()
            ),
        }
    )


def rules_of(path: Path) -> list[str]:
    return [finding.rule for finding in pqassay.check(path, tier="values").files[0].findings]


# -------------------------------------------------------------------------------------------- foreign software


def by_pyarrow(path: Path) -> None:
    options: dict[str, Any] = {"write_page_index": True, "data_page_size": 1024, "row_group_size": 1500}
    pq.write_table(data(), path, **options)


def by_duckdb(path: Path) -> None:
    table = data()
    duckdb.from_arrow(table).query("t", f"COPY t TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 2048)")


def by_polars(path: Path) -> None:
    frame = pl.from_arrow(data())
    assert isinstance(frame, pl.DataFrame)
    frame.write_parquet(path, statistics="full", row_group_size=1500, data_page_size=1024)


def by_datafusion(path: Path) -> None:
    frame = datafusion.SessionContext().from_arrow(data())
    frame.write_parquet_with_options(
        path,
        datafusion.ParquetWriterOptions(
            bloom_filter_on_write=True, statistics_enabled="page", max_row_group_size=1500
        ),
    )


WRITERS: dict[str, Callable[[Path], None]] = {
    "pyarrow": by_pyarrow,
    "duckdb": by_duckdb,
    "polars": by_polars,
    "datafusion": by_datafusion,
}


def records(found: pa.Table) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = found.select(["n", "nation", "price"]).to_pylist()
    return sorted(rows, key=lambda row: row["n"])


def in_fastparquet(path: Path) -> pa.Table:
    with path.open("rb") as handle:  # left to itself, fastparquet forgets to close the file
        frame = fastparquet.ParquetFile(handle).to_pandas()
    return pa.Table.from_pandas(frame, preserve_index=False)


def in_duckdb(path: Path) -> pa.Table:
    relation = duckdb.sql(f"SELECT * FROM '{path}' WHERE n >= 0")
    assert relation is not None
    found: pa.Table = relation.to_arrow_table()
    return found


def in_datafusion(path: Path) -> pa.Table:
    context = datafusion.SessionContext()
    context.register_parquet("t", str(path))
    return context.sql(
        "SELECT * FROM t WHERE n >= 0 AND (nation IS NULL OR nation <> 'nowhere')"
    ).to_arrow_table()


READERS: dict[str, Callable[[Path], pa.Table]] = {
    "pyarrow": pq.read_table,
    "duckdb": in_duckdb,
    "polars": lambda path: pl.scan_parquet(path).filter(pl.col("n") >= 0).collect().to_arrow(),
    "datafusion": in_datafusion,
    "fastparquet": in_fastparquet,
}


def chunks(path: Path) -> list[Any]:
    """What pyarrow knows of every column chunk, with the row group and the name of the column."""
    metadata = pq.read_metadata(path)
    return [
        (group, metadata.row_group(group).column(column))
        for group in range(metadata.num_row_groups)
        for column in range(metadata.num_columns)
    ]


def meant(selection: Selection, group: int, chunk: Any) -> bool:
    columns = not selection.columns or chunk.path_in_schema in selection.columns
    return columns and (not selection.row_groups or group in selection.row_groups)


def assert_stripped(before: Path, after: Path, selection: Selection) -> None:
    """What was meant is gone for pyarrow and DuckDB, all else is there, the body is the same, the rows are."""
    for (group, old), (_, new) in zip(chunks(before), chunks(after), strict=True):
        here = meant(selection, group, new)
        assert new.has_column_index == (old.has_column_index and not (here and selection.column_index))
        assert new.has_offset_index == (old.has_offset_index and not (here and selection.offset_index))
        assert (new.statistics is None) == (old.statistics is None or (here and selection.statistics))
    query = "SELECT row_group_id, path_in_schema, bloom_filter_offset, stats_max_value FROM parquet_metadata('{}')"
    for old, new in zip(
        duckdb.execute(query.format(before)).fetchall(),
        duckdb.execute(query.format(after)).fetchall(),
        strict=True,
    ):
        here = not selection.columns or old[1] in selection.columns
        here = here and (not selection.row_groups or old[0] in selection.row_groups)
        assert new[2] == (None if here and selection.bloom_filters else old[2])
        assert new[3] == (None if here and selection.statistics else old[3])
    keys = {key.decode() for key in pq.read_metadata(after).metadata or {}}
    assert (idx1.KEY in keys) == (not selection.idx1)
    assert (idx1.COMPANION_KEY in keys) == (not selection.idx1)
    body = read_framing(BytesSource(before.read_bytes())).footer_start
    assert before.read_bytes()[:body] == after.read_bytes()[:body]
    assert body == read_framing(BytesSource(after.read_bytes())).footer_start
    assert [] == serious(pqassay.check(after, tier="values").files[0])
    expected = records(data())
    for name, read in READERS.items():
        assert expected == records(read(after)), name


@pytest.fixture(scope="module", params=list(WRITERS))
def indexed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp(request.param) / "data.parquet"
    WRITERS[request.param](path)
    embed_file(path, "nation")
    return path


@pytest.mark.parametrize("name", list(SELECTIONS))
def test_what_is_selected_is_gone_and_the_rows_read_equal(name: str, indexed: Path, tmp_path: Path) -> None:
    path = tmp_path / "stripped.parquet"
    strip_file(indexed, SELECTIONS[name], output=path)

    assert_stripped(indexed, path, SELECTIONS[name])


def test_foreign_files_have_what_is_stripped(tmp_path: Path) -> None:
    found: dict[str, Stripped] = {}
    for name, write in WRITERS.items():
        path = tmp_path / f"{name}.parquet"
        write(path)
        embed_file(path, "nation")
        found[name] = strip_file(path, EVERYTHING, dry_run=True)

    assert all(done.statistics for done in found.values())
    assert {"pyarrow", "datafusion"} <= {name for name, done in found.items() if done.column_indexes}
    assert {"duckdb", "datafusion"} <= {name for name, done in found.items() if done.bloom_filters}
    assert {(idx1.KEY, idx1.COMPANION_KEY)} == {done.keys for done in found.values()}


@pytest.mark.spark
def test_files_of_spark_are_stripped(spark: SparkSession, tmp_path: Path) -> None:
    source = tmp_path / "source.parquet"
    pq.write_table(data(), source)
    folder = tmp_path / "spark"
    writer = (
        spark.read.parquet(str(source))
        .coalesce(1)
        .write.option("parquet.bloom.filter.enabled#nation", "true")
    )
    writer = writer.option("parquet.enable.dictionary", "false")  # with one, Spark writes no bloom filter
    writer.option("parquet.page.row.count.limit", "200").parquet(str(folder))
    (path,) = folder.glob("*.parquet")
    embed_file(path, "nation")
    done = strip_file(path, EVERYTHING, dry_run=True)

    assert (3, 3, 1, 3) == (done.column_indexes, done.offset_indexes, done.bloom_filters, done.statistics)
    for name, selection in SELECTIONS.items():
        stripped = tmp_path / f"{name}.parquet"
        strip_file(path, selection, output=stripped)
        assert_stripped(path, stripped, selection)
        rows = [row.asDict() for row in spark.read.parquet(str(stripped)).where("n >= 0").collect()]
        assert records(data()) == sorted(rows, key=lambda row: row["n"])
    (folder / f".{path.name}.crc").write_bytes(b"of the old file")
    strip_file(path, EVERYTHING)
    assert ROWS == spark.read.parquet(str(folder)).count()


# -------------------------------------------------------------------------------------------------- one small file


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "data.parquet"
    path.write_bytes(Idx1File().build())
    return path


def metadata_of(path: Path) -> FileMetaData:
    source = BytesSource(path.read_bytes())
    return read_footer(source, read_framing(source))[0]


def test_stripping_takes_back_what_embedding_did_to_the_footer(path: Path) -> None:
    by_duckdb(path)
    before = BytesSource(path.read_bytes())
    framing = read_framing(before)
    embedded = embed_file(path, "nation")
    done = strip_file(path, Selection(idx1=True))
    after = path.read_bytes()

    assert (
        before.read(framing.footer_start, framing.size - framing.footer_start)
        == after[-(framing.footer_length + 8) :]
    )
    assert idx1.HEADER_SIZE + embedded.payload_length == done.dead == len(after) - before.size


def test_what_was_stripped_is_counted(path: Path) -> None:
    size = path.stat().st_size
    metadata = metadata_of(path)
    lengths = sum(
        (chunk.column_index_length or 0) + (chunk.offset_index_length or 0)
        for chunk in metadata.row_groups[0].columns
    )
    done = strip_file(path, EVERYTHING)

    assert size - path.stat().st_size == done.saved
    assert Stripped(str(path), 2, 2, 0, 2, (idx1.KEY,), done.saved, lengths + 48) == done
    assert Stripped(str(path)) == strip_file(path, EVERYTHING)


def test_bytes_that_another_structure_still_has_are_not_dead(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"

    def share(metadata: FileMetaData) -> None:
        first, second = metadata.row_groups[0].columns
        first.column_index_offset, first.column_index_length = (
            second.column_index_offset,
            second.column_index_length,
        )

    path.write_bytes(edited(parquet(table()), share))

    assert 0 == strip_file(path, Selection(column_index=True, columns=["nation"]), dry_run=True).dead


def test_bytes_of_nested_structures_are_counted_once(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    content = parquet(table())
    body_end = read_framing(BytesSource(content)).footer_start

    def claim_everything(metadata: FileMetaData) -> None:
        chunk = metadata.row_groups[0].columns[0]
        chunk.column_index_offset, chunk.column_index_length = 4, body_end - 4

    path.write_bytes(edited(content, claim_everything))
    chunks = [chunk.meta_data for chunk in metadata_of(path).row_groups[0].columns]
    pages = sum(chunk.total_compressed_size for chunk in chunks if chunk)
    done = strip_file(path, Selection(column_index=True, offset_index=True), dry_run=True)

    assert body_end - 4 - pages == done.dead


def test_an_index_between_the_row_groups_and_the_page_index_goes(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    with IndexingWriter(path, table().schema, "nation", write_page_index=True) as writer:
        writer.write(table())
    strip_file(path, Selection(idx1=True))

    assert [] == rules_of(path)
    assert pq.read_metadata(path).row_group(0).column(0).has_column_index
    assert table() == pq.read_table(path)


def test_keys_go_by_name_and_all_others_stay(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    path.write_bytes(
        Idx1File(payload=None, keys=[("a", "1"), ("questdb", "x"), ("b", None), ("a", "2")]).build()
    )
    done = strip_file(path, Selection(keys=["a", "questdb", "absent"]))
    left = [(pair.key, pair.value) for pair in metadata_of(path).key_value_metadata or []]

    assert ("a", "questdb", "a") == done.keys
    assert ("b", None) == left[-1]
    assert {"ARROW:schema", "b"} == {key for key, _ in left}
    assert ("ARROW:schema", "b") == strip_file(path, Selection(keys=["ARROW:schema", "b"])).keys
    assert metadata_of(path).key_value_metadata is None


def test_unknown_fields_survive(path: Path) -> None:
    extension = UnknownField(32767, 8, b"\x03abc")

    def extend(metadata: FileMetaData) -> None:
        metadata.unknown = (extension,)
        chunk = metadata.row_groups[0].columns[0]
        chunk.unknown = (extension,)
        assert chunk.meta_data is not None
        chunk.meta_data.unknown = (UnknownField(12, 5, b"\x02"), extension)  # 12 is declared as a struct

    path.write_bytes(edited(path.read_bytes(), extend))
    strip_file(path, EVERYTHING)
    metadata = metadata_of(path)
    chunk = metadata.row_groups[0].columns[0]

    assert (extension,) == metadata.unknown == chunk.unknown
    assert chunk.meta_data is not None
    assert (UnknownField(12, 5, b"\x02"), extension) == chunk.meta_data.unknown
    assert chunk.meta_data.statistics is None


def test_chunks_that_are_stored_in_other_files_are_left_alone(path: Path) -> None:
    def move(metadata: FileMetaData) -> None:
        chunk = metadata.row_groups[0].columns[0]
        assert chunk.meta_data is not None
        chunk.file_path = "other.parquet"
        chunk.meta_data.dictionary_page_offset, chunk.meta_data.data_page_offset = None, 1 << 40

    path.write_bytes(edited(path.read_bytes(), move))
    done = strip_file(path, Selection(statistics=True))
    here = [
        chunk.meta_data.statistics for chunk in metadata_of(path).row_groups[0].columns if chunk.meta_data
    ]

    assert (1, 1) == (done.statistics, done.elsewhere)
    assert [False, True] == [statistics is None for statistics in here]


def test_a_dry_run_writes_nothing_and_says_the_same(path: Path) -> None:
    before = path.read_bytes()
    state = path.stat()
    planned = strip_file(path, EVERYTHING, dry_run=True)

    assert (before, state.st_mtime_ns) == (path.read_bytes(), path.stat().st_mtime_ns)
    assert planned == strip_file(path, EVERYTHING)


def test_a_file_without_anything_to_strip_is_not_written(path: Path) -> None:
    state = path.stat()
    done = strip_file(path, Selection(bloom_filters=True, keys=["absent"]))

    assert not done.anything
    assert (state.st_ino, state.st_mtime_ns) == (path.stat().st_ino, path.stat().st_mtime_ns)


def test_an_output_leaves_the_file_as_it_is(path: Path) -> None:
    before = path.read_bytes()
    output = path.with_name("other.parquet")
    strip_file(path, EVERYTHING, output=output)
    strip_file(path, Selection(bloom_filters=True), output=path.with_name("copy.parquet"))

    assert before == path.read_bytes() == path.with_name("copy.parquet").read_bytes()
    assert [] == rules_of(output)
    assert pq.read_table(path) == pq.read_table(output)


@pytest.mark.parametrize(("mode", "expected"), [(0o600, 0o600), (0o666, 0o640), (0o4755, 0o750)])
def test_a_new_output_is_as_private_as_the_file_it_is_made_from(mode: int, expected: int, path: Path) -> None:
    path.chmod(mode)
    output = path.with_name("other.parquet")
    before = os.umask(0o027)
    try:
        strip_file(path, EVERYTHING, output=output)
    finally:
        os.umask(before)

    assert expected == output.stat().st_mode & 0o7777


def test_the_old_file_keeps_its_attributes_and_loses_its_sidecar(path: Path) -> None:
    sidecar = path.with_name(f".{path.name}.crc")
    sidecar.write_bytes(b"crc")
    path.chmod(0o640)
    link = path.with_name("link.parquet")
    link.symlink_to(path)
    strip_file(link, EVERYTHING)

    assert link.is_symlink()
    assert not sidecar.exists()
    assert 0o640 == path.stat().st_mode & 0o777
    assert {link, path} == set(path.parent.iterdir())


# ------------------------------------------------------------------------------------------------------ refusals


def test_a_selection_of_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="nothing is selected"):
        Selection(columns=["a"])
    for limits in ({"columns": ["a"]}, {"row_groups": [0]}):
        with pytest.raises(ValueError, match="belong to the whole file"):
            Selection(idx1=True, **limits)


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (Selection(statistics=True, columns=["nation", "Year"]), "there is no column Year; columns are: nation, year"),
        (Selection(statistics=True, row_groups=[0, 1]), "there is no row group 1; the file has 1, counted from 0"),
        (Selection(statistics=True, row_groups=[-1]), "there is no row group -1"),
    ],
)  # fmt: skip
def test_columns_and_row_groups_that_are_not_there_are_refused(
    selection: Selection, message: str, path: Path
) -> None:
    before = path.read_bytes()
    with pytest.raises(Refused, match=message):
        strip_file(path, selection)

    assert before == path.read_bytes()


def test_encrypted_and_signed_files_are_refused(path: Path) -> None:
    good = path.read_bytes()

    def sign(metadata: FileMetaData) -> None:
        metadata.encryption_algorithm = EncryptionAlgorithm(AES_GCM_V1=AesGcmV1())

    def encrypt(metadata: FileMetaData) -> None:
        metadata.row_groups[0].columns[1].crypto_metadata = ColumnCryptoMetaData(
            ENCRYPTION_WITH_FOOTER_KEY=EncryptionWithFooterKey()
        )

    for content, message in (
        (edited(good, sign), "footer: the footer is signed"),
        (edited(good, encrypt), r"footer.row_groups\[0\].columns\[1\]: the column chunk is encrypted"),
        (b"PARE" + good[4:-4] + b"PARE", "the footer is encrypted"),
    ):
        path.write_bytes(content)
        with pytest.raises(Unsupported, match=f"^{path}, .*{message}"):
            strip_file(path, EVERYTHING)
        assert content == path.read_bytes()


@pytest.mark.parametrize("marker", ["_delta_log/0.json", "metadata/v1.metadata.json"])
def test_files_of_a_table_are_refused_unless_told_otherwise(marker: str, path: Path) -> None:
    inside = path.parent / "table" / "data" / "part.parquet"
    (path.parent / "table" / marker).parent.mkdir(parents=True)
    (path.parent / "table" / marker).touch()
    inside.parent.mkdir()
    inside.write_bytes(path.read_bytes())

    with pytest.raises(Refused, match="whose manifests record its size"):
        strip_file(inside, EVERYTHING)
    with pytest.raises(Refused, match="whose manifests record its size"):
        strip_file(path, EVERYTHING, output=inside)
    strip_file(inside, EVERYTHING, output=path)  # taking a copy out does no harm
    strip_file(inside, EVERYTHING, inside_table=True)
    assert path.read_bytes() == inside.read_bytes()


@pytest.mark.parametrize("inside", ["part.parquet", "linked/data.parquet"])
def test_a_link_inside_a_table_belongs_to_it_wherever_it_leads(inside: str, path: Path) -> None:
    folder = path.parent / "table"
    (folder / "_delta_log").mkdir(parents=True)
    (folder / "linked").symlink_to(path.parent, target_is_directory=True)
    (folder / "part.parquet").symlink_to(path)
    before = path.read_bytes()

    with pytest.raises(Refused, match=r"^the file belongs to the Delta table table, "):
        strip_file(folder / inside, EVERYTHING)
    assert before == path.read_bytes()
    strip_file(path, EVERYTHING)


@pytest.mark.parametrize("content", [b"", b"text", b"PAR1" + bytes(8), b"PAR1\0\0\0\0PAR1"])
def test_what_is_no_parquet_file_is_an_error_with_its_name(content: bytes, path: Path) -> None:
    path.write_bytes(content)
    with pytest.raises(Malformed, match=f"^{path}, "):
        strip_file(path, EVERYTHING)

    assert content == path.read_bytes()


def test_a_file_that_changes_meanwhile_is_left_alone(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = finished_file.copy_body

    def change_and_copy(*args: Any) -> None:
        path.write_bytes(parquet(table(["other"])))
        copy(*args)

    monkeypatch.setattr(finished_file, "copy_body", change_and_copy)
    with pytest.raises((OSError, FormatError), match=r"changed while|shorter|outside"):
        strip_file(path, EVERYTHING)

    assert table(["other"]) == pq.read_table(path)
    assert not temporary_name(path).exists()


def test_a_change_that_keeps_inode_and_size_is_seen(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = finished_file.copy_body
    before = path.stat()
    changed = path.read_bytes().replace(b"Peru", b"Mali")

    def copy_and_change(*args: Any) -> None:
        copy(*args)
        path.write_bytes(changed)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1_000_000))

    monkeypatch.setattr(finished_file, "copy_body", copy_and_change)
    with pytest.raises(OSError, match="changed while"):
        strip_file(path, EVERYTHING)

    assert (before.st_ino, before.st_size) == (path.stat().st_ino, path.stat().st_size)
    assert changed == path.read_bytes()


def test_a_kill_at_any_moment_leaves_the_old_file_or_the_new_one(path: Path) -> None:
    old, new = killed_everywhere(
        path,
        "from pqassay_reference.rewrite.strip import Selection, strip_file",
        "strip_file(path, Selection(idx1=True, statistics=True), values_are_right=True)",
    )

    assert old > 30
    assert new >= 3
    strip_file(path, EVERYTHING)  # takes over what the last kill left behind
    assert not temporary_name(path).exists()
    assert [] == rules_of(path)


@pytest.mark.parametrize(
    ("case", "selection", "lost"),
    [
        ("pqf/three-pages", Selection(encoding_stats=True), "2 encoding_stats"),
        ("pqf/sorted-rows", Selection(sorting_columns=True), "1 row_groups"),
        ("pqf/two-row-groups", Selection(row_group_hints=True), "2 row_groups"),
        ("pqf/two-row-groups", Selection(row_group_hints=True, row_groups=[1]), "1 row_groups"),
        ("sta/counted", Selection(column_orders=True, statistics=True), "True column_orders"),
    ],
)
def test_what_other_fields_say_as_well_goes_when_it_is_named(
    case: str, selection: Selection, lost: str, tmp_path: Path
) -> None:
    path = GOLDEN_FILES / case / "data.parquet"
    stripped = tmp_path / "stripped.parquet"
    done = strip_file(path, selection, output=stripped)
    count, name = lost.split()

    assert count == str(getattr(done, name))
    assert not strip_file(stripped, selection, dry_run=True).anything
    assert pq.read_table(path).equals(pq.read_table(stripped))
    assert [] == pqassay.check(stripped, tier="values").files[0].findings


def test_what_belongs_to_row_groups_is_not_limited_to_columns() -> None:
    with pytest.raises(ValueError, match="belong to whole row groups"):
        Selection(sorting_columns=True, columns=["nation"])
