"""The rungs of the ladder: the techniques of a scan, in the order in which they save work."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from pqassay_reference.errors import Refused


class Rung(StrEnum):
    """A technique that can be switched off without changing the rows."""

    METADATA = "metadata"
    PROJECTION = "projection"
    FILES = "files"
    ROW_GROUPS = "row-groups"
    SETS = "sets"
    PAGES = "pages"
    LATE = "late"
    DICTIONARIES = "dictionaries"
    FETCH = "fetch"
    STREAM = "stream"


TITLES: dict[Rung, str] = {
    Rung.METADATA: "metadata is kept, or taken from _pm",
    Rung.PROJECTION: "columns that the query needs",
    Rung.FILES: "files by their embedded index",
    Rung.ROW_GROUPS: "row groups by statistics and bloom filters",
    Rung.SETS: "row groups by distinct sets of the index directory, and pages with the next",
    Rung.PAGES: "pages by column index and offset index",
    Rung.LATE: "columns of the condition first, the others for rows that are left",
    Rung.DICTIONARIES: "dictionaries that a page refers to, kept in the result",
    Rung.FETCH: "neighboring ranges in one request, several at once",
    Rung.STREAM: "batches in bounded memory, until enough rows are found",
}
"""A short description of each rung."""

ALL = frozenset(Rung)


def rungs_without(names: Iterable[str]) -> frozenset[Rung]:
    """All rungs except some.

    >>> sorted(ALL - rungs_without(["late", "pages"]))
    [<Rung.LATE: 'late'>, <Rung.PAGES: 'pages'>]

    Raises:
        Refused: There is no such rung.
    """
    left = set(ALL)
    for name in names:
        if name not in list(Rung):
            raise Refused(f"there is no technique {name}; techniques are: {', '.join(Rung)}")
        left.discard(Rung(name))
    return frozenset(left)
