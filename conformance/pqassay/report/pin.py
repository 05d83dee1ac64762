"""The pin of a check: the release whose rules fail it, so that an upgrade of pqassay fails no build.

A pin changes the exit code but no verdict: findings of later rules are reported, and the last line says that
they do not fail the check.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pqassay.errors import UsageError
from pqassay_spec import __version__
from pqassay_spec.rules.catalogue import RELEASES, VERDICTS, rules

if TYPE_CHECKING:
    from pqassay.report.model import Finding

KNOWN = ", ".join(RELEASES)
"""The releases to which a check can be pinned, in words."""

NO_PREVIEW = (
    "previews no longer exist: every rule fails a check. Remove it; to report rules since "
    f"{RELEASES[-1]} without failing the check, write {{}}"
)
"""The message for users who still request previews, with a place for the replacement."""


def release_number(release: str) -> tuple[int, ...]:
    """A minor release as numbers, for comparison.

    >>> release_number("0.10") > release_number("0.9")
    True
    """
    return tuple(map(int, release.split(".")))


@dataclass(frozen=True)
class Pin:
    """The release to which a check is pinned.

    Attributes:
        rules: The minor release. Rules of this and earlier releases fail the check.
        later: Newer rules with findings, by id, each with its release.
    """

    rules: str
    later: dict[str, str] = field(default_factory=dict[str, str])

    def line(self, findings: Iterable[Finding]) -> str:
        """A line with the number of findings of later rules that do not fail the check; empty if there are none.

        >>> from types import SimpleNamespace as Some
        >>> Pin("0.6", {"DLT-012": "0.7"}).line([Some(rule="DLT-012", verdict="FAIL")])
        'NOT FAILING: 1 FAIL by rules since 0.7 (rules = "0.6")'
        """
        found = [one for one in findings if one.rule in self.later]
        if not found:
            return ""
        verdicts = [one.verdict for one in found]
        counts = ", ".join(f"{verdicts.count(one):,} {one}" for one in VERDICTS if one in verdicts)
        first = min((self.later[one.rule] for one in found), key=release_number)
        return f'NOT FAILING: {counts} by rules since {first} (rules = "{self.rules}")'


def require_release(release: str | None) -> None:
    """Refuse a pin to something other than a release of pqassay.

    Raises:
        UsageError: The text is not a release.
    """
    if release is not None and release not in RELEASES:
        raise UsageError(f"pqassay {__version__} has no rules of a release {release!r}; known are {KNOWN}")


def pinned(release: str, findings: Iterable[Finding]) -> Pin:
    """The pin of a check with findings to a release."""
    pin, known = release_number(release), rules()
    releases = {rule: known[rule].release for rule in sorted({finding.rule for finding in findings})}
    return Pin(release, {rule: since for rule, since in releases.items() if release_number(since) > pin})
