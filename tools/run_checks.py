"""Run every check of this repository, say one line about each, and fail if any of them failed.

The last lines name what this machine lacks, and what was therefore not tested. `make test` calls this with the Python of its virtual
environment, and `make test-fast` with ``--fast``: the checks and tests that take seconds.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple, NoReturn

ROOT = Path(__file__).resolve().parent.parent

PYTHON = sys.executable


class Check(NamedTuple):
    """A command.

    Attributes:
        name: Its name in the output.
        command: The command.
        shown: Whether its output is shown live, instead of only after a failure.
        minutes: The time limit, a multiple of the time on an idle machine.
    """

    name: str
    command: list[str]
    shown: bool = False
    minutes: float = 15


AT_ONCE = min(os.cpu_count() or 1, 4)
"""The number of test processes: each loads all tests, so that more than there are cores cost more than they gain."""

PROCESSES = (f"--numprocesses={AT_ONCE}", "--dist=loadfile", "--no-loadscope-reorder")
"""Options for sharing tests among processes: by module, so that fixtures of a module are created once."""

CHECKS = (
    Check("mypy", [PYTHON, "-m", "mypy"]),
    Check("lint-imports", [str(Path(PYTHON).with_name("lint-imports"))]),
    Check("ruff check", [PYTHON, "-m", "ruff", "check"]),
    Check("ruff format", [PYTHON, "-m", "ruff", "format", "--check"]),
    Check("pytest", [PYTHON, "-m", "pytest", "-q", "-ra", *PROCESSES], shown=True, minutes=75),
)
"""The checks in the order of their start, two at a time, the slowest first; pytest runs alone after them and includes the strict site build."""

ROOMS = (
    *(f"tests/{room}" for room in ("spec", "reference_impl", "conformance", "golden_files")),
    "tests/docs/test_generated.py",
)
"""Options for tests that need neither Java nor other engines."""

FAST = (
    *(check for check in CHECKS if check.name not in ("mypy", "pytest")),
    Check(
        "pytest",
        [PYTHON, "-m", "pytest", "-q", *PROCESSES, "-m", "not slow and not spark", *ROOMS],
        shown=True,
        minutes=30,
    ),
)
"""The fast checks between two changes: about a minute on two cores."""

CLASSES = [PYTHON, "tests/java_start.py"]
"""The command that writes an archive for a faster start of Java; it runs beside the checks that do not need it."""

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""Browsers for the tests of the HTML report; the first existing one is used."""


def passes(check: Check) -> bool:
    """Run a check; print its line, and its output if necessary."""
    start = time.monotonic()
    if check.shown:
        print(f"{check.name} ...", flush=True)
    hung = ""
    with subprocess.Popen(
        check.command,
        cwd=ROOT,
        stdout=None if check.shown else subprocess.PIPE,
        stderr=None if check.shown else subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=60 * check.minutes)
        except subprocess.TimeoutExpired:
            hung = f"hung: not over after {check.minutes:g} minutes"
            end_with_threads(process.pid)
            output, _ = process.communicate()
    passed = process.returncode == 0 and not hung
    line = f"{'ok    ' if passed else 'FAILED'}  {check.name:<13}  {time.monotonic() - start:6.1f} s  {hung}".rstrip()
    if output and not passed:
        line += "".join(f"\n    {text}" for text in output.splitlines())
    print(line, flush=True)  # in one write, since other checks run in parallel
    return passed


def end_with_threads(pid: int) -> None:
    """End a process and its children; Python test processes first print the stacks of their threads."""
    import psutil  # noqa: PLC0415 - only of a check that hangs

    with contextlib.suppress(psutil.NoSuchProcess):
        parent = psutil.Process(pid)
        tree = [*parent.children(recursive=True), parent]
        for sent in (signal.SIGABRT, signal.SIGKILL):
            for process in tree:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.send_signal(sent)
            psutil.wait_procs(tree, timeout=10)


def failed_of(checks: Iterable[Check]) -> list[str]:
    """Run checks that use one core each, two at a time; return the names of failed checks, in order."""
    chosen = list(checks)
    with ThreadPoolExecutor(2) as pool:
        return [
            check.name for check, passed in zip(chosen, pool.map(passes, chosen), strict=True) if not passed
        ]


