"""Consequences: findings that say again what another finding says, and are left out beside it.

A number is compared in several places: with what the format allows, with what other structures say, and with the values.  So one
false number breaks several rules.  The rule that says best which number is false speaks; the others are *not checked*, as
everywhere where another rule is broken.

A rule is left out of a column, and only if every row group in which it is broken has a cause.  A rule may be broken there for a
reason of its own as well: then it shows as soon as its cause is mended.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from pqassay.plugins import rooms

CONSEQUENCES: Mapping[str, tuple[str, ...]] = {
    # Values are miscounted.
    "PQF-017": ("PQF-057",),
    "STA-044": ("STA-013",),
    "STA-045": ("STA-012",),
    "STA-054": ("STA-053",),
    "STA-056": ("STA-053",),
    "PIX-032": ("PIX-056", "STA-013", "STA-044"),
    # A null count is false.
    "STA-020": ("STA-010", "STA-043", "STA-046"),
    "STA-031": ("STA-043", "STA-050"),
    "STA-043": ("STA-010",),
    "STA-070": ("STA-071",),
    "STA-074": ("STA-043", "STA-050", "STA-071"),
    "PIX-028": ("PIX-052", "PIX-053", "STA-010", "STA-043"),
    "PIX-074": ("PIX-052", "PIX-053", "PIX-070", "STA-010", "STA-043", "STA-071"),
    "PIX-043": ("PIX-053", "PQF-072"),
    # A page is falsely called one of nothing but nulls, or not called so.
    "PIX-022": ("PIX-026", "PIX-052"),
    "PIX-023": ("PIX-026", "PIX-052"),
    "PIX-026": ("PIX-038", "PIX-042", "PIX-052", "PIX-053", "PIX-054", "PIX-058"),
    "PIX-053": ("PIX-052",),
    # A level histogram is false.
    "STA-019": ("PQF-017", "PQF-057", "STA-046"),
    "PIX-072": ("PIX-058", "STA-019", "STA-046"),
    # A page is listed at a place where it is not, or with other rows.
    "PIX-012": ("PIX-040",),
    "PIX-013": ("PIX-040", "PIX-041"),
    "PIX-014": ("PIX-040", "PIX-041"),
    "PIX-017": ("PIX-040",),
    "PIX-016": ("PIX-042", "PIX-054"),
    "PIX-038": ("PIX-042", "PIX-054", "PIX-058", "PIX-072"),
    "PIX-042": ("PIX-054",),
    # A bound is false.
    "STA-015": ("STA-006", "STA-040", "STA-041", "STA-048"),
    "STA-040": ("STA-006",),
    "STA-041": ("STA-006",),
    "STA-048": ("STA-006",),
    "STA-007": ("STA-089",),
    "STA-050": ("STA-030",),
    "STA-052": ("STA-030",),
    "STA-055": ("STA-030",),
    "PIX-025": ("PIX-050", "PIX-051"),
    "PIX-034": ("PIX-050", "PIX-051", "STA-040", "STA-041"),
    "PIX-035": ("PIX-050", "PIX-051", "PIX-052", "STA-042"),
    # An index of the directory is elsewhere, or says something false.
    "DIR-014": ("DIR-013",),
    "DIR-026": ("DIR-025",),
    "DIR-028": ("DIR-025", "DIR-026"),
    "DIR-034": ("DIR-036",),
    "DIR-035": ("DIR-033",),
    "DIR-036": ("DIR-033",),
    "DIR-038": ("DIR-034",),
    "DIR-045": ("IDX1-016",),
}
"""Rules, each with those beside which it is left out; a plug-in has its own in a module of this name."""

ACQUITTED = {
    ("STA-020", "STA-046"),
    ("PIX-026", "PIX-058"),
    ("PIX-038", "PIX-072"),
    ("PIX-038", "PIX-058"),
}
"""Rules beside a cause with a weaker verdict: it says that of the two numbers the one is false that no reader relies on."""


@cache
def consequences() -> Mapping[str, tuple[str, ...]]:
    """The consequences that the judge knows, and those of its plug-ins."""
    return {
        rule: causes for room in rooms("checks.consequences") for rule, causes in room.CONSEQUENCES.items()
    }
