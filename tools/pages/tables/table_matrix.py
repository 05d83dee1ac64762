"""The behavior of each engine on false claims of golden tables: as a matrix, and as a sentence for each family."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pages.page import Site
from pages.tables.engine_answers import HARM, SILENT, Engine, TableAnswer, Trial, engines_of
from pages.tables.lessons import trials_of

FAMILIES = (("DLT", "Delta tables"), ("ICE", "Iceberg tables"))
"""Families of golden tables, with their names on the page."""


def _by_table(site: Site, family: str) -> Sequence[Sequence[Trial]]:
    """The trials of each golden table of a family."""
    tables = dict.fromkeys(trial.table for trial in site.trials)
    return [trials_of(table, site) for table in tables if site.tables[table]["family"] == family]


def _worst(trials: Sequence[Trial], engine: Engine) -> TableAnswer:
    given = [answer for trial in trials if (answer := trial.answer_of(engine.name))]
    return min(given, key=lambda answer: HARM.index(answer.verdict), default=TableAnswer("not asked"))


def lines(site: Site, here: str) -> Iterator[str]:
    """Yield a matrix for each family, as HTML for the page at ``here``: a row for each golden table, a column for each engine."""
    for prefix, title in FAMILIES:
        tables = _by_table(site, prefix)
        engines = engines_of(trial for trials in tables for trial in trials)
        rows = [
            (site.tables[trials[0].table], [_worst(trials, engine) for engine in engines])
            for trials in tables
        ]
        is_first = prefix == FAMILIES[0][0]
        yield site.render(
            "table_matrix.html",
            here,
            title=title,
            engines=engines,
            rows=rows,
            is_first=is_first,
        )


def headline(site: Site) -> Iterator[str]:
    """Yield a sentence for each family: the number of false claims that make each engine return wrong rows, the most severe first."""
    for prefix, title in FAMILIES:
        tables = _by_table(site, prefix)
        engines = engines_of(trial for trials in tables for trial in trials)
        misled = {
            engine: sum(_worst(trials, engine).verdict in SILENT for trials in tables) for engine in engines
        }
        harmed = sorted(((count, engine) for engine, count in misled.items() if count), reverse=True)
        listed = [f"{engine.name} for {count}" for count, engine in harmed]
        several = f"{', '.join(listed[:-1])} and {listed[-1]}" if len(listed) > 1 else "".join(listed)
        yield f"- {len(tables)} {title} make a false claim; wrong rows come from {several or 'no engine'}."
