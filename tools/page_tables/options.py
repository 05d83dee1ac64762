"""The options of `pqassay check` and of the commands that check in another way, from their declarations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
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
    others = [f"-{one.option.short} {one.option.metavar}"] if one.option.short else []
    if one.option.kind == "flag":
        others = [f"--no-{one.name}"]
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


def own(_: None, name: str) -> Iterator[str]:
    """The options that a command, such as ``spark check``, has beside those of a check."""
    command: Any = typer.main.get_group(app)
    for each in name.split():
        command = command.commands[each]
    options = [one for one in command.params if one.param_type_name == "option"]
    shown = [one for one in options if not (one.hidden or _is_shared(one))]
    yield from table(("Option", "Meaning"), map(_row, shown))


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


OWN = (
    "report",
    "baseline",
    "prove",
    "sample",
    "estimate",
    "pm generate",
    "suite run",
    "spark check",
    "spark index",
    "spark pm",
)
"""Commands whose options a page of the guide lists."""

TABLES = {
    "options of check": panels,
    "keys of check": keys,
    "keywords of check": keywords,
    "options of tables": partial(of_panel, panel="Table"),
    **{f"options of {name}": partial(own, name=name) for name in OWN},
}
