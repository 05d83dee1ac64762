"""Every engine gets from a dataset that prunes itself the rows that it gets without, and those that were written.

The truth is what was written, never what an engine says without an index: engines are wrong about some good files, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asked_engines import SCHEMA, Asked, DataFusion, DuckDB, Polars, PyArrow, Tree
from damage import EXAMPLES, tries
from drawn_lakes import TEXT, File, LakeFiles, lakes, leaves, trees
from indexed_lakes import with_record
from pqassay.literals.predicate import keeps
from pqassay_reader.condition.rows import expression_of
from pqassay_reader.lake.indexed_dataset import IndexedDataset, open_indexed

ENGINES = ("duckdb", "datafusion", "polars", "pyarrow")


@pytest.fixture(scope="module")
def engines() -> dict[str, Asked]:
    return {"duckdb": DuckDB(), "datafusion": DataFusion(), "polars": Polars(), "pyarrow": PyArrow()}


TRUSTED = {"good", "vouched", "entry", "older run"}
LAKES = lakes(st.just(False))
LEAVES = leaves(TEXT, least=1)
TREES = trees(LEAVES, 3)


@contextmanager
def written(lake: LakeFiles) -> Iterator[tuple[IndexedDataset, Any]]:
    """The dataset that prunes itself and Arrow's own, of the same files."""
    with lake.written() as (root, way):
        yield open_indexed(root, **way), pads.dataset(root)


def has_negated_membership(tree: Any) -> bool:
    """Whether IN or NOT IN is where null would have to be unknown."""
    match tree:
        case ["not in", *_]:
            return True
        case ["not", part]:
            return "in" in str(part)
        case [("and" | "or"), *parts]:
            return any(map(has_negated_membership, parts))
        case _:
            return False


NULL_IS_IN_NO_LIST = {"polars", "datafusion"}
"""Engines that hand NOT IN to Arrow as it is (DataFusion from four values on), to which null is in no list.

So they find rows with null, where SQL finds none: with indexes and without.
"""

