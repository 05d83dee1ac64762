"""Lists of rules, and tables of their source documents and releases."""

from __future__ import annotations

from collections.abc import Iterator

from pages.markup import Link, generated_page, table
from pages.page import shared_site
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
    """Yield one family's rules for files with all their data from the catalog."""
    yield from boxes((rule for rule in family.rules if rule.judges_files), link)


def status_of_family(family: catalogue.Family, link: Link) -> Iterator[str]:
    """Yield the status of a chapter: version, source documents with revisions, rules, errata, and citation."""
    named = dict.fromkeys(rule.origin.document for rule in family.rules)
    versions = {rule.since for rule in family.rules}
    yield shared_site().render(
        "rule_status.html",
        "spec/index.html",
        family=family,
        version=__version__,
        documents=[document for name in named if (document := documents.document(name)) is not None],
        rules=f"{generated_page('rules', 'index', link)}?family={family.prefix.lower()}",
        newest=max(versions, key=lambda version: [*map(int, version.split("."))]),
        address=lambda page: link(f"{page}.md", "").partition("#")[0].replace(".md", ".html"),
    )


def release_table(name: str) -> Iterator[str]:
    """Yield the releases of one format that have a mark or a rule."""
    obliging = {rule.obliged_since for rule in catalogue.rules().values()}
    of_format = [release for release in releases.releases().values() if release.format == name]
    if not of_format:
        raise LookupError(f"no format {name}")
    rows = (
        (release.version, str(release.date), ", ".join(f"`{mark}`" for mark in release.marks))
        for release in of_format
        if release.marks or release.version in obliging
    )
    yield from table(("Release", "Date", "Marks"), rows)
