"""What hangs is a failure with a name: a program that a test waits for, a test itself, and a test that leaves a process behind."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from pathlib import Path

import pytest

import processes
from places import ROOT

HANGS = "import threading\ndef waits_for_nothing():\n    threading.Event().wait()\n"


def test_a_program_that_hangs_is_ended_and_says_what_its_threads_did() -> None:
    child = f"{HANGS}import os\nprint('begun', os.getpid(), flush=True)\nwaits_for_nothing()"
    parent = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {child!r}])"
    with pytest.raises(processes.HungError) as hung:
        processes.run([sys.executable, "-c", parent], capture_output=True, text=True, limit=3)

    begun = re.search(r"had not ended after 3 s\nbegun (\d+)\n", str(hung.value))
    assert begun is not None
    assert processes.gone(int(begun[1]))
    assert "in waits_for_nothing" in str(hung.value)


def test_a_line_that_does_not_come_and_an_event_that_does_not_come_have_an_end() -> None:
    with (
        processes.started(
            [sys.executable, "-c", f"{HANGS}waits_for_nothing()"], stdout=processes.PIPE
        ) as process,
        pytest.raises(processes.HungError, match=r"wrote no line within 0\.5 s"),
    ):
        processes.line_of(process, limit=0.5)
    assert processes.gone(process.pid)
    with pytest.raises(processes.HungError, match=r"not after 0\.1 s: the sky falls"):
        processes.until(threading.Event().is_set, "the sky falls", limit=0.1)


MODULE = """
import subprocess, sys, threading
import pytest

@pytest.mark.timeout(2)
def test_hangs():
    threading.Event().wait()

def test_is_fine():
    pass

def test_leaves_a_process():
    global left
    left = subprocess.Popen([sys.executable, "-c", "import threading; threading.Event().wait()"])

def test_is_fine_too():
    left.wait()
"""


def test_a_test_that_hangs_and_one_that_leaves_a_process_fail_and_the_others_run(tmp_path: Path) -> None:
    (tmp_path / "test_hanging.py").write_text(MODULE)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        f"--rootdir={ROOT}",
        "-c",
        f"{ROOT}/pyproject.toml",
    ]
    done = processes.run(
        [*command, "--confcutdir", str(ROOT), "-p", "conftest", str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )

    assert 1 == done.returncode, done.stdout + done.stderr
    assert re.search(
        r"^FAILED \S+::test_hangs - Failed: hung: not over after 2 s$", done.stdout, re.MULTILINE
    )
    assert re.search(r"^ERROR \S+::test_leaves_a_process - Failed: left running:$", done.stdout, re.MULTILINE)
    assert "1 failed, 3 passed, 1 error in" in done.stdout


def test_checks_that_are_ended_take_along_what_they_started() -> None:
    program = (
        "import subprocess, sys, run_checks\n"
        "run_checks.adopt_orphans()\n"
        f"with subprocess.Popen([sys.executable, '-c', {HANGS!r} + 'waits_for_nothing()']) as child:\n"
        "    print(child.pid, flush=True)\n"
    )
    with processes.started(
        [sys.executable, "-c", program],
        stdout=processes.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "tools")},
    ) as process:
        child = int(processes.line_of(process))
        process.terminate()
        processes.ended(process)

    assert 128 + signal.SIGTERM == process.returncode
    assert processes.gone(child)
