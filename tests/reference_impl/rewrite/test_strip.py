from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

import pqassay
import written_files
from damage import EXAMPLES
from engines import ENGINES, engine, parameters, rows
from idx1_files import Idx1File, edited, parquet, table
from places import GOLDEN_FILES
from pqassay_reference.errors import Refused
from pqassay_reference.rewrite.embed import IndexingWriter, embed_file
from pqassay_reference.rewrite.strip import Selection, Stripped
from pqassay_reference.rewrite.strip import strip_file as stripped_file
from pqassay_spec.base.errors import Unsupported
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.grammar.thrift import UnknownField
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.parquet.file import read_footer, read_framing
from pqassay_spec.parquet.thrift import ColumnCryptoMetaData, EncryptionWithFooterKey, FileMetaData
from verdicts import rules_of, serious

pytestmark = pytest.mark.slow

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


DATA = written_files.table().slice(0, written_files.ROW_GROUP + 200)
"""Rows of two row groups, with nulls, an empty string and numbers in no order."""

ROWS = rows(DATA.to_pydict())

READ = SELECTIONS if EXAMPLES == 1 else ("everything", "one row group")
"""The selections after which engines read the file, and those of files of other writers than the first; all by `make damages`."""


# -------------------------------------------------------------------------------------------- foreign software


def chunks(path: Path) -> list[Any]:
    """What pyarrow knows of every column chunk, with the row group and the name of the column."""
    metadata = pq.read_metadata(path)
    return [
        (group, metadata.row_group(group).column(column))
        for group in range(metadata.num_row_groups)
        for column in range(metadata.num_columns)
    ]


def meant(selection: Selection, group: int, column: str) -> bool:
    columns = not selection.columns or column in selection.columns
    return columns and (not selection.row_groups or group in selection.row_groups)


def assert_stripped(before: Path, after: Path, selection: Selection) -> None:
    """What was meant is gone for pyarrow and DuckDB, all else is there, and the body is the same."""
    for (group, old), (_, new) in zip(chunks(before), chunks(after), strict=True):
        here = meant(selection, group, new.path_in_schema)
        assert new.has_column_index == (old.has_column_index and not (here and selection.column_index))
        assert new.has_offset_index == (old.has_offset_index and not (here and selection.offset_index))
        assert (new.statistics is None) == (old.statistics is None or (here and selection.statistics))
    query = "SELECT row_group_id, path_in_schema, bloom_filter_offset, stats_max_value FROM parquet_metadata('{}')"
    for old, new in zip(
        duckdb.execute(query.format(before)).fetchall(),
        duckdb.execute(query.format(after)).fetchall(),
        strict=True,
    ):
        here = meant(selection, *old[:2])
        assert new[2] == (None if here and selection.bloom_filters else old[2])
        assert new[3] == (None if here and selection.statistics else old[3])
    keys = {key.decode() for key in pq.read_metadata(after).metadata or {}}
    assert (idx1.KEY in keys) == (not selection.idx1)
    assert (idx1.COMPANION_KEY in keys) == (not selection.idx1)
    body = read_framing(BytesSource(before.read_bytes())).footer_start
    assert before.read_bytes()[:body] == after.read_bytes()[:body]
    assert body == read_framing(BytesSource(after.read_bytes())).footer_start
    assert [] == serious(pqassay.check(after, tier="values").files[0])


WRITERS = ("pyarrow", "duckdb", "polars", "datafusion", "spark")


@pytest.fixture(scope="module", params=parameters(WRITERS))
def indexed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp(request.param) / "data.parquet"
    if request.param == "spark":
        session = request.getfixturevalue("spark")
        written_files.write_spark(session, path, DATA, **written_files.SPARK_OPTIONS)
    else:
        write, options = written_files.WRITERS[request.param]
        write(path, DATA, **options)
    embed_file(path, "nation")
    return path


def test_what_is_selected_is_gone_and_the_rows_read_equal(
    indexed: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    writer = indexed.parent.name.rstrip("0123456789")
    path = tmp_path / "stripped.parquet"
    for name in SELECTIONS if writer == WRITERS[0] else READ:
        strip_file(indexed, SELECTIONS[name], output=path)
        assert_stripped(indexed, path, SELECTIONS[name])

        for reader in ENGINES if name in READ else ():
            if writer == "spark" or reader != "spark":
                assert ROWS == engine(reader, lambda: request.getfixturevalue("spark")).read(path), (
                    name,
                    reader,
                )

    done = strip_file(indexed, EVERYTHING, dry_run=True)
    assert done.statistics
    assert (writer != "duckdb") == bool(done.column_indexes)
    assert (writer != "polars") == bool(done.bloom_filters)
    assert (idx1.KEY, idx1.COMPANION_KEY) == done.keys


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
    written_files.write_duckdb(path, DATA)
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


# ------------------------------------------------------------------------------------------------------ refusals


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


def test_a_file_with_an_encrypted_column_is_refused(path: Path) -> None:
    def encrypt(metadata: FileMetaData) -> None:
        metadata.row_groups[0].columns[1].crypto_metadata = ColumnCryptoMetaData(
            ENCRYPTION_WITH_FOOTER_KEY=EncryptionWithFooterKey()
        )

    path.write_bytes(edited(path.read_bytes(), encrypt))
    before = path.read_bytes()
    with pytest.raises(
        Unsupported, match=r"footer.row_groups\[0\].columns\[1\]: the column chunk is encrypted"
    ):
        strip_file(path, EVERYTHING)

    assert before == path.read_bytes()


def test_a_copy_is_put_into_no_table_and_may_be_taken_out_of_one(path: Path) -> None:
    inside = path.parent / "table" / "part.parquet"
    (path.parent / "table" / "_delta_log").mkdir(parents=True)
    inside.write_bytes(path.read_bytes())

    with pytest.raises(Refused, match="whose manifests record its size"):
        strip_file(path, EVERYTHING, output=inside)
    strip_file(inside, EVERYTHING, output=path)  # taking a copy out does no harm
    strip_file(inside, EVERYTHING, inside_table=True)
    assert path.read_bytes() == inside.read_bytes()


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
