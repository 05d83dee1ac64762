"""Every engine gets from a dataset that prunes itself the rows that it gets without, and those that were written.

The truth is what was written, never what an engine says without an index: engines are wrong about some good files, too.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
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
from idx1_files import parquet
from indexed_lakes import entry, published, with_record, write_index_table
from pqassay.literals.predicate import keeps
from pqassay_reader.condition.rows import expression_of
from pqassay_reader.lake.indexed_dataset import IndexedDataset, open_indexed

ENGINES = ("duckdb", "datafusion", "polars", "pyarrow")


@pytest.fixture(scope="module")
def engines() -> dict[str, Asked]:
    return {"duckdb": DuckDB(), "datafusion": DataFusion(), "polars": Polars(), "pyarrow": PyArrow()}


# -------------------------------------------------------------------------------------------------------- the lakes


@dataclass(frozen=True)
class File:
    """A file to be written: its values, and how good its index is."""

    values: tuple[str | None, ...]
    index: str


POOL = ("", "a", "A", "b", "ab", "a\nb", "a\r", "é日", "it's")
LIE = ("nowhere",)
"""What a bad index says that its file holds: who believes it loses rows."""

MODES = {
    "companion": ("good", "good", "good", "missing", "row count", "crc", "lossy", "no companion"),
    "published": ("vouched", "vouched", "missing", "row count"),
    "table": ("entry", "entry", "missing", "stale size", "stale time", "older run"),
}
TRUSTED = {"good", "vouched", "entry", "older run"}


@st.composite
def lakes(draw: st.DrawFn) -> tuple[str, list[File]]:
    mode = draw(st.sampled_from(sorted(MODES)))
    one = st.builds(
        File,
        st.lists(st.one_of(st.none(), st.sampled_from(POOL)), max_size=4).map(tuple),
        st.sampled_from(MODES[mode]),
    )
    return mode, draw(st.lists(one, min_size=2, max_size=5))


def rows_of(files: Sequence[File]) -> list[list[dict[str, Any]]]:
    amounts = (0.0, float("nan"), -1.5, None, -0.0, float("inf"))
    return [
        [
            {"id": number * 10 + row, "nation": value, "amount": amounts[(number + row) % len(amounts)]}
            for row, value in enumerate(file.values)
        ]
        for number, file in enumerate(files)
    ]


def content(file: File, data: pa.Table) -> bytes:
    """The bytes of a file, with the index that it is to have."""
    values = sorted({value for value in file.values if value is not None})
    match file.index:
        case "good" if not any("\n" in value for value in values):
            return with_record(data, values)
        case "vouched":
            return published(data, values)
        case "row count":
            return with_record(data, LIE, row_count=len(file.values) + 1)
        case "crc":
            return with_record(data, LIE, crc32=7)
        case "lossy":
            return with_record(data, LIE, lossless=False)
        case "no companion":
            return published(data, LIE)
        case _:
            return parquet(data)


@contextmanager
def written(mode: str, files: Sequence[File]) -> Iterator[tuple[IndexedDataset, Any]]:
    """The dataset that prunes itself and Arrow's own, of the same files."""
    home = Path(tempfile.mkdtemp())
    try:
        root = home / "lake"
        root.mkdir()
        for number, (file, rows) in enumerate(zip(files, rows_of(files), strict=True)):
            data = pa.Table.from_pylist(rows, schema=SCHEMA)
            (root / f"{number}.parquet").write_bytes(content(file, data))
        if mode == "table":
            write_entries(root, files)
        dataset = open_indexed(
            root,
            trust="published" if mode == "published" else "companion",
            column="nation" if mode == "published" else None,
            table="auto" if mode == "table" else None,
        )
        yield dataset, pads.dataset(root)
    finally:
        shutil.rmtree(home)


def write_entries(root: Path, files: Sequence[File]) -> None:
    first, second = [], []
    for number, file in enumerate(files):
        name = f"{number}.parquet"
        if file.index == "entry":
            first.append(entry(root, name, "nation", file.values))
        elif file.index == "stale size":
            first.append(entry(root, name, "nation", LIE, size=1))
        elif file.index == "stale time":
            first.append(entry(root, name, "nation", LIE, modified=1))
        elif file.index == "older run":
            first.append(entry(root, name, "nation", LIE))
            second.append(entry(root, name, "nation", file.values))
    write_index_table(root.with_name("lake.index"), *first, run=1)
    write_index_table(root.with_name("lake.index"), *second, run=2)


