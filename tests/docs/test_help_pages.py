"""The help pages of all commands, as they are rendered: one style, plain English, examples, nothing lost to markup, no broken paragraph."""

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
from pqassay_spec.base.help_pages import RARE


def below(command: Any, *names: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield names, command
    for name, each in getattr(command, "commands", {}).items():
        yield from below(each, *names, name)


class Page(NamedTuple):
    """A help page: the names of its command, and the command."""

    names: tuple[str, ...]
    command: Any


@cache
def rendered(names: tuple[str, ...], width: int = 80, option: str = "--help-all") -> str:
    # A page leaves two columns of a terminal free.
    result = CliRunner().invoke(app, [*names, option], terminal_width=width - 2)
    assert 0 == result.exit_code
    return result.stdout


PAGES = [Page(*found) for found in below(get_command(app))]

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: " ".join(("pqassay", *page.names)))
each_width = pytest.mark.parametrize("width", [60, 80])

MOST_WORDS_OF_A_COMMAND, MOST_WORDS_OF_AN_OPTION = 15, 12
"""Words of the first paragraph of a page, and of an option's text before its default."""

TWO_SCREENS = 48
"""Lines of the page that ``--help`` prints on a terminal of 80 columns."""

NOT_PLAIN = re.compile(
    r"\b(?:is|are) (?:no|none)\b|\b(?:nobody|whoever|anew|so many)\b|\bmend(?:s|ed|ing)?\b|\bleav(?:e|es|ing) over\b"
    r"|\b(?:say|says|said|tell|tells|told) of\b|\bwhat (?:\w+ ){1,3}says?\b|(?:^|[.:;] )(?:Of|From|In) \w+, "
    r"|\b(?:colour|favour|licence|neighbour)",
    re.IGNORECASE,
)
"""Riddles, inversions and spellings that a help page must not have."""


def words(text: str) -> str:
    """Text without what markup and wrapping change."""
    return " ".join(text.replace("`", "").split())


CONTINUED = 9
"""Spaces before a line that goes on with the meaning of a name."""


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
        if line.startswith(" ") and following.startswith(" " * CONTINUED) and " " * 2 in line.strip()
        if len(line) + 1 + len(following.split()[0]) <= width - 2
    ]

    assert [] == early


@each_page
def test_metavars_are_in_upper_case(page: Page) -> None:
    metavars = [
        parameter.metavar
        for parameter in parameters(page.command)
        if not getattr(parameter, "is_flag", False) and not getattr(parameter, "hidden", False)
    ]

    assert [] == re.findall(r"<[a-z|\[\] ]+>|\{\w+\}", rendered(page.names))
    assert [] == [name for name in metavars if name is None or name != name.upper()]


@each_page
def test_a_page_has_an_example_of_its_command(page: Page) -> None:
    """A driver is started by a run: its example is one of that."""
    command = " ".join(("pqassay", *page.names))

    assert re.search(rf"Examples?: (.* )?{command}[ .]", words(rendered(page.names)))


@each_page
def test_a_page_is_short(page: Page) -> None:
    first = page.command.help.split("\n\n")[0]
    texts = [each.help.partition("Default:")[0] for each in parameters(page.command) if each.help]

    assert len(first.split()) <= MOST_WORDS_OF_A_COMMAND
    assert [] == [text for text in texts if len(text.split()) > MOST_WORDS_OF_AN_OPTION]
    assert len(rendered(page.names, option="--help").splitlines()) <= TWO_SCREENS


@each_page
def test_a_page_that_leaves_out_rare_options_names_the_page_that_has_them(page: Page) -> None:
    short = words(rendered(page.names, option="--help"))
    rare = getattr(page.command.callback, RARE, ())
    texts = [words(each.help) for each in parameters(page.command) if each.name in rare]

    assert (len(rare), bool(rare)) == (len(texts), "--help-all" in short)
    assert [] == [text for text in texts if text in short]


@each_page
def test_a_page_is_in_plain_english(page: Page) -> None:
    texts = [page.command.help, *(each.help for each in parameters(page.command) if each.help)]

    assert [] == [text for text in texts if not re.match(r"`?[A-Z]", text)]
    assert [] == NOT_PLAIN.findall(words(rendered(page.names)))


@each_page
def test_a_page_ends_with_examples_one_on_a_line_and_exit_codes(page: Page) -> None:
    heading, *examples = page.command.epilog.strip().split("\n\n")
    codes = [examples.pop()] if examples[-1].startswith("Exit codes: ") else []

    assert "Examples:" == heading
    assert [] == [text for text in examples if not re.fullmatch(r"`pqassay [^`]+`(?: \(.+\))?", text)]
    assert hasattr(page.command, "commands") or codes
