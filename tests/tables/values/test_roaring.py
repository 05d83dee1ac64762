"""Roaring bitmaps: three forms of containers, read as the grammar declares them, and no damage that costs more than its bytes."""

from __future__ import annotations

import random
from itertools import groupby

import numpy as np
import pytest

from pqassay_spec.base.errors import FormatError, Malformed, Unsupported
from pqassay_spec.table import deletion_vector, z85
from pqassay_spec.table.roaring import (
    BITS_SIZE,
    COOKIE,
    COOKIE_WITH_RUNS,
    MOST_IN_ARRAY,
    OFFSETS_FROM,
    ROARING,
)
from pqassay_tables.values import roaring
from pqassay_tables.values.roaring import decode


def runs_of(numbers: list[int]) -> list[tuple[int, int]]:
    """The first number of each run, and how many follow it."""
    groups = [
        [number for _, number in group]
        for _, group in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])
    ]
    return [(group[0], len(group) - 1) for group in groups]


def body_of(numbers: list[int], *, as_runs: bool) -> bytes:
    if as_runs:
        runs = runs_of(numbers)
        return len(runs).to_bytes(2, "little") + b"".join(
            one.to_bytes(2, "little") for run in runs for one in run
        )
    if len(numbers) <= MOST_IN_ARRAY:
        return b"".join(number.to_bytes(2, "little") for number in numbers)
    return sum(1 << number for number in numbers).to_bytes(BITS_SIZE, "little")


