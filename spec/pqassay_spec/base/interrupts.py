"""Ctrl-C: a command that is interrupted ends with one line on stderr and exit code 130, at whatever moment.

A terminal sends the signal to every process of a command.  Before the command begins, there is nothing to
clean up, and Ctrl-C ends the process at once. Inside the command it is an exception, so drivers, workers and
temporary files are cleaned up first. A second Ctrl-C ends the process without cleaning up.  Once the command
has done its work, Ctrl-C changes nothing any more.

This module imports nothing that Python has not loaded itself.  Until it is there, Ctrl-C is what Python makes of it: at first the end of
the process without a word, then a traceback.  While Python starts, and while the script of an installer imports ``re``, that cannot be helped.
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
"""Exit code after Ctrl-C, as shells have it."""

RESENT = 0.05
"""Seconds after which an interrupt is sent again that fell into code from which nothing can be raised."""

LINE = b"error: interrupted\n"


class Interrupted(SystemExit):
    """Ctrl-C within a command. Unlike for `KeyboardInterrupt`, no library has words or an exit code of its own for it."""

    def __init__(self) -> None:
        super().__init__(INTERRUPTED)


def end_at_once() -> None:
    """From now on Ctrl-C ends this process with one line; nothing is cleaned up. For the entry point of a command."""
    _listen(_end)


class CleanEnd:
    """A context in which Ctrl-C is an exception, `Interrupted`; leaving it by that is one line and exit code 130."""

    def __enter__(self) -> None:
        self._hook = sys.unraisablehook
        sys.unraisablehook = self._unraisable
        _listen(_raise)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Say that the command was interrupted, unless that has been said; what follows is left alone."""
        _listen(signal.SIG_IGN)
        sys.unraisablehook = self._hook
        if isinstance(error, (Interrupted, KeyboardInterrupt)):
            sys.stderr.flush()
            os.write(2, LINE)
            raise SystemExit(INTERRUPTED) from None

    def _unraisable(self, found: sys.UnraisableHookArgs) -> None:
        """An interrupt that fell into a destructor or a callback would be a traceback, and the command would go on."""
        if isinstance(found.exc_value, (Interrupted, KeyboardInterrupt)):
            _listen(_raise)
            signal.signal(signal.SIGALRM, _raise)
            signal.setitimer(signal.ITIMER_REAL, RESENT)
        else:
            self._hook(found)


def _listen(handler: Handler) -> None:
    """Take SIGINT, unless who started this process had it ignored, or it is not the main thread's to take."""
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