SETTINGS = settings(
    tries(20),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


# --------------------------------------------------------------------------------------------------------- the tests


def without_indexes(engine: Asked, plain: Any, tree: Tree) -> list[int] | None:
    """The answer from Arrow's own dataset; ``None`` where DataFusion fails: it found that nothing can match."""
    try:
        return engine.ids(plain, tree)
    except Exception as error:
        if isinstance(engine, DataFusion) and "BooleanScalar" in str(error):
            return None
        raise


@pytest.mark.filterwarnings("ignore::pqassay_reader.lake.indexed_dataset.IndexWarning")
@given(lake=LAKES, asked=st.lists(TREES, min_size=3, max_size=3))
@SETTINGS
def test_every_engine_finds_the_rows_that_were_written_whatever_the_indexes_are_like(
    engines: dict[str, Asked], lake: LakeFiles, asked: list[Tree]
) -> None:
    nation_of = {row["id"]: row["nation"] for row in lake.rows}
    with written(lake) as (dataset, plain):
        for tree in asked:
            truth = [row["id"] for row in lake.rows if keeps(tree, row)]
            for name, engine in engines.items():
                found = engine.ids(dataset, tree)
                assert without_indexes(engine, plain, tree) in (found, None), name
                if name in NULL_IS_IN_NO_LIST and has_negated_membership(tree):
                    found = [number for number in found if number in truth or nation_of[number] is not None]
                assert truth == found, name


@pytest.mark.filterwarnings("ignore::pqassay_reader.lake.indexed_dataset.IndexWarning")
@given(lake=LAKES, values=st.lists(TEXT, min_size=1, max_size=3, unique=True))
@SETTINGS
def test_every_engine_skips_each_file_whose_trusted_index_holds_none_of_the_values(
    engines: dict[str, Asked], lake: LakeFiles, values: list[str]
) -> None:
    if any("\n" in value for value in values) and lake.mode == "published":
        values = ["a"]
    tree: Tree = ["in", "nation", values] if len(values) > 1 else ["=", "nation", values[0]]
    with written(lake) as (dataset, _):
        hopeless = [
            number
            for number, file in enumerate(lake.files)
            if file.index in TRUSTED and not set(values) & pieces(lake.mode, file) and is_usable(file)
        ]
        pruning = dataset.prune(expression_of(tree, SCHEMA))
        assert hopeless == sorted(int(Path(path).stem) for path in pruning.skipped)
        for path in pruning.skipped:
            Path(path).write_bytes(b"no Parquet file any more")
        truth = [row["id"] for row in lake.rows if keeps(tree, row)]
        for name, engine in engines.items():
            before = dataset.counters.skipped
            assert truth == engine.ids(dataset, tree), name
            assert dataset.counters.skipped - before >= len(hopeless), name


def pieces(mode: str, file: File) -> set[str]:
    return {
        piece for value in file.texts for piece in (value.split("\n") if mode == "published" else [value])
    }


def is_usable(file: File) -> bool:
    """Whether the index that the file is to have can be written and trusted: see the chapter on lossy shapes."""
    if file.index == "good":
        return file.fits
    if file.index == "vouched":
        payload = "\n".join(file.texts)
        return (
            not (bool(file.values) and not payload) and "\r\n" not in payload and not payload.endswith("\n")
        )
    return True


@pytest.mark.filterwarnings("ignore::pqassay_reader.lake.indexed_dataset.IndexWarning")
@given(
    lake=LAKES,
    wanted=st.lists(TEXT, min_size=1, max_size=3, unique=True),
    how=st.sampled_from(["semi", "anti"]),
)
@settings(SETTINGS, max_examples=max(12 // EXAMPLES, 4))
def test_joins_find_the_rows_that_were_written(
    engines: dict[str, Asked], lake: LakeFiles, wanted: list[str], how: str
) -> None:
    """Nulls survive an anti-join, where NOT IN would drop them."""
    truth = [row["id"] for row in lake.rows if (row["nation"] in wanted) == (how == "semi")]
    with written(lake) as (dataset, plain):
        for name, engine in engines.items():
            assert truth == engine.joined(dataset, wanted, how) == engine.joined(plain, wanted, how), name


@pytest.mark.filterwarnings("ignore::pqassay_reader.lake.indexed_dataset.IndexWarning")
@given(
    lake=LAKES,
    text=LEAVES,
    comparison=st.sampled_from(["=", "!=", "<", "<=", ">", ">="]),
    number=st.sampled_from([0.0, -0.0, 1.5, float("inf")]),
    negated=st.booleans(),
    joined=st.sampled_from(["and", "or"]),
)
@settings(SETTINGS, max_examples=max(12 // EXAMPLES, 4))
def test_conditions_on_floats_find_with_indexes_what_they_find_without(
    engines: dict[str, Asked],
    lake: LakeFiles,
    text: Tree,
    comparison: str,
    number: float,
    negated: bool,
    joined: str,
) -> None:
    """Each engine decides what NaN is like: see the next test. No index may change it."""
    if number == float("inf"):
        number = 1e308
    amount: Tree = [comparison, "amount", number]
    tree: Tree = [joined, ["not", amount] if negated else amount, text]
    with written(lake) as (dataset, plain):
        for name, engine in engines.items():
            assert engine.ids(plain, tree) == engine.ids(dataset, tree), name


NAN_IS = {
    "duckdb": {"amount > 1": True, "amount < 1": False, "amount != 1": True},
    "datafusion": {"amount > 1": False, "amount < 1": False, "amount != 1": True},
    "polars": {"amount > 1": False, "amount < 1": False, "amount != 1": True},
    "pyarrow": {"amount > 1": False, "amount < 1": False, "amount != 1": True},
}
"""Whether the row with NaN is found, on a dataset of Arrow: for Arrow, NaN is unequal to all and neither less nor greater.

DuckDB sorts it behind all numbers and filters the rows once more itself.
"""


@pytest.mark.parametrize("name", ENGINES)
def test_nan_is_to_each_engine_what_it_is_without_indexes(
    name: str, engines: dict[str, Asked], tmp_path: Path
) -> None:
    data = pa.Table.from_pylist([{"id": 0, "nation": "a", "amount": float("nan")}], schema=SCHEMA)
    (tmp_path / "0.parquet").write_bytes(with_record(data, ["a"]))
    answers = {
        condition: [
            engines[name].ids(dataset, [operator, "amount", 1.0]) == [0]
            for dataset in (open_indexed(tmp_path), pads.dataset(tmp_path))
        ]
        for condition, operator in (("amount > 1", ">"), ("amount < 1", "<"), ("amount != 1", "!="))
    }

    assert {condition: [is_found] * 2 for condition, is_found in NAN_IS[name].items()} == answers


FORMS: dict[str, Tree] = {
    "=": ["=", "nation", "Peru"],
    "in": ["in", "nation", ["Peru", "Togo"]],
    "or": ["or", ["=", "nation", "Peru"], ["=", "nation", "Togo"]],
    "and": ["and", ["=", "nation", "Peru"], [">=", "id", 0]],
    "range": ["and", [">", "nation", "D"], ["<", "nation", "Q"]],
    "!=": ["!=", "nation", "Chad"],
    "not =": ["not", ["=", "nation", "Chad"]],
    "not in": ["not in", "nation", ["Chad", "Oman"]],
    "is null": ["is null", "nation"],
    "is not null": ["is not null", "nation"],
}
FOUND = {
    "=": [0], "in": [0], "or": [0], "and": [0], "range": [0, 20], "!=": [0, 20], "not =": [0, 20], "not in": [0],
    "is null": [30], "is not null": [0, 10, 20],
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ENGINES)
def test_every_form_of_condition_reaches_the_indexes(
    name: str, form: str, engines: dict[str, Asked], tmp_path: Path
) -> None:
    """By garbage in place of the files that hold no match: an engine that opens one of them fails."""
    for number, value in enumerate(("Peru", "Chad", "Oman", None)):
        data = pa.Table.from_pylist([{"id": number * 10, "nation": value, "amount": 1.0}], schema=SCHEMA)
        (tmp_path / f"{number}.parquet").write_bytes(with_record(data, [value] if value else []))
    dataset, plain = open_indexed(tmp_path), pads.dataset(tmp_path)
    needed = {f"{number // 10}.parquet" for number in FOUND[form]}
    if name == "polars" and form == "not in":
        needed.add("3.parquet")  # to it, and to Arrow, null is not in any list
    for path in tmp_path.iterdir():
        if path.name not in needed:
            path.write_bytes(b"no Parquet file any more")

    found = engines[name].ids(dataset, FORMS[form])

    assert FOUND[form] + [30] * (len(needed) > len(FOUND[form])) == found
    with pytest.raises(Exception, match=r"Parquet|parquet"):
        engines[name].ids(plain, FORMS[form])


@pytest.mark.parametrize("name", ["duckdb", "datafusion"])
def test_null_in_a_list_makes_not_in_unknown_for_all_with_indexes_as_without(
    name: str, engines: dict[str, Asked], tmp_path: Path
) -> None:
    data = pa.Table.from_pylist([{"id": 0, "nation": "a", "amount": 1.0}, {"id": 1}], schema=SCHEMA)
    (tmp_path / "0.parquet").write_bytes(with_record(data, ["a"]))

    assert [] == engines[name].ids(open_indexed(tmp_path), ["not in", "nation", ["b", None]])
    assert [0] == engines[name].ids(open_indexed(tmp_path), ["in", "nation", ["a", None]])


def test_a_condition_that_datafusion_knows_to_be_false_finds_nothing(
    engines: dict[str, Asked], tmp_path: Path
) -> None:
    """It hands Arrow's datasets a scalar for a filter, which they refuse."""
    data = pa.Table.from_pylist([{"id": 0, "nation": "a", "amount": 1.0}], schema=SCHEMA)
    (tmp_path / "0.parquet").write_bytes(with_record(data, ["a"]))
    never = ["and", ["=", "nation", "a"], ["=", "nation", "b"]]

    assert without_indexes(engines["datafusion"], pads.dataset(tmp_path), never) is None
    assert [] == engines["datafusion"].ids(open_indexed(tmp_path), never)


def test_a_collation_of_duckdb_is_not_decided_byte_by_byte(tmp_path: Path) -> None:
    data = pa.Table.from_pylist([{"id": 0, "nation": "PERU", "amount": 1.0}], schema=SCHEMA)
    (tmp_path / "0.parquet").write_bytes(with_record(data, ["PERU"]))
    connection = duckdb.connect()
    connection.register("lake", open_indexed(tmp_path))

    for condition in ("nation collate nocase = 'peru'", "lower(nation) = 'peru'", "nation ilike 'pe%'"):
        assert [(0,)] == connection.execute(f"select id from lake where {condition}").fetchall()
    connection.execute("set default_collation = 'nocase'")
    assert [(0,)] == connection.execute("select id from lake where nation = 'peru'").fetchall()


@pytest.mark.parametrize(
    "kind", [pa.large_string(), pa.dictionary(pa.int32(), pa.string()), pa.string_view()], ids=str
)
@pytest.mark.parametrize("name", ENGINES)
def test_text_of_every_arrow_type_is_found_or_refused_as_without_indexes(
    name: str, kind: pa.DataType, engines: dict[str, Asked], tmp_path: Path
) -> None:
    for number, value in enumerate(("Peru", "Chad")):
        column = pa.array([value], pa.string()).cast(kind)
        data = pa.table({"id": pa.array([number], pa.int64()), "nation": column, "amount": [1.0]})
        (tmp_path / f"{number}.parquet").write_bytes(with_record(data, [value]))

    def answer(dataset: Any) -> Any:
        try:
            return engines[name].ids(dataset, FORMS["="])
        except Exception as error:  # noqa: BLE001 - the engines share no class of errors
            return type(error)

    dataset = open_indexed(tmp_path)
    assert pads.dataset(tmp_path).schema.field("nation").type == kind
    assert answer(pads.dataset(tmp_path)) == answer(dataset)
    if not pa.types.is_string_view(kind):
        assert [0] == answer(dataset)


def test_files_replaced_after_opening_are_seen_by_a_dataset_that_is_opened_anew(tmp_path: Path) -> None:
    data = pa.Table.from_pylist([{"id": 0, "nation": "a", "amount": 1.0}], schema=SCHEMA)
    (tmp_path / "0.parquet").write_bytes(with_record(data, ["a"]))
    before = open_indexed(tmp_path)
    pq.write_table(data.set_column(1, "nation", pa.array(["b"])), tmp_path / "new")
    (tmp_path / "new").replace(tmp_path / "0.parquet")

    with pytest.warns(UserWarning, match="1 of 1 files"):
        after = open_indexed(tmp_path)

    assert 0 == before.count_rows(filter=pc.field("nation") == "b")
    assert 1 == after.count_rows(filter=pc.field("nation") == "b")


@pytest.mark.parametrize("name", ENGINES)
def test_what_the_guide_says_is_read_whole_is_read_whole(
    name: str, engines: dict[str, Asked], tmp_path: Path
) -> None:
    for number, value in enumerate(("Peru", "Chad")):
        data = pa.Table.from_pylist([{"id": number, "nation": value, "amount": 1.0}], schema=SCHEMA)
        (tmp_path / f"{number}.parquet").write_bytes(with_record(data, [value]))
    dataset = open_indexed(tmp_path)

    assert [0] == engines[name].joined(dataset, ["Peru"], "semi")
    assert [1] == engines[name].joined(dataset, ["Peru"], "anti")
    assert 0 == dataset.counters.skipped
    wanted = pc.field("nation").isin(["Peru"])
    assert [1] == engines["pyarrow"].ids(
        dataset.filter(~wanted | pc.field("nation").is_null()), ["is not null", "nation"]
    )
    assert 1 == dataset.counters.skipped
