"""The bytes that are not those of the same field: what only moved is not among them."""

from __future__ import annotations

from pathlib import Path

import pytest
from pages.cases.changed_bytes import changed_bytes

from places import GOLDEN_FILES
from pqassay.difference.fields import Fields
from pqassay_spec.base.sources import BytesSource

PLAIN = GOLDEN_FILES / "pqf" / "plain" / "data.parquet"


def ranges(old: bytes, new: bytes) -> list[tuple[int, int]]:
    return changed_bytes(Fields(BytesSource(old), "parquet"), Fields(BytesSource(new), "parquet"))


def changed(old: bytes, new: bytes) -> list[bytes]:
    """The bytes of the ranges."""
    return [new[start:end] for start, end in ranges(old, new)]


def test_the_same_file_has_none() -> None:
    raw = PLAIN.read_bytes()
    assert changed(raw, raw) == []


@pytest.mark.parametrize("name", ["pqf/footer-length-zero", "sta/max-too-small"])
def test_of_files_of_one_size_in_which_nothing_moved_they_are_those_that_differ(name: str) -> None:
    path = GOLDEN_FILES / name / "data.parquet"
    parent = "pqf/plain" if name.startswith("pqf") else "sta/counted"
    old, new = Path(GOLDEN_FILES / parent / "data.parquet").read_bytes(), path.read_bytes()
    differing = [place for place, pair in enumerate(zip(old, new, strict=True)) if pair[0] != pair[1]]
    assert [place for start, end in ranges(old, new) for place in range(start, end)] == differing


def test_what_an_inserted_byte_moves_is_not_among_them() -> None:
    old = PLAIN.read_bytes()
    creator = old.index(b"pqassay-reference")
    new = bytearray(old[:creator] + b"X" + old[creator:])
    new[creator - 1] += 1  # the length of the text
    new[-8:-4] = (int.from_bytes(old[-8:-4], "little") + 1).to_bytes(4, "little")
    assert changed(old, bytes(new)) == [new[creator - 1 : creator + 1], new[-8:-7]]
