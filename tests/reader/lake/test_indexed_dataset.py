"""A dataset that prunes itself: the same rows as without, fewer files, and no file lost to a bad index."""

from __future__ import annotations

import os
import pickle
import shutil
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import datafusion
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pads
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest

from idx1_files import parquet
from indexed_lakes import Values, lake_table, published, with_record, write_lake
from places import GOLDEN_FILES
from pqassay_reader.lake.indexed_dataset import IndexedDataset, IndexWarning, open_indexed
from pqassay_reference.rewrite.embed import embed_file

NATION: Any = pc.field("nation")
PERU = NATION == "Peru"

FILES: dict[str, Values] = {
    "a.parquet": ["Peru", "Chad"],
    "b.parquet": ["Chad", None],
    "c.parquet": ["Oman", "Oman"],
    "d.parquet": [None, None],
}


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    return write_lake(tmp_path / "lake", FILES)


def ids(data: Any, condition: pc.Expression | None = None) -> list[int]:
    return sorted(data.to_table(filter=condition, columns=["id"]).column("id").to_pylist())


def names(paths: Any) -> list[str]:
    return sorted(Path(path).name for path in paths)


def fragment_names(dataset: Any, condition: pc.Expression) -> list[str]:
    return names(fragment.path for fragment in dataset.get_fragments(condition))


def kept(dataset: IndexedDataset, condition: pc.Expression) -> list[str]:
    return names(dataset.prune(condition).kept)


def spoil(dataset: IndexedDataset, condition: pc.Expression) -> list[str]:
    """Overwrite the files that a condition skips, so that reading one of them fails."""
    skipped = dataset.prune(condition).skipped
    for path in skipped:
        Path(path).write_bytes(b"no Parquet file any more, but long enough for one")
    return names(skipped)


@pytest.fixture(autouse=True)
def _no_warning_is_overlooked() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", IndexWarning)
        yield


# ------------------------------------------------------------------------------------------------- Arrow's methods


def test_each_method_of_arrow_skips_the_files_that_hold_no_match(lake: Path) -> None:
    dataset = open_indexed(lake)

    assert ["b.parquet", "c.parquet", "d.parquet"] == spoil(dataset, PERU)

    assert [0] == ids(dataset, PERU)
    assert 1 == sum(batch.num_rows for batch in dataset.to_batches(filter=PERU))
    assert 1 == dataset.count_rows(filter=PERU)
    assert [0] == dataset.head(5, filter=PERU).column("id").to_pylist()
    assert [0] == dataset.take([0], filter=PERU).column("id").to_pylist()
    assert 1 == dataset.scanner(["id"], PERU).count_rows()
    assert ["a.parquet"] == fragment_names(dataset, PERU)
    with pytest.raises(pa.ArrowInvalid):
        pads.dataset(lake).to_table(filter=PERU)


def test_a_filtered_dataset_prunes_as_well(lake: Path, tmp_path: Path) -> None:
    dataset = open_indexed(lake)
    spoil(dataset, PERU)
    filtered = dataset.filter(PERU)
    other = pads.dataset(pa.table({"nation": ["Peru"], "capital": ["Lima"]}))

    assert isinstance(filtered, IndexedDataset)
    assert [0] == ids(filtered)
    assert [] == ids(filtered, pc.field("id") > 5)
    assert [] == ids(filtered.filter(NATION == "Chad"))
    assert 1 == filtered.count_rows()
    assert [0] == filtered.sort_by("id").to_table().column("id").to_pylist()
    assert ["Lima"] == filtered.join(other, "nation").to_table().column("capital").to_pylist()
    pads.write_dataset(filtered, tmp_path / "written", format="parquet")
    assert [0] == ids(pads.dataset(tmp_path / "written"))
    assert ["a.parquet"] == kept(filtered, pc.field("id") >= 0)
    assert [] == kept(filtered, NATION == "Chad")
    right = pads.dataset(pa.table({"id": pa.array([0], pa.int64()), "nation": ["Peru"], "word": ["x"]}))
    joined = filtered.join_asof(right, on="id", by="nation", tolerance=1)
    assert ["x"] == joined.to_table().column("word").to_pylist()
    with pytest.raises(ValueError, match="filtered"):  # as with Arrow
        list(filtered.get_fragments())


