"""The table of commands: the purpose of each from its help page, and its guide."""

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
    "suite explore": "run#random-files",
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
"""The guide page about a command, or about all commands of a group."""


def figures() -> dict[str, Any]:
    """The commands by heading of the root help page: name, address of the guide, and purpose."""
    root: Any = typer.main.get_group(app)
    panels: dict[str, list[tuple[str, str, str]]] = {}
    for name, command in root.commands.items():
        if not command.hidden:
            panels.setdefault(command.rich_help_panel, []).extend(_rows((name,), command))
    return {"panels": panels}


def _rows(names: tuple[str, ...], command: Any) -> Iterator[tuple[str, str, str]]:
    below = getattr(command, "commands", {})
    for name, one in sorted(below.items()):
        if not one.hidden:
            yield from _rows((*names, name), one)
    if not below:
        guide = GUIDES.get(" ".join(names)) or GUIDES[names[0]]
        path, mark, place = guide.partition("#")
        said = command.help.split("\n\n")[0].replace("\n", " ").replace("|", r"\|")
        yield " ".join(names), f"{path}.md{mark}{place}", said
