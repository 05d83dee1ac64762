"""Old names of commands: each works as the new one does, and prints on stderr what it is called now."""

from __future__ import annotations

import contextlib
import itertools
import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from damage import EXAMPLES
from places import GOLDEN_FILES
from pqassay.cli import main
from pqassay_reader.query.facts.footer_facts import KEPT_FACTS

FILE = str(GOLDEN_FILES / "idx1" / "plain" / "data.parquet")
PM = str(GOLDEN_FILES / "pm" / "empty")


class Renamed(NamedTuple):
    """A command, its new name, and words that follow either."""

    old: str
    now: str
    words: tuple[str, ...]


COMMANDS = [
    Renamed("pqassay run", "pqassay suite run", ("--list", "--case", "idx1/plain")),
    Renamed("pqassay drivers", "pqassay suite drivers", ("duckdb",)),
    Renamed("pqassay new-driver", "pqassay suite new-driver", ("cobol", "nowhere")),
    Renamed("pqassay export-pack", "pqassay suite pack", ("--family", "NONE", "nowhere")),
    Renamed("pqassay export-status", "pqassay suite status", ("nowhere.json",)),
    Renamed("pqassay extract", "pqassay index extract", (FILE, "--json")),
    Renamed("pqassay prune", "pqassay scan --files", (FILE, "year > 0", "--format", "json")),
    Renamed("pqassay prune", "pqassay scan --files", (FILE, "year > 0", "--format", "text", "--all")),
    Renamed("pqassay plan-repair", "pqassay repair", ("nowhere.json",)),
    Renamed("pqassay-ref", "pqassay", ()),
    Renamed("pqassay-ref index", "pqassay index", ("list", FILE)),
    Renamed("pqassay-ref pm", "pqassay pm", ("show", PM)),
    Renamed("pqassay-ref prune", "pqassay scan --files", (FILE, "year > 0")),
    Renamed("pqassay-ref scan", "pqassay scan", (FILE, "year > 0")),
    Renamed("pqassay-ref answer", "pqassay answer", (FILE, "SELECT COUNT(*) FROM t")),
    Renamed("pqassay-ref embed", "pqassay embed", ("nowhere", "--column", "nation")),
    Renamed("pqassay-ref strip", "pqassay strip", (FILE, "--all", "--dry-run")),
    Renamed("pqassay-ref extract", "pqassay index extract", (FILE,)),
    Renamed("pqassay-ref driver", "pqassay driver", ()),
    Renamed("pqassay-spark", "pqassay spark", ()),
    Renamed("pqassay-spark produce", "pqassay spark produce", (FILE,)),
    Renamed("pqassay-spark index", "pqassay spark index", ("nowhere",)),
    Renamed("pqassay-spark check", "pqassay spark check", ("--tier", "none", FILE)),
    Renamed("pqassay-spark pm", "pqassay spark pm", ("nowhere", "--blooms", "all")),
]

ENTRIES: dict[str, Callable[[], None]] = {
    "pqassay": main.main,
    "pqassay-ref": main.reference,
    "pqassay-spark": main.pipeline,
}

Outcome = tuple[int, str, str]
"""An exit code, and what was printed on stdout and stderr."""


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Run a program in this process, by its entry point."""
    for name in (
        "CleanEnd",
        "guarded_output",
    ):  # which change how this process handles signals and its streams
        monkeypatch.setattr(main, name, contextlib.nullcontext)

    def outcome(command: str, *words: str) -> Outcome:
        KEPT_FACTS.clear()  # a process of its own would know nothing of the files that the one before has read
        program, *names = command.split()
        monkeypatch.setattr(sys, "argv", [program, *names, *words])
        with pytest.raises(SystemExit) as ended:
            ENTRIES[program]()
        assert isinstance(ended.value.code, int)
        return ended.value.code, *capsys.readouterr()

    return outcome


@pytest.mark.slow
@pytest.mark.parametrize(
    ("renamed", "arguments"),
    [
        *((renamed, renamed.words) for renamed in COMMANDS),
        *zip(COMMANDS[:: 2 if EXAMPLES == 1 else 6], itertools.cycle([("--help",), ("--no-such-option",)])),
    ],
    ids=lambda value: value.old if isinstance(value, Renamed) else " ".join(value[:1]),
)
def test_an_old_name_works_and_prints_the_new_one(
    renamed: Renamed, arguments: tuple[str, ...], run: Callable[..., Outcome]
) -> None:
    code, stdout, stderr = run(renamed.now, *arguments)
    note = f"note: `{renamed.old}` is now `{renamed.now}`\n"
    assert (code, stdout, note + stderr) == run(renamed.old, *arguments)


def test_every_old_name_is_in_the_table() -> None:
    assert {f"pqassay {name}" for name in main.RENAMED} == {
        renamed.old for renamed in COMMANDS if renamed.old.startswith("pqassay ")
    }
    assert {f"pqassay {now}" for now in main.RENAMED.values()} <= {renamed.now for renamed in COMMANDS}


def test_the_help_page_has_no_old_name() -> None:
    shown = CliRunner().invoke(main.app, ["--help"]).stdout

    assert [] == [name for name in main.RENAMED if f"│ {name} " in shown]


def test_the_driver_of_the_reference_prints_no_note(run: Callable[..., Outcome]) -> None:
    _, _, stderr = run("pqassay driver", "nowhere", "answer")

    assert stderr.startswith("error: nowhere: ")


@pytest.mark.parametrize("program", ENTRIES)
def test_every_program_prints_its_version(program: str, run: Callable[..., Outcome]) -> None:
    code, stdout, _ = run(program, "--version")

    assert (0, run("pqassay", "--version")[1]) == (code, stdout)
