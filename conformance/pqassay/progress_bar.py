"""A progress bar on stderr: files, findings, speed. On a terminal only."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Generator

from pqassay.checker import Progress
from pqassay.report import FileReport


@contextlib.contextmanager
def progress_bar() -> Generator[Progress | None]:
    """Show a bar while a check runs; yields what the check has to tell, ``None`` where there is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich import progress as bars  # noqa: PLC0415 - as above
    from rich.console import Console  # noqa: PLC0415 - only a terminal needs it

    columns = (
        bars.SpinnerColumn(),
        bars.MofNCompleteColumn(),
        bars.BarColumn(),
        bars.TextColumn("{task.fields[speed]}{task.fields[findings]} findings"),
        bars.TimeElapsedColumn(),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, findings=0, speed="")
        findings = 0

        def tell(done: int, total: int, file: FileReport | None) -> None:
            nonlocal findings
            findings += len(file.findings) if file is not None else 0
            speed = bar.tasks[0].speed
            bar.update(
                task,
                total=total,
                completed=done,
                findings=findings,
                speed=f"{speed:,.0f} files/s, " if speed and total > 1 else "",
            )

        yield tell
