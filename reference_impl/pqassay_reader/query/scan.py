"""The scan: rows of a file, of the files of a folder, or of objects behind a URI, as a stream of Arrow record batches.

    from pqassay_reader import scan

    rows = scan("sales", "nation = 'Peru' AND year >= 2023", columns=["year", "sales_amount"])
    table = rows.to_table()
    print(rows.counters.left["pages"])

Source: chapter ``scan.md``.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from functools import cache, partial
from itertools import chain, islice
from typing import Any, cast

import pyarrow as pa

from pqassay_reader.condition.kinds import find_column
from pqassay_reader.query.explained.counters import Counters, Left
from pqassay_reader.query.fetching.ahead import ahead
from pqassay_reader.query.fetching.request_pool import request_pool
from pqassay_reader.query.file_scan import FileScan, Window
from pqassay_reader.query.output import Output
from pqassay_reader.query.rungs import Rung, rungs_without
from pqassay_reader.query.scan_query import Metadata, Query
from pqassay_reader.query.targets import Target, target_of, targets_of
from pqassay_reference.columns.literals import Tree
from pqassay_reference.errors import Refused, about
from pqassay_reference.rewrite.extract import Trust
from pqassay_spec.base.sources import Source

LOCAL_THREADS = max(2, min(os.cpu_count() or 1, 8))
"""Windows of local files that are processed at the same time."""

REMOTE_THREADS = 16
"""Windows and files that are processed at the same time behind a URI, where waiting takes most of the time. They bound the memory."""

BATCH_ROWS = 1 << 16
"""Default limit of the rows of a batch."""


class Scan:
    """Rows that satisfy a condition, read on demand. See `scan`.

    Iterating yields record batches in the order of files and rows; each iteration is a separate scan.

    Attributes:
        schema: Names and types of the returned columns.
        counters: The rest after each rung, and the fetched data, of all iterations so far.
        messages: For each file whose embedded index was not used, the reason.
        aside: For each file, the ignored entries of its index directory, with reasons.
        rungs: The rungs that are used.
        files: The sizes in bytes of the files, by their paths or URIs.
        progress: Called after each file with the number of completed files, and of all files.
    """

    def __init__(self, targets: Sequence[Target], query: Query) -> None:
        self._targets = targets
        self.counters = Counters()
        self.messages: dict[str, str] = {}
        self.aside: dict[str, Sequence[str]] = {}
        self.rungs = query.rungs
        self.files = {target.name: target.identity[1] for target in targets}
        self.progress: Callable[[int, int], object] | None = None
        # The first file stays open until it is scanned, so none of its bytes are fetched twice.
        query = replace(query, type_elsewhere=cache(partial(self._type_elsewhere, query)))
        first = FileScan(targets[0], query, self.counters)
        weakref.finalize(self, first.close)
        self._output = Output.of(first, query.columns, keeps=Rung.DICTIONARIES in query.rungs)
        self._query = replace(query, first_schema=first.facts.schema)
        self._first: FileScan | None = first
        self.schema: pa.Schema = self._output.schema

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows in batches of at most 65,536, or of the requested size.

        Raises:
            FormatError, Undecodable: A file cannot be read.
            Refused: The condition does not fit a file.
            OSError: A file cannot be read.
        """
        with closing(cast("Any", self._batches())) as batches:
            yield from self._limited(batches if Rung.STREAM in self._query.rungs else iter(list(batches)))

    def _type_elsewhere(self, query: Query, name: str) -> Any:
        """The type of a column that the first file lacks, from the last file, or otherwise from the first file that has it."""
        facts_alone = replace(query, predicate=None, columns=())
        _, *others = self._targets
        for target in [*others[-1:], *others[:-1]]:
            with FileScan(target, facts_alone, self.counters) as file, suppress(Refused):
                return find_column(file.facts.schema, name)[1]
        return None

    def to_reader(self) -> pa.RecordBatchReader:
        """The rows as a stream for any consumer of Arrow streams."""
        return pa.RecordBatchReader.from_batches(self.schema, iter(self))

    def to_table(self) -> pa.Table:
        """All rows in memory."""
        return pa.Table.from_batches(list(self), self.schema)

    def _limited(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        left = self._query.limit
        for batch in batches:
            taken = batch if left is None else batch.slice(0, left)
            self.counters.count(Rung.STREAM, Left(rows=len(taken)))
            if len(taken):
                yield taken
            if left is not None:
                left -= len(taken)
                if not left:
                    self.counters.is_stopped = True
                    return

    def _batches(self) -> Iterator[pa.RecordBatch]:
        if self._query.limit == 0:
            return
        is_local = all(target.is_local for target in self._targets)
        threads = LOCAL_THREADS if is_local else REMOTE_THREADS
        overlaps = {Rung.FETCH, Rung.STREAM} <= self._query.rungs
        with ExitStack() as stack:
            requests = None if is_local or not overlaps else request_pool()
            workers = stack.enter_context(ThreadPoolExecutor(threads)) if overlaps else None
            openers = None if requests is None else stack.enter_context(ThreadPoolExecutor(threads))
            begun: list[_Begun] = []

            def close_all() -> None:
                for file in begun:
                    file.close()

            stack.callback(close_all)

            def begin(target: Target) -> _Begun:
                file = _Begun(self._opened(target, requests), workers, threads, self._query.limit)
                begun.append(file)
                if openers is not None and self._query.limit is None:
                    file.look_ahead()
                return file

            files = ahead(openers, begin, self._targets, threads)
            stack.enter_context(closing(cast("Any", files)))
            for done, file in enumerate(files, 1):
                yield from self._file_batches(file)
                file.close()
                begun.remove(file)
                if self.progress is not None:
                    self.progress(done, len(self._targets))

    def _opened(self, target: Target, requests: Executor | None) -> FileScan:
        file = self._first if target is self._targets[0] else None
        if file is None:
            file = FileScan(target, self._query, self.counters, requests)
        else:
            self._first = None
            file.make_requests_in(requests)
        file.keep_dictionaries(self._output.kept_dictionaries)
        return file

    def _file_batches(self, begun: _Begun) -> Iterator[pa.RecordBatch]:
        file = begun.file
        try:
            for window, table in begun.results:
                file.ranges.release(window.last_row)
                if table is not None:
                    yield from self._output.batches(table, file, self._query.batch_size or BATCH_ROWS)
        except GeneratorExit:
            self._finish(file, is_stopped=True)  # the limit is reached
            raise
        self._finish(file)

    def _finish(self, file: FileScan, *, is_stopped: bool = False) -> None:
        file.finish(is_stopped=is_stopped)
        if file.message:
            self.messages[file.target.name] = file.message
        if file.aside:
            self.aside[file.target.name] = tuple(file.aside)


class _Begun:
    """A file during its scan: the windows of its rows, and the matching rows in them.

    Args:
        file: The file.
        workers: Runs windows in threads; ``None`` to process each on demand.
        threads: Most windows that are processed at the same time.
        limit: The most rows to return.
    """

    def __init__(self, file: FileScan, workers: Executor | None, threads: int, limit: int | None) -> None:
        self.file = file
        self._windows: Any = file.windows()
        self._results: Any = ahead(workers, self._matched, self._windows, threads, slowly=limit is not None)
        self.results: Iterator[tuple[Window, pa.Table | None]] = self._results
        """Windows in order, each with its matching rows."""

    def look_ahead(self) -> None:
        """Process the first window now; otherwise, many small files behind a URI would wait for each other."""
        first = list(islice(self._results, 1))
        self.results = chain(first, self._results)

    def close(self) -> None:
        """Stop, and close the file."""
        self._results.close()
        self._windows.close()
        self.file.close()

    def _matched(self, window: Window) -> tuple[Window, pa.Table | None]:
        with about(self.file.target.name):
            return window, window.group.matches(window.rows)


def scan(
    path: str | os.PathLike[str] | Source,
    predicate: str | Tree | None = None,
    columns: Sequence[str] | None = None,
    *,
    limit: int | None = None,
    batch_size: int | None = None,
    without: Iterable[str] = (),
    gap: int | None = None,
    trust: Trust = "companion",
    column: str | None = None,
    metadata: Metadata = "footer",
) -> Scan:
    """Read the rows of Parquet files that satisfy a condition, with as few reads of the files as possible.

    Args:
        path: A file, a folder, a URI, or a source of bytes.
        predicate: A condition as in SQL, or a tree as in the protocol; all rows by default.
        columns: The columns to return; a member of a struct is named by its path joined by dots. All by default.
        limit: The most rows to return; reading stops when they are found.
        batch_size: The most rows of a batch, and of a decoding step: a small size takes less memory and more time. By
            default batches have at most 65,536 rows, and 32 MiB of values are decoded at once.
        without: Names of rungs to switch off, see `pqassay_reader.query.rungs.Rung`.
        gap: Ranges with fewer bytes between them are fetched in one request. By default
            64 KiB in local files, and 256 KiB elsewhere, where an additional step costs four times as much.
        trust: Which embedded indexes are trusted: those with a companion record, or also one for ``column``.
        column: The column of an embedded index without companion record.
        metadata: The source of the facts about a file: its own footer, or the ``_pm`` beside it (``pm``).

    Raises:
        Refused: The condition, a column or a rung is not valid, a size is less than 1, or there are no files.
        FormatError, Undecodable: The first file cannot be read.
        OSError: A file or folder cannot be read.

    >>> from pqassay_spec.base.sources import BytesSource
    >>> from pqassay_golden.tiny.parquet import Column, TinyParquet
    >>> file = TinyParquet((Column("n", "int32", [1, 2, 3]), Column("tree", "string", ["ash", "elm", "fir"])))
    >>> scan(BytesSource(file.build()), "n >= 2", ["tree"], limit=1).to_table().to_pylist()
    [{'tree': 'elm'}]
    """
    if isinstance(predicate, str):
        from pqassay_reader.condition.text import parse_predicate  # noqa: PLC0415 - loading sqlglot takes a while

        predicate = parse_predicate(predicate)
    if limit is not None and limit < 0:
        raise Refused(f"a limit of {limit} rows")
    if batch_size is not None and batch_size < 1:
        raise Refused(f"batches of {batch_size} rows; a batch has 1 or more")
    targets = targets_of(path) if isinstance(path, str | os.PathLike) else [target_of(path)]
    return Scan(
        targets,
        Query(predicate, columns, rungs_without(without), gap, limit, batch_size, trust, column, metadata),
    )


__all__ = ["Scan", "scan"]
