"""The end of a command that cannot do what was asked."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from pqassay_spec.base.terminal import printable

if TYPE_CHECKING:
    from pqassay.report.formats import FormatName

OutputFile = Annotated[Path | None, typer.Option(metavar="FILE", help="Write to FILE instead of stdout.")]
"""The option ``--output`` of commands that print; see `require_no_data`."""


def fail(message: str, code: int = 2) -> NoReturn:
    """Print an error on stderr and leave with ``code``."""
    typer.echo(f"error: {printable(message)}", err=True)
    raise typer.Exit(code)


def fail_at_length(message: str, code: int = 2) -> NoReturn:
    """Like `fail`, for a message of ours that has several lines."""
    for number, line in enumerate(message.split("\n")):
        typer.echo(f"{'' if number else 'error: '}{printable(line)}", err=True)
    raise typer.Exit(code)


def require_site(site: str | None) -> None:
    """End with a usage error if the address of a site is none."""
    if site is not None and not site.startswith(("https://", "http://", "file://")):
        fail(f"--site {site}: this is no address; it begins with https://, http:// or file://")


def require_format(chosen: FormatName, what: str, formats: Iterable[FormatName]) -> None:
    """End with a usage error if something cannot be printed in a format."""
    if chosen not in formats:
        fail(f"{what} in the formats {', '.join(formats)}, not {chosen.value}")


def require_no_data(outputs: Mapping[str, str | os.PathLike[str] | None]) -> None:
    """End with a usage error if what an option writes would replace a Parquet file.

    A shell turns ``--output *.parquet`` into the name of one.

    Args:
        outputs: The path that each option gives, if it was given.
    """
    from pqassay_spec.parquet.file import ENCRYPTED_MAGIC, MAGIC

    for option, path in outputs.items():
        if path is None or not os.path.isfile(path):
            continue
        try:
            with open(path, "rb") as file:
                begin = file.read(len(MAGIC))
        except OSError:
            continue  # whether it can be written is found out by writing
        if begin in (MAGIC, ENCRYPTED_MAGIC):
            fail(f"{option} {os.fspath(path)}: this is a Parquet file; remove it or write somewhere else")
