"""The museum: defects of real software, and the golden cases that show them.

``museum.toml`` has, for each case, the effect of the defect on users, and the affected software; the generator copies it into
the manifests. It also lists defects that no case can show, with the reason.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from pqassay_spec.golden.case import Exhibit, Sighting


@dataclass(frozen=True)
class Absent:
    """A defect, or a part of one, that no golden case shows.

    Attributes:
        number: Its number.
        defect: Its description.
        reason: Why it is not shown.
        seen: The affected software.
    """

    number: int
    defect: str
    reason: str
    seen: list[Sighting]


@cache
def _table() -> dict[str, list[dict[str, Any]]]:
    return tomllib.loads((files("pqassay_golden.museum") / "museum.toml").read_text("utf-8"))


def _seen(row: dict[str, Any]) -> list[Sighting]:
    return [Sighting(**sighting) for sighting in row["seen"]]


@cache
def exhibits() -> Mapping[str, Exhibit]:
    """The exhibits by the id of their case.

    Raises:
        ValueError: A case is in the table twice.
    """
    found: dict[str, Exhibit] = {}
    for row in _table()["exhibit"]:
        if row["case"] in found:
            raise ValueError(f"museum.toml holds {row['case']} twice")
        found[row["case"]] = Exhibit(numbers=row["numbers"], story=row["story"], seen=_seen(row))
    return found


def absent() -> list[Absent]:
    """The defects that are not shown."""
    return [Absent(row["number"], row["defect"], row["reason"], _seen(row)) for row in _table()["absent"]]
