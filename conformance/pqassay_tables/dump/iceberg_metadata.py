"""The trace of a metadata file of an Iceberg table: one JSON text, compressed in some tables.

Values of a compressed file have no bytes of their own in it: they are shown at its beginning, with no length.
"""

from __future__ import annotations

import zlib
from functools import cache

from pqassay.dump.forms import Sink
from pqassay.dump.json_text import hand_on
from pqassay.dump.regions import Errors, Region, Writer, unparsed
from pqassay_spec.base.errors import FormatError, Malformed, Unsupported
from pqassay_spec.base.sources import Source
from pqassay_spec.table import iceberg
from pqassay_spec.table.json_objects import JsonObject
from pqassay_tables.metadata.iceberg.metadata import plain_metadata

METADATA = "ICE-001"

GZIP = b"\x1f\x8b"
"""The first bytes of a gzip file."""


def trace(source: Source, sink: Sink) -> list[FormatError]:
    """See `pqassay.dump.dump`."""
    data, errors = source.read(0, source.size), Errors()

    def compressed(hand: Sink) -> FormatError | None:
        try:
            unpacked = plain_metadata(source.name, data)
        except Unsupported as error:
            return error
        except (OSError, EOFError, zlib.error) as error:
            return Malformed(f"the file does not decompress: {error}", rule=METADATA, offset=0)
        hand([unparsed("file", 0, source.size, f"{len(unpacked)} bytes, compressed by gzip")])
        return text(unpacked, lambda leaves: hand([leaf._replace(offset=0, length=0) for leaf in leaves]))

    def text(written: bytes, hand: Sink) -> FormatError | None:
        reason = hand_on(written, "", documented, hand)
        return (
            None if reason is None else Malformed(f"the file is not JSON: {reason}", rule=METADATA, offset=0)
        )

    def plain(hand: Sink) -> FormatError | None:
        return text(data, hand)

    whole = compressed if data.startswith(GZIP) else plain
    Writer(sink, source.size, errors)(Region(0, source.size, "file", whole))
    return errors


@cache
def _lists() -> dict[str, JsonObject]:
    """The declarations of the objects in lists, by the names of the lists."""
    return {"snapshots": iceberg.SNAPSHOT, "fields": iceberg.PARTITION_FIELD}


def documented(path: tuple[str, ...]) -> str:
    """The documentation of the innermost documented member.

    >>> documented(("snapshots", "[0]", "snapshot-id")), documented(("partition-specs", "[0]", "fields", "[0]", "name"))
    ('Its number.', 'Its name.')
    >>> documented(("schemas", "[0]", "fields", "[0]", "name"))
    'Every schema that the table has had.'
    """
    for place in range(len(path) - 1, 1, -1):
        declared = _lists().get(path[place - 2])
        is_element = path[place - 1].startswith("[")
        if declared is iceberg.PARTITION_FIELD and path[0] != "partition-specs":
            continue
        if declared is not None and is_element and (member := declared.member(path[place])):
            return member.doc
    found = iceberg.TABLE_METADATA.member(path[0]) if path else None
    return "" if found is None else found.doc
