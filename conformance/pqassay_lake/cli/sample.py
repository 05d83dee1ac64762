"""The command ``pqassay sample``.

Exit codes: those of ``pqassay check``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pqassay.cli.check.options import Given, Request, checking
from pqassay.cli.check.running import Conclude, run
from pqassay.cli.failure import fail
from pqassay.errors import UsageError
from pqassay_spec.base.help_pages import example

if TYPE_CHECKING:
    from pqassay.judge.checker import CheckPlan, Outcome, Progress, Work

EPILOG = """Examples:

`pqassay sample s3://bucket/sales` (are more than 1% of the files broken?)

`pqassay sample --bound 0.3% --confidence 99 --reuse findings lake/`

`pqassay sample --bound 200 lake/` (judge 200 files)

Exit codes: those of `pqassay check`.
"""

BOUND = "1%"


@example(EPILOG)
@checking()
def sample(
    given: Given,
    *,
    bound: Annotated[
        str,
        typer.Option(
            metavar="BOUND",
            help="Share of broken files to rule out, or number to check.",
        ),
    ] = BOUND,
    seed: Annotated[int, typer.Option(metavar="N", help="Random seed.")] = 0,
    confidence: Annotated[
        float, typer.Option(metavar="PERCENT", help="Confidence level of the bounds.")
    ] = 95,
) -> None:
    """Check a random sample; report how many files may be broken."""
    run(given, conclude=sampling(bound, seed, confidence), is_partial=True)


def sampling(bound: str, seed: int | None = None, confidence: float | None = None) -> Conclude:
    """A function that judges a sample instead of all files."""
    from pqassay_lake.running import carried_out
    from pqassay_lake.sampling import wish_of

    try:
        wish = wish_of(bound, seed or 0, 95 if confidence is None else confidence)
    except UsageError as error:
        fail(str(error))

    def conclude(
        request: Request, plan: CheckPlan, work: Work, started: int, progress: Progress | None
    ) -> Outcome:
        return carried_out(
            plan,
            work,
            started=started,
            table=request.table,
            is_reused=request.is_reused,
            wish=wish,
            progress=progress,
        )

    return conclude
