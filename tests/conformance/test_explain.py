"""What `pqassay explain` says about every rule: where it is declared, checked and described."""

from __future__ import annotations

import functools
import itertools
import re

import pytest

from damage import EXAMPLES
from each import each
from places import ROOT
from pqassay.explain import DISPUTE, explain
from pqassay_spec.rules.catalogue import file_rules, reader_rules, rules

AFTER = re.compile(r"  (kept by|broken by|tested by) ")
"""Begins the lines behind those that name places."""


@functools.cache
def places(rule: str) -> dict[str, str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        # What follows needs a check of a golden file, and `test_cli` explains every rule to the end.
        explained = list(itertools.takewhile(lambda line: not AFTER.match(line), explain(rule)))
    found = (re.match(r"  (chapter|declared|checked)\s+(\S+)$", line) for line in explained)
    return {match[1]: match[2] for match in found if match}


def lines_at(place: str, count: int = 1) -> str:
    path, _, line = place.rpartition(":")
    start = int(line) - 1
    return "\n".join(lines_of(path)[start : start + count])


@functools.cache
def lines_of(path: str) -> list[str]:
    return (ROOT / path).read_text().splitlines()


def test_a_rule_is_checked_where_its_id_is() -> None:
    for rule in [rule.id for rule in file_rules().values() if not rule.excluded][::EXAMPLES]:
        assert re.match(rf'@\w+\(\s*"{rule}"', lines_at(places(rule)["checked"], 2)), rule


@each("rule", reader_rules())
def test_a_rule_for_readers_names_what_tests_it_and_nothing_that_is_said_of_files(rule: str) -> None:
    labels = [line[2:14].strip() for line in explain(rule) if line.startswith("  ") and line[2:3] != " "]

    assert {"level", "basis", "tested by", "ask"} <= set(labels)
    assert {"reported as", "observed", "tier", "checked", "broken by"}.isdisjoint(labels)


def test_a_rule_for_readers_is_explained_with_its_cases() -> None:
    shown = [" ".join(line.split()) for line in explain("BLM-023")]

    assert "level MUST for the reader" in shown
    assert (
        "tested by blm/audited, blm/without-negative-zero, blm/zero-for-negative-zero, blm/zeros-and-nan"
        in shown
    )
    assert "ask pqassay suite run --case blm/audited -- DRIVER" in shown


def test_a_rule_is_about_what_is_declared_there() -> None:
    for rule in rules().values():
        found = lines_at(places(rule.id)["declared"])
        assert re.match(declaration_of(rule.field.rpartition(".")[2]), found), rule.id


def declaration_of(field: str) -> str:
    """What the line of source looks like that declares a field: of a struct, of a record, of an object in JSON or Avro."""
    of_json = rf'(    )*(JsonMember\(|optional\(|(numbered\()?(field_ids\.)?[A-Z_]+, |)"{field}",|[A-Z_]+ = JsonObject'
    return rf'(    )?"?{field}"?( /|:|$)|class \w+|[A-Z_]+ = Struct|{of_json}'


def test_the_chapter_is_there() -> None:
    for rule in rules():
        chapter, _, anchor = places(rule)["chapter"].partition("#")
        assert (True, rule.lower()) == ((ROOT / chapter).is_file(), anchor)


def test_a_field_of_a_struct_within_a_struct_has_its_own_line() -> None:
    assert "boundary_order: int = " in lines_at(places("PIX-025")["declared"])
    assert '"length" / ' in lines_at(places("IDX1-008")["declared"])


def test_an_explanation_ends_with_how_to_dispute_it() -> None:
    *_, last = explain("IDX1-012")

    assert f"disagree? {DISPUTE}" == " ".join(last.split())
    assert (ROOT / DISPUTE.split()[0]).is_file()
