"""64-bit Roaring bitmaps, read container by container: the count, the greatest number, and the numbers in a range.

The numbers are never expanded to a list, since a few bytes of runs may represent billions. The cost of a damaged bitmap is limited by its
size.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pqassay_spec.base.errors import Malformed, Unsupported
from pqassay_spec.table import roaring
from pqassay_spec.table.roaring import CONTAINER_NUMBERS, ContainerForm

MOST_CONTAINERS = 1 << 18
"""The largest number of containers of a bitmap; they cover 17 billion rows."""

KEY_BITS, CONTAINER_BITS = 32, 16


class BitmapContainer(NamedTuple):
    """The numbers of a bitmap with the same high bits.

    Attributes:
        base: The least possible number.
        form: The form of the container.
        start, end: The byte range in the bitmap.
        held: The count of numbers.
    """

    base: int
    form: ContainerForm
    start: int
    end: int
    held: int


@dataclass(frozen=True)
class Bitmap:
    """A parsed bitmap.

    Attributes:
        data: Its bytes.
        containers: Its containers, ascending.
    """

    data: bytes
    containers: list[BitmapContainer] = field(default_factory=list[BitmapContainer])

    @property
    def count(self) -> int:
        """The count of its numbers."""
        return sum(container.held for container in self.containers)

    @property
    def greatest(self) -> int | None:
        """The greatest number; ``None`` for an empty bitmap."""
        if not self.containers:
            return None
        last = self.containers[-1]
        return last.base + int(np.flatnonzero(self._bits(last))[-1])

    def mask(self, start: int, length: int) -> NDArray[np.bool_]:
        """A bool mask of the numbers of a range that it contains.

        Args:
            start: The first number of the range.
            length: The length of the range.
        """
        bits = np.zeros(length, np.bool_)
        end = start + length
        first = bisect_left(self.containers, start - CONTAINER_NUMBERS + 1, key=lambda one: one.base)
        for container in self.containers[first:]:
            if container.base >= end:
                break
            low, high = max(container.base, start), min(container.base + CONTAINER_NUMBERS, end)
            bits[low - start : high - start] = self._bits(container)[
                low - container.base : high - container.base
            ]
        return bits

    def _bits(self, container: BitmapContainer) -> NDArray[np.bool_]:
        return _bits(self.data[container.start : container.end], container.form)


def _bits(raw: bytes, form: ContainerForm) -> NDArray[np.bool_]:
    """A bool mask of all possible numbers of a container."""
    if form is ContainerForm.BITS:
        return np.unpackbits(np.frombuffer(raw, np.uint8), bitorder="little").view(np.bool_)
    found = np.zeros(CONTAINER_NUMBERS, np.bool_)
    if form is ContainerForm.ARRAY:
        found[np.frombuffer(raw, "<u2")] = True
        return found
    steps = np.zeros(CONTAINER_NUMBERS + 1, np.int8)
    runs = np.frombuffer(raw, "<u2").reshape(-1, 2).astype(np.int64)
    steps[runs[:, 0]] = 1
    steps[runs[:, 0] + runs[:, 1] + 1] -= 1  # if another run begins here, the two changes cancel
    np.cumsum(steps[:-1], dtype=np.int8, out=steps[:-1])
    return steps[:-1].astype(np.bool_)


def decode(data: bytes) -> Bitmap:
    """Parse a bitmap and validate it.

    Args:
        data: The bytes; bytes after the bitmap are ignored.

    Raises:
        Malformed: The bytes are not a bitmap in the portable format; the error has the field and the offset.
        Unsupported: It has more than `MOST_CONTAINERS` containers.
    """
    return _BitmapReader(data).read()


class _BitmapReader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._path = ""
        self._containers: list[BitmapContainer] = []

    def read(self) -> Bitmap:
        count = self._number(roaring.COUNT_SIZE, "count")
        last = -1
        for bucket in range(count):
            if bucket >= MOST_CONTAINERS:
                raise Unsupported(f"the bitmap consists of more than {MOST_CONTAINERS:,} bitmaps")
            self._path = f"bitmaps[{bucket}]"
            key = self._number(roaring.KEY_SIZE, "key")
            if key <= last:
                raise self._wrong(f"key {key} follows {last}", "key", roaring.KEY_SIZE, "ascending keys")
            last = key
            self._bitmap(key << KEY_BITS)
        return Bitmap(self._data, self._containers)

    def _bitmap(self, base: int) -> None:
        start = self._at
        cookie = self._number(roaring.COOKIE_SIZE, "cookie")
        with_runs = cookie & 0xFFFF == roaring.COOKIE_WITH_RUNS
        if not with_runs and cookie != roaring.COOKIE:
            expected = f"{roaring.COOKIE}, or {roaring.COOKIE_WITH_RUNS} in the lower half"
            raise self._wrong(f"the cookie is {cookie}", "cookie", roaring.COOKIE_SIZE, expected)
        count = (cookie >> 16) + 1 if with_runs else self._number(roaring.SIZE_SIZE, "size")
        if count > CONTAINER_NUMBERS:
            raise self._wrong(
                f"{count} containers", "size", roaring.SIZE_SIZE, f"{CONTAINER_NUMBERS} or less"
            )
        if len(self._containers) + count > MOST_CONTAINERS:
            raise Unsupported(f"the bitmap has more than {MOST_CONTAINERS:,} containers")
        flags: NDArray[Any] = np.zeros(count, np.uint8)
        if with_runs:
            raw = self._take(-(-count // 8), "run_flags")
            flags = np.unpackbits(np.frombuffer(raw, np.uint8), bitorder="little")[:count]
        described = np.frombuffer(self._take(count * roaring.DESCRIPTION_SIZE, "descriptions"), "<u2")
        keys, counts = described[::2].astype(np.int64), described[1::2].astype(np.int64) + 1
        if count and not bool((np.diff(keys) > 0).all()):
            size = count * roaring.DESCRIPTION_SIZE
            raise self._wrong(
                "the keys of its containers do not ascend", "descriptions", size, "ascending keys"
            )
        offsets: list[int] | None = None
        if not with_runs or count >= roaring.OFFSETS_FROM:
            offsets = np.frombuffer(self._take(count * roaring.OFFSET_SIZE, "offsets"), "<u4").tolist()
        for index, (key, numbers, has_runs) in enumerate(
            zip(keys.tolist(), counts.tolist(), flags.tolist(), strict=True)
        ):
            if offsets is not None and offsets[index] != self._at - start:
                at = f"offset of container {index} is {offsets[index]}, but it begins at {self._at - start}"
                raise self._wrong(at, f"offsets[{index}]", 0, str(self._at - start))
            self._container(base + (key << CONTAINER_BITS), index, numbers, has_runs=bool(has_runs))

    def _container(self, base: int, index: int, count: int, *, has_runs: bool) -> None:
        name = f"containers[{index}]"
        form = (
            ContainerForm.RUNS
            if has_runs
            else ContainerForm.ARRAY
            if count <= roaring.MOST_IN_ARRAY
            else ContainerForm.BITS
        )
        size = roaring.BITS_SIZE if form is ContainerForm.BITS else count * roaring.NUMBER_SIZE
        if has_runs:
            size = self._number(roaring.RUN_COUNT_SIZE, f"{name}.run_count") * roaring.RUN_SIZE
        start = self._at
        raw = self._take(size, f"{name}.numbers")
        if form is ContainerForm.BITS:
            number_count = int(np.count_nonzero(_bits(raw, form)))
        elif form is ContainerForm.ARRAY:
            number_count = count
            if not _ascend(np.frombuffer(raw, "<u2")):
                raise self._wrong(f"the numbers of {name} do not ascend", f"{name}.numbers", size, "ascending numbers")  # fmt: skip
        else:
            runs = np.frombuffer(raw, "<u2").reshape(-1, 2).astype(np.int64)
            number_count = int(runs[:, 1].sum()) + len(runs)
            ends = runs[:, 0] + runs[:, 1]
            if not bool((ends[:-1] < runs[1:, 0]).all()) or bool((ends >= CONTAINER_NUMBERS).any()):
                raise self._wrong(
                    f"the runs of {name} do not ascend", f"{name}.numbers", size, "ascending runs"
                )
        if number_count != count:
            said = f"{name} claims {count} numbers, but holds {number_count}"
            raise self._wrong(said, f"{name}.numbers", size, f"{count} numbers", str(number_count))
        self._containers.append(BitmapContainer(base, form, start, self._at, count))

    def _number(self, size: int, name: str) -> int:
        return int.from_bytes(self._take(size, name), "little")

    def _take(self, size: int, name: str) -> bytes:
        raw = self._data[self._at : self._at + size]
        if len(raw) < size:
            said = f"{name} needs {size} bytes, but only {len(raw)} are left"
            raise Malformed(said, field=self._named(name), offset=self._at, length=len(raw), expected=f"{size} bytes", actual=f"{len(raw)} bytes")  # fmt: skip
        self._at += size
        return raw

    def _wrong(self, reason: str, name: str, size: int, expected: str, actual: str = "") -> Malformed:
        """The error in the bytes that were read last."""
        return Malformed(
            reason,
            field=self._named(name),
            offset=self._at - size,
            length=size,
            expected=expected,
            actual=actual or reason,
        )

    def _named(self, name: str) -> str:
        return ".".join(filter(None, (self._path, name)))


def _ascend(numbers: NDArray[Any]) -> bool:
    return bool((numbers[1:] > numbers[:-1]).all())
