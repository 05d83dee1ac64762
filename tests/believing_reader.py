"""Readers that are wrong on purpose: they believe what a file says, each also something that others do not, or make a mistake.

The base of them all is the plainest reader that uses every index: statistics, column index, offset index and bloom filter, as
they are written and without any of the reference's distrust.  On a valid file it is right.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import xxhash

from believed_file import BelievedChunk, BelievedFile, FakeFailure, TruePage, Zone, bound, comparable, is_nan
from fakes_of_readers import Fake
from pqassay.literals.predicate import PredicateError, Semantics, columns_of, keeps, literal
from pqassay_spec.golden.literals import Value, write_value
from pqassay_spec.parquet.bloom import BLOCK_SIZE, probe
from pqassay_spec.parquet.column_order import Order, key_by_signed_bytes, type_order
from pqassay_spec.parquet.file import chunk_start
from pqassay_spec.parquet.thrift import (
    DICTIONARY_ENCODINGS,
    BoundaryOrder,
    PageType,
    RowGroup,
    Statistics,
    Type,
)
from pqassay_suite.cases.queries import CaseQuery, plain_bytes

GREATEST = Semantics(nan="greatest")


class BelievingReader:
    """A fake about one file.

    Args:
        file: The file.
        fake: What makes it another reader than the base.
    """

    def __init__(self, file: BelievedFile, fake: Fake = frozenset()) -> None:
        self.file, self.fake = file, fake
        self.semantics = (
            GREATEST
            if fake & {"counts of NaN", "no NaN count means no NaN", "NaN is within the bounds"}
            else Semantics()
        )

    def rows(self, query: CaseQuery) -> list[list[Value]]:
        """The rows that it gives. Raises `FakeFailure`."""
        metadata = self.file.metadata
        found: list[list[Value]] = []
        for number, group in enumerate(metadata.row_groups):
            if "ranges of splits" not in self.fake or self.file.is_in_split(group):
                found += _Group(self, number, group).rows(query)
        return found


class _Group:
    """A row group as a fake sees it."""

    def __init__(self, reader: BelievingReader, number: int, group: RowGroup) -> None:
        self.file, self.fake, self.semantics = reader.file, reader.fake, reader.semantics
        self.group, self.true_rows = group, reader.file.rows_of(group)
        self.row_count = group.num_rows if "rows of the row group" in self.fake else len(self.true_rows)
        self._number = number

    def rows(self, query: CaseQuery) -> list[list[Value]]:
        """The rows of the row group."""
        everything = set(range(self.row_count))
        if not everything:
            return []
        tree = query.predicate
        if not self._left(tree, everything, self._by_chunk):
            return []
        left = sorted(self._left(tree, everything, self._by_pages))
        asked = self._columns(sorted(columns_of(tree)), left)
        try:
            kept = [
                row
                for place, row in enumerate(left)
                if keeps(tree, {name: values[place] for name, values in asked.items()}, self.semantics)
            ]
        except PredicateError as error:
            raise FakeFailure(str(error)) from None
        shown = self._columns(query.columns, kept)
        return [[shown[name][place] for name in query.columns] for place in range(len(kept))]

    # --------------------------------------------------------------------------------------- which rows are left

    def _left(self, tree: Sequence[Any], everything: set[int], answer: Callable[..., set[int]]) -> set[int]:
        match tree:
            case ["and", *parts]:
                return set.intersection(*(self._left(part, everything, answer) for part in parts))
            case ["or", *parts]:
                return set().union(*(self._left(part, everything, answer) for part in parts))
            case ["in", str(name), list(items)]:
                return set().union(*(answer("=", name, item) for item in items))
            case [str(operator), str(name), *rest] if operator not in ("not", "not in", "!="):
                return answer(operator, name, rest[0] if rest else None)
            case _:
                return everything

    def _chunk(self, name: str) -> BelievedChunk:
        return self.file.chunk_of(self._number, self._place(name))

    def _place(self, name: str) -> int:
        """Which chunk of the row group is the column's."""
        place = self.file.leaf_of(name)
        if "paths of columns" in self.fake:
            path = self.file.leaves[place].path
            paths = [
                chunk.meta_data and tuple(chunk.meta_data.path_in_schema) for chunk in self.group.columns
            ]
            if path not in paths:
                raise FakeFailure(f"no chunk of {name}")
            return paths.index(path)
        if "ids of fields" in self.fake:
            wanted = self.file.leaves[place].element.field_id
            ids = [leaf.element.field_id for leaf in self.file.leaves]
            return place if wanted is None else ids.index(wanted)
        return place

    def _by_chunk(self, operator: str, name: str, written: Any) -> set[int]:
        everything = set(range(self.row_count))
        chunk = self._chunk(name)
        if not chunk.is_flat or len(chunk.leaf.path) > 1:
            return everything
        if not self._may(self._summary(chunk), chunk, operator, written):
            return set()
        if operator == "=" and (
            self._is_not_in_filter(chunk, written) or self._is_not_in_dictionary(name, chunk, written)
        ):
            return set()
        return everything

    def _summary(self, chunk: BelievedChunk) -> Zone:
        stored, element = chunk.facts.statistics, chunk.leaf.element
        floating = element.type in (Type.FLOAT, Type.DOUBLE) or type_order(element) is Order.HALF
        if stored is None:
            return Zone(count=self.row_count, is_floating=floating)
        low, high = self._stored_bounds(stored)
        return Zone(
            self._bound(chunk, low),
            self._bound(chunk, high),
            stored.null_count,
            stored.nan_count,
            count=self.row_count,
            is_floating=floating,
        )

    def _stored_bounds(self, stored: Statistics) -> tuple[bytes | None, bytes | None]:
        low, high = stored.min_value, stored.max_value
        if "deprecated bounds" in self.fake:
            low = low if stored.min is None else stored.min
            high = high if stored.max is None else stored.max
        return low, high

    def _bound(self, chunk: BelievedChunk, raw: bytes | None) -> Any:
        value = bound(chunk.leaf.element, raw)
        if is_nan(value) and "bounds of NaN are compared" not in self.fake:
            return None
        return self._key(chunk, value)

    def _key(self, chunk: BelievedChunk, value: Any) -> Any:
        """What is compared, by those who compare in another order as well."""
        element = chunk.leaf.element
        if "unsigned is signed" in self.fake and type_order(element) is Order.UNSIGNED and value is not None:
            width = 32 if element.type == Type.INT32 else 64
            return (value + (1 << width - 1)) % (1 << width) - (1 << width - 1)
        if "text is of signed bytes" in self.fake and isinstance(value, bytes):
            return key_by_signed_bytes(value)
        if "zeros have a sign" in self.fake and isinstance(value, float):
            return value, math.copysign(1, value)
        return value

    def _may(self, zone: Zone, chunk: BelievedChunk, operator: str, written: Any) -> bool:
        """Whether any value of a zone may satisfy a condition."""
        nulls = zone.null_count
        if nulls is None and "no null count means no null" in self.fake:
            nulls = 0
        if operator == "is null":
            by_flag = zone.is_null and "null counts alone" not in self.fake
            return by_flag or nulls is None or nulls > 0
        if zone.is_null or (nulls is not None and zone.count is not None and nulls >= zone.count):
            return False
        return operator == "is not null" or self._may_compare(zone, chunk, operator, written)

    def _may_compare(self, zone: Zone, chunk: BelievedChunk, operator: str, written: Any) -> bool:
        """Whether any value of a zone may compare with a literal as asked."""
        value = comparable(literal(written))
        if (
            self.semantics.nan == "greatest"
            and self._may_hold_nan(zone)
            and (is_nan(value) or operator in (">", ">="))
        ):
            return True
        if is_nan(value):
            return False
        if "counts of NaN" in self.fake and zone.count is not None and (zone.nan_count or 0) >= zone.count:
            return False
        if zone.low is None or zone.high is None:
            return True
        sought = self._key(chunk, value)
        try:
            may: bool = {
                "=": lambda: zone.low <= sought <= zone.high,
                "<": lambda: zone.low < sought,
                "<=": lambda: zone.low <= sought,
                ">": lambda: zone.high > sought,
                ">=": lambda: zone.high >= sought,
            }[operator]()
        except TypeError:
            return True
        return may

    def _may_hold_nan(self, zone: Zone) -> bool:
        if not zone.is_floating or "NaN is within the bounds" in self.fake:
            return False
        if zone.nan_count is None:
            return "no NaN count means no NaN" not in self.fake
        return zone.nan_count > 0

    def _is_not_in_filter(self, chunk: BelievedChunk, written: Any) -> bool:
        """Whether the bloom filter holds a value for sure not."""
        bitset, value = chunk.bitset, literal(written)
        if bitset is None:
            return False
        if "block 0 of every filter" in self.fake:
            bitset = bitset[:BLOCK_SIZE]
        bitset = bitset[: len(bitset) // BLOCK_SIZE * BLOCK_SIZE]
        if not bitset:
            raise FakeFailure("a filter of no block")
        kinds: list[Value] = [value]
        if value == 0 and isinstance(value, float) and "zero is sought with one sign" not in self.fake:
            kinds = [0.0, -0.0]
        kind = chunk.leaf.element.type
        if kind == Type.INT32 and "integers are hashed as 64 bits" in self.fake:
            kind = Type.INT64
        plains = [plain_bytes(write_value(one), kind) for one in kinds]
        if None in plains:
            return False
        if "length is hashed" in self.fake and kind == Type.BYTE_ARRAY:
            plains = [len(one or b"").to_bytes(4, "little") + (one or b"") for one in plains]
        return not any(probe(bitset, xxhash.xxh64_intdigest(one or b"")) for one in plains)

    def _is_not_in_dictionary(self, name: str, chunk: BelievedChunk, written: Any) -> bool:
        """Whether the dictionary lacks a value, where all pages are said to refer to it."""
        if not {"dictionary holds all values", "dictionary is sorted"} & self.fake:
            return False
        stats = chunk.facts.encoding_stats
        if stats is not None:
            encodings = {
                one.encoding for one in stats if one.page_type in (PageType.DATA_PAGE, PageType.DATA_PAGE_V2)
            }
            is_whole = bool(encodings) and encodings <= set(DICTIONARY_ENCODINGS)
        else:
            is_whole = (
                bool(set(chunk.facts.encodings) & set(DICTIONARY_ENCODINGS))
                and 0 not in chunk.facts.encodings
            )
        if not is_whole:
            return False
        entries = self._entries(name)
        if "dictionary is sorted" not in self.fake or not self._is_dictionary_sorted(chunk):
            return literal(written) not in entries
        keys, sought = [comparable(one) for one in entries if one is not None], comparable(literal(written))
        place = bisect_left(keys, sought)
        return place == len(keys) or keys[place] != sought

    def _is_dictionary_sorted(self, chunk: BelievedChunk) -> bool:
        offset = chunk.facts.dictionary_page_offset
        header = None if not offset else self.file.header_at(offset).dictionary_page_header
        return header is not None and bool(header.is_sorted)

    def _entries(self, name: str) -> list[Value]:
        """The entries of the dictionary: what the pages that refer to it hold."""
        column = self.file.names.index(name)
        found: dict[Value, None] = {}
        for page in self._true_pages(name):
            header = page.header.data_page_header or page.header.data_page_header_v2
            if header is not None and header.encoding in DICTIONARY_ENCODINGS:
                found |= dict.fromkeys(self.file.rows[row][column] for row in page.rows)
        return list(found)

    def _true_pages(self, name: str) -> list[TruePage]:
        return [
            page
            for page in self.file.pages.values()
            if page.column == name and page.rows.start in self.true_rows
        ]

    # ---------------------------------------------------------------------------------------------------- pages

    def _by_pages(self, operator: str, name: str, written: Any) -> set[int]:
        everything = set(range(self.row_count))
        chunk = self._chunk(name)
        if chunk.is_flat and len(chunk.leaf.path) == 1:
            left = self._by_headers(name, chunk, operator, written)
            if left is not None:
                return left
        elif operator == "is null" or "null pages of lists" not in self.fake:
            return everything
        index = chunk.column_index
        if index is None or chunk.offset_index is None:
            return everything
        places = self._pages_of(chunk, operator, written)
        starts = self._starts(name, chunk)
        return {
            row
            for place in places
            if place < len(starts)
            for row in range(starts[place], [*starts, self.row_count][place + 1])
            if row in everything
        }

    def _zone(self, chunk: BelievedChunk, page: int) -> Zone:
        index = chunk.column_index
        assert index is not None
        element = chunk.leaf.element
        is_null = index.null_pages[page]
        counts = index.null_counts
        try:
            return Zone(
                None if is_null else self._bound(chunk, index.min_values[page]),
                None if is_null else self._bound(chunk, index.max_values[page]),
                None if counts is None else counts[page],
                None if index.nan_counts is None else index.nan_counts[page],
                is_null,
                self._rows_of_page(chunk, page),
                is_floating=element.type in (Type.FLOAT, Type.DOUBLE) or type_order(element) is Order.HALF,
            )
        except IndexError:
            raise FakeFailure("lists of several lengths") from None

    def _rows_of_page(self, chunk: BelievedChunk, page: int) -> int | None:
        places = chunk.offset_index.page_locations if chunk.offset_index is not None else []
        if not chunk.is_flat or page >= len(places):
            return None
        ends = [*(place.first_row_index for place in places[1:]), self.row_count]
        return max(1, ends[page] - places[page].first_row_index)

    def _pages_of(self, chunk: BelievedChunk, operator: str, written: Any) -> list[int]:
        """The pages that may satisfy a condition, by halving where the bounds are said to be sorted."""
        index = chunk.column_index
        assert index is not None
        zones = [self._zone(chunk, page) for page in range(len(index.null_pages))]
        if index.boundary_order == BoundaryOrder.UNORDERED or operator in ("is null", "is not null"):
            return [page for page, zone in enumerate(zones) if self._may(zone, chunk, operator, written)]
        value = comparable(literal(written))
        if is_nan(value) or self.semantics.nan == "greatest":
            return [page for page, zone in enumerate(zones) if self._may(zone, chunk, operator, written)]
        if "bounds of null pages count" in self.fake:
            pages = list(range(len(zones)))
            lows, highs = (
                [self._bound(chunk, raw) for raw in raws] for raws in (index.min_values, index.max_values)
            )
        else:
            pages = [page for page, zone in enumerate(zones) if not zone.is_null]
            lows, highs = [zone.low for zone in zones], [zone.high for zone in zones]
        if any(lows[page] is None or highs[page] is None for page in pages):
            return [page for page, zone in enumerate(zones) if self._may(zone, chunk, operator, written)]
        if index.boundary_order != BoundaryOrder.ASCENDING and "descending is ascending" not in self.fake:
            pages.reverse()
        sought = self._key(chunk, value)
        first, end = 0, len(pages)
        if operator in ("=", ">", ">="):
            first = (bisect_right if operator == ">" else bisect_left)(
                pages, sought, key=lambda page: highs[page]
            )
        if operator in ("=", "<", "<="):
            end = (bisect_left if operator == "<" else bisect_right)(
                pages, sought, key=lambda page: lows[page]
            )
        return sorted(pages[first:end])

    def _by_headers(self, name: str, chunk: BelievedChunk, operator: str, written: Any) -> set[int] | None:
        """The rows that the headers of the pages leave, by those who ask them."""
        by_statistics = "statistics of page headers" in self.fake
        if not by_statistics and "counts of nulls in page headers" not in self.fake:
            return None
        left: set[int] = set()
        for page, header in self._headers(name):
            second = header.data_page_header_v2
            found = header.data_page_header or second
            stored = found.statistics if found is not None else None
            nulls = (
                second.num_nulls if second is not None and not by_statistics else stored and stored.null_count
            )
            low, high = self._stored_bounds(stored) if stored and by_statistics else (None, None)
            zone = Zone(
                self._bound(chunk, low),
                self._bound(chunk, high),
                nulls,
                count=len(page.rows),
                is_floating=True,
            )
            if self._may(zone, chunk, operator, written):
                left |= {row - self.true_rows.start for row in page.rows}
        return left

    def _headers(self, name: str) -> Iterable[tuple[TruePage, Any]]:
        """The pages with their headers as this file has them."""
        for offset, page in self.file.pages.items():
            if page.column == name and page.rows.start in self.true_rows:
                yield page, self.file.header_at(offset)

    def _starts(self, name: str, chunk: BelievedChunk) -> list[int]:
        """The first rows of pages."""
        index = chunk.offset_index
        assert index is not None
        if "entries of lists are rows" in self.fake and not chunk.is_flat:
            starts = [0]
            for _, header in self._headers(name):
                found = header.data_page_header or header.data_page_header_v2
                starts.append(starts[-1] + found.num_values)
            return starts[:-1]
        return [place.first_row_index for place in index.page_locations]

    # --------------------------------------------------------------------------------------------------- values

    def _columns(self, names: Iterable[str], rows: Sequence[int]) -> dict[str, list[Value]]:
        return {name: self._values(name, rows) for name in names}

    def _values(self, name: str, rows: Sequence[int]) -> list[Value]:
        """The values of some rows: of all without an index, else by the offset index."""
        chunk = self._chunk(name)
        first = self.file.first_page(chunk.chunk)
        if first is None:
            if not rows or not self.file.pages:
                return [None for _ in rows]
            raise FakeFailure("no page where the chunk is said to be")
        column = self.file.names.index(first.column)
        self._require(chunk, name)
        whole = [self.file.rows[row][column] for row in self.true_rows]
        if "rows in page headers" in self.fake and not chunk.is_flat:
            whole = list(self._values_by_headers(name))
        if "types of documents" in self.fake and name in self.file.described_otherwise:
            whole = [None if value is None else f"{value!r} of another type" for value in whole]
        elif chunk.offset_index is not None and len(rows) < self.row_count:
            return [self._value(name, chunk, row) for row in rows]
        return [whole[row] if row < len(whole) else None for row in rows]

    def _require(self, chunk: BelievedChunk, name: str) -> None:
        """Raise `FakeFailure` where the footer leads those astray who go by it."""
        if "types of chunks" in self.fake and chunk.facts.type != chunk.leaf.element.type:
            raise FakeFailure(f"{name} is of another type")
        if "ends of chunks" in self.fake:
            end = (chunk_start(chunk.chunk) or 0) + chunk.facts.total_compressed_size
            places = [place for place, page in self.file.pages.items() if page in self._true_pages(name)]
            if places and end != max(places) + self.file.pages[max(places)].size:
                raise FakeFailure(f"{name} does not end with its last page")

    def _values_by_headers(self, name: str) -> Iterable[Value]:
        """The values of as many rows of each page as its header says."""
        column = self.file.names.index(name)
        for page, header in self._headers(name):
            second = header.data_page_header_v2
            count = second.num_rows if second is not None else len(page.rows)
            values = [self.file.rows[row][column] for row in page.rows]
            yield from (values + [None] * count)[:count]

    def _value(self, name: str, chunk: BelievedChunk, row: int) -> Value:
        """The value of a row, where the offset index says that it is."""
        index = chunk.offset_index
        assert index is not None
        starts = self._starts(name, chunk)
        place = bisect_right(starts, row) - 1
        if not 0 <= place < len(index.page_locations):
            return None
        location = index.page_locations[place]
        page = self.file.pages.get(location.offset)
        if page is None:
            raise FakeFailure("no page where the offset index says")
        if (
            "null pages of lists" in self.fake
            and chunk.column_index is not None
            and not chunk.is_flat
            and chunk.column_index.null_pages[place]
        ):
            return None
        held = len(page.rows) * min(location.compressed_page_size, page.size) // page.size
        within = row - starts[place]
        if within >= held:
            return None
        return self.file.rows[page.rows[within]][self.file.names.index(page.column)]