@pytest.mark.parametrize(
    "way",
    [
        lambda dataset: pads.Scanner.from_dataset(dataset, filter=PERU),
        lambda dataset: pads.Scanner.from_dataset(dataset.filter(PERU)),
        lambda dataset: dataset.replace_schema(dataset.schema).filter(PERU),
        lambda dataset: pads.dataset([dataset, dataset.replace_schema(dataset.schema)]).filter(
            PERU & (pc.field("id") >= 0)
        ),
        lambda dataset: pickle.loads(pickle.dumps(dataset)).filter(PERU),
        lambda dataset: dataset.sort_by("id").filter(PERU),
        lambda dataset: pads.dataset(pa.table({"nation": ["Peru"]})).join(dataset, "nation"),
    ],
    ids=["from_dataset", "from_dataset filtered", "replace_schema", "union", "pickle", "sort_by", "join"],
)
def test_what_goes_past_the_pruning_loses_no_rows(way: Any, lake: Path) -> None:
    assert {0} == set(way(open_indexed(lake)).to_table().column("id").to_pylist())


def test_a_dataset_can_be_sent_to_another_process_and_prunes_there(lake: Path) -> None:
    dataset = pickle.loads(pickle.dumps(open_indexed(lake)))
    spoil(dataset, PERU)

    assert isinstance(dataset, IndexedDataset)
    assert [0] == ids(dataset, PERU)


def test_all_rows_are_read_without_a_filter_and_none_where_no_file_satisfies_it(lake: Path) -> None:
    dataset = open_indexed(lake)
    assert [0, 1, 100, 101, 200, 201, 300, 301] == ids(dataset)
    assert 8 == dataset.count_rows()
    assert 4 == len(list(dataset.get_fragments()))
    assert pads.dataset(lake).schema == dataset.schema
    assert names(pads.dataset(lake).files) == names(dataset.files)
    assert dataset.schema.empty_table() == dataset.to_table(filter=NATION == "Fiji")
    assert [0] == [len(fragment.to_table()) for fragment in dataset.get_fragments(NATION == "Fiji")]


def test_what_was_asked_and_saved_is_counted(lake: Path) -> None:
    dataset = open_indexed(lake)

    dataset.to_table(filter=PERU)
    dataset.filter(NATION == "Chad").to_table()
    dataset.to_table()

    assert (12, 3 + 2) == (dataset.counters.files, dataset.counters.skipped)


def test_a_raising_filter_raises_what_arrow_raises_and_nothing_else(lake: Path) -> None:
    dataset, plain = open_indexed(lake), pads.dataset(lake)
    condition = NATION.cast(pa.int64()) > 3

    assert 4 == len(dataset.prune(condition).kept)
    for data in (dataset, plain):
        with pytest.raises(pa.ArrowInvalid, match="Failed to parse string"):
            data.to_table(filter=condition)


def test_a_dataset_made_without_open_indexed_is_an_ordinary_one(lake: Path) -> None:
    plain: Any = pads.dataset(lake)
    dataset = IndexedDataset(list(plain.get_fragments()), plain.schema, plain.format, plain.filesystem)

    assert [0] == ids(dataset, PERU)
    assert [0] == ids(dataset.filter(PERU))
    assert () == dataset.warnings
    assert 0 == dataset.counters.files
    with pytest.raises(ValueError, match="open_indexed"):
        dataset.prune(PERU)


# ------------------------------------------------------------------------------------------ indexes of every kind


