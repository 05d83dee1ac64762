"""Golden cases of damaged values with true statistics."""

from __future__ import annotations

import struct
from functools import partial

from pqassay_golden.recipes import Good, bad, set_to
from pqassay_golden.tiny.parquet import Column, Encoding, Layout, TinyParquet

DEPTHS = [1.5, 2.25, 3.125, 4.0625, 5.5, 6.75]
YEARS = [1958, 1963, 1958, 1975, 1980, 1991]

FILE = TinyParquet(
    (
        Column(
            "depth",
            "double",
            DEPTHS,
            optional=False,
            layout=Layout(encoding=Encoding.BYTE_STREAM_SPLIT, crc=False),
        ),
        Column("year", "int64", YEARS, optional=False),
    ),
    page_index=True,
    layout=Layout(crc=False),
)
"""Pages without levels and without CRC, whose bodies are their values."""

HALF = 3
"""Values that are split into streams together; a page does it twice."""


def _streams(values: list[float]) -> bytes:
    """Values in BYTE_STREAM_SPLIT encoding."""
    raw = struct.pack(f"<{len(values)}d", *values)
    return b"".join(raw[byte::8] for byte in range(8))


def _body(column: int) -> str:
    return f"row_groups[0].columns[{column}].pages[0].body"


GOOD = (
    Good("sta/values-of-two-encodings", "Statistics and page index, and pages that are nothing but values", FILE, ["=", "year", 1975], rules=("STA-040", "STA-041"), misread_by=("fastparquet",), since="0.7.0"),
)  # fmt: skip

READ_WRONG = "Readers return other values than were written, and nothing but the statistics shows it."

_damaged = partial(bad, since="0.7.0", tier="values")

BAD = (
    _damaged("sta/streams-split-twice", "A page holds the streams of its first three values and then those of the others, and the bounds are those of the values that were written", READ_WRONG, "sta/values-of-two-encodings", set_to(_body(0), _streams(DEPTHS[:HALF]) + _streams(DEPTHS[HALF:])), "PIX-050"),
    _damaged("sta/bytes-of-values-reversed", "The bytes of each value are in reverse, and the bounds are those of the values that were written", READ_WRONG, "sta/values-of-two-encodings", set_to(_body(1), struct.pack(">6q", *YEARS)), "PIX-050"),
    _damaged("sta/page-of-zeros", "All bytes of a page are zero, and the bounds are those of the values that were written", READ_WRONG, "sta/values-of-two-encodings", set_to(_body(1), bytes(8 * len(YEARS))), "PIX-050"),
)  # fmt: skip