def encoded(values: set[int], *, as_runs: bool) -> bytes:
    """A bitmap, with runs in every second container or in none."""
    found = b""
    buckets = groupby(sorted(values), lambda value: value >> 32)
    written = 0
    for bucket, held in buckets:
        keyed = [
            (key, [value & 0xFFFF for value in numbers])
            for key, numbers in groupby(held, lambda value: value >> 16 & 0xFFFF)
        ]
        bodies = [
            body_of(numbers, as_runs=as_runs and not index % 2) for index, (_, numbers) in enumerate(keyed)
        ]
        head = b""
        if as_runs:
            flags = sum(1 << index for index in range(0, len(keyed), 2))
            head += (COOKIE_WITH_RUNS | len(keyed) - 1 << 16).to_bytes(4, "little")
            head += flags.to_bytes(-(-len(keyed) // 8), "little")
        else:
            head += COOKIE.to_bytes(4, "little") + len(keyed).to_bytes(4, "little")
        for key, numbers in keyed:
            head += key.to_bytes(2, "little") + (len(numbers) - 1).to_bytes(2, "little")
        if not as_runs or len(keyed) >= OFFSETS_FROM:
            at = len(head) + 4 * len(keyed)
            for body in bodies:
                head += at.to_bytes(4, "little")
                at += len(body)
        found += bucket.to_bytes(4, "little") + head + b"".join(bodies)
        written += 1
    return written.to_bytes(8, "little") + found


def some_values(dice: random.Random) -> set[int]:
    values: set[int] = set()
    for _ in range(dice.randint(0, 6)):
        base = dice.choice([0, 3 << 16, 5 << 16, 1 << 32, 7 << 32])
        if dice.random() < 0.4:
            first = dice.randrange(50_000)
            values.update(range(base + first, base + first + dice.randint(1, 9000)))
        else:
            values.update(base + dice.randrange(1 << 16) for _ in range(dice.choice([1, 40, 9000])))
    return values


@pytest.mark.parametrize("as_runs", [False, True], ids=["without runs", "with runs"])
def test_what_was_written_is_read(as_runs: bool) -> None:
    dice = random.Random(as_runs)
    for _ in range(8):
        values = some_values(dice)
        data = encoded(values, as_runs=as_runs)
        found = decode(data)

        assert (len(values), max(values, default=None)) == (found.count, found.greatest)
        for start, length in ((0, 400_000), ((1 << 32) - 7, 70_000), (65_530, 12)):
            held = {value for value in values if start <= value < start + length}
            assert held == set((np.flatnonzero(found.mask(start, length)) + start).tolist())
        assert data == ROARING.build(ROARING.parse(data))


def test_the_example_of_the_protocol_has_another_magic_number_and_the_same_numbers() -> None:
    """Section "JSON Example 3 - Inline": its head is not what "Deletion Vector Format" says, its bitmap of 32 bits is."""
    data = z85.decode("wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L")
    magic, _, size = (int.from_bytes(data[at : at + 4], "big") for at in (0, 4, 8))
    one_bucket = (1).to_bytes(8, "little") + bytes(4)

    assert (40, deletion_vector.MAGIC - 1, 28) == (len(data), magic, size)
    assert [3, 4, 7, 11, 18, 29] == np.flatnonzero(decode(one_bucket + data[-28:]).mask(0, 100)).tolist()


@pytest.mark.parametrize(
    ("old", "new", "field", "reason"),
    [
        ("3a30", "3a31", "bitmaps[0].cookie", "the cookie is 12602"),
        ("01000000 00000100", "02000100 00000100", "bitmaps[0].size", "65538 containers"),
        (
            "10000000 0300",
            "11000000 0300",
            "bitmaps[0].offsets[0]",
            "offset of container 0 is 17, but it begins at 16",
        ),
        ("03000700", "07000300", "bitmaps[0].containers[0].numbers", "do not ascend"),
        ("03000700", "0300", "bitmaps[0].containers[0].numbers", "but only 2 are left"),
        ("01000000 00000000", "ffffffff ffffffff", "bitmaps[1].key", "but only 0 are left"),
    ],
)
def test_damage_is_named_with_its_place(old: str, new: str, field: str, reason: str) -> None:
    good = "01000000 00000000 00000000 3a300000 01000000 00000100 10000000 03000700".replace(" ", "")
    data = bytes.fromhex(good.replace(old.replace(" ", ""), new.replace(" ", ""), 1))
    with pytest.raises(Malformed, match=reason) as raised:
        decode(data)
    assert (field, True) == (raised.value.field, 0 <= (raised.value.offset or 0) <= len(data))


def test_a_count_that_is_no_count_of_the_numbers_is_malformed() -> None:
    bits = encoded(set(range(0, 60_000, 3)), as_runs=False)
    turned = bits[:-1] + bytes([bits[-1] ^ 1])
    with pytest.raises(Malformed, match="claims 20000 numbers, but holds 20001"):
        decode(turned)


def test_few_bytes_of_many_containers_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roaring, "MOST_CONTAINERS", 1 << 17)
    one = (1 << 16).to_bytes(4, "little")
    head = COOKIE.to_bytes(4, "little") + one
    described = b"".join(key.to_bytes(2, "little") + b"\0\0" for key in range(1 << 16))
    at = 8 + 8 * (1 << 16)
    offsets = b"".join((at + 2 * key).to_bytes(4, "little") for key in range(1 << 16))
    bitmap = head + described + offsets + bytes(2 << 16)
    count = 3
    data = count.to_bytes(8, "little") + b"".join(key.to_bytes(4, "little") + bitmap for key in range(count))
    with pytest.raises(Unsupported, match="more than 131,072 containers"):
        decode(data)


def test_no_damage_is_a_mistake_of_the_reader() -> None:
    dice = random.Random(25)
    samples = [encoded(some_values(dice), as_runs=as_runs) for as_runs in (False, True) for _ in range(2)]
    for _ in range(600):
        data = bytearray(dice.choice(samples))
        for _ in range(dice.randint(1, 4)):
            data[dice.randrange(min(len(data), 60))] = dice.choice([0, 1, 255, dice.randrange(256)])
        try:
            found = decode(bytes(data[: dice.choice([len(data), dice.randrange(len(data))])]))
        except FormatError:
            continue
        assert found.count >= int(found.mask(0, 70_000).sum())
