"""Drawn files are what they say: written, kept as JSON, told as recipes, changed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given

import pqassay
from damage import tries
from pqassay.literals.predicate import Semantics
from pqassay.literals.rows import rows_difference
from pqassay_golden import recipes
from pqassay_golden.tiny import columns as tiny_columns
from pqassay_golden.tiny import parquet as tiny
from pqassay_spec.golden.literals import Value
from pqassay_spec.mutation.mutations import Mutation
from pqassay_spec.parquet import thrift
from pqassay_suite.drivers.arrow_values import rows_of
from pqassay_suite.exploring.changes import LIES, OPTIONAL, Lie
from pqassay_suite.exploring.drawing import Choices, questions
from pqassay_suite.exploring.drawn_file import DrawnColumn, DrawnFile, Question, QuestionError
from pqassay_suite.exploring.ingredients import ingredients, names_of
from pqassay_suite.exploring.kinds import KINDS
from pqassay_suite.exploring.recipe import recipe

NAMES = {**vars(thrift), **vars(recipes), **vars(tiny_columns), **vars(tiny), "Mutation": Mutation}
"""What a recipe may name: the modules of golden cases import all of it."""


def read(data: bytes, names: list[str]) -> Sequence[Sequence[Value]]:
    return rows_of(pq.read_table(BytesIO(data)), names)


@tries(40, database=None, suppress_health_check=list(HealthCheck))
@given(questions(Choices(list(KINDS), ["none", "snappy", "gzip"])))
def test_what_is_drawn_is_written_and_kept(asked: list[Question]) -> None:
    file = asked[0].file
    names = [column.name for column in file.columns]

    assert "" == rows_difference(asked[0].truth(Semantics()), read(file.written(), names))
    for question in asked:
        again = Question.from_json(question.to_json())
        assert question.to_json() == again.to_json()
        assert names_of(question) == names_of(again)


@pytest.mark.parametrize("kind", KINDS)
def test_the_recipe_makes_the_same_rows(kind: str) -> None:
    column = DrawnColumn("c", kind, (*KINDS[kind].pool, None))
    file = DrawnFile(
        (column,), page_rows=2, row_group_rows=4, statistics=True, page_index=True, dictionary=True
    )
    question = Question(file, ("is not null", "c"), ("c",))
    made = eval(recipe(question, "pqf/explored", "Explored"), NAMES)

    wanted = replace(question, predicate=None).truth(Semantics())
    assert "" == rows_difference(wanted, read(made.file.build(), ["c"]))
    assert 3 <= pq.read_metadata(BytesIO(made.file.build())).num_row_groups or len(column.values) < 9


def test_the_recipe_of_a_lie_is_a_mutation_of_a_valid_case() -> None:
    lie = Lie("an upper bound that is too low")
    file = DrawnFile((DrawnColumn("c", "int32", (1, 2)),), statistics=True, lie=lie)
    valid, lying = recipe(Question(file, ("=", "c", 2), ("c",)), "sta/explored", "Explored").rsplit("bad(", 1)

    assert "good" == valid.partition("(")[0]
    assert (
        Mutation("set", "footer.row_groups[0].columns[0].meta_data.statistics.max_value", b"\1\0\0\0")
        == eval(f"bad({lying}", NAMES).mutation
    )


FULL = DrawnFile(
    (DrawnColumn("c", "int32", (1, 5, None, 3, 9, 2)),),
    row_group_rows=4,
    page_rows=2,
    statistics=True,
    page_index=True,
    bloom=True,
)


@pytest.mark.parametrize("name", OPTIONAL)
def test_without_an_optional_field_a_file_is_smaller_and_valid(name: str, tmp_path: Path) -> None:
    data = replace(FULL, without=(name,)).written()
    (tmp_path / "data.parquet").write_bytes(data)

    assert len(data) < len(FULL.written())
    assert [] == [
        finding.rule
        for finding in pqassay.check(tmp_path / "data.parquet", tier="values").files[0].findings
        if finding.verdict == "FAIL"
    ]


@pytest.mark.parametrize("name", LIES)
def test_a_lie_breaks_a_rule_and_changes_no_row(name: str, tmp_path: Path) -> None:
    data = replace(FULL, lie=Lie(name)).written()
    (tmp_path / "data.parquet").write_bytes(data)

    assert read(FULL.written(), ["c"]) == read(data, ["c"])
    assert pqassay.check(tmp_path / "data.parquet", tier="values").files[0].outcome in (
        "untrue",
        "nonconformant",
    )


def test_each_ingredient_can_be_left_out() -> None:
    text = DrawnColumn("b", "string", ("a", "", "c"), optional=False, encoding="DELTA_BYTE_ARRAY")
    numbers = DrawnColumn("a", "double", (1.0, None, math.nan))
    file = DrawnFile((numbers, text), row_group_rows=2, codec="zstd", statistics=True)
    question = Question(file, ("and", (">", "a", -0.0), ("in", "b", ("a", "c"))), ("a", "b"))

    names = {
        *("several row groups", "the codec zstd", "statistics", "a column of floats", "null", "NaN"),
        *("a column of string", "a required column", "the encoding DELTA_BYTE_ARRAY", "empty value"),
        *("a conjunction", "a comparison by order", "an equality", "a list of values"),
        "negative zero in the query",
    }
    assert names == names_of(question)
    for each in ingredients(question):
        other = each.left_out()
        if other is not None and (other.predicate or " ")[0] == "and":
            assert each.name not in names_of(other)


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"file": {"columns": []}, "predicate": null, "columns": []}']
)
def test_another_text_is_not_a_question(text: str) -> None:
    with pytest.raises(QuestionError):
        Question.from_json(text)
