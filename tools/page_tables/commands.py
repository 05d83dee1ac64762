"""Every command: what it does, by its help page, and the guide about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import typer.main

from pqassay.cli.main import app

GUIDES: Mapping[str, str] = {
    "check": "check",
    "dump": "diff",
    "diff": "diff",
    "explain": "check#what-a-finding-says",
    "report": "report",
    "prove": "prove",
    "baseline": "ci#findings-that-are-known",
    "history": "lake",
    "sample": "lake#what-a-sample-says",
    "estimate": "scale#what-will-my-files-cost",
    "repair": "repair",
    "suite run": "run",
    "suite explore": "run#files-that-are-drawn",
    "suite future": "run#files-from-the-future",
    "suite drivers": "run",
    "suite new-driver": "first-driver",
    "suite pack": "export",
    "suite status": "export#rows-for-a-status-page",
    "index": "indexes",
    "scan": "indexes#query-a-file",
    "answer": "answer",
    "strip": "strip",
    "pm": "pm",
    "spark produce": "spark#sample-data",
    "spark index": "spark#index-a-lake",
    "spark check": "spark#check-a-lake",
    "spark pm": "spark#_pm-for-every-file",
}
"""The page of the guide about a command, or about all commands of a group."""


def commands(_: None) -> Iterator[str]:
    """A table for each heading of the root help page."""
    root = typer.main.get_group(app)
    panels: dict[str, list[str]] = {}
    for name in root.commands:
        command: Any = root.commands[name]
        if not command.hidden:
            panels.setdefault(command.rich_help_panel, []).extend(_rows((name,), command))
    for number, (panel, rows) in enumerate(panels.items()):
        yield from () if number == 0 else ("",)
        yield f"**{panel}**"
        yield ""
        yield "| Command | What it does |"
        yield "| --- | --- |"
        yield from rows


def _rows(names: tuple[str, ...], command: Any) -> Iterator[str]:
    for name, below in sorted(getattr(command, "commands", {}).items()):
        if not below.hidden:
            yield from _rows((*names, name), below)
    if not getattr(command, "commands", {}):
        said = command.help.split("\n\n")[0].replace("\n", " ").replace("|", r"\|")
        yield f"| [`pqassay {' '.join(names)}`]({guide(names)}) | {said} |"


def guide(names: tuple[str, ...]) -> str:
    """The address of the guide about a command, as seen from the page of commands."""
    page = GUIDES.get(" ".join(names)) or GUIDES[names[0]]
    path, mark, place = page.partition("#")
    return f"{path}.md{mark}{place}"


def read() -> None:
    """Nothing is read: the help pages are code."""


TABLES = {"commands": commands}
