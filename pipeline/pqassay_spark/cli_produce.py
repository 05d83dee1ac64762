"""The command ``pqassay-spark produce``."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from pqassay_spark.cli_session import Master, command_session, stop

EXAMPLE = "Example: pqassay-spark produce sales --rows 100000 --files 4 --partition-by year"


class PartitionColumn(Enum):
    """Columns that the output may be partitioned by."""

    YEAR = "year"
    CATEGORY = "category"


def produce(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Directory to write; it must not exist.")],
    rows: Annotated[int, typer.Option(min=1, max=10**15, help="Rows in all.")] = 100_000,
    files: Annotated[
        int, typer.Option(min=1, max=10**6, help="Files; with --partition-by, files in each part.")
    ] = 1,
    seed: Annotated[int, typer.Option(help="Another seed gives other rows.")] = 0,
    partition_by: Annotated[
        PartitionColumn | None, typer.Option(help="Write a directory for each value.")
    ] = None,
    wide: Annotated[
        bool,
        typer.Option(
            "--wide", help="With 17 more columns: times, decimals, small numbers, lists, maps, structs."
        ),
    ] = False,
    rare: Annotated[
        bool, typer.Option("--rare", help="With the nation Pitcairn, which one file in a hundred holds.")
    ] = False,
    skew: Annotated[bool, typer.Option("--skew", help="Files of very different sizes.")] = False,
    matrix: Annotated[
        bool,
        typer.Option(
            "--matrix",
            help="Instead of sales data: a small table for each option and type of Spark's writer, in a folder each.",
        ),
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace what Spark wrote to OUT before.")
    ] = False,
    master: Master = None,
) -> None:
    """Write sales data as Parquet files with Spark: page index, bloom filter, nulls, names beyond ASCII.

    The same rows and seed give the same data every time.
    """
    if matrix:
        produce_matrix(out, master)
        return
    if out.exists():
        refuse_target(out, overwrite=overwrite)
    if files > rows:
        stop(f"--rows {rows} are too few for --files {files}: each file needs a row.")
    column = partition_by.value if partition_by else None
    # Hadoop takes what follows the scheme literally: a colon in a bare path would end a scheme, and a
    # percent-encoded path would be written as it is spelt.
    target = f"file://{out.resolve()}"
    with command_session(master) as spark:
        from pqassay_spark.sales import write_sales

        write_sales(
            spark,
            target,
            rows,
            files,
            seed=seed,
            wide=wide,
            rare=rare,
            skew=skew,
            partition_by=column,
            overwrite=overwrite,
        )
    written = sum(1 for _ in out.rglob("*.parquet"))
    typer.echo(f"{out}: {rows} rows in {written} {'file' if written == 1 else 'files'}")


def produce_matrix(out: Path, master: str | None) -> None:
    """Write the matrix of what Spark's writer can do, into a new directory."""
    if out.exists():
        stop(f"{out} exists. Choose another directory for --matrix.")
    with command_session(master) as spark:
        from pqassay_spark.writer_matrix import MATRIX, write_matrix

        write_matrix(spark, f"file://{out.resolve()}")
    typer.echo(f"{out}: {len(MATRIX)} tables")


def refuse_target(out: Path, *, overwrite: bool) -> None:
    """Exit unless ``out``, which exists, may be replaced: only what Spark wrote, and only when told to."""
    if not overwrite:
        stop(f"{out} exists. Choose another directory, or replace it with --overwrite.")
    if not (out / "_SUCCESS").is_file():
        stop(f"{out} has no file _SUCCESS, so it is no finished output of Spark; it is not replaced.")
