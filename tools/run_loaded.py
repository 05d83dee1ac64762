"""Run tests repeatedly on a busy machine, and list those with different outcomes: ``make test-loaded``.

    python tools/run_loaded.py                     run each test that waits 20 times, long ones 5 times, others once
    python tools/run_loaded.py --part 2/6          run a sixth of the modules
    python tools/run_loaded.py --times 1           run the whole suite once
    python tools/run_loaded.py --busy 0 --times 1  run on a quiet machine
    python tools/run_loaded.py tests/docs          run only these tests

Twice as many busy processes as cores run at the same time. The tests run in random order; ``--seed`` repeats the printed seed.
``tests/repeated.py`` has the tests that wait, and the number of their runs. Each run is a line of the file ``--runs``. If a test
failed in any run, the exit status is 1.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from run_checks import CLASSES, PROCESSES, PYTHON, ROOT, adopt_orphans, end_with_threads, left_running

MOST_HOURS = 12
"""The number of hours after which a run counts as hanging."""

MOST_WORDS = 30
"""The number of lines of a failure that are printed."""


@contextlib.contextmanager
def busy(count: int) -> Iterator[None]:
    """A context that keeps processors busy with useless processes."""
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            process = subprocess.Popen([PYTHON, "-c", "while True: pass"])
            stack.callback(process.wait)
            stack.callback(process.kill)
        yield


def modules(paths: Sequence[str], part: str) -> list[str]:
    """The modules of tests below some paths; ``part`` selects every n-th of them."""
    number, count = map(int, part.split("/"))
    every = sorted(
        {
            str(path.relative_to(ROOT))
            for named in map(Path, paths)
            for path in ([ROOT / named] if (ROOT / named).is_file() else (ROOT / named).rglob("test_*.py"))
        }
    )
    return every[number - 1 :: count]


def run_of(options: argparse.Namespace) -> int:
    """Run the tests; return the exit status of pytest."""
    command = [
        PYTHON, "-m", "pytest", "-q", *PROCESSES,
        "-p", "repeated", f"--times={options.times}", f"--runs={options.runs}",
        "--random-order", f"--random-order-seed={options.seed}",
        "-o", "faulthandler_timeout=0",  # it would run the repetitions of a test together
        *modules(options.paths, options.part),
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    with busy(options.busy), subprocess.Popen(command, cwd=ROOT, env=environment) as process:
        try:
            return process.wait(3600 * MOST_HOURS)
        except subprocess.TimeoutExpired:
            end_with_threads(process.pid)
            return 1


def summary(path: Path) -> tuple[str, bool]:
    """A summary of the runs, and whether all of them passed."""
    runs: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in path.read_text("utf-8").splitlines():
        noted = json.loads(line)
        runs[noted["test"]].append(noted)
    lines: list[str] = []
    for test, noted in sorted(runs.items()):
        failed = [each for each in noted if each["outcome"] == "failed"]
        if failed:
            lines.append(f"{test}: failed in {len(failed)} of {len(noted)} runs")
            lines += [f"    {text}" for text in failed[0]["words"].splitlines()[-MOST_WORDS:]]
    often = [noted for noted in runs.values() if noted[0]["times"] > 1]
    missing = [test for test, noted in runs.items() if len(noted) < noted[0]["times"]]
    lines += [f"{test}: ended before its last run" for test in missing]
    count = sum(map(len, runs.values()))
    lines.append(
        f"{len(runs)} tests, {count} runs; {len(often)} tests wait and ran {sum(map(len, often))} times; "
        f"{sum('failed in' in line for line in lines)} tests failed in some run"
    )
    return "\n".join(lines), len(lines) == 1


def main() -> int:
    """Run the tests and print those with varying results; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "paths", nargs="*", default=["tests"], help="modules and folders; all of them by default"
    )
    parser.add_argument(
        "--times", type=int, default=20, help="how often each test that waits runs (default: 20)"
    )
    parser.add_argument(
        "--part", default="1/1", metavar="I/N", help="run every N-th module, beginning with the I-th"
    )
    parser.add_argument(
        "--busy", type=int, default=2 * (os.cpu_count() or 1), help="busy processes beside the tests"
    )
    parser.add_argument(
        "--seed", type=int, default=random.randrange(1 << 32), help="random seed of the order"
    )
    parser.add_argument(
        "--runs", type=Path, default=ROOT / ".venv" / "loaded.jsonl", help="file with a line a run"
    )
    options = parser.parse_args()
    options.runs = options.runs.resolve()
    options.runs.unlink(missing_ok=True)
    subprocess.run(CLASSES, cwd=ROOT, check=False, capture_output=True)
    print(f"seed {options.seed}, {options.busy} busy processes, part {options.part}", flush=True)
    status = run_of(options)
    words, is_right = summary(options.runs)
    print("\n".join([words, *(left := left_running())]))
    return status or int(bool(left) or not is_right)


if __name__ == "__main__":
    adopt_orphans()
    sys.exit(main())
