"""The costs of a check, predicted before it runs: the result of ``pqassay estimate``.

The footers of some files are read, spread over all tables and sizes. `pqassay_lake.cost.predicted_reads` predicts the requests for them, as
if they were in a store, and other files are assumed to be similar. The reads for finding the files of a table are counted during the
search.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from pqassay.judge.checker import CheckPlan
from pqassay.judge.file_check import check_source, not_tested
from pqassay.judge.one_file import Settings
from pqassay.stores.remote_source import Tails, table_of
from pqassay.stores.table_files import MetadataReads, TableAt
from pqassay.stores.targets import Target
from pqassay.under_test.file import FileUnderTest
from pqassay.under_test.index_reads import index_pieces
from pqassay_lake.cost.estimate import (
    FILE_TIERS,
    USUAL_PACE,
    USUAL_PRICES,
    Estimate,
    StorePace,
    StorePrices,
    TierEstimate,
)
from pqassay_lake.cost.predicted_reads import FarSource, Read, Traffic, pages_of, predicted_reads, traffic_of
from pqassay_spec import __version__
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import Source
from pqassay_spec.rules.catalogue import DEFAULT_FILE, TABLE_TIER, Tier
from pqassay_spec.table.layout import DELTA_CHECKSUM, DELTA_LOG
from pqassay_tables.under_test.states import TABLES_KEPT

REQUEST = 1e-3
"""The processor time of a request in seconds."""

LOOKED_AT = 24
"""The number of files whose footers are read."""

BY_SIZE: tuple[Tier, ...] = ("pages", "values")
"""Tiers whose cost grows with the size of a file."""


class Work(NamedTuple):
    """Processor time in seconds: for a file, for each chunk, for each page, and for each examined byte."""

    file: float
    chunk: float
    page: float
    byte: float

    def seconds(self, chunks: int, pages: int, size: int) -> float:
        """The processor time in seconds of a file with these numbers."""
        return self.file + chunks * self.chunk + pages * self.page + size * self.byte


PROCESSOR: dict[Tier, Work] = {
    "footer": Work(3e-4, 6e-5, 0, 0),
    "index": Work(2e-4, 4e-5, 5e-6, 4e-9),
    "pages": Work(1e-3, 1.6e-4, 2e-5, 0),
    "values": Work(5e-3, 1.8e-3, 8e-5, 6e-9),
}
"""The work that each tier adds, on one core of a small machine, measured by `benchmarks/store_cost.py`.

