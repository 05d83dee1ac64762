"""Diagnoses of damaged framings: why the magic, footer length or footer of a file is not at its place, and how to fix it.

Extra bytes may precede or follow the file, some may be missing, or a program treated the file as text.  A diagnosis that
involves the footer is proven: the footer decodes once the damage is undone.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import Source
from pqassay_spec.grammar.thrift_decoder import decode
from pqassay_spec.parquet.other_files import AGAIN, HEAD_LENGTH, Diagnosis, recognised
from pqassay_spec.parquet.thrift import FileMetaData

LOOKED_AT = 4 << 20
"""Bytes at the end of a file that are searched, so longer footers are not restored; at its beginning, a sixteenth of them."""

MOST_BYTES = 8
"""Most bytes that can be displaced within a tail, or missing there."""

AS_BINARY = "download or copy the original again, as binary"

FIND_OUT = "find out what wrote it, and in which format"

_FIRST_BYTE = b"\x15"
"""The first byte after the magic: it begins a page header, or the footer of a file without pages."""

_SHOWN = 8
"""Bytes of a run that are shown; as many equal bytes count as a range that was never written."""


def beginning(source: Source, magic: bytes) -> Diagnosis | None:
    """Why a file does not begin with the magic; ``None`` if it ends with the magic and nothing more is known."""
    head = source.read(0, min(LOOKED_AT >> 4, source.size))
    ends_well = source.read(max(0, source.size - len(magic)), min(len(magic), source.size)) == magic
    kind = recognised(head[:HEAD_LENGTH])
    place = head.find(magic + _FIRST_BYTE)
    if place > 0 and (ends_well or kind is None):
        reason = f"{_bytes(head[:place])} in front of the magic {magic.decode()}"
        return Diagnosis(reason, f"cut that off (tail -c +{place + 1} FILE > COPY), and check the copy")
    if kind is not None:
        return Diagnosis(f"the file is {kind.reason}", kind.remedy)
    for lost in range(1, len(magic) if ends_well else 0):
        if head.startswith(magic[lost:]):
            reason = f"the file begins with {magic[lost:].decode()}: its first {_lost(lost)} missing"
            return Diagnosis(reason, AGAIN)
    same = len(head) - len(head.lstrip(head[:1]))
    if same == source.size > len(magic):
        return Diagnosis(f"the file holds nothing but {_fill(head)}: it was never written", AGAIN)
    if same >= _SHOWN:
        reason = f"the file begins with {_at_least(same, head)} {_fill(head)}, which were overwritten or never written"
        return Diagnosis(reason, AGAIN)
    if ends_well:
        return None
    ends = f"it begins with {head[:_SHOWN].hex(' ')}, and not with {magic.decode()}"
    return Diagnosis(
        f"the file is not a Parquet file, and not of a format that is recognized: {ends}", FIND_OUT
    )


def end(source: Source, magic: bytes) -> Diagnosis | None:
    """Why a file begins with the magic and does not end with it; ``None`` if another magic follows a whole footer."""
    tail = _tail(source)
    place = len(tail)
    while (place := tail.rfind(magic, 0, place)) >= 0:
        whole = place + len(magic)
        if _has_footer(tail[:place]):
            left = source.size - len(tail) + whole
            reason = f"{_bytes(tail[whole:])} behind the end of the Parquet file"
            return Diagnosis(reason, f"cut that off (head -c {left} FILE > COPY), and check the copy")
    for lost in range(1, len(magic) + 1):
        kept, missing = tail.removesuffix(magic[:-lost]), magic[-lost:].decode()
        if len(kept) == len(tail) - len(magic) + lost and _has_footer(kept):
            reason = f"the file was cut: its last {_lost(lost)} missing, {missing!r}"
            return Diagnosis(reason, f"append {missing!r}; or {AGAIN}")
    if _has_footer(tail[: -len(magic)]):
        return None
    same = len(tail) - len(tail.rstrip(tail[-1:]))
    if same >= _SHOWN:
        reason = f"the file ends with {_at_least(same, tail)} {_fill(tail[-1:])}: its end, and with it the footer, was not written"
        return Diagnosis(reason, AGAIN)
    return Diagnosis("the file was cut: its end is missing, and with it the footer", AGAIN)


def undone(source: Source) -> Diagnosis | None:
    """Why a file ends with the magic, but not with a footer; ``None`` if the cause is unknown."""
    tail = _tail(source)
    trials = chain(_displacements(tail), _translations(tail))
    proven = next((diagnosis for diagnosis, footer in trials if _is_footer(footer)), None)
    if proven is None and tail.count("\ufffd".encode()) >= _SHOWN:
        reason = "many bytes became EF BF BD: a program read the file as text, and put these in place of everything else"
        return Diagnosis(reason, f"the bytes are lost; {AS_BINARY}")
    return proven


Trial = tuple[Diagnosis, bytes]
"""A possible diagnosis, and the footer if it is right."""


def _displacements(tail: bytes) -> Iterator[Trial]:
    length, body, magic = tail[-8:-4], tail[:-8], tail[-4:].decode("latin-1")
    for extra in range(1, MOST_BYTES + 1):
        reason = f"{_bytes(tail[-4 - extra : -4])} between the footer length and the magic {magic}"
        yield Diagnosis(reason, f"remove that, or {AGAIN}"), _last(tail[: -4 - extra])
    for lost in range(1, 4):
        reason = f"a part of the footer length is missing: {lost} of its 4 bytes"
        yield Diagnosis(reason, AGAIN), _last(tail[:-4] + bytes(lost))
    swapped = Diagnosis("the footer length has its highest byte first", "write its lowest byte first")
    yield swapped, _last(body + length[::-1])
    for extra in range(1, MOST_BYTES + 1):
        behind = Diagnosis(
            f"{_bytes(body[-extra:])} between the footer and its length", f"remove that, or {AGAIN}"
        )
        yield behind, _last(body[:-extra] + length)


def _translations(tail: bytes) -> Iterator[Trial]:
    """Trials for bytes that a program treated as text."""
    reason = "each byte 0A became 0D 0A: a program took the file for text and translated its line ends"
    yield Diagnosis(reason, AS_BINARY), _last(tail.replace(b"\r\n", b"\n")[:-4])
    try:
        text = tail.lstrip(bytes(range(0x80, 0xC0))).decode().encode("latin-1")
    except UnicodeError:
        return
    reason = "each byte from 80 on became two: a program took the file for text in Latin-1 and wrote UTF-8"
    yield (
        Diagnosis(reason, f"convert it back (iconv -f UTF-8 -t LATIN1), or {AS_BINARY}"),
        _last(text[:-4]),
    )


def _tail(source: Source) -> bytes:
    length = min(LOOKED_AT, source.size)
    return source.read(source.size - length, length)


def _last(data: bytes) -> bytes:
    """The footer before the length at the end of some bytes; empty if the length does not fit."""
    length = int.from_bytes(data[-4:], "little")
    return data[-4 - length : -4] if 0 < length <= len(data) - 4 else b""


def _has_footer(data: bytes) -> bool:
    return _is_footer(_last(data))


def _is_footer(data: bytes) -> bool:
    try:
        return bool(data) and decode(FileMetaData, data)[1] > 0
    except FormatError:
        return False


def _lost(number: int) -> str:
    return "byte is" if number == 1 else f"{number} bytes are"


def _at_least(same: int, data: bytes) -> str:
    return f"{'at least ' if same == len(data) else ''}{same:,}"


def _fill(data: bytes) -> str:
    """A description of equal bytes, by the first one."""
    return "zeros" if data[:1] == b"\0" else f"bytes {data[:1].hex()}"


def _bytes(data: bytes) -> str:
    """How many bytes there are, and the first of them, as text."""
    shown = f"{data[:_SHOWN].hex(' ')}{' …' if len(data) > _SHOWN else ''}"
    return f"1 byte ({shown}) is" if len(data) == 1 else f"{len(data):,} bytes ({shown}) are"
