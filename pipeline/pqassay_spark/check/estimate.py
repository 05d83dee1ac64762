"""Estimate of the costs of a check, by tier: requests, bytes and time, measured on a few files and extrapolated to all.

The few files are judged as they would be, with every access counted; what the judge says about them is thrown away.
"""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pqassay.judge.checker import Plan
from pqassay.judge.file_check import check_source
from pqassay.judge.one_file import Settings
from pqassay.stores import kinds
from pqassay.stores.remote_source import RangedFile, RemoteSource
from pqassay.stores.targets import Target
from pqassay_lake.cost.estimate import FILE_TIERS, Estimate, StorePrices, TierEstimate
from pqassay_spark.check.sampling import choose
from pqassay_spark.check.spark_judging import located
from pqassay_spark.jobs.spark_jobs import Count, JobError, cores, packed, run, unpacked
from pqassay_spec.base.sources import FileSource, Source
from pqassay_spec.rules.catalogue import Tier

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOOKED_AT = 24
"""Files that are measured."""

DECODED_AT_MOST = 64 << 20
"""Bytes of a file up to which its values are decoded to see how long that takes."""

DEEP: tuple[Tier, ...] = ("pages", "values")
"""Tiers whose cost grows with the length of a file; that of the others is about the same for each file."""


@dataclass
class Costs:
    """The costs of judging.

    Attributes:
        files: How many files it was.
        size: Their length in bytes.
        requests: How often something was opened or read.
        read: Bytes that were read.
        seconds: Time of one core.
    """

    files: int = 0
    size: int = 0
    requests: float = 0
    read: float = 0
    seconds: float = 0

    def add(self, other: Costs) -> None:
        """Add what other files cost."""
        for declared in dataclasses.fields(self):
            setattr(self, declared.name, getattr(self, declared.name) + getattr(other, declared.name))

    def of_all(self, files: int, size: int, *, by_size: bool) -> Costs:
        """The costs of so many files if these are like them, file by file or byte by byte."""
        times = size / self.size if by_size and self.size else files / max(self.files, 1)
        return Costs(files, size, self.requests * times, self.read * times, self.seconds * times)


def estimate(
    spark: SparkSession, plan: Plan, positions: Sequence[int], kept: int, version: str, prices: StorePrices
) -> Estimate:
    """Estimate what a check would cost, on the executors.

    Args:
        spark: The session.
        plan: What would be judged.
        positions: Which of its targets.
        kept: How many verdicts would be taken over.
        version: The version of this package.
        prices: What the store takes.

    Raises:
        JobError: The executors cannot do it, and why.
    """
    targets = [plan.targets[position] for position in positions]
    size = sum(target.known_size() for target in targets)
    chosen = [targets[position] for position in choose(targets, LOOKED_AT)]
    small = [target for target in chosen if target.known_size() <= DECODED_AT_MOST]
    shallow: tuple[Tier, ...] = tuple(tier for tier in FILE_TIERS if tier != "values")
    costs = _measured(spark, chosen, plan.settings, shallow) if chosen else {}
    if small:
        # A decoder that crashes on one of them; the check itself survives that.
        with contextlib.suppress(JobError):
            costs.update(_measured(spark, small, plan.settings, ("values",)))
    tiers: list[TierEstimate] = []
    for tier, found in costs.items():
        total = found.of_all(len(targets), size, by_size=tier in DEEP)
        seconds = total.seconds / min(cores(spark), max(len(targets), 1))
        dollars = prices.dollars(total.requests, total.read)
        tiers.append(
            TierEstimate(tier, round(total.requests), round(total.read), round(seconds, 3), round(dollars, 6))
        )
    return Estimate(
        schema_version=1,
        kind="estimate",
        pqassay=version,
        files=len(targets),
        size=size,
        kept=kept,
        looked_at=len(chosen),
        cores=cores(spark),
        tier=plan.settings.tier,
        tiers=tiers,
        prices=prices,
    )


def _measured(
    spark: SparkSession, targets: Sequence[Target], settings: Settings, tiers: Sequence[Tier]
) -> dict[Tier, Costs]:
    work = partial(measured_task, settings, tiers)
    tasks = [packed(target) for target in located(targets)]
    total: dict[Tier, Costs] = {tier: Costs() for tier in tiers}
    for result in run(spark, tasks, work, description=f"pqassay: look at {len(targets)} files"):
        found: dict[Tier, Costs] = unpacked(result)
        for tier, costs in found.items():
            total[tier].add(costs)
    return total


# ----------------------------------------------------------------------------------------- on an executor


_warm: set[Tier] = set()
"""Tiers at which this process has judged a file."""


def measured_task(settings: Settings, tiers: Sequence[Tier], task: bytes, count: Count) -> bytes:
    """Judge a file at some tiers, and note what that costs.

    Args:
        settings: How to judge, but for the tier.
        tiers: At which tiers.
        task: A packed target.
        count: Told that a file is done.

    Returns:
        Packed: `Costs` by tier; empty for a file that cannot be opened.
    """
    target: Target = unpacked(task)
    costs: dict[Tier, Costs] = {}
    with contextlib.suppress(OSError, MemoryError):
        for tier in tiers:
            at_tier = replace(settings, tier=tier)
            if tier not in _warm:  # the first file of a process pays for what is imported and prepared once
                _costs(target, at_tier)
                _warm.add(tier)
            costs[tier] = _costs(target, at_tier)
    count((1, 0))
    return packed(costs)


def _costs(target: Target, settings: Settings) -> Costs:
    costs = Costs(files=1, size=max(target.known_size(), 0))
    started = time.perf_counter()
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(_counted(target, costs))
        siblings: dict[str, Source] = {}
        for name in kinds.beside(target.kind):
            with contextlib.suppress(FileNotFoundError):
                siblings[name] = stack.enter_context(_counted(target.beside(name), costs))
        check_source(
            source,
            settings.options,
            settings.selection,
            settings.level,
            kind=target.kind,
            beside=siblings.get,
        )
    costs.seconds = time.perf_counter() - started
    return costs


@contextlib.contextmanager
def _counted(target: Target, costs: Costs) -> Generator[Source]:
    """Open a file so that what is asked of its storage is counted."""
    costs.requests += 1
    if not target.store:
        with FileSource(target.path, target.name) as file:
            yield _CountedSource(file, costs)
        return
    from pqassay.stores import remote  # noqa: PLC0415 - local files need no pyarrow

    system = remote.filesystem(target.store)
    ranged: Any = system.open_input_file(target.path)  # the stubs lack what read_at takes
    source = RemoteSource(_CountedFile(ranged, costs), target.name, remote.TAILS)
    try:
        yield source
    finally:
        source.close()


class _CountedSource:
    def __init__(self, source: Source, costs: Costs) -> None:
        self.name = source.name
        self.size = source.size
        self._source = source
        self._costs = costs

    def read(self, offset: int, length: int) -> bytes:
        self._costs.requests += 1
        data = self._source.read(offset, length)
        self._costs.read += len(data)
        return data


class _CountedFile:
    def __init__(self, file: RangedFile, costs: Costs) -> None:
        self._file = file
        self._costs = costs

    def size(self) -> int:
        return self._file.size()

    def read_at(self, nbytes: int, offset: int) -> bytes:
        self._costs.requests += 1
        data = self._file.read_at(nbytes, offset)
        self._costs.read += len(data)
        return data

    def close(self) -> None:
        self._file.close()
