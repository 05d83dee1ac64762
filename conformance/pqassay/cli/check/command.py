"""The command ``pqassay check``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pqassay.cli.check import baseline, prove
from pqassay.cli.check.options import RENAMED, Given, Renamed, checking
from pqassay.cli.check.plug_ins import loaded
from pqassay.cli.check.running import every_file, run
from pqassay.cli.failure import fail
from pqassay_spec.base.help_pages import example, note_renamed

EPILOG = """Examples:

`pqassay check part-0.parquet`

`pqassay check --jobs 4 lake/`

`pqassay check --tier meta warehouse/sales` (a Delta or Iceberg table)

`pqassay check 's3://bucket/sales/**/*.parquet'`

`pqassay check --fail-on rows-lost,wrong-rows --max-files 3 lake/`

`pqassay check --history findings --metrics pqassay.prom lake/`

Exit codes: 0 conformant, 1 findings, 2 usage, 3 stale entries in the baseline, 4 not everything could be judged, 70 pqassay failed.
"""

MOVED = {
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
"""What was an option until 0.7 and is a command now, and the further options of each."""

_FLAGS = {"prove": ("--prove",), "dry_run": ("--dry-run",), "by_writer": ("--by-writer",)}

_OLD: dict[str, Renamed] = {
    keyword: Renamed(kind, now, _FLAGS.get(keyword, ()))  # type: ignore[arg-type]  # a kind
    for now, options in MOVED.values()
    for keyword, kind in options.items()
}


@example(EPILOG)
@checking(renamed={**RENAMED, **_OLD})
def check(given: Given) -> None:
    """Check files against the specification, whoever wrote them."""
    old: dict[str, Any] = {keyword: given[keyword] for keyword in _OLD if keyword in given}
    given = {keyword: value for keyword, value in given.items() if keyword not in old}
    for keyword, (now, options) in MOVED.items():
        flag = f"--{keyword.replace('_', '-')}"
        if keyword in old:
            note_renamed(f"pqassay check {flag}", now)
        elif beside := sorted(options.keys() & old.keys()):
            fail(f"--{beside[0].replace('_', '-')} is an option of `{now.split(' --')[0]}`")
    if "dry_run" in old:
        if {"sample", "write_baseline", "prove"} & old.keys():
            fail("--dry-run judges nothing; see `pqassay estimate`")
        names = MOVED["dry_run"][1].keys() - {"dry_run"}
        loaded("estimating")(given, **{name: old.get(name) for name in names})
    conclude = every_file
    if "sample" in old:
        conclude = loaded("sampling")(old["sample"], old.get("seed"), old.get("confidence"))
    outputs, revisions = {}, []
    if "write_baseline" in old:
        outputs["--write-baseline"] = Path(old["write_baseline"])
        revisions.append(baseline.writing(old["write_baseline"], by_writer=old.get("by_writer", False)))
    if "prove" in old:
        revisions.append(prove.proving(old.get("engine", []), old.get("spark_packages", "")))

    def revised(request: Any, report: Any) -> Any:
        for revise in revisions:
            report = revise(request, report)
        return report

    run(
        given,
        conclude=conclude,
        is_partial="sample" in old,
        tier="values" if "prove" in old else None,
        outputs=outputs,
        revise=revised,
    )
