"""Indexes in finished files: added, replaced, dropped and refreshed, while everything else stays."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from damage import turns
from pqassay import check
from pqassay.cli.main import app
from pqassay_golden.directory.whole import SALES
from pqassay_golden.tiny.parquet import TinyParquet
from pqassay_reader.answer.answerer import Answerer
from pqassay_reference.directory import embedding
from pqassay_reference.directory.embedding import add_indexes, drop_indexes, refresh_indexes
from pqassay_reference.directory.making.entry import Request, make_index
from pqassay_reference.directory.reading.inventory import list_indexes
from pqassay_reference.errors import Refused
from pqassay_reference.rewrite.embed import embed_file
from pqassay_reference.rewrite.extract import extract_file
from pqassay_reference.rewrite.strip import Selection, strip_file
from pqassay_spec.directory.codes import Granularity, IndexType, Placement
from pqassay_spec.directory.entries import KEY
from pqassay_spec.mutation.mutations import Mutation, mutate
from pqassay_spec.parquet.thrift import CompressionCodec
from pqassay_suite.cases.case import golden_folder

ARROW: Any = pq
"""The type stubs of pyarrow know only part of what it takes."""

SETS, SUMS, IDX1 = IndexType.DISTINCT_SET, IndexType.ZONE_SUMS, IndexType.IDX1
TABLE = pa.table(
    {"metal": ["tin", "lead", "tin", "zinc", None, "tin"], "lot": pa.array([7, 8, 9, 10, 11, 12], pa.int64())}
)


def _request(kind: IndexType, column: str, placement: Placement = Placement.BODY, **more: Any) -> Request:
    return Request(kind, ((column,),), placement=placement, **more)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "data.parquet"
    ARROW.write_table(TABLE, found, row_group_size=3, write_page_index=True)
    return found


def _states(path: Path) -> list[tuple[str, str, bool]]:
    return [
        (IndexType(one.entry.head.type).name, one.entry.names, not one.stale and not one.unusable)
        for one in list_indexes(path).entries
    ]


@pytest.mark.parametrize("placement", Placement)
def test_adding_keeps_every_other_index_and_the_rows(path: Path, placement: Placement) -> None:
    for kind, column in ((SETS, "metal"), (SETS, "lot"), (SUMS, "lot")):
        add_indexes(path, [_request(kind, column, placement)])
    embed_file(path, "metal")

    assert [
        ("DISTINCT_SET", "metal", True),
        ("DISTINCT_SET", "lot", True),
        ("ZONE_SUMS", "lot", True),
    ] == _states(path)
    assert ("lead", "tin", "zinc") == tuple(sorted(extract_file(path).values))
    assert TABLE.equals(ARROW.read_table(path))


def test_the_same_index_replaces_the_old_one_and_dropping_the_last_gives_the_file_back(path: Path) -> None:
    before = path.read_bytes()
    for placement in Placement:
        add_indexes(path, [_request(SETS, "metal", placement)])
        added = path.read_bytes()
        assert 1 == len(add_indexes(path, [_request(SETS, "metal", placement)]).replaced)
        assert added == path.read_bytes()
        drop_indexes(path, lambda *_: True)
        assert before == path.read_bytes()


def test_a_blob_between_others_stays_as_dead_bytes(path: Path) -> None:
    add_indexes(path, [_request(SETS, "metal"), _request(SETS, "lot")])
    length = list_indexes(path).entries[0].entry.head.stored_length
    done = drop_indexes(path, lambda entry, _: entry.names == "metal")

    assert length == done.dead
    assert [("DISTINCT_SET", "lot", True)] == _states(path)


CHANGES: dict[str, Callable[[pa.Table], pa.Table]] = {
    "sorted": lambda table: table.sort_by([("lot", "descending")]),
    "appended": lambda table: pa.concat_tables([table, table]),
    "trimmed": lambda table: table.slice(0, 3),
    "changed": lambda table: table.set_column(1, "lot", pa.array([7, 8, 9, 10, 11, 13], pa.int64())),
}


@pytest.mark.parametrize(
    ("change", "compression"), turns([(name,) for name in CHANGES], [("none",), ("zstd",)])
)
def test_a_file_that_was_written_anew_with_its_keys_is_stale_by_the_footer_alone_and_refreshed(
    tmp_path: Path, change: str, compression: str
) -> None:
    path = tmp_path / "data.parquet"
    ARROW.write_table(TABLE, path, row_group_size=3, compression=compression)
    add_indexes(path, [_request(SETS, "lot", Placement.INLINE), _request(SUMS, "lot", Placement.INLINE)])
    metadata = {KEY: ARROW.read_metadata(path).metadata[KEY.encode()].decode()}
    changed = CHANGES[change](TABLE).replace_schema_metadata(metadata)
    ARROW.write_table(changed, path, row_group_size=3, compression=compression)

    assert [False, False] == [fresh for _, _, fresh in _states(path)]
    assert 2 == len(refresh_indexes(path).made)
    assert [True, True] == [fresh for _, _, fresh in _states(path)]


def test_what_cannot_be_refreshed_is_said(path: Path) -> None:
    add_indexes(path, [_request(SETS, "metal", Placement.INLINE)])
    metadata = {KEY: ARROW.read_metadata(path).metadata[KEY.encode()].decode()}
    ARROW.write_table(TABLE.drop_columns(["metal"]).replace_schema_metadata(metadata), path)
    done = refresh_indexes(path)

    assert ["the file has no column called metal"] == [reason for _, reason in done.unable]
    assert 1 == CliRunner().invoke(app, ["index", "refresh", str(path)]).exit_code


def test_a_cut_set_is_refreshed_with_its_limit(path: Path) -> None:
    add_indexes(path, [_request(SETS, "lot", Placement.INLINE, most=2)])
    metadata = {KEY: ARROW.read_metadata(path).metadata[KEY.encode()].decode()}
    ARROW.write_table(CHANGES["sorted"](TABLE).replace_schema_metadata(metadata), path, row_group_size=3)
    (made,) = refresh_indexes(path).made

    assert 4 == made.head.value_count


def test_statistics_can_go_and_the_index_stays_good(path: Path) -> None:
    add_indexes(path, [_request(SETS, "metal"), _request(SETS, "lot", granularity=Granularity.PAGE)])
    strip_file(path, Selection(statistics=True), values_are_right=True)

    assert [True, True] == [fresh for _, _, fresh in _states(path)]


def test_an_index_of_pages_goes_with_the_offset_index(path: Path) -> None:
    add_indexes(path, [_request(SETS, "metal"), _request(SETS, "lot", granularity=Granularity.PAGE)])
    stripped = strip_file(path, Selection(offset_index=True), values_are_right=True)

    assert ["lot"] == [entry.names for entry in stripped.indexes]
    assert [("DISTINCT_SET", "metal", True)] == _states(path)


def test_the_whole_directory_can_be_stripped(path: Path) -> None:
    add_indexes(path, [_request(SETS, "metal", Placement.EXTENSION), _request(SETS, "lot", Placement.INLINE)])
    stripped = strip_file(path, Selection(directory=True), values_are_right=True)

    assert (2, (KEY,)) == (len(stripped.indexes), stripped.keys)
    assert b"pqassay.index_directory" not in path.read_bytes()
    assert [] == _states(path)


def test_embedding_cuts_no_blob_that_an_entry_shares(path: Path) -> None:
    embed_file(path, "metal")
    blob = extract_file(path)
    add_indexes(path, [_request(IDX1, "metal", granularity=Granularity.FILE)])
    embed_file(path, "metal")

    assert [("IDX1", "metal", True)] == _states(path)
    assert blob.values == extract_file(path).values


def test_an_extension_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    path.write_bytes(TinyParquet(SALES.columns, extensions={"footer": b"sixteen bytes id"}).build())
    before = path.read_bytes()

    with pytest.raises(Refused, match="another program uses the footer"):
        add_indexes(path, [_request(SETS, "metal", Placement.EXTENSION)])
    assert before == path.read_bytes()


def test_directories_of_other_versions_and_unknown_entries_stay(path: Path) -> None:
    add_indexes(path, [_request(SETS, "metal", Placement.INLINE)])
    other = mutate(path.read_bytes(), Mutation("set", "directory.major", 2))
    path.write_bytes(other)
    add_indexes(path, [_request(SETS, "lot", Placement.INLINE)])
    path.write_bytes(mutate(path.read_bytes(), Mutation("set", "footer.created_by", "somebody")))

    assert (1, ["lot"]) == (
        list_indexes(path).foreign,
        [one.entry.names for one in list_indexes(path).entries],
    )


# ------------------------------------------------------------------------------------------------- the commands


def test_the_commands_add_list_and_drop(path: Path) -> None:
    run = CliRunner()
    name = str(path)
    added = run.invoke(app, ["index", "add", name, "--type", "distinct-set", "--columns", "metal,lot"])
    listed = run.invoke(app, ["index", "list", name, "--json"])
    dropped = run.invoke(app, ["index", "drop", name, "--columns", "metal"])

    assert [
        f"{name}: added distinct-set of metal by row-group: 4 values in 66 bytes (body)",
        f"{name}: added distinct-set of lot by row-group: 6 values in 84 bytes (body)",
    ] == added.stdout.splitlines()
    assert [("distinct-set", [["metal"]], True), ("distinct-set", [["lot"]], True)] == [
        (one["type"], one["columns"], one["fresh"]) for one in json.loads(listed.stdout)["indexes"]
    ]
    assert [
        f"{name}: removed distinct-set of metal by row-group: 4 values in 66 bytes (body)",
        "  66 bytes of earlier indexes stay in the file; nothing refers to them any more",
    ] == dropped.stdout.splitlines()


def test_of_several_files_one_that_cannot_be_indexed_is_named_and_the_others_are_done(path: Path) -> None:
    (path.parent / "broken.parquet").write_bytes(b"PAR1 but no more")
    done = CliRunner().invoke(
        app, ["index", "add", str(path.parent), "--type", "zone-sums", "--columns", "lot"]
    )

    assert (1, 1, 1) == (done.exit_code, len(done.stderr.splitlines()), len(_states(path)))
    assert "broken.parquet" in done.stderr


def test_a_mistake_of_ours_with_one_file_keeps_no_other_from_its_index(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stumbling(opened: Any, request: Request, **options: Any) -> Any:
        if "broken" in opened.source.name:
            raise ZeroDivisionError("an unexpected failure")
        return make_index(opened, request, **options)

    monkeypatch.setattr(embedding, "make_index", stumbling)
    broken = path.parent / "broken.parquet"
    broken.write_bytes(path.read_bytes())
    done = CliRunner().invoke(app, ["index", "add", str(path.parent), "--type", "hll", "--columns", "lot"])

    assert (70, 1, 0) == (done.exit_code, len(_states(path)), len(_states(broken)))
    assert f"error: {broken}: a mistake in pqassay, please report it: ZeroDivisionError" in done.stderr


@pytest.mark.parametrize(
    ("kind", "granularity"),
    turns([("zone-sums",), ("kll",), ("distinct-set",), ("hll",)], [("row-group",), ("file",)]),
)
def test_a_file_with_an_empty_row_group_is_indexed_like_any_other(
    kind: str, granularity: str, tmp_path: Path
) -> None:
    fields: list[Any] = [("x", pa.float64()), ("n", pa.int64())]
    schema = pa.schema(fields)
    for name, groups in (("a", [[1.5, -2.5]]), ("b", [[], [-0.5, None]]), ("c", [[]]), ("d", [])):
        with pq.ParquetWriter(tmp_path / f"{name}.parquet", schema) as writer:
            for group in groups:
                numbers = pa.array(range(len(group)), pa.int64())
                writer.write_table(pa.table([pa.array(group, pa.float64()), numbers], schema=schema))
    options = ["--type", kind, "--granularity", granularity]
    for columns in ("x", "n,x") if kind != "kll" else ("x", "n"):
        done = CliRunner().invoke(app, ["index", "add", str(tmp_path), *options, "--columns", columns])
        assert (0, "") == (done.exit_code, done.stderr)

    assert [[]] * 4 == [one.findings for one in check([tmp_path], tier="values").files]
    answer = Answerer.open(tmp_path).ask("SELECT COUNT(*) AS n, SUM(x) AS s, MIN(x) AS a, MAX(x) AS b FROM t")
    assert [{"n": 4, "s": -1.5, "a": -2.5, "b": 1.5}] == answer.table.to_pylist()


@pytest.mark.parametrize("kind", ["zone-sums", "distinct-set", "hll", "idx1"])
def test_a_row_beyond_its_dictionary_is_named_and_no_mistake_of_ours(kind: str, tmp_path: Path) -> None:
    data = (golden_folder() / "pqf" / "index-beyond-dictionary" / "data.parquet").read_bytes()
    (tmp_path / "a.parquet").write_bytes(data)
    done = CliRunner().invoke(app, ["index", "add", str(tmp_path), "--type", kind, "--columns", "metal"])

    assert (1, 1) == (done.exit_code, len(done.stderr.splitlines()))
    assert "a.parquet: column metal" in done.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--type", "zone-sums", "--columns", "metal,nothing"],
            "there is no column nothing; columns are: metal, lot",
        ),
        (["--type", "kll", "--columns", "metal"], "column metal is not numeric, which a KLL sketch needs"),
        (
            ["--type", "idx1", "--columns", "metal", "--placement", "inline"],
            "an IDX1 index describes a file, is stored in the body and is not compressed",
        ),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(path: Path, options: list[str], said: str) -> None:
    before = path.read_bytes()
    done = CliRunner().invoke(app, ["index", "add", str(path), *options])

    assert (1, f"error: {path}: {said}\n") == (done.exit_code, done.stderr)
    assert before == path.read_bytes()


def test_a_blob_that_says_to_be_huge_is_not_decompressed(path: Path) -> None:
    add_indexes(path, [_request(SETS, "metal", Placement.INLINE, codec=CompressionCodec.ZSTD)])
    path.write_bytes(
        mutate(path.read_bytes(), Mutation("set", "directory.entries[0].head.plain_length", 1 << 40))
    )
    (listed,) = list_indexes(path).entries

    assert f"a blob of {1 << 40} bytes; the most are {256 << 20}" == listed.unusable
