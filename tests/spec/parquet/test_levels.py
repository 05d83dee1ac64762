"""Levels and dictionary indexes: runs of one value and packed ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from each import each
from pqassay_spec.base.errors import Malformed
from pqassay_spec.parquet.encoding.levels import bit_width, decode, encode, packed_run, repeating_run

runs = st.lists(st.tuples(st.integers(0, 2**32 - 1), st.sampled_from([1, 3, 9, 20])), max_size=8)


@given(st.integers(0, 32), runs)
def test_what_is_encoded_is_decoded(width: int, runs: list[tuple[int, int]]) -> None:
    values = [value & (1 << width) - 1 for value, count in runs for _ in range(count)]
    raw = encode(values, width=width)

    assert (values, len(raw)) == decode(raw + b"behind", width=width, count=len(values))


@pytest.mark.parametrize(
    ("raw", "width", "values"),
    [
        ("0a 01", 1, [1] * 5),
        ("80 01 00", 1, [0] * 64),
        ("06 39 05", 12, [0x539] * 3),
        ("03 88 c6 fa", 3, list(range(8))),
        ("04 00 03 ff", 1, [0, 0, *[1] * 8]),
        ("06", 0, [0, 0, 0]),
        ("00 00 01 02 01", 1, [1]),
    ],
)
def test_the_bytes_of_runs_are_these(raw: str, width: int, values: list[int]) -> None:
    assert (values, len(bytes.fromhex(raw))) == decode(bytes.fromhex(raw), width=width, count=len(values))


def test_runs_are_built_as_the_format_says() -> None:
    assert bytes.fromhex("0a 01") == repeating_run(1, 5, width=1)
    assert bytes.fromhex("06 39 05") == repeating_run(0x539, 3, width=12)
    assert bytes.fromhex("03 88 c6 fa") == packed_run(range(8), width=3)
    assert bytes.fromhex("03 05") == packed_run([1, 0, 1], width=1)


def test_the_width_follows_from_the_greatest_level() -> None:
    assert [0, 1, 2, 2, 3, 10] == [bit_width(greatest) for greatest in (0, 1, 2, 3, 4, 1000)]


def test_a_packed_run_may_be_filled_up_and_its_filling_cut_off() -> None:
    assert ([1, 0, 1], 2) == decode(bytes.fromhex("03 05"), width=1, count=3)
    assert ([1, 0, 1], 3) == decode(bytes.fromhex("41 05 00"), width=1, count=3)  # 256 values, as DuckDB does
    assert ([1] * 9, 3) == decode(bytes.fromhex("07 ff ff"), width=1, count=9)


@each(
    ("raw", "width", "count", "reason", "offset"),
    [
        ("", 1, 1, "the runs end before the values do", 0),
        ("04 01", 1, 3, "the runs end before the values do", 2),
        ("80", 1, 1, "the runs end before the values do", 0),
        ("ff ff ff ff ff ff ff ff ff ff 01", 1, 1, "the runs end before the values do", 0),
        ("0a 01", 1, 4, "a run of 5 values where 4 are wanted at most", 0),
        ("0c 01", 12, 6, "a run is short of 1 byte", 0),
        ("02 01 07 ff", 1, 17, "a run is short of 1 byte", 2),
        ("0b", 9, 30, "a run is short of 34 bytes", 0),
    ],
)
def test_runs_that_do_not_fit_are_refused(raw: str, width: int, count: int, reason: str, offset: int) -> None:
    with pytest.raises(Malformed) as caught:
        decode(bytes.fromhex(raw), width=width, count=count)

    assert (reason, offset) == (caught.value.reason, caught.value.offset)
