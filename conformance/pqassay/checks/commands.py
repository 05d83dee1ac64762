"""Commands of `pqassay` that repair a file, quoted for a shell."""

from __future__ import annotations

from pqassay.under_test.file import FileUnderTest
from pqassay_spec.base.terminal import shell_line

OURS = "pqassay"
"""The program that repairs files."""


def command_line(*words: str) -> str:
    """A command as a line for a shell; empty if a word contains a zero byte, which commands cannot receive."""
    return "" if any("\0" in word for word in words) else shell_line(words)


def strip_command(file: FileUnderTest, *options: str) -> str:
    """The command that removes the items that the options name."""
    return command_line(OURS, "strip", argument(file.source.name), *options)


def argument(name: str) -> str:
    """A file name in a form that commands do not mistake for an option."""
    return f"./{name}" if name.startswith("-") else name


def index_command(file: FileUnderTest, verb: str, *options: str) -> str:
    """A command about the index directory."""
    return command_line(OURS, "index", verb, argument(file.source.name), *options)


def embed_command(file: FileUnderTest, column: str) -> str:
    """The command that rebuilds the index of a column."""
    return command_line(OURS, "embed", argument(file.source.name), "--column", column)
