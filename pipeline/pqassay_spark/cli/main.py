"""The command ``pqassay-spark``: what its root shows, and where each command is."""

from __future__ import annotations

from pqassay.cli.lazy import program

COMMANDS = {
    "produce": "pqassay_spark.cli.produce:produce",
    "index": "pqassay_spark.cli.index:index",
    "pm": "pqassay_spark.cli.pm:pm",
    "check": "pqassay_spark.cli.check:check",
}

app = program(
    "pqassay-spark",
    {"": COMMANDS},
    help_text="The pipeline on Apache Spark. Needs Java 17 or newer and `pip install 'pqassay[spark]'`.",
    epilog="Example: `pqassay-spark check lake`. Each command has a page like this: `pqassay-spark check --help`.",
)
