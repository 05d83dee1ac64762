"""The values of string columns, compared with an index batch by batch.

Memory stays at one batch, the index, one byte for each value of it, and a bounded number of examples, however many distinct values a column has.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# The type stubs of pyarrow leave parts of what is used here unknown.
from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pqassay.report.model import FIRST_POSITIONS
from pqassay.under_test.file import NotChecked
from pqassay_spec.base.errors import Truncated
from pqassay_spec.base.sources import BytesSource, FileSource, Source
from pqassay_spec.parquet.schema import SchemaLeaf

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

BATCH_ROWS = 1 << 16

OPEN_FILES = "/proc/self/fd/{}"
"""Where Linux shows the open files of a process."""

COUNTED_VALUES = 10_000
"""Distinct missing values that are counted exactly; beyond, the count is a lower bound."""


class SourceFile(io.RawIOBase):
    """A `Source` as a Python file, for decoders that want one."""

    def __init__(self, source: Source) -> None:
        super().__init__()
        self._source = source
        self._position = 0

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Always."""
        return True

    def tell(self) -> int:
        """The position."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move the position."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._source.size}[whence]
        self._position = base + offset
        return self._position

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Read what there is, up to the length of the buffer."""
        view = memoryview(buffer).cast("B")
        length = max(0, min(len(view), self._source.size - self._position))
        try:
            view[:length] = self._source.read(self._position, length)
        except Truncated as error:
            raise OSError(str(error)) from error
        self._position += length
        return length


def open_parquet(
    source: Source, metadata: pq.FileMetaData | None = None, dictionaries: list[str] | None = None
) -> pq.ParquetFile:
    """Open a source with pyarrow: the very bytes that the other checks see, whatever the source is called.

    Args:
        source: The file.
        metadata: What counts instead of the footer in the file.
        dictionaries: Columns that come as a dictionary and indexes into it.

    Raises:
        NotChecked: pyarrow refuses the file.
    """
    try:
        file = _native(source) or pa.PythonFile(SourceFile(source), mode="r")
        return pq.ParquetFile(file, metadata=metadata, read_dictionary=dictionaries)
    except MemoryError:  # an ArrowException as well
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise NotChecked(f"pyarrow cannot open the file: {first_line(error)}", judgeable=False) from error


def _native(source: Source) -> pa.NativeFile | None:
    """The open file or the bytes behind a source; ``None`` where the system has no way to them.

    A Python file would be slower, and threads of the decoder that still hold it when the interpreter ends abort
    the process.
    Its name would not do: pyarrow takes a text for a URI or expands a ``~`` in it, and the file that has the name now
    may be another one.
    """
    if isinstance(source, BytesSource):
        return pa.BufferReader(source.view)
    if not isinstance(source, FileSource):
        return None
    try:
        return pa.OSFile(OPEN_FILES.format(source.fileno()), mode="r")
    except OSError:
        return None


class IndexValues:
    """The distinct values of an index, ready to be compared with many columns.

    Attributes:
        texts: The values in the order of the index, each once.
        raw: The same as an Arrow array of bytes.
    """

    def __init__(self, values: Iterable[str]) -> None:
        self.texts = list(dict.fromkeys(values))
        self.raw = pa.array([value.encode() for value in self.texts], pa.large_binary())

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The position of each value in `texts`."""
        return {value: number for number, value in enumerate(self.texts)}


@dataclass
class Comparison:
    """A column beside an index.

    Attributes:
        leaf: The column.
        rows: Values seen, nulls included.
        null_count: Nulls seen.
        missing: Examples of values of the column that the index lacks.
        missing_count: How many there are; a lower bound from `COUNTED_VALUES` on.
        with_line_feed: Examples of values that hold a line feed.
        index: The values of the index.
        seen: Which of them occur in the column, 1 or 0 for each.
        only_empty: Whether every value that is not null is the empty string.
    """

    leaf: SchemaLeaf
    index: IndexValues
    seen: bytearray
    rows: int = 0
    null_count: int = 0
    missing: list[str] = field(default_factory=list[str])
    missing_count: int = 0
    with_line_feed: list[str] = field(default_factory=list[str])
    only_empty: bool = True

    @property
    def column(self) -> str:
        """The column's path joined by dots."""
        return self.leaf.name

    @property
    def value_rows(self) -> int:
        """Values seen that are not null."""
        return self.rows - self.null_count

    @property
    def difference(self) -> int:
        """How far column and index are apart, in values."""
        return self.missing_count + self.seen.count(0)

    @cached_property
    def extra(self) -> list[str]:
        """Values of the index that occur in no row, in the order of the index."""
        return [value for value, seen in zip(self.index.texts, self.seen, strict=True) if not seen]


