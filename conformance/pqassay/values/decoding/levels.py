"""Runs of levels and dictionary indexes, decoded with numpy, and the counts of the levels of a chunk.

`pqassay_spec.parquet.encoding.levels` defines the runs, one value after the other; `read_runs` is tested to agree with it. Counting works
run by run: a run of a million nulls takes no more memory than a run of eight.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pqassay.under_test.file import NotChecked
from pqassay.values.decoding.faults import FaultKind, Faulty, PageFault
from pqassay_spec.base.errors import Malformed
from pqassay_spec.grammar.thrift_wire import VARINT_BITS, VARINT_GOES_ON, VARINT_MASK
from pqassay_spec.parquet.encoding.levels import (
    GROUP,
    PACKED,
    bit_packed_size,
    missing_bytes,
    read_header,
    require_bytes,
    require_count,
    value_size,
)
from pqassay_spec.parquet.encoding.plain import LENGTH
from pqassay_spec.parquet.thrift import DataPageHeader, DataPageHeaderV2, DictionaryPageHeader

if TYPE_CHECKING:
    from pqassay.under_test.chunks import ColumnChunkUnderTest

MOST_COUNTS = 1 << 24
"""The number of entries of all level histograms of one chunk that fit in memory."""

MOST_VALUES, MOST_FOR_A_BYTE = 1 << 25, 16
"""The limits of values of one section that are expanded in memory: a total, or a number for each byte if that gives more."""

PROBED, SHORT_RUNS, MOST_JUMPED = 32, 32 * 32, 1 << 18
"""If this number of first runs takes fewer than these bytes, numpy follows the many runs, up to a section size in bytes."""

WORD = 8
"""The size in bytes of the longest words from which packed values are extracted."""

SHORT_HEADER = 3
"""The size in bytes of the longest run headers that numpy reads; longer ones occur only in sections with few runs."""

LENGTH_SIZE = LENGTH.sizeof()


# ---------------------------------------------------------------------------------------------------- the runs


@dataclass(frozen=True)
class Runs:
    """The runs of one section.

    Attributes:
        lengths: The number of values of each run, int64; for the last run, only wanted values. Empty repeating runs are omitted.
        is_packed: A bool mask of the packed runs.
        repeated: The value of each repeating run, int64.
        packed: The values of all packed runs, one after the other, unsigned.
        taken: The number of bytes of the runs.
        missing: The number of bytes of the last run that its header counts but that are missing.
        empty: The number of empty runs before the last wanted run.
    """

    lengths: NDArray[np.int64]
    is_packed: NDArray[np.bool_]
    repeated: NDArray[np.int64]
    packed: NDArray[np.unsignedinteger]
    taken: int
    missing: int = 0
    empty: int = 0

    @property
    def first(self) -> int | None:
        """The first value; ``None`` if there are no values."""
        if not self.packed.size or (self.repeated.size and not self.is_packed[self.lengths > 0][0]):
            return int(self.repeated[0]) if self.repeated.size else None
        return int(self.packed[0])

    def greatest(self) -> int:
        """The greatest value; -1 if there are no values."""
        return max(
            int(self.repeated.max(initial=-1)), int(self.packed.max(initial=0)) if self.packed.size else -1
        )

    def least(self) -> int:
        """The least value; 0 if there are no values."""
        return min((int(part.min()) for part in (self.repeated, self.packed) if part.size), default=0)

    def histogram(self, size: int) -> NDArray[np.int64]:
        """The number of occurrences of each value below ``size``, int64.

        Raises:
            Malformed: A value is not below ``size``.
        """
        if (greatest := self.greatest()) >= size:
            message = f"a level of {greatest}, but the maximum of the column is {size - 1}"
            raise Malformed(message, expected=f"at most {size - 1}", actual=str(greatest))
        if size == 2:  # nulls and values, the most common levels
            ones = np.count_nonzero(self.packed)
            counts = np.array([self.packed.size - ones, ones], np.int64)
        else:
            counts = np.bincount(self.packed, minlength=size).astype(np.int64)
        np.add.at(counts, self.repeated, self.lengths[~self.is_packed])
        return counts

    def values(self) -> NDArray[np.int64]:
        """All values. Raises `NotChecked` if a few bytes expand to more values than fit in memory."""
        if (count := int(self.lengths.sum())) > max(MOST_VALUES, MOST_FOR_A_BYTE * self.taken):
            raise NotChecked(f"{count:,} levels in {self.taken:,} bytes are not decoded", "tool")
        out = np.empty(count, np.int64)
        places = np.repeat(self.is_packed, self.lengths)
        out[places] = self.packed
        out[~places] = np.repeat(self.repeated, self.lengths[~self.is_packed])
        return out


def read_runs(data: memoryview | bytes, *, width: int, count: int) -> Runs:
    """Read runs up to the wanted number of values; see `pqassay_spec.parquet.encoding.levels.decode`.

    Args:
        data: The runs, and maybe bytes after them.
        width: The bit width of a value, up to `pqassay_spec.parquet.encoding.levels.WIDEST`.
        count: The wanted number of values.

    Raises:
        Malformed: See there.
    """
    raw = bytes(data)
    runs = None
    if PROBED < len(raw) < MOST_JUMPED and _has_short_runs(raw, width):
        runs = _by_jumps(raw, width, count)
    return _by_steps(raw, width, count) if runs is None else runs


def run_faults(runs: Runs, what: str) -> Iterator[PageFault]:
    """Yield the faults of runs that have all values; ``what`` is the name of the values."""
    if runs.empty:
        yield PageFault(FaultKind.EMPTY_RUN, actual=runs.empty, words=(what,))
    if runs.missing:
        yield PageFault(FaultKind.CUT_RUN, actual=runs.missing, words=(what,))


def split_off(raw: memoryview, what: str) -> tuple[memoryview, memoryview]:
    """The bytes after a length field, and the bytes after them. Raises `Malformed` if bytes are missing."""
    room = max(len(raw) - LENGTH_SIZE, 0)
    length = int(LENGTH.parse(raw[:LENGTH_SIZE])) if len(raw) >= LENGTH_SIZE else None
    if length is None or length > room:
        actual = "no length" if length is None else f"{length} bytes"
        raise Malformed(
            f"the {what} are longer than their page", expected=f"at most {room} bytes", actual=actual
        )
    end = LENGTH_SIZE + length
    return raw[LENGTH_SIZE:end], raw[end:]


def read_bit_packed(data: memoryview, *, width: int, count: int) -> Runs:
    """Read levels in the deprecated encoding; see `pqassay_spec.parquet.encoding.levels.decode_bit_packed`.

    Args:
        data: The levels, and maybe bytes after them.
        width: The bit width of a level, up to 16.
        count: The wanted number of levels.

    Raises:
        Malformed: The bytes end before the last level.
    """
    size = bit_packed_size(width, count)
    require_bytes(size, len(data), 0)
    bits = np.unpackbits(np.frombuffer(data[:size], np.uint8), count=width * count).reshape(count, width)
    places = np.arange(width - 1, -1, -1, dtype=np.uint16)
    levels = (bits @ (np.uint16(1) << places)).astype(np.uint16)
    return Runs(np.array([count]), np.array([True]), np.zeros(0, np.int64), levels, size)


def _by_steps(raw: bytes, width: int, count: int) -> Runs:
    """Read one run after the other."""
    size, available = value_size(width), len(raw)
    headers: list[int] = []
    repeated: list[int] = []
    pieces: list[bytes] = []
    position, left, missing, empty = 0, count, 0, 0
    while left > 0:
        start = position
        if position < available and raw[position] < VARINT_GOES_ON:  # as most are
            header, position = raw[position], position + 1
        else:
            header, position = read_header(raw, position)
        if header & PACKED:
            length = min((header >> 1) * GROUP, left)
            enough = position + (length * width + 7) // 8
            require_bytes(enough, available, start)
            pieces.append(raw[position:enough])
            missing = missing_bytes(header, available - position, width=width)
            position = min(position + (header >> 1) * width, available)
            header = -(-length // GROUP) << 1 | PACKED
        else:
            length = header >> 1
            require_count(length, left, start)
            end = position + size
            require_bytes(end, available, start)
            value, position = int.from_bytes(raw[position:end], "little"), end
            if length:
                repeated.append(value)
        if not length:
            empty += 1
            continue
        headers.append(header)
        left -= length
    all_headers = np.array(headers, np.int64)
    flags = (all_headers & PACKED).astype(np.bool_)
    counts = (all_headers >> 1) * np.where(flags, GROUP, 1)
    if (beyond := int(counts.sum()) - count) > 0:
        counts[-1] -= beyond  # the last group is padded
    total = int(counts[flags].sum())
    packed = unpacked(b"".join(pieces), width, total)
    return Runs(counts, flags, np.array(repeated, np.int64), packed, position, missing, empty)


def _has_short_runs(raw: bytes, width: int) -> bool:
    """Whether the first runs are so short that there must be many runs."""
    position = 0
    for _ in range(PROBED):
        if position + 1 >= len(raw):
            return False
        header = raw[position]
        if header >= VARINT_GOES_ON:
            header &= VARINT_MASK
            position += 1
            header |= (raw[position] & VARINT_MASK) << VARINT_BITS
        position += 1 + ((header >> 1) * width if header & PACKED else value_size(width))
    return position < SHORT_RUNS


def _by_jumps(data: bytes, width: int, count: int) -> Runs | None:
    """Like `_by_steps`, for sections of many runs without faults; ``None`` for all others.

    A column with scattered nulls has a run for every thirty values. For every byte, numpy computes where a run would end that began there.
    From these jumps, jumps of 2, 4, ... runs are computed by doubling, until all starts are found.
    """
    raw = np.frombuffer(data, np.uint8)
    size, available = value_size(width), len(raw)
    padded = np.concatenate((raw, np.zeros(SHORT_HEADER + size, np.uint8)))
    header = (raw & VARINT_MASK).astype(np.int64)
    header_size = np.ones(available, np.int64)
    goes_on = raw >= VARINT_GOES_ON
    for byte in range(1, SHORT_HEADER):
        if not goes_on.any():
            break
        following = padded[byte : byte + available]
        header += np.where(goes_on, (following & VARINT_MASK).astype(np.int64) << (VARINT_BITS * byte), 0)
        header_size += goes_on
        goes_on = goes_on & (following >= VARINT_GOES_ON)
    is_packed = (header & PACKED).astype(np.bool_)
    content = np.arange(available) + header_size
    ends = content + np.where(is_packed, (header >> 1) * width, size)
    ends[goes_on] = available + 1
    jumps = np.append(np.minimum(ends, available), available)
    begins = np.zeros(1, np.int64)
    while begins[-1] < available:
        begins = np.concatenate((begins, jumps.take(begins)))
        jumps = jumps.take(jumps)
    begins = begins[: int(np.searchsorted(begins, available))]
    lengths = (header[begins] >> 1) * np.where(is_packed[begins], GROUP, 1)
    wanted = int(np.searchsorted(np.cumsum(lengths), count)) + 1
    begins, lengths = begins[:wanted], lengths[:wanted]
    flags = is_packed[begins]
    beyond = int(lengths.sum()) - count
    if beyond < 0 or (beyond and not flags[-1]) or int(ends[begins[-1]]) > available or not lengths.all():
        return None
    lengths[-1] -= beyond
    at = content[begins[~flags]]
    repeated = np.zeros(len(at), np.int64)
    for byte in range(size):
        repeated |= padded[at + byte].astype(np.int64) << (8 * byte)
    edges = np.zeros(available + 1, np.int8)
    edges[content[begins[flags]]] += 1
    edges[ends[begins[flags]]] -= 1
    packed = raw[np.cumsum(edges[:-1], dtype=np.int8).astype(np.bool_)]
    total = int(lengths[flags].sum())
    taken = int(ends[begins[-1]])
    return Runs(lengths, flags, repeated, unpacked(packed.tobytes(), width, total), taken)


def unpacked(raw: bytes, width: int, count: int) -> NDArray[np.unsignedinteger]:
    """Unpack values of ``width`` bits each, from the lowest bit on.

    Args:
        raw: The bytes; those of a last group may be missing.
        width: The bit width of a value, at most 32.
        count: The wanted number of values.

    Returns:
        The values: uint8, uint16 or uint32, the smallest that fits.
    """
    kind = np.uint8 if width <= 8 else np.uint16 if width <= 16 else np.uint32
    if not width or not count:
        return np.zeros(count, kind)
    if width == 1:
        return np.unpackbits(np.frombuffer(raw, np.uint8), count=count, bitorder="little")
    groups = -(-count // GROUP)
    raw = raw.ljust(groups * width + WORD, b"\0")
    if width in (8, 16, 32):
        return np.frombuffer(raw, np.dtype(kind).newbyteorder("<"), count)
    out = np.empty((groups, GROUP), kind)
    for lane in range(GROUP):
        first, shift = divmod(lane * width, 8)
        # In each group, a value is at the same place of a word that begins at the same byte.
        code = "<u8" if shift + width > 32 else "<u4"
        words = np.ndarray((groups,), code, raw, first, (width,))
        out[:, lane] = words >> words.dtype.type(shift) & words.dtype.type((1 << width) - 1)
    return out.reshape(-1)[:count]


# ------------------------------------------------------------------------------------------- what levels count


@dataclass(frozen=True)
class PageCounts:
    """The counts of the levels of a chunk's data pages; entry i of each array belongs to data page i.

    Attributes:
        values: The number of levels, including nulls, int64.
        non_null: The number of values, int64: definition levels equal to the greatest.
        rows: The number of rows that begin in the page, int64: repetition levels of 0.
        starts_with_row: Whether the page begins with a row, bool; true for a page without levels.
        definition_histogram: Levels by their value, int64, pages x (greatest definition level + 1).
        repetition_histogram: The same for repetition levels.
    """

    values: NDArray[np.int64]
    non_null: NDArray[np.int64]
    rows: NDArray[np.int64]
    starts_with_row: NDArray[np.bool_]
    definition_histogram: NDArray[np.int64]
    repetition_histogram: NDArray[np.int64]

    @staticmethod
    def empty(pages: int, greatest_definition: int, greatest_repetition: int) -> PageCounts:
        """Counts of zero, to be filled. Raises `NotChecked` if they would take too much memory."""
        if pages * (greatest_definition + greatest_repetition + 2) > MOST_COUNTS:
            raise NotChecked(
                f"the level histograms of {pages:,} pages take more than {MOST_COUNTS:,} entries", "tool"
            )
        return PageCounts(
            np.zeros(pages, np.int64),
            np.zeros(pages, np.int64),
            np.zeros(pages, np.int64),
            np.ones(pages, np.bool_),
            np.zeros((pages, greatest_definition + 1), np.int64),
            np.zeros((pages, greatest_repetition + 1), np.int64),
        )

    @property
    def nulls(self) -> NDArray[np.int64]:
        """The number of nulls of each page, int64: definition levels below the greatest."""
        return self.values - self.non_null

    def fill(
        self, page: int, definition: NDArray[np.int64], repetition: NDArray[np.int64], *, starts: bool
    ) -> None:
        """Store the histograms of one page."""
        self.definition_histogram[page] = definition
        self.repetition_histogram[page] = repetition
        self.values[page] = definition.sum()
        self.non_null[page] = definition[-1]
        self.rows[page] = repetition[0]
        self.starts_with_row[page] = starts


def counted(header: DataPageHeader | DataPageHeaderV2 | DictionaryPageHeader) -> int:
    """The number of values, nulls and entries of a page in the header of its type. Raises `Faulty` if it is negative."""
    if header.num_values < 0:
        raise Faulty(PageFault(FaultKind.IMPOSSIBLE_SIZE))
    return header.num_values


def flat_counts(chunk: ColumnChunkUnderTest) -> PageCounts:
    """The counts of a column without levels, from its page headers. Raises the errors of `data_header` and `counted`."""
    values = np.array([counted(page.data_header) for page in chunk.data_pages], np.int64)
    histogram = values[:, np.newaxis]
    return PageCounts(values, values, values, np.ones(len(values), np.bool_), histogram, histogram)
