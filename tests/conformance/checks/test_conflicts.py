"""One damage is one finding, and two damages are two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, combinations
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from recall_answers import OF_FILES, OF_TABLES

import pqassay
from each import each
from idx1_files import edited, parquet
from places import GOLDEN_FILES
from pqassay.checks import registry
from pqassay.checks.conflicts import _UNNAMED, LEFT_TO, Conflict, explained
from pqassay.under_test.violation import Violation
from pqassay_spec.mutation.file_dissection import take_apart
from pqassay_spec.mutation.file_layout import put_together
from pqassay_spec.mutation.mutations import Mutation, mutate
from pqassay_spec.parquet.thrift import FileMetaData, IntType, JsonType, LogicalType, StringType
from pqassay_spec.rules.catalogue import rules
from steps import calls_of

CHUNK = "row_groups[0].columns[{}]"
STATISTICS = "footer.row_groups[0].columns[{}].meta_data.statistics"


def found(data: bytes, skip: Sequence[str] = ()) -> list[str]:
    """The rules of the findings."""
    (file,) = pqassay.check(data, tier="values", skip=skip).files
    return [finding.rule for finding in file.findings]


def mutated(name: str, *mutations: Mutation) -> bytes:
    data = (GOLDEN_FILES / name / "data.parquet").read_bytes()
    for mutation in mutations:
        data = mutate(data, mutation)
    return data


@each(
    ("name", "mutation", "rule"),
    [
        ("sta/audited", Mutation("set", f"{CHUNK.format(1)}.column_index.null_counts[0]", -1), "PIX-053"),
        ("pix/three-pages-v2", Mutation("set", f"{CHUNK.format(0)}.column_index.null_counts[1]", 2), "PIX-053"),
        ("sta/audited", Mutation("set", f"{STATISTICS.format(1)}.null_count", -1), "STA-010"),
        ("sta/audited", Mutation("add", f"{STATISTICS.format(1)}.null_count", 1), "STA-043"),
        ("sta/audited", Mutation("set", f"{CHUNK.format(1)}.column_index.null_pages[0]", True), "PIX-052"),
        ("pix/three-pages-v2", Mutation("add", f"{CHUNK.format(0)}.offset_index.page_locations[1].offset", 1), "PIX-040"),
        ("pix/histograms", Mutation("add", f"{CHUNK.format(1)}.offset_index.page_locations[1].first_row_index", 1), "PIX-054"),
        ("pix/three-pages-v2", Mutation("swap", f"{CHUNK.format(0)}.column_index.min_values[0]", f"{CHUNK.format(0)}.column_index.max_values[0]"), "PIX-024"),
        ("sta/audited", Mutation("swap", f"{STATISTICS.format(1)}.min_value", f"{STATISTICS.format(1)}.max_value"), "STA-006"),
        ("pix/audited-nan", Mutation("set", f"{CHUNK.format(1)}.column_index.nan_counts[0]", -1), "PIX-056"),
    ],
)  # fmt: skip
def test_one_false_number_is_one_finding(name: str, mutation: Mutation, rule: str) -> None:
    assert [rule] == found(mutated(name, mutation))


def test_a_consequence_is_told_where_its_cause_is_not_tested() -> None:
    data = mutated("sta/audited", Mutation("set", f"{CHUNK.format(1)}.column_index.null_counts[0]", -1))

    assert ["PIX-028"] == found(data, skip=["PIX-053"])


def test_a_consequence_in_another_row_group_is_told() -> None:
    second = "row_groups[1].columns[0]"
    data = mutated(
        "pix/ordered-three-ways",
        Mutation("swap", f"{CHUNK.format(0)}.column_index.min_values[1]", f"{CHUNK.format(0)}.column_index.max_values[1]"),
        Mutation("set", f"{second}.column_index.max_values[2]", (200).to_bytes(4, "little")),
    )  # fmt: skip

    assert ["PIX-024", "PIX-051"] == found(data)


def annotated(table: pa.Table, *types: LogicalType, **options: Any) -> bytes:
    """The file of a table, its columns annotated as something else."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, **options)
    tree = take_apart(sink.getvalue().to_pybytes())
    for element, logical in zip(tree.footer.schema[1:], types, strict=True):
        element.logicalType = logical
    return put_together(tree)


