"""The command ``pqassay suite future``: test drivers with files that use possible later versions of the format."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pqassay_spec.base.help_pages import epilog, example
from pqassay_suite.cli.driver import DriverCommand, failing, named_drivers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pqassay_suite.cli.driver import NamedDriver
    from pqassay_suite.future.asking import Survival
    from pqassay_suite.future.files import FutureFile

EPILOG = epilog(
    "`pqassay suite future --driver duckdb --driver pyarrow`",
    "`pqassay suite future --output future.json -- python3 driver.py`",
    codes="0 no wrong rows and no crash, 1 wrong rows or a crash, 2 usage",
)


@example(EPILOG)
def future(
    driver: DriverCommand = None,
    shipped: Annotated[
        list[str] | None,
        typer.Option(
            "--driver",
            metavar="NAME",
            help="Driver that comes with pqassay; may be repeated.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the results as JSON.", show_default=False)
    ] = None,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.1, help="Processor time for one request.")
    ] = 10.0,
) -> None:
    """Test what a driver does with unknown enum values, union members, fields and pages.

    Each file has a twin that is readable today. `*` marks a broken promise of the format.
    """  # fmt: skip
    from pqassay.cli.output import write_output
    from pqassay_suite.cases.case import CaseError
    from pqassay_suite.future.asking import GRAVE
    from pqassay_suite.future.files import future_files

    named = named_drivers(driver or [], shipped or [])
    with failing(CaseError):
        files = future_files()
    results = dict(_asked(one, files, timeout) for one in named)
    if output is not None:
        write_output(_json(files, results), output)
    _show(files, results)
    grave = any(one.outcome in GRAVE for found in results.values() for one in found)
    raise typer.Exit(1 if grave else 0)


def _asked(named: NamedDriver, files: Sequence[FutureFile], timeout: float) -> tuple[str, list[Survival]]:
    """The name and version of a driver, and its result for each file."""
    from pqassay_suite.drivers.driver import DriverUnderTest, Settings
    from pqassay_suite.drivers.process import Limits
    from pqassay_suite.future.asking import survivals

    limits = Limits(max(timeout, named.seconds or 0))
    settings = Settings(named.command, limits, jobs=1)
    with failing(), contextlib.closing(DriverUnderTest(settings)) as under_test:
        hello = under_test.greet()
        label = f"{hello.name} {hello.version}" if hello else named.label
        return label, survivals(under_test, files)


def _json(files: Sequence[FutureFile], results: Mapping[str, Sequence[Survival]]) -> str:
    kinds = [
        {"id": file.id, "title": file.title, "twin": file.twin_id, "promise": file.promise} for file in files
    ]
    drivers = {
        label: {
            one.id: {"outcome": one.outcome, "kept": one.is_kept, **({"details": one.details} if one.details else {})}
            for one in found
        }
        for label, found in results.items()
    }  # fmt: skip
    return json.dumps({"files": kinds, "drivers": drivers}, indent=1, ensure_ascii=False) + "\n"


def _show(files: Sequence[FutureFile], results: Mapping[str, Sequence[Survival]]) -> None:
    """Print a line for each file, with a column for each driver, then a summary of kept promises."""
    head = ["file", "promise", *results]
    lines = [
        [
            file.id,
            file.promise,
            *(
                f"{one.outcome}{'' if one.is_kept else ' *'}"
                for one in (answers[place] for answers in results.values())
            ),
        ]
        for place, file in enumerate(files)
    ]
    widths = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
    for line in (head, *lines):
        typer.echo("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())
    for label, answers in results.items():
        asked = [one for one in answers if one.outcome != "not today"]
        kept = sum(one.is_kept for one in asked)
        typer.echo(
            f"{label}: {kept} of {len(asked)} promises kept, {len(answers) - len(asked)} files not asked"
        )
