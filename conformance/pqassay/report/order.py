"""The order of files and rules in reports for people: what loses most comes first. JSON keeps the order of the check."""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

from pqassay.report.model import FileReport
from pqassay_spec.rules.catalogue import VERDICTS, Effect

EFFECTS: tuple[str, ...] = get_args(Effect)
"""What a user notices, the gravest first."""

Gravity = tuple[int, int]
"""A verdict and an effect as numbers; the gravest is the least."""

UNJUDGED: Gravity = (VERDICTS.index("WARN"), -1)
"""Nobody knows what a file holds that could not be judged: it comes before every warning."""

UNSEEN: Gravity = (len(VERDICTS), -1)
"""Nothing is wrong with what could be checked of a file."""

HARMLESS: Gravity = (len(VERDICTS), 0)
"""Nothing is wrong with a file, or only what is known."""


def gravity(verdict: str, effect: str) -> Gravity:
    """The gravity of a finding: first its verdict counts, then its effect. Those of runs, which have others, come last."""
    return _rank(VERDICTS, verdict), _rank(EFFECTS, effect)


def _rank(names: tuple[str, ...], name: str) -> int:
    return names.index(name) if name in names else len(names)


def gravest_first(files: Iterable[FileReport]) -> list[FileReport]:
    """Files by the gravest of their findings that are not known; equal ones stay in their order."""
    return sorted(files, key=_gravest)


def _gravest(file: FileReport) -> Gravity:
    found = [gravity(each.verdict, each.effect) for each in file.findings if not each.known]
    if file.outcome == "errored":
        found.append(UNJUDGED)
    if file.outcome == "conformant where checked":
        found.append(UNSEEN)
    return min(found, default=HARMLESS)