def test_columns_with_false_annotations_are_findings_of_their_own() -> None:
    table = pa.table({"a": pa.array([1, 200], pa.int32()), "b": pa.array([b"{", b"}"])})
    small = LogicalType(INTEGER=IntType(bitWidth=8, isSigned=True))
    data = annotated(table, small, LogicalType(JSON=JsonType()), store_schema=False)

    assert {"PQF-096", "PQF-102"} == set(found(data)) - {"PQF-028"}


def test_a_false_annotation_is_not_reported_for_bounds_and_the_copy_of_the_schema_as_well() -> None:
    data = annotated(pa.table({"a": pa.array([b"\xff\xfe"])}), LogicalType(STRING=StringType()))

    assert {"PQF-101"} == set(found(data)) - {"PQF-028"}
    assert {"STA-018", "PQF-113"} <= set(found(data, skip=["PQF-101"]))


def test_what_is_left_out_names_its_cause_and_the_rule_that_speaks_names_the_others() -> None:
    data = mutated("sta/audited", Mutation("add", f"{STATISTICS.format(1)}.null_count", 1))
    report = pqassay.check(data, tier="values")
    (file,), (coverage,) = report.files, report.coverages.values()

    assert "STA-043 is broken" == coverage.not_checked["PIX-028"].reason
    assert "another rule" == coverage.not_checked["PIX-028"].obstacle
    assert [("STA-043", ["PIX-028", "STA-020"])] == [
        (finding.rule, finding.also) for finding in file.findings
    ]


PARENT = "sta/audited"

DAMAGES = {
    "STA-043": Mutation("add", f"{STATISTICS.format(1)}.null_count", 1),
    "STA-006": Mutation("swap", f"{STATISTICS.format(0)}.min_value", f"{STATISTICS.format(0)}.max_value"),
    "PIX-053": Mutation("set", f"{CHUNK.format(1)}.column_index.null_counts[0]", -1),
    "PIX-040": Mutation("add", f"{CHUNK.format(0)}.offset_index.page_locations[0].offset", 1),
    "PQF-013": Mutation("set", "footer.row_groups[0].columns[0].meta_data.type", 1),
    "PQF-011": Mutation("set", "footer.version", 99),
}
"""Damages of one file, each by the rule that speaks for it."""


@each(("first", "second"), [*combinations(DAMAGES, 2)])
def test_two_damages_are_two_findings(first: str, second: str) -> None:
    rules = found(mutated(PARENT, DAMAGES[first], DAMAGES[second]))

    assert {first, second} <= set(rules)


def test_the_fields_of_a_rule_are_fields_that_can_be_false() -> None:
    fields = [rule.field for rule in rules().values()]
    fields += [
        _UNNAMED.sub("", kind.field.rpartition(": ")[2].replace("[]", ""))
        for kept in (OF_FILES, OF_TABLES)
        for kind in kept.found
    ]
    known = {path for name in fields for path in (name, name.rpartition(".")[0])}
    named = {path for rule in rules().values() for path in (*rule.against, *rule.given)}

    assert set() == {path for path in named if path.replace("[*]", "").removeprefix("data.") not in known}


def conflict(rule: str, column: str | None, *fields: str, where: int | None = 0) -> Conflict:
    """A rule that is broken at some fields."""
    return Conflict.of(rule, rules()[rule].verdict, column, {where}, [Violation("", path) for path in fields])


def spoken(*conflicts: Conflict) -> dict[str, list[str]]:
    """The rules that speak, each with those for which it does."""
    return {speaker.rule.id: [one.rule.id for one in others] for speaker, others in explained(conflicts)}


