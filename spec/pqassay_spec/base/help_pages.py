"""Help pages of all commands in one style, for every version of typer.

They are plain text that fits on two screens: metavars in upper case, flags without metavars, defaults last, one example on a line.
Rarely used options are only on the page of ``--help-all``.

Shared by all commands of this project. It does not import typer, and uses only attributes that its commands and parameters have always had.
"""

from __future__ import annotations

import functools
import inspect
import sys
import textwrap
from collections.abc import Callable, Collection
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


HELP, HELP_ALL = "--help", "--help-all"
"""The options that print the page of a command: the short page, and the page that also has the rarely used options."""

SHORT = 24
"""Columns for a name whose meaning is on the same line; the meaning of a longer name is on the next line."""

RARE = "rare"
"""The attribute of a command's function that holds the names of its rarely used options."""


def in_one_style(command: Any) -> None:
    """Make a typer command, and all commands below it, show their parameters and their page in this style."""
    take, parse = command.get_params, command.parse_args

    def get_params(ctx: Any) -> list[Any]:
        parameters: list[Any] = take(ctx)
        for parameter in parameters:
            style(parameter)
        return parameters

    def parse_args(ctx: Any, args: list[str]) -> list[str]:
        ctx.meta[HELP_ALL] = HELP_ALL in args
        parsed: list[str] = parse(ctx, args)
        return parsed

    command.get_params, command.parse_args = get_params, parse_args
    command.context_settings = {**command.context_settings, "help_option_names": [HELP, HELP_ALL]}
    command.format_help = functools.partial(_write_page, command)
    for below in getattr(command, "commands", {}).values():
        in_one_style(below)


def _write_page(command: Any, ctx: Any, formatter: Any) -> None:
    """Write a page: usage, purpose, then arguments, options and commands below their headings, then examples and exit codes."""
    command.format_usage(ctx, formatter)
    formatter.write_paragraph()
    formatter.write_text(inspect.cleandoc(command.help or ""))
    rare = getattr(command.callback, RARE, ())
    is_short = bool(rare) and not ctx.meta.get(HELP_ALL)
    sections: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(ctx):
        if getattr(parameter, "hidden", False) or (is_short and parameter.name in rare):
            continue
        is_argument = parameter.param_type_name == "argument"
        panel = None if is_short else getattr(parameter, "rich_help_panel", None)
        text = f"{parameter.help or ''}{f' {HELP_ALL} shows every option.' * (bool(rare) and HELP in parameter.opts)}"
        row = (parameter.metavar if is_argument else _names(parameter), text)
        sections.setdefault("Arguments" if is_argument else panel or "Options", []).append(row)
    for name, below in getattr(command, "commands", {}).items():
        if not below.hidden:
            first = inspect.cleandoc(below.help or "").partition("\n\n")[0].replace("\n", " ")
            sections.setdefault(below.rich_help_panel or "Commands", []).append((name, first))
    width = min(SHORT, max(len(name) for rows in sections.values() for name, _ in rows))
    for heading, rows in sections.items():
        with formatter.section(heading):
            for name, text in rows:
                _write_row(formatter, name, text, width)
    _write_ending(formatter, (command.epilog or "").strip())


def _write_row(formatter: Any, name: str, text: str, width: int) -> None:
    """Write a name and its meaning beside it. Words with hyphens, which may be values, are not broken."""
    is_long = len(name) > width
    beside = textwrap.wrap(
        text,
        formatter.width,
        initial_indent=" " * (width + 4) if is_long else f"  {name:<{width}}  ",
        subsequent_indent=" " * (width + 4),
        break_on_hyphens=False,
        break_long_words=False,
    )
    formatter.write("".join(f"{line}\n" for line in ([f"  {name}"] if is_long else []) + beside))


def _names(parameter: Any) -> str:
    """An option with its value, such as ``-j, --jobs N``, or ``--[no-]crc``."""
    names = sorted(set(parameter.opts) - {HELP_ALL}, key=len)
    if parameter.secondary_opts:
        names[-1] = names[-1].replace("--", "--[no-]")
    return f"{', '.join(names)} {parameter.metavar or ''}".rstrip()


def _write_ending(formatter: Any, ending: str) -> None:
    """Write the examples, one on a line, and the exit codes."""
    heading, *paragraphs = ending.split("\n\n")
    with formatter.section(heading.removesuffix(":")):
        for text in paragraphs:
            if text.startswith("`"):
                formatter.write(f"  {text.replace('`', '')}\n")
    for text in paragraphs:
        if not text.startswith("`"):
            formatter.write_paragraph()
            formatter.write_text(text)


def style(parameter: Any) -> None:
    """Show a parameter in this style; its help text ends with the default."""
    if parameter.param_type_name == "argument":
        # typer adds braces around what is required, and a type after the name; the name already says what the value is.
        shown: str = parameter.metavar if parameter.required else f"[{parameter.metavar}]"
        parameter.get_usage_pieces = _constant([shown])
        parameter.display_type_rich = _constant("")
    elif parameter.metavar is None and parameter.is_flag:
        parameter.metavar = ""
    if HELP in parameter.opts:
        parameter.help = "Show this page."
    if "Default:" not in (parameter.help or "") and (default := _default(parameter)):
        parameter.help = f"{parameter.help} Default: {default}."
    if "Default:" in (parameter.help or ""):
        parameter.show_default = False


def _default(parameter: Any) -> str:
    """The default that a help page shows after the meaning of an option; empty if there is none."""
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


def example(ending: str, rare: Collection[str] = ()) -> Callable[[Function], Function]:
    """Mark a function as a command.

    Args:
        ending: What its help page ends with, see `epilog`.
        rare: Names of parameters that only the page of ``--help-all`` lists.
    """

    def marked(function: Function) -> Function:
        function.epilog = ending  # type: ignore[attr-defined]  # functions take any
        if rare:
            setattr(function, RARE, rare)
        return function

    return marked


def note_renamed(old: str, now: str) -> None:
    """Print on stderr that an old name, which works until 1.0, has a new name.

    >>> import contextlib
    >>> with contextlib.redirect_stderr(sys.stdout):
    ...     note_renamed("--sample N", "pqassay sample N")
    note: `--sample N` is now `pqassay sample N`
    """
    print(f"note: `{old}` is now `{now}`", file=sys.stderr)  # noqa: T201 - shared by commands, and needs no typer
