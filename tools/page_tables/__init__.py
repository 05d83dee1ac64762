"""Tables that are made of stored figures and put into pages, each between two comments, the first of which names it.

All else on a page is written by people.  Each module of this folder has `TABLES`, by name what makes the lines of a table from the
figures; where those are not one file of JSON, it has `read`, too.  `tools/generate.py` says which pages and figures belong to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

TABLE = re.compile(r"(<!-- table: (?P<name>[a-z ]+) -->\n).*?(<!-- end -->)", re.DOTALL)

QUIET = 0.9
"""Share of the processors below which a measurement says that it was not alone."""

Figures = Mapping[str, Any]
"""Figures of a benchmark, as its JSON has them."""

Tables = Mapping[str, Callable[[Any], Iterable[str]]]
"""By the name in the comment, what makes the lines of a table from figures."""


def with_tables(page: str, tables: Tables, figures: Any) -> str:
    """The page with these tables made again; those of other names stay as they are."""

    def made(found: re.Match[str]) -> str:
        if found["name"] not in tables:
            return found[0]
        return "\n".join([found[1], *tables[found["name"]](figures), "", found[3]])

    return TABLE.sub(made, page)


def not_alone(figures: Figures, but: str = "") -> Iterator[str]:
    """A warning where other programs ran beside the measurement; ``but`` says what follows from it."""
    if figures["share"] < QUIET:
        yield (
            f"Other programs left {figures['share']:.0%} of the processors to it{but}: repeat it on a machine that does nothing else."
        )


def duration(seconds: float) -> str:
    """Seconds in the unit that people would use, with two digits.

    >>> duration(0.00031), duration(75), duration(7300), duration(400_000)
    ('0.31 ms', '75 s', '2.0 h', '4.6 days')
    """
    for limit, unit, size in (
        (1e-3, "µs", 1e-6),
        (1, "ms", 1e-3),
        (180, "s", 1),
        (7200, "min", 60),
        (172_800, "h", 3600),
    ):
        if abs(seconds) < limit:
            return f"{two_digits(seconds / size)} {unit}"
    return f"{two_digits(seconds / 86400)} days"


def size(count: float) -> str:
    """Bytes in a unit of powers of ten.

    >>> size(24.8), size(131072), size(64e12)
    ('25 B', '130 kB', '64 TB')
    """
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if count < 999.5:
            return f"{two_digits(count)} {unit}"
        count /= 1000
    return f"{two_digits(count)} PB"


def two_digits(value: float) -> str:
    """A number with the two digits that a plan can promise.

    >>> two_digits(0.4219), two_digits(9.96), two_digits(131.07), two_digits(20_400)
    ('0.42', '10', '130', '20,000')
    """
    if value == 0:
        return "0"
    rounded = float(f"{value:.1e}")
    if rounded >= 10:
        return f"{rounded:,.0f}"
    return f"{rounded:.1f}" if rounded >= 1 else f"{rounded:.2g}"


def grid(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table in Markdown; the first column to the left, numbers to the right."""
    yield f"| {' | '.join(header)} |"
    yield f"| --- |{' ---: |' * (len(header) - 1)}"
    for row in rows:
        if len(row) != len(header):
            raise ValueError(f"{len(row)} cells in a row of {len(header)} columns: {row}")
        yield f"| {' | '.join(row)} |"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table of texts in Markdown."""
    yield f"| {' | '.join(header)} |"
    yield f"|{' --- |' * len(header)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def columns(items: Iterable[Any], cells: Mapping[str, Callable[[Any], str]]) -> Iterator[str]:
    r"""A table with a row for each item; ``cells`` has, by the header of each column, what makes its cells.

    >>> print(*columns([7, 30], {"size": size, "in words": str}), sep="\n")
    | size | in words |
    | --- | ---: |
    | 7.0 B | 7 |
    | 30 B | 30 |
    """
    yield from grid(list(cells), ([cell(item) for cell in cells.values()] for item in items))