def lacking() -> list[str]:
    """Lines about what this machine lacks, and what was therefore not tested."""
    from npm_package import AXE, PackageMissingError  # noqa: PLC0415 - broken code must not stop the checks
    from pages.files.checker import PACKAGE as PYODIDE  # noqa: PLC0415 - as above

    from pqassay_spark.jobs.java import JavaMissingError, require_java  # noqa: PLC0415 - as above

    lacks: list[str] = []
    try:
        require_java()
    except JavaMissingError as error:
        lacks.append(f"NOT TESTED: whatever runs on Spark (tests marked `spark`). {error}")
    if shutil.which("node") is None:
        lacks.append("NOT TESTED: the driver for Node.js in conformance/PROTOCOL.md. There is no node.")
    if not any(shutil.which(name) for name in BROWSERS):
        lacks.append(f"NOT TESTED: the HTML report in a browser. There is none of {', '.join(BROWSERS)}.")
    for package, what in (
        (PYODIDE, "the checker in the browser"),
        (AXE, "whether everybody can use the site"),
    ):
        try:
            package.content()
        except PackageMissingError as error:
            lacks.append(f"NOT TESTED: {what}. {error}.")
    return lacks


# --------------------------------------------------------------------------------- leftover processes, and their cost


def adopt_orphans() -> None:
    """Become the parent of processes that outlive their parents, if the system allows that (Linux).

    A signal that ends this process also ends these.
    """
    if sys.platform.startswith("linux"):
        set_child_subreaper = 36  # from linux/prctl.h
        ctypes.CDLL(None).prctl(set_child_subreaper, 1, 0, 0, 0)
    signal.signal(signal.SIGTERM, _end_all)


def _end_all(number: int, _: object) -> NoReturn:
    import psutil  # noqa: PLC0415 - only of checks that are ended

    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    os._exit(128 + number)


def left_running() -> list[str]:
    """Wait for all processes of the checks, end those that remain, and return a line about each of these."""
    import psutil  # noqa: PLC0415 - the checks come first

    left: list[str] = []
    _, running = psutil.wait_procs(psutil.Process().children(recursive=True), timeout=30)
    for process in running:
        with contextlib.suppress(psutil.NoSuchProcess):
            left.append(f"left running: {process.pid} {' '.join(process.cmdline())[:200]}")
            process.kill()
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)
    return left


def processor_seconds() -> float:
    """The processor time of all ended child processes, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def tests_pass(tests: Check) -> tuple[bool, str]:
    """Run the tests; return whether they passed and left no processes, and a line about their time."""
    before = processor_seconds()
    passed = passes(tests)
    left = left_running()
    print("".join(f"{line}\n" for line in left), end="")
    minutes, seconds = divmod(round(processor_seconds() - before), 60)
    return (
        passed and not left,
        f"Processor time of the tests and of all that they started: {minutes}:{seconds:02}",
    )


def main(*, is_fast: bool) -> int:
    """Run the checks, or the fast ones; return the exit status."""
    *before, tests = FAST if is_fast else CHECKS
    with contextlib.ExitStack() as stack:
        if not is_fast:
            null = subprocess.DEVNULL  # the block waits for processes that start here
            stack.enter_context(subprocess.Popen(CLASSES, cwd=ROOT, stdin=null, stdout=null, stderr=null))
        failed = failed_of(before)
    passed, cost = tests_pass(tests)
    failed += [] if passed else [tests.name]
    lacks = [] if is_fast else lacking()
    print(*("", *lacks) if lacks else (), sep="\n")
    if any("Spark" in line for line in lacks) and os.environ.get("CI") == "true":
        failed.append("Java is missing, and CI=true")
    if failed:
        print(f"Failed: {', '.join(failed)}")
    elif is_fast:
        print("The fast checks passed; `make test` runs them all.")
    else:
        print(
            f"All {len(CHECKS)} checks passed{'.' if lacks else '; this machine lacks nothing that they need.'}"
        )
    print(cost)
    return 1 if failed else 0


if __name__ == "__main__":
    adopt_orphans()
    sys.exit(main(is_fast=sys.argv[1:] == ["--fast"]))
