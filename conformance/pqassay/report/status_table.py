"""The status of implementations by feature, as ``pqassay suite status`` prints it: the table, and its formats.

A cell only states what results show. Without a conclusive answer, a cell is never *no*.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal, TextIO

from pqassay.report.renderers.markdown import code, escaped, table

SCHEMA_VERSION = 1

Aspect = Literal["reads", "decodes", "writes", "uses", "checks"]
"""The aspect of a status.

``reads``: files with the feature are read. ``decodes``: the structure is read by itself. ``writes``: it is written. ``uses``: queries rely
on it. ``checks``: files that break it are refused.
"""

ASPECTS: dict[Aspect, str] = {
    "reads": "returns the rows of valid files with it",
    "decodes": "reads the structure itself",
    "writes": "writes it correctly when asked to",
    "uses": "uses it in queries",
    "checks": "refuses files with errors in it",
}

Tick = Literal["yes", "partly", "no", "not shown", "not asked"]

TICKS: dict[Tick, str] = {
    "yes": "cases that have it passed, and it is not to blame for any that failed",
    "partly": "some cases passed, and it is to blame for others",
    "no": "it is to blame for cases that failed, and none passed: the library refuses, says that it does not support it, or is wrong",
    "not shown": "no answer shows it, nor its absence: queries may not rely on it, checks may be off by default, and where all cases failed, "
    "nothing shows that this feature is the cause",
    "not asked": "no case was asked: there is none, or the driver does not declare what it takes",
}

CASES_SHOWN = 4
"""The number of cases of a row that Markdown lists."""


@dataclass(frozen=True)
class StatusCell:
    """The results of one implementation for one feature.

    Attributes:
        implementation: Its name and version.
        tick: The conclusion from the cases.
        passed: The number of passed cases.
        asked: The number of asked cases.
        cases: Ids of the asked cases; for ``uses`` and ``checks``, only of the cases that show it.
        failing: Ids of failed cases that are caused by the feature.
        aside: Ids of failed cases with another or an unknown cause.
    """

    implementation: str
    tick: Tick
    passed: int = 0
    asked: int = 0
    cases: list[str] = field(default_factory=list[str])
    failing: list[str] = field(default_factory=list[str])
    aside: list[str] = field(default_factory=list[str])

    @property
    def passing(self) -> list[str]:
        """Ids of the passed cases."""
        others = {*self.failing, *self.aside}
        return [case for case in self.cases if case not in others]

    @property
    def words(self) -> str:
        """The tick, with counts unless all or no cases passed."""
        told = self.passed + len(self.failing)
        return f"{self.tick} ({self.passed:,} of {told:,})" if self.tick == "partly" else self.tick


@dataclass(frozen=True)
class StatusRow:
    """One feature in one aspect.

    Attributes:
        feature: Its id on the status page of Apache Parquet.
        category: Its table on that page.
        name: Its name on that page.
        aspect: The aspect of the status.
        cells: One cell for each implementation, in order.
        cases: Ids of the cases that test it.
        unasked: The reason if there are no cases.
    """

    feature: str
    category: str
    name: str
    aspect: Aspect
    cells: list[StatusCell]
    cases: list[str]
    unasked: str = ""


@dataclass(frozen=True)
class Contradictions:
    """Contradictions between results and a published status.

    Attributes:
        feature: The id of the feature.
        aspect: The aspect that differs.
        public: The published status.
        measured: The status that results show.
        cases: Ids of the cases that show it.
    """

    feature: str
    aspect: Aspect
    public: str
    measured: Tick
    cases: list[str]


@dataclass(frozen=True)
class StatusTable:
    """The rows and the implementations of a status table.

    Attributes:
        against: The name of the compared status.
        differences: The contradictions between results and the compared status.
    """

    schema_version: int
    kind: Literal["status"]
    revisions: list[str]
    implementations: list[str]
    rows: list[StatusRow]
    against: str | None = None
    differences: list[Contradictions] = field(default_factory=list[Contradictions])


def write_json(status: StatusTable, stream: TextIO) -> None:
    """Write the table as JSON."""
    json.dump(asdict(status), stream, indent=1)
    stream.write("\n")


COLUMNS = (
    "feature",
    "category",
    "name",
    "aspect",
    "implementation",
    "status",
    "passed",
    "asked",
    "cases",
    "failing",
    "aside",
)


def write_csv(status: StatusTable, stream: TextIO) -> None:
    """Write a CSV line for each cell; case ids are separated by spaces."""
    lines = csv.writer(stream, lineterminator="\n")
    lines.writerow(COLUMNS)
    for row in status.rows:
        for cell in row.cells:
            lines.writerow(
                (
                    row.feature,
                    row.category,
                    row.name,
                    row.aspect,
                    _plain(cell.implementation),
                    cell.tick,
                    cell.passed,
                    cell.asked,
                    " ".join(cell.cases),
                    " ".join(cell.failing),
                    " ".join(cell.aside),
                )
            )


def _plain(text: str) -> str:
    """A text that no spreadsheet reads as a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def write_markdown(status: StatusTable, stream: TextIO, site: str | None = None) -> None:
    """Write a table for each category and aspect, then the cases behind each row.

    Args:
        status: The table.
        stream: The output stream.
        site: The address of a site with the golden files, for links of case ids.
    """
    stream.write("\n\n".join(_markdown(status, site)) + "\n")


