"""The use of a baseline in a run, as part of a report."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StaleEntry:
    """An entry of the baseline that no longer occurs, and the reason."""

    path: str
    rule: str
    reason: str
    column: str | None = None

    @property
    def line(self) -> str:
        """The entry in one line."""
        column = f", column {self.column}" if self.column is not None else ""
        return f"{self.rule} {self.path}{column}: {self.reason}"


@dataclass(frozen=True)
class BaselineState:
    """The use of a baseline in this run.

    ``known`` counts the findings that it lists, ``unseen`` its entries about files or rules that this run did not check. ``stale`` are the
    entries that no longer occur. ``later`` counts findings of rules that are newer than ``release``, which wrote the baseline.
    """

    path: str
    known: int
    unseen: int
    stale: list[StaleEntry]
    release: str = ""
    later: int = 0

    @property
    def line(self) -> str:
        """The counts in one line."""
        counts = f"{self.known:,} known, {self.unseen:,} not looked at, {len(self.stale):,} stale"
        new = (
            f", {self.later:,} by rules newer than pqassay {self.release}, which wrote the baseline"
            if self.later
            else ""
        )
        return f"{self.path}: {counts}{new}"
