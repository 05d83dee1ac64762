"""The bytes that the values of one page take, by their encoding, and whether they are all there.

Where each value takes as many bytes as the next, or where runs and blocks say how long they are, nothing is decoded.  The lengths of
byte arrays are decoded, but not those of a chunk whose values pyarrow decoded already.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from pqassay.under_test.file import NotChecked
from pqassay.values.decoding.levels import Runs, read_runs
from pqassay.values.decoding.one_page import decoded_alone
from pqassay_spec.base.errors import Malformed
from pqassay_spec.parquet.column_order import WIDTHS
from pqassay_spec.parquet.encoding import delta as delta_encoding
from pqassay_spec.parquet.encoding.delta import BITS
from pqassay_spec.parquet.encoding.levels import WIDEST
from pqassay_spec.parquet.encoding.names import encodes, for_type
from pqassay_spec.parquet.encoding.plain import LENGTH
from pqassay_spec.parquet.thrift import DICTIONARY_ENCODINGS, Encoding, SchemaElement, Type

INCOMPLETE, TOO_LONG, SHAPE, TOTAL, SHORT_MINIBLOCK, TOO_WIDE, BEYOND, OF_TYPE, SHORT_RUN = (
    "PQF-078",
    "PQF-089",
    "PQF-090",
    "PQF-091",
    "PQF-092",
    "PQF-079",
    "PQF-077",
    "PQF-084",
    "PQF-141",
)

LENGTH_SIZE = LENGTH.sizeof()

LENGTHS = SchemaElement(type=Type.INT32, name="length")
"""The lengths of byte arrays and of their prefixes: numbers like those of a column."""


@dataclass(frozen=True)
class PageValues:
    """The values of a page, as stored.

    Attributes:
        raw: The bytes behind its levels; of a page of PLAIN values whose chunk is decoded, maybe the first of them only.
        length: How many bytes they all are.
        count: Values that its levels announce.
        encoding: Their encoding.
        element: Their leaf in the schema.
        entries: Entries of the dictionary of the chunk, ``None`` without one.
        is_decoded: Whether pyarrow decoded the values of the chunk, none of which is cut off then.
    """

    raw: memoryview
    length: int
    count: int
    encoding: int
    element: SchemaElement
    entries: int | None
    is_decoded: bool


def taken(page: PageValues) -> int | None:
    """The bytes that the values take; ``None`` where that is not found out.

    Raises:
        Malformed: They are not all there, or not what the encoding makes; it names the rule that they break.
        NotChecked: pqassay does not read the encoding.
    """
    encoding, kind = page.encoding, page.element.type
    if not encodes(encoding, kind):
        raise Malformed(f"values of encoding {encoding}", rule=OF_TYPE, expected=for_type(kind))
    if encoding == Encoding.ALP:
        raise NotChecked("its values are encoded by ALP, which pqassay does not read", "tool")
    if not page.count:
        return None if encoding not in (Encoding.PLAIN, Encoding.BYTE_STREAM_SPLIT) else 0
    if encoding in DICTIONARY_ENCODINGS:
        return _indexes(page)
    if encoding == Encoding.RLE:
        return _booleans(page)
    if encoding == Encoding.DELTA_BINARY_PACKED:
        return _differences(page.raw, page.count, BITS.get(kind or 0))
    if encoding in (Encoding.DELTA_LENGTH_BYTE_ARRAY, Encoding.DELTA_BYTE_ARRAY):
        if page.is_decoded:
            _header(page.raw, page.count)
            return None
        return _lengths_first(page) if encoding == Encoding.DELTA_LENGTH_BYTE_ARRAY else _prefixed(page)
    if kind == Type.BYTE_ARRAY:
        return None if page.is_decoded else byte_arrays(page.raw, page.count)
    return _of_one_width(page)


# ------------------------------------------------------------------------------------------------------- PLAIN


def width_of_all(element: SchemaElement, count: int) -> int | None:
    """Bytes of so many PLAIN values, where each takes as many as the next; ``None`` otherwise."""
    kind = element.type
    if kind == Type.BOOLEAN:
        return (count + 7) // 8
    width = element.type_length if kind == Type.FIXED_LEN_BYTE_ARRAY else WIDTHS.get(kind or 0)
    return None if not width or width < 0 else width * count


def _of_one_width(page: PageValues) -> int | None:
    length = width_of_all(page.element, page.count)
    if length is None or page.length == length:
        return length
    if page.length < length:
        raise _too_few(page.length, page.count, length)
    if page.encoding == Encoding.BYTE_STREAM_SPLIT:
        raise Malformed(
            f"the page has {page.length} bytes for {page.count} values split into streams, which take {length}",
            rule=TOO_LONG,
            expected=f"{length} bytes of values",
            actual=f"{page.length} bytes",
        )
    return length


def byte_arrays(raw: memoryview, count: int) -> int:
    """Bytes of PLAIN byte arrays. Raises PQF-078: they are longer than what there is; `NotChecked`: see `decoded_alone`."""
    least = LENGTH_SIZE * count
    if least > len(raw):
        raise _too_few(len(raw), count, least)
    try:
        values = decoded_alone(raw, count, SchemaElement(type=Type.BYTE_ARRAY, name=""), Encoding.PLAIN)
    except NotChecked as reason:
        if reason.judgeable:
            raise
        raise Malformed(
            f"{count} byte arrays are longer than the {len(raw)} bytes that there are for them",
            rule=INCOMPLETE,
            expected=f"{count} byte arrays",
            actual=f"{len(raw)} bytes",
        ) from None
    return least + int(pc.sum(pc.binary_length(values)).as_py() or 0)


def _too_few(there: int, count: int, needed: int) -> Malformed:
    return Malformed(
        f"the page has {there} bytes for {count} values, which take {needed}",
        rule=INCOMPLETE,
        expected=f"{needed} bytes of values",
        actual=f"{there} bytes",
    )


# -------------------------------------------------------------------------------------------------------- runs


def _indexes(page: PageValues) -> int:
    """Indexes into the dictionary: their bit width, then runs."""
    raw = page.raw
    width = raw[0] if len(raw) else WIDEST + 1
    if width > WIDEST:
        raise Malformed(
            "the indexes have no bit width that the encoding knows",
            rule=INCOMPLETE,
            expected=f"a first byte of at most {WIDEST}",
            actual=f"{len(raw)} bytes" if not len(raw) else str(width),
        )
    try:
        runs = read_runs(raw[1:], width=width, count=page.count)
    except Malformed as error:
        raise error.within(rule=INCOMPLETE) from None
    if page.entries is None:
        raise Malformed("indexes without a dictionary", rule=BEYOND, actual="no dictionary page")
    if (greatest := runs.greatest()) >= page.entries:
        raise Malformed(
            f"index {greatest} into a dictionary of {page.entries} entries",
            rule=BEYOND,
            expected=f"at most {page.entries - 1}",
            actual=str(greatest),
        )
    _require_whole(runs, "indexes")
    return runs.taken + 1


def _booleans(page: PageValues) -> int:
    """Booleans in runs, behind the length of all of them."""
    raw = page.raw
    length = int(LENGTH.parse(raw[:LENGTH_SIZE])) if len(raw) >= LENGTH_SIZE else None
    if length is None or length > len(raw) - LENGTH_SIZE:
        raise Malformed(
            "the runs of values are longer than their page",
            rule=INCOMPLETE,
            expected=f"at most {max(len(raw) - LENGTH_SIZE, 0)} bytes",
            actual="no length" if length is None else f"{length} bytes",
        )
    try:
        runs = read_runs(raw[LENGTH_SIZE : LENGTH_SIZE + length], width=1, count=page.count)
    except Malformed as error:
        raise error.within(rule=INCOMPLETE) from None
    _require_whole(runs, "booleans")
    return LENGTH_SIZE + runs.taken


def _require_whole(runs: Runs, what: str) -> None:
    """Raise PQF-141 unless all groups of the last run are stored."""
    if missing := runs.missing:
        raise Malformed(
            lack_of_groups(missing, what),
            rule=SHORT_RUN,
            expected=ALL_GROUPS,
            actual=f"{missing} fewer",
        )


ALL_GROUPS = "as many groups as the header of the run counts"


def lack_of_groups(missing: int, what: str) -> str:
    """The message about a packed run whose last groups are not stored."""
    return f"the last run of {what} lacks {missing} group{'s' * (missing > 1)} of values"


# ------------------------------------------------------------------------------------------------- differences


def _header(raw: memoryview, count: int) -> delta_encoding.Header:
    """The header of numbers as differences. Raises PQF-078, PQF-090, PQF-091."""
    try:
        header = delta_encoding.read_header(raw)
    except Malformed as error:
        raise error.within(rule=INCOMPLETE) from None
    if header.total != count:
        raise Malformed(
            f"the header of the differences counts {header.total} values, and there are {count}",
            rule=TOTAL,
            expected=f"{count} values",
            actual=f"{header.total} values",
        )
    return header


def _differences(raw: memoryview, count: int, most: int | None) -> int:
    """Bytes of numbers as differences, which take at most so many bits."""
    header = _header(raw, count)
    widest, problem, last = 0, None, None
    try:
        for block in delta_encoding.blocks(raw):
            widest, last = max(widest, block.bits), block
    except Malformed as error:
        problem = error
    beyond_all = problem is not None and problem.rule == TOO_WIDE
    if most is not None and (widest > most or beyond_all):
        bits = "more than 64 bits" if beyond_all else f"{widest} bits"
        raise Malformed(
            f"differences of {bits} between numbers of {most}",
            rule=TOO_WIDE,
            expected=f"at most {most} bits",
            actual=bits,
        )
    if problem is not None:
        raise problem.within(rule=INCOMPLETE)
    if last is None:
        return header.end
    start, width, held = list(last.miniblocks())[-1]
    end = start + last.size * width // 8
    if (there := len(raw)) < end:
        is_complete = there >= start + (held * width + 7) // 8
        raise Malformed(
            f"the last miniblock is short of {end - there} bytes",
            rule=SHORT_MINIBLOCK if is_complete else INCOMPLETE,
            expected=f"{end} bytes of differences",
            actual=f"{there} bytes",
        )
    return end


def _lengths(raw: memoryview, count: int, what: str) -> tuple[NDArray[np.int64], int]:
    """Lengths as differences, and the bytes that they take."""
    end = _differences(raw, count, None)
    try:
        found = decoded_alone(raw[:end], count, LENGTHS, Encoding.DELTA_BINARY_PACKED)
    except NotChecked as reason:
        if reason.judgeable:
            raise
        raise Malformed(f"the lengths of {what} cannot be decoded", rule=INCOMPLETE) from None
    lengths = np.asarray(found.to_numpy(), np.int64)
    if (least := int(lengths.min())) < 0:
        raise Malformed(
            f"the lengths of {what} go down to {least}",
            rule=INCOMPLETE,
            expected="at least 0",
            actual=str(least),
        )
    return lengths, end


def _lengths_first(page: PageValues) -> int:
    """Byte arrays behind the lengths of all of them."""
    lengths, start = _lengths(page.raw, page.count, "byte arrays")
    return _end(page, start, lengths)


def _prefixed(page: PageValues) -> int:
    """Byte arrays that begin like the one before: the lengths of what they share, then the rest of each."""
    prefixes, start = _lengths(page.raw, page.count, "prefixes")
    suffixes, behind = _lengths(page.raw[start:], page.count, "suffixes")
    lengths = prefixes + suffixes
    wrong = np.flatnonzero(prefixes > np.concatenate(([0], lengths[:-1])))
    if len(wrong):
        place = int(wrong[0])
        before = int(lengths[place - 1]) if place else 0
        raise Malformed(
            f"value {place} of the page begins with {prefixes[place]} bytes of the one before, which has {before}",
            rule=INCOMPLETE,
            expected=f"a prefix of at most {before} bytes",
            actual=f"{prefixes[place]} bytes",
        )
    width = page.element.type_length
    if page.element.type == Type.FIXED_LEN_BYTE_ARRAY and width and (lengths != width).any():
        other = int(lengths[lengths != width][0])
        raise Malformed(
            f"a value of {other} bytes in a column of {width}",
            rule=INCOMPLETE,
            expected=f"{width} bytes",
            actual=f"{other} bytes",
        )
    return _end(page, start + behind, suffixes)


def _end(page: PageValues, start: int, lengths: NDArray[np.int64]) -> int:
    end = start + int(lengths.sum())
    if end > page.length:
        raise _too_few(page.length, page.count, end)
    return end
