"""The index directory at work: indexes made from the data of a file, and written into it.

Contents: making indexes from the data of a file (`making`), adding them to a file or removing them
(`embedding`), reading them (`reading`), and `add`, which attaches an index of your own.

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
    """Attach an index of your own to a finished Parquet file, replacing the file atomically.

    Only you know what the blob means: other readers of the directory leave it alone, and a check says so.

    Args:
        path: A local Parquet file.
        type: The name of its type, which begins with a domain of yours, turned round: ``org.example.bitmap``.
        blob: The index.
        columns: The columns that it describes, of any type, their paths joined by dots; if their data change, it is stale.
        granularity: What each part of the blob is about. Pages need one column and its offset index.
        placement: Where the blob goes.
        codec: How the blob is compressed.
        version: The version of the type, 0 to 255.
        inside_table: Do it even inside a table (Iceberg, Delta, …) whose manifests record the old file size.
        writer: Name and version of your program.

    Returns:
        What was done. An entry with the same type, granularity and columns is replaced; all others stay.

    Raises:
        Refused: Not such a name; no such columns; the placement is taken; a file inside a table.
        FormatError: Not a Parquet file, or one whose footer must not be changed.
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
