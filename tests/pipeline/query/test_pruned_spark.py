"""Spark gets from a pruned scan the rows that it gets without, and those that were written."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from idx1_files import parquet
from indexed_lakes import entry, published, with_record, write_index_table
from pqassay.literals.predicate import keeps
from pqassay_spark.query.predicates import spark_condition
from pqassay_spark.query.pruned_scan import plan_read, spark_location
from spark_lakes import files_opened

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore::pqassay_reader.lake.indexed_dataset.IndexWarning"),
]

Tree = list[Any]

POOL = ("", "a", "A", "b", "ab", "a\nb", "a\r", "é日", "it's", "\\", "😀\t")
LIE = ("nowhere",)
"""What a bad index says that its file holds: who believes it loses rows."""

MODES = {
    "companion": ("good", "good", "good", "missing", "row count", "crc", "lossy", "no companion"),
    "published": ("vouched", "vouched", "missing", "row count"),
    "table": ("entry", "entry", "missing", "stale size", "stale time", "older run"),
}
KNOWN = {"good", "entry", "older run"}
"""Indexes by which all values of a file are known, nulls included."""


@dataclass(frozen=True)
class File:
    """A file to be written: its values, and how good its index is."""

    values: tuple[str | None, ...]
    index: str

    @property
    def is_known(self) -> bool:
        """Whether its index can be written and counts."""
        values = {value for value in self.values if value is not None}
        fits = values != {""} and not any("\n" in value for value in values)
        return self.index in KNOWN and (fits or self.index != "good")

    def may_match(self, tree: Tree) -> bool:
        """Whether a condition on nations may be true of a row, by what an index can say."""
        values = set(self.values) or {None}  # of a file of nothing but null, there is no word
        return any(keeps(tree, {"nation": value}) for value in values)


@dataclass(frozen=True)
class LakeFiles:
    """Files, how their indexes are found, and whether they are in the folders of partitions."""

    mode: str
    files: tuple[File, ...]
    is_partitioned: bool

    def name(self, number: int) -> str:
        return f"p={number % 2}/{number}.parquet" if self.is_partitioned else f"{number}.parquet"

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [row for number in range(len(self.files)) for row in self.rows_of(number)]

    def rows_of(self, number: int) -> list[dict[str, Any]]:
        values = self.files[number].values
        return [{"id": number * 10 + row, "nation": value} for row, value in enumerate(values)]


@st.composite
def lakes(draw: st.DrawFn) -> LakeFiles:
    mode = draw(st.sampled_from(sorted(MODES)))
    one = st.builds(
        File,
        st.lists(st.one_of(st.none(), st.sampled_from(POOL)), max_size=4).map(tuple),
        st.sampled_from(MODES[mode]),
    )
    return LakeFiles(mode, tuple(draw(st.lists(one, min_size=3, max_size=5))), draw(st.booleans()))


TEXT = st.sampled_from([*POOL, "nowhere", "z"])
LEAVES = st.one_of(
    st.tuples(st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), st.just("nation"), st.none() | TEXT),
    st.tuples(st.sampled_from(["in", "not in"]), st.just("nation"), st.lists(st.none() | TEXT, max_size=4)),
    st.tuples(st.sampled_from(["in", "not in"]), st.just("nation"), st.lists(TEXT, min_size=1, max_size=9)),
    st.tuples(st.sampled_from(["is null", "is not null"]), st.just("nation")),
    st.tuples(st.sampled_from(["=", "!=", "<", ">"]), st.just("id"), st.integers(0, 45)),
).map(list)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        inner.map(lambda part: ["not", part]),
        st.tuples(st.sampled_from(["and", "or"]), inner, inner).map(list),
    ),
    max_leaves=4,
)


@contextmanager
def written(lake: LakeFiles) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The folder, and how it is read."""
    with tempfile.TemporaryDirectory() as home:
        root = Path(home, "a lake%20")
        for number, file in enumerate(lake.files):
            path = root / lake.name(number)
            path.parent.mkdir(parents=True, exist_ok=True)
            schema = pa.table({"id": pa.array([], pa.int64()), "nation": pa.array([], pa.string())}).schema
            path.write_bytes(content(file, pa.Table.from_pylist(lake.rows_of(number), schema=schema)))
        if lake.mode == "table":
            write_entries(root, lake)
        ways = {
            "companion": {},
            "published": {"trust": "published", "column": "nation"},
            "table": {"table": "auto"},
        }
        yield root, ways[lake.mode]


def content(file: File, data: pa.Table) -> bytes:
    """The bytes of a file, with the index that it is to have."""
    values = sorted({value for value in file.values if value is not None})
    match file.index:
        case "good" if file.is_known:
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


