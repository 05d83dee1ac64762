"""One damage is one finding: what follows from another finding is left out, and nothing else is."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import pqassay
from places import GOLDEN_FILES
from pqassay.checks import registry
from pqassay.checks.consequences import ACQUITTED, consequences
from pqassay_spec.mutation.mutations import Mutation, mutate
from pqassay_spec.rules.catalogue import VERDICTS, rules

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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("dir/value-of-nan", ["DIR-025"]),
        ("dir/rows-too-many", ["DIR-033"]),
        ("dir/nulls-beyond-rows", ["DIR-033"]),
        (
            "dir/bounds-swapped",
            ["DIR-034", "DIR-038"],
        ),  # in another row group a bound is false, and the two are in order
    ],
)
def test_values_do_not_say_again_what_is_wrong_with_the_structure_of_an_index(
    name: str, rules: list[str]
) -> None:
    assert rules == found((GOLDEN_FILES / name / "data.parquet").read_bytes())


def test_a_consequence_is_told_where_its_cause_is_not_tested() -> None:
    data = mutated("sta/audited", Mutation("set", f"{CHUNK.format(1)}.column_index.null_counts[0]", -1))

    assert ["PIX-028"] == found(data, skip=["PIX-053"])


def test_a_consequence_in_another_column_is_told() -> None:
    data = mutated(
        "sta/audited",
        Mutation("add", f"{STATISTICS.format(1)}.null_count", 1),
        Mutation("set", f"{STATISTICS.format(2)}.null_count", 99),
    )

    assert ["STA-010", "STA-043"] == found(data)


def test_a_consequence_in_another_row_group_is_told() -> None:
    second = "row_groups[1].columns[0]"
    data = mutated(
        "pix/ordered-three-ways",
        Mutation("swap", f"{CHUNK.format(0)}.column_index.min_values[1]", f"{CHUNK.format(0)}.column_index.max_values[1]"),
        Mutation("set", f"{second}.column_index.max_values[2]", (200).to_bytes(4, "little")),
    )  # fmt: skip

    assert ["PIX-024", "PIX-051"] == found(data)


def test_what_is_left_out_names_its_cause() -> None:
    data = mutated("sta/audited", Mutation("add", f"{STATISTICS.format(1)}.null_count", 1))
    report = pqassay.check(data, tier="values")
    (coverage,) = report.coverages.values()

    assert "STA-043 is broken" == coverage.not_checked["PIX-028"].reason
    assert "another rule" == coverage.not_checked["PIX-028"].obstacle


def test_a_cause_is_as_strong_as_what_follows_from_it_unless_it_acquits() -> None:
    strength = {rule.id: VERDICTS.index(rule.verdict) for rule in rules().values()}
    weaker = {
        (rule, cause)
        for rule, causes in consequences().items()
        for cause in causes
        if strength[cause] > strength[rule]
    }

    assert weaker == ACQUITTED


def test_consequences_are_rules_with_checks_and_no_circles() -> None:
    assert consequences().keys() | {cause for causes in consequences().values() for cause in causes} <= {
        *registry()
    }
    seen: set[str] = set()
    waiting = dict(consequences())
    while ready := [rule for rule, causes in waiting.items() if waiting.keys().isdisjoint(causes)]:
        seen.update(ready)
        for rule in ready:
            del waiting[rule]

    assert {} == waiting
