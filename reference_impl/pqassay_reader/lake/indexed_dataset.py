"""An Arrow dataset that skips files if their indexes prove that none of their rows match.

A program that reads an Arrow dataset asks it for a scanner or for its fragments and passes the filter on: DuckDB, DataFusion,
Polars, pyarrow.  `IndexedDataset` answers both with the files that the filter keeps.  One class therefore serves
all engines, with their usual SQL.

An index may save work, but never excludes more than it proves.  A file whose index is missing, stale, a draft, lossy or
unreadable is read, with a warning.  The reader applies the filter again, to the rows.

A dataset describes the files as they were when it was opened, as any Arrow dataset does.  If a file is
replaced later by one with other values, it may be skipped because of the old index: open the dataset again to
see new files.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Self, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pads
import pyarrow.parquet as pq

from pqassay_reader.condition.normal import Condition
from pqassay_reader.condition.rows import expression_of
from pqassay_reader.directory.arrays import Mask
from pqassay_reader.lake.filters import condition_of_filter
from pqassay_reader.lake.known_files import KnownFiles, know_files
from pqassay_reader.lake.lake_sets import Progress
from pqassay_reader.pages.excluding import EVERY, FileSets
from pqassay_reference.files.listing import Partitioning, Roots, list_files
from pqassay_reference.rewrite.extract import Trust

FILTER_POSITION = 1
"""The position of the filter among the arguments of a scanner, if it is not named."""


class IndexWarning(UserWarning):
    """Some files do not have a usable index; every query reads them."""


@dataclass
class SavedFiles:
    """Counters of the queries on a dataset, and of the files that were skipped.

    Attributes:
        files: Number of files, summed over all requests for a scanner or fragments.
        skipped: Number of skipped files, summed over the same requests.
        row_groups_skipped: Number of skipped row groups in files that were kept, summed over the same requests.
    """

    files: int = 0
    skipped: int = 0
    row_groups_skipped: int = 0


class RowGroups(NamedTuple):
    """The row groups of a file that a condition keeps.

    Attributes:
        kept: Their positions, ascending.
        total: Number of row groups of the file.
    """

    kept: list[int]
    total: int


@dataclass(frozen=True, eq=False)
class Decision:
    """The files that remain under one condition.

    Attributes:
        known: The files.
        condition: The condition; ``None`` if it is unknown.
        sets: The facts about its columns.
        left: For each row group, whether it is kept.
    """

    known: KnownFiles
    condition: Condition | None
    sets: FileSets | None
    left: Mask

    @cached_property
    def kept(self) -> Mask:
        """For each file, whether it is kept."""
        file_of, kept = self.known.sets.file_of, np.ones(len(self.known.paths), np.bool_)
        kept[file_of] = False
        kept[file_of[self.left]] = True
        return kept

    @cached_property
    def parts(self) -> dict[int, list[int]]:
        """For each kept file with skipped row groups, the row groups that are kept."""
        file_of = self.known.sets.file_of
        is_some = np.isin(file_of, file_of[~self.left]) & self.left
        groups = self.known.sets.group_of[is_some].tolist()
        parts: dict[int, list[int]] = {}
        for file, row_group in zip(file_of[is_some].tolist(), groups, strict=True):
            parts.setdefault(file, []).append(row_group)
        return parts


@dataclass(frozen=True)
class Pruning:
    """The files and row groups that a condition keeps.

    Attributes:
        kept: Paths of the files that may have matching rows.
        skipped: Paths of the files without matching rows.
    """

    kept: tuple[str, ...]
    skipped: tuple[str, ...]
    _decision: Decision = field(repr=False, compare=False)

    @cached_property
    def why(self) -> dict[str, str]:
        """The reason for each path, which takes longer to format than to decide."""
        return {path: self.reason(path) for path in self._decision.known.paths}

    def reason(self, path: str) -> str:
        """The reason why a single file is kept or skipped."""
        number, decision = self._numbers[path], self._decision
        if decision.kept[number] and path not in self._there:
            return "no row of its partition matches"
        return decision.known.why(number, decision.condition, decision.sets, decision.left)

    @cached_property
    def row_groups(self) -> dict[str, RowGroups]:
        """For each kept file with skipped row groups, the row groups that are kept."""
        known = self._decision.known
        counts = np.diff(known.sets.first).tolist()
        parts = [(known.paths[number], kept, counts[number]) for number, kept in self._decision.parts.items()]
        return {path: RowGroups(kept, count) for path, kept, count in parts if path in self._there}

    @cached_property
    def _there(self) -> frozenset[str]:
        return frozenset(self.kept)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {path: number for number, path in enumerate(self._decision.known.paths)}


@dataclass
class _Shared:
    """The state that a dataset shares with datasets that are filtered from it."""

    known: KnownFiles
    fragments: list[pads.Fragment]
    warns: bool = True
    counters: SavedFiles = field(default_factory=SavedFiles)
    lock: threading.Lock = field(default_factory=threading.Lock)


class NoRows:
    """A fragment without rows that accepts a plain ``False`` as a filter.

    DataFusion passes that for a condition that can never be true.  Everything else comes from the
    wrapped fragment; Arrow's fragments cannot have subclasses.
    """

    def __init__(self, fragment: pads.Fragment) -> None:
        self._fragment = fragment

    def scanner(self, *args: Any, **options: Any) -> pads.Scanner:
        """A scanner without rows. See `pyarrow.dataset.Fragment.scanner`."""
        options["filter"] = _as_expression(options.get("filter"))
        return self._fragment.scanner(*args, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._fragment, name)


class IndexedDataset(pads.FileSystemDataset):
    """A dataset that knows the values of some columns of its files. Make one with `open_indexed`.

    It can be used like any `pyarrow.dataset.Dataset`. Pruning takes place in `scanner` and `get_fragments`, and therefore
    in everything that uses them: `to_table`, `to_batches`, `count_rows`, `head`, `take`,
    `pyarrow.dataset.write_dataset`, DuckDB, DataFusion, Polars; also in `sort_by`, `join` and `join_asof` of a result of `filter`.
    `pyarrow.dataset.Scanner.from_dataset`, `replace_schema`, a union of datasets and a dataset that is the right
    side of a join read all files, and return the same rows.

    Attributes:
        warnings: For each file without a usable index, the reason.
        counters: The number of queries and of skipped files; shared with the result of `filter`.
    """

    _shared: _Shared | None = None
    _condition: pc.Expression | None = None

    @classmethod
    def of(
        cls,
        fragments: list[pads.Fragment],
        schema: pa.Schema,
        file_format: pads.FileFormat,
        filesystem: Any,
        known: KnownFiles,
        warns: bool = True,
    ) -> Self:
        """The dataset of fragments, one for each of the known files, in the same order."""
        dataset = cls(fragments, schema, file_format, filesystem)
        dataset._know(_Shared(known, fragments, warns))
        return dataset

    @property
    def warnings(self) -> tuple[str, ...]:
        """For each file without a usable index, the reason; every query reads these files."""
        return self._shared.known.warnings if self._shared else ()

    @property
    def summary(self) -> str:
        """The warnings in one sentence, as `open_indexed` gives them; empty if there are none."""
        return self._shared.known.summary if self._shared and self.warnings else ""

    @property
    def unindexed(self) -> int:
        """The number of files without any usable index."""
        return len(self._shared.known.unknown) if self._shared else 0

    @property
    def aside(self) -> tuple[str, ...]:
        """The ignored indexes in index directories, stale or damaged, one sentence for each."""
        return self._shared.known.aside if self._shared else ()

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes of the files in bytes, by path."""
        known = self._require_shared().known
        return dict(zip(known.paths, known.sizes, strict=True))

    @property
    def metadata_read(self) -> tuple[int, int]:
        """Bytes of footers and indexes that were read from files so far, and the number of requests."""
        files = [file for file in self._require_shared().known.sets.files if file is not None]
        return sum(file.length for file in files), sum(file.requests for file in files)

    @property
    def counters(self) -> SavedFiles:
        """Counters of this dataset and of the datasets that are filtered from it."""
        return self._shared.counters if self._shared else SavedFiles()

    def prune(self, condition: pc.Expression | Condition) -> Pruning:
        """Find the files that a condition keeps, with reasons.

        It uses partitions, the filter of a filtered dataset, and the indexes.

        Args:
            condition: A filter of an engine, or a condition in normal form.
        """
        shared = self._require_shared()
        is_filter = isinstance(condition, pc.Expression)
        expression: Any = condition if is_filter else expression_of(cast("Any", condition), self.schema)
        expression = self._with_own(expression)
        decision = self._decide(condition if self._condition is None else expression)
        kept_files = np.flatnonzero(decision.kept)
        narrowed = self._dataset_of([shared.fragments[file] for file in kept_files])
        there = {cast("Any", fragment).path for fragment in narrowed.get_fragments(expression)}
        paths = shared.known.paths
        return Pruning(
            tuple(path for path in paths if path in there),
            tuple(path for path in paths if path not in there),
            decision,
        )

    def get_fragments(self, filter: pc.Expression | None = None) -> Iterator[pads.Fragment]:  # noqa: A002 - Arrow's name
        """The fragments that may have matching rows. See `pyarrow.dataset.Dataset.get_fragments`.

        If there are none, it returns one without rows, because DataFusion cannot sort a dataset without fragments.
        """
        is_plain = isinstance(filter, pa.Scalar)
        filter = _as_expression(filter)  # noqa: A001 - Arrow's name
        if self._condition is not None:
            # Arrow refuses to list the fragments of a filtered dataset.
            return cast("Iterator[pads.Fragment]", super().get_fragments(filter))
        narrowed = self._narrowed(filter)
        given: Any = super() if narrowed is None else narrowed
        found = list(given.get_fragments(filter))
        if not found and self._shared is not None and self._shared.known.paths:
            nothing = _nothing()
            found.append(cast("pads.Fragment", NoRows(nothing)) if is_plain else nothing)
        return iter(found)

    def scanner(self, *args: Any, **options: Any) -> pads.Scanner:
        """A scanner of the files that may have matching rows. See `pyarrow.dataset.Dataset.scanner`."""
        arguments = list(args)
        if len(arguments) > FILTER_POSITION:
            condition = arguments[FILTER_POSITION] = _as_expression(arguments[FILTER_POSITION])
        else:
            condition = options["filter"] = _as_expression(options.get("filter"))
        narrowed = self._narrowed(self._with_own(condition))
        if narrowed is None:
            return super().scanner(*arguments, **options)
        return self._filtered(narrowed).scanner(*arguments, **options)

    def filter(self, expression: pc.Expression) -> Self:
        """A dataset of the rows that satisfy a condition, which is also pruned."""
        filtered = super().filter(expression)
        filtered._know(self._shared, self._with_own(expression))  # noqa: SLF001 - of the same class
        return filtered

    def sort_by(self, sorting: Any, **options: Any) -> pads.InMemoryDataset:
        """The rows in sorted order. See `pyarrow.dataset.Dataset.sort_by`."""
        return self._plain(super()).sort_by(sorting, **options)

    def join(self, *args: Any, **options: Any) -> pads.InMemoryDataset:
        """A join with another dataset. See `pyarrow.dataset.Dataset.join`."""
        return self._plain(super()).join(*args, **options)

    def join_asof(self, *args: Any, **options: Any) -> pads.InMemoryDataset:
        """A join with the nearest rows of another dataset. See `pyarrow.dataset.Dataset.join_asof`."""
        return self._plain(super()).join_asof(*args, **options)

    def __reduce__(self) -> Any:
        if self._shared is None or self._condition is not None:
            return super().__reduce__()
        shared = self._shared
        return IndexedDataset.of, (
            shared.fragments,
            self.schema,
            self.format,
            self.filesystem,
            shared.known,
            shared.warns,
        )

    def _plain(self, whole: Any) -> pads.Dataset:
        """The files that the dataset's filter keeps, as Arrow's own dataset: for methods of Arrow that do not use `scanner`."""
        narrowed = self._narrowed(self._condition)
        return whole if narrowed is None else self._filtered(narrowed)

    def _filtered(self, dataset: pads.Dataset) -> pads.Dataset:
        return dataset if self._condition is None else dataset.filter(self._condition)

    def _with_own(self, condition: Any) -> Any:
        if self._condition is None or condition is None:
            return self._condition if condition is None else condition
        return self._condition & condition

    def _narrowed(self, condition: Any) -> pads.FileSystemDataset | None:
        """The dataset of the files that a condition keeps; ``None`` if it keeps all."""
        if self._shared is None:
            return None
        shared = self._shared
        decision = None if condition is None else self._decide(condition)
        with shared.lock:
            shared.counters.files += len(shared.fragments)
            if decision is not None:
                of_kept = decision.kept[shared.known.sets.file_of]
                shared.counters.skipped += int((~decision.kept).sum())
                shared.counters.row_groups_skipped += int((of_kept & ~decision.left).sum())
        if decision is None or decision.left.all():
            return None
        return self._dataset_of(
            [
                self._part(shared.fragments[file], decision.parts[file])
                if file in decision.parts
                else shared.fragments[file]
                for file in np.flatnonzero(decision.kept).tolist()
            ]
        )

    def _part(self, fragment: pads.Fragment, row_groups: list[int]) -> pads.Fragment:
        """Some row groups of a file, without reading it."""
        whole: Any = fragment
        of_format: Any = self.format
        part: pads.Fragment = of_format.make_fragment(
            whole.path, whole.filesystem, whole.partition_expression, row_groups
        )
        return part

    def _dataset_of(self, fragments: list[pads.Fragment]) -> pads.FileSystemDataset:
        return pads.FileSystemDataset(fragments, self.schema, self.format, self.filesystem)

    def _decide(self, condition: pc.Expression | Condition) -> Decision:
        shared = self._require_shared()
        known = shared.known
        given: Any = condition
        is_filter = isinstance(condition, pc.Expression)
        asked: Condition | None = condition_of_filter(given, self.schema) if is_filter else given
        left = np.ones(len(known.sets.file_of), np.bool_)
        if asked is None:
            return Decision(known, None, None, left)
        with shared.lock:
            before = len(known.unknown) + len(known.aside)
            sets = known.of(asked)
            is_worse = len(known.unknown) + len(known.aside) > before
        if is_worse and shared.warns:
            warnings.warn(known.summary, IndexWarning, stacklevel=3)
        left &= sets.row_groups(asked, EVERY)
        return Decision(known, asked, sets, left)

    def _know(self, shared: _Shared | None, condition: pc.Expression | None = None) -> None:
        self._shared, self._condition = shared, condition

    def _require_shared(self) -> _Shared:
        if self._shared is None:
            raise ValueError("this dataset has no indexes; open it with open_indexed")
        return self._shared


