"""The command ``pqassay prove``: the effect of findings on the installed engines.

Exit codes: those of ``pqassay check``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from pqassay.cli.check.options import Given, Request, checking
from pqassay.cli.check.running import run
from pqassay.cli.failure import fail
from pqassay.cli.output import interruptible
from pqassay.cli.progress_bar import progress_bar
from pqassay.errors import UsageError
from pqassay_spec.base.help_pages import example

if TYPE_CHECKING:
    from pqassay.report.model import Report

EPILOG = """Examples:

`pqassay prove part-0.parquet`

`pqassay prove --engine duckdb --engine polars part-0.parquet`

Exit codes: those of `pqassay check`.
"""


@example(EPILOG)
@checking(without=("history", "metrics", "reuse"))
def prove(
    given: Given,
    *,
    engine: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Query only this engine; repeatable. Default: all installed ones."),
    ] = None,
    spark_packages: Annotated[
        str | None,
        typer.Option(
            "--spark-packages",
            metavar="PACKAGE",
            help="Maven package that lets Spark read Delta or Iceberg, as GROUP:NAME:VERSION.",
        ),
    ] = None,
) -> None:
    """Query the installed engines, and show which return wrong rows."""
    run(given, is_recorded=False, tier="values", revise=proving(engine or [], spark_packages or ""))


def proving(engines: Sequence[str], spark_packages: str) -> Callable[[Request, Report], Report]:
    """A function that proves the findings of a report; names of engines are validated before files are judged."""
    from pqassay.proof.engines import require_engines

    try:
        require_engines(list(engines))
    except UsageError as error:
        fail(str(error))

    def proved(request: Request, report: Report) -> Report:
        from pqassay.proof import trial

        with interruptible(), progress_bar() as progress:
            return trial.proved(
                report,
                engines=list(engines),
                spark_packages=spark_packages,
                timeout=request.limits.get("timeout"),
                memory=request.limits.get("memory"),
                progress=None if progress is None else progress.show,
            )

    return proved
