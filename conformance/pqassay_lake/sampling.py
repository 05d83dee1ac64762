"""Samples of files, chosen so that their findings give a bound for all files.

Files are divided into strata by what is known before any is opened: the table, and the partition or folder. Properties that change when
files are copied, such as their times, are not used. Names and a seed determine one order of all files, and a sample is the beginning of
this order. The order takes files from all strata in proportion, at random within a stratum. So a larger sample contains the smaller one,
and an interrupted sample can continue. The writer of a file is in its footer: the sample grows until the bound is reached for each frequent
writer.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from pqassay.errors import UsageError
from pqassay.judge.checker import CheckPlan, Progress, concluded
from pqassay.judge.one_file import Judged
from pqassay.report.bounds import ANY, SampleBound, Sampled, needed, upper_bound
from pqassay.report.model import COUNTED, FileReport, Report, Threshold
from pqassay.stores.targets import Target
from pqassay_lake.metrics import writer_of

REASON = "not checked: not in the sample"
"""The reason why other files are not judged."""

FREQUENT = 0.05
"""The share of a sample from which a writer counts as frequent, so that the sample grows until its bound is reached."""

ROUNDS = 16
"""The largest number of times that a sample grows."""

GROWTH = 2
"""The largest growth factor of a sample: in a small sample, a writer may seem frequent by chance."""

BATCH = 1000
"""The number of files after which the results so far are saved."""

PER_WRITER = 20
"""The number of rules of a writer that get their own bound: the most frequent ones."""


class Stratum(NamedTuple):
    """The table and the partition that all files of a stratum share."""

    table: str
    partition: str


@dataclass(frozen=True)
class Wish:
    """The requirements of a sample.

    Attributes:
        bound: The upper bound of the share of broken files, if the sample has none; ``None`` if ``files`` is given.
        files: The number of files to judge; ``None`` if ``bound`` is given.
        seed: The random seed.
        risk: The probability that a bound is wrong.
    """

    bound: float | None = None
    files: int | None = None
    seed: int = 0
    risk: float = 0.05


def wish_of(text: str, seed: int, confidence: float) -> Wish:
    """The requirements from ``--bound``, ``--seed`` and ``--confidence``.

    Raises:
        UsageError: The text is neither a number nor a percentage, or is out of range.

    >>> wish_of("0.3%", 0, 95).bound, wish_of("500", 0, 95).files
    (0.003, 500)
    """
    if not 50 <= confidence < 100:
        raise UsageError(f"--confidence {confidence:g}: a confidence is from 50 to below 100 percent")
    risk = round(1 - confidence / 100, 12)
    try:
        if text.endswith("%"):
            bound = round(float(text.removesuffix("%")) / 100, 12)
            if 0.00001 <= bound < 1:
                return Wish(bound=bound, seed=seed, risk=risk)
        elif int(text) > 0:
            return Wish(files=int(text), seed=seed, risk=risk)
    except ValueError:
        pass
    raise UsageError(
        f"--bound {text}: write a bound from 0.001% to below 100%, such as 0.3%, or a number of files"
    )


def stratum_of(target: Target) -> Stratum:
    """The stratum of a file."""
    if target.table is not None and target.claims is not None:
        values = ",".join(f"{one.name}={one.written}" for one in target.claims.partition)
        return Stratum(target.table.name, values)
    return Stratum("", os.path.dirname(target.name))  # noqa: PTH120 - of a URI as well


def sample_order(strata: Sequence[object], names: Sequence[str], seed: int) -> list[int]:
    """The order in which files are taken into a sample.

    Args:
        strata: The stratum of each file.
        names: The name of each file.
        seed: The random seed.

    Returns:
        Positions of all files.
    """
    key = seed.to_bytes(16, "little", signed=True)
    members: dict[object, list[tuple[bytes, int]]] = defaultdict(list)
    for position, (stratum, name) in enumerate(zip(strata, names, strict=True)):
        drawn = hashlib.blake2b(name.encode("utf-8", "surrogateescape"), digest_size=8, key=key).digest()
        members[stratum].append((drawn, position))
    order: list[tuple[float, int]] = []
    for stratum, files in members.items():
        files.sort()
        start = hashlib.blake2b(repr(stratum).encode("utf-8", "surrogateescape"), digest_size=8, key=key)
        offset = int.from_bytes(start.digest(), "little") / 2**64
        # If a stratum has one file of a thousand, chance decides whether the sample has it.
        order.extend(((rank + offset) / len(files), position) for rank, (_, position) in enumerate(files))
    order.sort()
    return [position for _, position in order]


class Sampling:
    """A growing sample.

    Args:
        targets: All targets of a plan; tables are always judged.
        wish: The requirements.
        level: The lowest verdict that counts.
    """

    def __init__(self, targets: Sequence[Target], wish: Wish, level: Threshold) -> None:
        self._wish = wish
        self._level: Threshold = level
        self.tables = [position for position, target in enumerate(targets) if target.is_table]
        self._files = [position for position, target in enumerate(targets) if not target.is_table]
        strata = [stratum_of(targets[position]) for position in self._files]
        self.strata = len(set(strata))
        names = [targets[position].name for position in self._files]
        self._order = [self._files[place] for place in sample_order(strata, names, wish.seed)]
        total = len(self._files)
        size = wish.files if wish.bound is None else needed(wish.bound, total, risk=wish.risk)
        self.size = min(total, size or 0)
        self._rounds = 0

    @property
    def chosen(self) -> list[int]:
        """The files of the current sample, in the order of their selection."""
        return self._order[: self.size]

    def grow(self, files: Iterable[FileReport]) -> bool:
        """Add files until the bounds of frequent writers are reached.

        The growth does not depend on findings, so it does not bias the bounds.

        Args:
            files: The verdicts on the current sample.

        Returns:
            Whether the sample has grown.
        """
        bound = self._wish.bound
        self._rounds += 1
        if bound is None or self._rounds > ROUNDS or self.size == len(self._order):
            return False
        found = Counter(writer_of(file.created_by) for file in files if not file.error)
        needed_files = needed(bound, risk=self._wish.risk)
        total = sum(found.values())
        if len(found) < 2:
            return False  # the bound of all files is also that of the only writer
        short = [count for count in found.values() if FREQUENT * total <= count < needed_files]
        if not short:
            return False
        factor = min(GROWTH, 1.02 * needed_files / min(short))
        size = min(len(self._order), math.ceil(self.size * factor))
        is_more, self.size = size > self.size, size
        return is_more

    def conclusions(self, verdicts: Sequence[Judged]) -> Sampled:
        """The conclusions from the sample.

        Args:
            verdicts: The verdicts on its files, without tables.
        """
        wish = self._wish
        total = len(self._order)
        tested = [(report, coverage) for report, coverage in verdicts if not report.error]
        by_writer: dict[str, list[Judged]] = defaultdict(list)
        for report, coverage in tested:
            by_writer[writer_of(report.created_by)].append((report, coverage))
        bounds = list(self._bounds(tested, None, total))
        if len(by_writer) > 1:
            # The number of files of a writer is known only if all were judged.
            is_whole = len(tested) == total
            for writer, members in sorted(by_writer.items(), key=lambda item: (-len(item[1]), item[0])):
                bounds.extend(self._bounds(members, writer, len(members) if is_whole else None))
        return Sampled(total, len(verdicts), self.strata, wish.seed, 1 - wish.risk, wish.bound, bounds)

    def _bounds(
        self, members: Sequence[Judged], writer: str | None, files: int | None
    ) -> Iterator[SampleBound]:
        for rule, broken, tested in self._counts(members):
            # Files on which a rule could not be tested are not counted for it.
            known = files if tested == len(members) else None
            at_most = upper_bound(broken, tested, known, risk=self._wish.risk)
            yield SampleBound(rule, tested, broken, at_most, writer)

    def _counts(self, members: Sequence[Judged]) -> Iterator[tuple[str, int, int]]:
        """Yield each broken rule, and `ANY`, with the number of files that break it and on which it was tested."""
        counted = COUNTED[self._level]
        broken: Counter[str] = Counter()
        any_broken = 0
        for report, _ in members:
            rules = {one.rule for one in report.findings if one.verdict in counted}
            broken.update(rules)
            any_broken += bool(rules)
        yield ANY, any_broken, len(members)
        untested = Counter(_untested(members, set(broken)))
        for rule, count in sorted(broken.items(), key=lambda item: (-item[1], item[0]))[:PER_WRITER]:
            yield rule, count, len(members) - untested[rule]


def _untested(members: Sequence[Judged], rules: set[str]) -> Iterator[str]:
    """Yield the rules that were not tested on a file, once per file; rules that do not apply count as tested."""
    for report, coverage in members:
        found = {one.rule for one in report.findings}
        yield from (rule for rule in rules if rule in coverage.not_checked and rule not in found)


Judge = Callable[[Sequence[int]], Iterable[Judged]]
"""A function that judges targets by position, in order."""


def sampled(
    plan: CheckPlan,
    wish: Wish,
    judge: Judge,
    *,
    save: Callable[[Report, Sequence[int]], object] | None = None,
    progress: Progress | None = None,
) -> tuple[CheckPlan, Report]:
    """Carry out a plan on a sample that grows until its bounds are reached.

    Args:
        plan: The plan for all targets. Tables are always judged.
        wish: The requirements of the sample.
        judge: Judges some of the targets.
        save: Called with the report so far and the positions of its files, after each batch.
        progress: Called with each file.

    Returns:
        The plan of what was judged, and the report, with `Report.sample`.
    """
    sampling = Sampling(plan.targets, wish, plan.settings.level)
    judged_files: dict[int, Judged] = {}
    while True:
        rest = [position for position in (*sampling.tables, *sampling.chosen) if position not in judged_files]
        for start in range(0, len(rest), BATCH):
            batch = rest[start : start + BATCH]
            for position, verdict in zip(batch, judge(batch), strict=True):
                judged_files[position] = verdict
                if progress is not None:
                    progress(len(judged_files), len(sampling.tables) + sampling.size, verdict[0])
            if save is not None:
                save(_concluded(plan, judged_files)[1], sorted(judged_files))
        if not sampling.grow(judged_files[position][0] for position in sampling.chosen):
            break
    judged, report = _concluded(plan, judged_files)
    return judged, replace(
        report, sample=sampling.conclusions([judged_files[position] for position in sampling.chosen])
    )


def _concluded(plan: CheckPlan, verdicts: Mapping[int, Judged]) -> tuple[CheckPlan, Report]:
    positions = sorted(verdicts)
    judged = replace(plan, found=plan.found.reduced(positions, REASON))
    return judged, concluded(judged, [verdicts[position] for position in positions])
