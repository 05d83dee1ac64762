"""The end of a command that cannot do what was asked."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from pqassay_spec.base.terminal import printable

if TYPE_CHECKING:
    from pqassay.report.formats import FormatName

LOOKED_AT = 1 << 16
"""Bytes of a file that show whether pqassay wrote it."""

OUR_WORDS = (b"pqassay", b"conformant", b"errored", b'"kind": "status"')
"""Words of reports, one of which is in each."""

OutputFile = Annotated[Path | None, typer.Option(metavar="FILE", help="Write to FILE instead of stdout.")]
"""The option ``--output`` of commands that print; see `require_no_data`."""

Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show every detail, in text.")]
"""The option ``--verbose`` of commands that print reports."""


def fail(message: str, code: int = 2) -> NoReturn:
    """Print an error on stderr and leave with ``code``."""
    typer.echo(f"error: {printable(message)}", err=True)
    raise typer.Exit(code)


@contextlib.contextmanager
def failing_on_files(no_memory: str, code: int = 2) -> Generator[None]:
    """End with an error where a file cannot be read, or with ``code`` where the memory is not enough."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            raise  # not of a file: the output
        fail(f"{error.filename}: {error.strerror or error}")
    except MemoryError:
        fail(no_memory, code)


def fail_at_length(message: str, code: int = 2) -> NoReturn:
    """Like `fail`, for a message of ours that has several lines."""
    for number, line in enumerate(message.split("\n")):
        typer.echo(f"{'' if number else 'error: '}{printable(line)}", err=True)
    raise typer.Exit(code)


def require_site(site: str | None) -> None:
    """End with a usage error if the address of a site is not valid."""
    if site is not None and not site.startswith(("https://", "http://", "file://")):
        fail(f"--site {site}: not an address; it must begin with https://, http:// or file://")


def require_format(chosen: FormatName, what: str, formats: Iterable[FormatName]) -> None:
    """End with a usage error if something cannot be printed in a format."""
    if chosen not in formats:
        fail(f"{what} in the formats {', '.join(formats)}, not {chosen.value}")


def require_no_data(outputs: Mapping[str, str | os.PathLike[str] | None], *, only_ours: bool = False) -> None:
    """End with a usage error if what an option writes would replace data, or something else that pqassay did not write.

    A shell turns ``--output *.parquet`` into the name of a Parquet file.

    Args:
        outputs: The path that each option gives, if it was given.
        only_ours: Whether nothing but reports of checks may be replaced; otherwise also texts without a form.
    """
    for option, path in outputs.items():
        if path is not None and (reason := _why_kept(path, only_ours=only_ours)):
            fail(f"{option} {os.fspath(path)}: {reason} choose another file")


def _holds_metadata(folder: Path) -> bool:
    """Whether a folder is the one in which a table keeps its metadata."""
    from pqassay_spec.table.layout import DELTA_LOG, ICEBERG_METADATA, is_iceberg_metadata

    if folder.name != ICEBERG_METADATA:
        return folder.name == DELTA_LOG
    with contextlib.suppress(OSError):
        return any(is_iceberg_metadata(name) for name in os.listdir(folder))
    return False


def _why_kept(path: str | os.PathLike[str], *, only_ours: bool) -> str:
    """Why nothing may be written to a path; empty if it may be."""
    from pqassay_spec.parquet.file import ENCRYPTED_MAGIC, MAGIC

    real = Path(os.path.realpath(path))
    if any(_holds_metadata(folder) for folder in real.parents):
        return "this is among the metadata of a table;"
    if not real.is_file():
        return ""
    try:
        with real.open("rb") as file:
            begin = file.read(LOOKED_AT)
    except OSError:
        return ""  # whether it can be written is found out by writing
    if begin[: len(MAGIC)] in (MAGIC, ENCRYPTED_MAGIC):
        return "this is a Parquet file; remove it or"
    is_ours = not begin or any(word in begin for word in OUR_WORDS)
    has_form = begin.lstrip()[:1] in (b"{", b"[", b"<") or b"\0" in begin
    return "pqassay did not write this file; remove it or" if not is_ours and (only_ours or has_form) else ""
