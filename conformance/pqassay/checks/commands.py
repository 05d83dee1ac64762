"""Commands of `pqassay-ref` that mend a file, as text that a shell takes."""

from __future__ import annotations

import shlex

from pqassay.under_test.file import FileUnderTest


def strip_command(file: FileUnderTest, *options: str) -> str:
    """The command that removes what the options name."""
    return shlex.join(["pqassay-ref", "strip", argument(file.source.name), *options])


def argument(name: str) -> str:
    """A file name that no command takes for an option."""
    return f"./{name}" if name.startswith("-") else name


def embed_command(file: FileUnderTest, column: str) -> str:
    """The command that makes the index of a column anew."""
    return shlex.join(["pqassay-ref", "embed", argument(file.source.name), "--column", column])
