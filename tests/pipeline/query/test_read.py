from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import pqassay_spark
from pqassay_reference.errors import Refused
from pqassay_reference.rewrite.embed import embed_file
from pqassay_spark.query import pruned_scan
from pqassay_spark.query.predicates import read_predicate
from pqassay_spark.query.pruned_scan import PruningWarning, plan_read, spark_location
from spark_lakes import files_opened, rows_of, setting, write_file, write_lake

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FILES: dict[str, list[str | None]] = {
    "a.parquet": ["Peru", "Chad"],
    "b.parquet": ["Chad", "日本"],
    "c.parquet": ["Kenya", None],
    "d.parquet": ["it's", "two\ttabs\\"],
}


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_lake(tmp_path_factory.mktemp("lake"), FILES)


def native(spark: SparkSession, root: Path, condition: str) -> DataFrame:
    return spark.read.parquet(spark_location(root)).where(condition)


CONDITIONS = [
    ("nation = 'Peru'", 1),
    ("'Peru' = nation", 1),
    ("NATION = 'Peru'", 1),
    ('`nation` = "Peru"', 1),
    ("nation = 'Atlantis'", 0),
    ("nation IN ('Peru', '日本')", 2),
    ("nation != 'Chad'", 4),
    ("nation NOT IN ('Chad', 'Peru', '日本')", 2),
    ("nation NOT IN ('Chad', 'Peru', NULL)", 0),
    ("nation = 'Peru' OR nation = 'Kenya'", 2),
    ("nation = 'Peru' OR id = 'b.parquet 0'", 4),
    ("nation = 'Peru' AND id = 'a.parquet 0'", 1),
    ("NOT (nation != 'Peru' OR id = 'x')", 1),
    ("nation IS NULL", 1),
    ("nation IS NOT NULL", 4),
    ("NOT nation IS NULL AND nation < 'D'", 2),
    ("nation BETWEEN 'J' AND 'L'", 1),
    ("nation >= 'u'", 1),
    ("nation = NULL", 0),
    (r"nation = 'it\'s'", 1),
    (r"nation = 'two\ttabs\\'", 1),
    ("id = 'c.parquet 1'", 4),
]
"""Conditions, and how many files may hold a row that satisfies them."""


@pytest.fixture(scope="module")
def expected(spark: SparkSession, lake: Path) -> list[list[Any]]:
    """For each condition the rows that satisfy it, all found in one scan of all files."""
    answers = [f"({condition}) AS c{number}" for number, (condition, _) in enumerate(CONDITIONS)]
    rows = spark.read.parquet(spark_location(lake)).selectExpr("id", "nation", *answers).collect()
    return [
        sorted(((row.id, row.nation) for row in rows if row[f"c{number}"]), key=repr)
        for number in range(len(CONDITIONS))
    ]


@pytest.mark.spark
@pytest.mark.parametrize("number", range(len(CONDITIONS)), ids=[condition for condition, _ in CONDITIONS])
def test_the_rows_are_those_of_spark_and_only_files_that_may_hold_some_are_opened(
    spark: SparkSession, lake: Path, number: int, expected: list[list[Any]]
) -> None:
    condition, opened = CONDITIONS[number]
    frame = pqassay_spark.read(spark, lake, condition)
    assert expected[number] == rows_of(frame)
    assert opened == files_opened(frame)
    assert ["id", "nation"] == frame.columns


@pytest.mark.spark
def test_a_tree_is_as_good_as_text(spark: SparkSession, lake: Path) -> None:
    frame = pqassay_spark.read(spark, lake, ["or", ["in", "nation", ["Peru"]], ["is null", "nation"]])
    assert [("a.parquet 0", "Peru"), ("c.parquet 1", None)] == rows_of(frame)
    assert files_opened(frame) == 2
    nothing = pqassay_spark.read(spark, lake, ["in", "nation", []])
    assert rows_of(nothing) == []
    everything = pqassay_spark.read(spark, lake, ["not", ["in", "nation", []]])
    assert len(rows_of(everything)) == 8


@pytest.mark.spark
def test_an_anti_join_keeps_the_nulls_that_not_in_loses(spark: SparkSession, lake: Path) -> None:
    known = ["Chad", "Peru", "日本", "Kenya"]
    others = spark.sql(f"SELECT explode(array{tuple(known)}) AS nation")
    tree = ["or", ["not", ["in", "nation", known]], ["is null", "nation"]]
    plan = plan_read(spark, lake, tree)
    joined = plan.frame.join(others.hint("broadcast"), "nation", "left_anti").select("id")
    assert [("c.parquet 1",), ("d.parquet 0",), ("d.parquet 1",)] == rows_of(joined)
    assert plan.skipped == ("a.parquet", "b.parquet")


