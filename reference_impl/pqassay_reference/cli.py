"""The command ``pqassay-ref``: the reference implementation at work on files.

Exit codes: 0 done; 1 the file is malformed, or the request is refused; 2 wrong usage or no such file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from pqassay_spec.terminal import guarded_output, printable


class TrustName(StrEnum):
    """Which index a scan may use."""

    COMPANION = "companion"
    PUBLISHED = "published"


app = typer.Typer(
    help="Reference reader and writer of metadata attached to Parquet files.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
)


def main() -> None:
    """Entry point of the command."""
    with guarded_output():
        app()


def _version(wanted: bool) -> None:
    if wanted:
        from pqassay_spec import __version__

        typer.echo(f"pqassay-ref {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    _: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def fail(message: str, code: int) -> NoReturn:
    """Print an error on stderr and leave with ``code``."""
    typer.echo(f"error: {printable(message)}", err=True)
    raise typer.Exit(code)


@contextmanager
def reported(path: Path) -> Generator[None]:
    """Turn everything that a file can cause into one line on stderr and an exit code."""
    from pqassay_reference.errors import Refused, Undecodable
    from pqassay_spec.errors import FormatError

    # The functions of os.path answer False where the methods of Path raise: for names that are too long, say.
    if os.path.isdir(path):
        fail(f"{path}: is a directory; name the files in it", 2)
    if not os.path.exists(path):
        fail(f"{path}: no such file", 2)
    if not os.path.isfile(path):
        fail(f"{path}: no regular file", 2)
    try:
        yield
    except FormatError as error:
        fail(str(error), 1)
    except (Refused, Undecodable) as error:
        fail(f"{path}: {error}", 1)
    except OSError as error:
        fail(f"{path}: {error.strerror or error}", 1)
    except MemoryError:
        fail(f"{path}: there is not enough memory for it", 1)


@app.command(epilog="Example: `pqassay-ref embed part-0.parquet --column nation`")
def embed(
    file: Annotated[Path, typer.Argument(help="A finished Parquet file; it is replaced atomically.")],
    column: Annotated[
        str, typer.Option("--column", "-c", help="String column to index, its path joined by dots.")
    ],
    companion: Annotated[
        bool, typer.Option(help="Also write the key that names the column and says that nothing was lost.")
    ] = True,
    inside_table: Annotated[
        bool, typer.Option("--inside-table", help="Do it even inside an Iceberg or Delta table.")
    ] = False,
    max_bytes: Annotated[int, typer.Option(help="Greatest size of the index.", min=1)] = 16 << 20,
) -> None:
    """Embed an IDX1 index of one column into a finished Parquet file."""
    with reported(file):
        from pqassay_reference.embed import embed_file

        done = embed_file(file, column, companion=companion, inside_table=inside_table, limit=max_bytes)
    values = f"{done.value_count} distinct value{'' if done.value_count == 1 else 's'}"
    where = f"in {done.payload_length} bytes at offset {done.offset}"
    typer.echo(printable(f"{file}: {values} of column {column} {where}"))
    if done.cut:
        typer.echo(f"  replaced the index that stood there ({done.cut} bytes)")
    if done.dead:
        typer.echo(
            f"  {done.dead} bytes of an earlier index stay in the file; nothing refers to them any more"
        )


@app.command(epilog="Example: `pqassay-ref extract part-0.parquet --json`")
def extract(
    file: Annotated[Path, typer.Argument(help="A Parquet file with an IDX1 index.")],
    published: Annotated[
        bool, typer.Option("--published", help="Read as the published reader does, with its losses.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object with everything there is to know.")
    ] = False,
) -> None:
    """Print the values of an embedded index, one per line, special characters escaped as in JSON strings."""
    with reported(file):
        from pqassay_reference.extract import extract_file

        found = extract_file(file)
    if found.mistrust:
        typer.echo(printable(f"warning: the companion record does not count: {found.mistrust}"), err=True)
    if as_json:
        record = {
            "layout": found.layout.value,
            "offset": found.offset,
            "column": list(found.companion.column) if found.companion else None,
            "values": list(found.values),
            "published": None if found.published is None else list(found.published),
        }
        typer.echo(json.dumps(record, indent=2))
        return
    if published and found.published is None:
        fail(f"{file}: the published reader cannot read the layout of {found.layout.value}", 1)
    for value in (found.published or ()) if published else found.values:
        typer.echo(printable(json.dumps(value, ensure_ascii=False)[1:-1]))
    if not published and found.lost:
        lost = ", ".join(json.dumps(value, ensure_ascii=False) for value in found.lost)
        typer.echo(printable(f"warning: the published reader loses {lost}"), err=True)


@app.command(epilog="Example: `pqassay-ref golden golden_files`")
def golden(
    folder: Annotated[Path, typer.Argument(help="The folder golden_files.")],
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; fail if a file is not what would be written.")
    ] = False,
) -> None:
    """Write the golden files anew. Cases of another provenance in the folder stay as they are."""
    from pqassay_reference.errors import Refused
    from pqassay_reference.golden import write_golden_files

    if not os.path.isdir(folder):
        fail(f"{folder}: no such folder", 2)
    try:
        done = write_golden_files(folder, dry_run=check)
    except Refused as error:
        fail(str(error), 1)
    except OSError as error:
        fail(f"{error.filename or folder}: {error.strerror or error}", 1)
    for word, ids in (("changed", done.changed), ("removed", done.removed)):
        for name in ids:
            typer.echo(f"{word}  {name}")
    typer.echo(f"{len(done.changed) + len(done.unchanged)} cases, {len(done.unchanged)} unchanged")
    if check and (done.changed or done.removed):
        fail(f"golden files are out of date; `pqassay-ref golden {folder}` writes them", 1)


@app.command(epilog="Example: `pqassay run -- pqassay-ref driver`. Exit codes: 0 answered, 3 not supported.")
def driver(
    request: Annotated[Path, typer.Argument(help="The request, a JSON file.")],
    answer: Annotated[Path, typer.Argument(help="Where the answer is to be written.")],
    trust: Annotated[
        TrustName,
        typer.Option(help="Which index a scan may use: one with a companion record, or any published one."),
    ] = TrustName.COMPANION,
) -> None:
    """Answer one request of `pqassay run`, as a driver of the reference implementation."""
    from pqassay_reference.driver import NotSupportedError, answer_file

    try:
        answer_file(request, answer, trust=trust.value)
    except NotSupportedError as error:
        fail(str(error), 3)
    except (OSError, ValueError, KeyError, TypeError) as error:
        fail(f"{request}: {error}", 1)
