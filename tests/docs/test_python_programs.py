"""Programs of pages run in processes with a limit of time: what hangs or ends its process costs one program, and says so."""

from __future__ import annotations

import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from finding_programs import Demonstration, Program, Workshop, printed_by
from python_programs import LIMITS, PythonPrograms

import processes
from pqassay_suite.drivers import process
from pqassay_suite.drivers.process import Limits

HANGS = "import os, threading\nopen('begun', 'w').write(str(os.getpid()))\nthreading.Event().wait()"


@pytest.fixture
def programs(tmp_path: Path) -> Generator[PythonPrograms]:
    started = PythonPrograms(tmp_path / "python")
    yield started
    started.close()


def test_a_program_is_run_in_its_folder_with_names_of_its_own(
    programs: PythonPrograms, tmp_path: Path
) -> None:
    (tmp_path / "a").write_text("x")

    assert "['a', 'python']\n" == programs.printed(
        ["import os", "print(sorted(os.listdir()))", "one = 1"], tmp_path
    )
    assert "NameError: name 'one' is not defined\n" in programs.printed(["print(one)"], tmp_path)
    assert "" == programs.printed(["import os", "os.system('echo not from Python')"], tmp_path)


def test_a_program_that_ends_its_process_says_so_and_the_next_one_runs(
    programs: PythonPrograms, tmp_path: Path
) -> None:
    before = processes.own_children()

    told = programs.printed(
        ["import os, sys\nprint('why', file=sys.stderr, flush=True)\nos.abort()"], tmp_path
    )

    assert told.startswith("the process of the program: ended by SIGABRT\nwhy\n")
    assert "1\n" == programs.printed(["print(1)"], tmp_path)
    assert before == processes.own_children()  # from then on each program has a process, which ends with it


def test_a_program_that_hangs_is_ended_at_its_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = PythonPrograms(tmp_path / "python", Limits(LIMITS.seconds / 10))
    programs.begin()
    monkeypatch.setattr(process, "CLOCK", 1)

    told = programs.printed([HANGS], tmp_path)

    assert "the process of the program: no answer within the time limit\n" == told
    assert processes.gone(int((tmp_path / "begun").read_text()))


def test_a_program_of_another_language_that_hangs_is_ended_at_its_limit(tmp_path: Path) -> None:
    assert "not ended after 0.5 s\n" == printed_by([sys.executable, "-c", HANGS], tmp_path, seconds=0.5)
    assert "exit status 3\n" == printed_by([sys.executable, "-c", "raise SystemExit(3)"], tmp_path)


def test_a_workshop_hands_programs_of_python_to_its_process(tmp_path: Path) -> None:
    with Workshop(tmp_path / "workshop") as workshop:
        before = processes.own_children()
        shown = Demonstration(
            (Program("python", "import os\nprint(os.getpid())"), Program("python", "print('and')")), ""
        )
        number, word = workshop.printed(shown, tmp_path).split()

        assert (True, "and") == (int(number) in before, word)
    assert processes.gone(int(number))