@pytest.mark.spark
def test_a_plan_tells_which_files_are_skipped_and_why(spark: SparkSession, lake: Path) -> None:
    plan = plan_read(spark, lake, "nation = 'Peru'")
    assert (4, ("b.parquet", "c.parquet", "d.parquet")) == (plan.files, plan.skipped)
    assert {"no value of nation satisfies it"} == set(plan.why.values())


ODD_NAMES = [
    "with space", "per%20cent", "per%", "a%2Fb", "br[a]", "st*r", "cur{x,y}", "ü日", "😀", "pl+us", "q?m", "h#sh",
    "am&p;x", "quo'te", "back\\slash", 'dou"ble', "e=mc2", "cafe\u0301",
]  # fmt: skip


@pytest.mark.spark
@pytest.mark.parametrize("folder", ["plain", "a b%20[é]{x}*日?^$\\w", "col:on %41"])
def test_files_and_folders_of_any_name_are_found(spark: SparkSession, tmp_path: Path, folder: str) -> None:
    root = write_lake(tmp_path / folder, {f"{name}.parquet": [f"of {name}", "x"] for name in ODD_NAMES})
    trees: list[Any] = [
        ["in", "nation", [f"of {name}" for name in ODD_NAMES[start::3]]] for start in range(3)
    ]
    most = ["not", ["in", "nation", ["x", *(f"of {name}" for name in ODD_NAMES[:3])]]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frames = [pqassay_spark.read(spark, root, tree) for tree in [*trees, most]]
    wanted = [len(ODD_NAMES[start::3]) for start in range(3)] + [len(ODD_NAMES) - 3]
    assert wanted == [len(rows_of(frame)) for frame in frames]
    assert wanted == [files_opened(frame) for frame in frames]


@pytest.mark.spark
def test_partition_columns_stay_and_are_filtered_by_spark(spark: SparkSession, tmp_path: Path) -> None:
    write_lake(tmp_path, {"n=1/a.parquet": ["Peru"], "n=1/b.parquet": ["Chad"], "n=2/c.parquet": ["Peru"]})
    frame = pqassay_spark.read(spark, tmp_path, "nation = 'Peru' AND n = 1")
    assert [("a.parquet 0", "Peru", 1)] == rows_of(frame)
    assert files_opened(frame) == 1
    assert [("a.parquet 0", "Peru", 1), ("c.parquet 0", "Peru", 2)] == rows_of(
        pqassay_spark.read(spark, tmp_path, "nation = 'Peru'")
    )


@pytest.mark.spark
def test_the_value_of_a_folder_goes_before_what_the_file_holds(spark: SparkSession, tmp_path: Path) -> None:
    write_lake(tmp_path, {"nation=Peru/a.parquet": ["Chad"], "nation=Kenya/b.parquet": ["Peru"]})
    frame = pqassay_spark.read(spark, tmp_path, "nation = 'Peru'")
    assert [("a.parquet 0", "Peru")] == rows_of(frame)


@pytest.mark.spark
def test_a_folder_above_the_root_may_be_a_partition_too(spark: SparkSession, tmp_path: Path) -> None:
    write_file(tmp_path / "lake" / "nation=Peru" / "a.parquet", ["Oman"])
    options = {"basePath": str(tmp_path / "lake")}

    plan = plan_read(spark, tmp_path / "lake" / "nation=Peru", "nation = 'Peru'", options=options)

    assert [("a.parquet 0", "Peru")] == rows_of(plan.frame)


@pytest.mark.spark
def test_a_uri_that_spark_takes_for_a_pattern_is_read_whole(spark: SparkSession, tmp_path: Path) -> None:
    write_file(tmp_path / "lake" / "a.parquet", ["Peru"])
    write_file(tmp_path / "lake" / "b.parquet", ["Chad"])

    plan = plan_read(spark, f"file:{tmp_path}/la*", "nation = 'Peru'")

    assert [("a.parquet 0", "Peru")] == rows_of(plan.frame)
    assert () == plan.skipped


@pytest.mark.spark
def test_files_that_spark_drops_beside_partitions_stay_dropped(spark: SparkSession, tmp_path: Path) -> None:
    write_lake(
        tmp_path,
        {
            "n=1/a.parquet": ["Peru"],
            "n=2/b.parquet": ["Chad"],
            "n=2/c.parquet": ["Kenya"],
            "root.parquet": ["Peru"],
            "_hidden/d.parquet": ["Peru"],
            ".hidden.parquet": ["Peru"],
        },
    )
    for condition, opened in {"nation = 'Peru'": 1, "nation != 'Peru'": 2, "nation > ''": 3}.items():
        frame = pqassay_spark.read(spark, tmp_path, condition)
        assert rows_of(native(spark, tmp_path, condition)) == rows_of(frame)
        assert opened == files_opened(frame)


@pytest.mark.spark
def test_files_that_only_spark_sees_are_read(spark: SparkSession, tmp_path: Path) -> None:
    write_lake(tmp_path, {"n=1/a": ["Peru"], "_n=2/b.parquet": ["Peru"], "_n=2/c.parquet": ["Chad"]})
    root = tmp_path / "only"
    (tmp_path / "_n=2").rename(tmp_path / "kept")
    write_lake(root, {"_k=1/a.parquet": ["Peru"], "_k=1/b.parquet": ["Chad"]})
    frame = pqassay_spark.read(spark, root, "nation = 'Peru'")
    assert rows_of(native(spark, root, "nation = 'Peru'")) == rows_of(frame) == [("a.parquet 0", "Peru", 1)]


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore:.*have no index that can be used")
def test_files_without_an_index_that_counts_are_read(spark: SparkSession, tmp_path: Path) -> None:
    write_lake(tmp_path, {"indexed.parquet": ["Chad"]})
    write_file(tmp_path / "none.parquet", ["Peru"], index=False)
    embed_file(write_file(tmp_path / "bare.parquet", ["Peru"], index=False), "nation", companion=False)
    embed_file(write_file(tmp_path / "other.parquet", ["Peru"], index=False), "id")
    write_file(tmp_path / "number.parquet", ["Peru"], index=False, more=[1])
    frame = pqassay_spark.read(spark, tmp_path, "nation = 'Peru'")
    assert [f"{name}.parquet 0" for name in ("bare", "none", "number", "other")] == [
        row[0] for row in rows_of(frame)
    ]
    assert files_opened(frame) == 4


@pytest.mark.spark
def test_a_bare_index_counts_where_the_caller_vouches_for_it(spark: SparkSession, tmp_path: Path) -> None:
    for name, nation in {"a": "Peru", "b": "Chad"}.items():
        path = write_file(tmp_path / f"{name}.parquet", [nation], index=False)
        embed_file(path, "nation", companion=False)
    frame = pqassay_spark.read(spark, tmp_path, "nation = 'Peru'", trust="published", column="nation")
    assert [("a.parquet 0", "Peru")] == rows_of(frame)
    assert files_opened(frame) == 1


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore:.*have no index that can be used")
def test_a_file_that_lacks_the_column_is_null_there(spark: SparkSession, tmp_path: Path) -> None:
    write_lake(tmp_path, {"a.parquet": ["Peru"], "b.parquet": ["Chad"]})
    pa.parquet.write_table(pa.table({"id": ["c 0"]}), tmp_path / "c.parquet")
    for condition in ("nation = 'Peru'", "nation IS NULL", "nation NOT IN ('Peru')", "NOT nation = 'Peru'"):
        frame = pqassay_spark.read(spark, tmp_path, condition)
        assert rows_of(native(spark, tmp_path, condition)) == rows_of(frame)


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore:.*have no index that can be used")
def test_a_column_that_files_spell_in_another_case_is_the_same_column(
    spark: SparkSession, tmp_path: Path
) -> None:
    write_lake(tmp_path, {"a.parquet": ["Peru"], "b.parquet": ["Chad"]})
    pa.parquet.write_table(pa.table({"id": ["c 0"], "Nation": ["Peru"]}), tmp_path / "c.parquet")
    embed_file(tmp_path / "c.parquet", "Nation")
    frame = pqassay_spark.read(spark, tmp_path, "nation = 'Peru'")
    assert [("a.parquet 0", "Peru"), ("c 0", "Peru")] == rows_of(frame)
    with setting(spark, "spark.sql.caseSensitive", "true"):
        with pytest.raises(Refused, match="there is no column NATION"):
            pqassay_spark.read(spark, tmp_path, "NATION = 'Peru'")
        frame = pqassay_spark.read(spark, tmp_path, "nation = 'Peru'")
        assert [("a.parquet 0", "Peru")] == rows_of(frame)


@pytest.mark.spark
def test_a_column_whose_collation_finds_equal_what_differs_is_not_pruned(
    spark: SparkSession, tmp_path: Path
) -> None:
    write_lake(tmp_path, {"a.parquet": ["PERU"], "b.parquet": ["Peru"]})
    frame = pqassay_spark.read(
        spark, tmp_path, "nation = 'peru'", schema="id string, nation string collate UTF8_LCASE"
    )
    assert [("a.parquet 0", "PERU"), ("b.parquet 0", "Peru")] == rows_of(frame)


@pytest.mark.spark
def test_constants_of_another_type_are_sparks_to_compare(spark: SparkSession, tmp_path: Path) -> None:
    write_lake(tmp_path, {"a.parquet": ["5"], "b.parquet": ["05"], "c.parquet": ["6"]})
    frame = pqassay_spark.read(spark, tmp_path, "nation = 5")
    assert [("a.parquet 0", "5"), ("b.parquet 0", "05")] == rows_of(frame)
    frame = pqassay_spark.read(spark, tmp_path, "nation = 5 AND nation = '5'")
    assert [("a.parquet 0", "5")] == rows_of(frame)
    assert files_opened(frame) == 1


@pytest.mark.spark
def test_a_spelling_that_spark_does_not_know_costs_time_and_no_rows(
    spark: SparkSession, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        pruned_scan, "SPELLINGS", (lambda entry: entry,)
    )  # file:///..., which matches nothing
    for condition in ("nation = 'Peru'", "nation != 'Peru' AND nation != 'Chad'"):
        with pytest.warns(PruningWarning, match="could be skipped, but Spark cannot select"):
            frame = pqassay_spark.read(spark, lake, condition)
        assert rows_of(native(spark, lake, condition)) == rows_of(frame)
        assert files_opened(frame) == 4


@pytest.mark.spark
def test_a_column_that_hides_the_paths_is_no_path(spark: SparkSession, tmp_path: Path) -> None:
    write_file(tmp_path / "a.parquet", ["Peru"], _metadata=["x"])
    write_file(tmp_path / "b.parquet", ["Chad"], _metadata=["x"])
    with pytest.warns(PruningWarning):
        frame = pqassay_spark.read(spark, tmp_path, "nation = 'Peru'")
    assert [("a.parquet 0", "Peru", "x")] == rows_of(frame)


@pytest.mark.spark
@pytest.mark.parametrize(
    ("predicate", "words"),
    [
        ("nation LIKE 'P%'", "is not supported.*apply it to the DataFrame"),
        ("upper(nation) = 'PERU'", "is not a column.*apply it to the DataFrame"),
        ("nation = 'Côte d''Ivoire'", "is not a constant"),
        ("nation = id", "is not a constant"),
        ("nation = DATE '2024-01-01'", "has a type, but the column is text"),
        ("planet = 'Peru'", "there is no column planet"),
        (["like", "nation", "P%"], "is not a predicate"),
        (["and"], "is not a predicate"),
        (["=", "nation", "\ud800"], "half a surrogate pair"),
        (["=", "id", 10**39], "more than 38 digits"),
    ],
)
def test_what_no_tree_can_say_is_refused(spark: SparkSession, lake: Path, predicate: Any, words: str) -> None:
    with pytest.raises(Refused, match=words):
        pqassay_spark.read(spark, lake, predicate)


@pytest.mark.spark
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("spark.sql.parser.escapedStringLiterals", r"nation = 'a\tb'"),
        ("spark.sql.ansi.doubleQuotedIdentifiers", "\"nation\" = 'Peru'"),
    ],
)
def test_text_that_a_setting_gives_another_meaning_is_refused(
    spark: SparkSession, lake: Path, name: str, text: str
) -> None:
    with setting(spark, name, "true"), pytest.raises(Refused, match=name):
        pqassay_spark.read(spark, lake, text)


ESCAPES = [rf"\{chr(code)}" for code in range(32, 127)]
ESCAPES += [r"\\n", r"\u0041", r"\U0001F600", r"\101", r"\012", r"\400", r"\07", r"\u00", "\\\n"]


@pytest.mark.spark
def test_a_backslash_means_what_it_means_to_spark(spark: SparkSession) -> None:
    texts = [f"'a{escape}b'" for escape in ESCAPES if escape != r"\'"] + [
        r"'it\'s'",
        r'"say \"x\""',
        '"it\'s"',
    ]
    (expected,) = spark.sql(
        f"SELECT {', '.join(f'{text} AS c{n}' for n, text in enumerate(texts))}"
    ).collect()
    found = [read_predicate(spark, f"a = {text}")[2] for text in texts]
    assert list(expected) == found


def test_a_name_that_the_package_has_not_is_said() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'no_such'"):
        pqassay_spark.no_such  # noqa: B018 - the access is what is tested
