"""Text from files, made safe for a terminal, a log or a pipe.

Names and values come from untrusted files: unprintable characters are escaped, so they cannot move a cursor,
color a line or start a line that a log reader would treat as a command.  Shared by all commands of this
project.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import sys
from collections.abc import Generator, Iterable


def printable(text: str) -> str:
    r"""Escape unprintable characters, including line ends; spaces and letters of any script stay.

    >>> printable("c\n\x1b[31mred"), printable("日本 é")
    ('c\\n\\x1b[31mred', '日本 é')
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def shell_line(words: Iterable[str]) -> str:
    r"""A command that can be pasted into bash, zsh or ksh, even if its words have special characters.

    A word that is not printable, or not UTF-8 (with lone surrogates for its bytes), is spelled as ``$'…'``:
    otherwise, it would end the line early or become another word.

    >>> print(shell_line(["ls", "it's", "a\nb", "日本", "\udcff\x1b"]))
    ls 'it'"'"'s' $'a\nb' '日本' $'\377\033'
    """
    return " ".join(shlex.quote(word) if word.isprintable() else _spelled_out(word) for word in words)


def _spelled_out(word: str) -> str:
    return f"$'{''.join(map(_shell_character, word))}'"


def _shell_character(char: str) -> str:
    if char in _SHELL_ESCAPES:
        return _SHELL_ESCAPES[char]
    if char.isprintable():
        return char
    # Octal escapes end after three digits; in some shells, a hexadecimal escape would include digits that follow.
    is_byte = "\udc80" <= char <= "\udcff"
    raw = char.encode("utf-8", "surrogateescape" if is_byte else "surrogatepass")
    return "".join(f"\\{byte:03o}" for byte in raw)


_SHELL_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


@contextlib.contextmanager
def guarded_output() -> Generator[None]:
    """Run a command so that no state of stdout ends in a traceback.

    A pipe that is closed early ends the command quietly. A full disk or another failure is one line on stderr
    and exit code 2. A closed stdout drops the output, and characters that the encoding of stdout lacks are
    escaped.
    """
    with contextlib.suppress(AttributeError, ValueError):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123 - open until the end
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except OSError as error:
        # The rest of the buffer cannot be written either; Python would complain about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        print(f"error: the output cannot be written: {error.strerror or error}", file=sys.stderr)  # noqa: T201
        sys.exit(2)
