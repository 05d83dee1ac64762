"""The excerpt of a program's output: its beginning, its end, and the lines that name an error."""

from __future__ import annotations

from pqassay.report.run.outcomes import TELLING

KEPT = 16 << 10
"""Bytes that are kept from the beginning, and as many from the end."""

FIRST_LINES = 3
"""Lines of the beginning of a crash that are shown."""

MOST_LINES = 8
"""Lines that are told, at most."""


class Excerpt:
    """The beginning and the end of what is added, whatever its length."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._length = 0

    @property
    def full(self) -> bool:
        """True if more has come than is kept."""
        return self._length > 2 * KEPT

    def add(self, data: bytes) -> None:
        """Add a piece."""
        self._length += len(data)
        room = KEPT - len(self._head)
        self._head += data[:room]
        self._tail = (self._tail + data[room:])[-KEPT:]

    def text(self) -> str:
        """The kept pieces, with a line about those between them."""
        left_out = self._length - len(self._head) - len(self._tail)
        middle = f"\n… {left_out} bytes left out …\n".encode() if left_out else b""
        return (bytes(self._head) + middle + bytes(self._tail)).decode("utf-8", "replace")


def telling_lines(text: str) -> list[str]:
    r"""The first lines of an output, and later lines that name an error: the end of a stack trace is not informative.

    >>> telling_lines("a\nb\nc\nd\npanic: index out of range\ngoroutine 1")
    ['a', 'b', 'c', 'panic: index out of range']
    """
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    return [*lines[:FIRST_LINES], *(line for line in lines[FIRST_LINES:] if TELLING.search(line))][
        :MOST_LINES
    ]
