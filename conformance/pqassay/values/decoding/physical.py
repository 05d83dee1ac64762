"""The values of a Parquet file as stored: by physical type, without their logical meaning.

Statistics and bloom filters describe stored values, and a conversion, such as of milliseconds into dates, would lose them. So pyarrow
receives the pages of the file with a footer without annotations and keys: then an INT64 is an int64, and a BYTE_ARRAY is bytes.

Only `decode_chunk` decodes column chunks.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pqassay.report.model import Obstacle
from pqassay.under_test.file import NotChecked
from pqassay.values.decoding.hashes import physical_rows
from pqassay_spec.base.errors import Truncated
from pqassay_spec.base.sources import BytesSource, FileSource, Source
from pqassay_spec.grammar.thrift import ListOf, value_grammar
from pqassay_spec.grammar.thrift_wire import read_byte, read_field_id, skip
from pqassay_spec.parquet.column_order import WIDTHS
from pqassay_spec.parquet.file import HEAD, MAGIC, TAIL
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.thrift import (
    ColumnChunk,
    ColumnMetaData,
    FileMetaData,
    RowGroup,
    SchemaElement,
    Type,
)

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

ARROW_KEY = b"ARROW:schema"
"""The key under which Arrow stores its types for reading."""

HUGE = 1 << 28
"""The uncompressed size of a column chunk in bytes from which one of its pages may be huge."""

OPEN_FILES = "/proc/self/fd/{}"
"""The path at which Linux shows the open files of a process."""

_SCHEMA = next(field.id for field in FileMetaData.fields if field.name == "schema")


def open_physical(
    source: Source, footer: bytes, metadata: FileMetaData, *, dictionaries: bool = False
) -> pq.ParquetFile:
    """Open a file so that its values are read as stored.

    Args:
        source: The file; its own footer is ignored.
        footer: The bytes of its footer.
        metadata: The decoded footer.
        dictionaries: Whether byte arrays are returned as a dictionary and indexes into it.

    Raises:
        NotChecked: pyarrow refuses the footer, or the file.
    """
    with _asking("pyarrow cannot read the footer", "tool"):
        plain = pq.read_metadata(pa.BufferReader(_framed(_plain(footer, metadata))))
    names = (
        [plain.schema.column(number).path for number in range(plain.num_columns)] if dictionaries else None
    )
    with _asking("pyarrow cannot open the file", "tool"):
        file = _native(source) or pa.PythonFile(SourceFile(source), mode="r")
        with _pool_for(metadata):
            return pq.ParquetFile(file, metadata=plain, read_dictionary=names)


@contextmanager
def _pool_for(metadata: FileMetaData) -> Generator[None]:
    """A context that takes memory for huge chunks from the system's allocator.

    It can grow a buffer in place, which takes half the time of copying it.
    """
    sizes = (
        chunk.meta_data.total_uncompressed_size
        for group in metadata.row_groups
        for chunk in group.columns
        if chunk.meta_data
    )
    if max(sizes, default=0) < HUGE:
        yield
        return
    usual = pa.default_memory_pool()
    pa.set_memory_pool(pa.system_memory_pool())
    try:
        yield
    finally:
        pa.set_memory_pool(usual)


def _plain(footer: bytes, metadata: FileMetaData) -> bytes:
    """The footer without annotations, with numbers as column names, and without the schema of Arrow."""
    schema = [_without_annotation(element, number) for number, element in enumerate(metadata.schema)]
    start, end = _schema_range(footer)
    rebuilt = value_grammar(ListOf(SchemaElement)).build(schema)
    # The same length, so that nothing else changes; the name has a meaning only as a key.
    return b"".join([footer[:start], rebuilt, footer[end:].replace(ARROW_KEY, ARROW_KEY.swapcase())])


def _without_annotation(element: SchemaElement, number: int) -> SchemaElement:
    """An element with only its type; an INT96 becomes bytes, since it may not fit into pyarrow's timestamp.

    An undefined type, for which pyarrow would refuse the file, is replaced by another; its column is not decoded.
    """
    is_int96 = element.type == Type.INT96
    kind = element.type if element.type is None or element.type in _PHYSICAL else Type.BYTE_ARRAY
    return SchemaElement(
        type=Type.FIXED_LEN_BYTE_ARRAY if is_int96 else kind,
        type_length=WIDTHS[Type.INT96] if is_int96 else element.type_length,
        repetition_type=element.repetition_type,
        name=str(number),
        num_children=element.num_children,
    )


def _schema_range(footer: bytes) -> tuple[int, int]:
    """The range of the list of schema elements; the rest, most of a footer, is not walked."""
    position = last = 0
    while True:
        header = read_byte(footer, position)
        last, start = read_field_id(footer, position + 1, header, last)
        position = skip(footer, start, header & 15)
        if last == _SCHEMA:
            return start, position


def bare(metadata: FileMetaData) -> FileMetaData:
    """A footer with only the fields that are needed to read values, since pyarrow refuses a chunk if another field is faulty."""
    return FileMetaData(
        version=metadata.version,
        schema=metadata.schema,
        num_rows=metadata.num_rows,
        row_groups=[
            RowGroup(
                columns=[_bare_chunk(chunk) for chunk in group.columns],
                total_byte_size=group.total_byte_size,
                num_rows=group.num_rows,
            )
            for group in metadata.row_groups
        ],
    )


def _bare_chunk(chunk: ColumnChunk) -> ColumnChunk:
    facts = chunk.meta_data
    kept = facts and ColumnMetaData(**{name: getattr(facts, name) for name in _LEADS_TO_VALUES})
    return ColumnChunk(file_path=chunk.file_path, file_offset=chunk.file_offset, meta_data=kept)


_LEADS_TO_VALUES = (
    *(field.name for field in ColumnMetaData.fields if field.required),
    "dictionary_page_offset",
)


def _framed(footer: bytes) -> bytes:
    """A Parquet file that consists only of a footer."""
    tail = TAIL.build({"footer_length": len(footer), "magic": MAGIC})
    return HEAD.build({"magic": MAGIC}) + footer + tail


def decode_chunk(file: pq.ParquetFile, row_group: int, ordinal: int, leaf: SchemaLeaf) -> list[pa.Array[Any]]:
    """All rows of one column chunk in pieces, at least one, including groups and lists around its leaf; see `leaf_of`.

    The judge decodes all values here.

    Args:
        file: A file from `open_physical`, used by one thread at a time.
        row_group: Position of the row group.
        ordinal: Position of the column among all leaves.
        leaf: The column.

    Raises:
        NotChecked: The pages cannot be decoded, or the values do not have their stored type.
    """
    what = f"row group {row_group} of column {leaf.name}"
    with _asking(f"{what} cannot be decoded", "file"):
        try:
            table = file.reader.read_row_group(row_group, column_indices=[ordinal], use_threads=False)
        except pa.ArrowNotImplementedError as error:
            raise NotChecked(f"pyarrow does not decode {what}: {first_line(error)}", "tool") from error
    column = table.column(0)
    pieces = list(column.chunks) or [pa.array([], column.type)]
    for piece in pieces:
        _require_physical(leaf_of(piece), leaf)
    return pieces


_PHYSICAL: dict[Type, Callable[[pa.DataType], bool]] = {
    Type.BOOLEAN: pa.types.is_boolean,
    Type.INT32: pa.types.is_int32,
    Type.INT64: pa.types.is_int64,
    Type.INT96: pa.types.is_fixed_size_binary,
    Type.FLOAT: pa.types.is_float32,
    Type.DOUBLE: pa.types.is_float64,
    Type.BYTE_ARRAY: pa.types.is_binary,
    Type.FIXED_LEN_BYTE_ARRAY: pa.types.is_fixed_size_binary,
}
"""The Arrow type for the values of each physical type."""


def _require_physical(array: pa.Array[Any], leaf: SchemaLeaf) -> None:
    """Raise `NotChecked` unless the values have their stored type, as they do with a sound footer."""
    is_right = next((test for kind, test in _PHYSICAL.items() if kind == leaf.element.type), None)
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if is_right is None or not is_right(kind):
        raise NotChecked(f"column {leaf.name}, {leaf.physical_type}, is decoded as {array.type}", "tool")


@contextmanager
def _asking(failure: str, obstacle: Obstacle) -> Generator[None]:
    """A context that turns errors of pyarrow into `NotChecked`, which leaves the file unjudged."""
    try:
        yield
    except MemoryError:  # an ArrowException as well
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise NotChecked(f"{failure}: {first_line(error)}", obstacle, judgeable=False) from error


def leaf_of(array: Any) -> Any:
    """The array of the only selected leaf, inside its groups and lists; without annotations, there are no other nested types."""
    while True:
        if pa.types.is_struct(array.type):
            array = pc.struct_field(array, [0])
        elif pa.types.is_list(array.type):
            array = array.flatten()
        else:
            return array


def rows_of(array: Any) -> NDArray[np.int64]:
    """The row of each item of `leaf_of`, int64."""
    rows = np.arange(len(array))
    while True:
        if pa.types.is_struct(array.type):
            array = pc.struct_field(array, [0])
        elif pa.types.is_list(array.type):
            rows = rows[pc.list_parent_indices(array).to_numpy(zero_copy_only=False)]
            array = array.flatten()
        else:
            return rows


def stored_bytes(one: pa.Array[Any]) -> bytes:
    """The PLAIN bytes of an array's only value, without the length of a byte array."""
    if pa.types.is_boolean(one.type):
        one = one.cast(pa.uint8())
    if pa.types.is_binary(one.type) or pa.types.is_large_binary(one.type):
        raw: bytes = one[0].as_py()
        return raw
    return physical_rows(one).tobytes()


