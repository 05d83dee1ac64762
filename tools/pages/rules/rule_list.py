"""The list of all rules with its filter, and its data as a download."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, get_args

from pages.page import File, Site, rule_page
from pages.rules.rule_pages import cases_about, harm_today
from pages.tables.engine_answers import SILENT
from pages.tables.lessons import lessons_of
from pqassay_spec.rules import catalogue, documents
from pqassay_spec.rules.observed import ObservedEffect, observed
from pqassay_spec.rules.profiles import profiles

HERE = "rules/index.html"

JUDGES_NO_FILES = "-"
"""The content of columns that rules for readers lack: verdict, tier and observation."""

ROLES = (("writer", "writers"), ("reader", "readers"), ("both", "both"))

SCHEMA_VERSION = 1


def lines(site: Site) -> Iterator[str]:
    """Yield the list and its filter as HTML."""
    rows = [
        {
            "rule": rule,
            "family": family.prefix,
            "verdict": rule.verdict if rule.judges_files else "for readers",
            "tier": rule.tier if rule.judges_files else JUDGES_NO_FILES,
            "observed": _observed(rule),
            "profiles": _profiles(rule),
            "harm": "yes" if _observed(rule) in SILENT or harm_today(rule, site) in SILENT else "",
        }
        for family in catalogue.families()
        for rule in family.rules
    ]
    yield site.render(
        "rule_list.html",
        HERE,
        rows=rows,
        families=[(family.prefix.lower(), family.title) for family in catalogue.families()],
        verdicts=[*((one.lower(), one) for one in catalogue.VERDICTS), ("for readers", "for readers")],
        tiers=_same(catalogue.TIERS),
        roles=ROLES,
        effects=_same(get_args(catalogue.Effect)),
        seen=_same(get_args(ObservedEffect)),
        origins=_same(get_args(catalogue.OriginKind)),
        profiles=_same(list(profiles())),
    )


def _observed(rule: catalogue.Rule) -> str:
    """The observed behavior of engines; for rules about tables, on golden tables."""
    if not rule.judges_files:
        return JUDGES_NO_FILES
    return observed(rule.id).effect


def _same(values: Sequence[str]) -> Sequence[tuple[str, str]]:
    return [(value, value) for value in values]


def _profiles(rule: catalogue.Rule) -> Sequence[str]:
    """The profiles that raise the verdict of the rule."""
    return [one.name for one in profiles().values() if rule.judges_files and one.promotion_of(rule)]


def files(site: Site) -> Iterator[File]:
    """Yield every rule as JSON, with all data of the catalog, the golden files and the results."""
    document = {
        "schema_version": SCHEMA_VERSION,
        "kind": "rules",
        "families": [
            {
                "prefix": one.prefix,
                "title": one.title,
                "since": one.since,
                "chapter": f"spec/{one.module}.html",
            }
            for one in catalogue.families()
        ],
    }
    # A rule on each line: the C encoder, which takes a tenth of the time, does not indent.
    rules = ",\n".join(
        json.dumps(_as_json(rule, site), ensure_ascii=False) for rule in catalogue.rules().values()
    )
    head = json.dumps(document, ensure_ascii=False).removesuffix("}")
    yield File("data/rules.json", f'{head}, "rules": [\n{rules}\n]}}\n'.encode())


def _as_json(rule: catalogue.Rule, site: Site) -> dict[str, Any]:
    members = {name: value for name, value in asdict(rule).items() if value != ""}
    if not rule.judges_files:
        members.pop("verdict")
    members |= {
        "read_at": documents.address(rule.origin.document, rule.origin.section),
        "page": rule_page(rule.id),
        "profiles": _profiles(rule),
        **({"observed": _observed(rule)} if rule.judges_files else {}),
    }
    if catalogue.family_of(rule.id).is_about_tables:
        lessons = lessons_of(rule, site)
        engines: dict[str, dict[str, dict[str, str]]] = {}
        for trial in lessons.trials:
            for engine, answer in trial.answers.items():
                engines.setdefault(str(engine), {})[trial.table] = {trial.query: answer.verdict}
        of_tables = {"golden_tables": [table["id"] for table in lessons.tables], "engines": engines}
        return {**members, "golden_files": [], "implementations": {}, **of_tables}
    cases = cases_about(rule, site)
    answers = {
        name: {
            case["id"]: {answer.operation: answer.verdict for answer in mine[case["id"]]}
            for case in cases
            if case["id"] in mine
        }
        for name, mine in site.answers.items()
    }
    return {**members, "golden_files": [case["id"] for case in cases], "implementations": answers}
