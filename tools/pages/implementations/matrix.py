"""The matrix: the most severe answer of each implementation about each kind of files of each family."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pages.implementations.answers import BAD, Answer, counted, worst
from pages.page import Site, implementation_page
from pqassay_spec.rules import catalogue

KINDS: Mapping[str, str] = {"valid": "valid files", "lie": "well-formed lies", "invalid": "damaged files"}
"""Kinds of golden files for a reader: files that it must read, that it cannot recognize as false, and that it should refuse."""


def kind_of(case: Mapping[str, Any]) -> str:
    """The kind of a golden case: one of `KINDS`."""
    if case["expect"].get("scan") == "exposure":
        return "lie"
    return str(case["kind"])


class MatrixCell(NamedTuple):
    """The answers of one implementation about one kind of files of one family.

    Attributes:
        verdict: The most severe verdict.
        bad: The number of failed cases.
        asked: The number of asked cases.
        summary: The answers in words.
    """

    verdict: str
    bad: int
    asked: int
    summary: str


def asked_families(site: Site) -> Sequence[catalogue.Family]:
    """The families with golden files for implementations; families of tables have none."""
    held = {case["family"] for case in site.cases.values()}
    return [family for family in catalogue.families() if family.prefix in held]


def matrix_rows(
    site: Site, mine: Mapping[str, Sequence[Answer]]
) -> Iterator[tuple[str, Mapping[str, MatrixCell]]]:
    """Yield the cells of one implementation: for each family, by the kind of file."""
    for family in asked_families(site):
        cells: dict[str, MatrixCell] = {}
        for kind in KINDS:
            cases = [
                mine.get(name, ())
                for name, case in site.cases.items()
                if case["family"] == family.prefix and kind_of(case) == kind
            ]
            cells[kind] = _matrix_cell([given for given in cases if given])
        yield family.prefix, cells


def _matrix_cell(asked: Sequence[Sequence[Answer]]) -> MatrixCell:
    verdicts = [worst(given) for given in asked]
    one_each = [
        next(one for one in given if one.verdict == verdict)
        for given, verdict in zip(asked, verdicts, strict=True)
    ]
    summary = ", ".join(f"{count:,} {verdict}" for verdict, count in counted(one_each)) or "not asked"
    return MatrixCell(worst(one_each), sum(one in BAD for one in verdicts), len(asked), summary)


def catalogue_title(prefix: str) -> str:
    """The title of a family."""
    return next(family.title for family in catalogue.families() if family.prefix == prefix)


def matrix(site: Site, here: str) -> str:
    """The whole matrix as HTML for the page at ``here``: a row for each family and kind, a column for each implementation."""
    rows = {name: dict(matrix_rows(site, mine)) for name, mine in site.answers.items()}
    return site.render(
        "matrix.html",
        here,
        implementations=[(kept, implementation_page(kept.name)) for kept in site.results.newest],
        families=[(family.prefix, family.title) for family in asked_families(site)],
        kinds=KINDS,
        rows=rows,
    )
