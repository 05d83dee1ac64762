"""The values of a Parquet file as they are stored: by physical type, whatever they mean.

Statistics and bloom filters are about these, and a decoder that turns milliseconds into dates, or numbers into a
dictionary's, would lose what is to be compared.  So pyarrow gets the pages of the file together with a footer
in which every annotation and every key is left out: then an INT64 is an int64, and a BYTE_ARRAY bytes.

Memory stays at one batch of one column.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# The type stubs of pyarrow leave parts of what is used here unknown.
from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pqassay.column_values import BATCH_ROWS, first_line, open_parquet
from pqassay.file_under_test import NotChecked
from pqassay_spec.compact_thrift import ListOf, value_grammar
from pqassay_spec.compact_thrift_path import FieldFinder
from pqassay_spec.parquet_file import HEAD, MAGIC, TAIL
from pqassay_spec.parquet_thrift import FileMetaData, KeyValue, SchemaElement
from pqassay_spec.sources import Source


def open_physical(source: Source, footer: bytes, metadata: FileMetaData) -> pq.ParquetFile:
    """Open a file so that its values come as they are stored.

    Args:
        source: The file. What stands in it where the footer should be does not matter.
        footer: The bytes of its footer.
        metadata: The same decoded.

    Raises:
        NotChecked: pyarrow refuses the footer.
    """
    try:
        plain = pq.read_metadata(pa.BufferReader(_framed(_plain(footer, metadata))))
    except MemoryError:  # an ArrowException as well
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise NotChecked(f"pyarrow cannot read the footer: {first_line(error)}", judgeable=False) from error
    return open_parquet(source, plain)


def _plain(footer: bytes, metadata: FileMetaData) -> bytes:
    """The footer without annotations and keys, its columns called by their numbers."""
    finder = FieldFinder(FileMetaData, footer)
    schema = [
        SchemaElement(
            type=element.type,
            type_length=element.type_length,
            repetition_type=element.repetition_type,
            name=str(number),
            num_children=element.num_children,
        )
        for number, element in enumerate(metadata.schema)
    ]
    changed = [
        (finder.find("schema"), value_grammar(ListOf(SchemaElement)).build(schema)),
        (finder.find("key_value_metadata"), value_grammar(ListOf(KeyValue)).build([])),
    ]
    parts, position = [], 0
    for (start, end), content in sorted((place, content) for place, content in changed if place is not None):
        parts += [footer[position:start], content]
        position = end
    return b"".join([*parts, footer[position:]])


def _framed(footer: bytes) -> bytes:
    """A Parquet file that holds nothing but a footer."""
    tail = TAIL.build({"footer_length": len(footer), "magic": MAGIC})
    return HEAD.build({"magic": MAGIC}) + footer + tail


def batches(file: pq.ParquetFile, row_group: int, ordinal: int, name: str) -> Iterator[pa.Array[Any]]:
    """The values of a column chunk, batch by batch; of a list, its items one behind the other.

    Args:
        file: A file from `open_physical`.
        row_group: Position of the row group.
        ordinal: Position of the column among all leaves.
        name: What messages call it.

    Raises:
        NotChecked: The pages cannot be decoded.
    """
    with _decoding(f"row group {row_group} of column {name}"):
        for batch in file.reader.iter_batches(BATCH_ROWS, [row_group], column_indices=[ordinal]):
            yield _leaf(batch.column(0))


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


def _leaf(array: Any) -> Any:
    """Follow the one selected leaf down through groups; without annotations there are no other nested types."""
    while True:
        if pa.types.is_struct(array.type):
            array = pc.struct_field(array, [0])
        elif pa.types.is_list(array.type):
            array = array.flatten()
        else:
            return array
