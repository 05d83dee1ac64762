"""The text of a difference, for a terminal or a log."""

from __future__ import annotations

from typing import TextIO

from rich.console import Console

from pqassay.difference.marks import marked_rows
from pqassay.difference.model import Change, Difference, Kind, Place
from pqassay.report.renderers.line import counted, plain_console, write_line
from pqassay_spec.base.sources import Source

COLOURS: dict[Kind, str] = {
    "changed": "bold yellow",
    "added": "bold green",
    "removed": "bold red",
    "stored otherwise": "magenta",
}

SHOWN = 8
"""The number of changes that the text lists unless it is verbose; the others are counted."""

WIDTH = 17
"""The width, in characters, of the word for the kind of change."""


def render(
    difference: Difference,
    stream: TextIO,
    sources: tuple[Source, Source] | None = None,
    *,
    follows: bool = False,
    verbose: bool = False,
) -> None:
    """Write the text.

    Args:
        difference: The difference.
        stream: The output stream.
        sources: The files, to show the bytes of changed fields; ``None`` to omit the bytes.
        follows: Whether to list, not only count, the offsets that follow and the fields that moved.
        verbose: Whether all changes are listed.
    """
    console = plain_console(stream)
    shown = difference.changes if verbose else difference.changes[:SHOWN]
    for change in shown:
        _change(console, change, change.kind, COLOURS[change.kind], sources)
    if rest := len(difference.changes) - len(shown):
        write_line(console, f"{'':<{WIDTH}}… and {rest:,} more; `-v` shows all")
    if follows:
        for change in difference.follows:
            _change(console, change, "follows", "cyan", None)
        for change in difference.moves:
            moved = f"{_offset(change.old)} -> {_offset(change.new)}"
            write_line(console, (f"{'moved':<{WIDTH}}", "dim"), change.path, (f"  {moved}", "dim"))
    for name, file in (("old", difference.old), ("new", difference.new)):
        for error in file.errors:
            write_line(console, ("note: ", "yellow"), f"not all of the {name} file can be read: {error}")
    _sum(console, difference)


def _offset(place: Place | None) -> str:
    return "" if place is None else f"{place.offset:,}"


def _change(
    console: Console, change: Change, word: str, colour: str, sources: tuple[Source, Source] | None
) -> None:
    more = f"  ({counted(change.fields, 'field')})" if change.fields > 1 else ""
    write_line(console, (f"{word:<{WIDTH}}", colour), change.path, (more, "dim"))
    sides = (("old", change.old, "red"), ("new", change.new, "green"))
    for label, place, style in sides:
        if place is not None:
            elsewhere = f", {place.path}" if place.path != change.path and change.fields == 1 else ""
            spot = f"  offset {place.offset:,}, {counted(place.length, 'byte')}{elsewhere}"
            write_line(console, (f"    {label}  ", "dim"), (place.value, style), (spot, "dim"))
    if sources is None:
        return
    for label, rows in zip(("old", "new"), marked_rows(change, sources), strict=True):
        for row, marks in rows:
            write_line(console, (f"    {label}  {row}", ""))
            if marks:
                write_line(console, (f"         {marks}", "yellow"))


def _sum(console: Console, difference: Difference) -> None:
    if difference.same:
        write_line(console, ("the files hold the same bytes", "bold green"))
        return
    kinds = [change.kind for change in difference.changes]
    counts = [f"{kinds.count(kind):,} {kind}" for kind in COLOURS if kind in kinds]
    rest = {
        "that follow": len(difference.follows),
        "moved": difference.moved,
        "unchanged": difference.unchanged,
    }
    counts += [f"{count:,} {what}" for what, count in rest.items() if count]
    write_line(console, ", ".join(counts))
