"""The options of all commands, from their declarations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, get_args

import typer.main

from page_tables import table
from pqassay.cli.check.options import OPTIONS
from pqassay.cli.main import app
from pqassay.judge.options import CheckOptions, Declared, Kind, Panel, declared
from pqassay_spec.base.help_pages import style

IN_PYTHON: Mapping[Kind, str] = {
    "flag": "bool",
    "text": "str",
    "texts": "list of str",
    "path": "path",
    "paths": "list of paths",
    "number": "float",
    "whole": "int",
    "size": "int, in bytes",
    "release": "str",
}
"""What a keyword takes, by the kind of its option."""

CODE = re.compile(r"(?<![`\w-])(--[a-z-]+[a-z]|[a-z]+\.toml|\.json)(?![`\w])")
"""What a help page shows as it is, and a page of the guide as code."""


def as_code(text: str) -> str:
    """A help text for a page of the guide.

    >>> as_code("Default: by the name of --output, else text.")
    'Default: by the name of `--output`, else text.'
    """
    return CODE.sub(r"`\1`", text)


def option(one: Declared) -> list[str]:
    """The row of an option of a check."""
    names = f"--{one.name} {one.option.metavar}".rstrip()
    others = [f"-{one.option.short} {one.option.metavar}".rstrip()] if one.option.short else []
    if one.option.kind == "flag":
        others.append(f"--no-{one.name}")
    return [", ".join(f"`{name}`" for name in (names, *others)), as_code(one.option.help)]


def panels(_: None) -> Iterator[str]:
    """A table for each heading of the help page."""
    for number, panel in enumerate(get_args(Panel)):
        yield from () if number == 0 else ("",)
        yield f"**{panel}**"
        yield ""
        yield from of_panel(None, panel)


def of_panel(_: None, panel: str) -> Iterator[str]:
    """The options below a heading of the help page."""
    yield from table(
        ("Option", "Meaning"), (option(one) for one in OPTIONS.values() if one.option.panel == panel)
    )


def every(_: None) -> Iterator[str]:
    """A section for each command with its options, in the order of the root help page."""
    for name, command in commands(typer.main.get_group(app)):
        yield f"## `pqassay {name}`"
        yield ""
        yield from panels(None) if name == "check" else own(command)
        yield ""


def commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Every command that is not hidden, by its name."""
    for name, command in group.commands.items():
        if getattr(command, "commands", None) and not command.hidden:
            yield from commands(command, f"{before}{name} ")
        elif not command.hidden:
            yield f"{before}{name}", command


def own(command: Any) -> Iterator[str]:
    """The options that a command has beside those of a check, and whether it has some of those."""
    options = [one for one in command.params if one.param_type_name == "option" and not one.hidden]
    shown = [one for one in options if not _is_shared(one)]
    if shown:
        yield from table(("Option", "Meaning"), map(_row, shown))
    else:
        yield "No options of its own."
    if len(shown) < len(options):
        yield ""
        yield "`--help-all` lists the options of [`pqassay check`](#pqassay-check) that it also takes."


def _is_shared(parameter: Any) -> bool:
    """Whether a check has the option as well: it is listed below a heading."""
    return parameter.rich_help_panel in get_args(Panel)


def _row(parameter: Any) -> list[str]:
    style(parameter)
    first, *others = parameter.opts
    names = [f"{first} {parameter.metavar}".rstrip(), *others]
    return [", ".join(f"`{name}`" for name in names), as_code(parameter.help)]


def keys(_: None) -> Iterator[str]:
    """The keys of ``pqassay.toml``, in a sentence."""
    names = ["paths", *(one.name for one in OPTIONS.values() if one.option.in_file)]
    yield f"The keys are {', '.join(f'`{name}`' for name in names[:-1])} and `{names[-1]}`, with the meaning of the options."


def keywords(_: None) -> Iterator[str]:
    """The keywords of `pqassay.check`."""
    yield from table(("Keyword", "Value", "Meaning"), map(_keyword, declared(CheckOptions)))


def _keyword(one: Declared) -> list[str]:
    value = ", ".join(f'`"{choice}"`' for choice in one.choices) or IN_PYTHON[one.option.kind]
    return [f"`{one.keyword}`", value, as_code(one.option.help.replace("; repeatable", ""))]


def read() -> None:
    """Nothing is read: the declarations are code."""


TABLES = {"options": every, "keys of check": keys, "keywords of check": keywords}
