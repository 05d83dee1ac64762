"""Commands that are loaded when they are called, from whichever package has them.

A table names each command by its module and function, as text. So no package imports another to add its
commands, and ``--help`` of a command does not load the others. A command that was renamed works under its old
name until 1.0 and prints what it is called now.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, cast

import typer
from typer.core import TyperGroup

from pqassay_spec import __version__
from pqassay_spec.base.help_pages import in_one_style, note_renamed

Table = Mapping[str, str]
"""For each name of a command, ``module:function``, or ``module:app`` of a group of commands."""

Panels = Mapping[str, Table]
"""The commands of a program, by the heading that they have on its help page; an empty one is typer's own."""


HIDDEN = "hidden"
"""The heading of commands that a program has and its help page does not list."""


class _Loaded(Mapping[str, Any]):
    """The commands of a table by name; each is loaded when it is first asked for."""

    def __init__(self, panels: Panels) -> None:
        self._places = {
            name: (place, panel) for panel, table in panels.items() for name, place in table.items()
        }
        self._commands: dict[str, Any] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __getitem__(self, name: str) -> Any:
        if name not in self._commands:
            place, panel = self._places[name]
            self._commands[name] = command = _command(name, place)
            command.hidden = panel == HIDDEN
            command.rich_help_panel = panel or None
        return self._commands[name]


class _Group(TyperGroup):
    """Commands that are loaded when they are called, and old names of some of them."""

    panels: ClassVar[Panels]
    renamed: ClassVar[Table]
    aliases: ClassVar[Table]

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        in_one_style(self)
        self.commands = cast("dict[str, Any]", _Loaded(self.panels))

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - the interface of click
        return list(self.commands)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, *rest = args
        now = self.renamed.get(name) or self.aliases.get(name) or name
        if name in self.renamed and not ctx.resilient_parsing:
            note_renamed(f"{ctx.command_path} {name}", f"{ctx.command_path} {now}")
        return super().resolve_command(ctx, [*now.split(), *rest])


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
    if not isinstance(command, _Group):
        in_one_style(command)
    return command


def group(
    panels: Panels, *, help_text: str, epilog: str, renamed: Table | None = None, aliases: Table | None = None
) -> typer.Typer:
    """A group of commands, which can be a command of a program or of another group.

    Args:
        panels: Its commands, in the order of the help page.
        help_text: First lines of the help page.
        epilog: Last lines of the help page.
        renamed: For each old name, which the help page does not list, the words that replace it. It works exactly as they do,
            and prints on stderr what it is called now.
        aliases: For each short name, which the help page does not list either, the words that it stands for.
    """
    app = typer.Typer(
        cls=type("Group", (_Group,), {"panels": panels, "renamed": renamed or {}, "aliases": aliases or {}}),
        help=help_text,
        epilog=epilog,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="markdown",
    )
    app.callback()(_root)
    return app


def _root() -> None:
    """What a group without options does before its command: nothing."""


def program(
    name: str,
    panels: Panels,
    *,
    help_text: str,
    epilog: str,
    renamed: Table | None = None,
    aliases: Table | None = None,
) -> typer.Typer:
    """A `group` that can be started and prints its version, with this name before it."""
    app = group(panels, help_text=help_text, epilog=epilog, renamed=renamed, aliases=aliases)

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
