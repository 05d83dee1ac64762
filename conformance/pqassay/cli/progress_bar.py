"""A progress bar on stderr: files, findings, speed. It appears only on a terminal."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Generator
from typing import TYPE_CHECKING

from pqassay.report.model import FileReport

if TYPE_CHECKING:
    from rich import progress as bars


class ProgressBar:
    """A running progress bar."""

    def __init__(self, bar: bars.Progress) -> None:
        self._bar = bar
        self._task = bar.add_task("", total=None, remarks="looking for files")
        self._findings = 0

    def __call__(self, done: int, total: int, file: FileReport | None, /) -> None:
        """Show that one more file was judged. See `pqassay.judge.checker.Progress`."""
        self._findings += len(file.findings) if file is not None else 0
        self.show(done, total, self._findings)

    def show(self, done: int, total: int, findings: int | None = None) -> None:
        """Show how many files are done and, if findings are counted, how many there are so far."""
        speed = self._bar.tasks[0].speed
        remarks = [f"{speed:,.0f} files/s"] if speed and total > 1 else []
        if findings is not None:
            remarks.append(f"{findings} findings")
        self._bar.update(self._task, total=total, completed=done, remarks=", ".join(remarks))


@contextlib.contextmanager
def progress_bar() -> Generator[ProgressBar | None]:
    """A context that shows a bar; it yields the progress callback, or ``None`` without a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich import progress as bars
    from rich.console import Console

    columns = (
        bars.SpinnerColumn(),
        bars.MofNCompleteColumn(),
        bars.BarColumn(),
        bars.TextColumn("{task.fields[remarks]}"),
        bars.TimeElapsedColumn(),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield ProgressBar(bar)
