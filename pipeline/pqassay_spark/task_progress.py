"""A progress bar on stderr for work on files: how many are done, how fast. On a terminal only."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Generator


@contextlib.contextmanager
def task_progress() -> Generator[Callable[[int, int], None] | None]:
    """Show a bar; yields what is told how many files are done of how many, ``None`` where there is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich import progress as bars  # noqa: PLC0415 - only a terminal needs it
    from rich.console import Console  # noqa: PLC0415 - as above

    columns = (
        bars.SpinnerColumn(),
        bars.MofNCompleteColumn(),
        bars.BarColumn(),
        bars.TextColumn("{task.fields[speed]}"),
        bars.TimeElapsedColumn(),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, speed="")

        def tell(done: int, total: int) -> None:
            speed = bar.tasks[0].speed
            bar.update(task, total=total, completed=done, speed=f"{speed:,.0f} files/s" if speed else "")

        yield tell
