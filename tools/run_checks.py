"""Run every check of this repository, say one line about each, and fail if any of them failed.

The last lines say what this machine lacks and what was therefore not tested.  `make test` calls this with the
Python of its virtual environment, and `make test-fast` with ``--fast``: the checks and tests that take seconds.
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
        name: What its line is called.
        command: The command.
        shown: Whether its output is shown as it comes rather than only when it fails.
        minutes: How long it may take; many times what it takes on a quiet machine.
    """

    name: str
    command: list[str]
    shown: bool = False
    minutes: float = 15


AT_ONCE = min((os.cpu_count() or 1) + 1, 4)
"""Processes that run tests: one more than there are cores, since many tests wait for Java or for the end of a time limit."""

PROCESSES = (f"--numprocesses={AT_ONCE}", "--dist=loadfile", "--no-loadscope-reorder")
"""Sharing of the tests among processes: by modules, so that what those prepare is prepared once."""

CHECKS = (
    Check("mypy", [PYTHON, "-m", "mypy"]),
    Check("lint-imports", [str(Path(PYTHON).with_name("lint-imports"))]),
    Check("ruff check", [PYTHON, "-m", "ruff", "check"]),
    Check("ruff format", [PYTHON, "-m", "ruff", "format", "--check"]),
    Check("pytest", [PYTHON, "-m", "pytest", "-q", "-ra", *PROCESSES], shown=True, minutes=75),
)
"""Begun in this order, two at a time, those that take long first; pytest runs alone behind them and builds the site strictly, among much else."""

ROOMS = (
    *(f"tests/{room}" for room in ("spec", "reference_impl", "conformance", "golden_files")),
    "tests/docs/test_generated.py",
)
"""Tests that need neither Java nor other engines, but where they are marked."""

FAST = (
    *(check for check in CHECKS if check.name not in ("mypy", "pytest")),
    Check(
        "pytest",
        [PYTHON, "-m", "pytest", "-q", *PROCESSES, "-m", "not slow and not spark", *ROOMS],
        shown=True,
        minutes=30,
    ),
)
"""For the time between two changes: about a minute on two cores."""

CLASSES = [PYTHON, "tests/java_start.py"]
"""Writes what lets Java start faster in the tests; it runs beside the checks before them, which do not need it."""

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""Browsers that the tests of the HTML report use, the first that there is."""


def passes(check: Check) -> bool:
    """Run a check and print its line, and its output where there is something to see."""
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
    print(line, flush=True)  # at once, since others run beside
    return passed


def end_with_threads(pid: int) -> None:
    """End a process and all below it; those of Python that run tests write their threads down first."""
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
    """Run checks that use one core each, two at a time; return the names of those that failed, in their order."""
    chosen = list(checks)
    with ThreadPoolExecutor(2) as pool:
        return [
            check.name for check, passed in zip(chosen, pool.map(passes, chosen), strict=True) if not passed
        ]


def lacking() -> list[str]:
    """Describe what this machine lacks and what was therefore not tested."""
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


# --------------------------------------------------------------------------------- what is left, and what it cost


def adopt_orphans() -> None:
    """Become the parent of whatever outlives the process that started it, as far as the system lets us: Linux.

    A signal that ends this process ends all of them.
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
    """Wait for all that the checks have started, and end what does not end by itself; return a line about each of those."""
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
    """Seconds of a processor that all ended processes of ours took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def tests_pass(tests: Check) -> tuple[bool, str]:
    """Run the tests; return whether they passed and left nothing running, and a line about the time that they took."""
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
            null = subprocess.DEVNULL  # the block waits for what begins here
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
