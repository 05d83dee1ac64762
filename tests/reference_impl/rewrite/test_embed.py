from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from idx1_files import Idx1File, companion, edited, parquet, table
from pqassay_reference.columns.column_values import collect
from pqassay_reference.errors import Refused
from pqassay_reference.rewrite import embed
from pqassay_reference.rewrite.embed import Embedded, IndexingWriter, embed_columns, embed_file
from pqassay_reference.rewrite.extract import extract_file
from pqassay_reference.rewrite.finished_file import ChangedError
from pqassay_reference.rewrite.footer_splice import with_key_values
from pqassay_spec.base.errors import Unsupported
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.grammar.thrift_decoder import decode
from pqassay_spec.grammar.thrift_wire import field_ranges
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.parquet.file import read_footer, read_framing
from pqassay_spec.parquet.thrift import FileMetaData, KeyValue, OffsetIndex, PageHeader
from verdicts import rules_of

pytestmark = pytest.mark.slow


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "data.parquet"
    path.write_bytes(parquet(table()))
    return path


def test_an_embedded_index_checks_clean_and_the_data_read_equal(path: Path) -> None:
    result = embed_file(path, "nation")

    assert Embedded(str(path), "nation", result.offset, 36, 4, 1, 6) == result
    assert [] == rules_of(path)
    assert table() == pq.read_table(path)
    assert ("Côte d'Ivoire", "Peru", "Singapore", "日本") == extract_file(path).values


def test_bytes_before_the_footer_and_all_other_fields_stay(path: Path) -> None:
    before = path.read_bytes()
    embed_file(path, "nation")
    after = path.read_bytes()
    old, new = read_framing(BytesSource(before)), read_framing(BytesSource(after))

    assert before[: old.footer_start] == after[: old.footer_start]
    old_footer = before[old.footer_start : old.tail_start]
    new_footer = after[new.footer_start : new.tail_start]
    assert {f.id: old_footer[f.value : f.end] for f in field_ranges(old_footer) if f.id != 5} == {
        f.id: new_footer[f.value : f.end] for f in field_ranges(new_footer) if f.id != 5
    }


def test_several_columns_are_read_and_the_first_is_embedded(tmp_path: Path) -> None:
    path = tmp_path / "two.parquet"
    struct = pa.array([{"a": "x", "b": "y"}, {"a": None, "b": "z"}, None])
    pq.write_table(pa.table({"nation": ["Peru", None, "Peru"], "s": struct}), path)
    alone = tmp_path / "alone.parquet"
    alone.write_bytes(path.read_bytes())
    embed_file(alone, "nation")

    done = embed_columns(path, ["nation", "s.b", "s.a"])
    assert path.read_bytes() == alone.read_bytes()
    assert [(read.column, read.values, read.null_count, read.row_count) for read in done.columns] == [
        ("nation", {"Peru"}, 1, 3),
        ("s.b", {"y", "z"}, 1, 3),
        ("s.a", {"x"}, 2, 3),
    ]
    assert done.embedded.column == "nation"
    assert (done.state.size, done.state.modified) == (path.stat().st_size, path.stat().st_mtime_ns)


def test_embedding_again_replaces_the_index_at_the_end(path: Path) -> None:
    first = embed_file(path, "nation")
    size = path.stat().st_size
    second = embed_file(path, "nation")

    assert (first.offset, size) == (second.offset, path.stat().st_size)
    assert (len(b"IDX1") + 8 + 36, 0) == (second.cut, second.dead)
    assert [] == rules_of(path)


