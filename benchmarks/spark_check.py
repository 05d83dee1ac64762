"""Scaling of the check on Spark: the same files on one core and on two, in one run.

    python benchmarks/spark_check.py [--files 10000] [--rounds 5] [--tier index]

Files of 5 columns and 1 row group, as `check_lake.py` makes them.  Two Spark sessions, ``local[1]`` and ``local[2]``, are in
processes of their own and check in turn.  Beside them is `pqassay.check` in one process without Spark.  All reports
must be the same.  Not counted: the start of Spark; the first six checks of each session, while Java still compiles what it
runs, which takes half a second of a core in each of them; what this benchmark does to compare reports.

Goals: two cores are at least 1.6 times as fast as one, and take at most 1.3 times the ideal, which is half the time of one.
The machine needs two cores that are free.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

from _measure import cached, elapsed, goal, medians, print_table
from check_lake import make_lake

import pqassay

SPEEDUP = 1.6
"""Goal, in times the speed of one core."""

WARM_UP = 5
"""Checks of each session before the rounds, the first of which is not counted either."""

OF_IDEAL = 1.3
"""Goal, in times half the time of one core."""


class Session:
    """A Spark session in a process of its own that checks when told to."""

    def __init__(self, cores: int, folder: Path, tier: str) -> None:
        command = [sys.executable, __file__, "--serve", str(cores), "--folder", str(folder), "--tier", tier]
        self.digest = ""
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        for _ in range(WARM_UP):
            self.check()

    def check(self) -> float:
        """Check the files, and keep the digest of the report; seconds of the check alone, as the session measured them."""
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise SystemExit("there is no way to talk to the session")
        print("check", file=stdin, flush=True)
        answer = stdout.readline().split()
        if not answer:
            raise SystemExit("the Spark session has ended; does `pqassay spark check` work here?")
        self.digest = answer[0]
        return float(answer[1])

    def stop(self) -> None:
        """End the session."""
        self._process.communicate(timeout=60)


def serve(cores: int, folder: Path, tier: str) -> None:
    """Check for each line of stdin; answer with the digest of the report, and the seconds that it took to get it."""
    from pqassay_spark.check.run import check  # noqa: PLC0415 - the process that measures needs no Spark
    from pqassay_spark.jobs.session import spark_session  # noqa: PLC0415 - as above

    with spark_session(cores=cores) as spark:
        for _ in sys.stdin:
            gc.collect()
            started = time.perf_counter()
            report = check(spark, folder, tier=tier)  # type: ignore[arg-type]  # the parser knows the tiers
            taken = time.perf_counter() - started
            found = digest(report)
            del report  # what becomes of it is not timed, as in the process without Spark
            print(found, f"{taken:.4f}", flush=True)


def digest(report: pqassay.Report) -> str:
    """Value that equal reports share."""
    return hashlib.sha256(
        repr((report.files, report.coverages)).encode("utf-8", "surrogateescape")
    ).hexdigest()


def main() -> int:
    """Measure and print; the exit status says whether the goals were reached."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--files", type=int, default=10000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tier", choices=("footer", "index", "pages", "values"), default="index")
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, options.folder, options.tier)
        return 0
    folder = cached(f"lake-{options.files}-of-5-columns", lambda path: make_lake(path, options.files))
    plain = digest(pqassay.check(folder, tier=options.tier))
    one_core, two_cores = (Session(cores, folder, options.tier) for cores in (1, 2))
    works = {
        "pqassay.check, no Spark": lambda: elapsed(lambda: pqassay.check(folder, tier=options.tier)),
        "pqassay spark check, 1 core": one_core.check,
        "pqassay spark check, 2 cores": two_cores.check,
    }
    taken = medians(works, options.rounds)
    if {plain} != {one_core.digest, two_cores.digest}:
        raise SystemExit("the reports differ")
    one_core.stop()
    two_cores.stop()
    loop, alone, both = taken.values()
    print(
        f"{options.files} files, tier {options.tier}, {os.cpu_count()} processors; all reports are the same\n"
    )
    print_table(
        ("", "seconds", "files/s", "times 1 core"),
        [
            (name, f"{time:.2f}", f"{options.files / time:,.0f}", f"{alone / time:.2f}")
            for name, time in taken.items()
        ],
    )
    print(f"\n2 cores are {loop / both:.2f} times as fast as one process without Spark")
    fast, near = alone / both >= SPEEDUP, both <= OF_IDEAL * alone / 2
    print(goal(f"2 cores are at least {SPEEDUP} times as fast as 1: {alone / both:.2f}", reached=fast))
    print(goal(f"2 cores take at most {OF_IDEAL} times the ideal: {both / (alone / 2):.2f}", reached=near))
    return 0 if fast and near else 1


if __name__ == "__main__":
    sys.exit(main())
