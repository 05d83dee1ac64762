"""The help pages of all commands, as they are rendered: one style, an example, nothing lost to markup, no broken paragraph."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from pqassay.cli.main import app


def below(command: Any, *names: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield names, command
    for name, each in getattr(command, "commands", {}).items():
        yield from below(each, *names, name)


class Page(NamedTuple):
    """A help page: the names of its command, and the command."""

    names: tuple[str, ...]
    command: Any


@cache
def rendered(names: tuple[str, ...], width: int) -> str:
    environment = {"COLUMNS": str(width), "NO_COLOR": "1", "TERM": "xterm"}
    result = CliRunner().invoke(app, [*names, "--help"], env=environment)
    assert 0 == result.exit_code
    return result.stdout


PAGES = [Page(*found) for found in below(get_command(app))]

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: " ".join(("pqassay", *page.names)))
each_width = pytest.mark.parametrize("width", [80, 120])

FRAME = str.maketrans(dict.fromkeys("│╭╮╰╯─*", " "))


def words(text: str) -> str:
    """Text without what markup and wrapping change."""
    return " ".join(text.replace("`", "").translate(FRAME).split())


def parameters(command: Any) -> list[Any]:
    return list(command.get_params(command.make_context("x", [], resilient_parsing=True)))


@each_width
@each_page
def test_a_page_says_all_that_is_written_for_it(page: Page, width: int) -> None:
    shown = words(rendered(page.names, width))
    command = page.command
    texts = [command.help, command.epilog, *(parameter.help for parameter in parameters(command))]

    assert [] == [text for text in texts if text and words(inspect.cleandoc(text)) not in shown]


@each_width
@each_page
def test_no_line_of_a_paragraph_ends_before_its_time(page: Page, width: int) -> None:
    lines = [line.rstrip() for line in rendered(page.names, width).splitlines()]
    early = [
        (line, following)
        for line, following in pairwise(lines)
        if line.startswith(" ") and following.startswith(" ") and following.strip()
        if line.strip() and len(line) + 1 + len(following.split()[0]) < width - 1
    ]

    assert [] == early


@each_page
def test_metavars_are_in_upper_case(page: Page) -> None:
    metavars = [
        parameter.metavar
        for parameter in parameters(page.command)
        if not getattr(parameter, "is_flag", False) and not getattr(parameter, "hidden", False)
    ]

    assert [] == re.findall(r"<[a-z|\[\] ]+>|\{\w+\}", rendered(page.names, 120))
    assert [] == [name for name in metavars if name is None or name != name.upper()]


@each_page
def test_a_page_has_an_example_of_its_command(page: Page) -> None:
    """A driver is started by a run: its example is one of that."""
    command = " ".join(("pqassay", *page.names))

    assert re.search(rf"Examples?: (.* )?{command}[ .]", words(rendered(page.names, 120)))
