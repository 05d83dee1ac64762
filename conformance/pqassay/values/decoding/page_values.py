"""The number of bytes that the values of one page take, by their encoding, and whether they are complete.

If all values have the same size, or runs and blocks give their lengths, nothing is decoded. The lengths of byte arrays are decoded, unless
pyarrow already decoded the values of the chunk.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from pqassay.under_test.file import NotChecked
from pqassay.values.decoding.faults import FaultKind, Faulty, PageFault, wrong_encoding
from pqassay.values.decoding.levels import LENGTH_SIZE, Runs, read_runs, run_faults, split_off
from pqassay.values.decoding.one_page import decoded_alone
from pqassay_spec.base.errors import Malformed
from pqassay_spec.parquet.column_order import WIDTHS
from pqassay_spec.parquet.encoding import delta as delta_encoding
from pqassay_spec.parquet.encoding.delta import BITS
from pqassay_spec.parquet.encoding.levels import WIDEST
from pqassay_spec.parquet.encoding.names import encodes
from pqassay_spec.parquet.thrift import DICTIONARY_ENCODINGS, Encoding, SchemaElement, Type

if TYPE_CHECKING:
    from pqassay.under_test.chunks import ColumnChunkUnderTest

LENGTHS = SchemaElement(type=Type.INT32, name="length")
"""The schema element for the lengths of byte arrays and of their prefixes, which are encoded like a column of integers."""


@dataclass(frozen=True)
class PageValues:
    """The values of a page, as stored.

    Attributes:
        raw: The bytes after its levels; for PLAIN values of a decoded chunk, perhaps only the first bytes.
        length: The number of all these bytes.
        count: The number of values according to its levels.
        encoding: Their encoding.
        element: Their leaf in the schema.
        entries: The number of dictionary entries of the chunk; ``None`` without a dictionary.
        is_decoded: Whether pyarrow decoded the values of the chunk, so that no value is cut off.
    """

    raw: memoryview
    length: int
    count: int
    encoding: int
    element: SchemaElement
    entries: int | None
    is_decoded: bool


def taken(page: PageValues) -> int | None:
    """The number of bytes that the values take; ``None`` if that is not determined.

    Raises:
        Malformed: Values are missing; as `Faulty`, they violate the encoding.
        NotChecked: pqassay does not read the encoding.
    """
    encoding, kind = page.encoding, page.element.type
    if not encodes(encoding, kind):
        raise wrong_encoding(encoding, FaultKind.UNSUITABLE_ENCODING)
    if encoding == Encoding.ALP:
        raise NotChecked("its values are encoded by ALP, which pqassay does not read", "tool")
    if encoding in DICTIONARY_ENCODINGS:
        return _indexes(page)
    if encoding == Encoding.RLE:
        return _booleans(page)
    if encoding == Encoding.DELTA_BINARY_PACKED:
        return _differences(page.raw, page.count, BITS[kind or 0])
    if encoding in (Encoding.DELTA_LENGTH_BYTE_ARRAY, Encoding.DELTA_BYTE_ARRAY):
        if page.is_decoded and page.count:
            _header(page.raw, page.count)
            return None
        return _lengths_first(page) if encoding == Encoding.DELTA_LENGTH_BYTE_ARRAY else _prefixed(page)
    if kind == Type.BYTE_ARRAY:
        if not page.count:
            return 0
        return None if page.is_decoded else byte_arrays(page.raw, page.count)
    return _of_one_width(page)


# ------------------------------------------------------------------------------------------------------- PLAIN


def width_of_all(element: SchemaElement, count: int) -> int | None:
    """The size in bytes of ``count`` PLAIN values of a fixed width; ``None`` for other types."""
    kind = element.type
    if kind == Type.BOOLEAN:
        return (count + 7) // 8
    width = element.type_length if kind == Type.FIXED_LEN_BYTE_ARRAY else WIDTHS.get(kind or 0)
    return None if not width or width < 0 else width * count


def are_wider(chunk: ColumnChunkUnderTest, count: int, length: int) -> bool:
    """Whether ``length`` bytes for values of fixed length are those of longer values, which have the length of a bound."""
    element, statistics = chunk.leaf.element, chunk.facts.statistics
    if element.type != Type.FIXED_LEN_BYTE_ARRAY or statistics is None or not count or length % count:
        return False
    return length // count in {len(bound) for bound in (statistics.min_value, statistics.max_value) if bound}


def _of_one_width(page: PageValues) -> int | None:
    length = width_of_all(page.element, page.count)
    if length is None or page.length == length:
        return length
    if page.length < length:
        raise _too_few(page.length, page.count, length)
    if page.encoding == Encoding.BYTE_STREAM_SPLIT and (
        page.count or page.length % (width_of_all(page.element, 1) or 1)
    ):
        raise Faulty(PageFault(FaultKind.LONG_STREAMS, length, page.length, page.count))
    return length


def byte_arrays(raw: memoryview, count: int) -> int:
    """The size in bytes of PLAIN byte arrays. Raises `Malformed` if they exceed the existing bytes, and the errors of `decoded_alone`."""
    least = LENGTH_SIZE * count
    if least > len(raw):
        raise _too_few(len(raw), count, least)
    try:
        values = decoded_alone(raw, count, SchemaElement(type=Type.BYTE_ARRAY, name=""), Encoding.PLAIN)
    except NotChecked as reason:
        if reason.judgeable:
            raise
        expected, actual = f"{count} byte arrays", f"{len(raw)} bytes"
        message = f"{expected} take more than the {actual} available"
        raise Malformed(message, expected=expected, actual=actual) from None
    return least + int(pc.sum(pc.binary_length(values)).as_py() or 0)


def _too_few(there: int, count: int, needed: int) -> Malformed:
    message = f"the page has {there} bytes for {count} values, but they take {needed}"
    return Malformed(message, expected=f"{needed} bytes of values", actual=f"{there} bytes")


# -------------------------------------------------------------------------------------------------------- runs


def _indexes(page: PageValues) -> int | None:
    """The size of dictionary indexes: a bit width, then runs. Without indexes, bytes after the bit width are not examined."""
    raw = page.raw
    if not page.count and not len(raw):
        raise Faulty(PageFault(FaultKind.NO_BIT_WIDTH))
    if not len(raw) or raw[0] > WIDEST:
        message, expected = (
            "the bit width of the indexes is not valid",
            f"a first byte of at most {WIDEST}",
        )
        raise Malformed(message, expected=expected, actual=str(raw[0]) if len(raw) else "0 bytes")
    if not page.count:
        return None
    runs = read_runs(raw[1:], width=raw[0], count=page.count)
    if (greatest := runs.greatest()) >= (page.entries or 0):
        raise Faulty(PageFault(FaultKind.INDEX_BEYOND, page.entries or 0, greatest))
    _require_sound(runs, raw[0], "indexes")
    return runs.taken + 1


def _booleans(page: PageValues) -> int:
    """The size of booleans in runs, after the length of all of them."""
    section, _ = split_off(page.raw, "runs of values")
    runs = read_runs(section, width=1, count=page.count)
    _require_sound(runs, 1, "booleans")
    return LENGTH_SIZE + runs.taken


def _require_sound(runs: Runs, width: int, what: str) -> None:
    """Raise `Faulty` for a repeated value that exceeds its bit width, and for faults of `run_faults`."""
    if (greatest := int(runs.repeated.max(initial=0))) >> width:
        raise Faulty(PageFault(FaultKind.WIDE_RUN, width, greatest, words=(what,)))
    for fault in run_faults(runs, what):
        raise Faulty(fault)


# ------------------------------------------------------------------------------------------------- differences


def _header(raw: memoryview, count: int) -> delta_encoding.DeltaHeader:
    """The header of delta-encoded numbers. Raises `Malformed` if it ends early, and `Faulty`."""
    try:
        header = delta_encoding.read_header(raw)
    except Malformed as error:
        if error.rule is None:
            raise
        raise Faulty(
            PageFault(FaultKind.BAD_BLOCKS, words=(error.reason, error.expected, error.actual))
        ) from None
    if header.total != count:
        raise Faulty(PageFault(FaultKind.WRONG_TOTAL, count, header.total))
    return header


def _differences(raw: memoryview, count: int, most: int) -> int:
    """The size in bytes of delta-encoded numbers, which have at most ``most`` bits."""
    header = _header(raw, count)
    if header.bits > most:
        raise Faulty(PageFault(FaultKind.WIDE_DIFFERENCES, most, header.bits, words=("a first value",)))
    widest, problem, last = 0, None, None
    try:
        for block in delta_encoding.blocks(raw):
            widest, last = max(widest, block.bits), block
    except Malformed as error:
        problem = error
    is_beyond_all = problem is not None and problem.rule is not None
    if widest > most or is_beyond_all:
        bits = 0 if is_beyond_all else widest
        raise Faulty(PageFault(FaultKind.WIDE_DIFFERENCES, most, bits, words=("differences",)))
    if problem is not None:
        raise Malformed(problem.reason)
    if last is None:
        return header.end
    start, width, values = list(last.miniblocks())[-1]
    end = start + last.size * width // 8
    if (there := len(raw)) < end:
        if there >= start + (values * width + 7) // 8:
            raise Faulty(PageFault(FaultKind.SHORT_MINIBLOCK, end, there))
        message = f"the last miniblock is short of {end - there} bytes"
        raise Malformed(message, expected=f"{end} bytes of differences", actual=f"{there} bytes")
    return end


def _lengths(raw: memoryview, count: int, what: str) -> tuple[NDArray[np.int64], int]:
    """Delta-encoded lengths, and the number of bytes that they take."""
    end = _differences(raw, count, BITS[Type.INT32])
    if not count:
        return np.zeros(0, np.int64), end
    try:
        decoded = decoded_alone(raw[:end], count, LENGTHS, Encoding.DELTA_BINARY_PACKED)
    except NotChecked as reason:
        if reason.judgeable:
            raise
        raise Malformed(f"the lengths of {what} cannot be decoded") from None
    lengths = np.asarray(decoded.to_numpy(), np.int64)
    if (least := int(lengths.min())) < 0:
        message = f"the lengths of {what} go down to {least}"
        raise Malformed(message, expected="at least 0", actual=str(least))
    return lengths, end


def _lengths_first(page: PageValues) -> int:
    """The size of byte arrays that follow their delta-encoded lengths."""
    lengths, start = _lengths(page.raw, page.count, "byte arrays")
    return _end(page, start, lengths)


def _prefixed(page: PageValues) -> int:
    """The size of byte arrays that share a prefix with the previous one: the lengths of prefixes, then the suffixes."""
    prefixes, start = _lengths(page.raw, page.count, "prefixes")
    suffixes, behind = _lengths(page.raw[start:], page.count, "suffixes")
    lengths = prefixes + suffixes
    wrong = np.flatnonzero(prefixes > np.concatenate(([0], lengths[:-1])))
    if len(wrong):
        place = int(wrong[0])
        before, actual = int(lengths[place - 1]) if place else 0, f"{prefixes[place]} bytes"
        message = (
            f"value {place} of the page begins with {actual} of the previous value, which has only {before}"
        )
        raise Malformed(message, expected=f"a prefix of at most {before} bytes", actual=actual)
    width = page.element.type_length
    if page.element.type == Type.FIXED_LEN_BYTE_ARRAY and width and (lengths != width).any():
        other = int(lengths[lengths != width][0])
        message = f"a value of {other} bytes in a column of {width}"
        raise Malformed(message, expected=f"{width} bytes", actual=f"{other} bytes")
    return _end(page, start + behind, suffixes)


def _end(page: PageValues, start: int, lengths: NDArray[np.int64]) -> int:
    end = start + int(lengths.sum())
    if end > page.length:
        raise _too_few(page.length, page.count, end)
    return end
