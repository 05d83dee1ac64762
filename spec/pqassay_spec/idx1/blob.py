"""IDX1: the set of distinct values of one column, embedded in the body of a Parquet file.

The blob is in the body, at any place where it does not overlap anything; the footer's key ``distinct_index_offset``
gives its offset as a decimal number.  Readers that do not know the key see an ordinary file.

This module contains the grammar, the published algorithms (with their losses, in plain Python), a lossless reading,
and the layouts of drafts before publication. It also has the companion key for facts that the format itself
lacks: the column that the index describes, and whether the index is complete.

Source: "Embedding User-Defined Indexes in Apache Parquet Files", Apache DataFusion blog, 2025-07-14, and the
program ``parquet_embedded_index.rs`` that it describes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from construct import Bytes, Const, GreedyBytes, Int64ul, Struct, this

from pqassay_spec.base.errors import Malformed, boundary
from pqassay_spec.base.sources import Source
from pqassay_spec.grammar.trace import Leaf, trace

KEY = "distinct_index_offset"
"""Footer key that holds the offset of the blob."""

LENGTH_KEY = "distinct_index_length"
"""Footer key that drafts wrote beside `KEY`."""

COMPANION_KEY = "pqassay.distinct_index"
"""Footer key of the companion record, an extension of this specification."""

MAGIC = b"IDX1"
"""The first bytes of a blob."""

SEPARATOR = "\n"
"""The separator between two values; it does not follow the last value."""

# --8<-- [start:grammar]
BLOB = Struct(
    "magic" / Const(MAGIC) * "Says that this is a distinct-value index.",
    "length" / Int64ul * "Bytes of the payload, without magic and length.",
    "payload"
    / Bytes(this.length)
    * "The values, UTF-8, a line feed between two values, none after the last.",
)
"""The published layout."""

HEADER = Struct(*BLOB.subcons[:2])
"""Magic and length, which are read and checked before the payload."""

DRAFT_G0_BLOB = Struct(
    "payload" / GreedyBytes * "The values, as in the published layout.",
)
"""The first draft's layout: only the payload, with its length in the key `LENGTH_KEY`."""
# --8<-- [end:grammar]

HEADER_SIZE = HEADER.sizeof()
MAGIC_SIZE = len(MAGIC)
U64_MAX = (1 << 64) - 1

# ------------------------------------------------------------------------------------------- the offset key

# --8<-- [start:offset]
CANONICAL_OFFSET = re.compile(r"0|[1-9][0-9]*", re.ASCII)
"""The canonical spelling, which all writers of the published format use: decimal digits without sign or leading zeros."""

PUBLISHED_OFFSET = re.compile(r"\+?[0-9]+", re.ASCII)
"""The spellings that the published reader accepts: digits with an optional plus sign and leading zeros."""


def parse_offset(text: str) -> int:
    """Parse the offset key as the published reader does, an unsigned decimal number of 64 bits.

    >>> parse_offset("52"), parse_offset("+52"), parse_offset("00052")
    (52, 52, 52)
    >>> parse_offset(" 52")
    Traceback (most recent call last):
    pqassay_spec.base.errors.Malformed: ' 52' is not a decimal number [IDX1-003]

    Raises:
        Malformed: Rule IDX1-003.
    """
    if not PUBLISHED_OFFSET.fullmatch(text):
        raise Malformed(f"{text[:60]!r} is not a decimal number", rule="IDX1-003")
    digits = text.lstrip("+").lstrip("0") or "0"
    if len(digits) > len(str(U64_MAX)) or int(digits) > U64_MAX:
        raise Malformed(f"{text[:60]!r} exceeds 64 bits", rule="IDX1-003")
    return int(digits)


def is_canonical_offset(text: str) -> bool:
    """Whether the text is the canonical spelling, which writers produce.

    >>> is_canonical_offset("52"), is_canonical_offset("+52"), is_canonical_offset("052")
    (True, False, False)
    """
    return CANONICAL_OFFSET.fullmatch(text) is not None


# --8<-- [end:offset]


# -------------------------------------------------------------------------------- the published algorithms


# --8<-- [start:published]
def published_values(payload: bytes) -> list[str]:
    r"""Split a payload as the published reader does, with its losses.

    The text is split into lines at every line feed.  An empty last line does not count.  A carriage return
    directly before a line feed is dropped as well.  No other character ends a line.

    >>> published_values(b"foo\nbar")
    ['foo', 'bar']
    >>> published_values(b"a\n")  # the set {"a", ""} in this order: the empty value is lost
    ['a']
    >>> published_values(b"a\r\nb\r")  # the first carriage return is lost, the last stays
    ['a', 'b\r']

    Raises:
        Malformed: Rule IDX1-010, the payload is not UTF-8.
    """
    *ended, last = decode_payload(payload).split(SEPARATOR)
    lines = [line.removesuffix("\r") for line in ended]
    return [*lines, last] if last else lines


