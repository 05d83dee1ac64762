"""The scan of one file: its metadata, its own index, its row groups, and the windows of remaining rows.

Source: chapter ``scan.md``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, suppress
from dataclasses import replace
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa

from pqassay_reader.condition.kinds import find_column
from pqassay_reader.condition.normal import Condition, columns_named, normal_form
from pqassay_reader.condition.rows import rows_of
from pqassay_reader.pages.excluding import FileSets
from pqassay_reader.query.conditions import parts_of
from pqassay_reader.query.explained.counters import EVERYTHING, Counters, Left
from pqassay_reader.query.facts.footer_facts import KEPT_FACTS, FileFacts, read_facts
from pqassay_reader.query.facts.pm_facts import pm_facts
from pqassay_reader.query.fetching.field_pages import Reading
from pqassay_reader.query.fetching.page_layout import Numbers
from pqassay_reader.query.fetching.ranges import (
    FOREVER,
    GAP,
    LOCAL_TAIL,
    REMOTE_GAP,
    REMOTE_TAIL,
    STEP_GAPS,
    Fetched,
    FetchedRanges,
    Piece,
)
from pqassay_reader.query.group_scan import GroupQuestion, GroupScan
from pqassay_reader.query.indexes.distinct_sets import WHOLE_GROUPS, file_sets
from pqassay_reader.query.indexes.file_index import file_index_verdict
from pqassay_reader.query.indexes.quantiles import FileQuantiles, file_quantiles
from pqassay_reader.query.rungs import Rung
from pqassay_reader.query.scan_query import Query
from pqassay_reader.query.targets import LocalFile, Target, remote_tail
from pqassay_reference.errors import Refused, about
from pqassay_reference.pm.read import PmReader
from pqassay_spec.directory.codes import Granularity
from pqassay_spec.parquet.page_search import Rows, intersection
from pqassay_spec.pm.grammar import FILE_NAME


class Window(NamedTuple):
    """Rows of one row group that are processed together; ``last_row`` is the row of the file after them."""

    group: GroupScan
    rows: Numbers
    last_row: int


class FileScan:
    """One file during its scan; use it as a context manager.

    Args:
        target: The file.
        query: The query.
        counters: Counters of the remaining and fetched data.
        pool: Runs several requests at the same time.

    Raises:
        FormatError: The metadata cannot be read.
        Undecodable: Arrow cannot read the schema.
        Refused: The condition or the columns do not fit the file.
        OSError: The file cannot be read.
    """

    def __init__(
        self,
        target: Target,
        query: Query,
        counters: Counters,
        pool: Executor | None = None,
    ) -> None:
        self.target, self._query, self._counters = target, query, counters
        self.message = ""
        """Why the embedded index of the file was not used."""
        self.aside: list[str] = []
        """Ignored entries of its index directory, with reasons."""
        self._sets: FileSets | None = None
        self._visited: list[tuple[GroupScan, Rows]] = []
        self._left_groups: list[GroupScan] = []
        self._metadata_read = 0
        self._stack = ExitStack()
        try:
            with about(target.name):
                source = self._stack.enter_context(target.opened())
                self._identity = source.identity if isinstance(source, LocalFile) else target.identity
                gap = (GAP if target.is_local else REMOTE_GAP) if query.gap is None else query.gap
                self.ranges = FetchedRanges(source, gap=gap if Rung.FETCH in query.rungs else None)
                self.ranges.step = 0 if target.is_local else STEP_GAPS * (self.ranges.gap or 0)
                self.make_requests_in(pool)
                self.facts = self._read_facts()
                self.question = self._question()
        except BaseException:
            self._stack.close()
            raise

    def _read_facts(self) -> FileFacts:
        if self._query.metadata == "pm":
            return self._pm_facts()
        keeps = Rung.METADATA in self._query.rungs
        known = KEPT_FACTS.get(self._identity) if keeps else None
        if known is not None:
            self._counters.kept_facts += 1
            return known
        size = self.ranges.size
        # If a step is expensive, the end of the file is read in a length that includes the page indexes before its footer.
        wanted = LOCAL_TAIL if self.target.is_local else remote_tail(self.ranges.gap or 0)
        tail = min(size, wanted)
        self.ranges.want([Piece(size - tail, size)])
        facts = read_facts(self.ranges)
        if keeps:
            KEPT_FACTS.keep(self._identity, facts)
        return facts

    def _pm_facts(self) -> FileFacts:
        """The facts of the ``_pm`` beside the file."""
        if not self.target.is_local:
            raise Refused(f"{self.target.name}: _pm is read beside local files only")
        path = Path(self.target.name).with_name(FILE_NAME)
        if not path.is_file():
            raise Refused(f"{path}: there is no _pm beside the file; read it by its footer")
        reader = self._stack.enter_context(PmReader.map(path, parquet_file_size=self.ranges.size))
        self._counters.note("_pm")
        return pm_facts(reader, self.ranges.size)

    def _question(self) -> GroupQuestion:
        query, schema = self._query, self.facts.schema
        expected = query.first_schema if query.first_schema is not None else schema
        stored = set(schema.names)
        constants: dict[str, Any] = {}
        if expected is not schema:
            constants = {one.name: pa.scalar(None, one.type) for one in expected if one.name not in stored}
        constants |= self.target.constants
        names = list(expected.names) if query.columns is None else list(query.columns)
        called = {*names, *(columns_named(query.predicate) if query.predicate is not None else ())}
        constants |= self._absent(called - constants.keys(), expected)
        condition = self._condition(constants)
        named = frozenset[str]() if condition is None else condition.columns
        output = [self.facts.place_of(name) for name in names if name not in constants]
        asked = [self.facts.place_of(name) for name in sorted(named) if name not in constants]
        needed = sorted({*output, *asked})
        if Rung.PROJECTION not in query.rungs:
            needed = list(range(len(schema)))
        self.facts.require_repetitions(needed)
        reading = Reading(
            indexed=Rung.PAGES in query.rungs,
            all_dictionaries=Rung.DICTIONARIES not in query.rungs,
            kept_dictionaries=frozenset(),
        )
        parts = [] if condition is None else parts_of(condition)
        unique = list(dict.fromkeys(output))
        reads_all = condition is None and query.limit is None and query.batch_size is None
        return GroupQuestion(condition, parts, unique, needed, constants, query.rungs, reading, reads_all)

    def _absent(self, names: Collection[str], expected: pa.Schema) -> dict[str, Any]:
        """Nulls for the columns that only other files have. Raises `Refused` for columns that no file has."""
        absent: dict[str, Any] = {}
        for name in sorted(names):
            try:
                find_column(self.facts.schema, name)
            except Refused:
                kind = None
                if name not in self.facts.schema.names:  # or there are several
                    with suppress(Refused):
                        kind = find_column(expected, name)[1]
                    kind = self._query.type_elsewhere(name) if kind is None else kind
                if kind is not None:
                    absent[name] = pa.scalar(None, kind)
        return absent

    def _condition(self, constants: dict[str, Any]) -> Condition | None:
        """The normal form of the condition; raises `Refused` if it does not fit the columns, even if no row is tested."""
        predicate = self._query.predicate
        if predicate is None:
            return None

        def type_of(name: str) -> Any:
            return constants[name].type if name in constants else find_column(self.facts.schema, name)[1]

        return normal_form(predicate, type_of)

    def make_requests_in(self, pool: Executor | None) -> None:
        """Run several requests at the same time from now on, if that rung is used."""
        self.ranges.pool = pool if Rung.FETCH in self._query.rungs else None

    def keep_dictionaries(self, names: frozenset[str]) -> None:
        """Return the values of some fields as references to their dictionaries."""
        reading = replace(self.question.reading, kept_dictionaries=names)
        self.question = replace(self.question, reading=reading)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, count the fetched data, and free the memory."""
        self.ranges.release(FOREVER)
        self._counters.metadata += self.ranges.metadata
        self._counters.data += self.ranges.data
        self.ranges.metadata, self.ranges.data = Fetched(), Fetched()
        self._stack.close()

    # --------------------------------------------------------------------------------------------------- remaining

    def windows(self) -> Iterator[Window]:
        """Yield the windows of remaining rows, in the order of the rows. Raises the errors of `GroupScan`."""
        with about(self.target.name):
            groups = self._groups()
            self._count_groups(EVERYTHING, range(len(self.facts.leaves)), groups)
            self._count_groups(Rung.METADATA, range(len(self.facts.leaves)), groups)
            leaves = self._needed_leaves
            self._count_groups(Rung.PROJECTION, leaves, groups)
            if self._is_ruled_out():
                self._counters.count(Rung.FILES, Left(metadata=self._newly_read()))
                return
            self._count_groups(Rung.FILES, leaves, groups)
            by_group = self._left_by_groups(groups)
            self._count_groups(Rung.ROW_GROUPS, leaves, [group for group, _ in by_group])
            by_group = self._left_by_sets(by_group)
            self._left_groups = [group for group, _ in by_group]
            self._count_groups(Rung.SETS, leaves, self._left_groups)
            yield from self._windows(by_group)

    def _groups(self) -> list[GroupScan]:
        firsts = list(accumulate(self.facts.row_counts, initial=0))[:-1]
        return [
            GroupScan(self.facts, self.ranges, number, first, self.question)
            for number, first in enumerate(firsts)
        ]

    def _is_ruled_out(self) -> bool:
        """Whether no row of the file can match, according to the partition values of its folders or its own index."""
        for part in self.question.parts if Rung.FILES in self._query.rungs else ():
            if part.columns <= self.question.constants.keys():
                constants = pa.table({name: [value] for name, value in self.question.constants.items()})
                if not rows_of(part.condition, constants).any():
                    return True
        query, condition = self._query, self.question.condition
        if condition is None or Rung.FILES not in query.rungs:
            return False
        named = condition.columns - self.question.constants.keys()
        verdict = file_index_verdict(self.ranges, self.facts, condition, named, query.column, query.trust)
        self.message = verdict.message
        if verdict.skips is not None:
            self._counters.note("IDX1")
        return bool(verdict.skips)

    def _left_by_groups(self, groups: Sequence[GroupScan]) -> list[tuple[GroupScan, Rows]]:
        """The remaining row groups, with all their rows."""
        left: list[tuple[GroupScan, Rows]] = []
        for group in groups:
            rows: Rows = [range(group.row_count)] if group.row_count else []
            if Rung.ROW_GROUPS in self._query.rungs:
                rows = group.rows_of_group()
            if rows:
                left.append((group, rows))
            self._counters.note(*group.used)
            self.ranges.drop_long(REMOTE_TAIL)
        return left

    def _left_by_sets(self, by_group: list[tuple[GroupScan, Rows]]) -> list[tuple[GroupScan, Rows]]:
        """The row groups that distinct sets keep; sets of pages are evaluated later, with the pages."""
        query, condition = self._query, self.question.condition
        if condition is None or not by_group or Rung.SETS not in query.rungs or query.metadata == "pm":
            return by_group
        named = condition.columns - self.question.constants.keys()
        may_spare = self._may_spare([group for group, _ in by_group])
        self._sets, aside = file_sets(self.ranges, self.facts, named, may_spare)
        self.aside = [str(one) for one in aside]
        if self._sets is not None:
            self._counters.note("distinct sets")
            is_left = self._sets.row_groups(condition, WHOLE_GROUPS)
            by_group = [(group, rows) for group, rows in by_group if is_left[group.row_group]]
        return self._left_by_sketches(by_group, condition)

    def _may_spare(self, groups: Sequence[GroupScan]) -> int:
        """Estimated bytes to read of some row groups; other columns than the condition's only count for the rows that may remain."""
        lengths = self.facts.sizes.lengths[[group.row_group for group in groups]]
        asked, all_of_them = (
            int(lengths[:, self._leaves_of(places)].sum())
            for places in (self._certain_fields, self.question.needed)
        )
        parts = self.question.parts
        share = parts[0].share if len(parts) == 1 and Rung.LATE in self._query.rungs else 1.0
        return asked + int(share * (all_of_them - asked))

    def _left_by_sketches(
        self, by_group: list[tuple[GroupScan, Rows]], condition: Condition
    ) -> list[tuple[GroupScan, Rows]]:
        """The row groups that the minimum and maximum in KLL sketches keep; also sets the expected shares of the condition's parts.

        Sketches are used for columns without bounds in the footer, and if the order of several columns has to be chosen.
        """
        groups = [group for group, _ in by_group]
        quantiles = self._quantiles(groups, condition)
        if quantiles is None:
            return by_group
        self._counters.note("KLL sketches")
        for group in groups if self._orders_parts else ():
            group.parts = quantiles.shared(group.parts, group.row_group)
        return [(group, rows) for group, rows in by_group if quantiles.may_match(condition, group.row_group)]

    @property
    def _orders_parts(self) -> bool:
        """Whether several parts of the condition are evaluated one after the other."""
        return Rung.LATE in self._query.rungs and len(self.question.parts) > 1

    def _quantiles(self, groups: Sequence[GroupScan], condition: Condition) -> FileQuantiles | None:
        """The sketches to use for some row groups."""
        named = condition.columns - self.question.constants.keys()
        orders = self._orders_parts
        wanted = {name for name in named if orders or not all(group.has_bounds(name) for group in groups)}
        if not wanted:
            return None
        chunks = self.facts.sizes.lengths[np.ix_([group.row_group for group in groups], self._needed_leaves)]
        found, aside = file_quantiles(self.ranges, self.facts, wanted, int(chunks.sum()))
        self.aside += [str(one) for one in aside]
        return found

    def _left_by_pages(self, group: GroupScan) -> Rows:
        """The rows of a row group that column indexes and distinct sets of pages keep."""
        left = group.rows_of_pages()
        if left and self._sets is not None and self._sets.has_any((Granularity.PAGE,)):
            assert self.question.condition is not None
            left = intersection(
                left, self._sets.rows(self.question.condition, group.row_group, group.row_count)
            )
        return left

    def _windows(self, by_group: Sequence[tuple[GroupScan, Rows]]) -> Iterator[Window]:
        by_pages = Rung.PAGES in self._query.rungs and self.question.condition is not None
        if self._query.limit is None:
            groups = [group.row_group for group, _ in by_group]
            self.ranges.plan(self.facts.pieces(groups, self._leaves_of(self._certain_fields)))
        if by_pages:
            self._want_indexes([group for group, _ in by_group])
        has_rows = False
        for group, rows in by_group:
            left = self._left_by_pages(group) if by_pages else rows
            self._counters.note(*group.used)
            cost = group.cost_of(left)
            cost.files = int(bool(left) and not has_rows)
            cost.metadata = self._newly_read()
            has_rows = has_rows or bool(left)
            self._counters.count(Rung.PAGES, cost)
            self._visited.append((group, left))
            if left:
                streams = Rung.STREAM in self._query.rungs
                most = group.window_rows() if streams else max(group.row_count, 1)
                if streams and self.question.condition is None and self._query.limit is not None:
                    most = max(1, min(most, self._query.limit))
                if streams and self._query.batch_size is not None:
                    most = min(most, self._query.batch_size)
                for numbers in group.windows(left, most):
                    yield Window(group, numbers, group.first_row + int(numbers[-1]) + 1)

    def _want_indexes(self, groups: Sequence[GroupScan]) -> None:
        """Fetch the page indexes that will be needed, together."""
        asked = {
            leaf
            for part in self.question.parts
            for name in part.columns - self.question.constants.keys()
            for leaf in self.facts.fields[self.facts.place_of(name)].leaves
        }
        self.ranges.want(chain.from_iterable(group.index_pieces(asked) for group in groups))

    # ------------------------------------------------------------------------------------------------- counting

    def finish(self, *, is_stopped: bool = False) -> None:
        """Count the data that were read from the file, after its last window or the window that reached the limit."""
        late, lean = Left(), Left()
        self._counters.files += 1
        for group, left in self._visited:
            if not left:
                continue
            read = group.read_so_far()
            late += read.with_dictionaries
            lean += read.without_dictionaries
            if read.uses_index:
                self._counters.note("offset index")
        late.files = lean.files = int(bool(lean.row_groups))
        fetched = Left(files=lean.files, row_groups=lean.row_groups, rows=lean.rows, pages=lean.pages)
        fetched += Left(length=self.ranges.data.length, requests=self.ranges.data.requests)
        late.metadata = self._newly_read()
        unread = self._unread() if is_stopped else Left()
        for rung, read_of_it in ((Rung.LATE, late), (Rung.DICTIONARIES, lean), (Rung.FETCH, fetched)):
            self._counters.count(rung, read_of_it)
            self._counters.count(rung, unread)
        fetched.rows = 0  # rows of the result are counted where the limit is applied
        self._counters.count(Rung.STREAM, fetched)

    def _unread(self) -> Left:
        """The data that a stopped scan need not read: row groups that were not reached, and the other rows of the last one."""
        unreached = self._left_of(self._needed_leaves, self._left_groups[len(self._visited) :])
        unreached.files = 0
        self._counters.count(Rung.PAGES, unreached)
        for group, left in self._visited:
            unreached += group.cost_of(left) - group.cost_of(group.rows_tried(left))
        return unreached

    @property
    def _needed_leaves(self) -> list[int]:
        return self._leaves_of(self.question.needed)

    def _leaves_of(self, places: Iterable[int]) -> list[int]:
        return [leaf for place in places for leaf in self.facts.fields[place].leaves]

    @property
    def _certain_fields(self) -> Sequence[int]:
        """The fields that are read in every remaining row group: if the condition has several parts, any of them may come first."""
        parts = self.question.parts
        if not parts or Rung.LATE not in self._query.rungs:
            return self.question.needed
        if len(parts) > 1:
            return ()
        return [
            self.facts.place_of(name) for name in sorted(parts[0].columns - self.question.constants.keys())
        ]

    def _count_groups(self, step: str, leaves: Sequence[int], groups: Sequence[GroupScan]) -> None:
        left = self._left_of(leaves, groups)
        left.metadata = 0 if step == EVERYTHING else self._newly_read()
        self._counters.count(step, left)

    def _newly_read(self) -> int:
        """Bytes of metadata that were read since the last call."""
        before, self._metadata_read = self._metadata_read, self.ranges.metadata.length
        return self._metadata_read - before

    def _left_of(self, leaves: Sequence[int], groups: Sequence[GroupScan]) -> Left:
        """The cost of reading some columns of some row groups."""
        sizes = self.facts.sizes
        chosen = np.ix_([group.row_group for group in groups], leaves)
        pages = sizes.pages[chosen]
        return Left(
            files=1 if groups else 0,
            row_groups=len(groups),
            rows=sum(group.row_count for group in groups),
            pages=None if (pages < 0).any() else int(pages.sum()),
            length=int(sizes.lengths[chosen].sum()),
            requests=int(sizes.present[chosen].sum()),
        )


__all__ = ["FileScan", "Window"]
