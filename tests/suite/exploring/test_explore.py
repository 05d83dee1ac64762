"""The command `pqassay suite explore`, with a driver in a process of its own."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from pqassay.cli.main import suite as app

pytestmark = pytest.mark.slow

DRIVER = [sys.executable, str(Path(__file__).with_name("defective.py")), "second-row-group"]

FORGOTTEN = '{"file": {"row_group_rows": 1, "columns": [{"name": "a", "kind": "int32", "values": [5, 1]}]}, "predicate": ["<", "a", 2], "columns": ["a"]}'


def command(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["explore", *arguments])


def test_a_question_is_repeated_from_its_text_and_from_its_file(tmp_path: Path) -> None:
    (tmp_path / "question.json").write_text(FORGOTTEN)
    by_text = command("--repeat", FORGOTTEN, "--", *DRIVER)
    by_file = command("--repeat", str(tmp_path / "question.json"), "--", *DRIVER)
    right = command("--repeat", FORGOTTEN.replace('"<"', '"<="'), "--", *DRIVER)

    assert "wrong rows: rows missing: 1 row missing: [1]\n" == by_text.stdout == by_file.stdout
    assert (1, 1) == (by_text.exit_code, by_file.exit_code)
    assert (0, "right, or not supported\n") == (right.exit_code, right.stdout)


def test_a_kept_question_is_a_finding_which_the_printed_command_repeats(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "question.json").write_text(FORGOTTEN)
    result = command("--examples", "1", "--output", str(tmp_path), "--", *DRIVER)
    (folder,) = tmp_path.glob("rows-missing-*")
    (printed,) = re.findall(r"^  repeat   pqassay suite (explore .*)$", result.stdout, re.MULTILINE)
    again = CliRunner().invoke(app, shlex.split(printed))

    assert {"data.parquet", "question.json", "finding.txt"} == {path.name for path in folder.iterdir()}
    assert (folder / "finding.txt").read_text() in result.stdout
    assert (1, 1) == (result.exit_code, again.exit_code)
    assert "wrong rows: rows missing: 1 row missing: [1]\n" == again.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--seconds", "0", "--", "x"], "--seconds is a number greater than 0"),
        (["--repeat", "{}", "--", *DRIVER], "not a question as `pqassay suite explore` prints it"),
        (["--", "/there/is/no/such/driver"], "there is no program /there/is/no/such/driver"),
    ],
)
def test_wrong_usage_is_one_message(arguments: list[str], message: str) -> None:
    result = command(*arguments)

    assert 2 == result.exit_code
    assert message in result.stderr
