"""Commands that are loaded when they are called, from whichever package has them.

A table names each command by its module and function, as text: no package imports another one to add its commands to a program, and
``--help`` of one command does not load the others.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from typing import Any

import typer
from typer.core import TyperGroup

from pqassay_spec import __version__
from pqassay_spec.base.help_pages import in_one_style

Table = Mapping[str, str]
"""For each name of a command, ``module:function``, or ``module:app`` of a group of commands."""

Panels = Mapping[str, Table]
"""The commands of a program, by the heading that they have on its help page; an empty one is typer's own."""


class _Loaded(dict[str, Any]):
    """The commands of a table by name; each is loaded when it is first asked for."""

    def __init__(self, panels: Panels) -> None:
        super().__init__()
        self.places = {
            name: (place, panel) for panel, table in panels.items() for name, place in table.items()
        }

    def keys(self) -> Any:  # a view, as of any mapping
        """The names of all, for what suggests one to whoever mistypes it."""
        return self.places.keys()

    def __missing__(self, name: str) -> Any:
        place, panel = self.places[name]
        self[name] = command = _command(name, place)
        command.rich_help_panel = panel or None
        return command


def _command(name: str, place: str) -> Any:
    """A command of typer, from a function that `pqassay_spec.base.help_pages.example` marked, or a group."""
    found: Any = pkgutil.resolve_name(place)
    if isinstance(found, typer.Typer):
        command: Any = typer.main.get_group(found)
    else:
        alone = typer.Typer(add_completion=False, rich_markup_mode="markdown")
        alone.command(name, epilog=found.epilog)(found)
        command = typer.main.get_command(alone)
    command.name = name
    in_one_style(command)
    return command


def program(name: str, panels: Panels, *, help_text: str, epilog: str) -> typer.Typer:
    """A program with the commands of some tables.

    Args:
        name: What its version is printed with.
        panels: Its commands, in the order of the help page.
        help_text: What the help page says first.
        epilog: What it ends with.
    """

    class Commands(TyperGroup):
        def __init__(self, **attributes: Any) -> None:
            super().__init__(**attributes)
            self.commands = _Loaded(panels)
            in_one_style(self)

        def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - the interface of click
            return list(self.commands.keys())

        def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - as above
            return self.commands[cmd_name] if cmd_name in self.commands.keys() else None  # noqa: SIM118 - see `_Loaded`

    app = typer.Typer(
        cls=Commands,
        help=help_text,
        epilog=epilog,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="markdown",
    )

    def tell_version(wanted: bool) -> None:
        if wanted:
            typer.echo(f"{name} {__version__}")
            raise typer.Exit

    @app.callback()
    def root(
        _: bool = typer.Option(
            False, "--version", callback=tell_version, is_eager=True, help="Print the version."
        ),
    ) -> None:
        pass

    return app
