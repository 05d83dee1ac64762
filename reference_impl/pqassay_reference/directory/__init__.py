"""Use of the index directory: make indexes from the data of a file, and write them into it.

Contents: making indexes from the data of a file (`making`), adding them to a file or removing them
(`embedding`), reading them (`reading`), and `add`, which attaches a user-defined index.

Excluded: commands, and changes of footers (see `pqassay_reference.rewrite`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pqassay_spec.directory.codes import Granularity, Placement
from pqassay_spec.directory.named_types import type_number
from pqassay_spec.parquet.thrift import CompressionCodec, FileMetaData

if TYPE_CHECKING:
    from pqassay_reference.directory.embedding import Changed


def add(
    path: str | os.PathLike[str],
    *,
    type: str,  # noqa: A002 - what the chapter and the command call it
    blob: bytes,
    columns: Sequence[str],
    granularity: Granularity = Granularity.FILE,
    placement: Placement = Placement.BODY,
    codec: CompressionCodec = CompressionCodec.UNCOMPRESSED,
    version: int = 1,
    inside_table: bool = False,
    writer: str = "",
) -> Changed:
    """Attach a user-defined index to a finished Parquet file, replacing the file atomically.

    Only you know the meaning of the blob: other readers of the directory ignore it, and a check reports that.

    Args:
        path: A local Parquet file.
        type: The name of its type, which begins with your domain in reverse order: ``org.example.bitmap``.
        blob: The index.
        columns: The columns that it describes, of any type, as paths joined by dots; the index becomes stale if their data change.
        granularity: The granularity of the parts of the blob. Pages need one column and its offset index.
        placement: Where the blob is stored.
        codec: The compression of the blob.
        version: The version of the type, 0 to 255.
        inside_table: Do it even inside a table (Iceberg, Delta, …) whose manifests record the old file size.
        writer: Name and version of your program.

    Returns:
        The result. An entry with the same type, granularity and columns is replaced; all others stay.

        Raises:
            Refused: The name is not valid; a column does not exist; the placement is used by other software; a file inside a table.
            FormatError: Not a Parquet file, or its footer must not be changed.
        OSError: The file cannot be read or its directory written, or it changed meanwhile.
    """
    from pqassay_reference.directory.embedding import add_indexes  # noqa: PLC0415 - who reads directories loads nothing that writes them
    from pqassay_reference.directory.making.described_data import paths_called  # noqa: PLC0415 - likewise
    from pqassay_reference.directory.making.entry import Request  # noqa: PLC0415 - likewise

    def requests(metadata: FileMetaData) -> list[Request]:
        return [
            Request(
                type_number(type),
                tuple(paths_called(metadata, columns)),
                *(granularity, placement, codec),
                max_bytes=len(blob),
                type_name=type,
                type_version=version,
                payload=blob,
            )
        ]

    return add_indexes(path, requests, inside_table=inside_table, writer=writer)
