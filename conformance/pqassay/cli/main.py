"""The command ``pqassay``: what its root shows, and where each command is.

Exit codes: 0 nothing to report; 1 findings; 2 wrong usage, or nothing to check; 3 a list of known findings went stale;
4 not everything could be judged; 70 the program itself failed.
Libraries are imported by the command that needs them: ``--help`` is quick.
"""

from __future__ import annotations

from pqassay.cli.lazy import program
from pqassay.cli.reference import FILES

JUDGE = {
    "check": "pqassay.cli.check.command:check",
    "dump": "pqassay.cli.dump:dump",
    "diff": "pqassay.cli.diff:diff",
    "explain": "pqassay.cli.explain:explain",
    "report": "pqassay.cli.report:report",
    "plan-repair": "pqassay.cli.plan_repair:plan_repair",
    "history": "pqassay.cli.history:history",
}

SUITE = {
    "run": "pqassay_suite.cli.run:run",
    "drivers": "pqassay_suite.cli.drivers:drivers",
    "new-driver": "pqassay_suite.cli.drivers:new_driver",
    "export-pack": "pqassay_suite.cli.export:export_pack",
    "export-status": "pqassay_suite.cli.export:export_status",
}

app = program(
    "pqassay",
    {"Judge files": JUDGE, "Test implementations": SUITE, "Index, read and repair files": FILES},
    help_text="Judge the metadata attached to Parquet files: footer, statistics, indexes.",
    epilog="Example: `pqassay check part-0.parquet`. Each command has a page like this: `pqassay check --help`.",
)
