"""Error endings of commands: messages on stderr, and checks of output options."""

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
"""The number of bytes of a file that are searched to see whether pqassay wrote it."""

OUR_WORDS = (b"pqassay", b"conformant", b"errored", b'"kind": "status"')
"""Words that identify reports; each report has at least one."""

OutputFile = Annotated[Path | None, typer.Option(metavar="FILE", help="Write to FILE instead of stdout.")]
"""The option ``--output`` of commands that print; see `require_no_data`."""

Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show every detail, in text.")]
"""The option ``--verbose`` of commands that print reports."""


def fail(message: str, code: int = 2) -> NoReturn:
    """Print an error on stderr and exit with ``code``."""
    typer.echo(f"error: {printable(message)}", err=True)
    raise typer.Exit(code)


@contextlib.contextmanager
def failing_on_files(no_memory: str, code: int = 2) -> Generator[None]:
    """A context that ends with an error if a file cannot be read, or with ``code`` if memory runs out."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            raise  # an error of the output, not of a file
        fail(f"{error.filename}: {error.strerror or error}")
    except MemoryError:
        fail(no_memory, code)


def fail_at_length(message: str, code: int = 2) -> NoReturn:
    """Like `fail`, for a message of pqassay with several lines."""
    for number, line in enumerate(message.split("\n")):
        typer.echo(f"{'' if number else 'error: '}{printable(line)}", err=True)
    raise typer.Exit(code)


def require_site(site: str | None) -> None:
    """End with a usage error if the address of a site is invalid."""
    if site is not None and not site.startswith(("https://", "http://", "file://")):
        fail(f"--site {site}: not an address; it must begin with https://, http:// or file://")


def require_format(chosen: FormatName, what: str, formats: Iterable[FormatName]) -> None:
    """End with a usage error if a format is not available for an output."""
    if chosen not in formats:
        fail(f"{what} in the formats {', '.join(formats)}, not {chosen.value}")


def require_no_data(outputs: Mapping[str, str | os.PathLike[str] | None], *, only_ours: bool = False) -> None:
    """End with a usage error if an output would replace data, or other files that pqassay did not write.

    A shell turns ``--output *.parquet`` into the name of a Parquet file.

    Args:
        outputs: The path of each option; ``None`` if the option is absent.
        only_ours: Whether only reports of checks may be replaced; otherwise, plain text may be replaced as well.
    """
    for option, path in outputs.items():
        if path is not None and (reason := _why_kept(path, only_ours=only_ours)):
            fail(f"{option} {os.fspath(path)}: {reason} choose another file")


def _holds_metadata(folder: Path) -> bool:
    """Whether a folder contains a table's metadata."""
    from pqassay_spec.table.layout import DELTA_LOG, ICEBERG_METADATA, is_iceberg_metadata

    if folder.name != ICEBERG_METADATA:
        return folder.name == DELTA_LOG
    with contextlib.suppress(OSError):
        return any(is_iceberg_metadata(name) for name in os.listdir(folder))
    return False


def _why_kept(path: str | os.PathLike[str], *, only_ours: bool) -> str:
    """The reason why nothing may be written to a path; empty if it may."""
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
        return ""  # writing will show whether it is writable
    if begin[: len(MAGIC)] in (MAGIC, ENCRYPTED_MAGIC):
        return "this is a Parquet file; remove it or"
    is_ours = not begin or any(word in begin for word in OUR_WORDS)
    has_form = begin.lstrip()[:1] in (b"{", b"[", b"<") or b"\0" in begin
    return "pqassay did not write this file; remove it or" if not is_ours and (only_ours or has_form) else ""
