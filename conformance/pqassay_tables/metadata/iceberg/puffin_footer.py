"""The footer of a Puffin file: the listed blobs, and their places."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from pqassay_spec.base.errors import Malformed, Unsupported
from pqassay_spec.base.sources import Source
from pqassay_spec.table.puffin import BLOB, COMPRESSED, MAGIC, TAIL
from pqassay_tables.metadata.delta.actions import object_of, parse

RULE = "ICE-070"

MOST_FOOTER = 1 << 26
"""The largest size in bytes of a footer that is read: enough for half a million deletion vectors."""

FIRST_READ = 1 << 14
"""The number of bytes at the end of a file that are read first, usually with the whole footer."""


class Blob(NamedTuple):
    """A blob of the footer.

    Attributes:
        number: Its number in the list.
        type: Its type.
        length: Its size in bytes.
        codec: Its codec; ``None`` if uncompressed.
        properties: Its other properties in the footer.
    """

    number: int
    type: str
    length: int
    codec: Any
    properties: Mapping[str, Any]


class PuffinFooter(NamedTuple):
    """The footer of a Puffin file.

    Attributes:
        start: The offset of its JSON.
        text: The JSON.
        blobs: The blobs by offset; the first one, if two have the same offset.
    """

    start: int
    text: bytes
    blobs: Mapping[int, Blob]


def read_footer(name: str, source: Source) -> PuffinFooter:
    """The footer of a file.

    Args:
        name: The file, relative to the table.
        source: Its bytes.

    Raises:
        Malformed: ICE-070.
        Unsupported: Its JSON is compressed, or longer than `MOST_FOOTER`.
        OSError: The file cannot be read.
    """
    size, around = source.size, len(MAGIC) + TAIL.sizeof()
    if size < len(MAGIC) + around:
        raise _broken(name, f"it has {size} bytes", "a magic number and a footer", f"{size} bytes", 0, size)
    last = source.read(max(0, size - FIRST_READ), min(size, FIRST_READ))
    for raw, at in ((source.read(0, len(MAGIC)), 0), (last[-len(MAGIC) :], size - len(MAGIC))):
        if raw != MAGIC:
            message = f"it {'ends' if at else 'begins'} with {raw!r}"
            raise _broken(name, message, MAGIC.decode(), repr(raw), at, len(MAGIC))
    tail = TAIL.parse(last[-TAIL.sizeof() :])
    length, start = tail.size, size - TAIL.sizeof() - tail.size
    if length < 0 or start < 2 * len(MAGIC):
        message = f"its footer claims {length} bytes, but the file has {size}"
        raise _broken(name, message, "a footer in the file", str(length), size - TAIL.sizeof(), 4)
    if tail.flags & COMPRESSED:
        raise Unsupported(f"the footer of {name} is compressed", field=name)
    if length > MOST_FOOTER:
        raise Unsupported(f"the footer of {name} has {length:,} bytes", field=name)
    ahead = start - len(MAGIC)
    whole = last if ahead >= size - len(last) else source.read(ahead, size - ahead)
    data = whole[len(whole) - (size - ahead) :]
    if not data.startswith(MAGIC):
        raw = data[: len(MAGIC)]
        raise _broken(name, f"{raw!r} comes before its JSON", MAGIC.decode(), repr(raw), ahead, len(MAGIC))
    text = data[len(MAGIC) : len(MAGIC) + length]
    return PuffinFooter(start, text, _blobs(name, text, start))


def _blobs(name: str, text: bytes, start: int) -> dict[int, Blob]:
    def wrong(said: str, expected: str, actual: str) -> Malformed:
        return _broken(name, said, expected, actual, start, len(text))

    try:
        found: Any = parse(text.decode())
    except ValueError as error:
        raise wrong(f"its footer is not JSON: {error}", "a JSON object", str(error)) from None
    given: Any = object_of(found).get("blobs")
    if not isinstance(given, list):
        raise wrong("its footer has no list of blobs", "a list of blobs", repr(given)[:80])
    blobs: dict[int, Blob] = {}
    for number, one in enumerate(given):
        missing = _missing(one)
        if missing:
            raise wrong(
                f"blob {number} has no {missing}", f"{missing} of every blob", "missing, or of another type"
            )
        properties = one.get("properties")
        blob = Blob(number, one["type"], one["length"], one.get("compression-codec"), object_of(properties))
        blobs.setdefault(one["offset"], blob)
    return blobs


TYPES = {"string": str, "integer": int, "list of integers": list}


def _missing(blob: Any) -> str:
    """The first required member that a blob lacks, or has with another type; empty if there is none."""
    if not isinstance(blob, dict):
        return "members"
    for member in BLOB.members:
        kind = TYPES.get(member.type)
        if member.presence == "required" and kind is not None and type(cast("Any", blob).get(member.name)) is not kind:  # fmt: skip
            return member.name
    return ""


def _broken(name: str, said: str, expected: str, actual: str, offset: int, length: int) -> Malformed:
    return Malformed(
        f"{name} is not a Puffin file: {said}",
        rule=RULE,
        field=f"{name}.puffin",
        offset=offset,
        length=length,
        expected=expected,
        actual=actual[:80],
        file=name,
    )
