"""What became of a baseline in a run, as reports have it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StaleEntry:
    """An entry of the baseline that does not occur any more, and why that is known."""

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
    """Use of a baseline in this run.

    ``known`` counts the findings that it lists, ``unseen`` its entries about files or rules that this run did not
    look at; ``stale`` are those that do not occur any more.  ``later`` counts findings of rules that the ``release`` that wrote the
    baseline did not have, and that it therefore cannot list.
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
            f", {self.later:,} by rules that came after pqassay {self.release}, which wrote it"
            if self.later
            else ""
        )
        return f"{self.path}: {counts}{new}"
