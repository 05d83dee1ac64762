"""The tables of options of all commands, from their declarations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, get_args

import typer.main

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
"""The values of a keyword, by the kind of its option."""

CODE = re.compile(r"(?<![`\w-])(--[a-z-]+[a-z]|[a-z]+\.toml|\.json)(?![`\w])")
"""A pattern for text that is plain on a help page, but code in a guide."""


def as_code(text: str) -> str:
    """A help text in the form of a guide page.

    >>> as_code("Default: by the name of --output, else text.")
    'Default: by the name of `--output`, else text.'
    """
    return CODE.sub(r"`\1`", text)


Row = tuple[str, ...]


def figures() -> dict[str, Any]:
    """The options of a check by heading, the options of each command, and the commands that share some.

    Also the keys of ``pqassay.toml`` and the keywords of `pqassay.check`.
    """
    options = {
        name: [entry for entry in command.params if entry.param_type_name == "option" and not entry.hidden]
        for name, command in commands(typer.main.get_group(app))
    }
    panels = {
        panel: [_option(option) for option in OPTIONS.values() if option.option.panel == panel]
        for panel in get_args(Panel)
    }
    return {
        "panels": panels,
        "own": {
            name: [_row(entry) for entry in each if not _is_shared(entry)] for name, each in options.items()
        },
        "sharing": [name for name, each in options.items() if any(map(_is_shared, each))],
        "keys": ["paths", *(option.name for option in OPTIONS.values() if option.option.in_file)],
        "keywords": [_keyword(option) for option in declared(CheckOptions)],
    }


def _option(entry: Declared) -> Row:
    names = f"--{entry.name} {entry.option.metavar}".rstrip()
    others = [f"-{entry.option.short} {entry.option.metavar}".rstrip()] if entry.option.short else []
    if entry.option.kind == "flag":
        others.append(f"--no-{entry.name}")
    return ", ".join(f"`{name}`" for name in (names, *others)), as_code(entry.option.help)


def commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every visible command with its name."""
    for name, command in group.commands.items():
        if getattr(command, "commands", None) and not command.hidden:
            yield from commands(command, f"{before}{name} ")
        elif not command.hidden:
            yield f"{before}{name}", command


def _is_shared(parameter: Any) -> bool:
    """Whether a check also has the option: it has a heading."""
    return parameter.rich_help_panel in get_args(Panel)


def _row(parameter: Any) -> Row:
    style(parameter)
    first, *others = parameter.opts
    names = [f"{first} {parameter.metavar}".rstrip(), *others]
    return ", ".join(f"`{name}`" for name in names), as_code(parameter.help)


def _keyword(entry: Declared) -> Row:
    value = ", ".join(f'`"{choice}"`' for choice in entry.choices) or IN_PYTHON[entry.option.kind]
    return f"`{entry.keyword}`", value, as_code(entry.option.help.replace("; repeatable", ""))
