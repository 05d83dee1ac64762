"""The command ``pqassay spark produce``."""

from __future__ import annotations

import os
import re
from collections.abc import Generator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from pqassay_spark.cli.session import Master, command_session, stop
from pqassay_spec.base.help_pages import epilog, example
from pqassay_spec.base.sources import TEMPORARY_SUFFIX
from pqassay_spec.base.terminal import printable

EXAMPLE = epilog(
    "`pqassay spark produce sales --rows 100000 --files 4 --partition-by year`",
    codes="0 written, 2 usage, 4 Spark failed",
)


class PartitionColumn(Enum):
    """Columns that the output may be partitioned by."""

    YEAR = "year"
    CATEGORY = "category"


@example(EXAMPLE)
def produce(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="New directory to write.")],
    rows: Annotated[int, typer.Option(metavar="N", min=1, max=10**15, help="Number of rows.")] = 100_000,
    files: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, max=10**6, help="Number of files; with --partition-by, in each partition."
        ),
    ] = 1,
    seed: Annotated[int, typer.Option(metavar="N", help="Random seed.")] = 0,
    partition_by: Annotated[
        PartitionColumn | None,
        typer.Option(metavar="COLUMN", help="Partition by this column: year or category."),
    ] = None,
    wide: Annotated[
        bool,
        typer.Option("--wide", help="Add 17 columns: times, decimals, small numbers, lists, maps, structs."),
    ] = False,
    rare: Annotated[
        bool, typer.Option("--rare", help="Add the nation Pitcairn to one file in a hundred.")
    ] = False,
    skew: Annotated[bool, typer.Option("--skew", help="Write files of very different sizes.")] = False,
    matrix: Annotated[
        bool,
        typer.Option(
            "--matrix",
            help="Write a small table for each option and type instead.",
        ),
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace earlier output of Spark in OUT.")
    ] = False,
    master: Master = None,
) -> None:
    """Write sales data as Parquet files with Spark.

    The files have a page index, a bloom filter, nulls, and names beyond ASCII. The same rows and seed give the same data every time.
    """
    require_local_text(out)
    if matrix:
        produce_matrix(out, master)
        return
    if out.exists():
        refuse_target(out, overwrite=overwrite)
    if files > rows:
        stop(f"--rows {rows} are too few for --files {files}: each file needs a row.")
    column = partition_by.value if partition_by else None
    # Hadoop uses the text after the scheme literally: in a bare path, a colon would end a scheme, and a
    # percent-encoded path would be written in its encoded form.
    target = f"file://{out.resolve()}"
    with command_session(master) as spark, reported(out):
        from pqassay_spark.produce.sales import write_sales

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
    typer.echo(f"{printable(str(out))}: {rows:,} rows in {written:,} {'file' if written == 1 else 'files'}")


def produce_matrix(out: Path, master: str | None) -> None:
    """Write a table for each option and type of Spark's writer, into a new directory."""
    if out.exists():
        stop(f"{out} exists. Choose another directory for --matrix.")
    with command_session(master) as spark, reported(out):
        from pqassay_spark.produce.writer_matrix import MATRIX, write_matrix

        write_matrix(spark, f"file://{out.resolve()}")
    typer.echo(f"{printable(str(out))}: {len(MATRIX)} tables")


@contextmanager
def reported(out: Path) -> Generator[None]:
    """Convert errors of Spark when it cannot write to one line and an exit code."""
    from pqassay_spark.jobs.spark_jobs import is_of_spark, java_is_gone
    from pqassay_spark.jobs.start import plain_words

    try:
        yield
    except Exception as error:
        if not is_of_spark(error):
            raise
        reason = "Spark's Java process ended" if java_is_gone(error) else plain_words(str(error))
        again = "; run it again with --overwrite" if out.is_dir() else ""
        stop(f"{out} could not be written: {reason}{again}", 4)


def require_local_text(out: Path) -> None:
    """Exit for a path that Spark would write to another place, or could not name."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:/", str(out)):
        stop(f"{out} is a URI; OUT is a directory of this machine.")
    try:
        str(out.resolve()).encode()
    except UnicodeEncodeError:
        stop(f"{out} is not UTF-8, and Spark has no other names. Choose another directory.")


WRITTEN = re.compile(
    r"\.?part-\d{5}.*\.parquet(\.crc)?|_SUCCESS|\._SUCCESS\.crc|_metadata|_common_metadata|_pm"
)
"""Names of files that Spark and this program write into a directory of Parquet files."""


def refuse_target(out: Path, *, overwrite: bool) -> None:
    """Exit unless ``out``, which exists, may be replaced: only with ``overwrite``, and only if Spark wrote everything in it."""
    if not overwrite:
        stop(f"{out} exists. Choose another directory, or replace it with --overwrite.")
    if not out.is_dir():
        stop(f"{out} is not a directory; it is not replaced.")
    names = os.listdir(out)
    # A killed run leaves its incomplete output, and a failed run an empty directory.
    if names and not {"_SUCCESS", "_temporary"} & {*names}:
        stop(
            f"{out} has no file _SUCCESS, so it is not a finished output of Spark; it is not replaced. "
            "Choose another directory, or remove it."
        )
    other = foreign_entry(out)
    if other is not None:
        stop(f"{out} holds {other}, which Spark did not write; it is not replaced. Move that away first.")


def foreign_entry(out: Path) -> str | None:
    """The relative path of an entry in a directory that Spark did not write; Spark would remove it."""
    for folder, folders, files in os.walk(out):
        for name in sorted(folders):
            if ("=" not in name and name != "_temporary") or Path(folder, name).is_symlink():
                return os.path.relpath(Path(folder, name), out)
        folders[:] = [name for name in folders if name != "_temporary"]
        for name in sorted(files):
            is_left_over = name.startswith(".") and name.endswith(TEMPORARY_SUFFIX)
            if WRITTEN.fullmatch(name) is None and not is_left_over:
                return os.path.relpath(Path(folder, name), out)
    return None
