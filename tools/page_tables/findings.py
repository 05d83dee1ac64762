"""The overview of findings, from the sections of its two pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from finding_programs import READERS, WRITERS, Finding, findings

PAGES = {"findings of readers": READERS, "findings of writers": WRITERS}
"""By the name of its table, the page whose sections it lists."""

Listed = Mapping[str, Sequence[Finding]]


def read() -> Listed:
    """The findings that each table lists."""
    return {name: findings(page) for name, page in PAGES.items()}


def table(listed: Listed, name: str) -> Iterator[str]:
    """A row for each section of a page, the gravest first.

    The anchor of each section is that of its row as well, so that links to the overview lead on.
    """
    yield "| Severity | In | Finding | Rules |"
    yield "| --- | --- | --- | --- |"
    for one in sorted(listed[name], key=lambda one: one.severity):
        finding = f'<span id="{one.anchor}"></span>[{one.title}]({one.page.name}#{one.anchor})'
        yield f"| {one.severity} | {', '.join(one.software)} | {finding} | {one.rules} |"


def count(listed: Listed, name: str) -> Iterator[str]:
    """How many there are, in a sentence."""
    names = {software.rpartition(" ")[0] for one in listed[name] for software in one.software}
    yield f"{len(listed[name])} findings in {len(names)} libraries and engines."


TABLES = {name: partial(table, name=name) for name in PAGES} | {
    f"number of {name}": partial(count, name=name) for name in PAGES
}
