"""The rows of chosen row groups that satisfy a condition.

Files are read by several threads, some files at a time.  The columns of the condition come first; of a row group in which it is true of no row, nothing
else is read.  Where a column of text has a dictionary, the condition is put to its few values and not to the rows.

A file whose columns are stored otherwise than the dataset reads them, and one that is not on this computer, is left to Arrow's dataset.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pads
import pyarrow.parquet as pq

from pqassay_reader.answer.known_files import KnownFile
from pqassay_reader.answer.known_lake import KnownLake
from pqassay_reader.condition.kinds import compared_type, find_column
from pqassay_reader.condition.normal import Condition
from pqassay_reader.condition.rows import column_of, expression_of, rows_of
from pqassay_reader.query.conditions import Part, parts_of
from pqassay_reference.directory.reading.arrays import Mask
from pqassay_reference.directory.reading.blob import Numbers
from pqassay_reference.errors import Undecodable

ROWS_AT_ONCE, FILES_AT_ONCE = 1 << 18, 32
"""What one thread reads at most before it puts the condition to the rows; more rows if a single row group has more."""

LEAST_ROWS = 1 << 17
"""Fewer rows are not worth another thread."""


class FileGroups(NamedTuple):
    """Row groups of one file.

    Attributes:
        number: The number of the file in the lake.
        groups: The row groups, ascending.
        rows: Rows of each.
        is_sure: Whether it is known of each that a row satisfies the condition.
    """

    number: int
    groups: list[int]
    rows: Numbers
    is_sure: bool


class Rows(NamedTuple):
    """Rows that satisfy the condition, and what it took.

    Attributes:
        table: Their columns, as the dataset reads them, text by dictionary or not; ``None`` if no row does.
        length: Bytes of the column chunks that were read.
    """

    table: pa.Table | None
    length: int


class RowReader:
    """Reads the rows of some columns that satisfy a condition.

    Args:
        lake: The files.
        dataset: The same as Arrow's dataset.
        names: The columns that are wanted.
        predicate: The condition; ``None`` for all rows.

    Raises:
        Refused: The condition does not fit the columns.
    """

    def __init__(
        self,
        lake: KnownLake,
        dataset: pads.FileSystemDataset,
        names: Sequence[str],
        predicate: Condition | None,
    ) -> None:
        self._lake, self._dataset, self._names = lake, dataset, names
        self._predicate = predicate
        self._condition = expression_of(predicate, lake.schema) if predicate is not None else None
        if has_floats(predicate, lake.schema):
            self._condition = None  # Arrow leaves out NaN that is beside bounds, whatever is asked
        self._parts: list[Part] = parts_of(predicate) if predicate is not None else []
        self._asked = self._fields(predicate.columns if predicate is not None else ())
        self._wanted = self._fields(names)

    def _fields(self, names: Iterable[str]) -> list[str]:
        """The columns at the top level that some columns are or belong to."""
        return list(dict.fromkeys(find_column(self._lake.schema, name)[0][0] for name in sorted(names)))

    @cached_property
    def _all_fields(self) -> list[str]:
        return list(dict.fromkeys([*self._asked, *self._wanted]))

    def rows(self, units: Numbers, sure: Mask) -> Generator[Rows]:
        """The rows of some row groups.

        Args:
            units: The row groups, numbered as in the lake, ascending.
            sure: For each row group of the lake, whether it is known that a row satisfies the condition: then all of its columns are read at once.

        Raises:
            Undecodable: A file's pages cannot be decoded.
            OSError: A file cannot be read any more.
        """
        if not len(units):
            return
        lake = self._lake
        files = np.unique(lake.file_of[units]).tolist()
        lake.complete(files)
        direct: list[FileGroups] = []
        others: list[Any] = []
        length = 0
        for number, within in _by_file(lake, units):
            is_sure = bool(sure[lake.first[number] + np.array(within)].all())
            is_direct = self._is_direct(number)
            part, groups = (None, within) if is_direct and is_sure else self._chosen(number, within)
            if not groups:
                continue
            if is_direct:
                rows = lake.row_counts[lake.first[number] + np.array(groups)]
                direct.append(FileGroups(number, groups, rows, is_sure))
            else:
                others.append(part)
                length += lake.files[number].data_length(self._all_fields, groups)
        tasks = _divided(direct)
        yield from _in_threads(self._read, tasks)
        if others:
            yield from self._scanned(others, length)

    def _chosen(self, number: int, within: list[int]) -> tuple[Any, list[int]]:
        """The part of a file that statistics and the values of folders leave over, and its row groups."""
        part: Any = self._lake.fragments[number]
        if len(within) < part.num_row_groups:
            part = part.subset(row_group_ids=within)
        if self._condition is None:
            return part, within
        part = part.subset(self._condition, schema=self._lake.schema)
        left = part.num_row_groups
        return part, within if left == len(within) else [group.id for group in part.row_groups]

    # ------------------------------------------------------------------------------------- by Arrow's dataset

    def _scanned(self, fragments: list[Any], length: int) -> Iterator[Rows]:
        dataset = pads.FileSystemDataset(
            fragments, self._lake.schema, self._dataset.format, self._dataset.filesystem
        )
        predicate = self._predicate if self._condition is None else None
        names = self._wanted if predicate is None else self._all_fields
        columns: Any = {name: pc.field(name) for name in names}
        scanner = dataset.scanner(columns=columns, filter=self._condition)
        yield Rows(None, length)
        for batch in scanner.to_batches():
            table, count = pa.Table.from_batches([batch]), len(batch)
            if predicate is not None:
                true = rows_of(predicate, table)
                table, count = table.filter(pa.array(true)).select(self._wanted), int(true.sum())
            if count:
                yield Rows(_table(table, count), 0)

    # ---------------------------------------------------------------------------------------------- directly

    def _is_direct(self, number: int) -> bool:
        """Whether a file has all columns as the dataset reads them."""
        return self._lake.files[number].filesystem is None and self._lake.stores_as_read(
            number, self._all_fields
        )

    @cached_property
    def _texts(self) -> list[str]:
        """Columns that may come as references to dictionaries."""
        schema = self._lake.schema
        return [name for name in self._all_fields if schema.field(name).type in (pa.string(), pa.binary())]

    def _opened(self, file: FileGroups) -> Any:
        fragment = self._lake.fragments[file.number]
        return pq.ParquetFile(
            fragment.path, metadata=fragment.metadata, read_dictionary=self._texts, pre_buffer=False
        )

    def _read(self, files: Sequence[FileGroups]) -> Rows:
        """The rows of some files."""
        known = [self._lake.files[file.number] for file in files]
        with ExitStack() as stack:
            readers = [stack.enter_context(self._opened(file)) for file in files]
            groups = [file.groups for file in files]
            # Where rows of all row groups are wanted, the other columns come along.
            first = self._all_fields if all(file.is_sure for file in files) else self._asked
            asked, length = self._columns(known, readers, groups, first)
            count = sum(int(file.rows.sum()) for file in files)
            true = self._true(asked) if self._parts else np.ones(count, np.bool_)
            if not true.any():
                return Rows(None, length)
            within = true
            more = [name for name in self._wanted if name not in first]
            if more:
                rows = np.concatenate([file.rows for file in files])
                there = _any_of_each(true, rows)
                if not there.all():
                    groups = _those(groups, there)
                    within = true[np.repeat(there, rows)]
            rest, further = self._columns(known, readers, groups, more)
        found = asked.select([name for name in self._wanted if name in first])
        columns = _filtered(found, true) | _filtered(rest, within)
        table = pa.table({name: columns[name] for name in self._wanted})
        return Rows(_table(table, int(true.sum())), length + further)

    def _columns(
        self,
        files: Sequence[KnownFile],
        readers: Sequence[Any],
        groups: Sequence[list[int]],
        names: Sequence[str],
    ) -> tuple[pa.Table, int]:
        """Some columns of row groups of each file, one behind the other, and the bytes of their chunks."""
        tables: list[pa.Table] = []
        length = 0
        for file, reader, chosen in zip(files, readers, groups, strict=True):
            if not chosen or not names:
                continue
            by_column, _ = file.chunk_lengths
            places = sorted(place for name in names for place in by_column[name])
            try:
                tables.append(reader.reader.read_row_groups(chosen, column_indices=places, use_threads=False))
            except (pa.ArrowException, OSError, ValueError) as error:
                if isinstance(error, OSError) and error.errno is not None:
                    raise  # by the operating system
                said = " ".join(str(error).split())
                raise Undecodable(f"{file.name}: {', '.join(names)} cannot be decoded: {said}") from error
            length += file.data_length(names, chosen)
        return (
            pa.concat_tables([table.select(names) for table in tables]) if tables else pa.table({})
        ), length

    def _true(self, table: pa.Table) -> Mask:
        """Whether the condition is true of each row."""
        found: Mask | None = None
        for part in self._parts:
            true = _true_of_dictionary(table, part)
            if true is None:
                true = rows_of(part.condition, table)
            found = true if found is None else found & true
        return np.ones(len(table), np.bool_) if found is None else found


def _by_file(lake: KnownLake, units: Numbers) -> Iterator[tuple[int, list[int]]]:
    """The files of some row groups, each with the positions of its row groups."""
    files, firsts = np.unique(lake.file_of[units], return_index=True)
    pieces = np.split(lake.group_of[units], firsts[1:])
    for number, within in zip(files.tolist(), pieces, strict=True):
        yield number, within.tolist()


def _divided(files: Sequence[FileGroups]) -> list[list[FileGroups]]:
    """Files, or some row groups of each, in tasks: of not too many rows, and enough of them for all threads."""
    total = sum(int(file.rows.sum()) for file in files)
    most = min(ROWS_AT_ONCE, max(total // pa.cpu_count(), LEAST_ROWS))
    tasks: list[list[FileGroups]] = []
    room = 0
    for file in files:
        for piece in _pieces(file, most):
            rows = int(piece.rows.sum())
            if not tasks or rows > room or len(tasks[-1]) == FILES_AT_ONCE:
                tasks.append([])
                room = most
            tasks[-1].append(piece)
            room -= rows
    return tasks


def _pieces(file: FileGroups, most: int) -> Iterator[FileGroups]:
    """A file in pieces of so many rows, of which each has a row group at least."""
    start, held = 0, 0
    for place, rows in enumerate(file.rows.tolist()):
        if place > start and held + rows > most:
            yield file._replace(groups=file.groups[start:place], rows=file.rows[start:place])
            start, held = place, 0
        held += rows
    yield file._replace(groups=file.groups[start:], rows=file.rows[start:])


def _in_threads(
    work: Callable[[list[FileGroups]], Rows], tasks: Sequence[list[FileGroups]]
) -> Generator[Rows]:
    """What tasks find, in their order; few of them are done ahead, so that not all rows are in memory at once."""
    threads = min(pa.cpu_count(), len(tasks))
    if threads <= 1:
        yield from map(work, tasks)
        return
    with ThreadPoolExecutor(threads) as pool:
        ahead: deque[Future[Rows]] = deque()
        try:
            for task in tasks:
                ahead.append(pool.submit(work, task))
                if len(ahead) > 2 * threads:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            for future in ahead:
                future.cancel()


def has_floats(predicate: Condition | None, schema: pa.Schema) -> bool:
    """Whether a condition names a column of floating point numbers."""
    named = predicate.columns if predicate is not None else ()
    return any(pa.types.is_floating(compared_type(find_column(schema, name)[1])) for name in named)


def _any_of_each(true: Mask, rows: Numbers) -> Mask:
    """Whether something is true of any row of each row group."""
    ends = np.cumsum(rows)
    counts = np.concatenate([[0], np.cumsum(true)])
    there: Mask = counts[ends] > counts[ends - rows]
    return there


def _those(groups: Sequence[list[int]], there: Mask) -> list[list[int]]:
    """The row groups of each file of which something is true."""
    flags = iter(there.tolist())
    return [[group for group in several if next(flags)] for several in groups]


def _true_of_dictionary(table: pa.Table, part: Part) -> Mask | None:
    """Whether a part of a condition is true of each row, found by asking the values of a dictionary; ``None`` if there is none."""
    if len(part.columns) != 1:
        return None
    (name,) = part.columns
    if name not in table.column_names or not pa.types.is_dictionary(table.schema.field(name).type):
        return None
    chunks: list[Any] = table.column(name).chunks
    dictionaries = [chunk.dictionary for chunk in chunks]
    if not chunks or any(values.null_count for values in dictionaries):
        return None
    # The values of all dictionaries are asked at once, and null behind them.
    values = pa.concat_arrays([*dictionaries, pa.nulls(1, dictionaries[0].type)])
    true = rows_of(part.condition, pa.table([values], [name]))
    found: list[Mask] = []
    start = 0
    for chunk, own in zip(chunks, dictionaries, strict=True):
        codes = chunk.indices
        if codes.null_count:
            codes = codes.cast(pa.int64()).fill_null(len(values) - 1 - start)
        found.append(true[start:].take(codes.to_numpy(zero_copy_only=False)))
        start += len(own)
    return np.concatenate(found)


def _filtered(table: pa.Table, true: Mask) -> dict[str, Any]:
    """The columns of a table, of those rows alone of which something is true."""
    if table.num_columns and not true.all():
        table = table.filter(pa.array(true))
    return dict(zip(table.column_names, table.columns, strict=True))


def _table(table: pa.Table, rows: int) -> pa.Table:
    # A table of no columns would forget how many rows it has.
    return table if table.num_columns else pa.table({"": pa.nulls(rows)})


def compared(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """Columns by the names that questions call them, in the types in which they are compared and added."""
    found = {name: column_of(table, name) for name in names}
    return _table(pa.table(found), len(table))


__all__ = ["RowReader", "Rows", "compared", "has_floats"]
