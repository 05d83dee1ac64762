"""The commands against what a footer says beside its rows, and what may as well be left out of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pqassay.checks import remedies_of
from pqassay.checks.idx1_remedy import strip_command
from pqassay.file_under_test import FileUnderTest
from pqassay_spec.compact_thrift import is_text

OPTIONS = {
    "PQF-020": "--row-group-hints",
    "PQF-021": "--row-group-hints",
    "PQF-030": "--sorting-columns",
    "PQF-031": "--row-group-hints",
    "PQF-061": "--encoding-stats",
    "PQF-075": "--sorting-columns",
}
"""What is removed where one of these rules is broken: other fields say the same, or the pages do."""

ATTACHED = {"bloom filter": "--bloom-filters", "column index": "--page-index", "offset index": "--page-index"}
"""Structures without which the rows are the same."""


@remedies_of("PQF")
def remedy(file: FileUnderTest, rule: str) -> str:
    """The command for a broken rule; empty where nothing but writing the file anew helps."""
    if rule in OPTIONS:
        return strip_command(file, OPTIONS[rule])
    if rule in ("PQF-006", "PQF-007", "PQF-010"):
        keys = list(dict.fromkeys(_broken_keys(file, rule)))
        named = [part for key in keys for part in ("--key", key)]
        return strip_command(file, *named) if keys and all(map(is_text, keys)) else ""
    if rule in ("PQF-008", "PQF-009"):
        found = list(_outside(file) if rule == "PQF-008" else _overlapping(file))
        return strip_command(file, *sorted(set(found))) if found and all(found) else ""
    return ""


def _broken_keys(file: FileUnderTest, rule: str) -> Iterator[str]:
    """The keys of pairs that break a rule."""
    times = Counter(pair.key for pair in file.key_values)
    for pair in file.key_values:
        broken = {
            "PQF-006": times[pair.key] > 1,
            "PQF-007": not is_text(pair.key) or (pair.value is not None and not is_text(pair.value)),
            "PQF-010": pair.value is None,
        }
        if broken[rule]:
            yield pair.key


def _outside(file: FileUnderTest) -> Iterator[str]:
    """The option against each range outside the body; empty for what the rows need."""
    for given in (*file.offsets, *file.ranges):
        if not file.in_body(given):
            yield ATTACHED.get(given.kind, "")


def _overlapping(file: FileUnderTest) -> Iterator[str]:
    """The option against each of two ranges that overlap; empty where the rows need both."""
    widest = None
    for given in file.ranges:
        if not file.in_body(given):
            continue
        if widest is not None and given.start < widest.end:
            options = {ATTACHED[kind] for kind in (widest.kind, given.kind) if kind in ATTACHED}
            yield from options or ("",)
        if widest is None or given.end > widest.end:
            widest = given
