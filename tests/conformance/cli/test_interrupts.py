"""Ctrl-C at set moments of the commands: exit code 130, one line, no process left."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import processes
from places import GOLDEN_FILES, ROOT

SENDER = """
import os, signal, sys

class Sender:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["INTERRUPTED_AT"]:
            sys.meta_path.remove(self)
            os.killpg(0, signal.SIGINT)

sys.meta_path.insert(0, Sender())
"""
"""Sends to all processes of a command what a terminal sends, as soon as one of them imports some module."""

FOLDER = str(GOLDEN_FILES / "pix")

CHECK = ["pqassay", "check", "--jobs", "2", "--tier", "values", FOLDER]


def interrupted(folder: Path, module: str, command: list[str]) -> tuple[int, str, str]:
    (folder / "sitecustomize.py").write_text(SENDER)
    paths = [
        str(folder),
        *(str(ROOT / name) for name in ("spec", "conformance", "reference_impl", "pipeline")),
    ]
    done = processes.run(
        [sys.executable, "-m", *command],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "INTERRUPTED_AT": module},
        start_new_session=True,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "command", "words"),
    [
        ("typer", CHECK, "error: interrupted\n"),
        ("pebble", CHECK, "error: interrupted; there is no report\n"),
        # Only the process that starts workers imports this.
        ("pqassay.checks.idx1.values", CHECK, "error: interrupted; there is no report\n"),
        ("pqassay_suite.running.runner", ["pqassay", "suite", "run", "--", "true"], "error: interrupted\n"),
        ("pqassay_spark.jobs.java", ["pqassay", "spark", "produce", "nowhere"], "error: interrupted\n"),
    ],
)  # fmt: skip
def test_an_interrupt_is_one_line_at_whatever_moment(
    module: str, command: list[str], words: str, tmp_path: Path
) -> None:
    assert (130, "", words) == interrupted(tmp_path, module, command)


SWALLOWED = """
import os, signal, threading
from pqassay_spec.base.interrupts import CleanEnd

class Destroyed:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        print("the destructor went on")

with CleanEnd():
    Destroyed()
    threading.Event().wait()
    print("it went on")
"""
"""Waits for what never comes: an interrupt that is lost is one that this does not survive."""


def test_an_interrupt_that_falls_into_a_destructor_is_not_lost() -> None:
    done = processes.run(
        [sys.executable, "-c", SWALLOWED],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "spec")},
    )

    assert (130, "", "error: interrupted\n") == (done.returncode, done.stdout, done.stderr)


IGNORED = """
import os, signal
from pqassay_spec.base.interrupts import CleanEnd, end_at_once

end_at_once()
with CleanEnd():
    os.kill(os.getpid(), signal.SIGINT)
    print("it went on")
"""


def test_who_has_the_signal_ignored_is_not_interrupted() -> None:
    done = processes.run(
        ["sh", "-c", "trap '' INT; exec \"$@\"", "sh", sys.executable, "-c", IGNORED],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "spec")},
    )

    assert (0, "it went on\n", "") == (done.returncode, done.stdout, done.stderr)


def test_little_is_loaded_before_the_handler() -> None:
    """Until then, Ctrl-C is a traceback of Python's."""
    loaded = "import sys; before = set(sys.modules); import pqassay.__main__; print(*sorted(set(sys.modules) - before))"
    done = processes.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert [
        "__future__",
        "pqassay",
        "pqassay.__main__",
        "pqassay_spec",
        "pqassay_spec.base",
        "pqassay_spec.base.interrupts",
    ] == done.stdout.split()
