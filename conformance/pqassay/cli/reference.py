"""The command ``pqassay-ref``, whose commands ``pqassay`` has as well: where each of them is. This package imports none of them.

Exit codes: 0 done; 1 the file is malformed, or the request is refused; 2 wrong usage or no such file.
"""

from __future__ import annotations

from pqassay.cli.lazy import program

FILES = {
    "index": "pqassay_reference.cli.index:index_app",
    "pm": "pqassay_reader.cli.pm_plan:pm_app",
    "prune": "pqassay_reader.cli.prune:prune",
    "scan": "pqassay_reader.cli.scan:scan",
    "answer": "pqassay_reader.cli.answer:answer",
    "embed": "pqassay_reference.cli.idx1:embed",
    "strip": "pqassay_reference.cli.strip:strip",
    "extract": "pqassay_reference.cli.idx1:extract",
    "driver": "pqassay_reader.cli.driver_command:driver",
}

app = program(
    "pqassay-ref",
    {"": FILES},
    help_text="Reference reader and writer of metadata attached to Parquet files.",
    epilog="Example: `pqassay-ref embed part-0.parquet --column nation`. Each command has a page like this: `pqassay-ref embed --help`.",
)
