"""Ctrl-C: an interrupted command always ends with one line on stderr and exit code 130.

A terminal sends the signal to every process of a command.  Before the command begins, there is nothing to
clean up, and Ctrl-C ends the process at once. Inside the command it is an exception, so drivers, workers and
temporary files are cleaned up first. A second Ctrl-C ends the process without cleaning up.  Once the command
has done its work, Ctrl-C has no effect any more.

This module imports nothing that Python has not loaded itself.  Until it is imported, Python handles Ctrl-C. At first that ends the process
silently, later with a traceback.  We cannot change that while Python starts, or while the script of an installer imports ``re``.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # of typing, which takes longer to load than all that is needed here

if TYPE_CHECKING:
    import signal
    from collections.abc import Callable
    from types import FrameType

    Handler = Callable[[int, FrameType | None], object] | signal.Handlers
else:
    import _signal as signal  # what `signal` has without its enums, which take longer to load than all else here

INTERRUPTED = 130
"""Exit code after Ctrl-C, as in shells."""

RESENT = 0.05
"""Seconds until an interrupt is sent again, if it arrived in code that cannot raise exceptions."""

LINE = b"error: interrupted\n"


class Interrupted(SystemExit):
    """Ctrl-C within a command. Libraries handle `KeyboardInterrupt` with their own message and exit code, but not this class."""

    def __init__(self) -> None:
        super().__init__(INTERRUPTED)


def end_at_once() -> None:
    """Make Ctrl-C end this process with one line and no cleanup, from now on. For the entry point of a command."""
    _listen(_end)


class CleanEnd:
    """A context in which Ctrl-C raises `Interrupted`; that exception ends the context with one line and exit code 130."""

    def __enter__(self) -> None:
        self._hook = sys.unraisablehook
        sys.unraisablehook = self._unraisable
        _listen(_raise)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Ignore later interrupts; if the command was interrupted, print one line and exit with code 130."""
        _listen(signal.SIG_IGN)
        sys.unraisablehook = self._hook
        if isinstance(error, (Interrupted, KeyboardInterrupt)):
            sys.stderr.flush()
            os.write(2, LINE)
            raise SystemExit(INTERRUPTED) from None

    def _unraisable(self, unraisable: sys.UnraisableHookArgs) -> None:
        """Handle an interrupt in a destructor or a callback, which would otherwise print a traceback and be ignored."""
        if isinstance(unraisable.exc_value, (Interrupted, KeyboardInterrupt)):
            _listen(_raise)
            signal.signal(signal.SIGALRM, _raise)
            signal.setitimer(signal.ITIMER_REAL, RESENT)
        else:
            self._hook(unraisable)


def _listen(handler: Handler) -> None:
    """Handle SIGINT, unless the parent process had it ignored, or this is not the main thread."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        return
    try:
        signal.signal(signal.SIGINT, handler)
    except ValueError:
        return


def _end(*_: object) -> None:
    os.write(2, LINE)
    os._exit(INTERRUPTED)


def _raise(*_: object) -> None:
    signal.signal(signal.SIGINT, _end)
    raise Interrupted