ROWS, CHUNK_VALUES = "footer.row_groups[0].num_rows", "footer.row_groups[0].columns[0].meta_data.num_values"


def test_a_false_count_of_rows_speaks_for_all_that_is_compared_with_it() -> None:
    assert {"PQF-074": ["PQF-016", "PQF-017"]} == spoken(
        conflict("PQF-074", "a", ROWS),
        conflict("PQF-016", None, "footer.num_rows", where=None),
        conflict("PQF-017", "a", CHUNK_VALUES),
    )


def test_fields_of_another_column_or_row_group_explain_nothing() -> None:
    of_count = conflict("PQF-057", "a", CHUNK_VALUES)

    assert {"PQF-057": ["PQF-017"]} == spoken(of_count, conflict("PQF-017", "a", CHUNK_VALUES))
    assert {"PQF-057": [], "PQF-017": []} == spoken(
        conflict("PQF-057", "a", CHUNK_VALUES), conflict("PQF-017", "b", CHUNK_VALUES)
    )
    assert {"PQF-057": [], "PQF-017": []} == spoken(
        conflict("PQF-057", "a", CHUNK_VALUES), conflict("PQF-017", "a", CHUNK_VALUES, where=1)
    )


def test_what_is_taken_for_granted_is_blamed_for_many_conflicts_alone() -> None:
    blocks = [
        conflict("PM-060", "a", "blocks[0].column_chunks[0].codec"),
        conflict("PM-059", "a", "blocks[0].column_chunks[0].reserved"),
        conflict("PM-061", "a", "blocks[0].column_chunks[0].encodings"),
        conflict("PM-058", "a", "blocks[0].column_chunks[0].distinct_count"),
    ]

    assert 3 == len(spoken(*(replace(one, unexplained=set(one.where)) for one in blocks[:3])))
    assert 1 == len(spoken(*blocks))


def test_rules_that_speak_for_others_have_checks() -> None:
    assert {*LEFT_TO, *chain.from_iterable(LEFT_TO.values())} <= {*registry()}
    assert LEFT_TO.keys().isdisjoint(chain.from_iterable(LEFT_TO.values()))


def test_many_conflicts_are_explained_at_once() -> None:
    columns = [f"c{number}" for number in range(300)]
    many = [
        conflict(rule, column, path)
        for column in columns
        for rule, path in (
            ("PQF-017", CHUNK_VALUES),
            ("PQF-074", ROWS),
            ("PQF-071", "row_groups[0].columns[0].pages[0].body"),
        )
    ]
    speakers: list[Any] = []

    assert 400 * len(many) > calls_of(lambda: speakers.extend(explained(many)))
    assert len(many) == len(speakers) + sum(len(others) for _, others in speakers)


@pytest.mark.parametrize(
    ("element", "repetition", "version"),
    [
        ("i", 0, "1.0"),
        *((name, 0, version) for name in ("l", "element") for version in ("1.0", "2.0")),
        *((name, 1, version) for name in ("list", "key") for version in ("1.0", "2.0")),
    ],
)
def test_a_false_repetition_in_the_schema_is_one_finding(element: str, repetition: int, version: str) -> None:
    table = pa.table(
        {
            "i": [number if number % 7 else None for number in range(60)],
            "l": [[number, None] if number % 3 else None for number in range(60)],
            "m": pa.array(
                [[(f"a{number}", number)] for number in range(60)], pa.map_(pa.string(), pa.int64())
            ),
        }
    )
    options = {"data_page_version": version, "row_group_size": 20, "max_rows_per_page": 5}

    def change(metadata: FileMetaData) -> None:
        next(each for each in metadata.schema if each.name == element).repetition_type = repetition

    findings = pqassay.check(edited(parquet(table, **options), change), tier="values").files[0].findings
    assert ["PIX-029"] == [finding.rule for finding in findings if finding.verdict == "FAIL"]
