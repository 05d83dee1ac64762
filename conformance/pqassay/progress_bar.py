"""A progress bar on stderr: files, findings, speed. On a terminal only."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Generator
from typing import TYPE_CHECKING

from pqassay.report import FileReport

if TYPE_CHECKING:
    from rich import progress as bars


class ProgressBar:
    """A bar on its way; what a check tells is shown on it."""

    def __init__(self, bar: bars.Progress) -> None:
        self._bar = bar
        self._task = bar.add_task("", total=None, findings=0, speed="")
        self._findings = 0

    def __call__(self, done: int, total: int, file: FileReport | None, /) -> None:
        """Show that one more file is judged. See `pqassay.checker.Progress`."""
        self._findings += len(file.findings) if file is not None else 0
        self.show(done, total, self._findings)

    def show(self, done: int, total: int, findings: int) -> None:
        """Show how many files are judged, and how many findings there are so far."""
        speed = self._bar.tasks[0].speed
        self._bar.update(
            self._task,
            total=total,
            completed=done,
            findings=findings,
            speed=f"{speed:,.0f} files/s, " if speed and total > 1 else "",
        )


@contextlib.contextmanager
def progress_bar() -> Generator[ProgressBar | None]:
    """Show a bar while a check runs; yields what the check has to tell, ``None`` where there is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich import progress as bars  # noqa: PLC0415 - only a terminal needs it
    from rich.console import Console  # noqa: PLC0415 - as above

    columns = (
        bars.SpinnerColumn(),
        bars.MofNCompleteColumn(),
        bars.BarColumn(),
        bars.TextColumn("{task.fields[speed]}{task.fields[findings]} findings"),
        bars.TimeElapsedColumn(),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield ProgressBar(bar)
