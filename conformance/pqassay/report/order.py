"""The order of files and rules in reports for people: the worst comes first. JSON keeps the order of the check.

The order is by verdict, then by observed effect, then by possible effect: with equal verdicts, a finding that
made an engine lose rows comes before one that could do so.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

from pqassay.report.model import FileReport, Finding
from pqassay_spec.rules.catalogue import VERDICTS, Effect
from pqassay_spec.rules.observed import HARM

EFFECTS: tuple[str, ...] = get_args(Effect)
"""The effects that a user notices, the most severe first."""

Gravity = tuple[int, int, int]
"""A sort key of verdict, observed effect and possible effect; the most severe has the least."""

UNJUDGED: Gravity = (VERDICTS.index("WARN"), -1, 0)
"""The gravity of a file that could not be judged: it may hide anything, so it comes before every warning."""

UNSEEN: Gravity = (len(VERDICTS), -1, 0)
"""The gravity of a file whose checked parts are all right, but which has gaps."""

HARMLESS: Gravity = (len(VERDICTS), 0, 0)
"""The gravity of a file without findings, or with only known findings."""


def gravity(verdict: str, observed: str, could: str) -> Gravity:
    """The gravity of a finding, from its verdict, the observed effect and the possible effect.

    Without observed harm, it does not matter whether any engine could be asked. Verdicts of runs, which are different words, come last.
    """
    return _rank(VERDICTS, verdict), _rank(HARM, observed), _rank(EFFECTS, could)


def gravity_of(finding: Finding) -> Gravity:
    """The gravity of a finding of a check."""
    return gravity(finding.verdict, observed_effect(finding), finding.could)


def observed_effect(finding: Finding) -> str:
    """The observed effect of a finding's rule in one word; empty if the report has none."""
    return "" if finding.observed is None else finding.observed.effect


def is_harmful(findings: Iterable[Finding]) -> bool:
    """Whether a finding that is not known could lose rows, return wrong rows or fail reads; then its file is not shown as good."""
    return any(finding.could in HARM and not finding.known for finding in findings)


def _rank(names: tuple[str, ...], name: str) -> int:
    return names.index(name) if name in names else len(names)


def gravest_first(files: Iterable[FileReport]) -> list[FileReport]:
    """Files in the order of their most severe finding that is not known; equal files keep their order."""
    return sorted(files, key=_gravest)


def _gravest(file: FileReport) -> Gravity:
    found = [gravity_of(each) for each in file.findings if not each.known]
    if file.outcome == "errored":
        found.append(UNJUDGED)
    if file.outcome == "conformant where checked":
        found.append(UNSEEN)
    return min(found, default=HARMLESS)
