"""Shared parts of commands for many files: a progress bar on stderr while they are opened, and errors in one line."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Generator
from typing import Any

from pqassay_reference.cli.errors import fail, message_of


@contextlib.contextmanager
def progress_bar(what: str) -> Generator[Callable[[int, int], Any] | None]:
    """A function to call with the number of finished files and of all files; ``None`` if stderr is not a terminal.

    Args:
        what: A name for the files, shown by the bar.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextlib.contextmanager
def reported_files(path: str) -> Generator[None]:
    """End the command with one line for any error in the files of a path or URI, or in the question."""
    import pyarrow as pa

    from pqassay_reference.errors import Refused, Undecodable
    from pqassay_spec.base.errors import FormatError

    if "://" not in path and not os.path.exists(path):
        fail(f"{path}: no such file or folder", 2)
    try:
        yield
    except (Refused, Undecodable, FormatError) as error:
        fail(str(error), 1)
    except FileNotFoundError as error:
        fail(message_of(error, path), 2)
    except MemoryError:
        fail(f"{path}: there is not enough memory for it", 1)
    except (pa.ArrowException, OSError, ValueError) as error:
        fail(message_of(error, path), 1)