Bytes are those of indexes and bloom filters at tier ``index``, and of uncompressed values at tier ``values``.
"""

PM_VALUES = Work(0, 6e-4, 2e-5, 6e-9)
"""The work of decoding the Parquet file beside a `_pm` file, and of comparing its values with the claims."""


@dataclass
class Cost:
    """The cost of one file at a tier.

    Attributes:
        first: The traffic for the first file of a table.
        later: The traffic for later files, when the best size of a request is known.
        seconds: The processor time in seconds.
    """

    first: Traffic = field(default_factory=Traffic)
    later: Traffic = field(default_factory=Traffic)
    seconds: float = 0.0


Costs = dict[Tier, Cost]

Opener = Callable[[str], Source | None]


@dataclass
class _Stratum:
    """A group of similar files.

    Attributes:
        targets: The files, by size.
        tables: The number of their tables.
        looked_at: The size and the costs of some of them.
    """

    targets: list[Target]
    tables: int = 1
    looked_at: list[tuple[int, Costs]] = field(default_factory=list[tuple[int, Costs]])

    @property
    def size(self) -> int:
        return sum(target.known_size() for target in self.targets)

    def look_at(self, count: int, settings: Settings) -> None:
        """Compute the costs of a number of files, from small to large ones."""
        for number in range(count):
            target = self.targets[(2 * number + 1) * len(self.targets) // (2 * count)]
            costs = _costs(target, settings)
            if costs is not None:
                self.looked_at.append((target.known_size(), costs))


def _strata(files: Sequence[Target]) -> list[_Stratum]:
    """The files grouped by table; if there are more tables than files to examine, only by extension."""
    by_table = _grouped(files, table_of)
    if len(by_table) <= LOOKED_AT:
        return [_Stratum(targets) for targets in by_table.values()]
    by_extension = _grouped(files, lambda name: table_of(name).rpartition("/")[2])
    return [
        _Stratum(targets, len({table_of(target.name) for target in targets}))
        for targets in by_extension.values()
    ]


def _grouped(files: Sequence[Target], key: Callable[[str], str]) -> dict[str, list[Target]]:
    found: dict[str, list[Target]] = {}
    for target in sorted(files, key=lambda target: (target.known_size(), target.name)):
        found.setdefault(key(target.name), []).append(target)
    return found


def predicted(
    plan: CheckPlan,
    metadata: MetadataReads,
    *,
    jobs: int = 1,
    prices: StorePrices = USUAL_PRICES,
    pace: StorePace = USUAL_PACE,
) -> Estimate:
    """Predict the cost of a plan for files in a store, without judging.

    Args:
        plan: The plan.
        metadata: The reads of tables' metadata for making the plan.
        jobs: The number of workers, each waiting for its own requests.
        prices: The prices of the store.
        pace: The speed of the store.
    """
    files = [target for target in plan.targets if not target.is_table and not target.trouble]
    tables = [target.table for target in plan.targets if target.is_table and target.table is not None]
    strata = _strata(files)
    for stratum in strata:
        spare = (LOOKED_AT - len(strata)) * len(stratum.targets) // len(files)
        stratum.look_at(min(len(stratum.targets), 1 + max(0, spare)), plan.settings)
    everywhere = [one for stratum in strata for one in stratum.looked_at]
    tiers: list[TierEstimate] = []
    told: list[Tier] = [TABLE_TIER] if tables else []
    told += FILE_TIERS if everywhere else ()
    for tier in told:
        traffic, seconds = Traffic(), 0.0
        if tables:
            traffic.add(_traffic_of_tables(tables, metadata, tier, jobs))
        if tier != TABLE_TIER:
            for stratum in strata:
                seconds += _add(traffic, stratum, stratum.looked_at or everywhere, tier, jobs)
        seconds += traffic.requests * REQUEST
        waiting = pace.seconds(traffic.requests, traffic.read)
        tiers.append(
            TierEstimate(
                tier,
                round(traffic.requests),
                round(traffic.read),
                round((waiting + seconds) / max(1, min(jobs, len(plan.targets))), 3),
                round(prices.dollars(traffic.requests, traffic.read), 6),
            )
        )
    return Estimate(
        schema_version=1,
        kind="estimate",
        pqassay=__version__,
        files=len(files),
        size=sum(stratum.size for stratum in strata),
        kept=0,
        looked_at=len(everywhere),
        cores=jobs,
        tier=plan.settings.tier,
        tiers=tiers,
        prices=prices,
        pace=pace,
        tables=len(tables),
    )


def _traffic_of_tables(tables: Sequence[TableAt], metadata: MetadataReads, tier: Tier, jobs: int) -> Traffic:
    """The traffic for tables' metadata: each file is opened and read at once, by each worker process for itself."""
    times = 2 if len(tables) > TABLES_KEPT or jobs > 1 or tier == "values" else 1
    traffic = Traffic(2 * metadata.files * times, metadata.bytes * times)
    for table in tables:
        if table.kind != "delta":
            continue
        with contextlib.suppress(OSError):
            checksums = [
                size for name, size in table.listed(DELTA_LOG).items() if name.endswith(DELTA_CHECKSUM)
            ]
            traffic.add(Traffic(2, checksums[-1]) if checksums else Traffic())
    return traffic


def _add(
    traffic: Traffic, stratum: _Stratum, like: Sequence[tuple[int, Costs]], tier: Tier, jobs: int
) -> float:
    """Add the cost of a stratum at a tier, if its files are like the examined ones; return the processor time in seconds.

    The cost of footers grows with the number of files, the further cost of tiers ``pages`` and ``values`` with their size.
    """
    size, count = sum(size for size, _ in like), len(stratum.targets)
    by_file = count / len(like)
    by_size = stratum.size / size if size else by_file
    is_first = min(1.0, jobs * stratum.tables / count)  # each worker learns the best request size for itself
    seconds = 0.0
    for _, costs in like:
        shallow = costs["footer"] if tier in BY_SIZE else costs[tier]
        parts = [(shallow, by_file)]
        if tier in BY_SIZE:
            parts += [(costs[tier], by_size), (shallow, -by_size)]
        for cost, times in parts:
            traffic.add(cost.first, times * is_first)
            traffic.add(cost.later, times * (1 - is_first))
            seconds += cost.seconds * times
    return seconds


