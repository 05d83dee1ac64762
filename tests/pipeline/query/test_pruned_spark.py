"""Spark gets from a pruned scan the rows that it gets without, and those that were written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from asked_engines import Tree
from drawn_lakes import TEXT, File, LakeFiles, lakes, leaves, trees
from pqassay.literals.predicate import keeps
from pqassay_spark.query.predicates import spark_condition
from pqassay_spark.query.pruned_scan import plan_read, spark_location
from spark_lakes import files_opened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore::pqassay_reader.lake.indexed_dataset.IndexWarning"),
]

LAKES = lakes(st.booleans())
TREES = trees(leaves(st.none() | TEXT, least=0), 4)
KNOWN = {"good", "entry", "older run"}
"""Indexes by which all values of a file are known, nulls included."""


def is_hopeless(file: File, tree: Tree) -> bool:
    """Whether the index of a file counts, and says that a condition on nations is true of no row."""
    is_known = file.index in KNOWN and (file.fits or file.index != "good")
    values = set(file.values) or {None}  # of a file of nothing but null, there is no word
    return is_known and not any(keeps(tree, {"nation": value}) for value in values)


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
    lake=LAKES,
    asked=st.lists(TREES, min_size=5, max_size=7),
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
    asked=[
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
    spark: SparkSession, lake: LakeFiles, asked: list[Tree], wanted: list[str]
) -> None:
    asked = [*asked, ["in", "nation", wanted], anti(wanted)]
    with lake.written() as (root, way):
        plain = spark.read.schema("id long, nation string").parquet(spark_location(root))
        answers = [
            spark_condition(tree, plain.schema).alias(f"c{number}") for number, tree in enumerate(asked)
        ]
        unpruned = plain.select("id", *answers).collect()
        for number, tree in enumerate(asked):
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
                    lake.name(number) for number, file in enumerate(lake.files) if is_hopeless(file, tree)
                ]
                assert set(hopeless) <= set(plan.skipped)


@given(
    lake=LAKES,
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
    with lake.written() as (root, way):
        pruned = plan_read(spark, root, tree, schema="id long, nation string", **way).frame
        assert truth == ids(pruned.join(others, "nation", f"left_{how}"))
