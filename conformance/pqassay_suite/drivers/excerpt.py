"""The excerpt of a program's output: its beginning, its end, and the lines that name an error."""

from __future__ import annotations

from pqassay.report.run.outcomes import TELLING

KEPT = 16 << 10
"""Bytes to keep from the beginning, and the same number from the end."""

FIRST_LINES = 3
"""Lines of the beginning of a crash to show."""

MOST_LINES = 8
"""Most lines to show."""


class Excerpt:
    """The beginning and the end of the added bytes, in limited memory."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._length = 0

    @property
    def full(self) -> bool:
        """Whether more has been added than is kept."""
        return self._length > 2 * KEPT

    def add(self, data: bytes) -> None:
        """Add some bytes."""
        self._length += len(data)
        room = KEPT - len(self._head)
        self._head += data[:room]
        self._tail = (self._tail + data[room:])[-KEPT:]

    def text(self) -> str:
        """The kept parts, with a line about the omitted part between them."""
        left_out = self._length - len(self._head) - len(self._tail)
        middle = f"\n… {left_out} bytes left out …\n".encode() if left_out else b""
        return (bytes(self._head) + middle + bytes(self._tail)).decode("utf-8", "replace")


def telling_lines(text: str) -> list[str]:
    r"""The most informative lines of an output: the first ones, and later lines that name an error.

    >>> telling_lines("a\nb\nc\nd\npanic: index out of range\ngoroutine 1")
    ['a', 'b', 'c', 'panic: index out of range']
    """
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    return [*lines[:FIRST_LINES], *(line for line in lines[FIRST_LINES:] if TELLING.search(line))][
        :MOST_LINES
    ]