TEXT = st.sampled_from([*POOL, "nowhere", "z"])
LEAVES = st.one_of(
    st.tuples(st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), st.just("nation"), TEXT),
    st.tuples(st.sampled_from(["in", "not in"]), st.just("nation"), st.lists(TEXT, min_size=1, max_size=4)),
    st.tuples(st.sampled_from(["is null", "is not null"]), st.just("nation")),
    st.tuples(st.sampled_from(["=", "!=", "<", ">"]), st.just("id"), st.integers(0, 45)),
).map(list)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        inner.map(lambda part: ["not", part]),
        st.tuples(st.sampled_from(["and", "or"]), inner, inner).map(list),
    ),
    max_leaves=3,
)


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
@given(lake=lakes(), trees=st.lists(TREES, min_size=3, max_size=3))
@SETTINGS
def test_every_engine_finds_the_rows_that_were_written_whatever_the_indexes_are_like(
    engines: dict[str, Asked], lake: tuple[str, list[File]], trees: list[Tree]
) -> None:
    mode, files = lake
    rows = [row for rows in rows_of(files) for row in rows]
    nation_of = {row["id"]: row["nation"] for row in rows}
    with written(mode, files) as (dataset, plain):
        for tree in trees:
            truth = [row["id"] for row in rows if keeps(tree, row)]
            for name, engine in engines.items():
                found = engine.ids(dataset, tree)
                assert without_indexes(engine, plain, tree) in (found, None), name
                if name in NULL_IS_IN_NO_LIST and has_negated_membership(tree):
                    found = [number for number in found if number in truth or nation_of[number] is not None]
                assert truth == found, name


@pytest.mark.filterwarnings("ignore::pqassay_reader.lake.indexed_dataset.IndexWarning")
@given(lake=lakes(), values=st.lists(TEXT, min_size=1, max_size=3, unique=True))
@SETTINGS
def test_every_engine_skips_each_file_whose_trusted_index_holds_none_of_the_values(
    engines: dict[str, Asked], lake: tuple[str, list[File]], values: list[str]
) -> None:
    mode, files = lake
    if any("\n" in value for value in values) and mode == "published":
        values = ["a"]
    tree: Tree = ["in", "nation", values] if len(values) > 1 else ["=", "nation", values[0]]
    with written(mode, files) as (dataset, _):
        hopeless = [
            number
            for number, file in enumerate(files)
            if file.index in TRUSTED and not set(values) & pieces(mode, file) and is_usable(file)
        ]
        pruning = dataset.prune(expression_of(tree, SCHEMA))
        assert hopeless == sorted(int(Path(path).stem) for path in pruning.skipped)
        for path in pruning.skipped:
            Path(path).write_bytes(b"no Parquet file any more")
        rows = [row for rows in rows_of(files) for row in rows]
        truth = [row["id"] for row in rows if keeps(tree, row)]
        for name, engine in engines.items():
            before = dataset.counters.skipped
            assert truth == engine.ids(dataset, tree), name
            assert dataset.counters.skipped - before >= len(hopeless), name


def pieces(mode: str, file: File) -> set[str]:
    values = {value for value in file.values if value is not None}
    return {piece for value in values for piece in value.split("\n")} if mode == "published" else values


def is_usable(file: File) -> bool:
    """Whether the index that the file is to have can be written and trusted: see the chapter on lossy shapes."""
    values = sorted({value for value in file.values if value is not None})
    if file.index == "good":
        return values != [""] and not any("\n" in value for value in values)
    if file.index == "vouched":
        payload = "\n".join(values)
        return (
            not (bool(file.values) and not payload) and "\r\n" not in payload and not payload.endswith("\n")
        )
    return True


@pytest.mark.filterwarnings("ignore::pqassay_reader.lake.indexed_dataset.IndexWarning")
@given(
    lake=lakes(),
    wanted=st.lists(TEXT, min_size=1, max_size=3, unique=True),
    how=st.sampled_from(["semi", "anti"]),
)
@settings(SETTINGS, max_examples=max(12 // EXAMPLES, 4))
def test_joins_find_the_rows_that_were_written(
    engines: dict[str, Asked], lake: tuple[str, list[File]], wanted: list[str], how: str
) -> None:
    """Nulls survive an anti-join, where NOT IN would drop them."""
    mode, files = lake
    rows = [row for rows in rows_of(files) for row in rows]
    truth = [row["id"] for row in rows if (row["nation"] in wanted) == (how == "semi")]
    with written(mode, files) as (dataset, plain):
        for name, engine in engines.items():
            assert truth == engine.joined(dataset, wanted, how) == engine.joined(plain, wanted, how), name


@pytest.mark.filterwarnings("ignore::pqassay_reader.lake.indexed_dataset.IndexWarning")
@given(
    lake=lakes(),
    text=LEAVES,
    comparison=st.sampled_from(["=", "!=", "<", "<=", ">", ">="]),
    number=st.sampled_from([0.0, -0.0, 1.5, float("inf")]),
    negated=st.booleans(),
    joined=st.sampled_from(["and", "or"]),
)
@settings(SETTINGS, max_examples=max(12 // EXAMPLES, 4))
def test_conditions_on_floats_find_with_indexes_what_they_find_without(
    engines: dict[str, Asked],
    lake: tuple[str, list[File]],
    text: Tree,
    comparison: str,
    number: float,
    negated: bool,
    joined: str,
) -> None:
    """Each engine decides what NaN is like: see the next test. No index may change it."""
    mode, files = lake
    if number == float("inf"):
        number = 1e308
    amount: Tree = [comparison, "amount", number]
    tree: Tree = [joined, ["not", amount] if negated else amount, text]
    with written(mode, files) as (dataset, plain):
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