def _nothing() -> pads.Fragment:
    """A file without rows, in memory, so that no file is opened for an empty result."""
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({}), sink)
    content: Any = pa.BufferReader(sink.getvalue())
    return pads.ParquetFileFormat().make_fragment(content)


def _as_expression(condition: Any) -> Any:
    """A filter as an Arrow expression: DataFusion passes a scalar for a condition that is always false."""
    return pc.scalar(condition.as_py()) if isinstance(condition, pa.Scalar) else condition


def open_indexed(
    root: Roots,
    *,
    columns: Sequence[str] | None = None,
    trust: Trust = "companion",
    column: str | None = None,
    table: str | None = None,
    filesystem: Any = None,
    schema: pa.Schema | None = None,
    partitioning: Partitioning = "hive",
    progress: Progress | None = None,
    warn: bool = True,
) -> IndexedDataset:
    """Open a folder of Parquet files as a dataset that is pruned with their indexes.

    Args:
        root: A folder, a file, or a list of files: paths, or a URI that `pyarrow.fs.FileSystem.from_uri` understands.
        columns: Only use indexes of these columns; by default, of all.
        trust: ``companion`` trusts the indexes whose companion record agrees with the file.  With ``published``, you
            vouch for the others: each describes ``column`` and has all its values.  Such an index only decides
            comparisons with ``=`` and ``IN``, because it splits a value with a line feed.
        column: With ``published``, the column of indexes without companion record.
        table: A folder with an index table, or ``"auto"`` for the table beside the root, if there is one; by default, none is
            used.  It applies to files with the recorded size and modification time; the ends of other files are read.
        filesystem: The filesystem of the paths; by default that of the URI, or the local one.
        schema: The schema of the dataset; by default that of the first file.
        partitioning: As for `pyarrow.dataset.dataset`.  A column from the paths is never pruned by an index.
        progress: Called with the number of files whose ends were read, and of all files to read.
        warn: Whether to warn of files without an index; `IndexedDataset.warnings` lists them in any case.

    Raises:
        FileNotFoundError: There is no such folder or file.
        Refused: The folder is a Delta or Iceberg table, whose files have rows that the table has deleted.
        ValueError: ``published`` without a column, or arguments that do not fit each other.
        OSError: The folder cannot be listed, or the schema of the first file cannot be read.

    Warns:
        IndexWarning: Once, if some files have no usable index.
    """
    if trust == "published" and column is None and columns is not None and len(columns) == 1:
        column = columns[0]
    if (trust == "published") != (column is not None):
        raise ValueError(
            "name the column that indexes without companion record describe with trust='published'"
        )
    listed = list_files(root, filesystem, partitioning)
    dataset = listed.dataset(schema)
    fragments = list(dataset.get_fragments())
    known = know_files(
        listed, dataset.schema, fragments, columns=columns, vouched=column, table=table, progress=progress
    )
    opened = IndexedDataset.of(fragments, dataset.schema, dataset.format, dataset.filesystem, known, warn)
    if warn and known.warnings:
        warnings.warn(known.summary, IndexWarning, stacklevel=2)
    return opened
