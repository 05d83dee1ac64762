"""The options of `pqassay check` and of the commands that check in another way, from their declarations."""

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
"""What a keyword takes, by the kind of its option."""

CODE = re.compile(r"(?<![`\w-])(--[a-z-]+[a-z]|[a-z]+\.toml|\.json)(?![`\w])")
"""What a help page shows as it is, and a page of the guide as code."""


def as_code(text: str) -> str:
    """A help text for a page of the guide.

    >>> as_code("Default: by the name of --output, else text.")
    'Default: by the name of `--output`, else text.'
    """
    return CODE.sub(r"`\1`", text)


Row = tuple[str, ...]


def figures() -> dict[str, Any]:
    """The options below each heading of the help page of a check, those of other commands, keys of ``pqassay.toml``, and keywords of `pqassay.check`."""
    panels = {
        panel: [_option(one) for one in OPTIONS.values() if one.option.panel == panel]
        for panel in get_args(Panel)
    }
    return {
        "panels": panels,
        "own": {name: list(_own(name)) for name in OWN},
        "keys": ["paths", *(one.name for one in OPTIONS.values() if one.option.in_file)],
        "keywords": [_keyword(one) for one in declared(CheckOptions)],
    }


def _option(one: Declared) -> Row:
    names = f"--{one.name} {one.option.metavar}".rstrip()
    others = [f"-{one.option.short} {one.option.metavar}"] if one.option.short else []
    if one.option.kind == "flag":
        others = [f"--no-{one.name}"]
    return ", ".join(f"`{name}`" for name in (names, *others)), as_code(one.option.help)


def _own(name: str) -> Iterator[Row]:
    """The options that a command, such as ``spark check``, has beside those of a check, which are listed below a heading."""
    command: Any = typer.main.get_group(app)
    for each in name.split():
        command = command.commands[each]
    for one in command.params:
        if one.param_type_name == "option" and not (one.hidden or one.rich_help_panel in get_args(Panel)):
            style(one)
            first, *others = one.opts
            names = [f"{first} {one.metavar}".rstrip(), *others]
            yield ", ".join(f"`{name}`" for name in names), as_code(one.help)


def _keyword(one: Declared) -> Row:
    value = ", ".join(f'`"{choice}"`' for choice in one.choices) or IN_PYTHON[one.option.kind]
    return f"`{one.keyword}`", value, as_code(one.option.help.replace("; repeatable", ""))


OWN = (
    *("report", "baseline", "prove", "sample", "estimate", "pm generate"),
    *("suite run", "spark check", "spark index", "spark pm"),
)
"""Commands whose options a page of the guide lists."""
