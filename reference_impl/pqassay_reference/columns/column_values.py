"""The distinct values of a string column, read batch by batch with pyarrow."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pqassay_reference.errors import Refused, Undecodable
from pqassay_spec.base.sources import FileSource
from pqassay_spec.parquet.file import read_footer, read_framing
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf, is_string, leaves

BATCH_ROWS = 1 << 16

GREATEST_PAYLOAD = 1 << 30
"""Default limit of the bytes of distinct values that are collected from a column."""


@dataclass
class DistinctValues:
    """Collects the distinct values of a column and counts its nulls.

    Attributes:
        column: Name for messages.
        limit: Greatest payload in bytes; beyond, `add` raises `Refused`.
        values: The distinct values so far.
        null_count: Number of nulls so far.
        row_count: Number of values and nulls so far.
    """

    column: str
    limit: int
    values: set[str] = field(default_factory=set[str])
    null_count: int = 0
    row_count: int = 0
    _size: int = 0

    def add(self, array: pa.Array[Any]) -> None:
        """Add the values of an array of strings or binaries, dictionary-encoded or not, nested in structs or not.

        Raises:
            Refused: A value is not UTF-8, or the index would exceed the limit.
        """
        flat, found = _distinct(_innermost(array))
        self.null_count += flat.null_count
        self.row_count += len(flat)
        for raw in found.cast(pa.large_binary()).to_pylist():
            if raw is not None:
                self._add_value(raw)

    def include(self, other: DistinctValues) -> None:
        """Add the contents of another collection: all of them or, after an exception, none.

        Raises:
            Refused: The index would exceed the limit.
        """
        new = other.values - self.values
        size = self._size + sum(len(value.encode()) + 1 for value in new)
        self._require_within_limit(size)
        self.values |= new
        self._size = size
        self.null_count += other.null_count
        self.row_count += other.row_count

    def _add_value(self, raw: bytes) -> None:
        try:
            value = raw.decode()
        except UnicodeDecodeError:
            raise Refused(f"column {self.column} holds {raw[:60]!r}, which is not UTF-8") from None
        if value in self.values:
            return
        self.values.add(value)
        self._size += len(raw) + 1
        self._require_within_limit(self._size)

    def _require_within_limit(self, size: int) -> None:
        if size - 1 > self.limit:
            raise Refused(
                f"the distinct values of column {self.column} take more than {self.limit} bytes; "
                "such a column is not worth an index, or raise the limit"
            )


def _distinct(array: Any) -> tuple[Any, Any]:
    """An array with a null at each place without a value, and its distinct values.

    In a dictionary, only entries that rows refer to count; a null entry is a null in each row that refers to it.
    """
    if not pa.types.is_dictionary(array.type):
        return array, pc.unique(array.cast(pa.large_binary()))
    if array.dictionary.null_count:
        return _distinct(_innermost(array.dictionary_decode()))
    used = array.dictionary.take(pc.unique(array.indices))
    # A dictionary may have duplicate values, or contain another dictionary.
    return array.indices, _distinct(_innermost(used))[1]


def is_text(kind: pa.DataType) -> bool:
    """Whether a type is text in any of Arrow's forms, or a dictionary of text."""
    if pa.types.is_dictionary(kind):
        return is_text(kind.value_type)
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def _innermost(array: Any) -> Any:
    """Follow a selected leaf down through structs and extension types."""
    while True:
        kind = array.type
        if isinstance(kind, pa.BaseExtensionType):
            array = array.storage
        elif pa.types.is_struct(kind):
            array = pc.struct_field(array, [0])
        else:
            return array


LISTED = 10
"""Most columns that a message names before an ellipsis; a file may have very many, with very long names."""


def listed(leaves: Iterable[SchemaLeaf]) -> str:
    """The first columns by name, for messages."""
    names = [leaf.name[:60] for leaf in itertools.islice(leaves, LISTED + 1)]
    return ", ".join([*names[:LISTED], "…"] if len(names) > LISTED else names) or "none"


