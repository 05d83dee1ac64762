"""One damage is one finding, and two damages are two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
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
from pqassay_spec.mutation.file_tree import FileTree
from pqassay_spec.mutation.mutations import Mutation, mutate
from pqassay_spec.parquet.thrift import (
    FieldRepetitionType,
    FileMetaData,
    IntType,
    JsonType,
    LogicalType,
    StringType,
)
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
        for kind in kept.answers
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
    ("element", "repetition", "version", "rule"),
    [
        *(("i", 0, version, "PQF-071") for version in ("1.0", "2.0")),
        *((name, 0, version, "STA-090") for name in ("l", "element") for version in ("1.0", "2.0")),
        *((name, 1, version, "PQF-127") for name in ("list", "key") for version in ("1.0", "2.0")),
    ],
)
def test_a_false_repetition_in_the_schema_is_one_finding(
    element: str, repetition: int, version: str, rule: str
) -> None:
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
    assert [rule] == [finding.rule for finding in findings if finding.verdict == "FAIL"]


NUMBERS = pa.table(
    {
        "fixed": pa.array([bytes([number] * 8) for number in range(50)], pa.binary(8)),
        "price": pa.array([Decimal(number) / 100 for number in range(50)], pa.decimal128(18, 2)),
        "count": pa.array([number if number % 3 else None for number in range(50)], pa.int32()),
        "name": pa.array([str(number) if number else None for number in range(50)]),
    }
)
EACH_FORM = pytest.mark.parametrize(
    ("version", "dictionary"), [(version, flag) for version in ("1.0", "2.0") for flag in (True, False)]
)


def failures(change: Callable[[FileTree], None], **options: Any) -> list[tuple[str, str]]:
    """The failures in a file after a change: the rule, and the field at which it is broken."""
    tree = take_apart(parquet(NUMBERS, write_page_index=True, store_schema=False, **options))
    change(tree)
    findings = pqassay.check(put_together(tree), tier="values").files[0].findings
    return [(finding.rule, finding.at[0].field) for finding in findings if finding.verdict == "FAIL"]


@EACH_FORM
@pytest.mark.parametrize("column", [0, 1])
@pytest.mark.parametrize("length", [1, 7])
def test_a_type_length_that_is_too_small_is_one_finding(
    version: str, dictionary: bool, column: int, length: int
) -> None:
    def change(tree: FileTree) -> None:
        tree.footer.schema[column + 1].type_length = length

    expected = ("PQF-086" if dictionary else "PQF-078", f"footer.schema[{column + 1}].type_length")
    assert [expected] == failures(change, data_page_version=version, use_dictionary=dictionary)


@EACH_FORM
@pytest.mark.parametrize("column", [2, 3])
def test_a_column_of_nulls_that_is_said_to_be_required_is_one_finding(
    version: str, dictionary: bool, column: int
) -> None:
    def change(tree: FileTree) -> None:
        tree.footer.schema[column + 1].repetition_type = FieldRepetitionType.REQUIRED

    expected = ("PQF-071", f"footer.schema[{column + 1}].repetition_type")
    assert [expected] == failures(change, data_page_version=version, use_dictionary=dictionary)


@pytest.mark.parametrize("dictionary", [True, False])
@pytest.mark.parametrize("codec", ["none", "snappy"])
def test_repetition_levels_that_only_the_header_counts_are_one_finding(dictionary: bool, codec: str) -> None:
    def change(tree: FileTree) -> None:
        header = tree.row_groups[0].columns[2].pages[-1].header.data_page_header_v2
        assert header
        header.repetition_levels_byte_length = 2

    ((rule, field),) = failures(change, data_page_version="2.0", use_dictionary=dictionary, compression=codec)
    assert ("PQF-071", "repetition_levels_byte_length") == (rule, field.rpartition(".")[2])


def test_a_precision_below_the_scale_is_one_finding() -> None:
    def change(tree: FileTree) -> None:
        element = tree.footer.schema[2]
        assert element.logicalType
        assert element.logicalType.DECIMAL
        element.precision = element.logicalType.DECIMAL.precision = 1

    assert ["PQF-027"] == [rule for rule, _ in failures(change)]


@pytest.mark.parametrize("kind", ["column", "offset"])
@pytest.mark.parametrize("other", ["data_page_offset", "bloom_filter_offset"])
def test_an_index_at_the_place_of_another_structure_is_the_one_that_is_reported(
    kind: str, other: str
) -> None:
    field = f"footer.{CHUNK.format(0)}.{kind}_index_offset"
    facts = take_apart((GOLDEN_FILES / "blm/audited/data.parquet").read_bytes()).footer.row_groups[0]
    moved = mutated("blm/audited", Mutation("set", field, getattr(facts.columns[0].meta_data, other)))
    findings = pqassay.check(moved, tier="values").files[0].findings

    assert [("PQF-009", field)] == [
        (each.rule, each.at[0].field) for each in findings if each.verdict == "FAIL"
    ]