# ------------------------------------------------------------------------------------------------------ one file


def _costs(target: Target, settings: Settings) -> Costs | None:
    """The cost of a file at each tier; ``None`` if it cannot be opened."""
    at_tiers = [replace(settings, tier=tier) for tier in FILE_TIERS]
    with contextlib.suppress(OSError, MemoryError), target.opened() as source, target.siblings() as siblings:
        far = FarSource(source)
        if target.kind != DEFAULT_FILE:
            return {one.tier: _cost_of_another(target.kind, far, siblings, one) for one in at_tiers}
        file = FileUnderTest(far, settings)
        return {one.tier: _cost_of_file(file, one) for one in at_tiers}
    return None


def _cost_of_file(file: FileUnderTest, settings: Settings) -> Cost:
    """The cost of a Parquet file, of which only the footer is read."""
    file = _at(file, settings)
    cost = _cost({file.source.name: (file.source.size, predicted_reads(file))})
    cost.seconds = _seconds(file, PROCESSOR)
    return cost


def _at(file: FileUnderTest, settings: Settings) -> FileUnderTest:
    with contextlib.suppress(FormatError):
        _ = file.layout  # decoded once for all tiers
    return file.asked_anew(settings, not_tested(settings, settings.selection))


def _cost_of_another(kind: str, source: FarSource, siblings: Opener, settings: Settings) -> Cost:
    """The cost of a `_pm` file: since it is metadata itself, it is checked, but without a report."""
    tier: Tier = settings.tier if settings.tier not in BY_SIZE else "index"
    beside: dict[str, FarSource | None] = {}

    def opened(name: str) -> Source | None:
        if name not in beside:
            found = siblings(name)
            beside[name] = None if found is None else FarSource(found)
        return beside[name]

    options = replace(settings, tier=tier)
    seconds = math.inf
    for _ in range(2):  # preparation for all files counts for none of them
        for one in (source, *filter(None, beside.values())):
            one.reads.clear()
        started = time.process_time()
        check_source(source, options, settings.selection, settings.level, kind=kind, beside=opened)
        seconds = min(seconds, time.process_time() - started)
    objects = {source.name: (source.size, source.reads)}
    for name, neighbor in beside.items():
        if neighbor is None:
            continue
        reads = list(neighbor.reads)
        if settings.tier == "values":
            file = _at(FileUnderTest(neighbor, settings), settings)
            reads += predicted_reads(file)
            seconds += _seconds(file, {"values": PM_VALUES})
        objects[name] = (neighbor.size, reads)
    cost = _cost(objects)
    cost.seconds = seconds
    return cost


def _cost(objects: dict[str, tuple[int, list[Read]]]) -> Cost:
    """The cost of reading some objects: at first, and when the best size of the first request is known."""
    cost, tails = Cost(), Tails()
    for traffic in (cost.first, cost.later):
        for name, (size, reads) in objects.items():
            traffic.add(traffic_of(name, size, reads, tails))
    return cost


def _seconds(file: FileUnderTest, processor: Mapping[Tier, Work]) -> float:
    """The processor time in seconds, from the numbers in the footer."""
    try:
        chunks = [facts for *_, chunk in file.own_chunks if (facts := chunk.meta_data)]
        pieces = index_pieces(file) if file.options.reaches("index") else []
    except FormatError:
        return 0.0
    looked_at = {
        "index": sum(end - start for start, end in pieces),
        "values": sum(max(0, facts.total_uncompressed_size) for facts in chunks),
    }
    pages = sum(map(pages_of, chunks))
    return sum(
        work.seconds(len(chunks), pages, looked_at.get(tier, 0))
        for tier, work in processor.items()
        if file.options.reaches(tier)
    )
