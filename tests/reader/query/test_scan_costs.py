"""What a scan costs: each byte read once and counted, metadata kept while a file does not change, and few steps where steps cost."""

from __future__ import annotations

import multiprocessing
import os
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counting_source import CountingSource
from pqassay_golden.tiny.layout import Layout
from pqassay_golden.tiny.parquet import Column, TinyParquet
from pqassay_reader.query.facts.footer_facts import KEPT_FACTS
from pqassay_reader.query.fetching.page_layout import PageLayout
from pqassay_reader.query.fetching.ranges import FetchedRanges, Piece
from pqassay_reader.query.fetching.request_pool import request_pool
from pqassay_reader.query.scan import Scan, scan
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.parquet.page_search import union
from processes import PATIENCE

NUMBERS = [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233]
FILE = TinyParquet(
    (
        Column("number", "int32", NUMBERS, layout=Layout(page_rows=2)),
        Column("twice", "int64", [2 * number for number in NUMBERS], layout=Layout(page_rows=3)),
    ),
    row_group_rows=6,
    page_index=True,
).build()


class ChangingSource(CountingSource):
    """A source that says when it was changed."""

    modified = 1


def rows_and_counts(source: CountingSource, gap: int | None = None) -> tuple[list[dict[str, int]], Scan]:
    done = scan(source, ["=", "number", 8], ["twice"], gap=gap)
    return done.to_table().to_pylist(), done


@pytest.mark.parametrize("gap", [None, 0, 40])
def test_no_byte_is_read_twice_and_every_one_is_counted(gap: int | None) -> None:
    source = CountingSource(FILE)
    rows, done = rows_and_counts(source, gap)
    read = sorted(source.ranges)
    counted = done.counters.metadata.length + done.counters.data.length
    assert [{"twice": 16}] == rows
    assert all(start + length <= following for (start, length), (following, _) in pairwise(read))
    assert sum(length for _, length in read) == counted


def test_what_is_scanned_again_is_read_again() -> None:
    source = CountingSource(FILE)
    rows, done = rows_and_counts(source)
    first = list(source.ranges)
    assert rows == done.to_table().to_pylist()
    assert first + first == source.ranges


def test_metadata_of_a_source_is_kept_until_it_changes() -> None:
    KEPT_FACTS.clear()
    source = ChangingSource(FILE)
    rows_and_counts(source, 0)
    again = rows_and_counts(source, 0)[1].counters
    source.modified = 2
    changed = rows_and_counts(source, 0)[1].counters
    assert (1, 0) == (again.kept_facts, again.metadata.requests)
    assert changed.kept_facts == 0 < changed.metadata.requests


def test_a_source_that_tells_no_time_is_read_anew() -> None:
    assert [0, 0] == [rows_and_counts(CountingSource(FILE))[1].counters.kept_facts for _ in range(2)]


def test_few_bytes_are_fetched_along_rather_than_in_a_step_of_their_own() -> None:
    """The key is absent, which only its page tells."""
    KEPT_FACTS.clear()
    lengths: list[int] = []
    for gap in (None, None, 0):  # the first time, all of the small file comes along with its metadata
        done = scan(ChangingSource(FILE), ["=", "number", 4], ["twice"], gap=gap)
        assert not len(done.to_table())
        lengths.append(done.counters.data.length)
    pages_of_both, page_of_number = lengths[1:]
    assert 0 < page_of_number < pages_of_both


@given(st.sets(st.integers(1, 29)), st.lists(st.tuples(st.integers(0, 29), st.integers(1, 9)), max_size=4))
def test_blocks_of_ranges_are_those_of_their_rows(starts: set[int], parts: list[tuple[int, int]]) -> None:
    layout = PageLayout([], 30)
    layout.__dict__["starts"] = np.array([0, *sorted(starts)], np.int64)
    rows = sorted({row for start, count in parts for row in range(start, min(start + count, 30))})
    ranges = union([range(start, min(start + count, 30))] for start, count in parts)
    found = layout.blocks_of_ranges(ranges).tolist()
    assert sorted({max(at for at in (0, *starts) if at <= row) for row in rows}) == [
        int(layout.starts[block]) for block in found
    ]
    assert layout.blocks_of(np.array(rows, np.int64)).tolist() == found


