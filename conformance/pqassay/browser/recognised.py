"""Files that the page does not judge alone: files of tables, archives, and other formats."""

from __future__ import annotations

from pqassay.stores.formats import formats
from pqassay.stores.kinds import dumped_as, kind_of
from pqassay_spec.parquet.other_files import recognised


def not_judged(name: str, head: bytes) -> str | None:
    r"""Why a file is not judged alone, and what to do instead; ``None`` if it is judged.

    Args:
        name: Its name.
        head: Its first bytes; only these are examined.

    >>> not_judged("a.zip", b"PK\x03\x04")
    'a.zip is a zip archive: unpack it, and check what is in it'
    >>> not_judged("a.parquet", b"PK\x03\x04") is None
    True
    """
    of_tables = {kind: words for one in formats().values() for kind, words in one.words.items()}
    if (words := of_tables.get(dumped_as(name))) is not None:
        return f"{name} is {words}, and is judged with its table: drop the folder of the table here, or run pqassay check FOLDER"
    kind = None if kind_of(name) is not None else recognised(head)
    return None if kind is None else f"{name} is {kind.reason}: {kind.remedy}"
