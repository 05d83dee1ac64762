"""The default time limit for judging one file, and its enforcement for files that are judged in this process.

Judging is fast, but a small file may have very many structures, such as twenty million empty structs in a footer.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Generator

TIMEOUT_BASE = 60.0
"""The basic time of every file, in seconds."""

TIMEOUT_BYTES_PER_SECOND = 1_000_000
"""The number of bytes for which a file gets one more second; the real speed is a hundred times higher."""

AGAIN = 1.0
"""Seconds until the alarm repeats, in case the first one came in code that cannot raise."""


class OutOfTime(BaseException):
    """The time is over. Unlike errors of a check, this ends the judging of the file."""


def default_seconds(size: int) -> float:
    """The default time in seconds for a file of a size in bytes."""
    return TIMEOUT_BASE + size / TIMEOUT_BYTES_PER_SECOND


def out_of_time(seconds: float) -> str:
    """The reason why a file that exceeded its time is not judged."""
    return f"judging it took longer than {seconds:.0f} s; raise --timeout"


@contextlib.contextmanager
def limited(seconds: float) -> Generator[None]:
    """A context that raises `OutOfTime` after a time.

    There is no limit outside the main thread, where Python handles no signals, or if the program has its own alarm.
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
