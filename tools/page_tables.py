"""Tables that programs write into pages: each between two comments, the first of which names it.

All else on a page is written by people.  A test compares the tables with what they are made of, so that whoever changes
that writes them anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

TABLE = re.compile(r"(<!-- table: (?P<name>[a-z ]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def with_tables(
    page: str, tables: Mapping[str, Callable[[], Iterable[str]]], *, of_others: Collection[str] = ()
) -> str:
    """The page with its tables made anew.

    Args:
        page: Its text.
        tables: By the name in the comment, what makes the lines of a table.
        of_others: Names of tables that another program writes into the same page.

    Raises:
        KeyError: A comment names no table.
    """

    def made(found: re.Match[str]) -> str:
        if found["name"] in of_others:
            return found[0]
        return "\n".join([found[1], *tables[found["name"]](), "", found[3]])

    return TABLE.sub(made, page)


IN_README = ("pruning in short", "scan in short")
"""The tables of README, which several programs write."""


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
