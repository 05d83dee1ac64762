"""Errors of all subcommands of ``pqassay-ref``: their messages, and their exit codes."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import typer

from pqassay_spec.base.terminal import printable


def fail(message: str, code: int) -> NoReturn:
    """Print an error on stderr and leave with ``code``."""
    typer.echo(f"error: {printable(message)}", err=True)
    raise typer.Exit(code)


def said(error: Exception, path: str) -> str:
    """An error about a file or a folder, in one line."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or path}: {error.strerror}"
    return f"{path}: {' '.join(str(error).split())}"


@contextmanager
def reported(path: Path) -> Generator[None]:
    """Turn everything that a file can cause into one line on stderr and an exit code."""
    from pqassay_reference.errors import Refused, Undecodable
    from pqassay_spec.base.errors import FormatError

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
        # Of the files that a command opens, the error knows which one it was.
        name = error.filename if isinstance(error.filename, str) else path
        fail(f"{name}: {error.strerror or error}", 1)
    except MemoryError:
        fail(f"{path}: there is not enough memory for it", 1)


def require_writable(output: Path | None) -> None:
    """Leave the command unless a file can be written under this name; ``None`` is the file itself."""
    if output is None:
        return
    if not os.path.isdir(output.parent):
        fail(f"{output}: there is no folder {output.parent}", 2)
    if os.path.exists(output) and not os.path.isfile(output):
        fail(f"{output}: no regular file", 2)