def compare(file: pq.ParquetFile, ordinal: int, leaf: SchemaLeaf, index: IndexValues) -> Comparison:
    """Compare a string column with the values of an index.

    Args:
        file: The opened file.
        ordinal: Position of the column among all leaves; its name may be that of another one as well.
        leaf: The column.
        index: The values of the index.

    Raises:
        NotChecked: The pages cannot be decoded.
    """
    result = Comparison(leaf, index, bytearray(len(index.texts)))
    seen = np.frombuffer(result.seen, np.uint8)
    missing: set[bytes] = set()
    try:
        for flat in _batches(file, ordinal):
            result.rows += len(flat)
            result.null_count += flat.null_count
            unique = pc.unique(flat).drop_null()
            result.only_empty = result.only_empty and all(not v.as_py() for v in unique[:2])
            places = pc.index_in(unique, value_set=index.raw)
            seen[places.drop_null().to_numpy()] = 1
            strange = unique.filter(pc.is_null(places))
            for raw in _items(strange.filter(pc.match_substring(strange, "\n"))):
                _with_line_feed(raw, missing, result)
            for raw in _items(strange.filter(pc.invert(pc.match_substring(strange, "\n")))):
                if len(missing) < COUNTED_VALUES:
                    missing.add(raw)
    except MemoryError:  # an ArrowException as well
        raise
    except pa.ArrowNotImplementedError as error:
        raise NotChecked(f"pyarrow does not decode column {leaf.name}: {first_line(error)}") from error
    except (pa.ArrowException, OSError, ValueError) as error:
        raise NotChecked(
            f"column {leaf.name} cannot be decoded: {first_line(error)}", judgeable=False
        ) from error
    result.missing_count = len(missing)
    result.missing = [raw.decode("utf-8", "backslashreplace") for raw in sorted(missing)[:3]]
    return result


def _with_line_feed(raw: bytes, missing: set[bytes], result: Comparison) -> None:
    """A value that no index can hold; its pieces may stand in this one, and are its own then."""
    if len(result.with_line_feed) < FIRST_POSITIONS:
        result.with_line_feed.append(raw.decode("utf-8", "backslashreplace"))
    pieces = raw.decode("utf-8", "surrogateescape").split("\n")
    numbers = result.index.numbers
    if all(piece in numbers for piece in pieces):
        for piece in pieces:
            result.seen[numbers[piece]] = 1
    elif len(missing) < COUNTED_VALUES:
        missing.add(raw)


def _items(array: Any) -> list[Any]:
    items: list[Any] = array.to_pylist()
    return items


def _batches(file: pq.ParquetFile, ordinal: int) -> Iterator[pa.Array[Any]]:
    row_groups = list(range(file.num_row_groups))
    for batch in file.reader.iter_batches(BATCH_ROWS, row_groups, column_indices=[ordinal]):
        yield _innermost(batch.column(0)).cast(pa.large_binary())


def _innermost(array: Any) -> Any:
    """Follow the one selected leaf down through structs, lists, dictionaries and extension types."""
    while True:
        kind = array.type
        if isinstance(kind, pa.BaseExtensionType):
            array = array.storage
        elif pa.types.is_dictionary(kind):
            array = array.dictionary_decode()
        elif pa.types.is_struct(kind):
            array = pc.struct_field(array, [0])
        elif pa.types.is_map(kind):
            array = pa.StructArray.from_arrays([array.keys, array.items], names=["key", "value"])
        elif pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
            array = array.flatten()
        else:
            return array


def first_line(error: BaseException) -> str:
    """What an exception says, as a report repeats it."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
