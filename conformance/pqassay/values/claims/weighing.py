"""Values or metadata: which is likelier to be wrong where claims about a column chunk contradict its values.

The judge cannot know, but it can weigh.  Damage in a page leaves traces: its CRC is wrong; structures that were made independently
contradict the values and agree with each other; no value reaches the bounds; the values are all zero, or fit the bounds once their
bytes are put in another order.  A false claim leaves others: structures beside it fit the values, and bounds occur among these.
Each trace counts points, above zero for damaged values.  About counts of nulls, NaN and rows, only other counts of them say anything.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pqassay.report.model import FIRST_POSITIONS
from pqassay.report.weighing import Side, Weighing
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.file import NotChecked
from pqassay.under_test.weighed import Topic, topic_of
from pqassay.values.claims.bound_claims import (
    BoundsOfPages,
    ChunkBound,
    DeprecatedBounds,
    ExactBound,
    ExactBoundsOfPages,
)
from pqassay.values.claims.rearranged import fitting_arrangement, holds_nothing, is_of_one_width
from pqassay.values.claims.value_rules import Compared
from pqassay.values.decoding.chunk_values import ChunkValues, plain
from pqassay.values.decoding.extremes import beyond
from pqassay.values.decoding.faults import FaultKind
from pqassay.values.decoding.keys import bound_keys, decimal_width
from pqassay.values.decoding.survey import survey
from pqassay_spec.base.errors import FormatError
from pqassay_spec.parquet.column_order import Order

STRUCTURES = {
    "footer.row_groups.columns.meta_data.statistics.distinct_count": "the distinct count",
    "footer.row_groups.columns.meta_data.statistics": "the statistics of the chunk",
    "footer.row_groups.columns.meta_data": "the sizes of the chunk",
    "row_groups.columns.bloom_filter": "the bloom filter",
    "row_groups.columns.column_index": "the column index",
    "row_groups.columns.offset_index": "the offset index",
    "row_groups.columns.pages": "the page headers",
    "idx1": "the IDX1 index",
    "stats": "the table",
    "data_file": "the table",
    "blocks": "the _pm file",
}
"""Structures that are made by themselves, by how the paths of their fields begin; the first that fits."""

OF_PAGES = ("the column index", "the page headers")
"""Structures with bounds of each page: what others say of the whole chunk decides nothing about these."""

VOUCHING = (
    "the statistics of the chunk",
    "the bloom filter",
    "the column index",
    "the IDX1 index",
    "the table",
    "the _pm file",
)
"""Structures that hardly fit values by chance."""

ENOUGH = 2
"""Points from which on the values count as damaged; up to 0, the metadata counts as false."""

MOST_LOOKED_AT = 1 << 16
"""Values of a page in which traces of damage are looked for."""

SHORTEST_PREFIX = 4
"""Bytes of the shortest bound that may be the beginning of a value."""


def weigh(values: ChunkValues, compared: Sequence[Compared]) -> Mapping[Topic, Weighing]:
    """Weigh the values of a chunk against what contradicts them.

    Args:
        values: The values.
        compared: All claims that were put to them.
    """
    contradicting: dict[Topic, Counter[str]] = defaultdict(Counter)
    fitting: dict[Topic, set[str]] = defaultdict(set)
    has_misfits = False
    for each in compared:
        if each.compares_values:
            topic, structure = topic_of(each.field), _structure(each.field)
            if each.is_broken:
                contradicting[topic][structure] += 1
            else:
                fitting[topic].add(structure)
        elif each.is_broken:
            has_misfits = True
    weighings: dict[Topic, Weighing] = {}
    for topic, structures in contradicting.items():
        others = fitting[topic] - structures.keys()
        if topic == "counts":
            traces = [(-1, "counts are seldom damaged in a page"), *_agreement(structures, others, points=1)]
        else:
            traces = [*_agreement(structures, others, points=2)]
            with suppress(FormatError, NotChecked):
                traces += _traces_in_values(values, list(_bounds(values, compared)))
            if has_misfits:
                traces.append((2, "values do not fit their type either"))
        traces += _of_checksums(values.chunk)
        weighings[topic] = _weighed(traces, structures)
    return weighings


def _structure(path: str) -> str:
    return next(
        (name for begin, name in STRUCTURES.items() if path.startswith(begin)), path.partition(".")[0]
    )


Trace = tuple[int, str]
"""Points for the values being wrong, and what they are for."""


def _weighed(traces: list[Trace], structures: Iterable[str]) -> Weighing:
    points = sum(each for each, _ in traces)
    wrong: Side = "values" if points >= ENOUGH else "either" if points > 0 else "metadata"
    traces.sort(key=lambda trace: -abs(trace[0]))
    sign = {"values": 1, "metadata": -1, "either": 0}[wrong]
    reasons = [words for each, words in traces if each * sign > 0 or not sign]
    return Weighing(
        wrong, reasons or [f"nothing but {' and '.join(sorted(structures))} contradicts the values"]
    )


def _agreement(structures: Mapping[str, int], others: set[str], points: int) -> Iterator[Trace]:
    """What structures beside each other say: those that contradict the values, and those that fit them."""
    names = sorted(structures)
    if len(names) > 1:
        yield points * (len(names) - 1), f"{' and '.join(names)} contradict the values alike"
    of_pages = all(name in OF_PAGES for name in names)
    for name in VOUCHING:
        if name in others and (name in OF_PAGES or not of_pages):
            yield -3, f"{name} fits the values"


# ---------------------------------------------------------------------------------------------------- the bounds


class _Range:
    """Values of one page or chunk, with the bounds that they contradict.

    Args:
        values: An array without dictionary.
        order: How they compare.
        low, high: The bounds.
        page: The number of the page, ``None`` of the chunk.
    """

    def __init__(
        self, values: Any, order: Order, low: bytes | None, high: bytes | None, page: int | None = None
    ) -> None:
        self.values = values
        self.page = page
        self.order = order
        self.low, self.high = low, high

    def _sides(self, values: Any, raw: bytes | None) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
        """The values below a bound, and those above; ``None`` of what bounds nothing."""
        if raw is None:
            return None
        width = max(decimal_width(values), len(raw), 1) if self.order is Order.DECIMAL else 0
        keys, usable = bound_keys(self.order, [raw], values.type, width)
        if not usable[0]:
            return None
        below, above = (beyond(self.order, values, keys[0], width, above=above) for above in (False, True))
        return below, above

    def outside(self, values: Any) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """The values below the lower bound, and those above the upper one, bool."""
        nothing = np.zeros(len(values), np.bool_)
        low, high = self._sides(values, self.low), self._sides(values, self.high)
        return nothing if low is None else low[0], nothing if high is None else high[1]

    @cached_property
    def crossed(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """`outside` of its own values."""
        return self.outside(self.values)

    def fits(self, values: Any, beside: Any) -> bool:
        """Whether values lie within the bounds, and reach them: both together with those beside them; one, where a value is lost."""
        below, above = self.outside(values)
        if below.any() or above.any() or len(pc.unique(values)) < 2:
            return False
        others = _Range(pa.concat_arrays([values, beside]), self.order, self.low, self.high)
        is_met = [others.is_met(raw) for raw in (self.low, self.high) if raw is not None]
        return all(is_met) or (any(is_met) and len(values) + len(beside) < len(self.values))

    def is_met(self, raw: bytes | None) -> bool:
        """Whether a bound is one of the values, or the beginning of one."""
        sides = self._sides(self.values, raw)
        if sides is None or raw is None:
            return False
        if (~(sides[0] | sides[1])).any():
            return True
        if self.order is not Order.BYTES or len(raw) < SHORTEST_PREFIX:
            return False
        texts: Any = self.values.cast(pa.large_binary())
        beginnings: tuple[Any, ...] = raw, raw[:-1]
        return any(pc.any(pc.starts_with(texts, pattern=part)).as_py() for part in beginnings)


def _bounds(values: ChunkValues, compared: Sequence[Compared]) -> Iterator[_Range]:
    """The ranges that are contradicted, those of pages first."""
    sides: dict[tuple[bool, str], dict[bool, Any]] = defaultdict(dict)
    broken: set[tuple[bool, str]] = set()
    for each in compared:
        claim = each.claim
        if isinstance(claim, (ExactBound, ExactBoundsOfPages)) or not each.compares_values:
            continue
        if isinstance(claim, (ChunkBound, BoundsOfPages)):
            members: Sequence[Any] = [claim]
        elif isinstance(claim, DeprecatedBounds):
            members = claim.bounds
        else:
            continue
        for bound in members:
            key = isinstance(bound, ChunkBound), each.field.rpartition(".")[0]
            sides[key][bound.above] = bound
            if each.is_broken:
                broken.add(key)
    for key in sorted(broken):
        low, high = sides[key].get(False), sides[key].get(True)
        first = low or high
        order = None if first is None else first.order
        if order is None:
            continue
        if key[0]:
            whole = plain(values.values)
            if isinstance(whole, pa.ChunkedArray):
                whole = whole.combine_chunks()
            yield _Range(whole, order, low and low.raw, high and high.raw)
        else:
            yield from _of_pages(values, order, low, high)


def _of_pages(values: ChunkValues, order: Order, low: Any, high: Any) -> Iterator[_Range]:
    pages = {each.page for bounds in (low, high) if bounds is not None for each in bounds.beyond(values)}
    for page in sorted(pages):
        least, greatest = (None if bounds is None else bounds.raws[page] for bounds in (low, high))
        yield _Range(_page(values, page), order, least, greatest, page)


def _page(values: ChunkValues, page: int) -> Any:
    start, end = values.page_starts[page : page + 2].tolist()
    part = plain(values.values.slice(start, min(end - start, MOST_LOOKED_AT)))
    return part.combine_chunks() if isinstance(part, pa.ChunkedArray) else part


# --------------------------------------------------------------------------------------------------- the values


def _traces_in_values(values: ChunkValues, ranges: Sequence[_Range]) -> Iterator[Trace]:
    """What the values show by themselves, beside the first bounds that they contradict."""
    if not ranges:
        return
    first = ranges[0]
    parts = list(_suspect_parts(values, first))
    where = "its values" if first.page is None else f"the values of page {first.page}"
    if any(holds_nothing(part) for part in parts):
        yield 2, f"{where} beyond the bounds are in a page of zeros"
    elif arrangement := _arrangement(first, parts):
        yield 4, f"{where} lie within the bounds {arrangement}"
    below, above = first.crossed
    met = [first.is_met(raw) for raw in (first.low, first.high)]
    if all(met) and below.any() != above.any() and _are_met_elsewhere(first, parts):
        return
    if any(met):
        yield (
            -2 if all(met) else -1,
            f"{' and '.join(_named(met))} occur{'s' * (sum(met) == 1)} among {where}",
        )
    elif below.any() and above.any():
        yield 2, f"{where} lie beyond both bounds, and reach neither"
    elif first.low is not None and first.high is not None:
        yield 1, f"{where} reach neither bound"


def _named(met: Sequence[bool]) -> Iterator[str]:
    return (name for name, is_met in zip(("the lower bound", "the upper bound"), met, strict=True) if is_met)


def _suspect_parts(values: ChunkValues, bounds: _Range) -> Iterator[Any]:
    """The pages in which values lie beyond bounds, the first of them; all values where nobody can tell pages apart."""
    outside = bounds.crossed[0] | bounds.crossed[1]
    starts = values.starts
    if bounds.page is not None or len(starts) <= 2:
        yield bounds.values.slice(0, MOST_LOOKED_AT)
        return
    pages = np.unique(np.searchsorted(starts, np.flatnonzero(outside), "right") - 1)
    for page in pages[:FIRST_POSITIONS].tolist():
        yield _page(values, page)


def _arrangement(bounds: _Range, parts: Sequence[Any]) -> str:
    """The order of bytes in which the values of the first part fit the bounds, together with those that do already; empty without."""
    if not parts or not is_of_one_width(parts[0]):
        return ""
    below, above = bounds.crossed
    nothing = bounds.values.slice(0, 0)
    beside = (
        nothing if len(parts[0]) == len(bounds.values) else bounds.values.filter(pa.array(~(below | above)))
    )
    if words := fitting_arrangement(parts[0], lambda values: bounds.fits(values, beside)):
        return words
    # A dictionary has its values in the order in which they occur.
    entries = pc.unique(bounds.values)
    if len(entries) == len(bounds.values):
        return ""
    return fitting_arrangement(entries, lambda values: bounds.fits(values, nothing))


def _are_met_elsewhere(bounds: _Range, parts: Sequence[Any]) -> bool:
    """Whether no page with values beyond the bounds reaches them."""
    inside = [_Range(part, bounds.order, bounds.low, bounds.high) for part in parts]
    return not any(part.is_met(raw) for part in inside for raw in (bounds.low, bounds.high))


def _of_checksums(chunk: ColumnChunkUnderTest) -> Iterator[Trace]:
    """What the CRCs of pages show: damage after they were written, or that there was none."""
    try:
        pages, faults = chunk.pages, chunk.part(survey).faults
    except (FormatError, NotChecked):
        return
    wrong = [page.number for page, fault in faults if fault.kind is FaultKind.WRONG_CRC]
    if wrong:
        yield 8, f"the CRC of page {wrong[0]} is wrong"
    elif pages and all(page.header.crc is not None for page in pages):
        yield -1, "the CRCs of its pages are right: their bytes are as they were written"