def write_entries(root: Path, lake: LakeFiles) -> None:
    first, second = [], []
    for number, file in enumerate(lake.files):
        name = lake.name(number)
        if file.index == "entry":
            first.append(entry(root, name, "nation", file.values))
        elif file.index == "stale size":
            first.append(entry(root, name, "nation", LIE, size=1))
        elif file.index == "stale time":
            first.append(entry(root, name, "nation", LIE, modified=1))
        elif file.index == "older run":
            first.append(entry(root, name, "nation", LIE))
            second.append(entry(root, name, "nation", file.values))
    write_index_table(root.with_name(f"{root.name}.index"), *first, run=1)
    write_index_table(root.with_name(f"{root.name}.index"), *second, run=2)


def ids(frame: DataFrame) -> list[int]:
    return sorted(row.id for row in frame.select("id").collect())


def anti(values: Sequence[str]) -> Tree:
    """The condition of an anti-join: null, which NOT IN loses, finds no partner."""
    return ["or", ["not", ["in", "nation", list(values)]], ["is null", "nation"]]


SETTINGS = settings(
    max_examples=4,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@given(
    lake=lakes(),
    trees=st.lists(TREES, min_size=5, max_size=7),
    wanted=st.lists(TEXT, min_size=1, max_size=4, unique=True),
)
@example(
    lake=LakeFiles(
        "companion",
        (
            File(("a", "b"), "good"),
            File(("b",), "good"),
            File((None, "b"), "good"),
            File(("é日", "A"), "good"),
            File((), "good"),
            File(("a", "a\nb"), "good"),
            File(("b",), "lossy"),
        ),
        True,
    ),
    trees=[
        ["=", "nation", "a"],
        ["not in", "nation", ["b", "a"]],
        ["not in", "nation", ["b", None]],
        ["!=", "nation", "b"],
        ["is null", "nation"],
        ["or", ["=", "nation", "A"], ["is null", "nation"]],
        ["and", [">=", "nation", "b"], ["<", "id", 21]],
        ["not", ["or", ["<", "nation", "b"], ["=", "nation", "é日"]]],
    ],
    wanted=["b", "a\nb"],
)
@SETTINGS
def test_spark_finds_the_rows_that_were_written_and_opens_only_files_that_may_hold_some(
    spark: SparkSession, lake: LakeFiles, trees: list[Tree], wanted: list[str]
) -> None:
    trees = [*trees, ["in", "nation", wanted], anti(wanted)]
    with written(lake) as (root, way):
        plain = spark.read.schema("id long, nation string").parquet(spark_location(root))
        answers = [
            spark_condition(tree, plain.schema).alias(f"c{number}") for number, tree in enumerate(trees)
        ]
        unpruned = plain.select("id", *answers).collect()
        for number, tree in enumerate(trees):
            truth = [row["id"] for row in lake.rows if keeps(tree, row)]
            plan = plan_read(spark, root, tree, schema="id long, nation string", **way)
            rows = plan.frame.select("id")
            assert truth == sorted(row.id for row in unpruned if row[f"c{number}"])
            assert truth == sorted(row.id for row in rows.collect())
            assert plan.files == len(lake.files)
            opened = files_opened(rows)
            # Spark knows without any file that a condition that contradicts itself finds nothing.
            assert opened == plan.files - len(plan.skipped) or (opened == 0 and not truth)
            if "'id'" not in str(tree):
                hopeless = [
                    lake.name(number)
                    for number, file in enumerate(lake.files)
                    if file.is_known and not file.may_match(tree)
                ]
                assert set(hopeless) <= set(plan.skipped)


@given(
    lake=lakes(),
    wanted=st.lists(TEXT, min_size=1, max_size=4, unique=True),
    how=st.sampled_from(["semi", "anti"]),
)
@example(
    lake=LakeFiles(
        "companion", (File(("a",), "good"), File((None, "b"), "good"), File(("b",), "good")), False
    ),
    wanted=["a"],
    how="anti",
)
@settings(SETTINGS, max_examples=2)
def test_joins_find_the_rows_that_were_written(
    spark: SparkSession, lake: LakeFiles, wanted: list[str], how: str
) -> None:
    others = spark.createDataFrame(pa.table({"nation": wanted})).hint("broadcast")
    tree = ["in", "nation", wanted] if how == "semi" else anti(wanted)
    truth = [row["id"] for row in lake.rows if (row["nation"] in wanted) == (how == "semi")]
    with written(lake) as (root, way):
        pruned = plan_read(spark, root, tree, schema="id long, nation string", **way).frame
        assert truth == ids(pruned.join(others, "nation", f"left_{how}"))
