"""Errors of the commands of this package: their messages, and their exit codes."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import typer

from pqassay_spec.base.terminal import printable


def fail(message: str, code: int) -> NoReturn:
    """Print an error on stderr and exit with ``code``."""
    typer.echo(f"error: {printable(message)}", err=True)
    raise typer.Exit(code)


def message_of(error: Exception, path: str) -> str:
    """The message of an error about a file or a folder, in one line."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or path}: {error.strerror}"
    return f"{path}: {' '.join(str(error).split())}"


@contextmanager
def reported(path: Path | str) -> Generator[None]:
    """Convert every error from a file or URI to one line on stderr and an exit code."""
    from pqassay_reference.errors import Refused, Undecodable
    from pqassay_spec.base.errors import FormatError

    is_stored = False
    if isinstance(path, str) and "://" in path:
        path, is_stored = shown(path), True
    else:
        _require_file(path)
    try:
        yield
    except FormatError as error:
        fail(str(error), 1)
    except (Refused, Undecodable) as error:
        fail(f"{path}: {error}", 1)
    except FileNotFoundError as error:
        fail(f"{path}: no such object" if is_stored else message_of(error, str(path)), 2 if is_stored else 1)
    except OSError as error:
        # The error names the opened file that it is about.
        name = error.filename if isinstance(error.filename, str) else path
        fail(f"{name}: {error.strerror or error}", 1)
    except MemoryError:
        fail(f"{path}: there is not enough memory for it", 1)


def shown(uri: str) -> str:
    """A URI without credentials and options, which must not appear in logs."""
    scheme, _, rest = uri.partition("?")[0].partition("://")
    host, mark, key = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{mark}{key}"


def _require_file(path: Path | str) -> None:
    # The functions of os.path return False where the methods of Path raise errors, for example for names that are too long.
    if os.path.isdir(path):
        fail(f"{path}: is a directory; name the files in it", 2)
    if not os.path.exists(path):
        fail(f"{path}: no such file", 2)
    if not os.path.isfile(path):
        fail(f"{path}: no regular file", 2)


def require_writable(output: Path | str | None) -> None:
    """Exit unless a file can be written under this name; ``None`` means the input file, and URIs are checked by their store."""
    if output is None or (isinstance(output, str) and "://" in output):
        return
    folder = Path(output).parent
    if not os.path.isdir(folder):
        fail(f"{output}: there is no folder {folder}", 2)
    if os.path.exists(output) and not os.path.isfile(output):
        fail(f"{output}: no regular file", 2)
