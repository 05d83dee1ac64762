"""Time of a whole run of `pqassay suite run`: drivers of compiled languages, of Java, and of the reference; and what the runner costs.

    python benchmarks/run_drivers.py [NAME ...] [--rounds 1]

Each driver is asked everything that it declares to be able to answer, about every golden file and every table to write, on two
cores, as `pqassay suite run --driver NAME` does.  What the runner itself costs is the processor time of its own process, threads and
all, for each question: it prepares files, works out the right rows, reads answers and compares.  Drivers are other processes, and
waiting for them takes none.  Drivers that are not built are named and left out.

Goals: at most 30 seconds for a driver of a compiled language, 60 for Java and for the reference, and one millisecond of the
runner's own time a question.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from _measure import goal, print_table, share

from pqassay_suite.cases.case import GoldenCase, golden_folder, load
from pqassay_suite.cases.writer_cases import writer_cases
from pqassay_suite.drivers.driver import Settings
from pqassay_suite.drivers.implementations import implementation
from pqassay_suite.drivers.process import Limits
from pqassay_suite.running.runner import Times, run
from pqassay_suite.running.scanning import queries_about

CORES = 2

REFERENCE = "reference"

SECONDS = {"parquet-rs": 30.0, "arrow-go": 30.0, "parquet-go": 30.0, "parquet-java": 60.0, REFERENCE: 60.0}
"""Goals, in seconds of a whole run."""

MILLISECONDS = 1.0
"""Goal, in milliseconds of the runner's processor time for each question."""


@dataclass(frozen=True)
class Ran:
    """A run: seconds by the clock, the runner's seconds of a processor, and questions."""

    seconds: float
    own: float
    questions: int

    @property
    def each(self) -> float:
        """Milliseconds of the runner for each question."""
        return self.own / max(self.questions, 1) * 1000


def settings_of(name: str) -> Settings | None:
    """How a driver is run; ``None`` for one that is not built."""
    if name == REFERENCE:
        command = [str(Path(sys.executable).with_name("pqassay")), "driver"]
        return Settings(command, jobs=CORES)
    one = implementation(name)
    if one.missing or not one.is_built:
        return None
    return Settings(one.argv, Limits(one.timeout), jobs=CORES, queries=one.queries, fresh=one.fresh)


def one_run(cases: Sequence[GoldenCase], settings: Settings) -> Ran:
    """Run a driver, and count what it was asked first; what is asked again costs time and does not count."""
    times = Times()
    started, worked = time.perf_counter(), time.process_time()
    run(cases, settings, times=times)
    seconds, own = time.perf_counter() - started, time.process_time() - worked
    by_id = {golden.case.id: golden for golden in cases}
    questions = sum(
        len(queries_about(by_id[case])) if operation == "scan" else 1 for _, operation, case in times.of
    )
    return Ran(seconds, own, questions)


def main() -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"one of {', '.join(SECONDS)}; all by default"
    )
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    if unknown := set(options.names) - set(SECONDS):
        parser.error(f"there is no goal for {', '.join(sorted(unknown))}")
    print(f"share of {CORES} processors that is free: {share(CORES):.0%}\n")
    cases = [*load(golden_folder()), *writer_cases()]
    rows: list[list[str]] = []
    verdicts: list[tuple[str, bool]] = []
    for name in options.names or SECONDS:
        settings = settings_of(name)
        if settings is None:
            print(f"{name} is not built; `pqassay suite drivers --build {name}`", file=sys.stderr)
            continue
        runs = [one_run(cases, settings) for _ in range(options.rounds)]
        seconds, each = (
            statistics.median(one.seconds for one in runs),
            statistics.median(one.each for one in runs),
        )
        rows.append([name, f"{runs[0].questions:,}", f"{seconds:.1f}", f"{SECONDS[name]:.0f}", f"{each:.2f}"])
        verdicts.append((f"{name}: at most {SECONDS[name]:.0f} s", seconds <= SECONDS[name]))
        verdicts.append(
            (f"{name}: at most {MILLISECONDS:.0f} ms of the runner a question", each <= MILLISECONDS)
        )
    print_table(["driver", "questions", "seconds", "goal", "runner, ms a question"], rows)
    print()
    for sentence, reached in verdicts:
        print(goal(sentence, reached=reached))
    return 0 if all(reached for _, reached in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
