"""The values of a Parquet file as they are stored: by physical type, whatever they mean.

Statistics and bloom filters are about these, and a decoder that turns milliseconds into dates, or numbers into a
dictionary's, would lose what is to be compared.  So pyarrow gets the pages of the file together with a footer
in which every annotation and every key is left out: then an INT64 is an int64, and a BYTE_ARRAY bytes.

Memory stays at one batch of one column, or at one column chunk where that is asked for.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# The type stubs of pyarrow leave parts of what is used here unknown.
from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pqassay.under_test.file import NotChecked
from pqassay.values.index_column import BATCH_ROWS, first_line, open_parquet
from pqassay_spec.base.sources import Source
from pqassay_spec.grammar.thrift import ListOf, value_grammar
from pqassay_spec.grammar.thrift_wire import read_byte, read_field_id, skip
from pqassay_spec.parquet.column_order import WIDTHS
from pqassay_spec.parquet.file import HEAD, MAGIC, TAIL
from pqassay_spec.parquet.schema import SchemaLeaf
from pqassay_spec.parquet.thrift import FileMetaData, SchemaElement, Type

ARROW_KEY = b"ARROW:schema"
"""The key under which Arrow keeps the types that it gives values when it reads them."""

_SCHEMA = next(field.id for field in FileMetaData.fields if field.name == "schema")


def open_physical(
    source: Source, footer: bytes, metadata: FileMetaData, *, dictionaries: bool = False
) -> pq.ParquetFile:
    """Open a file so that its values come as they are stored.

    Args:
        source: The file. What stands in it where the footer should be does not matter.
        footer: The bytes of its footer.
        metadata: The same decoded.
        dictionaries: Whether byte arrays come as a dictionary and indexes into it.

    Raises:
        NotChecked: pyarrow refuses the footer.
    """
    try:
        plain = pq.read_metadata(pa.BufferReader(_framed(_plain(footer, metadata))))
    except MemoryError:  # an ArrowException as well
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise NotChecked(f"pyarrow cannot read the footer: {first_line(error)}", judgeable=False) from error
    names = (
        [plain.schema.column(number).path for number in range(plain.num_columns)] if dictionaries else None
    )
    return open_parquet(source, plain, names)


def _plain(footer: bytes, metadata: FileMetaData) -> bytes:
    """The footer without annotations, its columns called by their numbers, and without the schema that Arrow keeps."""
    schema = [_without_annotation(element, number) for number, element in enumerate(metadata.schema)]
    start, end = _schema_range(footer)
    rebuilt = value_grammar(ListOf(SchemaElement)).build(schema)
    # Of the same length, so that nothing else changes; only as a key the name means anything.
    return b"".join([footer[:start], rebuilt, footer[end:].replace(ARROW_KEY, ARROW_KEY.swapcase())])


def _without_annotation(element: SchemaElement, number: int) -> SchemaElement:
    """An element with nothing but its type. Of an INT96, pyarrow would make a timestamp, which may not hold it."""
    is_int96 = element.type == Type.INT96
    return SchemaElement(
        type=Type.FIXED_LEN_BYTE_ARRAY if is_int96 else element.type,
        type_length=WIDTHS[Type.INT96] if is_int96 else element.type_length,
        repetition_type=element.repetition_type,
        name=str(number),
        num_children=element.num_children,
    )


def _schema_range(footer: bytes) -> tuple[int, int]:
    """Where the list of schema elements stands; what follows it, most of a footer, is not walked."""
    position = last = 0
    while True:
        header = read_byte(footer, position)
        last, start = read_field_id(footer, position + 1, header, last)
        position = skip(footer, start, header & 15)
        if last == _SCHEMA:
            return start, position


def _framed(footer: bytes) -> bytes:
    """A Parquet file that holds nothing but a footer."""
    tail = TAIL.build({"footer_length": len(footer), "magic": MAGIC})
    return HEAD.build({"magic": MAGIC}) + footer + tail


def batches(
    file: pq.ParquetFile, row_group: int, ordinals: Sequence[int], name: str
) -> Iterator[list[pa.Array[Any]]]:
    """The values of column chunks, batch by batch; of a list, its items one behind the other.

    Args:
        file: A file from `open_physical`.
        row_group: Position of the row group.
        ordinals: Positions of the columns among all leaves, ascending; of columns with groups around them one at a time.
        name: What messages call them.

    Raises:
        NotChecked: The pages cannot be decoded.
    """
    with _decoding(f"row group {row_group} of column {name}"):
        for batch in file.reader.iter_batches(BATCH_ROWS, [row_group], column_indices=list(ordinals)):
            yield [leaf_of(column) for column in batch.columns]


def read_chunk(file: pq.ParquetFile, row_group: int, ordinal: int, name: str) -> list[pa.Array[Any]]:
    """All rows of one column chunk in pieces, at least one, groups and lists around its leaf included; see `leaf_of`.

    Args:
        file: A file from `open_physical`, used by one thread at a time.
        row_group: Position of the row group.
        ordinal: Position of the column among all leaves.
        name: What messages call it.

    Raises:
        NotChecked: The pages cannot be decoded.
    """
    with _decoding(f"row group {row_group} of column {name}"):
        table = file.reader.read_row_group(row_group, column_indices=[ordinal], use_threads=False)
    column = table.column(0)
    return list(column.chunks) or [pa.array([], column.type)]


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
"""What values of each type come as."""


def require_physical(array: pa.Array[Any], leaf: SchemaLeaf) -> None:
    """Raise `NotChecked` unless the values came as they are stored, as those of a sound footer do."""
    is_right = next((test for kind, test in _PHYSICAL.items() if kind == leaf.element.type), None)
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if is_right is None or not is_right(kind):
        raise NotChecked(f"column {leaf.name}, {leaf.physical_type}, is decoded as {array.type}")


@contextmanager
def _decoding(what: str) -> Generator[None]:
    try:
        yield
    except MemoryError:  # an ArrowException as well
        raise
    except pa.ArrowNotImplementedError as error:
        raise NotChecked(f"pyarrow does not decode {what}: {first_line(error)}") from error
    except (pa.ArrowException, OSError, ValueError) as error:
        raise NotChecked(f"{what} cannot be decoded: {first_line(error)}", judgeable=False) from error


def leaf_of(array: Any) -> Any:
    """Follow the one selected leaf down through groups; without annotations there are no other nested types."""
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
