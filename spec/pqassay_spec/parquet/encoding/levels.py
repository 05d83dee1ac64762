"""Repetition and definition levels: small numbers that mark where rows and lists begin, and which values are null.

Levels, and indexes into a dictionary, are written in a mixture of runs.  Each run begins with a header, an unsigned
varint.  If its lowest bit is 0, the other bits count repetitions of one value. The value follows in as few whole bytes as
its bit width needs, least significant byte first:

    >>> decode(bytes.fromhex("0a 01"), width=1, count=5)
    ([1, 1, 1, 1, 1], 2)

If it is 1, the other bits count groups of eight values. A group takes as many bytes as a value has bits, and is packed
from the lowest bit of its first byte on.  The padding of the last group can be anything:

    >>> decode(bytes.fromhex("03 88 c6 fa"), width=3, count=8)
    ([0, 1, 2, 3, 4, 5, 6, 7], 4)
    >>> decode(bytes.fromhex("03 1d"), width=1, count=5)
    ([1, 0, 1, 1, 1], 2)

The number of values and their width are stored elsewhere: the page header gives the number, and the greatest
level of the column gives the width.

This decoder is slow and readable; tests show that the fast one agrees with it.

Source: apache/parquet-format, ``Encodings.md``, section "Run Length Encoding / Bit-Packing Hybrid".
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from pqassay_spec.base.errors import Malformed
from pqassay_spec.grammar.thrift_wire import read_varint, varint

GROUP = 8
"""Values of one group of a packed run."""

PACKED = 1
"""The lowest bit of the header of a packed run."""

WIDEST = 32
"""Bits of the widest value that the encoding can store."""


def bit_width(greatest: int) -> int:
    """Bits of each level of a column with this greatest level.

    >>> [bit_width(greatest) for greatest in (0, 1, 2, 3, 4)]
    [0, 1, 2, 2, 3]
    """
    return greatest.bit_length()


def value_size(width: int) -> int:
    """Bytes of the value in a repeating run."""
    return (width + 7) // 8


def decode(data: bytes, *, width: int, count: int) -> tuple[list[int], int]:
    """Decode runs until they have ``count`` values.

    A packed run at the end may have more values: DuckDB pads its runs to 256 values. The bytes of the extra values may be missing
    here, as in most readers; `last_run_is_whole` checks them. Runs without values may also occur.

    Args:
        data: The runs, optionally with bytes after them.
        width: Bits of a value.
        count: Number of values.

    Returns:
        The values, and the number of bytes that they take.

    Raises:
        Malformed: The bytes end before the values do, or a repeating run has more than ``count`` values; ``offset``
            is the offset of the run in ``data``.
    """
    values: list[int] = []
    position = 0
    while len(values) < count:
        start, left = position, count - len(values)
        header, position = read_header(data, position)
        if header & PACKED:
            groups = header >> 1
            end = position + groups * width
            enough = position + (min(left, groups * GROUP) * width + 7) // 8
            require_bytes(enough, len(data), start)
            bits = int.from_bytes(data[position:enough], "little")
            mask = (1 << width) - 1
            values += [bits >> place * width & mask for place in range(min(left, groups * GROUP))]
            position = min(end, len(data))
        else:
            require_count(header >> 1, left, start)
            end = position + value_size(width)
            require_bytes(end, len(data), start)
            values += [int.from_bytes(data[position:end], "little")] * (header >> 1)
            position = end
    return values, position


def missing_bytes(header: int, stored: int, *, width: int) -> int:
    """Number of bytes of a packed run that are not stored.

    Readers disagree on a group that is counted and not completely stored, even if they do not need its values.

    >>> [missing_bytes(3 << 1 | PACKED, stored, width=2) for stored in (6, 5, 4, 2)]
    [0, 1, 2, 4]

    Args:
        header: The header of the run.
        stored: Number of bytes after it.
        width: Bits of a value.
    """
    return max(0, (header >> 1) * width - stored)


def last_run_is_whole(data: bytes, *, width: int, count: int) -> bool:
    """Whether all groups of the last run are stored; see `missing_bytes`.

    >>> [last_run_is_whole(bytes.fromhex(run), width=1, count=5) for run in ("03 1d", "05 1d")]
    [True, False]

    Args:
        data: The runs, which `decode` can decode, optionally with bytes after them.
        width: Bits of a value.
        count: Number of values.
    """
    position = value_count = 0
    while value_count < count:
        header, position = read_header(data, position)
        if header & PACKED:
            if missing_bytes(header, len(data) - position, width=width):
                return False
            value_count += (header >> 1) * GROUP
            position += (header >> 1) * width
        else:
            value_count += header >> 1
            position += value_size(width)
    return True


def are_whole_runs(data: bytes | memoryview, *, width: int) -> bool:
    """Whether bytes consist only of runs of at least one value each.

    >>> [are_whole_runs(bytes.fromhex(runs), width=1) for runs in ("0a 01 03 88", "0a 01 00", "00 01")]
    [True, False, False]
    """
    data, position = bytes(data), 0
    while position < len(data):
        try:
            header, position = read_header(data, position)
        except Malformed:
            return False
        position += (header >> 1) * width if header & PACKED else value_size(width)
        if not header >> 1 or position > len(data):
            return False
    return True


def decode_bit_packed(data: bytes, *, width: int, count: int) -> tuple[list[int], int]:
    """Decode levels in the deprecated encoding BIT_PACKED, from the highest bit of the first byte on, without runs.

    >>> decode_bit_packed(bytes.fromhex("05 39 77"), width=3, count=8)
    ([0, 1, 2, 3, 4, 5, 6, 7], 3)

    Args:
        data: The levels, optionally with bytes after them.
        width: Bits of a level.
        count: Number of levels.

    Returns:
        The levels, and the number of bytes that they take.

    Raises:
        Malformed: The bytes end before the levels do.

    Source: apache/parquet-format, ``Encodings.md``, section "Bit-packed (Deprecated)".
    """
    size = bit_packed_size(width, count)
    require_bytes(size, len(data), 0)
    bits, spare = int.from_bytes(data[:size], "big"), 8 * size - width * count
    mask = (1 << width) - 1
    return [bits >> spare + width * (count - 1 - place) & mask for place in range(count)], size


def bit_packed(levels: Sequence[int], *, width: int) -> bytes:
    """Encode levels in the deprecated encoding; see `decode_bit_packed`.

    >>> bit_packed(range(8), width=3).hex(" ")
    '05 39 77'
    """
    size = bit_packed_size(width, len(levels))
    bits = "".join(f"{level:0{width}b}" for level in levels)
    return int(bits.ljust(8 * size, "0") or "0", 2).to_bytes(size, "big")


def bit_packed_size(width: int, count: int) -> int:
    """Bytes of ``count`` levels in the deprecated encoding."""
    return (width * count + 7) // 8


def read_header(data: bytes, position: int) -> tuple[int, int]:
    """The header of the run at a position, and the position after it. Raises `Malformed`."""
    try:
        return read_varint(data, position)
    except (Malformed, IndexError):
        raise Malformed(
            "the runs end before the values do", offset=position, length=len(data) - position
        ) from None


def require_count(count: int, most: int, start: int) -> None:
    """Raise `Malformed` if a repeating run that begins at ``start`` has more than ``most`` values."""
    if count > most:
        raise Malformed(
            f"a run of {count} values where {most} are wanted at most",
            offset=start,
            expected=f"at most {most} values",
            actual=f"{count} values",
        )


def require_bytes(end: int, length: int, start: int) -> None:
    """Raise `Malformed` if a run that begins at ``start`` ends after the available bytes."""
    if end > length:
        missing = end - length
        raise Malformed(
            f"a run is short of {missing} byte{'s' * (missing > 1)}", offset=start, length=length - start
        )


def repeating_run(value: int, count: int, *, width: int) -> bytes:
    """A run of one value.

    >>> repeating_run(1, 5, width=1).hex(" ")
    '0a 01'
    """
    return varint(count << 1) + value.to_bytes(value_size(width), "little")


def packed_run(values: Sequence[int], *, width: int) -> bytes:
    """A run of packed values, padded with zeros to whole groups.

    >>> packed_run([0, 1, 2, 3, 4, 5, 6, 7], width=3).hex(" ")
    '03 88 c6 fa'
    """
    groups = -(-len(values) // GROUP)
    bits = sum(value << place * width for place, value in enumerate(values))
    return varint(groups << 1 | PACKED) + bits.to_bytes(groups * width, "little")


def encode(values: Sequence[int], *, width: int) -> bytes:
    """Encode values as runs: a repeating run for eight or more equal values, packed runs in between.

    >>> encode([1] * 9 + [0, 1], width=1).hex(" ")
    '12 01 03 02'
    """
    out = b""
    loose: list[int] = []
    for value, run in groupby(values):
        length = len(list(run))
        filling = min(length, -len(loose) % GROUP)
        loose += [value] * filling
        length -= filling
        if length >= GROUP:
            out += (packed_run(loose, width=width) if loose else b"") + repeating_run(
                value, length, width=width
            )
            loose = []
        else:
            loose += [value] * length
    return out + (packed_run(loose, width=width) if loose else b"")
