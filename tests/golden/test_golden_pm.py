"""The golden cases of ``_pm`` say what is so: literals, row groups that remain, what others make of the same Parquet file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest

from pqassay.literals.predicate import keeps, literal
from pqassay_golden.generator import cases
from pqassay_golden.pm import damaged as pm_damaged
from pqassay_golden.pm import data as pm_data
from pqassay_golden.pm import whole as golden_pm
from pqassay_golden.pm.recipes import PmBad, PmGood
from pqassay_golden.pm.values import AFTERNOON, EVENING, MORNING, MORNING_MENDED, size_of
from pqassay_golden.recipes import Made
from pqassay_reference.pm.generate import generate
from pqassay_reference.pm.query import plan, prune
from pqassay_reference.pm.read import PmReader
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.pm.value_json import from_json
from pqassay_spec.rules.catalogue import rules

GOOD = {case.id: case for case in (*golden_pm.GOOD, *pm_data.GOOD)}
BAD = {case.id: case for case in (*pm_damaged.BAD, *pm_data.BAD)}


@cache
def made() -> dict[str, Made]:
    """All cases, by their names."""
    found: dict[str, Made] = {}
    for recipe in cases():
        if isinstance(recipe, (PmGood, PmBad)):
            found[recipe.id] = recipe.make(found)
    return found


def test_a_reader_finds_the_literals() -> None:
    accepted = {name: case for name, case in made().items() if case.manifest.expect.decode == "accept"}

    assert len(accepted) > len(GOOD) / 2
    for name, case in accepted.items():
        assert from_json(case.manifest.expect.value or {}) == PmReader.from_bytes(case.data).value(), name


@pytest.mark.parametrize("name", GOOD)
def test_a_reader_finds_each_snapshot_by_the_size_of_the_parquet_file(name: str) -> None:
    for value in GOOD[name].file.snapshots:
        found = PmReader.from_bytes(made()[name].data, parquet_file_size=size_of(value))
        assert value == found.value()


def typed(predicate: Any) -> Any:
    """A predicate with Python's own values."""
    name, *parts = predicate
    if name in ("and", "or", "not"):
        return [name, *map(typed, parts)]
    if name in ("in", "not in"):
        return [name, parts[0], [literal(one) for one in parts[1]]]
    return [name, parts[0], *map(literal, parts[1:])]


@pytest.mark.parametrize("name", [name for name, case in GOOD.items() if case.prune or case.plan])
def test_row_groups_and_ranges_are_those_that_the_reference_finds(name: str) -> None:
    case = GOOD[name]
    for one in case.prune:
        size = None if one.snapshot is None else size_of(one.snapshot)
        reader = PmReader.from_bytes(made()[name].data, parquet_file_size=size)
        kept = one.must_keep if one.kept is None else one.kept
        assert list(kept) == prune(reader, typed(one.predicate))
    reader = PmReader.from_bytes(made()[name].data)
    for asked in case.plan:
        ranges = [list(found) for found in plan(reader, asked.columns, asked.row_groups)]
        assert asked.expectation(case.file.newest).ranges == ranges


ROWS: dict[str, Sequence[Sequence[tuple[Any, ...]]]] = {
    "pm/plain": [MORNING, AFTERNOON],
    "pm/bloom-filters": [MORNING, AFTERNOON, EVENING],
    "pm/three-snapshots": [MORNING_MENDED, AFTERNOON, EVENING],
}


@pytest.mark.parametrize("name", ROWS)
def test_row_groups_that_must_be_kept_are_those_with_rows_of_the_answer(name: str) -> None:
    names = [column.name for column in GOOD[name].file.newest.columns]
    for one in GOOD[name].prune:
        if one.snapshot is None:
            having = [
                number
                for number, rows in enumerate(ROWS[name])
                if any(keeps(one.predicate, dict(zip(names, row, strict=True))) for row in rows)
            ]
            assert having == list(one.must_keep)


@pytest.mark.parametrize("name", [case.id for case in pm_data.GOOD])
def test_the_generator_makes_the_same_file_from_the_parquet_file(name: str) -> None:
    case = GOOD[name]
    assert case.data is not None
    generated = generate(
        BytesSource(case.data),
        blooms="external" if case.file.newest.bloom_external else "inlined",
        history=len(case.file.snapshots) > 1,
    )

    assert case.file.newest == PmReader.from_bytes(generated.raw).value()
    assert case.file.written_out != (made()[name].data == generated.raw)


def test_every_rule_is_broken_by_a_case() -> None:
    broken = {rule for case in BAD.values() for rule in case.rules}

    assert {rule.id for rule in rules().values() if rule.id.startswith("PM-") and not rule.excluded} == broken


def test_most_cases_break_one_rule_alone() -> None:
    """So that a checker without a rule fails a case, and nothing else can make up for it."""
    alone = {case.rules[0] for case in BAD.values() if len(case.rules) == 1}
    together = {rule for case in BAD.values() for rule in case.rules} - alone

    assert {
        "PM-035",
        "PM-086",
        "PM-087",
        "PM-103",
        "PM-104",
        "PM-106",
        "PM-108",
        "PM-109",
        "PM-112",
        "PM-117",
        "PM-152",
    } == together
