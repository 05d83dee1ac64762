"""Rules as boxes in chapters, with id, level and sentence: complete in the list of a family, and brief beside the text."""

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

CASES_SHOWN = 8
"""The number of golden files in the box of a rule for readers."""

OUT_OF_SEARCH = "data-search-exclude"
"""The attribute that excludes parts from the search, which should find the page of a rule instead."""


def boxes(rules: Iterable[catalogue.Rule], link: Link) -> Iterator[str]:
    """Yield a box for each rule with all its data from the catalog."""
    site = shared_site()
    content = site.render(
        "rule_boxes.html",
        "spec/index.html",
        rules=rules,
        roles=ROLES,
        origins=ORIGINS,
        address=lambda folder, stem: generated_page(folder, stem, link),
        document_of=documents.document,
        release=releases.release,
        observed_of=observed,
        cases_of=lambda rule: cases_of(rule, tuple(site.cases)),
        cases_shown=CASES_SHOWN,
    )
    yield from ("", content.strip(), "")


def brief(rules: Iterable[catalogue.Rule], to_rules: str) -> str:
    """Boxes of one or two lines, for the end of a section about these rules.

    Args:
        rules: The rules.
        to_rules: The relative address of the folder of rule pages, with a slash at the end.
    """
    lines = Markup("").join(
        Markup('<li class="rule"><a href="{}{}.html">{}</a> <b class="{}">{}</b> {}</li>').format(
            to_rules, rule.id.lower(), rule.id, rule.level.lower(), rule.level, inline(rule.sentence)
        )
        for rule in rules
    )
    return f'<ul class="rules" aria-label="Rules of this section" {OUT_OF_SEARCH}>{lines}</ul>'


def spoken_of(text: str, prefixes: Iterable[str]) -> list[catalogue.Rule]:
    """The rules of some families in a text, without duplicates, in the order of the text.

    >>> [rule.id for rule in spoken_of("<p>see STA-041 and <a>PIX-070</a>, STA-041</p>", ["STA"])]
    ['STA-041']
    """
    known = catalogue.rules()
    named = re.findall(rf"\b(?:{'|'.join(prefixes)})-\d+\b", text)
    return [known[rule_id] for rule_id in dict.fromkeys(named) if rule_id in known]
