"""Lists of rules, and tables of the documents that they come from, and of the releases that they name."""

from __future__ import annotations

import html
from collections.abc import Iterator

from pages.markup import Link, generated_page, table
from pages.rules.rule_boxes import boxes
from pqassay_spec import __version__
from pqassay_spec.rules import catalogue, documents, releases


def family_called(prefix: str) -> catalogue.Family:
    """The family with a prefix. Raises `LookupError` if there is none."""
    found = {family.prefix: family for family in catalogue.families()}
    if prefix not in found:
        raise LookupError(f"no family {prefix}; there are {', '.join(found)}")
    return found[prefix]


def rules_of_files(family: catalogue.Family, link: Link) -> Iterator[str]:
    """Yield one family's rules for files with everything the catalogue knows about them."""
    yield from boxes((rule for rule in family.rules if rule.judges_files), link)


def status_of_family(family: catalogue.Family, link: Link) -> Iterator[str]:
    """Yield the status of a chapter: its version, the documents that it follows at their revisions, its rules, errata, and how to cite it."""
    named = dict.fromkeys(rule.origin.document for rule in family.rules)
    found = [document for name in named if (document := documents.document(name)) is not None]
    followed = ", ".join(
        f'<a href="{one.address}">{one.name}</a> {one.revision}{f", branch {one.branch}" if one.branch else ""}{f" ({html.escape(one.reason)})" if one.reason else ""}'
        for one in found
    )
    rules = f"{generated_page('rules', 'index', link)}?family={family.prefix.lower()}"
    changes, errata = (link(page, "").partition("#")[0] for page in ("changelog.md", "errata.md"))
    facts = {
        "Version": f'{__version__} (<a href="{_html(changes)}">changes</a>)',
        "Follows": followed or "no document: all of its rules are of this specification",
        "Rules": f'<a href="{rules}">{len(family.rules)}</a>, of which those added last are of version {max((rule.since for rule in family.rules), key=_numbers)}',
        "Errata": f'<a href="{_html(errata)}">mistakes in the documents</a> that the chapters follow',
        "Cite": f"pqassay specification, version {__version__}, “{family.title}”, with the number and the title of the section",
    }
    rows = "".join(f"<div><dt>{name}</dt><dd>{told}</dd></div>" for name, told in facts.items())
    yield f'<dl class="facts status">{rows}</dl>'


def _html(page: str) -> str:
    return f"{page.removesuffix('.md')}.html"


def _numbers(version: str) -> list[int]:
    return [*map(int, version.split("."))]


def release_table(name: str) -> Iterator[str]:
    """Yield the releases of one format that have a mark or a rule."""
    obliging = {rule.obliged_since for rule in catalogue.rules().values()}
    found = [one for one in releases.releases().values() if one.format == name]
    if not found:
        raise LookupError(f"no format {name}")
    rows = (
        (one.version, str(one.date), ", ".join(f"`{mark}`" for mark in one.marks))
        for one in found
        if one.marks or one.version in obliging
    )
    yield from table(("Release", "Date", "Marks"), rows)
