"""Counters of the data that remain after each rung, and of the fetched data."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Self

from pqassay_reader.query.fetching.ranges import Fetched
from pqassay_reader.query.rungs import Rung


@dataclass
class Left:
    """The data that remain to be read.

    Attributes:
        files: Number of files.
        row_groups: Number of row groups.
        rows: Number of rows.
        pages: Number of pages; ``None`` if the files do not give it.
        length: Bytes of pages and dictionaries.
        requests: Number of requests, with one for each page.
        metadata: Bytes of metadata that were read for the step.
    """

    files: int = 0
    row_groups: int = 0
    rows: int = 0
    pages: int | None = 0
    length: int = 0
    requests: int = 0
    metadata: int = 0

    def __iadd__(self, other: Left) -> Self:
        for name, amount in vars(other).items():
            own = getattr(self, name)
            setattr(self, name, None if own is None or amount is None else own + amount)
        return self

    def __sub__(self, other: Left) -> Left:
        """The rest after subtracting a part."""
        found = replace(self)
        found += Left(**{name: amount and -amount for name, amount in vars(other).items()})
        return found


EVERYTHING = "everything"
"""The name of the step before the first rung."""


@dataclass
class Counters:
    """Counters of one scan, which several threads may update.

    Attributes:
        left: The rest after each rung, and before the first (`EVERYTHING`).
        metadata: The fetched metadata.
        data: The fetched pages.
        files: Files that were scanned to the end or to the limit.
        is_stopped: Whether the limit ended the scan.
        kept_facts: Files whose metadata were cached by an earlier scan.
        used: The structures that were used in decisions: ``IDX1``, ``distinct sets``, ``statistics``, ``bloom filter``, ``column index``,
            ``boundary order``, ``offset index``, ``_pm``.
    """

    left: dict[str, Left] = field(default_factory=lambda: {name: Left() for name in (EVERYTHING, *Rung)})
    metadata: Fetched = field(default_factory=Fetched)
    data: Fetched = field(default_factory=Fetched)
    files: int = 0
    is_stopped: bool = False
    kept_facts: int = 0
    used: set[str] = field(default_factory=set[str])
    _lock: Lock = field(default_factory=Lock, repr=False)

    def count(self, step: str, left: Left) -> None:
        """Add to the rest after a step."""
        with self._lock:
            self.left[step] += left

    def note(self, *used: str) -> None:
        """Record the structures that were used in a decision."""
        with self._lock:
            self.used.update(used)


__all__ = ["EVERYTHING", "Counters", "Left"]
