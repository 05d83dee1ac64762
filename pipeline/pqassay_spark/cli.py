"""The command ``pqassay-spark``."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from pqassay_spec.terminal import guarded_output, printable

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="The pipeline on Apache Spark. Needs Java 17 or newer and `pip install 'pqassay[spark]'`.",
)

EXAMPLE = "Example: pqassay-spark produce sales --rows 100000 --files 4 --partition-by year"


class PartitionColumn(Enum):
    """Columns that the output may be partitioned by."""

    YEAR = "year"
    CATEGORY = "category"


def tell_version(wanted: bool) -> None:
    """Print the version and leave, if that is wanted."""
    if wanted:
        from pqassay_spec import __version__

        typer.echo(f"pqassay-spark {__version__}")
        raise typer.Exit


@app.callback()
def pipeline(
    _: Annotated[
        bool, typer.Option("--version", callback=tell_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Take the options that belong to no single command."""


@app.command(epilog=EXAMPLE)
def produce(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Directory to write; it must not exist.")],
    rows: Annotated[int, typer.Option(min=1, help="Rows in all.")] = 100_000,
    files: Annotated[int, typer.Option(min=1, help="Files; with --partition-by, files in each part.")] = 1,
    seed: Annotated[int, typer.Option(help="Another seed gives other rows.")] = 0,
    partition_by: Annotated[
        PartitionColumn | None, typer.Option(help="Write a directory for each value.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace what Spark wrote to OUT before.")
    ] = False,
) -> None:
    """Write sales data as Parquet files with Spark: page index, bloom filter, nulls, names beyond ASCII.

    The same rows and seed give the same data every time.
    """
    if out.exists():
        refuse_target(out, overwrite=overwrite)
    from pqassay_spark.java import JavaMissingError
    from pqassay_spark.sales import write_sales
    from pqassay_spark.session import spark_session

    column = partition_by.value if partition_by else None
    try:
        # Hadoop takes what follows the scheme literally: a colon in a bare path would end a scheme, and a
        # percent-encoded path would be written as it is spelt.
        target = f"file://{out.resolve()}"
        with spark_session() as spark:
            write_sales(spark, target, rows, files, seed=seed, partition_by=column, overwrite=overwrite)
    except JavaMissingError as error:
        stop(str(error))
    except ModuleNotFoundError as error:
        if error.name != "pyspark":
            raise
        stop("Spark is not installed. Install it with: pip install 'pqassay[spark]'")
    written = sum(1 for _ in out.rglob("*.parquet"))
    typer.echo(f"{out}: {rows} rows in {written} {'file' if written == 1 else 'files'}")


def refuse_target(out: Path, *, overwrite: bool) -> None:
    """Exit unless ``out``, which exists, may be replaced: only what Spark wrote, and only when told to."""
    if not overwrite:
        stop(f"{out} exists. Choose another directory, or replace it with --overwrite.")
    if not (out / "_SUCCESS").is_file():
        stop(f"{out} has no file _SUCCESS, so it is no finished output of Spark; it is not replaced.")


def stop(message: str) -> None:
    """Print the message on stderr and exit with status 2."""
    typer.echo(f"error: {printable(message)}", err=True)
    raise typer.Exit(2)


def main() -> None:
    """Entry point of the command."""
    with guarded_output():
        app()
