"""Rules as boxes in the chapters: each with its id, level and sentence, whole in the list of a family's rules and brief where the text speaks of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from markupsafe import Markup

from pages.markup import Link, generated_page
from pages.page import inline, shared_site
from pqassay_spec.rules import catalogue, documents, releases
from pqassay_spec.rules.observed import observed
from pqassay_spec.rules.reader_cases import cases_of

ROLES = {"writer": "for writers", "reader": "for readers", "both": "for both"}

ORIGINS = {
    "stated": "Stated in",
    "inferred": "Inferred from",
    "ours": "Added by this specification:",
}

NOTES = ("practice", "reading", "newer", "excluded")

LABELS = {
    "practice": "Practice",
    "reading": "Reading",
    "newer": "By the pinned text",
    "excluded": "Not tested",
}

CASES_SHOWN = 8
"""Golden files that the box of a rule for readers names."""

BOX = Markup('<section class="rule" id="{anchor}"><header>{head}</header><p>{sentence}</p>{notes}</section>')

OUT_OF_SEARCH = "data-search-exclude"
"""Marks what the search leaves out: the page of a rule is what it finds."""


def boxes(rules: Iterable[catalogue.Rule], link: Link) -> Iterator[str]:
    """Yield a box for each rule with everything that the catalogue knows about it, on one line: Markdown leaves it as it is."""
    content = Markup("").join(_box(rule, link) for rule in rules)
    yield from ("", f'<div class="rules" {OUT_OF_SEARCH}>{content}</div>', "")


def _box(rule: catalogue.Rule, link: Link) -> Markup:
    notes = [_facts(rule), *_notes(rule)]
    if rule.judges_files:
        seen = observed(rule.id)
        told = seen.sentence if seen.is_harm else seen.effect
        notes.append(Markup("Could: {}. Observed: {}.").format(rule.could, inline(told)))
    else:
        notes.append(Markup("Could: {}. Tested by {}.").format(rule.could, _tested_by(rule, link)))
    return BOX.format(
        anchor=rule.id.lower(),
        head=_head(rule, generated_page("rules", rule.id.lower(), link)),
        sentence=inline(rule.sentence),
        notes=Markup(" ").join(Markup("<small>{}</small>").format(note) for note in notes),
    )


def _head(rule: catalogue.Rule, address: str) -> Markup:
    """The id, which leads to the rule's page, its level, whom it obliges, and how it is reported."""
    head = Markup('<a href="{}">{}</a> <b class="{}">{}</b> {}').format(
        address, rule.id, rule.level.lower(), rule.level, ROLES[rule.role]
    )
    if not rule.judges_files:
        return head
    return head + Markup(' <b class="{}">{}</b> tier <code>{}</code>').format(
        rule.verdict.lower(), rule.verdict, rule.tier
    )


def _facts(rule: catalogue.Rule) -> Markup:
    """Where it comes from, since when it obliges, and what it is about."""
    since = releases.release(rule.obliged_since).name
    return Markup("{} {}. Obliges since {}. Field <code>{}</code>. Since {}.").format(
        ORIGINS[rule.origin.kind], _source(rule.origin), since, rule.field, rule.since
    )


def _source(origin: catalogue.Origin) -> Markup:
    """A document with its revision, linked at the heading that a rule comes from; a chapter of ours as it is."""
    document = documents.document(origin.document)
    if document is None:
        return Markup("{}, section “{}”").format(origin.document, origin.section)
    return Markup('<a href="{}">{}</a> {}, section “{}”').format(
        document.place(origin.section), origin.document, document.revision, origin.section
    )


def _notes(rule: catalogue.Rule) -> Iterator[Markup]:
    for name in NOTES:
        if text := getattr(rule, name):
            yield Markup("<strong>{}:</strong> {}").format(LABELS[name], inline(text))


def _tested_by(rule: catalogue.Rule, link: Link) -> Markup:
    found = cases_of(rule.id, tuple(shared_site().cases))
    shown = [
        Markup('<a href="{}"><code>{}</code></a>').format(
            generated_page("cases", case.replace("/", "-"), link), case
        )
        for case in found[:CASES_SHOWN]
    ]
    more = f" and {len(found) - CASES_SHOWN:,} more" if len(found) > CASES_SHOWN else ""
    return (Markup(", ").join(shown) or Markup("no file")) + more


def brief(rules: Iterable[catalogue.Rule], to_rules: str) -> str:
    """Boxes of one line or two, for the end of a section that speaks of these rules.

    Args:
        rules: The rules.
        to_rules: The address of the folder of their pages as seen from the page, with a slash at its end.
    """
    lines = Markup("").join(
        Markup('<li class="rule"><a href="{}{}.html">{}</a> <b class="{}">{}</b> {}</li>').format(
            to_rules, rule.id.lower(), rule.id, rule.level.lower(), rule.level, inline(rule.sentence)
        )
        for rule in rules
    )
    return f'<ul class="rules" aria-label="Rules of this section" {OUT_OF_SEARCH}>{lines}</ul>'


def spoken_of(text: str, prefixes: Iterable[str]) -> list[catalogue.Rule]:
    """The rules of families that a text names, each once, in its order.

    >>> [rule.id for rule in spoken_of("<p>see STA-041 and <a>PIX-070</a>, STA-041</p>", ["STA"])]
    ['STA-041']
    """
    known = catalogue.rules()
    named = re.findall(rf"\b(?:{'|'.join(prefixes)})-\d+\b", text)
    return [known[rule_id] for rule_id in dict.fromkeys(named) if rule_id in known]
