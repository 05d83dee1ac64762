"""A page for each rule: its obligation, violations and their effects, bytes, and sources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from pages.cases.byte_changes import changed, mutation_sentence
from pages.implementations.answers import BAD, HARM, Answer, worst
from pages.page import Page, Site, case_file, rule_page
from pages.places import GOLDEN_FILES, ROOT
from pages.rules.rule_boxes import ORIGINS
from pages.tables import golden_tables, table_pages
from pages.tables.lessons import lessons_of
from pqassay.checks.remedies import remedy
from pqassay.explain import places
from pqassay.report.rules import COMPARE_FIRST, obliged_since
from pqassay.under_test.file import FileUnderTest, Options
from pqassay_spec.base.sources import FileSource
from pqassay_spec.golden.case import to_json
from pqassay_spec.rules import catalogue, documents
from pqassay_spec.rules.catalogue import Rule
from pqassay_spec.rules.observed import observations, observed
from pqassay_spec.rules.profiles import profiles
from pqassay_spec.rules.quirks import quirks_of
from pqassay_spec.rules.reader_cases import cases_of, reader_rules_of

MOST_CASES = 12
"""The number of golden files whose answers a page shows; the rest is only listed."""

MOST_FIELDS = 2
"""The number of changed fields that are shown with their bytes."""

ROLES = {"writer": "for writers", "reader": "for readers", "both": "for writers and readers"}

DECODINGS = {
    "reject": "A reader that decodes the structure has to refuse a file that breaks this rule.",
    "either": "A reader that decodes the structure may refuse a file that breaks this rule, or leave the structure aside.",
}

BOOST = 2.0
"""The factor by which a rule's page ranks before chapters in the search."""


class Lesson(NamedTuple):
    """One case about a rule, with the answer of each implementation; ``None`` if it was not asked."""

    case: Mapping[str, Any]
    answers: Sequence[Answer | None]


def pages(site: Site) -> Iterator[Page]:
    """Yield the page of every rule."""
    for family in catalogue.families():
        for rule in family.rules:
            yield rule_page_of(rule, family, site)


def rule_page_of(rule: Rule, family: catalogue.Family, site: Site) -> Page:
    """The page of a rule."""
    path, sentence = rule_page(rule.id), rule.sentence.replace("`", "")
    shown = lessons_of(rule, site).tables if family.is_about_tables else cases_about(rule, site)[:MOST_CASES]
    words = " ".join((rule.verdict, rule.tier, rule.could, rule.field, *(one["title"] for one in shown)))
    body_of = _body_about_tables if family.is_about_tables else _body
    body = body_of(rule, family, path, site) if site.shows(path) else ""
    return Page(path, f"{rule.id}: {sentence}", sentence, body, words if rule.judges_files else "", BOOST)


def _body(rule: Rule, family: catalogue.Family, path: str, site: Site) -> str:
    breaking = cases_about(rule, site)
    pair = next((case for case in breaking if "mutation" in case), None) if rule.judges_files else None
    asked = [
        kept
        for kept in site.results.newest
        if any(case["id"] in site.answers[kept.name] for case in breaking[:MOST_CASES])
    ]
    lessons = [
        Lesson(case, [_worst(site.answers[kept.name].get(case["id"], ())) for kept in asked])
        for case in breaking[:MOST_CASES]
    ]
    exhibits = [case for case in breaking if "exhibit" in case]
    return site.render(
        "rule.html",
        path,
        **facts_of(rule, family, site),
        seen=observed(rule.id),
        engines=(found.engines if (found := observations().get(rule.id)) else ()),
        observation=observations().get(rule.id),
        pair=pair,
        changed=changed(pair, MOST_FIELDS) if pair is not None else None,
        mutation=mutation_sentence(pair) if pair is not None else "",
        downloads=_downloads(pair),
        first=COMPARE_FIRST if rule.compares_values else "",
        repair=_remedy(pair, rule) if pair is not None else None,
        lessons=lessons,
        asked=asked,
        worst_answer=_gravest(lessons),
        breaking=breaking,
        more=breaking[MOST_CASES:],
        exhibits=[(case, [to_json(one) for one in case["exhibit"]["seen"]]) for case in exhibits],
        readers=sorted({one for case in breaking for one in reader_rules_of(case["id"])} - {rule.id})
        if rule.judges_files
        else [],
    )


