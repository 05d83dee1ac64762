"""The command ``pqassay estimate``.

Exit codes: 0 estimated; 2 wrong usage, or nothing to check.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from pqassay.cli.check.options import Given, Request, checking, request_of
from pqassay.cli.check.running import OnThisMachine, processes
from pqassay.cli.failure import require_format
from pqassay.cli.output import fail_with_lines, interruptible, write_output
from pqassay.errors import UsageError
from pqassay.report.formats import FormatName
from pqassay_spec.base.help_pages import example

if TYPE_CHECKING:
    from pqassay.judge.checker import CheckPlan

EPILOG = """Examples:

`pqassay estimate s3://bucket/sales`

`pqassay estimate --jobs 16 --latency 15 --request-price 0.0005 --format json s3://bucket/sales`

Exit codes: 0 estimated, 2 usage, or nothing to check.
"""


@example(EPILOG)
@checking(without=("Gate", "history", "metrics", "timeout", "memory", "verbose"))
def estimate(
    given: Given,
    *,
    latency: Annotated[
        float | None,
        typer.Option(
            metavar="MS", min=0, help="Time to first byte, in milliseconds. Default: 30.", show_default=False
        ),
    ] = None,
    bandwidth: Annotated[
        float | None,
        typer.Option(
            metavar="MB",
            min=0.001,
            help="Bandwidth of one read, in MB per second. Default: 80.",
            show_default=False,
        ),
    ] = None,
    request_price: Annotated[
        float | None,
        typer.Option(
            "--request-price",
            metavar="DOLLARS",
            min=0,
            help="Price of 1,000 read requests. Default: 0.0004.",
            show_default=False,
        ),
    ] = None,
    gb_price: Annotated[
        float | None,
        typer.Option(
            "--gb-price",
            metavar="DOLLARS",
            min=0,
            help="Price of reading one GB. Default: 0, as within one region.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Predict what a check would cost: requests, bytes, time, money."""
    estimated(given, latency, bandwidth, request_price, gb_price)


def estimated(
    given: Given,
    latency: float | None = None,
    bandwidth: float | None = None,
    request_price: float | None = None,
    gb_price: float | None = None,
) -> NoReturn:
    """Print an estimate; the arguments are the values of the command line, or ``None``."""
    from pqassay.judge.checker import planned
    from pqassay.stores.table_files import counted_metadata
    from pqassay.tables.kept import kept_states
    from pqassay_lake.cost.estimate import USUAL_PACE, USUAL_PRICES, StorePace, StorePrices
    from pqassay_lake.cost.prediction import predicted

    pace = StorePace(
        USUAL_PACE.latency_ms if latency is None else latency,
        USUAL_PACE.mb_per_second if bandwidth is None else bandwidth,
    )
    prices = StorePrices(
        USUAL_PRICES.requests if request_price is None else request_price,
        USUAL_PRICES.gb if gb_price is None else gb_price,
    )
    try:
        request = request_of(given, is_recorded=False)
        require_format(request.format, "an estimate is only printed", (FormatName.TEXT, FormatName.JSON))
        with interruptible(), kept_states(), counted_metadata() as metadata:
            plan = planned(request.paths, **request.options)
            request.require_apart([target.name for target in plan.targets])
            plan, kept = _without_known(plan, request)
            prediction = predicted(
                plan, metadata, jobs=processes(request.limits.get("jobs")), prices=prices, pace=pace
            )
    except UsageError as error:
        fail_with_lines(str(error))
    prediction = replace(prediction, kept=kept)
    workers = f"{prediction.cores} worker{'s' * (prediction.cores > 1)}"
    how = f"predicted from the footers of {prediction.looked_at} of them, for {workers} and a store with {pace}, {prices}"
    text = prediction.to_json() if request.format is FormatName.JSON else "\n".join(prediction.lines(how))
    if request.output is None:
        typer.echo(text)
    else:
        write_output(f"{text}\n", request.output)
    raise typer.Exit


def _without_known(plan: CheckPlan, request: Request) -> tuple[CheckPlan, int]:
    """The plan without files whose verdicts come from a findings table, and the number of these files."""
    if request.table is None or not request.is_reused:
        return plan, 0
    from pqassay_lake.history.file_stamps import stamps
    from pqassay_lake.history.verdict_cache import VerdictCache

    cache = VerdictCache(request.table, plan.settings)
    kept = cache.all_kept(plan.targets, stamps(plan.targets), OnThisMachine(request.limits).etags)
    rest = [position for position in range(len(plan.targets)) if position not in kept]
    return replace(plan, found=plan.found.reduced(rest, "known")), len(kept)
