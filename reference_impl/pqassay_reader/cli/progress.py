"""A bar on stderr while files of a lake are opened."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Generator
from typing import Any


@contextlib.contextmanager
def progress_bar(what: str) -> Generator[Callable[[int, int], Any] | None]:
    """What takes how many are done, of how many; ``None`` where there is no terminal.

    Args:
        what: What is read, for people.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
