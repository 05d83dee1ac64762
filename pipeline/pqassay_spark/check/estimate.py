"""Estimate of the costs of a check, by tier: requests, bytes and time, measured on a few files and extrapolated to all.

The few files are judged as they would be, with every access counted; what the judge says about them is thrown away.
"""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from pqassay.judge.checker import Plan
from pqassay.judge.file_check import check_source
from pqassay.judge.one_file import Settings
from pqassay.lake import kinds
from pqassay.lake.remote_source import RangedFile, RemoteSource
from pqassay.lake.targets import Target
from pqassay.report.model import members_json
from pqassay_spark.check.sampling import choose
from pqassay_spark.check.spark_judging import located
from pqassay_spark.jobs.spark_jobs import Count, JobError, cores, packed, run, unpacked
from pqassay_spec.base.sources import FileSource, Source
from pqassay_spec.rules.catalogue import TABLE_TIER, TIERS, Tier

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOOKED_AT = 24
"""Files that are measured."""

DECODED_AT_MOST = 64 << 20
"""Bytes of a file up to which its values are decoded to see how long that takes."""

DEEP: tuple[Tier, ...] = ("pages", "values")
"""Tiers whose cost grows with the length of a file; that of the others is about the same for each file."""

FILE_TIERS: tuple[Tier, ...] = tuple(tier for tier in TIERS if tier != TABLE_TIER)
"""The tiers at which something is read of a file itself."""


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


@dataclass(frozen=True)
class TierEstimate:
    """The costs of a check at one tier; requests and bytes of all files, seconds on all cores."""

    tier: Tier
    requests: int
    read: int
    seconds: float


@dataclass(frozen=True)
class Estimate:
    """The costs of a check.

    Attributes:
        files: Files to judge.
        size: Their length in bytes.
        kept: Files whose verdicts would be taken from the cache, not counted in ``files``.
        looked_at: How many files were measured.
        cores: How many cores Spark has.
        tier: The tier at which the check would run.
        tiers: The costs at each tier; ``values`` is missing where no file could be decoded to see.
    """

    schema_version: int
    kind: Literal["estimate"]
    pqassay: str
    files: int
    size: int
    kept: int
    looked_at: int
    cores: int
    tier: Tier
    tiers: list[TierEstimate]

    def to_json(self) -> str:
        """The estimate as JSON text in ASCII."""
        return members_json(self, 2)

    def lines(self) -> Iterable[str]:
        """The estimate for people."""
        kept = f"; {self.kept:,} verdicts would be taken from the cache" if self.kept else ""
        yield f"{self.files:,} files to judge, {shown_size(self.size)}{kept}"
        if not self.files:
            return
        yield f"estimated from {self.looked_at} of them, on {self.cores} cores:"
        yield f"{'tier':<8}{'requests':>14}{'bytes read':>14}{'time':>12}"
        for one in self.tiers:
            mark = "  <- this check" if one.tier == self.tier else ""
            yield (
                f"{one.tier:<8}{one.requests:>14,}{shown_size(one.read):>14}{shown_time(one.seconds):>12}{mark}"
            )
        for missing in [tier for tier in FILE_TIERS if tier not in {one.tier for one in self.tiers}]:
            yield f"{missing:<8}not estimated: the files that were looked at are too large to decode, or did not survive it"
        yield "nothing was judged"


def estimate(spark: SparkSession, plan: Plan, positions: Sequence[int], kept: int, version: str) -> Estimate:
    """Estimate what a check would cost, on the executors.

    Args:
        spark: The session.
        plan: What would be judged.
        positions: Which of its targets.
        kept: How many verdicts would be taken over.
        version: The version of this package.

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
        tiers.append(TierEstimate(tier, round(total.requests), round(total.read), round(seconds, 3)))
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
    from pqassay.lake import remote  # noqa: PLC0415 - local files need no pyarrow

    system = remote.filesystem(target.store)
    ranged: Any = system.open_input_file(target.path)  # the stubs lack what read_at takes
    source = RemoteSource(_CountedFile(ranged, costs), target.name)
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


# ------------------------------------------------------------------------------------------------ for people


def shown_size(size: float) -> str:
    """A number of bytes for people.

    >>> shown_size(512), shown_size(3 << 20), shown_size(1.5 * (1 << 40))
    ('512 B', '3.0 MiB', '1.5 TiB')
    """
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


def shown_time(seconds: float) -> str:
    """A time for people.

    >>> shown_time(0.4), shown_time(75), shown_time(7300)
    ('0.4 s', '1 min 15 s', '2 h 2 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60:,} h {minutes % 60} min"