def bad_files() -> dict[str, tuple[bytes, str]]:
    """Files that hold Peru, with indexes that cannot be used and that say they do not; and the reason for each."""
    data = lake_table(["Peru", "Chad"])
    good = with_record(data, ["Chad"])
    stale = bytearray(good)
    blob = stale.index(b"IDX1")
    stale[blob : blob + 4] = b"\0\0\0\0"
    return {
        "missing": (parquet(data), "it has no IDX1 index"),
        "stale": (bytes(stale), "the bytes at the offset are"),
        "no companion": (published(data, ["Chad"]), "its index has no companion record, and is not trusted"),
        "other rows": (with_record(data, ["Chad"], row_count=3), "row_count is 3, but the file has 2 rows"),
        "other crc": (with_record(data, ["Chad"], crc32=1), "its crc32 is 1"),
        "lossy": (with_record(data, ["Chad"], lossless=False), "it says that values were lost"),
        "other column": (with_record(data, ["Chad"], column=("id",)), "id is not a string column"),
    }


@pytest.mark.parametrize("kind", list(bad_files()))
def test_a_file_with_an_index_that_cannot_be_used_is_kept_and_a_warning_says_so(
    kind: str, lake: Path
) -> None:
    content, reason = bad_files()[kind]
    (lake / "bad.parquet").write_bytes(content)

    with pytest.warns(IndexWarning, match="1 of 5 files have no index that can be used") as caught:
        dataset = open_indexed(lake)

    assert 1 == len(caught)
    assert 1 == len(dataset.warnings)
    assert f"{lake / 'bad.parquet'}: " in dataset.warnings[0]
    assert reason in dataset.warnings[0]
    assert ["a.parquet", "bad.parquet"] == kept(dataset, PERU)
    assert reason in dataset.prune(PERU).why[str(lake / "bad.parquet")]
    assert [0, 0] == ids(dataset, PERU)


def test_drafts_are_kept_and_many_bad_files_make_one_warning_that_counts_them(lake: Path) -> None:
    for name in ("draft-g0", "draft-g1"):
        shutil.copy(GOLDEN_FILES / "idx1" / name / "data.parquet", lake / f"{name}.parquet")
    with pytest.warns(IndexWarning, match="2 of 6 files") as caught:
        dataset = open_indexed(lake)
    assert (1, 2) == (len(caught), len(dataset.warnings))
    assert "layout of draft G0" in dataset.warnings[0]
    assert ["a.parquet", "draft-g0.parquet", "draft-g1.parquet"] == kept(dataset, PERU)


def test_who_vouches_for_an_index_without_companion_record_names_its_column(tmp_path: Path) -> None:
    for name, values in FILES.items():
        written = [value for value in values if value is not None] or ["x"]
        (tmp_path / name).write_bytes(published(lake_table(values), sorted(set(written))))

    dataset = open_indexed(tmp_path, trust="published", column="nation")

    assert ["a.parquet"] == kept(dataset, PERU)
    assert ["a.parquet"] == kept(open_indexed(tmp_path, trust="published", columns=["nation"]), PERU)
    assert sorted(FILES) == kept(dataset, NATION != "Peru")
    assert sorted(FILES) == kept(dataset, NATION.is_null())
    assert ["nation: the index has no companion record, which this condition needs"] == list(
        dict.fromkeys(dataset.prune(NATION != "Peru").why.values())
    )
    for arguments in ({"trust": "published"}, {"column": "nation"}):
        with pytest.raises(ValueError, match="name the column"):
            open_indexed(tmp_path, **arguments)  # type: ignore[arg-type] # arguments of several types


