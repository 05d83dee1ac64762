"""Generated parts of the home page: lies that cost each implementation rows, a small matrix, and installation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pages.implementations.answers import BAD, SIGNS, Answer, worst
from pages.implementations.matrix import kind_of
from pages.page import Site, implementation_page
from pages.tables.engine_answers import SILENT
from pqassay_spec.rules import catalogue

HERE = "index.html"


class Misled(NamedTuple):
    """The number of well-formed lies that an implementation was asked about, and of those that made it return wrong rows."""

    name: str
    version: str
    page: str
    silent: int
    asked: int


def misled(site: Site) -> Sequence[Misled]:
    """The effect of lies on each implementation that was asked about any, the most severe first."""
    rows: list[Misled] = []
    for kept in site.results.newest:
        verdicts = [
            worst(lies)
            for given in site.answers[kept.name].values()
            if (lies := [answer for answer in given if answer.is_lie])
        ]
        if verdicts:
            silent = sum(verdict in SILENT for verdict in verdicts)
            rows.append(
                Misled(kept.name, kept.version, implementation_page(kept.name), silent, len(verdicts))
            )
    return sorted(rows, key=lambda one: (-one.silent / one.asked, one.name))


def headline(site: Site) -> Iterator[str]:
    """Yield the bars: how many lies that change no value make each implementation return wrong rows."""
    yield site.render("headline.html", HERE, misled=misled(site))


def small_matrix(site: Site) -> Iterator[str]:
    """Yield a table of signs: a row for each rule by which a lie misleads most implementations, linked to the case."""
    rows: dict[str, tuple[int, str]] = {}
    for case_id, case in site.cases.items():
        rules = case["expect"]["check"]["rules"]
        if kind_of(case) == "lie" and len(rules) == 1:
            given = [_lie(mine.get(case_id, ())) for mine in site.answers.values()]
            hurt = sum(answer is not None and answer.verdict in BAD for answer in given)
            rows[rules[0]] = max(rows.get(rules[0], (0, "")), (hurt, case_id))
    shown = sorted(sorted(rows, key=lambda rule: rows[rule], reverse=True)[:ROWS])
    names = [one.name for one in misled(site)]
    table = [
        (catalogue.rules()[rule], case_id, [_lie(site.answers[name].get(case_id, ())) for name in names])
        for rule in shown
        for _, case_id in (rows[rule],)
    ]
    verdicts = {answer.verdict if answer else "not asked" for *_, answers in table for answer in answers}
    yield site.render(
        "small_matrix.html",
        HERE,
        rows=table,
        seen=[verdict for verdict in SIGNS if verdict in verdicts],
        names=names,
        cases=site.cases,
        most_told=MOST_TOLD,
    )


ROWS = 12
"""The number of rows of the small matrix."""

MOST_TOLD = 140
"""The number of characters of an answer in the tooltip of its sign."""


def _lie(answers: Sequence[Answer]) -> Answer | None:
    return next((answer for answer in answers if answer.is_lie), None)


def install(site: Site) -> Iterator[str]:
    """Yield the command that installs the kit: from the configured repository, or in a checkout."""
    repository = site.repository
    yield "```console"
    yield (
        f'$ pip install "pqassay @ git+{repository}"'
        if repository
        else "$ pip install .    # in a checkout of the repository"
    )
    yield "```"