def test_an_index_elsewhere_is_left_as_dead_bytes(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    with IndexingWriter(path, table().schema, "nation", write_page_index=True) as writer:
        writer.write(table())
    result = embed_file(path, "nation")

    assert (0, 48) == (result.cut, result.dead)
    assert 1 == path.read_bytes().count(b"distinct_index_offset")
    assert [] == rules_of(path)


@pytest.mark.parametrize(
    "keys", [[(idx1.KEY, "4")], [(idx1.KEY, "x")], [(idx1.KEY, None)], [(idx1.LENGTH_KEY, "3")]]
)
def test_stale_keys_are_replaced(keys: list[tuple[str, str | None]], tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    path.write_bytes(Idx1File(payload=None, keys=keys).build())
    embed_file(path, "nation")

    assert [] == rules_of(path)


def test_a_blob_that_other_structures_share_is_not_cut(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    path.write_bytes(Idx1File().build())
    offset = path.read_bytes().index(idx1.MAGIC)

    def claim(metadata: FileMetaData) -> None:
        metadata.row_groups[0].columns[0].column_index_offset = offset
        metadata.row_groups[0].columns[0].column_index_length = 20

    path.write_bytes(edited(path.read_bytes(), claim))
    result = embed_file(path, "nation")

    assert (0, 0) == (result.cut, result.dead)
    assert result.offset > offset


@pytest.mark.parametrize(
    "file",
    [
        Idx1File(payload=b"Chad\nTogo"),  # no companion record, and not the values of the column
        Idx1File(payload=b"a\nbOTHER-INDEX-OF-OTHERS", length=24),
    ],
)
def test_bytes_that_are_not_proven_to_be_an_index_are_not_cut(file: Idx1File, tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    path.write_bytes(file.build())

    result = embed_file(path, "nation")

    assert (0, len(file.blob())) == (result.cut, result.dead)
    assert path.read_bytes()[: result.offset].endswith(file.blob())
    assert [] == rules_of(path)


@pytest.mark.parametrize(
    ("present", "expected"),
    [
        # version, schema, rows, row groups; then nothing, created_by, or column_orders
        ("15 02 19 0c 16 00 19 0c 00", "15 02 19 0c 16 00 19 0c 19 1c 18 01 61 18 01 62 00 00"),
        ("15 02 19 0c 16 00 19 0c 28 01 78 00", "15 02 19 0c 16 00 19 0c 19 1c 18 01 61 18 01 62 00 18 01 78 00"),
        ("15 02 19 0c 16 00 19 0c 39 0c 00", "15 02 19 0c 16 00 19 0c 19 1c 18 01 61 18 01 62 00 29 0c 00"),
        # a pair whose key stays keeps its bytes
        ("15 02 19 0c 16 00 19 0c 19 1c 18 01 7a 00 00", "15 02 19 0c 16 00 19 0c 19 2c 18 01 7a 00 18 01 61 18 01 62 00 00"),
        # a pair whose key goes
        ("15 02 19 0c 16 00 19 0c 19 1c 18 01 61 00 00", "15 02 19 0c 16 00 19 0c 19 1c 18 01 61 18 01 62 00 00"),
    ],
)  # fmt: skip
def test_only_field_5_and_the_next_header_change(present: str, expected: str) -> None:
    pair = KeyValue(key="a", value="b")

    assert expected == with_key_values(bytes.fromhex(present), remove={"a"}, add=[pair]).hex(" ")


def test_a_footer_with_bytes_behind_its_struct_is_refused() -> None:
    footer = bytes.fromhex("15 02 19 0c 16 00 19 0c 00 00")

    with pytest.raises(Unsupported, match="1 bytes follow"):
        with_key_values(footer, remove=(), add=())


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["a\nb"], r"column nation: IDX1 cannot hold 'a\\nb': a line feed separates values"),
        ([""], "IDX1 cannot hold '' alone"),
        (["a\r", "b\r"], "only the last value may end in a carriage return"),
    ],
)
def test_values_that_the_format_cannot_hold_are_named(
    values: list[str | None], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "data.parquet"
    path.write_bytes(parquet(table(values)))
    before = path.read_bytes()
    with pytest.raises(Refused, match=message):
        embed_file(path, "nation")

    assert before == path.read_bytes()


@pytest.mark.parametrize("values", [["", "a", None], ["a\r", "b"], ["", "\r"], [None], []])
def test_lossy_shapes_are_avoided_where_an_order_avoids_them(
    values: list[str | None], tmp_path: Path
) -> None:
    path = tmp_path / "data.parquet"
    path.write_bytes(parquet(table(values)))
    embed_file(path, "nation")

    assert [] == rules_of(path)
    assert () == extract_file(path).lost or values in ([None], [])


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("year", "column year is INT64; only string columns can be indexed: nation"),
        ("nope", "there is no column nope; string columns are: nation"),
        ("raw", r"column raw holds b'\\xff\\xfe', which is not UTF-8"),
        ("list.list.element", "has several values per row"),
    ],
)
def test_columns_that_cannot_be_indexed_are_refused(column: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    more: dict[str, Any] = {"year": [1], "raw": [b"\xff\xfe"], "list": [["a", "b"]]}
    pq.write_table(pa.table({"nation": ["Peru"], **more}), path)

    with pytest.raises(Refused, match=message):
        embed_file(path, column)


def test_an_index_that_would_be_too_large_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    path.write_bytes(parquet(table([f"{i:09d}" for i in range(1000)])))

    assert 9999 == embed_file(path, "nation", limit=9999).payload_length
    with pytest.raises(Refused, match="take more than 9998 bytes"):
        embed_file(path, "nation", limit=9998)


def test_rows_that_are_stored_in_other_files_are_refused(path: Path) -> None:
    def move_second(metadata: FileMetaData) -> None:
        for chunk in metadata.row_groups[1].columns:
            chunk.file_path = "other.parquet"

    path.write_bytes(edited(parquet(table(), row_group_size=3), move_second))
    before = path.read_bytes()
    with pytest.raises(Refused, match=r"row group 1 is stored in another file, 'other\.parquet'"):
        embed_file(path, "nation")

    assert before == path.read_bytes()


@pytest.mark.parametrize("name", ["_metadata", "_common_metadata", "all.parquet"])
def test_summaries_of_other_files_are_refused(name: str, path: Path) -> None:
    summary = path.with_name(name)
    described = pq.read_metadata(path)
    described.set_file_path("data.parquet")
    described.write_metadata_file(summary)
    if name == "_common_metadata":
        pq.write_metadata(table().schema, str(summary))
    link = path.with_name("link.parquet")
    link.symlink_to(summary)

    for given in (summary, link):
        with pytest.raises(Refused, match="a summary of other files"):
            embed_file(given, "nation")


def test_a_footer_that_says_another_number_of_rows_is_refused(path: Path) -> None:
    def lie(metadata: FileMetaData) -> None:
        metadata.num_rows = 99

    path.write_bytes(edited(path.read_bytes(), lie))
    before = path.read_bytes()
    with pytest.raises(Refused, match="the footer says 99 rows, column nation has 6;"):
        embed_file(path, "nation")

    assert before == path.read_bytes()


def test_a_file_that_is_replaced_while_its_column_is_read_is_left_alone(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def replace_and_collect(*args: Any) -> Any:
        other = path.with_name("other")
        other.write_bytes(parquet(table(["other"])))
        other.replace(path)
        return collect(*args)

    monkeypatch.setattr(embed, "collect", replace_and_collect)
    with pytest.raises(ChangedError, match="it changed during the operation; nothing was written"):
        embed_file(path, "nation")

    assert table(["other"]) == pq.read_table(path)


def page_offsets_are_right(data: bytes) -> bool:
    """Whether every page location of every offset index points at a page header of its size."""
    source = BytesSource(data)
    metadata, _ = read_footer(source, read_framing(source))
    for chunk in (chunk for group in metadata.row_groups for chunk in group.columns):
        assert chunk.offset_index_offset is not None
        assert chunk.offset_index_length is not None
        raw = source.read(chunk.offset_index_offset, chunk.offset_index_length)
        for location in decode(OffsetIndex, raw)[0].page_locations:
            page = source.read(location.offset, location.compressed_page_size)
            header, length = decode(PageHeader, page)
            if length + header.compressed_page_size != location.compressed_page_size:
                return False
    return True


def test_embedding_while_writing_keeps_the_page_index_right(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    data = table([f"v{i % 50}" for i in range(4_000)])
    options: dict[str, Any] = {"write_page_index": True, "data_page_size": 256, "row_group_size": 1000}
    row_groups = options.pop("row_group_size")
    with IndexingWriter(path, data.schema, "nation", **options) as writer:
        for start in range(0, data.num_rows, row_groups):
            writer.write(data.slice(start, row_groups))

    assert data == pq.read_table(path)
    assert page_offsets_are_right(path.read_bytes())
    assert [] == rules_of(path)
    assert writer.result is not None
    assert (50, 4_000) == (writer.result.value_count, writer.result.row_count)


def test_an_exception_while_writing_leaves_the_old_file(path: Path) -> None:
    before = path.read_bytes()
    with contextlib.suppress(ZeroDivisionError), IndexingWriter(path, table().schema, "nation") as writer:
        writer.write(table())
        raise ZeroDivisionError

    assert before == path.read_bytes()
    assert [path.name] == [entry.name for entry in path.parent.iterdir()]


def no_text(count: int) -> pa.Array[Any]:
    """An array of strings whose bytes are not UTF-8."""
    offsets = pa.py_buffer(b"".join((2 * i).to_bytes(4, "little") for i in range(count + 1)))
    return pa.Array.from_buffers(pa.string(), count, [None, offsets, pa.py_buffer(b"\xff\xfe" * count)])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (pa.table({"nation": no_text(2), "year": [1, 2]}), "which is not UTF-8"),
        (table(["new", "x" * 60]), "take more than 60 bytes"),
        (table(["y" * 61]), "take more than 60 bytes"),
        (table(["new"]).select(["nation"]), "another schema"),
    ],
)
def test_rows_that_are_refused_are_not_in_the_file_and_writing_goes_on(
    rows: pa.Table, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.parquet"
    with IndexingWriter(path, table().schema, "nation", limit=60) as writer:
        writer.write(table())
        with pytest.raises(Refused, match=message):
            writer.write(rows)
        writer.write(table(["Chad", None]))

    assert [] == rules_of(path)
    assert [*table()["nation"].to_pylist(), "Chad", None] == pq.read_table(path)["nation"].to_pylist()
    assert ("Chad", "Côte d'Ivoire", "Peru", "Singapore", "日本") == extract_file(path).values
    assert writer.result is not None
    assert (8, 2) == (writer.result.row_count, writer.result.null_count)


def test_no_file_appears_after_rows_that_may_be_in_it_in_part(path: Path) -> None:
    before = path.read_bytes()
    good, bad = (
        pa.table({"nation": ["Peru"], "when": pa.array([when], pa.timestamp("ns"))}) for when in (0, 1)
    )

    def write_on() -> None:
        with IndexingWriter(path, good.schema, "nation", coerce_timestamps="ms") as writer:
            writer.write(good)
            with pytest.raises(pa.ArrowInvalid, match="would lose data"):  # found when one column is written
                writer.write(bad)
            with pytest.raises(Refused, match="no file was made of it"):
                writer.write(good)

    with pytest.raises(Refused, match="no file was made of it"):
        write_on()

    assert before == path.read_bytes()
    assert [path.name] == [entry.name for entry in path.parent.iterdir()]


@pytest.mark.parametrize(
    ("schema", "options", "message"),
    [
        (pa.schema({"n": pa.int64()}), {}, "there is no string column nation"),
        (table().schema, {"encryption_properties": object()}, "to be encrypted"),
    ],
)
def test_a_writer_that_cannot_index_is_refused(
    schema: pa.Schema, options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(Refused, match=message):
        IndexingWriter(tmp_path / "x.parquet", schema, "nation", **options)


def test_a_writer_takes_any_file_name_and_options_that_mean_none(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"x\xff.parquet")
    with IndexingWriter(path, table().schema, "nation", encryption_properties=None) as writer:
        writer.write(table())

    assert [path] == list(tmp_path.iterdir())
    assert [] == rules_of(path)


def test_a_value_refused_at_the_end_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    with (
        pytest.raises(Refused, match="a line feed"),
        IndexingWriter(path, table().schema, "nation") as writer,
    ):
        writer.write(table(["a\nb"]))

    assert [] == list(tmp_path.iterdir())


def test_a_flavor_that_renames_the_column_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    data = pa.table({"a b": ["x"]})
    with IndexingWriter(path, data.schema, "a b", flavor="spark") as writer:
        writer.write(data)

    assert [] == rules_of(path)


def test_keys_of_an_older_index_in_a_schema_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    schema = table().schema.with_metadata({idx1.COMPANION_KEY: companion(), idx1.KEY: "4", "other": "kept"})
    with IndexingWriter(path, schema, "nation", companion=False) as writer:
        writer.write(table())
    keys = list(pq.ParquetFile(path).metadata.metadata or {})

    assert [] == rules_of(path)
    assert 1 == keys.count(b"distinct_index_offset")
    assert b"other" in keys