def _markdown(status: StatusTable, site: str | None) -> Iterator[str]:
    yield f"Derived from results of `pqassay suite run`, {_revisions(status.revisions)}. What a cell says:"
    yield "\n".join(f"- *{tick}*: {meaning}" for tick, meaning in TICKS.items())
    for category in dict.fromkeys(row.category for row in status.rows):
        for aspect, words in ASPECTS.items():
            rows = [row for row in status.rows if (row.category, row.aspect) == (category, aspect)]
            if rows:
                yield f"### {category}: {words}"
                heads = ["Feature", *map(escaped, status.implementations), "Cases"]
                yield table([heads, *(_row(row, site) for row in rows)])
    if status.against is not None:
        yield f"### Differs from {escaped(status.against)}"
        names = {row.feature: row.name for row in status.rows}
        heads = ["Feature", "There", "Measured", "Cases"]
        lines = [
            [
                escaped(names[one.feature]),
                one.public,
                f"{one.aspect}: {one.measured}",
                _cases(one.cases, site),
            ]
            for one in status.differences
        ]
        yield table([heads, *lines]) if lines else "Nothing that was measured."
    failing = [(row, cell) for row in status.rows for cell in row.cells if cell.failing]
    if failing:
        yield "### Cases for which a feature is to blame"
        yield "\n".join(
            f"- {escaped(row.name)}, {row.aspect}, {escaped(cell.implementation)}: {_cases(cell.failing, site)}"
            for row, cell in failing
        )


def _revisions(revisions: Sequence[str]) -> str:
    if not revisions:
        return "which name no revision of the golden cases"
    return f"revision {', '.join(revisions)} of the golden cases"


def _row(row: StatusRow, site: str | None) -> list[str]:
    shown = _cases(row.cases, site) if row.cases else f"no golden case proves it: {escaped(row.unasked)}"
    return [escaped(row.name), *(cell.words for cell in row.cells), shown]


def _cases(cases: Sequence[str], site: str | None) -> str:
    named = ", ".join(_case(case, site) for case in cases[:CASES_SHOWN])
    return f"{named} and {len(cases) - CASES_SHOWN:,} more" if cases[CASES_SHOWN:] else named


def _case(case: str, site: str | None) -> str:
    """The id of a case, linked to its page; cases of tables to write have no page."""
    if site is None or case.startswith("write/"):
        return code(case)
    return f"[{code(case)}]({site.rstrip('/')}/cases/{case.replace('/', '-')}.html)"