def test_a_value_with_a_line_feed_is_found_though_its_index_holds_it_in_pieces(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(published(lake_table(["a\nb"]), ["a\nb"]))
    (tmp_path / "b.parquet").write_bytes(published(lake_table(["c"], 1), ["c"]))
    dataset, plain = open_indexed(tmp_path, trust="published", column="nation"), pads.dataset(tmp_path)

    other = [NATION > "a", NATION != "a", ~NATION.isin(["a", "b"])]
    for condition in (NATION == "a\nb", NATION.isin(["a\nb"]), *other):
        assert ids(plain, condition) == ids(dataset, condition)
    assert ["b.parquet"] == kept(dataset, NATION == "c")
    assert ["a.parquet"] == kept(dataset, NATION == "a")


@pytest.mark.parametrize("order", [["a", ""], ["a\r", "b"], ["\r", ""], [""]], ids=repr)
def test_a_published_index_of_a_lossy_shape_is_not_used_even_if_somebody_vouches(
    order: list[str], tmp_path: Path
) -> None:
    (tmp_path / "lossy.parquet").write_bytes(published(lake_table(order), order))

    with pytest.warns(IndexWarning, match="lossy"):
        dataset = open_indexed(tmp_path, trust="published", column="nation")

    for value in order:
        assert 1 == len(ids(dataset, NATION == value))


def test_a_companion_record_that_disagrees_is_no_index_that_somebody_can_vouch_for(tmp_path: Path) -> None:
    (tmp_path / "stale.parquet").write_bytes(with_record(lake_table(["Peru", "Chad"]), ["Chad"], row_count=7))

    with pytest.warns(IndexWarning, match="its row_count is 7"):
        dataset = open_indexed(tmp_path, trust="published", column="nation")

    assert [0] == ids(dataset, PERU)


# ----------------------------------------------------------------------------------------------- schemas and folders


TEXTS = pytest.mark.parametrize(
    "kind", [pa.large_string(), pa.dictionary(pa.int32(), pa.string()), pa.binary()], ids=str
)


@TEXTS
def test_columns_of_text_of_every_type_are_pruned(kind: pa.DataType, tmp_path: Path) -> None:
    write_lake(tmp_path / "lake", FILES, kind=kind)
    dataset = open_indexed(tmp_path / "lake")
    value = b"Peru" if kind == pa.binary() else "Peru"
    assert kind == dataset.schema.field("nation").type
    assert ["b.parquet", "c.parquet", "d.parquet"] == spoil(dataset, NATION == value)
    assert [0] == ids(dataset, NATION == value)


def test_columns_of_views_are_pruned_although_arrow_cannot_filter_their_rows(tmp_path: Path) -> None:
    write_lake(tmp_path / "lake", FILES, kind=pa.string_view())
    dataset = open_indexed(tmp_path / "lake")
    asked = NATION.cast(pa.string()) == "Peru"

    assert pa.string_view() == dataset.schema.field("nation").type
    assert ["a.parquet"] == kept(dataset, asked) == fragment_names(dataset, asked)
    with pytest.raises(pa.ArrowNotImplementedError):
        pads.dataset(tmp_path / "lake").to_table(filter=asked)


@TEXTS
def test_a_schema_of_the_caller_decides_what_values_are_compared_as(kind: pa.DataType, lake: Path) -> None:
    schema = pa.schema({"id": pa.int64(), "nation": kind, "new": pa.string()})
    dataset = open_indexed(lake, schema=schema)
    value = b"Peru" if kind == pa.binary() else "Peru"

    assert schema == dataset.schema
    assert ["a.parquet"] == kept(dataset, NATION == value)
    assert [0] == ids(dataset, NATION == value)
    assert 8 == len(ids(dataset, pc.field("new").is_null()))


def test_an_index_of_a_column_that_is_read_as_something_else_is_not_used(tmp_path: Path) -> None:
    write_lake(tmp_path, {"a.parquet": ["1", "2"], "b.parquet": ["3"]})
    schema = pa.schema({"id": pa.int64(), "nation": pa.int64()})

    with pytest.warns(IndexWarning, match="which the dataset reads as int64"):
        dataset = open_indexed(tmp_path, schema=schema)

    assert ["a.parquet", "b.parquet"] == kept(dataset, NATION == 3)


def test_a_file_that_lacks_the_column_is_all_null_and_is_kept(lake: Path) -> None:
    pq.write_table(pa.table({"id": [900], "city": ["Lima"]}), lake / "z.parquet")
    embed_file(lake / "z.parquet", "city")

    with pytest.warns(IndexWarning, match="column city, which the dataset has several times or not at all"):
        dataset = open_indexed(lake)

    assert 900 in ids(dataset, NATION.is_null())
    assert 900 not in ids(dataset, PERU)
    assert [900] == ids(dataset, NATION.is_null() & (pc.field("id") > 500))


def test_nulls_are_looked_for_where_they_may_be(lake: Path) -> None:
    dataset = open_indexed(lake)

    assert ["b.parquet", "d.parquet"] == kept(dataset, NATION.is_null())
    assert [101, 300, 301] == ids(dataset, NATION.is_null())
    assert ["a.parquet", "b.parquet", "c.parquet"] == kept(dataset, NATION.is_valid())
    assert [200, 201] == ids(dataset, NATION.is_valid() & ~NATION.isin(["Peru", "Chad"]))


def test_rows_with_nan_survive_whatever_is_asked_of_the_text_beside_them(lake: Path) -> None:
    dataset, plain = open_indexed(lake), pads.dataset(lake)
    amount = pc.field("amount")

    for condition in (amount != 0.0, ~(amount < 5), pc.is_nan(amount), amount.isin([-0.0])):
        assert ids(plain, condition) == ids(dataset, condition)
        assert ids(plain, condition & PERU) == ids(dataset, condition & PERU)
        assert ids(plain, condition | PERU) == ids(dataset, condition | PERU)
    # Arrow itself skips row groups by bounds that say nothing of NaN, with indexes and without.
    assert [] == ids(plain, pc.is_nan(amount)) == ids(dataset, pc.is_nan(amount))
    assert [1] == ids(dataset, (NATION == "Chad") & (pc.field("id") < 100))


def test_folders_of_partitions_are_pruned_beside_the_indexes(tmp_path: Path) -> None:
    files = {
        "year=2020/a.parquet": ["Peru"],
        "year=2021/b.parquet": ["Peru"],
        "year=2021/c.parquet": ["Chad"],
    }
    dataset = open_indexed(write_lake(tmp_path, files))
    condition = PERU & (pc.field("year") == 2021)

    pruning = dataset.prune(condition)

    assert ["b.parquet"] == names(pruning.kept)
    assert "no row of its partition matches" == pruning.why[str(tmp_path / "year=2020" / "a.parquet")]
    assert "no value of nation satisfies it" == pruning.why[str(tmp_path / "year=2021" / "c.parquet")]
    assert [100] == ids(dataset, condition)


def test_where_the_folder_says_what_a_column_holds_the_index_of_the_file_is_not_asked(tmp_path: Path) -> None:
    write_lake(tmp_path, {"nation=Oman/a.parquet": ["Peru"], "nation=Peru/b.parquet": ["Chad"]})

    with pytest.warns(IndexWarning, match="come from folder names"):
        dataset = open_indexed(tmp_path)

    assert ids(pads.dataset(tmp_path, partitioning="hive"), PERU) == ids(dataset, PERU) == [100]


@pytest.mark.parametrize("stem", ["with space", "100%20", "[a]", "*", "{x}", "ü日", "a:b", "~"])
def test_names_are_what_they_are(stem: str, tmp_path: Path) -> None:
    name = f"{stem}.parquet"
    folder = write_lake(tmp_path / name, {name: ["Peru"], "other.parquet": ["Chad"]})
    dataset = open_indexed(folder)

    assert (str(folder / name),) == dataset.prune(PERU).kept
    assert [0] == ids(dataset, PERU)


def test_a_name_is_hidden_by_its_first_character_only(lake: Path) -> None:
    for name in ("_SUCCESS", "a_.b.parquet", "a\n.b.parquet"):
        shutil.copy(lake / "a.parquet", lake / name)
    assert sorted((*FILES, "a_.b.parquet", "a\n.b.parquet")) == names(open_indexed(lake).files)


def test_files_may_be_named_one_by_one(lake: Path) -> None:
    chosen: list[str | Path] = [lake / "b.parquet", str(lake / "a.parquet")]

    assert [str(path) for path in chosen] == open_indexed(chosen).files
    assert ["a.parquet"] == kept(open_indexed(chosen), PERU)
    assert ["a.parquet"] == names(open_indexed(lake / "a.parquet").files)
    assert ["a.parquet"] == kept(open_indexed(lake.as_uri()), PERU)


def test_the_schema_is_that_of_the_file_that_is_named_first_as_with_arrow(tmp_path: Path) -> None:
    pq.write_table(lake_table(["Peru"]).drop(["amount"]), tmp_path / "a.parquet")
    pq.write_table(lake_table(["Peru"]), tmp_path / "b.parquet")
    files: list[str | Path] = [tmp_path / "b.parquet", tmp_path / "a.parquet"]

    with pytest.warns(IndexWarning):
        assert ["id", "nation", "amount"] == open_indexed(files).schema.names


def test_datafusion_sorts_the_rows_also_where_no_file_is_left(lake: Path) -> None:
    context = datafusion.SessionContext()
    context.register_dataset("lake", open_indexed(lake))

    assert 0 == context.sql("select id from lake where nation = 'Fiji' order by id limit 3").count()


def test_a_relative_path_means_the_same_files_wherever_the_process_goes(
    lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(lake.parent)
    dataset = open_indexed("lake")
    monkeypatch.chdir("/")

    assert [0] == ids(dataset, PERU)


@pytest.mark.skipif(sys.platform == "darwin", reason="its file systems hold no such names")
def test_a_name_that_is_no_utf_8_is_named(tmp_path: Path) -> None:
    Path(os.fsdecode(bytes(tmp_path) + b"/\xff.parquet")).write_bytes(b"")

    with pytest.raises(ValueError, match=r"xff\.parquet' is not UTF-8"):
        open_indexed(tmp_path)


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_indexed(tmp_path / "missing")
    with pytest.raises(FileNotFoundError):
        open_indexed([tmp_path / "missing.parquet"])
    assert [] == open_indexed(tmp_path).files


def test_another_filesystem_is_read_through_arrow(lake: Path) -> None:
    told: list[tuple[int, int]] = []
    filesystem = pafs.SubTreeFileSystem(str(lake), pafs.LocalFileSystem())
    dataset = open_indexed("", filesystem=filesystem, progress=lambda done, total: told.append((done, total)))

    assert ["a.parquet"] == list(dataset.prune(PERU).kept)
    assert [0] == ids(dataset, PERU)
    assert (4, 4) == told[-1]
    assert ["a.parquet"] == names(open_indexed("a.parquet", filesystem=filesystem).files)


def test_an_index_that_did_not_come_along_with_the_footer_is_read_when_a_filter_names_its_column(
    tmp_path: Path,
) -> None:
    for number in range(2):
        pq.write_table(
            lake_table([f"{number} {row:020}" for row in range(1000)], number), tmp_path / f"{number}.parquet"
        )
        embed_file(tmp_path / f"{number}.parquet", "nation")
    damaged = bytearray((tmp_path / "1.parquet").read_bytes())
    damaged[damaged.index(b"1 00000000000000000007", damaged.index(b"IDX1"))] = ord("9")
    (tmp_path / "1.parquet").write_bytes(damaged)
    dataset = open_indexed(tmp_path)
    opened = dataset.metadata_read

    assert ["0.parquet", "1.parquet"] == kept(dataset, pc.field("id") == 5)
    assert opened == dataset.metadata_read
    with pytest.warns(IndexWarning, match="its crc32 is"):
        assert ["1.parquet"] == kept(dataset, NATION == "nothing")
    assert opened[1] < dataset.metadata_read[1]
    assert 1 == dataset.unindexed
