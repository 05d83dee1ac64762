"""The waterfall of a scan: the rest after each rung, and the savings of the rung.

Source: chapter ``scan.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pqassay_reader.query.explained.counters import EVERYTHING, Left
from pqassay_reader.query.rungs import TITLES, Rung
from pqassay_reader.query.scan import Scan

WITHOUT_BYTES = (EVERYTHING, Rung.METADATA)
"""Steps without savings in bytes of pages; the second one saves reads of metadata."""


@dataclass(frozen=True)
class Step:
    """A step of the waterfall.

    Attributes:
        name: The name of the rung, or `EVERYTHING`.
        title: What the rung does.
        is_on: Whether it was used.
        left: The rest after it.
        before: Bytes that were left before it.
    """

    name: str
    title: str
    is_on: bool
    left: Left
    before: int

    @property
    def saved(self) -> int | None:
        """Bytes that it saved, negative if it fetched more; ``None`` for a step without savings in bytes of pages."""
        return None if self.name in WITHOUT_BYTES else self.before - self.left.length

    @property
    def share(self) -> float | None:
        """Its savings, as a share of the rest before it."""
        return None if self.saved is None or not self.before else self.saved / self.before


def waterfall(scan: Scan) -> list[Step]:
    """The steps of all iterations of a scan so far: everything, then one for each rung."""
    left = scan.counters.left
    before = left[EVERYTHING].length
    steps = [Step(EVERYTHING, "all columns of all files", True, left[EVERYTHING], before)]
    for rung in Rung:
        steps.append(Step(rung.value, TITLES[rung], rung in scan.rungs, left[rung], before))
        before = left[rung].length
    return steps


# ------------------------------------------------------------------------------------------------------- as a record


def explanation(scan: Scan) -> dict[str, Any]:
    """The waterfall of a scan as one JSON object; the guide describes its members."""
    counters = scan.counters
    return {
        "rows": counters.left[Rung.STREAM].rows,
        "limit_reached": counters.is_stopped,
        "files": len(scan.files),
        "bytes": sum(scan.files.values()),
        "rungs": [_step_record(step) for step in waterfall(scan)],
        "fetched": {
            kind: {"bytes": fetched.length, "requests": fetched.requests}
            for kind, fetched in (("metadata", counters.metadata), ("data", counters.data))
        },
        "used": sorted(counters.used),
        "messages": dict(scan.messages),
        "aside": {name: list(lines) for name, lines in scan.aside.items()},
    }


def _step_record(step: Step) -> dict[str, Any]:
    left = step.left
    record: dict[str, Any] = {
        "rung": step.name,
        "title": step.title,
        "on": step.is_on,
        "files": left.files,
        "row_groups": left.row_groups,
        "rows": left.rows,
        "pages": left.pages,
        "bytes": left.length,
        "requests": left.requests,
        "metadata_bytes_read": left.metadata,
    }
    if step.saved is not None:
        record["bytes_saved"] = step.saved
    return record


__all__ = ["Step", "explanation", "waterfall"]
