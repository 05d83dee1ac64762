"""A known defect explains a finding only where its condition holds."""

from __future__ import annotations

from typing import Any

import pytest

import pqassay
from each import each
from places import GOLDEN_FILES
from pm_pairs import PmPair, generated, real, with_chunk
from pqassay.judge.explanations import CONDITIONS
from pqassay_spec.mutation.mutations import Mutation, mutate
from pqassay_spec.rules.quirks import quirks

FACTS = "footer.row_groups[0].columns[{}].meta_data"
ARROW, RUST, JAVA = (
    "parquet-cpp-arrow version 4.0.1",
    "parquet-rs version 58.0.0",
    "parquet-mr version 1.7.0 (build x)",
)
DUCKDB, POLARS = "DuckDB version v1.0.0 (build x)", "Polars (python) version 1.38.2 (build x)"


def set_to(path: str, to: Any) -> Mutation:
    return Mutation("set", path, to)


def explained(case: str, created_by: str, rule: str, *mutations: Mutation) -> set[bool]:
    """Whether the findings of a rule on a changed golden file are explained."""
    data = (GOLDEN_FILES / case / "data.parquet").read_bytes()
    for mutation in (set_to("footer.created_by", created_by), *mutations):
        data = mutate(data, mutation)
    (file,) = pqassay.check(data, tier="values", only=[rule]).files
    return {finding.explanation is not None for finding in file.findings}


def test_every_condition_is_known_and_used() -> None:
    assert {quirk.where for quirk in quirks()} - {""} == set(CONDITIONS)


NULLS = f"{FACTS}.statistics.null_count"
QUESTDB = "QuestDB version 9.0"
OLD_ARROW = "parquet-cpp-arrow version 0.9.0"
NOTHING = set_to("head.magic", b"PAR1")
SIZE = "footer.row_groups[0].total_byte_size"
LISTS = "interop/questdb-9.3.4/arrays-as-lists"


@each(
    ("case", "created_by", "rule", "mutation", "is_explained"),
    [
        ("sta/counted", ARROW, "STA-043", set_to(NULLS.format(0), 0), False),
        ("sta/audited-lists", ARROW, "STA-043", set_to(NULLS.format(1), 0), True),
        ("sta/audited-lists", ARROW, "STA-043", set_to(NULLS.format(1), 9), False),
        ("pqf/null-list-of-two", DUCKDB, "PQF-140", set_to("head.magic", b"PAR1"), True),
        ("pqf/empty-list-goes-on", DUCKDB, "PQF-140", set_to("head.magic", b"PAR1"), False),
        ("sta/audited-lists", ARROW, "STA-071", set_to(NULLS.format(1), 1), True),
        ("sta/counted", POLARS, "STA-043", set_to(NULLS.format(0), 2), True),
        ("sta/counted", POLARS, "STA-043", set_to(NULLS.format(0), 0), False),
        ("sta/counted", JAVA, "STA-006", set_to(f"{FACTS.format(0)}.statistics.min_value", b"zz"), True),
        ("sta/counted", JAVA, "STA-006", set_to(f"{FACTS.format(1)}.statistics.min_value", b"\xff\xff\xff\x7f"), False),
        ("sta/counted", JAVA, "STA-011", Mutation("remove", NULLS.format(0)), False),
        ("sta/counted", JAVA, "STA-011", set_to(f"{FACTS.format(0)}.statistics", {}), True),
        ("sta/counted", DUCKDB, "STA-002", Mutation("remove", "footer.column_orders[2]"), False),
        ("sta/counted", RUST, "PQF-019", set_to(SIZE, 7), False),
        ("pqf/dictionary-offset-missing", OLD_ARROW, "PQF-056", NOTHING, False),
        ("pqf/dictionary-offset-without-dictionary", OLD_ARROW, "PQF-056", NOTHING, True),
        ("pqf/dictionary-offset-missing", POLARS, "PQF-056", NOTHING, True),
        ("interop/questdb-9.4.3/all-types-1", QUESTDB, "PIX-052", NOTHING, True),
        ("interop/questdb-9.4.3/all-types-1", QUESTDB, "STA-043", set_to(NULLS.format(24), 3), False),
        (LISTS, QUESTDB, "PIX-052", NOTHING, True),
        (LISTS, QUESTDB, "STA-043", NOTHING, True),
        (LISTS, QUESTDB, "STA-050", NOTHING, True),
        (LISTS, RUST, "STA-043", NOTHING, False),
        ("sta/counted", QUESTDB, "STA-043", set_to(NULLS.format(0), 0), False),
    ],
)  # fmt: skip
def test_a_defect_explains_what_it_does(
    case: str, created_by: str, rule: str, mutation: Mutation, is_explained: bool
) -> None:
    assert {is_explained} == explained(case, created_by, rule, mutation)


def test_a_size_is_explained_where_it_is_that_of_the_compressed_chunks() -> None:
    changes = [set_to(f"{FACTS.format(0)}.total_uncompressed_size", 1_000), set_to(SIZE, 1_000)]
    kept = explained("sta/counted", RUST, "PQF-019", changes[0])

    assert {True} == kept
    assert {False} == explained("sta/counted", RUST, "PQF-019", *changes)


def explained_of_pm(pair: PmPair) -> dict[str | None, str | None]:
    """The columns of whose null counts something is found, each with the explanation."""
    report, _ = pair.report("values", ["PM-142"])
    return {finding.column: finding.explanation for finding in report.findings}


def test_pm_repeats_the_null_counts_of_arrays() -> None:
    """What `_pm` says comes from the Parquet file beside it, and so does the name of the writer."""
    pair = generated((GOLDEN_FILES / LISTS / "data.parquet").read_bytes())
    found = explained_of_pm(pair)

    assert ["ar.list.element", "ar2.list.list.list.element"] == list(found)
    assert all("counts null arrays" in (said or "") for said in found.values())


@pytest.mark.parametrize(
    ("column", "name", "count"),
    [(0, "ts", 1), (24, "ar", 3), (24, "ar", 5)],
    ids=["flat", "raw", "raw, more"],
)
def test_null_counts_of_other_columns_have_no_such_explanation(column: int, name: str, count: int) -> None:
    """In arrays in QuestDB's own encoding every null is a null array."""
    pair = real("questdb-9.4.3/all-types-1")
    wrong = pair.saying(with_chunk(pair.value, 0, column, null_count=count))

    assert {name: None} == explained_of_pm(wrong)


def test_null_counts_of_another_writer_have_no_such_explanation() -> None:
    pair = generated((GOLDEN_FILES / LISTS / "data.parquet").read_bytes())
    foreign = mutate(pair.data, set_to("footer.created_by", RUST))

    assert {None} == set(explained_of_pm(generated(foreign)).values())


def test_null_counts_that_are_too_large_have_no_such_explanation() -> None:
    pair = generated((GOLDEN_FILES / LISTS / "data.parquet").read_bytes())
    wrong = pair.saying(with_chunk(pair.value, 0, 1, null_count=9))

    assert explained_of_pm(wrong)["ar.list.element"] is None
