"""The gate of a check: the findings that fail it, and the number of files that may have some.

A gate selects findings by effect: the worst possible effect of breaking the rule, or effects observed in engines. It changes the exit code,
but no verdict: a file that breaks a rule stays nonconformant or untrue.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, get_args

from pqassay.errors import UsageError
from pqassay_spec.rules.catalogue import Effect

if TYPE_CHECKING:
    from pqassay.report.model import Finding

EFFECTS: dict[str, Effect] = {effect.replace(" ", "-"): effect for effect in get_args(Effect)}
"""Effects by their names on a command line, the most severe first."""


@dataclass(frozen=True)
class Gate:
    """The condition that fails a check, and its result.

    Attributes:
        effects: The effects whose findings count, if possible or observed in an engine; all if empty. If an engine showed the effect, a WARN also counts.
        max_files: The number of files that may have counting findings.
        files: The number of files that have counting findings.
    """

    effects: list[Effect] = field(default_factory=list[Effect])
    max_files: int = 0
    files: int = 0

    @property
    def passed(self) -> bool:
        """Whether the number of files is within the limit."""
        return self.files <= self.max_files

    def concerns(self, finding: Finding) -> bool:
        """Whether a finding has an effect of this gate.

        >>> from types import SimpleNamespace as Some
        >>> Gate(["rows lost"]).concerns(Some(could="pruning lost", observed=None))
        False
        >>> Gate(["rows lost"]).concerns(Some(could="read fails", observed=Some(effect="rows lost")))
        True
        """
        if not self.effects:
            return True
        seen = None if finding.observed is None else finding.observed.effect
        return finding.could in self.effects or seen in self.effects

    def has_seen(self, finding: Finding) -> bool:
        """Whether engines showed an effect of this gate; then a WARN counts like a FAIL.

        >>> from types import SimpleNamespace as Some
        >>> found = Some(verdict="WARN", known=False, could="rows lost", observed=Some(effect="rows lost"))
        >>> Gate(["rows lost"]).has_seen(found), Gate(["read fails"]).has_seen(found), Gate([]).has_seen(found)
        (True, False, False)
        """
        seen = None if finding.observed is None else finding.observed.effect
        return finding.verdict == "WARN" and not finding.known and seen in self.effects

    def after(self, files: Iterable[Sequence[Finding]]) -> Gate:
        """This gate with the number of files that fail it, from the findings of each file that otherwise count."""
        return replace(self, files=sum(any(map(self.concerns, findings)) for findings in files))

    @property
    def about(self) -> str:
        """The findings that count, in words.

        >>> Gate(["rows lost", "wrong rows"]).about
        'rows lost or wrong rows'
        """
        return " or ".join(self.effects) if self.effects else "any finding that counts"

    @property
    def line(self) -> str:
        """The gate in one line.

        >>> Gate(["rows lost"], 2, 3).line
        'failed: rows lost in 3 files; at most 2 are allowed'
        >>> Gate([], 5, 1).line
        'passed: any finding that counts in 1 file; at most 5 are allowed'
        """
        files = f"{self.files:,} file{'s' * (self.files != 1)}"
        allowed = (
            "none is"
            if not self.max_files
            else f"at most {self.max_files:,} {'is' if self.max_files == 1 else 'are'}"
        )
        return f"{'passed' if self.passed else 'failed'}: {self.about} in {files}; {allowed} allowed"


def gate_of(fail_on: Sequence[str], max_files: int | None) -> Gate | None:
    """The gate for effects as on a command line, and a number of files; ``None`` if both are absent.

    Raises:
        UsageError: An effect is unknown, or the number is negative.

    >>> gate_of(["rows-lost,wrong-rows"], None)
    Gate(effects=['rows lost', 'wrong rows'], max_files=0, files=0)
    """
    if not fail_on and max_files is None:
        return None
    if max_files is not None and max_files < 0:
        raise UsageError(f"the number of tolerated files must be 0 or more, not {max_files}")
    names = [name.strip() for names in fail_on for name in names.split(",")]
    for name in names:
        if name not in EFFECTS:
            raise UsageError(f"there is no effect {name!r}; effects are {', '.join(EFFECTS)}")
    return Gate([EFFECTS[name] for name in dict.fromkeys(names)], max_files or 0)
