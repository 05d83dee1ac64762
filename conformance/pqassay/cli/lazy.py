"""Commands that are loaded on demand, from any package.

A table names each command by its module and function, as text. So no package imports another to add its commands, and ``--help`` of a
command does not load the others. A renamed command works under its old name until 1.0 and prints its new name.
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
"""For each command name, ``module:function``, or ``module:app`` for a group of commands."""

Panels = Mapping[str, Table]
"""The commands of a program, by heading on its help page; an empty heading means typer's own."""


HIDDEN = "hidden"
"""The heading of commands that the help page does not list."""


class _Loaded(Mapping[str, Any]):
    """The commands of a table by name, each loaded on first use."""

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
    """A group of commands that are loaded on demand, some with old names."""

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
    """A typer command from a function that `pqassay_spec.base.help_pages.example` marked, or a group."""
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
    """A group of commands, for a program or for another group.

    Args:
        panels: Its commands, in the order of the help page.
        help_text: First lines of the help page.
        epilog: Last lines of the help page.
        renamed: For each unlisted old name, the words that replace it. It works exactly like these words, and prints them on stderr.
        aliases: For each unlisted short name, the words that it stands for.
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
    """Do nothing: the group itself has no options."""


def program(
    name: str,
    panels: Panels,
    *,
    help_text: str,
    epilog: str,
    renamed: Table | None = None,
    aliases: Table | None = None,
) -> typer.Typer:
    """A `group` that can be started as a program; its version option prints this name."""
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
