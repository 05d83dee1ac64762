"""The commands of the guide ``report.md`` that compare two reports print what stands there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from places import GOLDEN_FILES, GUIDES
from pqassay.cli.main import app

GUIDE = (GUIDES / "report.md").read_text()

EXIT_CODE_OF_THE_COMPARISON = 1


def test_the_commands_that_compare_two_reports_print_what_the_guide_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (session,) = re.findall(r"```console\n(\$ mkdir .*?)```\n", GUIDE, re.DOTALL)
    commands = [line.removeprefix("$ ") for line in session.splitlines() if line.startswith("$ ")]
    shown = "".join(f"{line}\n" for line in session.splitlines() if not line.startswith("$ "))
    (tmp_path / "golden_files").symlink_to(GOLDEN_FILES)
    monkeypatch.chdir(tmp_path)
    printed = ""
    for command in commands:
        program, *arguments = shlex.split(command)
        if program == "mkdir":
            Path(*arguments).mkdir()
        elif program == "cp":
            source, target = arguments
            Path(target).write_bytes(Path(source).read_bytes())
        else:
            assert "pqassay" == program
            ended = CliRunner().invoke(app, arguments)
            assert EXIT_CODE_OF_THE_COMPARISON == ended.exit_code, ended.output
            printed += ended.stdout

    assert shown == printed
