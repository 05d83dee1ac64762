"""The command ``pqassay diff``: the differences between two files, field by field.

Exit codes: 0 the same bytes; 1 different; 2 wrong usage, or a file that cannot be opened or has too many fields.
"""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TextIO

import typer

from pqassay.cli.failure import OutputFile, Verbose, fail, failing_on_files, require_no_data
from pqassay_spec.base.help_pages import epilog, example

EPILOG = epilog(
    "`pqassay diff before.parquet after.parquet`",
    "`pqassay diff --hex before.parquet after.parquet`",
    codes="0 the same bytes, 1 different, 2 usage, or a file that cannot be opened",
)


class DifferenceFormat(StrEnum):
    """Formats of a difference."""

    TEXT = "text"
    JSON = "json"


@example(EPILOG)
def diff(
    old: Annotated[
        Path,
        typer.Argument(
            metavar="OLD",
            help="Parquet, `_pm` or table metadata file, even if damaged.",
            show_default=False,
        ),
    ],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="File of the same kind.", show_default=False)],
    hexdump: Annotated[
        bool, typer.Option("--hex", help="Show bytes of changed fields, with differences marked.")
    ] = False,
    moved: Annotated[
        bool,
        typer.Option("--moved", help="Also list fields that only moved, and offsets changed by that."),
    ] = False,
    output_format: Annotated[
        DifferenceFormat | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="Print as text or json. Default: by the name of --output, else text.",
        ),
    ] = None,
    output: OutputFile = None,
    verbose: Verbose = False,
) -> None:
    """Compare two files field by field; ignore what only moved."""
    from pqassay.cli.output import print_written
    from pqassay.difference import TooManyFields, difference
    from pqassay.difference.text import render
    from pqassay.report.formats import FormatName, format_of
    from pqassay.stores.kinds import dumped_as
    from pqassay_spec.base.errors import FormatError
    from pqassay_spec.base.sources import FileSource

    require_no_data({"--output": output})
    is_json = format_of(output_format, output) is FormatName.JSON
    if hexdump and is_json:
        fail("--hex shows bytes in text; JSON has their places")
    for path in (old, new):
        if os.path.isdir(path):
            fail(
                f"{path} is a directory; name one file of each table or folder: `diff -rq OLD NEW` lists those that differ"
            )
    kinds = dumped_as(str(old)), dumped_as(str(new))
    if kinds[0] != kinds[1]:
        names = [kind.replace("_", " ") for kind in kinds]
        fail(
            f"{old} is read as {names[0]}, {new} as {names[1]}; only two files of the same kind can be compared"
        )
    no_memory = f"{old}, {new}: there is not enough memory to compare them"
    with failing_on_files(no_memory), FileSource(old) as before, FileSource(new) as after:
        try:
            differences = difference(before, after, kinds, moves=moved)
        except (FormatError, TooManyFields) as error:
            fail(str(error))

        def write(stream: TextIO) -> None:
            if is_json:
                stream.write(f"{differences.to_json()}\n")
            else:
                sources = (before, after) if hexdump else None
                render(differences, stream, sources, follows=moved, verbose=verbose)

        print_written(write, output)
    raise typer.Exit(differences.exit_code)
