r"""Roaring bitmaps of 64 bits in the portable format: the deleted rows of a file.

A bitmap of 64 bits is a list of bitmaps of 32 bits, by the upper halves of the numbers, their *keys*.  A bitmap of 32 bits is a list of
*containers*, by the upper 16 bits of the rest.  A container stores the lower 16 bits of its numbers in the smallest of three forms:
one after the other, as runs, or as a bit for each possible number.

    >>> one = bytes.fromhex("01000000 00000000 00000000 3a300000 01000000 00000100 10000000 0300 0700")
    >>> found = ROARING.parse(one)
    >>> found.bitmaps[0].containers[0].numbers.hex(" ", 2)
    '0300 0700'
    >>> ROARING.build(found) == one
    True

Source: RoaringFormatSpec, "Standard 32-bit Roaring Bitmap" and "Extension for 64-bit implementations".
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from construct import Array, Bytes, ExprValidator, If, Int16ul, Int32ul, Int64ul, Struct, this


class ContainerForm(Enum):
    """The form in which a container stores its numbers."""

    ARRAY = "array"
    """Each number, ascending."""

    RUNS = "runs"
    """The first number of each run and how many numbers follow it, ascending."""

    BITS = "bits"
    """A bit for each of the 65536 numbers, the smallest first."""


# --8<-- [start:grammar]
COOKIE = 12346
"""The first bytes of a bitmap without runs, as a number; the number of containers follows."""

COOKIE_WITH_RUNS = 12347
"""The lower half of the first number of a bitmap with runs; the upper half is the number of containers, minus 1."""

MOST_IN_ARRAY = 4096
"""Most numbers of a container in the form of an array; with more, it stores bits."""

BITS_SIZE = 8192
"""Bytes of a container in the form of bits."""

OFFSETS_FROM = 4
"""Number of containers from which a bitmap with runs has offsets; a bitmap without runs always has them."""

CONTAINER_NUMBERS = 1 << 16
"""The number of possible numbers in a container."""


def has_runs(bitmap: Any) -> bool:
    """Whether flags mark the containers with runs."""
    return bool(bitmap.cookie & 0xFFFF == COOKIE_WITH_RUNS)


def container_count(bitmap: Any) -> int:
    """Containers of a bitmap."""
    return (bitmap.cookie >> 16) + 1 if has_runs(bitmap) else int(bitmap.size)


def has_offsets(bitmap: Any) -> bool:
    """Whether it has the offset of each container."""
    return not has_runs(bitmap) or container_count(bitmap) >= OFFSETS_FROM


def form_of(bitmap: Any, index: int) -> ContainerForm:
    """The form in which a container stores its numbers."""
    if has_runs(bitmap) and bitmap.run_flags[index // 8] >> index % 8 & 1:
        return ContainerForm.RUNS
    return ContainerForm.ARRAY if bitmap.descriptions[index].others < MOST_IN_ARRAY else ContainerForm.BITS


def body_size(container: Any) -> int:
    """Bytes of a container after its number of runs."""
    bitmap, index = container["_"], container["_index"]
    form = form_of(bitmap, index)
    if form is ContainerForm.RUNS:
        return RUN.sizeof() * int(container.run_count)
    return (
        BITS_SIZE
        if form is ContainerForm.BITS
        else Int16ul.sizeof() * (int(bitmap.descriptions[index].others) + 1)
    )


DESCRIPTION = Struct(
    "key" / Int16ul * "The upper 16 bits of the numbers.",
    "others" / Int16ul * "How many numbers there are, less one.",
)
"""The description of each container, before the containers."""

RUN = Struct(
    "first" / Int16ul * "The first number.", "others" / Int16ul * "How many follow it without a gap."
)
"""A run of numbers."""

CONTAINER = Struct(
    "run_count"
    / If(lambda one: form_of(one["_"], one["_index"]) is ContainerForm.RUNS, Int16ul)
    * "Runs, where it holds runs.",
    "numbers"
    / Bytes(body_size)
    * "Numbers of 16 bits, ascending; runs of two numbers of 16 bits each; or 8192 bytes of bits.",
)
"""The lower 16 bits of the numbers with one key."""

BITMAP = Struct(
    "key" / Int32ul * "The upper 32 bits of the numbers.",
    "cookie"
    / ExprValidator(Int32ul, lambda value, _: value == COOKIE or value & 0xFFFF == COOKIE_WITH_RUNS)
    * "12346, or 12347 in the lower half and the number of containers, less one, in the upper.",
    "size"
    / If(lambda bitmap: not has_runs(bitmap), ExprValidator(Int32ul, lambda value, _: value <= 1 << 16))
    * "Containers.",
    "run_flags"
    / If(has_runs, Bytes(lambda bitmap: -(-container_count(bitmap) // 8)))
    * "A bit for each container, whether it holds runs, the least first.",
    "descriptions" / Array(container_count, DESCRIPTION) * "One for each container, ascending by key.",
    "offsets"
    / Array(lambda bitmap: container_count(bitmap) if has_offsets(bitmap) else 0, Int32ul)
    * "Where each container begins, from the cookie on.",
    "containers" / Array(container_count, CONTAINER) * "The containers.",
)
"""A bitmap of 32 bits, and its key."""

ROARING = Struct(
    "count" / Int64ul * "Bitmaps of 32 bits.", "bitmaps" / Array(this.count, BITMAP) * "Ascending by key."
)
"""A bitmap of 64 bits."""
# --8<-- [end:grammar]

COUNT_SIZE, KEY_SIZE, COOKIE_SIZE = Int64ul.sizeof(), Int32ul.sizeof(), Int32ul.sizeof()
SIZE_SIZE, OFFSET_SIZE, DESCRIPTION_SIZE = Int32ul.sizeof(), Int32ul.sizeof(), DESCRIPTION.sizeof()
RUN_COUNT_SIZE, RUN_SIZE, NUMBER_SIZE = Int16ul.sizeof(), RUN.sizeof(), Int16ul.sizeof()
"""Sizes in bytes of the parts, for code that reads many at once."""
