"""The time that judging one file may take, by default, and a limit on it for files that are judged in this process.

Nothing that is judged here is slow in itself, but a file may hold more than it seems to: twenty million empty structs in
a footer, say.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Generator

TIMEOUT_BASE = 60.0
"""Seconds that every file has by default."""

TIMEOUT_BYTES_PER_SECOND = 1_000_000
"""Bytes for which a file has one second more; real speed is a hundred times that."""

AGAIN = 1.0
"""Seconds after which the end is told again, where it fell into code from which nothing can be raised."""


class OutOfTime(BaseException):
    """The time is over. This ends the judging of a file, unlike an error of a check, which others survive."""


def default_seconds(size: int) -> float:
    """Seconds that a file of a size in bytes has by default."""
    return TIMEOUT_BASE + size / TIMEOUT_BYTES_PER_SECOND


def out_of_time(seconds: float) -> str:
    """The reason why a file that took longer is not judged."""
    return f"judging it took longer than {seconds:.0f} s; raise --timeout"


@contextlib.contextmanager
def limited(seconds: float) -> Generator[None]:
    """Raise `OutOfTime` in a block that takes longer.

    There is no limit outside the main thread, where Python takes no signals, and where the program has an alarm of its own.
    """
    try:
        is_free = signal.getsignal(signal.SIGALRM) is signal.SIG_DFL and not any(
            signal.getitimer(signal.ITIMER_REAL)
        )
        if is_free:
            signal.signal(signal.SIGALRM, _end)
    except (ValueError, AttributeError):  # another thread; another system
        is_free = False
    if not is_free:
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def _end(*_: object) -> None:
    raise OutOfTime
