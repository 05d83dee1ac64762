"""The costs of a check, predicted before it is paid for: what ``pqassay estimate`` prints.

The footers of some files are read, spread over all tables and sizes.  `pqassay_lake.cost.predicted_reads`
tells what a check would ask a store for them, wherever they are now, and the others are taken to be like
them.  The reads to find the files of a table were counted while they were found.
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
"""Seconds of a processor that a request takes."""

LOOKED_AT = 24
"""Files whose footers are read."""

BY_SIZE: tuple[Tier, ...] = ("pages", "values")
"""Tiers whose cost grows with the length of a file."""


class Work(NamedTuple):
    """Seconds of a processor: for a file, for each chunk and each page in it, and for each byte that is looked at."""

    file: float
    chunk: float
    page: float
    byte: float

    def seconds(self, chunks: int, pages: int, size: int) -> float:
        """The seconds for a file that has this many."""
        return self.file + chunks * self.chunk + pages * self.page + size * self.byte


PROCESSOR: dict[Tier, Work] = {
    "footer": Work(3e-4, 6e-5, 0, 0),
    "index": Work(2e-4, 4e-5, 5e-6, 4e-9),
    "pages": Work(1e-3, 1.6e-4, 2e-5, 0),
    "values": Work(5e-3, 1.8e-3, 8e-5, 6e-9),
}
"""What each tier adds to those before it, on one core of a small machine, as `benchmarks/store_cost.py` measures it.

The bytes are those of indexes and bloom filters at tier ``index``, and those of values without compression at tier ``values``.
"""

PM_VALUES = Work(0, 6e-4, 2e-5, 6e-9)
"""What it takes to decode the Parquet file beside a `_pm`, and to compare its values with what that says."""


@dataclass
class Cost:
    """What one file costs at a tier.

    Attributes:
        first: What the store is asked for the first file of its table.
        later: The load for later files, when the best size of a request is known.
        seconds: Seconds of a processor.
    """

    first: Traffic = field(default_factory=Traffic)
    later: Traffic = field(default_factory=Traffic)
    seconds: float = 0.0


Costs = dict[Tier, Cost]

Opener = Callable[[str], Source | None]


@dataclass
class _Stratum:
    """Files that are much alike.

    Attributes:
        targets: The files, by size.
        tables: How many tables they belong to.
        looked_at: The length and the costs of some of them.
    """

    targets: list[Target]
    tables: int = 1
    looked_at: list[tuple[int, Costs]] = field(default_factory=list[tuple[int, Costs]])

    @property
    def size(self) -> int:
        return sum(target.known_size() for target in self.targets)

    def look_at(self, count: int, settings: Settings) -> None:
        """Look at a number of them, small and large ones."""
        for number in range(count):
            target = self.targets[(2 * number + 1) * len(self.targets) // (2 * count)]
            costs = _costs(target, settings)
            if costs is not None:
                self.looked_at.append((target.known_size(), costs))


def _strata(files: Sequence[Target]) -> list[_Stratum]:
    """The files by table; where there are more tables than files to look at, by their extensions alone."""
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
    """Predict what carrying out a plan would cost if its files are in a store; judge nothing.

    Args:
        plan: What would be judged.
        metadata: The reads of tables' metadata to make the plan.
        jobs: How many workers would judge, each waiting for its own requests.
        prices: The prices of the store.
        pace: How fast it is.
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
    """What tables' metadata costs, each file of which is opened and read at once; worker processes read it for themselves."""
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
    """Add what a stratum costs at a tier if all of its files are like some; return the seconds of a processor.

    What the footer costs grows with the number of files, what tiers ``pages`` and ``values`` cost beside it with their length.
    """
    size, count = sum(size for size, _ in like), len(stratum.targets)
    by_file = count / len(like)
    by_size = stratum.size / size if size else by_file
    is_first = min(
        1.0, jobs * stratum.tables / count
    )  # each worker learns for itself how much is worth a request
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
    """What a file costs at each tier; ``None`` for one that cannot be opened."""
    at_tiers = [replace(settings, tier=tier) for tier in FILE_TIERS]
    with contextlib.suppress(OSError, MemoryError), target.opened() as source, target.siblings() as siblings:
        far = FarSource(source)
        if target.kind != DEFAULT_FILE:
            return {one.tier: _cost_of_another(target.kind, far, siblings, one) for one in at_tiers}
        file = FileUnderTest(far, settings)
        return {one.tier: _cost_of_file(file, one) for one in at_tiers}
    return None


def _cost_of_file(file: FileUnderTest, settings: Settings) -> Cost:
    """What a Parquet file costs, of which no more than the footer is read."""
    file = _at(file, settings)
    cost = _cost({file.source.name: (file.source.size, predicted_reads(file))})
    cost.seconds = _seconds(file, PROCESSOR)
    return cost


def _at(file: FileUnderTest, settings: Settings) -> FileUnderTest:
    with contextlib.suppress(FormatError):
        _ = file.layout  # decoded once for all tiers
    return file.asked_anew(settings, not_tested(settings, settings.selection))


def _cost_of_another(kind: str, source: FarSource, siblings: Opener, settings: Settings) -> Cost:
    """What a `_pm` costs: it is metadata itself, and is looked at as a check would, without a word about it."""
    tier: Tier = settings.tier if settings.tier not in BY_SIZE else "index"
    beside: dict[str, FarSource | None] = {}

    def opened(name: str) -> Source | None:
        if name not in beside:
            found = siblings(name)
            beside[name] = None if found is None else FarSource(found)
        return beside[name]

    options = replace(settings, tier=tier)
    seconds = math.inf
    for _ in range(2):  # what is prepared once for all files counts for none of them
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
    """What reads of some objects cost: at first, and once it is known how much of their ends is worth a request."""
    cost, tails = Cost(), Tails()
    for traffic in (cost.first, cost.later):
        for name, (size, reads) in objects.items():
            traffic.add(traffic_of(name, size, reads, tails))
    return cost


def _seconds(file: FileUnderTest, processor: Mapping[Tier, Work]) -> float:
    """Seconds of a processor, by what the footer says is there."""
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
