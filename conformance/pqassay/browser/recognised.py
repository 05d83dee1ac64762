"""What is dropped on the page and is not a file to judge alone: files of tables, archives, and other formats."""

from __future__ import annotations

from collections.abc import Mapping

from pqassay.stores.formats import formats
from pqassay.stores.kinds import dumped_as, kind_of

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

    >>> not_judged("a.zip", b"PK\x03\x04")
    'a.zip is a zip archive: unpack it, and drop what is in it'
    >>> not_judged("a.parquet", b"PK\x03\x04") is None
    True
    """
    of_tables = {kind: words for one in formats().values() for kind, words in one.words.items()}
    if (words := of_tables.get(dumped_as(name))) is not None:
        return f"{name} is {words}, and is judged with its table: drop the folder of the table here, or run pqassay check FOLDER"
    for magic, what in FORMATS.items():
        if (
            head.startswith(magic) and kind_of(name) is None
        ):  # one that is called a Parquet file is judged as one
            return f"{name} is {what}"
    return None