def test_a_file_that_replaces_another_is_read_anew_whatever_its_time(tmp_path: Path) -> None:
    path, other = tmp_path / "data.parquet", tmp_path / "other.parquet"
    path.write_bytes(FILE)
    other.write_bytes(FILE)
    time = path.stat().st_mtime_ns
    for file in (path, other):
        os.utime(file, ns=(time, time))
    kept = [scan(path, "number = 8").counters.kept_facts, scan(path, "number = 8").counters.kept_facts]
    other.replace(path)

    assert [0, 1] == kept
    assert 0 == scan(path, "number = 8").counters.kept_facts


@pytest.mark.parametrize(
    ("pieces", "is_little"),
    [
        ([], True),
        ([(0, 100)], True),
        ([(0, 100), (200, 300), (400, 500), (600, 700)], True),
        ([(0, 101)], False),
        ([(0, 60), (60, 120)], False),
        ([(0, 90), (200, 290), (400, 490), (600, 690), (800, 890)], False),
    ],
    ids=["nothing", "one request", "four requests", "one long", "neighbours", "five requests"],
)
def test_little_is_what_requests_at_once_bring_in_the_time_of_a_step(
    pieces: list[tuple[int, int]], is_little: bool
) -> None:
    ranges = FetchedRanges(BytesSource(bytes(1000)), gap=0)
    ranges.step = 100
    assert is_little == ranges.is_little(Piece(*one) for one in pieces)


class MeetingSource(ChangingSource):
    """A source that, once there is a barrier, does not answer before a number of requests are waiting."""

    barrier: threading.Barrier | None = None

    def read(self, offset: int, length: int) -> bytes:
        if self.barrier is not None:
            self.barrier.wait()
        return super().read(offset, length)


def test_pages_of_many_keys_are_asked_for_at_once() -> None:
    KEPT_FACTS.clear()
    keys = list(range(80))
    paged = Layout(page_rows=1)
    columns = Column("key", "int32", keys, layout=paged), Column("twice", "int32", keys, layout=paged)
    source = MeetingSource(TinyParquet(columns, page_index=True).build())
    wanted = keys[::2]

    def found() -> list[Any]:
        return scan(source, ["in", "key", wanted], ["twice"], gap=0).to_table().column("twice").to_pylist()

    found()  # what is known from now on is everything but the pages
    source.ranges.clear()
    source.barrier = threading.Barrier(len(wanted), timeout=PATIENCE)

    assert wanted == found()
    assert 2 * len(wanted) == len(source.ranges)


class RefusingSource(ChangingSource):
    """A source that, once its file is another one, refuses every request that means the file it was."""

    is_refusing = False

    def read(self, offset: int, length: int) -> bytes:
        if self.is_refusing:
            raise OSError("the file has changed")
        return super().read(offset, length)


def test_a_source_may_say_with_each_request_that_the_file_has_changed() -> None:
    KEPT_FACTS.clear()
    source = RefusingSource(FILE)
    rows, _ = rows_and_counts(source, 0)
    source.is_refusing = True
    with pytest.raises(OSError, match="the file has changed"):
        rows_and_counts(source, 0)
    source.is_refusing = False

    assert rows == rows_and_counts(source, 0)[0]


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_process_that_is_forked_has_threads_of_its_own() -> None:
    request_pool().submit(int).result(PATIENCE)
    child = multiprocessing.get_context("fork").Process(target=_use_pool)
    child.start()
    child.join(PATIENCE)
    child.kill()
    assert 0 == child.exitcode


def _use_pool() -> None:
    request_pool().submit(int).result(PATIENCE)
