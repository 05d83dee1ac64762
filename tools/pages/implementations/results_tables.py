"""Generated parts of the page on implementations, made of the results that ``make matrix`` keeps.

<!-- results: overview -->      each implementation and version: what was asked, passed, and wrong, by what was observed
<!-- results: lies -->          what each made of well-formed lies, one row for each file that cost somebody rows
<!-- results: exchange -->      files of each writer, read by each reader
<!-- results: not-asked -->     what each was not asked, since its driver does not declare it

Every part works with any number of results, even zero. The tables about single files show the newest version of each implementation, the
overview all versions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from kept_results import Kept, Trouble

from pages.implementations.results import Results
from pages.markup import Link, case_link, rule_link
from pages.page import shared_site
from pqassay.report.run.outcomes import SEVERITIES, UNMET, WRITING
from pqassay_spec.golden.case import Case
from pqassay_spec.rules import catalogue

HERE = "implementations/index.html"

NOBODY = "No results are kept yet; `make matrix` asks the implementations that are built."

CASES_SHOWN = 4
"""The number of cases of one cause that are listed."""

OF_LIES = ("right", "rows lost", "wrong rows", "refused", "crashed", "unsupported", "not asked")
"""Possible answers of a reader about a lie."""

OF_READERS = {severity: what for severity, what in SEVERITIES.items() if severity != UNMET}
"""Observed severities of readers."""


def lines(part: str, link: Link) -> Iterator[str]:
    """Yield the Markdown lines of a part of the page.

    Raises:
        KeyError: The part does not exist.
        UsageError: A file in the folder of results is not a result.
    """
    yield from PARTS[part](shared_site().results, link)


def _part(part: str, results: Results, link: Link) -> Iterator[str]:
    text = shared_site().render(
        "results.md",
        HERE,
        part=part,
        results=results,
        link=link,
        case_link=partial(case_link, link=link),
        rule_link=partial(rule_link, link=link),
        no_results=NOBODY,
        cases_shown=CASES_SHOWN,
        of_lies=OF_LIES,
        of_readers=OF_READERS,
        places=_places,
        rules=catalogue.rules(),
        shown=sum(results.costs_rows(lie.case.id) for lie in results.lies),
        families=[(family, found) for family in catalogue.families() if (found := _lies_of(family, results))],
        readers=sorted({name for written in results.exchange.values() for name in written.readers}),
        troubles=list(_troubles(results)),
    )
    yield from text.removesuffix("\n").split("\n")


PARTS: Mapping[str, Callable[[Results, Link], Iterator[str]]] = {
    name: partial(_part, name) for name in ("overview", "lies", "exchange", "not-asked")
}
"""The parts of the page."""


def _places(kept: Kept) -> Mapping[str, Any]:
    """The number of results that did not pass: for readers by severity, for writers and others by outcome in words."""
    scored = kept.report.scored
    wrong = [result for result in scored if not result.is_good and result.severity is not None]
    readers = Counter(result.severity for result in wrong if result.operation not in WRITING)
    others = Counter(result.outcome for result in scored if result.is_good or result.severity is None)
    return {
        "readers": [f"{readers[severity]:,}" for severity in OF_READERS],
        "writing": sum(result.operation in WRITING for result in wrong),
        "others": [(f"{count:,}", outcome) for outcome, count in others.items()],
    }


def _lies_of(family: catalogue.Family, results: Results) -> Sequence[tuple[tuple[str, ...], Sequence[Case]]]:
    """The lies of a family that cost some implementation rows, by their broken rules."""
    groups: dict[tuple[str, ...], list[Case]] = {}
    for lie in results.lies:
        if lie.case.family == family.prefix and results.costs_rows(lie.case.id):
            groups.setdefault(tuple(lie.case.rules), []).append(lie.case)
    return sorted(groups.items())


def _troubles(results: Results) -> Iterator[tuple[str, str, Sequence[Trouble]]]:
    """Yield the errors of each reader on each writer's files, by effect."""
    for writer, written in results.exchange.items():
        for reader, reading in written.readers.items():
            groups: dict[tuple[str, str], list[Trouble]] = {}
            for one in reading.wrong:
                groups.setdefault((one.operation, one.because), []).append(one)
            yield from ((writer, reader, group) for group in groups.values())
