"""Golden tables and answers of engines, by rule and by table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from pages.page import Site
from pages.tables.engine_answers import HARM, Engine, Trial, engines_of
from pages.tables.golden_tables import Table, is_compared
from pqassay_spec.rules.catalogue import Rule


@cache
def trials_of(table_id: str, site: Site) -> Sequence[Trial]:
    """The trials of a golden table."""
    return [trial for trial in site.trials if trial.table == table_id]


def sufferers(table_id: str, site: Site) -> Sequence[tuple[str, str]]:
    """The engines that answer a table wrongly, with verdict and name, the most severe first."""
    worst: dict[str, str] = {}
    for trial in trials_of(table_id, site):
        for verdict_, engine in trial.hurt():
            before = worst.setdefault(engine.name, verdict_)
            worst[engine.name] = min(before, verdict_, key=HARM.index)
    return sorted(
        ((told, name) for name, told in worst.items()), key=lambda one: (HARM.index(one[0]), one[1])
    )


class TableLessons(NamedTuple):
    """The golden tables and trials about a rule.

    Attributes:
        tables: The tables that break it; tables with no other broken rule come first.
        pair: The table that is shown with its parent.
        trials: The trials because of the rule.
        engines: The engines.
    """

    tables: Sequence[Table]
    pair: Table | None
    trials: Sequence[Trial]
    engines: Sequence[Engine]

    @property
    def gravest(self) -> Trial:
        """The trial in which most engines do the most severe harm, on the shown table if possible."""
        shown = None if self.pair is None else self.pair["id"]
        return min(
            self.trials,
            key=lambda trial: (HARM.index(trial.worst), trial.table != shown, -len(trial.hurt())),
        )


def lessons_of(rule: Rule, site: Site) -> TableLessons:
    """The golden tables and trials about a rule for tables."""
    tables = [table for table in site.tables.values() if rule.id in table["rules"]]
    trials = trials_about(rule, site)
    hurt = {trial.table: len(trial.hurt()) for trial in trials}
    tables.sort(key=lambda table: (len(table["rules"]), not is_compared(table), -hurt.get(table["id"], 0)))
    pair = next((table for table in tables if "mutation" in table), None)
    return TableLessons(tables, pair, trials, engines_of(trials))


def trials_about(rule: Rule, site: Site) -> Sequence[Trial]:
    """The trials because of a rule, or about golden tables that break it, without repeated queries of a table."""
    found: dict[tuple[str, str], Trial] = {}
    for trial in site.trials:
        if trial.rule == rule.id or rule.id in site.tables[trial.table]["rules"]:
            found.setdefault((trial.table, trial.query), trial)
    return list(found.values())
