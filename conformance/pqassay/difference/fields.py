"""The fields of a file by path, as `pqassay.dump` returns them."""

from __future__ import annotations

from collections import Counter

from pqassay.dump import dump
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import Source
from pqassay_spec.grammar.hexdump import show
from pqassay_spec.grammar.trace import Leaf

MOST_FIELDS = 2_000_000
"""The largest number of fields of one file that fit in memory."""

SHORT = 32
"""The number of bytes of a value that are kept; longer values are read again to show them."""

WINDOW = 1 << 20
"""The number of bytes per read."""


class TooManyFields(Exception):  # noqa: N818 - a limit of ours, not the file's fault
    """A file has more than `MOST_FIELDS` fields."""


class Fields:
    """All fields of one file.

    Args:
        source: The file; it stays open during the comparison.
        kind: Its kind.

    Attributes:
        leaves: Its leaves by path. If a path has several leaves, the second has the key ``PATH#1``, and so on.
        errors: The error that ended reading.

    Raises:
        TooManyFields: The file has too many fields.
    """

    def __init__(self, source: Source, kind: str) -> None:
        self.source = source
        self.leaves: dict[str, Leaf] = {}
        self._repeated: Counter[str] = Counter()
        self._start, self._window = 0, b""
        self.errors: list[FormatError] = dump(source, self._take, kind)

    def _take(self, leaves: list[Leaf]) -> None:
        if len(self.leaves) + len(leaves) > MOST_FIELDS:
            raise TooManyFields(f"{self.source.name}: more than {MOST_FIELDS:,} fields, too many to compare")
        for leaf in leaves:
            key = leaf.path
            if key in self.leaves:
                self._repeated[key] += 1
                key = f"{key}#{self._repeated[key]}"
            is_long = isinstance(leaf.value, (bytes, str)) and leaf.length > SHORT
            self.leaves[key] = leaf._replace(value=leaf.value[:SHORT]) if is_long else leaf

    def read(self, offset: int, length: int) -> bytes:
        """Read bytes of the file; neighboring ranges share one read."""
        local = offset - self._start
        if local < 0 or local + length > len(self._window):
            self._start, local = offset, 0
            self._window = self.source.read(offset, min(max(length, WINDOW), self.source.size - offset))
        return self._window[local : local + length]


def same_bytes(old: Fields, new: Fields, before: tuple[int, int], after: tuple[int, int]) -> bool:
    """Whether both files have the same bytes at two places, each given as offset and length."""
    if before[1] != after[1]:
        return False
    return all(
        old.read(before[0] + done, size) == new.read(after[0] + done, size)
        for done in range(0, before[1], WINDOW)
        for size in (min(WINDOW, before[1] - done),)
    )


def same_ends(old: bytes, new: bytes) -> tuple[int, int]:
    """The lengths of the common prefix and, after it, of the common suffix of two values.

    >>> same_ends(b"abcd", b"abXXd")
    (2, 1)
    """
    shorter = min(len(old), len(new))
    first = next((k for k in range(shorter) if old[k] != new[k]), shorter)
    last = next((k for k in range(shorter - first) if old[-1 - k] != new[-1 - k]), shorter - first)
    return first, last


def shown(leaf: Leaf, source: Source) -> str:
    """The value of a field as text for people."""
    if isinstance(leaf.value, (bytes, str)) and leaf.length > SHORT:
        cut = source.read(leaf.offset, min(leaf.length, 4 * SHORT))
        value = cut if isinstance(leaf.value, bytes) else cut.decode("utf-8", "replace")
        text = show(value, width=56)
        return text if leaf.length <= len(cut) else f"{text.rstrip('…')}… ({leaf.length} bytes)"
    return show(leaf.value, leaf.label, 72)
