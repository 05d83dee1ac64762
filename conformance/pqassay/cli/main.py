"""The command ``pqassay``: its help page, and the places of its commands in all packages.

Exit codes: 0 nothing to report; 1 findings; 2 wrong usage, or nothing to check; 3 a list of known findings went stale;
4 not everything could be judged; 70 the program itself failed.
Libraries are imported by the command that needs them: ``--help`` is quick.
"""

from __future__ import annotations

import sys

from pqassay.cli.lazy import HIDDEN, group, program
from pqassay_spec.base.help_pages import epilog, note_renamed
from pqassay_spec.base.interrupts import CleanEnd
from pqassay_spec.base.terminal import guarded_output

JUDGE = {
    "check": "pqassay.cli.check.command:check",
    "dump": "pqassay.cli.dump:dump",
    "diff": "pqassay.cli.diff:diff",
    "explain": "pqassay.cli.explain:explain",
    "report": "pqassay.cli.report:report",
    "prove": "pqassay.cli.check.prove:prove",
    "baseline": "pqassay.cli.check.baseline:baseline",
}

LAKE = {
    "history": "pqassay_lake.cli.history:history",
    "sample": "pqassay_lake.cli.sample:sample",
    "estimate": "pqassay_lake.cli.estimate:estimate",
    "repair": "pqassay_lake.cli.repair:repair",
}

FILES = {
    "index": "pqassay_reference.cli.index:index_app",
    "scan": "pqassay_reader.cli.scan:scan",
    "answer": "pqassay_reader.cli.answer:answer",
    "strip": "pqassay_reference.cli.strip:strip",
    "pm": "pqassay_reader.cli.pm_plan:pm_app",
}

suite = group(
    {
        "": {
            "run": "pqassay_suite.cli.run:run",
            "explore": "pqassay_suite.cli.explore:explore",
            "future": "pqassay_suite.cli.future:future",
            "drivers": "pqassay_suite.cli.drivers:drivers",
            "new-driver": "pqassay_suite.cli.drivers:new_driver",
            "pack": "pqassay_suite.cli.export:export_pack",
            "status": "pqassay_suite.cli.status:export_status",
        }
    },
    help_text="Test readers and writers with golden files.",
    epilog=epilog("`pqassay suite run --driver duckdb`"),
)

spark = group(
    {
        "": {
            "produce": "pqassay_spark.cli.produce:produce",
            "index": "pqassay_spark.cli.index:index",
            "check": "pqassay_spark.cli.check:check",
            "pm": "pqassay_spark.cli.pm:pm",
        }
    },
    help_text="Run on Apache Spark.\n\nNeeds Java 17+ and `pip install '.[spark]'` in a checkout.",
    epilog=epilog("`pqassay spark check lake`"),
)

RENAMED = {
    "run": "suite run",
    "drivers": "suite drivers",
    "new-driver": "suite new-driver",
    "export-pack": "suite pack",
    "export-status": "suite status",
    "extract": "index extract",
    "prune": "scan --files",
    "plan-repair": "repair",
}
"""Old names of commands, which work until 1.0."""

app = program(
    "pqassay",
    {
        "Judge files": JUDGE,
        "Many files": LAKE,
        "Test implementations": {"suite": "pqassay.cli.main:suite"},
        "Index and read files": FILES,
        "Spark": {"spark": "pqassay.cli.main:spark"},
        HIDDEN: {"driver": "pqassay_reader.cli.driver_command:driver"},
    },
    help_text="Judge the metadata attached to Parquet files: footer, statistics, indexes.",
    epilog=epilog(
        "`pqassay check part-0.parquet`", "`pqassay check --help` (each command has a page like this)"
    ),
    renamed=RENAMED,
    aliases={"embed": "index add --type idx1"},
)


def main() -> None:
    """Entry point of the command."""
    _run(sys.argv[1:])


def reference() -> None:
    """Entry point of ``pqassay-ref``, the old name of `FILES`."""
    _run_under_old_name("pqassay-ref", "pqassay")


def pipeline() -> None:
    """Entry point of ``pqassay-spark``, the old name of `spark`."""
    _run_under_old_name("pqassay-spark", "pqassay spark")


def _run_under_old_name(old: str, now: str) -> None:
    """Print the new name of the command, and run it."""
    name, *rest = sys.argv[1:] or [""]
    if name.startswith("-"):
        name, rest = "", [name, *rest]
    words = now.split()[1:] if rest[:1] != ["--version"] or name else []
    command = name if words else RENAMED.get(name, name)
    note_renamed(f"{old} {name}".rstrip(), f"{now} {command}".rstrip())
    _run([*words, *command.split(), *rest])


def _run(arguments: list[str]) -> None:
    with CleanEnd(), guarded_output():
        app(arguments, prog_name="pqassay")
