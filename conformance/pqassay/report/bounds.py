"""Statistics of samples: upper bounds of a share of all files, and the sample size for a bound.

A bound is exact in the sense of Clopper and Pearson: whatever the true share is, the bound is below it in at
most ``risk`` of all samples. If the number of files is known, the hypergeometric distribution replaces the
binomial one, so a sample of nearly all files gives a tight bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

ANY = "any rule that counts"
"""The rule name for files of a sample that are nonconformant or untrue."""

UNKNOWN = "unknown"
"""The writer's name for files that do not name their writer."""


@dataclass(frozen=True)
class SampleBound:
    """An upper bound of the share of a writer's files that break a rule; of all files without ``writer``.

    In the sample, ``files`` were tested, and ``broken`` of them break the rule. With the confidence of the sample, at most the fraction
    ``at_most`` of all files of the writer break it.
    """

    rule: str
    files: int
    broken: int
    at_most: float
    writer: str | None = None


@dataclass(frozen=True)
class Sampled:
    """The sample on which a report is based.

    ``judged`` of ``files`` files were chosen by ``seed``, in proportion from ``strata`` strata. ``wanted`` is the bound for which the size was chosen, as a fraction; ``None`` if a number of files was asked for.
    """

    files: int
    judged: int
    strata: int
    seed: int
    confidence: float
    wanted: float | None = None
    bounds: list[SampleBound] = field(default_factory=list[SampleBound])

    @property
    def lines(self) -> list[str]:
        """The sample and its bounds, one per line."""
        head = (
            f"sample: {self.judged:,} of {self.files:,} files from {self.strata:,} "
            f"strat{'a' if self.strata != 1 else 'um'}, seed {self.seed}; each bound holds in {100 * self.confidence:g} % of samples"
        )
        return [head, *(self._line(bound) for bound in self.bounds)]

    def _line(self, bound: SampleBound) -> str:
        how_many = f"{bound.broken:,} of {bound.files:,}" if bound.broken else f"none of {bound.files:,}"
        missed = (
            f"; more than the {_percent(self.wanted)} that was asked for"
            if self.wanted is not None and bound.at_most > self.wanted and not bound.broken
            else ""
        )
        writer = "unknown writers" if bound.writer == UNKNOWN else bound.writer
        which = "all files" if writer is None else f"the files of {writer}"
        return f"  at most {_percent(bound.at_most)} of {which} break {bound.rule} ({how_many}){missed}"


def _percent(share: float) -> str:
    """A share, rounded up.

    >>> _percent(0.0029973), _percent(0.0), _percent(0.25), _percent(1.0)
    ('0.3 %', '0 %', '25 %', '100 %')
    """
    if share <= 0:
        return "0 %"
    digits = max(0, 1 - math.floor(math.log10(100 * share)))
    factor = 10**digits
    return f"{min(100.0, math.ceil(100 * share * factor - 1e-9) / factor):g} %"


def upper_bound(broken: int, tested: int, files: int | None = None, *, risk: float = 0.05) -> float:
    """The greatest share of broken files that is compatible with a sample.

    Args:
        broken: The number of broken files in the sample.
        tested: The number of files in the sample.
        files: The number of all files, if known.
        risk: The probability that the true share is greater.

    >>> round(upper_bound(0, 1000), 5), upper_bound(0, 50, 50), upper_bound(5, 5)
    (0.00299, 0.0, 1.0)
    """
    if tested == 0 or broken >= tested:
        return 1.0 if files != tested or broken else 0.0
    if files is not None:
        return _upper_count(broken, tested, files, risk) / files
    low, high = broken / tested, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if _binomial_below(broken, tested, middle) > risk:
            low = middle
        else:
            high = middle
    return high


def needed(bound: float, files: int | None = None, *, risk: float = 0.05) -> int:
    """The sample size that proves an upper bound: if no file of the sample is broken, at most the share ``bound`` of all files is.

    >>> needed(0.003), needed(0.003, 500), needed(0.003, 2000)
    (998, 388, 696)
    """
    most = math.ceil(math.log(risk) / math.log1p(-bound))
    if files is None:
        return most
    low, high = 0, min(most, files)
    while low < high:
        middle = (low + high) // 2
        if upper_bound(0, middle, files, risk=risk) <= bound:
            high = middle
        else:
            low = middle + 1
    return low


def _binomial_below(broken: int, tested: int, share: float) -> float:
    """The probability that a sample has at most ``broken`` broken files."""
    if share >= 1:
        return 0.0
    terms = (
        _log_choose(tested, number) + number * math.log(share) + (tested - number) * math.log1p(-share)
        if share > 0
        else (0.0 if number == 0 else -math.inf)
        for number in range(broken + 1)
    )
    return math.fsum(math.exp(term) for term in terms)


def _upper_count(broken: int, tested: int, files: int, risk: float) -> int:
    """The greatest total of broken files for which a sample with at most ``broken`` is more probable than ``risk``."""
    low, high = broken, files - (tested - broken)
    while low < high:
        middle = (low + high + 1) // 2
        if _hypergeometric_below(broken, tested, files, middle) > risk:
            low = middle
        else:
            high = middle - 1
    return low


def _hypergeometric_below(broken: int, tested: int, files: int, all_broken: int) -> float:
    total = _log_choose(files, tested)
    start = max(0, tested - (files - all_broken))
    return math.fsum(
        math.exp(_log_choose(all_broken, number) + _log_choose(files - all_broken, tested - number) - total)
        for number in range(start, min(broken, all_broken) + 1)
    )


def _log_choose(all_: int, some: int) -> float:
    return math.lgamma(all_ + 1) - math.lgamma(some + 1) - math.lgamma(all_ - some + 1)
