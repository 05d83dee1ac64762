"""Known defects of writers, which explain findings on their files.

The table ``quirks.toml`` lists the application with a defect, the affected versions, and the rules that it breaks.  `explanation`
looks a finding up. It never removes a finding or changes its verdict.

    >>> explanation("PQF-021", "parquet-mr version 1.12.0 (build db75a6815f2ba1d1ee89d1a90aeb296f1f3a8f20)")
    'known defect of parquet-mr, fixed in 1.12.1: file_offset of row groups was wrong, so readers of splits lost row groups; https://issues.apache.org/jira/browse/PARQUET-2078'
    >>> explanation("PQF-021", "parquet-mr version 1.12.1")
"""

from __future__ import annotations

import fnmatch
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from pqassay_spec.rules import created_by
from pqassay_spec.rules.created_by import Writer


@dataclass(frozen=True)
class Quirk:
    """One defect.

    Attributes:
        application: The application in ``created_by``; ``*`` matches anything.
        rules: The rules that its files break.
        defect: What it does.
        since: The first version with the defect; empty for the very first.
        before: The first version without it; empty if unknown.
        link: A description of it; empty if there is none.
        intended: Whether it is intended behavior rather than a defect.
        where: The name of the judge's condition under which it explains a finding; empty if the rule is enough.
    """

    application: str
    rules: tuple[str, ...]
    defect: str
    since: str = ""
    before: str = ""
    link: str = ""
    intended: bool = False
    where: str = ""

    def is_of(self, writer: Writer) -> bool:
        """Whether a writer may have it. A version without numbers may be any version."""
        if not fnmatch.fnmatchcase(writer.application, self.application):
            return False
        if not writer.version:
            return True
        return created_by.numbers(self.since) <= writer.version and (
            not self.before or writer.version < created_by.numbers(self.before)
        )

    @property
    def sentence(self) -> str:
        """The defect or habit in one sentence, for a report."""
        name = self.application.removesuffix("*")
        versions = f", fixed in {self.before}" if self.before else ""
        link = f"; {self.link}" if self.link else ""
        return f"known {'habit' if self.intended else 'defect'} of {name}{versions}: {self.defect}{link}"


@cache
def quirks() -> tuple[Quirk, ...]:
    """Every quirk, in the order of the table."""
    rows: list[dict[str, Any]] = tomllib.loads(
        (files("pqassay_spec.rules") / "quirks.toml").read_text("utf-8")
    )["quirk"]
    return tuple(Quirk(rules=tuple(row.pop("rules")), **row) for row in rows)


def quirks_of(rule: str) -> list[Quirk]:
    """The quirks that break a rule."""
    return [quirk for quirk in quirks() if rule in quirk.rules]


def explanation(rule: str, text: str | None, holds: Callable[[str], bool] | None = None) -> str | None:
    """The known defect that explains a broken rule in a file; ``None`` if there is none.

    Args:
        rule: The rule.
        text: The file's ``created_by``.
        holds: Whether a condition of the table is true for this finding; by default all are.
    """
    known = quirks_of(rule)
    writer = created_by.parse(text) if text and known else None
    if writer is None:
        return None
    fitting = (
        quirk
        for quirk in known
        if quirk.is_of(writer) and (not quirk.where or not holds or holds(quirk.where))
    )
    return next((quirk.sentence for quirk in fitting), None)
