"""The list of all golden files, with its filter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pages.implementations.answers import BAD, HARM, worst
from pages.implementations.matrix import KINDS, kind_of
from pages.page import Site
from pages.tables.engine_answers import engines_of
from pages.tables.golden_tables import kind_of_table
from pages.tables.lessons import sufferers as table_sufferers
from pqassay_spec.rules import catalogue

HERE = "cases/index.html"


def sufferers(case_id: str, site: Site) -> Sequence[tuple[str, str]]:
    """The implementations that get a case wrong, with verdict and name, the most severe first."""
    found = ((worst(mine.get(case_id, ())), name) for name, mine in site.answers.items())
    return sorted(
        ((verdict, name) for verdict, name in found if verdict in BAD),
        key=lambda one: (HARM.index(one[0]), one[1]),
    )


def lines(site: Site) -> Iterator[str]:
    """Yield the list and its filter as HTML."""
    families = {case["family"] for case in (*site.cases.values(), *site.tables.values())}
    yield site.render(
        "case_list.html",
        HERE,
        rows=[
            (case, kind_of(case), case["expect"]["check"]["rules"], sufferers(case["id"], site))
            for case in site.cases.values()
        ]
        + [
            (table, kind_of_table(table), table["rules"], table_sufferers(table["id"], site))
            for table in site.tables.values()
        ],
        families=[(one.prefix.lower(), one.label) for one in catalogue.families() if one.prefix in families],
        kinds=[("valid", "valid"), ("lie", "lie"), ("invalid", "damaged")],
        kind_words={**KINDS, "valid": "valid", "lie": "lie", "invalid": "damaged"},
        implementations=[
            (name, name) for name in (*site.answers, *sorted({one.name for one in engines_of(site.trials)}))
        ],
    )
