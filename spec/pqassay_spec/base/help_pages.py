"""Help pages of all commands in one style, whatever the version of typer: metavars in upper case, flags without any, defaults last.

Shared by all commands of this project; it knows of typer what commands and parameters have always had, and imports none of it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def in_one_style(command: Any) -> None:
    """Have a command of typer, and all commands below it, show their parameters in this style."""
    take = command.get_params

    def get_params(ctx: Any) -> list[Any]:
        found: list[Any] = take(ctx)
        for parameter in found:
            style(parameter)
        return found

    command.get_params = get_params
    for below in getattr(command, "commands", {}).values():
        in_one_style(below)


def style(parameter: Any) -> None:
    """Have a parameter shown in this style; its help text ends with the default."""
    if parameter.param_type_name == "argument":
        # Braces around what is required, and a type behind the name, are typer's; the name says what it is.
        shown: str = parameter.metavar if parameter.required else f"[{parameter.metavar}]"
        parameter.get_usage_pieces = _constant([shown])
        parameter.display_type_rich = _constant("")
    elif parameter.metavar is None and parameter.is_flag:
        parameter.metavar = ""
    if "Default:" not in (parameter.help or "") and (default := _default(parameter)):
        parameter.help = f"{parameter.help} Default: {default}."
    if "Default:" in (parameter.help or ""):
        parameter.show_default = False


def _default(parameter: Any) -> str:
    """The default that a help page should show behind what an option means; empty if there is none."""
    default = parameter.default
    is_plain = default is None or isinstance(default, bool) or callable(default)
    if is_plain or parameter.param_type_name != "option" or parameter.hidden:
        return ""
    formats = {int: ",", float: "g"}
    return format(default, formats.get(type(default), ""))


def _constant(answer: Any) -> Callable[..., Any]:
    def answered(*_: Any, **__: Any) -> Any:
        return answer

    return answered


def epilog(*examples: str, codes: str = "") -> str:
    r"""The end of a help page: examples, one on a line, and exit codes.

    >>> epilog("`pqassay dump a.parquet`", "`pqassay --help`", codes="0 printed, 2 usage")
    'Examples:\n\n`pqassay dump a.parquet`\n\n`pqassay --help`\n\nExit codes: 0 printed, 2 usage.'
    """
    last = [f"Exit codes: {codes}."] if codes else []
    return "\n\n".join(["Examples:", *examples, *last])


def example(ending: str) -> Callable[[Function], Function]:
    """Mark a function as a command, with what its help page ends with: see `epilog`."""

    def marked(function: Function) -> Function:
        function.epilog = ending  # type: ignore[attr-defined]  # functions take any
        return function

    return marked


def note_renamed(old: str, now: str) -> None:
    """Print on stderr what an old name, which works until 1.0, is called now.

    >>> import contextlib
    >>> with contextlib.redirect_stderr(sys.stdout):
    ...     note_renamed("--sample N", "pqassay sample N")
    note: `--sample N` is now `pqassay sample N`
    """
    print(f"note: `{old}` is now `{now}`", file=sys.stderr)  # noqa: T201 - shared by commands, and needs no typer


def renamed_option(old: str, now: str) -> Callable[[Any], Any]:
    """The callback of a hidden option that has an old name: where it is given, `note_renamed` prints its line, once."""

    def noted(value: Any) -> Any:
        if value not in (None, False, [], ()):
            note_renamed(old, now)
        return value

    return noted