# ------------------------------------------------------------------------------------------------- opening


class SourceFile(io.RawIOBase):
    """A `Source` as a Python file, for decoders that need one."""

    def __init__(self, source: Source) -> None:
        super().__init__()
        self._source = source
        self._position = 0

    def readable(self) -> bool:
        """Always true."""
        return True

    def seekable(self) -> bool:
        """Always true."""
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
        """Read available bytes, up to the length of the buffer."""
        view = memoryview(buffer).cast("B")
        length = max(0, min(len(view), self._source.size - self._position))
        try:
            view[:length] = self._source.read(self._position, length)
        except Truncated as error:
            raise OSError(str(error)) from error
        self._position += length
        return length


def _native(source: Source) -> pa.NativeFile | None:
    """The open file or the bytes behind a source; ``None`` if the system cannot provide them.

    A Python file would be slower, and threads of the decoder that still hold it when the interpreter ends abort the process. Its name would
    not work: pyarrow reads names as URIs or expands a ``~``, and another file may have the name by now.
    """
    if isinstance(source, BytesSource):
        return pa.BufferReader(source.view)
    if not isinstance(source, FileSource):
        return None
    try:
        return pa.OSFile(OPEN_FILES.format(source.fileno()), mode="r")
    except OSError:
        return None


def first_line(error: BaseException) -> str:
    """The first line of an exception, for reports."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
