"""Profiles: the intended readers of a file, and the rules that matter more to them.

The table ``profiles.toml`` lists them.  A profile makes verdicts stricter, never weaker.

    >>> profile("spark").verdict_of(rules()["PQF-010"]), rules()["PQF-010"].verdict
    ('FAIL', 'WARN')
"""

from __future__ import annotations

import fnmatch
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from pqassay_spec.rules.catalogue import VERDICTS, Rule, Verdict, rules

__all__ = ["NAMES", "Profile", "Promotion", "profile", "profiles", "rules"]

NAMES = ("strict", "spark", "arrow", "questdb")
"""Every profile, so a command line can list them without reading the table."""


@dataclass(frozen=True)
class Promotion:
    """Rules that get a stricter verdict.

    Attributes:
        rules: Pattern of their ids.
        verdict: The new verdict.
        reason: Why.
        before: Only applies to rules with this verdict; empty for all.
    """

    rules: str
    verdict: Verdict
    reason: str
    before: Verdict | None = None

    def promotes(self, rule: Rule) -> bool:
        """Whether it makes the verdict on a rule stricter."""
        return (
            self.before in (None, rule.verdict)
            and VERDICTS.index(self.verdict) < VERDICTS.index(rule.verdict)
            and fnmatch.fnmatchcase(rule.id, self.rules)
        )


@dataclass(frozen=True)
class Profile:
    """A set of promotions."""

    name: str
    title: str
    promotions: tuple[Promotion, ...]

    def promotion_of(self, rule: Rule) -> Promotion | None:
        """The strictest promotion of a rule; ``None`` if its verdict stays the same."""
        fitting = [promotion for promotion in self.promotions if promotion.promotes(rule)]
        return min(fitting, key=lambda promotion: VERDICTS.index(promotion.verdict), default=None)

    def verdict_of(self, rule: Rule) -> Verdict:
        """The verdict on a broken rule."""
        promotion = self.promotion_of(rule)
        return rule.verdict if promotion is None else promotion.verdict


@cache
def profiles() -> dict[str, Profile]:
    """Every profile by its name."""
    rows: list[dict[str, Any]] = tomllib.loads(
        (files("pqassay_spec.rules") / "profiles.toml").read_text("utf-8")
    )["profile"]
    by_name: dict[str, Profile] = {}
    for row in rows:
        promotions = (
            Promotion(entry["rules"], entry["verdict"], entry["reason"], entry.get("from"))
            for entry in row["promotions"]
        )
        by_name[row["name"]] = Profile(row["name"], row["title"], tuple(promotions))
    return by_name


def profile(name: str) -> Profile:
    """A profile by its name. Raises `KeyError`."""
    return profiles()[name]