def find_column(leaves: Sequence[SchemaLeaf], column: str) -> tuple[int, SchemaLeaf]:
    """Return the leaf that an index on ``column`` describes, with its position among all leaves.

    Raises:
        Refused: There is no such column, or IDX1 cannot describe it; the message names the string columns.
    """
    matching = [(ordinal, leaf) for ordinal, leaf in enumerate(leaves) if leaf.is_called(column)]
    strings = listed(leaf for leaf in leaves if is_string(leaf) and not leaf.max_repetition_level)
    if not matching:
        raise Refused(f"there is no column {column}; string columns are: {strings}")
    if len(matching) > 1:
        raise Refused(f"there are {len(matching)} columns called {column}")
    ordinal, leaf = matching[0]
    if not is_string(leaf):
        raise Refused(
            f"column {column} is {leaf.physical_type}; only string columns can be indexed: {strings}"
        )
    if leaf.max_repetition_level:
        raise Refused(f"column {column} has several values per row; IDX1 needs one value per row")
    return ordinal, leaf


def native_file(path: str | os.PathLike[str]) -> pa.OSFile:
    """Open a local file for pyarrow by the bytes of its path, because pyarrow refuses text that is not UTF-8, and expands ``~``.

    It is not a Python file: threads of the decoder that still use one when the process ends would abort it.
    """
    name: Any = os.fsencode(path)
    return pa.OSFile(name, mode="r")


def collect(
    path: str | os.PathLike[str], columns: Sequence[tuple[int, SchemaLeaf]], limit: int
) -> tuple[DistinctValues, ...]:
    """Collect the distinct values of some string columns of a local file.

    Columns are first read as dictionaries, which takes a third of the time: pages refer to values of their
    dictionary, and only these values are examined.  pyarrow only supports this for PLAIN and dictionary
    encodings, so a refused file is read again without it.

    Args:
        path: The file.
        columns: Positions of the leaves among all leaves, and the leaves.
        limit: Greatest payload in bytes.

    Raises:
        Refused: See `DistinctValues.add`.
        Undecodable: The file cannot be opened, or its pages cannot be decoded.
    """
    # Not of fields of structs: there pyarrow fails.
    names = [leaf.name for _, leaf in columns if len(leaf.path) == 1 and "." not in leaf.name]
    try:
        return _collected(path, columns, limit, names)
    except Undecodable:
        if not names:
            raise
        return _collected(path, columns, limit, [])


def _collected(
    path: str | os.PathLike[str],
    columns: Sequence[tuple[int, SchemaLeaf]],
    limit: int,
    by_dictionary: list[str],
) -> tuple[DistinctValues, ...]:
    try:
        with native_file(path) as handle, pq.ParquetFile(handle, read_dictionary=by_dictionary) as file:
            return tuple(_distinct_values(file, ordinal, leaf, limit) for ordinal, leaf in columns)
    except (pa.ArrowException, ValueError) as error:
        raise Undecodable(f"pyarrow cannot open the file: {' '.join(str(error).split())}") from error


def read_distinct_values(
    path: str | os.PathLike[str], column: str, limit: int = GREATEST_PAYLOAD
) -> DistinctValues:
    """Read a string column of a local file, named by its path joined by dots, and collect its distinct values.

    Raises:
        Refused: There is no such column; also see `DistinctValues.add`.
        Undecodable: The file cannot be opened, or its pages cannot be decoded.
        FormatError: The footer cannot be read.
    """
    with FileSource(path) as source:
        metadata, _ = read_footer(source, read_framing(source))
    (found,) = collect(path, [find_column(leaves(metadata), column)], limit)
    return found


def _distinct_values(file: pq.ParquetFile, ordinal: int, leaf: SchemaLeaf, limit: int) -> DistinctValues:
    # Selected by position, because the name joined by dots may also be that of another column.
    collected = DistinctValues(leaf.name, limit)
    row_groups = list(range(file.num_row_groups))
    try:
        for batch in file.reader.iter_batches(BATCH_ROWS, row_groups, column_indices=[ordinal]):
            collected.add(batch.column(0))
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise Undecodable(f"column {leaf.name} cannot be decoded: {said}") from error
    return collected
