"""Commands under old names, of a small program."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner, Result

from pqassay.cli.lazy import HIDDEN, group, program
from pqassay_spec.base.help_pages import example


@example("Example: `small greet Ada`")
def greet(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name to print.")],
    times: Annotated[int, typer.Option(metavar="N", help="Times to print it.")] = 1,
) -> None:
    """Print a name."""
    for _ in range(times):
        typer.echo(name)
    raise typer.Exit(3)


def run(*words: str) -> Result:
    return CliRunner().invoke(APP, words, prog_name="small")


@pytest.fixture(autouse=True)
def _place(monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands of the table are in this module, which has no name that can be imported."""
    monkeypatch.setattr("pkgutil.resolve_name", lambda place: globals()[place])


MANY: Any = group({"": {"greet": "greet"}}, help_text="Greet many.", epilog="Example: `small many greet Ada`")
RENAMED = {"hello": "greet", "crowd": "many greet", "twice": "greet --times 2"}
APP = program(
    "small",
    {"Greet": {"greet": "greet", "many": "MANY"}, HIDDEN: {"whisper": "greet"}},
    help_text="Greet.",
    epilog="Example: `small greet Ada`",
    renamed=RENAMED,
    aliases={"hi": "greet --times 1"},
)


@pytest.mark.parametrize(
    ("old", "now"),
    [
        ("hello Ada", "greet Ada"),
        ("hello --help", "greet --help"),
        ("hello", "greet"),
        ("crowd Ada --times 3", "many greet Ada --times 3"),
        ("twice Ada", "greet --times 2 Ada"),
    ],
)
def test_an_old_name_works_as_the_new_one_and_prints_it_on_stderr(old: str, now: str) -> None:
    result, expected = run(*old.split()), run(*now.split())
    word = old.split(maxsplit=1)[0]
    note = f"note: `small {word}` is now `small {RENAMED[word]}`\n"

    assert (expected.exit_code, expected.stdout) == (result.exit_code, result.stdout)
    assert note + expected.stderr == result.stderr


def test_a_help_page_lists_neither_old_names_nor_hidden_commands() -> None:
    text = run("--help").stdout

    assert "greet" in text
    assert [] == [name for name in (*RENAMED, "whisper") if name in text]


def test_a_hidden_command_works() -> None:
    result = run("whisper", "Ada")

    assert ("Ada\n", "") == (result.stdout, result.stderr)


def test_an_alias_is_what_it_stands_for_and_prints_no_note() -> None:
    result = run("hi", "Ada")

    assert (3, "Ada\n", "") == (result.exit_code, result.stdout, result.stderr)
    assert "hi" not in run("--help").stdout.split()
