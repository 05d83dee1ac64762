"""The command ``pqassay check``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pqassay.cli.check.baseline import first_time, writing
from pqassay.cli.check.options import RENAMED, Given, Renamed, Request, checking
from pqassay.cli.check.plug_ins import loaded
from pqassay.cli.check.prove import proving
from pqassay.cli.check.running import run
from pqassay.cli.failure import fail
from pqassay.judge.options import Kind
from pqassay_spec.base.help_pages import example, note_renamed

if TYPE_CHECKING:
    from pqassay.report.model import Report

EPILOG = """Examples:

`pqassay check part-0.parquet`

`pqassay check --jobs 4 lake/`

`pqassay check --tier meta warehouse/sales` (a Delta or Iceberg table)

`pqassay check 's3://bucket/sales/**/*.parquet'`

`pqassay check --fail-on rows-lost,wrong-rows --max-files 3 lake/`

`pqassay check --history findings --metrics pqassay.prom lake/`

Exit codes: 0 conformant, 1 findings, 2 usage, 3 stale entries in the baseline, 4 not everything could be judged, 70 pqassay failed.
"""

MOVED: Mapping[str, tuple[str, Mapping[str, Kind]]] = {
    "prove": ("pqassay prove", {"prove": "flag", "engine": "texts", "spark_packages": "text"}),
    "sample": ("pqassay sample --bound", {"sample": "text", "seed": "whole", "confidence": "number"}),
    "dry_run": (
        "pqassay estimate",
        {
            "dry_run": "flag",
            "latency": "number",
            "bandwidth": "number",
            "request_price": "number",
            "gb_price": "number",
        },
    ),
    "write_baseline": ("pqassay baseline", {"write_baseline": "text", "by_writer": "flag"}),
}
"""Options until 0.7 that are commands now, with the further options of each."""

_FLAGS: Mapping[str, tuple[str, ...]] = {
    "prove": ("--prove",),
    "dry_run": ("--dry-run",),
    "by_writer": ("--by-writer",),
}

FORMER: Mapping[str, Renamed] = {
    keyword: Renamed(kind, now, _FLAGS.get(keyword, ()))
    for now, options in MOVED.values()
    for keyword, kind in options.items()
}
"""All options that are commands now."""


@example(EPILOG)
@checking(renamed={**RENAMED, **FORMER})
def check(given: Given) -> None:
    """Check files from any writer against the specification."""
    given, meant = former(given)
    run(given, **meant)


def former(given: Given) -> tuple[Given, dict[str, Any]]:
    """Replace `FORMER` options.

    Returns the command line without them, and the arguments of `run` that they mean; an estimate ends the command.
    """
    old = {keyword: given[keyword] for keyword in FORMER if keyword in given}
    given = {keyword: value for keyword, value in given.items() if keyword not in old}
    for keyword, (now, options) in MOVED.items():
        if keyword in old:
            note_renamed(f"--{keyword.replace('_', '-')}", now)
        elif beside := sorted(options.keys() & old.keys()):
            fail(f"--{beside[0].replace('_', '-')} is an option of `{now.split(' --')[0]}`")
    if "dry_run" in old:
        if {"sample", "write_baseline", "prove"} & old.keys():
            fail("--dry-run judges nothing; see `pqassay estimate`")
        names = MOVED["dry_run"][1].keys() - {"dry_run"}
        loaded("estimating")(given, **{name: old.get(name) for name in names})
    meant: dict[str, Any] = {}
    if "sample" in old:
        meant["conclude"] = loaded("sampling")(old["sample"], old.get("seed"), old.get("confidence"))
        meant["is_partial"] = True
    revisions: list[Callable[[Request, Report], Report]] = []
    if "write_baseline" in old:
        meant["outputs"] = {"--write-baseline": Path(old["write_baseline"])}
        meant["prepare"] = first_time(old["write_baseline"])
        revisions.append(writing(old["write_baseline"], by_writer=old.get("by_writer", False)))
    if "prove" in old:
        meant["tier"] = "values"
        revisions.append(proving(old.get("engine", []), old.get("spark_packages", "")))

    def revised(request: Request, report: Report) -> Report:
        for revise in revisions:
            report = revise(request, report)
        return report

    return given, {**meant, "revise": revised}
