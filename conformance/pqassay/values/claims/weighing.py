"""Values or metadata: which is more likely wrong if claims about a column chunk contradict its values.

The judge cannot know, but it can weigh. Damage in a page leaves traces: a wrong CRC, independent structures that contradict the values but
agree with each other, bounds that no value reaches, values that are all zero, or values that fit the bounds after reordering their bytes. A
false claim leaves other traces: other structures fit the values, and bounds occur among the values. Each trace has points, above zero for
damaged values. For counts of nulls, NaN and rows, only other counts are evidence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pqassay.report.model import FIRST_POSITIONS
from pqassay.report.weighing import Side, Weighing
from pqassay.under_test.chunks import ColumnChunks, ColumnChunkUnderTest
from pqassay.under_test.file import FileUnderTest, NotChecked
from pqassay.under_test.weighed import Topic, topic_of
from pqassay.values.claims.bloom import absent
from pqassay.values.claims.ranges import MOST_LOOKED_AT, Bounds, Range, bounds_among, page_of
from pqassay.values.claims.rearranged import fitting_arrangement, holds_nothing, is_of_one_width
from pqassay.values.claims.value_rules import Compared
from pqassay.values.decoding.chunk_values import ChunkValues, plain
from pqassay.values.decoding.faults import FaultKind
from pqassay.values.decoding.survey import survey
from pqassay_spec.base.errors import FormatError

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
"""Independent structures, by the prefix of their field paths; the first match is used."""

STATISTICS = STRUCTURES["footer.row_groups.columns.meta_data.statistics"]

FILTER = STRUCTURES["row_groups.columns.bloom_filter"]

OF_PAGES = ("the column index", "the page headers")
"""Structures with bounds of each page, about which claims on the whole chunk decide nothing."""

VOUCHING = (FILTER, "the IDX1 index")
"""Structures without bounds that are unlikely to fit the values by chance."""

ENOUGH = 2
"""The number of points from which the values count as damaged; at 0 or below, the metadata counts as false."""


MANY = 8
"""The number of distinct values from which one wrong value stands alone, or two equal pages are copies."""

MUCH = 0.25
"""The share of the values of a page or chunk from which they are many."""


def weigh(values: ChunkValues, compared: Sequence[Compared]) -> Mapping[Topic, Weighing]:
    """Weigh the values of a chunk against the claims that they contradict.

    Args:
        values: The values.
        compared: All claims that were compared with them.
    """
    contradicting: dict[Topic, set[str]] = defaultdict(set)
    fitting: dict[Topic, set[str]] = defaultdict(set)
    for each in compared:
        if each.compares_values:
            sides = contradicting if each.is_broken else fitting
            sides[topic_of(each.field)].add(_structure(each.field))
    weighings: dict[Topic, Weighing] = {}
    for topic, structures in contradicting.items():
        others = fitting[topic] - structures
        if topic == "counts":
            traces = [(-1, "damaged pages rarely change counts"), *_agreement(structures, points=1)]
            traces += [(-3, f"the values fit {name}") for name in sorted(others)]
        else:
            traces = list(_agreement(structures, points=2))
            of_pages = structures.issubset(OF_PAGES)
            traces += [(-3, f"the values fit {name}") for name in VOUCHING if name in others and not of_pages]
            with suppress(FormatError, NotChecked):
                alone = list(_of_filter(values)) if structures == {FILTER} else []
                traces += alone or _of_bounds(values, bounds_among(compared), of_pages=of_pages)
            if STATISTICS in structures and (column := _column_with_bounds_of(values.chunk)):
                traces.append((-4, f"its bounds are those of column {column}"))
            if any(each.is_broken and not each.compares_values for each in compared):
                traces.append((2, "values also do not fit their type"))
        traces += _of_checksums(values.chunk)
        weighings[topic] = _weighed(traces, structures)
    return weighings


def _structure(path: str) -> str:
    return next(
        (name for begin, name in STRUCTURES.items() if path.startswith(begin)), path.partition(".")[0]
    )


Trace = tuple[int, str]
"""Points for damaged values, and the reason for them."""


def _weighed(traces: list[Trace], structures: Iterable[str]) -> Weighing:
    traces = list(dict.fromkeys(traces))
    points = sum(each for each, _ in traces)
    wrong: Side = "values" if points >= ENOUGH else "either" if points > 0 else "metadata"
    traces.sort(key=lambda trace: -abs(trace[0]))
    sign = {"values": 1, "metadata": -1, "either": 0}[wrong]
    reasons = [words for each, words in traces if each * sign > 0 or not sign]
    return Weighing(
        wrong, reasons or [f"nothing but {' and '.join(sorted(structures))} contradicts the values"]
    )


def _agreement(structures: set[str], points: int) -> Iterator[Trace]:
    """Yield the trace that several structures contradict the values."""
    if len(structures) > 1:
        yield (
            points * (len(structures) - 1),
            f"{' and '.join(sorted(structures))} contradict the values alike",
        )


# --------------------------------------------------------------------------------------------------- the values


class BoundsOfColumns(dict[tuple[int, bytes | None, bytes | None], list[str]]):
    """The columns with the same claimed bounds, by row group and bounds; a part of a file."""

    def __init__(self, file: FileUnderTest) -> None:
        for chunk in file.part(ColumnChunks).all:
            if (facts := chunk.statistics) is not None:
                self.setdefault((chunk.row_group, facts.min_value, facts.max_value), []).append(chunk.column)


def _column_with_bounds_of(chunk: ColumnChunkUnderTest) -> str | None:
    """The only other column that claims the same bounds as a chunk, if there is exactly one."""
    facts = chunk.statistics
    if facts is None or not facts.min_value or not facts.max_value:
        return None
    columns = chunk.file.part(BoundsOfColumns)[chunk.row_group, facts.min_value, facts.max_value]
    return next(iter({*columns} - {chunk.column}), None) if len(columns) == 2 else None


def _of_filter(values: ChunkValues) -> Iterator[Trace]:
    """Yield the traces in values that only a bloom filter contradicts."""
    missing = absent(values, values.chunk.bitset)
    if missing is None:
        return
    pages = np.unique(np.searchsorted(values.starts, np.flatnonzero(missing), "right") - 1)[:FIRST_POSITIONS]
    if any(holds_nothing(page_of(values, page)) for page in pages.tolist()):
        yield 2, "all values of a page that are missing in the bloom filter are zero"
    elif len(values.distinct()) >= MANY > 1 == len(pc.unique(plain(values.values.filter(pa.array(missing))))):
        yield 1, "only one value is missing in the bloom filter"


def _of_bounds(values: ChunkValues, bounds: Sequence[Bounds], *, of_pages: bool) -> Iterator[Trace]:
    """Yield the traces of bounds: first of contradicted bounds, then of bounds that hold."""
    pages: list[int] = []
    suspects = list(bounds[0].ranges(values)) if bounds and bounds[0].is_broken else []
    if suspects:
        parts = dict(_suspect_parts(values, suspects[0]))
        pages = [page for page in parts if page is not None]
        yield from _of_suspects(suspects[0], list(parts.values()), len(values.starts) - 1)
        if copied := _copied(values, pages):
            yield 4, "pages {} and {} have the same values".format(*copied)
        if len(suspects) > 1 and not any(each.met for each in suspects):
            yield 1, f"{len(suspects)} pages reach neither of their bounds"
    for kept in bounds:
        if kept.is_broken:
            continue
        ranges = list(kept.ranges(values, pages))
        met = [len(each.met) for each in ranges]
        name = _structure(kept.path)
        # If the bounds of pages cannot come from the same values, claims about the whole chunk decide.
        if not (of_pages and kept.of_chunk and all(map(bounds[0].mentions, ranges))):
            if ranges and met == [len(each.raws) for each in ranges]:
                yield -3, f"the values fit {name}"
            elif ranges and not any(met):
                yield 1, f"no value is at a bound in {name}"


def _copied(values: ChunkValues, pages: Iterable[int]) -> tuple[int, int] | None:
    """Two pages with many distinct values that are equal, one of them among the given pages; ``None`` if there are none."""
    sizes = np.diff(values.starts)
    for page in pages:
        own = page_of(values, page)
        alike = np.flatnonzero(sizes == sizes[page]).tolist() if len(pc.unique(own)) >= MANY else []
        for other in alike:
            if other != page and own.equals(page_of(values, other)):
                return min(page, other), max(page, other)
    return None


def _of_suspects(suspect: Range, parts: Sequence[Any], pages: int) -> Iterator[Trace]:
    """Yield the traces in values that contradict bounds, in some of all pages."""
    where = "its values" if suspect.page is None else f"the values of page {suspect.page}"
    if any(holds_nothing(part) for part in parts):
        yield 2, f"{where} that are suspect are all zero"
    elif arrangement := _arrangement(suspect, parts):
        yield 4, f"{where} lie within the bounds {arrangement}"
    if suspect.is_off_by_a_bit:
        yield 4, f"one of {where} lies far beyond the bounds because of a single bit"
    elif suspect.are_far:
        yield 3, f"{where} that lie beyond the bounds are far from them"
    elif suspect.are_near:
        yield -2, f"{where} are only slightly beyond the bounds"
    met, (below, above) = suspect.met, suspect.crossed
    is_of_both, is_much = bool(below.any() and above.any()), suspect.share >= MUCH
    if not any(map(any, suspect.raws)) and len(suspect.raws) > 1 and not met:
        yield -4, "all bytes of the bounds are zero"
    elif met and pages > 2 and len(parts) == 1 and _are_met_elsewhere(suspect, parts):
        share = Range(parts[0], suspect.order, suspect.low, suspect.high).share
        if share >= MUCH:
            sides = "both bounds" if is_of_both else "a bound"
            yield (
                1 + is_of_both,
                f"{where} lie beyond {sides} in one page only, and reach the bounds in others",
            )
    elif met:
        side = {suspect.low: "the lower bound", suspect.high: "the upper bound"}
        names = " and ".join(side[raw] for raw in met)
        yield -2 if len(met) > 1 else -1, f"{names} occur{'s' * (len(met) == 1)} among {where}"
    elif is_of_both and is_much:
        yield 2, f"many of {where} lie beyond both bounds, and none reaches them"
    elif is_much or not (below.any() or above.any()):
        yield 1, f"{where} reach neither bound"


def _suspect_parts(values: ChunkValues, bounds: Range) -> Iterator[tuple[int | None, Any]]:
    """Yield the pages with values beyond bounds, the first of them; or all values if pages cannot be told apart."""
    outside = bounds.crossed[0] | bounds.crossed[1]
    starts = values.starts
    if bounds.page is not None or len(starts) <= 2:
        yield bounds.page, bounds.values.slice(0, MOST_LOOKED_AT)
        return
    pages = np.unique(np.searchsorted(starts, np.flatnonzero(outside), "right") - 1)
    for page in pages[:FIRST_POSITIONS].tolist():
        yield page, page_of(values, page)


def _arrangement(bounds: Range, parts: Sequence[Any]) -> str:
    """The byte order in which the values of the first part, with the fitting values, match the bounds; empty if none does."""
    if not parts or not is_of_one_width(parts[0]):
        return ""
    below, above = bounds.crossed
    nothing = bounds.values.slice(0, 0)
    beside = (
        nothing if len(parts[0]) == len(bounds.values) else bounds.values.filter(pa.array(~(below | above)))
    )
    if words := fitting_arrangement(parts[0], lambda values: bounds.fits(values, beside)):
        return words
    # A dictionary has its values in the order of their first occurrence.
    entries = pc.unique(bounds.values)
    if len(entries) == len(bounds.values):
        return ""
    return fitting_arrangement(entries, lambda values: bounds.fits(values, nothing))


def _are_met_elsewhere(bounds: Range, parts: Sequence[Any]) -> bool:
    """Whether the bounds are reached only by pages without values beyond them."""
    return not any(Range(part, bounds.order, bounds.low, bounds.high).met for part in parts)


def _of_checksums(chunk: ColumnChunkUnderTest) -> Iterator[Trace]:
    """Yield the traces of page CRCs: whether pages were damaged after they were written."""
    try:
        pages, faults = chunk.pages, chunk.part(survey).faults
    except (FormatError, NotChecked):
        return
    wrong = [page.number for page, fault in faults if fault.kind is FaultKind.WRONG_CRC]
    if wrong:
        yield 8, f"the CRC of page {wrong[0]} is wrong"
    elif pages and all(page.header.crc is not None for page in pages):
        yield -1, "the CRCs of its pages are right: their bytes did not change"