def read_published(source: Source, offset_text: str) -> set[str]:
    """Find and read an index as the published reader does.

    Raises:
        Malformed: Where the published reader reports an error, and also where a damaged length would make
            it allocate as much memory (rule IDX1-008).
    """
    offset = parse_offset(offset_text)
    with boundary(rule="IDX1-006", field="idx1", offset=offset):
        header = HEADER.parse(source.read(offset, HEADER_SIZE))
    with boundary(rule="IDX1-008", field="idx1.length", offset=offset + MAGIC_SIZE):
        payload = source.read(offset + HEADER_SIZE, header.length)
    try:
        return set(published_values(payload))
    except Malformed as error:
        error.offset = offset + HEADER_SIZE + (error.offset or 0)  # from the payload's start to the file's
        raise


def published_payload(values: Iterable[str]) -> bytes:
    """Join values as the published writer does, in the given order; the published writer uses the order of a hash set."""
    return SEPARATOR.join(values).encode()


# --8<-- [end:published]


def decode_payload(payload: bytes) -> str:
    """Decode the payload's UTF-8.

    Raises:
        Malformed: Rule IDX1-010, with the position of the first bad byte inside the payload.
    """
    try:
        return payload.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Malformed(
            f"byte {error.start} of the payload is not UTF-8",
            rule="IDX1-010",
            field="idx1.payload",
            offset=error.start,
            length=error.end - error.start,
            expected="UTF-8",
            actual=payload[error.start : error.end].hex(" "),
        ) from None


# ------------------------------------------------------------------------------ reading without losing


# --8<-- [start:exact]
def exact_values(payload: bytes) -> list[str]:
    r"""Split a payload only at line feeds: the values as they were written.

    An empty payload is one empty value; only the column shows whether the set was empty.

    >>> exact_values(b"a\n"), exact_values(b"a\r\nb"), exact_values(b"")
    (['a', ''], ['a\r', 'b'], [''])
    """
    return decode_payload(payload).split(SEPARATOR)


# --8<-- [end:exact]


LOSSY_ENDING = b"\r\n"
"""The bytes that lose a carriage return wherever they occur in a payload."""


class Loss(Enum):
    """The patterns in a payload at which the published reader loses a value or a part of it."""

    EMPTY_LAST = "the last value is empty"
    CARRIAGE_RETURN = "a value that is not the last ends in a carriage return"


def losses(payload: bytes) -> Iterator[tuple[Loss, int, str]]:
    """Yield every place where the published reading loses a value.

    Returns:
        The pattern, the position in the payload, and the value that is lost.
    """
    decode_payload(payload)
    yield from carriage_return_losses(payload)
    yield from empty_last_losses(payload)


def carriage_return_losses(payload: bytes) -> Iterator[tuple[Loss, int, str]]:
    """The losses of a payload in UTF-8 by `Loss.CARRIAGE_RETURN`: one for each `LOSSY_ENDING`."""
    position = payload.find(LOSSY_ENDING)
    while position >= 0:
        start = payload.rfind(b"\n", 0, position) + 1
        yield Loss.CARRIAGE_RETURN, position, payload[start : position + 1].decode()
        position = payload.find(LOSSY_ENDING, position + 1)


def empty_last_losses(payload: bytes) -> Iterator[tuple[Loss, int, str]]:
    """The loss of a payload by `Loss.EMPTY_LAST`, if it has one."""
    if payload.endswith(b"\n"):
        yield Loss.EMPTY_LAST, len(payload) - 1, ""


# ------------------------------------------------------------------------------------- writing without losing


# --8<-- [start:lossless]
def lossless_order(values: Iterable[str]) -> list[str]:
    r"""Order distinct values deterministically so that the published reader gets all of them back.

    They are in code point order, but a value that ends in a carriage return, of which there is at most one, comes last.

    >>> lossless_order(["b", "", "a\r", "a"])
    ['', 'a', 'b', 'a\r']
    >>> lossless_order(["a\nb"])
    Traceback (most recent call last):
    ValueError: IDX1 cannot hold 'a\nb': a line feed separates values

    Raises:
        ValueError: The format cannot hold a value, which the message names.
    """
    ordered = sorted(set(values))
    for value in ordered:
        if SEPARATOR in value:
            raise ValueError(f"IDX1 cannot hold {value!r}: a line feed separates values")
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ValueError(f"IDX1 cannot hold {value!r}: it is not UTF-8") from None
    if ordered == [""]:
        raise ValueError("IDX1 cannot hold '' alone: an empty payload is the empty set")
    trailing = [value for value in ordered if value.endswith("\r")]
    if len(trailing) > 1:
        raise ValueError(
            f"IDX1 cannot hold both {trailing[0]!r} and {trailing[1]!r}: "
            "only the last value may end in a carriage return"
        )
    return [value for value in ordered if not value.endswith("\r")] + trailing


