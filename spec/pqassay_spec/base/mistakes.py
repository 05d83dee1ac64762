"""Errors of a command itself: two lines on stderr, and an exit code that means nothing about any file.

For scripts, exit code 1 means *there are findings*. A broken installation or a crashed program must never
end with it.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Generator
from pathlib import Path

from pqassay_spec.base.terminal import printable

SOFTWARE = 70
"""Exit code of a program that failed because of its own error: ``EX_SOFTWARE`` of ``sysexits.h``."""

TRACEBACK = "PQASSAY_TRACEBACK"
"""The environment variable that asks for the whole traceback."""


@contextlib.contextmanager
def own_mistakes(program: str) -> Generator[None]:
    """Run a command so that an unexpected error is two lines on stderr and exit code 70."""
    try:
        yield
    except (ImportError, OSError) as error:  # what files and outputs do is spoken of before
        _end(
            error,
            f"this installation of {program} is broken: {error}",
            "`pip check` says more; install it again",
        )
    except MemoryError as error:
        _end(error, "there is not enough memory", "nothing was judged")
    except Exception as error:  # noqa: BLE001 - that is what this is for
        _end(error, mistake(program, error), f"{TRACEBACK}=1 shows where it comes from")


def mistake(program: str, error: Exception) -> str:
    """The message about an unexpected error, in one line."""
    import traceback  # noqa: PLC0415 - a command that works needs none

    where = traceback.extract_tb(error.__traceback__)[-1]
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return (
        f"a mistake in {program}, please report it: {what} ({Path(where.filename).name}, line {where.lineno})"
    )


def show_traceback(error: Exception) -> None:
    """Print the traceback of an error, if the environment asks for it."""
    if os.environ.get(TRACEBACK):
        import traceback  # noqa: PLC0415 - as above

        traceback.print_exception(error)


def _end(error: Exception, what: str, hint: str) -> None:
    show_traceback(error)
    print(f"error: {printable(what)}\n{printable(hint)}", file=sys.stderr)  # noqa: T201 - what a command says last
    sys.exit(SOFTWARE)
