"""The museum: defects that software had, and the golden cases that show them.

``museum.toml`` says of each case what the defect did to people, and where it was seen; the generator puts it into the
manifests. What no case can show is listed there, too, with the reason.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class Sighting:
    """Where a defect was seen.

    Attributes:
        software: What had it, or read it wrong.
        versions: Which; ``None`` where nobody wrote it down.
        reference: Link to where people spoke of it; ``None`` where they did not yet.
    """

    software: str
    versions: str | None = None
    reference: str | None = None

    def record(self) -> dict[str, str]:
        """As it stands in a manifest."""
        members = {"software": self.software, "versions": self.versions, "reference": self.reference}
        return {name: member for name, member in members.items() if member is not None}


@dataclass(frozen=True)
class Exhibit:
    """A golden case that shows a defect.

    Attributes:
        case: Its id.
        numbers: Numbers of the defects that it shows.
        story: What they did to people.
        seen: Where.
    """

    case: str
    numbers: tuple[int, ...]
    story: str
    seen: tuple[Sighting, ...]

    def record(self) -> dict[str, Any]:
        """As it stands in a manifest."""
        return {
            "numbers": list(self.numbers),
            "story": self.story,
            "seen": [sighting.record() for sighting in self.seen],
        }


@dataclass(frozen=True)
class Absent:
    """A defect, or a part of one, that no golden case shows.

    Attributes:
        number: Its number.
        defect: What it is.
        reason: Why it is not shown.
        seen: Where it was seen.
    """

    number: int
    defect: str
    reason: str
    seen: tuple[Sighting, ...]


@cache
def _table() -> dict[str, list[dict[str, Any]]]:
    return tomllib.loads((files("pqassay_reference.golden") / "museum.toml").read_text("utf-8"))


def _seen(row: dict[str, Any]) -> tuple[Sighting, ...]:
    return tuple(Sighting(**sighting) for sighting in row["seen"])


@cache
def exhibits() -> Mapping[str, Exhibit]:
    """The exhibits by the id of their case.

    Raises:
        ValueError: A case stands in the table twice.
    """
    found: dict[str, Exhibit] = {}
    for row in _table()["exhibit"]:
        if row["case"] in found:
            raise ValueError(f"museum.toml holds {row['case']} twice")
        found[row["case"]] = Exhibit(row["case"], tuple(row["numbers"]), row["story"], _seen(row))
    return found


def absent() -> list[Absent]:
    """What is not shown."""
    return [Absent(row["number"], row["defect"], row["reason"], _seen(row)) for row in _table()["absent"]]