def facts_of(rule: Rule, family: catalogue.Family, site: Site) -> Mapping[str, Any]:
    """The data of every rule's page, for rules of any kind."""
    return {
        "rule": rule,
        "family": family,
        "role": ROLES[rule.role],
        "origin": ORIGINS[rule.origin.kind],
        "document": documents.document(rule.origin.document),
        "address": documents.address(rule.origin.document, rule.origin.section),
        "obliged": obliged_since(rule),
        "places": [(label, Path(text.partition(":")[0]), text) for label, text in places(rule, family)],
        "profiles": [
            (one.name, promotion) for one in profiles().values() if (promotion := one.promotion_of(rule))
        ]
        if rule.judges_files
        else [],
        "quirks": quirks_of(rule.id),
        "decoding": DECODINGS.get(rule.decode, ""),
        "site_address": site.address,
    }


def _body_about_tables(rule: Rule, family: catalogue.Family, path: str, site: Site) -> str:
    """The part of a rule's page about golden tables."""
    lessons = lessons_of(rule, site)
    pair = lessons.pair
    findings = (
        [one for one in golden_tables.findings(pair["id"], pair["tier"]) if one.rule == rule.id]
        if pair
        else []
    )
    return site.render(
        "table_rule.html",
        path,
        **facts_of(rule, family, site),
        seen=observed(rule.id),
        lessons=lessons,
        tables=site.tables,
        pair=pair,
        mutation=golden_tables.mutation_sentence(pair) if pair else "",
        changed=table_pages.changed(pair, MOST_FIELDS) if pair else None,
        command=golden_tables.command(pair) if pair else "",
        downloads=[
            (label, table_pages.archive_file(site.tables[name]))
            for label, name in ((("good", pair["parent"]), ("bad", pair["id"])) if pair else ())
        ],
        findings=findings[:1],
        first=COMPARE_FIRST if rule.compares_values else "",
        repair=findings[0].remedy if findings else "",
        exhibits=[],
    )


@cache
def cases_about(rule: Rule, site: Site) -> Sequence[Mapping[str, Any]]:
    """Golden cases that break a rule for files, or that test a rule for readers; those with no other broken rule and most harm come first."""
    if not rule.judges_files:
        return [site.cases[name] for name in cases_of(rule.id, tuple(site.cases))]
    return sorted(
        site.breaking.get(rule.id, ()),
        key=lambda case: (
            len(case["expect"]["check"]["rules"]),
            "mutation" not in case,
            -sum(worst(mine.get(case["id"], ())) in BAD for mine in site.answers.values()),
        ),
    )


def _worst(answers: Sequence[Answer]) -> Answer | None:
    return min(answers, key=lambda answer: HARM.index(answer.verdict), default=None)


def _gravest(lessons: Sequence[Lesson]) -> Answer | None:
    """The most severe answer of all, for the command that repeats it."""
    bad_answers = [
        answer
        for lesson in lessons
        for answer in lesson.answers
        if answer is not None and answer.verdict in BAD
    ]
    return min(bad_answers, key=lambda answer: HARM.index(answer.verdict), default=None)


def harm_today(rule: Rule, site: Site) -> str:
    """The most severe verdict of any implementation about the golden files of a rule for files."""
    answers = [
        answer
        for case in cases_about(rule, site)
        for mine in site.answers.values()
        for answer in mine.get(case["id"], ())
    ]
    return worst(answers)


def _downloads(pair: Mapping[str, Any] | None) -> Sequence[tuple[str, str, str]]:
    """The downloads: a label, the case, and the path in the site."""
    if pair is None:
        return ()
    name = pair["input"]["file"]
    return (
        ("good", pair["parent"], case_file(pair["parent"], name)),
        ("bad", pair["id"], case_file(pair["id"], name)),
    )


def _remedy(case: Mapping[str, Any], rule: Rule) -> str | None:
    """The command that repairs the file of a case, with its path in a checkout."""
    path = GOLDEN_FILES / case["id"] / case["input"]["file"]
    with FileSource(path, str(path.relative_to(ROOT))) as source:
        return remedy(FileUnderTest(source, Options("footer")), rule.id)
