"""Estimates of the costs of a check by tier, and their text: requests, bytes, time and money."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from pqassay.report.json_form import members_json
from pqassay_spec.rules.catalogue import TABLE_TIER, TIERS, Tier

FILE_TIERS: tuple[Tier, ...] = tuple(tier for tier in TIERS if tier != TABLE_TIER)
"""The tiers that read a file itself."""

GB = 1_000_000_000


@dataclass(frozen=True)
class StorePrices:
    """The prices of a store in dollars: for 1,000 read requests, and for a GB, which is usually free within a region."""

    requests: float
    gb: float

    def dollars(self, requests: float, read: float) -> float:
        """The price of a number of requests and bytes."""
        return requests / 1000 * self.requests + read / GB * self.gb

    def __str__(self) -> str:
        gb = f"${self.gb:g} for a GB" if self.gb else "nothing for bytes"
        return f"${self.requests:g} for 1,000 requests, {gb}"


@dataclass(frozen=True)
class StorePace:
    """The speed of a store: milliseconds from a request to its first byte, and megabytes per second of an answer."""

    latency_ms: float
    mb_per_second: float

    def seconds(self, requests: float, read: float) -> float:
        """The time in seconds for one worker to make some requests in sequence and receive their bytes."""
        return requests * self.latency_ms / 1000 + read / (self.mb_per_second * 1e6)

    def __str__(self) -> str:
        return f"{self.latency_ms:g} ms to the first byte, {self.mb_per_second:g} MB/s"


USUAL_PRICES = StorePrices(requests=0.0004, gb=0.0)
USUAL_PACE = StorePace(latency_ms=30.0, mb_per_second=80.0)
"""The approximate speed of large stores for readers within the same region."""


@dataclass(frozen=True)
class TierEstimate:
    """The costs of a check at one tier: requests, bytes and dollars for all files, and seconds on all cores."""

    tier: Tier
    requests: int
    read: int
    seconds: float
    dollars: float


@dataclass(frozen=True)
class Estimate:
    """The costs of a check.

    Attributes:
        files: The number of files to judge.
        size: Their total size in bytes.
        kept: The number of files with cached verdicts, not counted in ``files``.
        looked_at: The number of files whose footers were read.
        cores: The number of cores that work at the same time.
        tier: The tier at which the check would run.
        tiers: The costs at each tier; ``values`` is missing if no file could be decoded, and ``meta`` if there is no table.
        prices: The prices of the store.
        pace: The assumed speed of the store.
        tables: The number of tables to judge, whose metadata is included in all costs.
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
    prices: StorePrices
    pace: StorePace | None = None
    tables: int = 0

    def to_json(self) -> str:
        """The estimate as ASCII JSON."""
        return members_json(self, 2)

    def lines(self, how: str) -> Iterable[str]:
        """The estimate as lines for people.

        Args:
            how: How the estimate was made, such as ``estimated from 3 of them, on 2 cores``.
        """
        kept = f"; {self.kept:,} verdicts would be taken from the cache" if self.kept else ""
        tables = f"{self.tables:,} table{'s' * (self.tables > 1)} and " if self.tables else ""
        yield f"{tables}{self.files:,} file{'s' * (self.files != 1)} to judge, {shown_size(self.size)}{kept}"
        if not self.files and not self.tables:
            return
        yield f"{how}:"
        yield f"{'tier':<8}{'requests':>14}{'bytes read':>14}{'time':>14}{'money':>12}"
        for tier in self.tiers:
            mark = "  <- this check" if tier.tier == self.tier else ""
            yield (
                f"{tier.tier:<8}{tier.requests:>14,}{shown_size(tier.read):>14}{shown_time(tier.seconds):>14}"
                f"{shown_money(tier.dollars):>12}{mark}"
            )
        shown = {tier.tier for tier in self.tiers}
        for missing in [tier for tier in FILE_TIERS if tier not in shown and self.files]:
            yield f"{missing:<8}not estimated: the sampled files are too large to decode, or decoding crashed"
        yield "nothing was judged"


def shown_size(size: float) -> str:
    """A number of bytes as text for people.

    >>> shown_size(512), shown_size(3 << 20), shown_size(1.5 * (1 << 40))
    ('512 B', '3.0 MiB', '1.5 TiB')
    """
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


def shown_time(seconds: float) -> str:
    """A time as text for people.

    >>> shown_time(0.4), shown_time(75), shown_time(7320)
    ('0.4 s', '1 min 15 s', '2 h 2 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60:,} h {minutes % 60} min"


def shown_money(dollars: float) -> str:
    """An amount of money as text for people; less than a cent has two significant digits.

    >>> shown_money(0), shown_money(0.0000412), shown_money(1.7), shown_money(12345)
    ('$0.00', '$0.000041', '$1.70', '$12,345')
    """
    if dollars >= 100:
        return f"${dollars:,.0f}"
    digits = 1 - math.floor(math.log10(dollars)) if 0 < dollars < 0.01 else 2
    return f"${dollars:.{digits}f}"
