"""How every command ends when it cannot do what was asked."""

from __future__ import annotations

from typing import NoReturn

import typer

from pqassay_spec.terminal import printable


def fail(message: str, code: int = 2) -> NoReturn:
    """Print an error on stderr and leave with ``code``."""
    typer.echo(f"error: {printable(message)}", err=True)
    raise typer.Exit(code)
