"""What is dropped on the page and is not a file to judge alone: files of tables, archives, and other formats."""

from __future__ import annotations

from collections.abc import Mapping

from pqassay.stores.kinds import dumped_as, kind_of

OF_TABLES: Mapping[str, str] = {
    "delta_log": "a file of the log of a Delta table",
    "delta_checkpoint": "a checkpoint of a Delta table",
    "deletion_vector": "a file of deletion vectors of a Delta table",
    "avro": "an Avro file, such as a manifest of an Iceberg table",
    "iceberg_metadata": "a metadata file of an Iceberg table",
    "puffin": "a Puffin file of an Iceberg table",
}
"""Kinds of files that say something of others, in words."""

FORMATS: Mapping[bytes, str] = {
    b"PK\x03\x04": "a zip archive: unpack it, and drop what is in it",
    b"\x1f\x8b": "a file compressed by gzip: decompress it first",
    b"(\xb5/\xfd": "a file compressed by Zstandard: decompress it first",
    b"Obj\x01": "an Avro file, and not a Parquet file",
    b"ORC": "an ORC file, and not a Parquet file",
    b"ARROW1": "an Arrow file, and not a Parquet file",
    b"SQLite format 3": "an SQLite database, and not a Parquet file",
    b"%PDF": "a PDF, and not a Parquet file",
}
"""What files of other formats begin with, and what to say of them."""

LONGEST = max(map(len, FORMATS))
"""Bytes at the beginning of a file that are looked at."""


def not_judged(name: str, head: bytes) -> str | None:
    r"""Why a file is not judged alone, and what to do instead; ``None`` of one that is.

    Args:
        name: Its name.
        head: Its first bytes, `LONGEST` if it has so many.

    >>> not_judged("00000000000000000007.json", b"{")
    '00000000000000000007.json is a file of the log of a Delta table, and is judged with its table: drop the folder of the table here, or run pqassay check FOLDER'
    >>> not_judged("a.zip", b"PK\x03\x04")
    'a.zip is a zip archive: unpack it, and drop what is in it'
    >>> not_judged("a.parquet", b"PK\x03\x04") is None
    True
    """
    kind = OF_TABLES.get(dumped_as(name))
    if kind is not None:
        return f"{name} is {kind}, and is judged with its table: drop the folder of the table here, or run pqassay check FOLDER"
    for magic, what in FORMATS.items():
        if (
            head.startswith(magic) and kind_of(name) is None
        ):  # one that is called a Parquet file is judged as one
            return f"{name} is {what}"
    return None