def build_blob(values: Iterable[str]) -> bytes:
    """Build the blob for a set of values, in `lossless_order`.

    >>> build_blob({"foo", "bar"}).hex(" ")
    '49 44 58 31 07 00 00 00 00 00 00 00 62 61 72 0a 66 6f 6f'
    """
    payload = published_payload(lossless_order(values))
    return bytes(BLOB.build({"length": len(payload), "payload": payload}))


# --8<-- [end:lossless]


# ---------------------------------------------------------------------------------------- finding the blob


class Layout(Enum):
    """The layout of a blob."""

    PUBLISHED = "published"
    DRAFT_G0 = "draft G0"
    DRAFT_G1 = "draft G1"


@dataclass(frozen=True)
class Blob:
    """A blob in a file. ``start`` and ``end`` are file offsets, ``payload`` its bytes without header."""

    layout: Layout
    start: int
    payload_start: int
    end: int
    payload: bytes


def read_header(source: Source, offset: int) -> int:
    """Read magic and length at ``offset``; return the length without checking it.

    Raises:
        Malformed: Rule IDX1-005 (no room for a header), IDX1-006 (another magic).
    """
    with boundary(rule="IDX1-005", field="idx1", offset=offset):
        raw = source.read(offset, HEADER_SIZE)
    if raw[:MAGIC_SIZE] != MAGIC:
        raise Malformed(
            f"the bytes at the offset are {raw[:MAGIC_SIZE]!r}, not {MAGIC!r}",
            rule="IDX1-006",
            field="idx1.magic",
            offset=offset,
            length=MAGIC_SIZE,
            expected=repr(MAGIC),
            actual=repr(raw[:MAGIC_SIZE]),
        )
    with boundary(rule="IDX1-006", field="idx1", offset=offset):
        return int(HEADER.parse(raw).length)


def length_field(source: Source, offset: int) -> int | None:
    """The length field of a blob at ``offset``; ``None`` if the file ends before the end of the field."""
    place = offset + MAGIC_SIZE
    if place + HEADER_SIZE - MAGIC_SIZE > source.size:
        return None
    return int(Int64ul.parse(source.read(place, HEADER_SIZE - MAGIC_SIZE)))


def read_blob(source: Source, offset: int, body_end: int) -> Blob:
    """Read a blob of the published layout; a payload beyond ``body_end``, where the footer begins, is refused.

    Raises:
        Malformed: Rules IDX1-005, IDX1-006, IDX1-008.
    """
    length = read_header(source, offset)
    start = offset + HEADER_SIZE
    if length > body_end - start:
        raise Malformed(
            f"a payload of {length} bytes, where there are {max(body_end - start, 0)} bytes before the footer",
            rule="IDX1-008",
            field="idx1.length",
            offset=offset + MAGIC_SIZE,
            length=HEADER_SIZE - MAGIC_SIZE,
            expected=f"at most {max(body_end - start, 0)}",
            actual=str(length),
        )
    return Blob(Layout.PUBLISHED, offset, start, start + length, source.read(start, length))


def read_draft_g0(source: Source, offset: int, length: int, body_end: int) -> Blob:
    """Read a payload without header, the layout of the first draft.

    Raises:
        Malformed: Rule IDX1-008.
    """
    if length > body_end - offset:
        raise Malformed(
            f"a payload of {length} bytes, where there are {max(body_end - offset, 0)} bytes before the footer",
            rule="IDX1-008",
            field="idx1.payload",
            offset=offset,
        )
    return Blob(Layout.DRAFT_G0, offset, offset, offset + length, source.read(offset, length))


def trace_blob(source: Source, blob: Blob) -> list[Leaf]:
    """Trace a blob that was read."""
    data = source.read(blob.start, blob.end - blob.start)
    structure = DRAFT_G0_BLOB if blob.layout is Layout.DRAFT_G0 else BLOB
    return trace(structure, data, root="idx1", base=blob.start, rule="IDX1-006")[1]
