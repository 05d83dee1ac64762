"""Cost of the pipeline for each file, and a test of the simulation that plans lakes of any size.

    python benchmarks/spark_scale.py [--files 4000] [--rounds 3] [--write] [--counts]

First the constants are measured: what Spark takes for a session, a job and a task; what the driver does with each file;
processor time of judging and indexing for each file and each byte of it; requests and bytes where the file is in a store,
counted; bytes of the index table; how much longer work takes while the other core works, too.  From them, and from
nothing else, `_lake_model.py` predicts runs of the check and of the indexing on one core and on two.  Then these are
run.  ``--write`` keeps constants and runs in ``lake_constants.json``; the site makes the tables of the guide of
them.

The lake: sales in files whose sizes are spread like those of real lakes, lognormally, from some kilobytes to some megabytes;
each has an index.  Before the runs that are measured, each step runs four times on the smaller lake in the same session: what
is predicted is a run of Java and Python workers that are warm, on files that are in memory.

Everything is measured several times, and the fastest counts: what else goes on at the machine can only add.  It must not be
much, though: how much of its processors the machine left to the benchmark is measured, too, and kept.

Goal: every prediction is within 35 % of the fastest of the runs.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import pickle
import platform
import shutil
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from _lake_model import CONSTANTS, QUIET, Constants, Driver, Spark, Tasks, Work
from _measure import goal, print_table, share
from _sized_lake import COLUMN, fetched, lake, make_large_file

import pqassay.checks
from pqassay.judge.checker import CheckPlan, concluded, planned
from pqassay.judge.one_file import Settings, judge_all
from pqassay.report.model import Report
from pqassay.stores.targets import Target
from pqassay_reader.lake.index_table import Entry, read_part, write_part
from pqassay_reference.rewrite.embed import DEFAULT_LIMIT
from pqassay_spark.check.executor_judging import Judging, judged_task
from pqassay_spark.check.run import check
from pqassay_spark.check.spark_judging import in_order, packed_positions
from pqassay_spark.index.entries import Settings as IndexSettings
from pqassay_spark.index.entries import Work as ToIndex
from pqassay_spark.index.run import index_files
from pqassay_spark.index.task import index_task
from pqassay_spark.jobs import spark_jobs
from pqassay_spark.jobs.java import JavaMissingError
from pqassay_spark.jobs.packing import PER_FILE, pack, task_count
from pqassay_spark.jobs.session import open_session
from pqassay_spark.jobs.spark_jobs import packed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pqassay_spec.rules.catalogue import Tier

WITHIN = 0.35
"""Goal: how far a prediction may be off."""

TIERS: tuple[Tier, ...] = ("footer", "index", "values")

CORES = 2

WARM_UP = 4
"""Runs of each step on the smaller lake before those that are measured: Java still compiles what it runs for the first times."""

SAMPLE = 300
"""Files whose processor time is measured one by one."""


# --------------------------------------------------------------------------------------------------- tasks


def positions(plan: CheckPlan, cores: int) -> list[list[int]]:
    """The tasks into which a check packs files."""
    return packed_positions(plan.targets, plan.settings.tier, None, cores)


def tasks_of(step: str, paths: Sequence[Path], cores: int) -> Tasks:
    """The files in the tasks into which a step packs them."""
    sizes = [path.stat().st_size for path in paths]
    if step == "index":
        places = pack(sizes, task_count(len(sizes), cores, sum(sizes) + PER_FILE * len(sizes)))
    else:
        places = positions(planned([str(paths[0].parent)], tier=tier_of(step)), cores)
    return Tasks.of_files([[sizes[place] for place in task] for task in places])


def tier_of(step: str) -> Tier:
    """The tier of a step that checks."""
    return cast("Tier", step.removeprefix("check "))


# ------------------------------------------------------------------------------------------- processor time


def timed(work: Callable[[], object]) -> float:
    """Seconds that something takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def worked(work: Callable[[], object]) -> float:
    """Seconds that this process computes for something: what else runs on the machine hardly matters for them."""
    started = time.process_time()
    work()
    return time.process_time() - started


def fastest(work: Callable[[], float]) -> float:
    """The smallest of some measurements."""
    return min(work() for _ in range(4))


def for_a_byte(task: Callable[[Sequence[Path]], float], *, indexed: bool) -> float:
    """Seconds that each further byte takes: the difference of a file of 50 MB and one of 10 MB."""
    sizes: list[int] = []
    seconds: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for rows in (200_000, 1_000_000):
            path = Path(folder, f"{rows}.parquet")
            make_large_file(path, rows, indexed=indexed)
            sizes.append(path.stat().st_size)
            seconds.append(fastest(partial(task, [path])))
    return max(0.0, (seconds[1] - seconds[0]) / (sizes[1] - sizes[0]))


def for_a_file(task: Callable[[Sequence[Path]], float], paths: Sequence[Path], byte: float) -> float:
    """Seconds that each file takes whatever its size."""
    size = sum(path.stat().st_size for path in paths)
    return max(0.0, fastest(partial(task, paths)) - byte * size) / len(paths)


def judging_costs(paths: Sequence[Path], tier: Tier) -> dict[str, float]:
    """Cost of judging files at a tier: for a task, for a file of it, for a byte."""
    here = partial(judge_task, tier, measure=worked, is_isolated=False)
    if tier != "values":  # they read a few places, however large the file is
        return {"seconds": for_a_file(here, paths, 0.0)}
    byte = for_a_byte(here, indexed=True)
    file = for_a_file(here, paths, byte)
    beside = fastest(partial(judge_task, tier, paths[:1], measure=timed, is_isolated=True))
    return {"task_seconds": max(0.0, beside - file), "seconds": file, "seconds_per_byte": byte}


def indexing_costs(paths: Sequence[Path]) -> dict[str, float]:
    """Cost of indexing files: for a task, for a file of it, for a byte; waiting for the disk included."""
    byte = for_a_byte(index_task_alone, indexed=False)
    file = for_a_file(index_task_alone, paths, byte)
    one = fastest(partial(index_task_alone, paths[:1]))
    return {"task_seconds": max(0.0, one - file), "seconds": file, "seconds_per_byte": byte}


def sample(paths: Sequence[Path]) -> list[Path]:
    """Some of the files, of all sizes."""
    return sorted(paths, key=lambda path: path.stat().st_size)[:: max(1, len(paths) // SAMPLE)]


def judge_task(
    tier: Tier, paths: Sequence[Path], measure: Callable[[Callable[[], object]], float], *, is_isolated: bool
) -> float:
    """Seconds of a task that judges files, in this process or in one beside it."""
    plan = planned([str(path) for path in paths], tier=tier)
    judging = Judging(plan.settings, is_isolated=is_isolated)
    task = packed(plan.targets)
    return measure(lambda: judged_task(judging, task, lambda _: None))


def index_task_alone(paths: Sequence[Path]) -> float:
    """Seconds of a task that indexes copies of files."""
    with tempfile.TemporaryDirectory() as folder:
        files: list[ToIndex] = []
        for path in paths:
            copy = shutil.copy(path, folder)
            found = Path(copy).stat()
            files.append(ToIndex(copy, (path.name,), found.st_size, found.st_mtime_ns))
        settings = IndexSettings((COLUMN,), str(Path(folder, "table")), 1, False, False, DEFAULT_LIMIT)
        return timed(lambda: index_task(settings, 0, files))


def busy(folder: str) -> float:
    """Judge a lake at tier ``values`` again and again for two seconds; files per second."""
    targets = [Target(str(path), str(path)) for path in sorted(Path(folder).glob("*.parquet"))[:SAMPLE]]
    judge_all(targets[:20], Settings("values"))
    done, started = 0, time.perf_counter()
    while time.perf_counter() - started < 2:
        judge_all(targets, Settings("values"))
        done += len(targets)
    return done / (time.perf_counter() - started)


def stretch(folder: Path) -> float:
    """Slowdown of work while the other core works as well."""
    with ProcessPoolExecutor(CORES, multiprocessing.get_context("spawn")) as pool:
        alone = max(pool.submit(busy, str(folder)).result() for _ in range(3))
        together = max(sum(pool.map(busy, [str(folder)] * CORES)) / CORES for _ in range(3))
    return max(1.0, alone / together)


# ---------------------------------------------------------------------------------- driver, Spark, index table


def driver_costs(folder: Path) -> Driver:
    """Work of the driver on each file, and memory that it keeps of it."""
    plan = planned([str(folder)], tier="index")
    files = len(plan.targets)
    places = positions(plan, CORES)
    judging = Judging(plan.settings)
    tasks = [packed([plan.targets[place] for place in task]) for task in places]
    results = [judged_task(judging, task, lambda _: None) for task in tasks]

    def collect() -> Report:
        return concluded(plan, (verdict for verdict, _ in in_order(places, results, files)))

    report = collect()

    def list_and_pack() -> None:
        found = planned([str(folder)], tier="index")
        for task in positions(found, CORES):
            packed([found.targets[place] for place in task])

    tracemalloc.start()
    kept = pickle.loads(pickle.dumps(report.files))
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    del kept
    return Driver(
        list_seconds=min(timed(list_and_pack) for _ in range(5)) / files,
        collect_seconds=min(timed(collect) for _ in range(5)) / files,
        report_bytes=taken / files,
        json_bytes=len(report.to_json()) / files,
    )


def nothing(task: bytes, _: object) -> bytes:
    """Work that takes no time."""
    return task


def job_and_task(session: SparkSession) -> tuple[float, float]:
    """Seconds for a job, and for each task of it, whatever they do."""

    def trivial(tasks: int) -> float:
        return timed(lambda: spark_jobs.run(session, [b""] * tasks, nothing, description="nothing"))

    trivial(20)
    job = min(trivial(1) for _ in range(10))
    return job, max(0.0, min(trivial(100) for _ in range(4)) - job) / 100


def import_the_judge(_: int) -> int:
    """Work of a worker before it judges the first file."""
    return len(pqassay.checks.registry())


def spark_costs() -> Spark:
    """Time that Spark takes: for a session, a worker, a job, a task."""
    started = time.perf_counter()
    session = open_session(master="local[1]")
    session_seconds = time.perf_counter() - started
    context = session.sparkContext
    first, second = (
        timed(lambda: context.parallelize([0], 1).map(import_the_judge).collect()) for _ in range(2)
    )
    job, task = job_and_task(session)
    session.stop()
    session = open_session(master=f"local[{CORES}]")
    _, handed_out = job_and_task(session)
    session.stop()
    # With two cores, tasks end at half the time at best: what is left is at least what the driver takes.
    return Spark(session_seconds, max(0.0, first - second), job, task, handed_out)


def table_costs(folder: Path) -> dict[str, float]:
    """Bytes and seconds of the index table for each value and each file."""
    measured: dict[str, float] = {}
    random = np.random.default_rng(5)
    files = 2000
    sizes: dict[int, float] = {}
    for values in (1, 50):
        entries = [
            Entry(
                f"year=2026/month={file % 12:02}/part-{file:05}-{file * 7919:032x}.snappy.parquet",
                60_000_000 + file * 7919 % 9_000_000,
                1_790_000_000_000_000_000 + file * 982_451_653,
                COLUMN,
                1_000_000 + file,
                file % 7,
                tuple(sorted(f"nation {value}" for value in random.choice(1000, values, replace=False))),
            )
            for file in range(files)
        ]
        part = write_part(folder, values, 0, entries)
        sizes[values] = part.stat().st_size / files
        seconds = min(timed(partial(read_part, part)) for _ in range(5))
        measured["read_seconds_per_value"] = seconds / (files * values)
    measured["bytes_per_value"] = (sizes[50] - sizes[1]) / 49
    measured["bytes_per_file"] = sizes[1] - measured["bytes_per_value"]
    return measured


# ----------------------------------------------------------------------------------------------------- runs


def works(indexed: Sequence[Path], plain: Sequence[Path]) -> dict[str, Work]:
    """Work of each step on a file."""
    made: dict[str, Work] = {}
    for tier in TIERS:
        made[f"check {tier}"] = Work(**judging_costs(sample(indexed), tier), **fetched(tier))
    # In a store, the whole object is fetched, indexed on a local disk, and put back.
    footer = made["check footer"]
    made["index"] = Work(
        **indexing_costs(sample(plain)),
        reads=footer.reads + 1,
        read_bytes=footer.read_bytes,
        read_share=1.0,
        writes=1,
        written_share=1.0,
    )
    return made


def run_check(session: SparkSession, folder: Path, tier: Tier, files: int) -> float:
    """Seconds of a check."""
    started = time.perf_counter()
    report = check(session, [str(folder)], tier=tier)
    taken = time.perf_counter() - started
    if report.summary.conformant != files:
        raise SystemExit(f"the files are not what they should be: {report.summary}")
    return taken


def run_index(session: SparkSession, folder: Path, files: int) -> float:
    """Seconds to index a copy of a folder."""
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary, "lake")
        shutil.copytree(folder, copy)
        os.sync()
        taken = timed(lambda: index_files(session, copy, [COLUMN]))
        report = check(session, [str(copy)], tier="index")
        if report.summary.conformant != files:
            raise SystemExit(f"the files are not what they should be: {report.summary}")
    return taken


def runs(indexed: dict[int, list[Path]], plain: list[Path], rounds: int) -> list[dict[str, Any]]:
    """Run everything that is predicted, on one core and on all; the fastest, with the tasks that it was packed into."""
    few, many = min(indexed), max(indexed)
    made: list[dict[str, Any]] = []
    for cores in range(1, CORES + 1):
        session = open_session(master=f"local[{cores}]")
        plans: dict[tuple[str, int], tuple[list[Path], Callable[[], float]]] = {}
        for tier, files in (("index", few), ("index", many), ("values", few), ("values", many)):
            paths = indexed[files]
            work = partial(run_check, session, paths[0].parent, cast("Tier", tier), files)
            plans[f"check {tier}", files] = paths, work
        plans["index", few] = plain, partial(run_index, session, plain[0].parent, few)
        for _ in range(WARM_UP):
            for (_, files), (_, warm_up) in plans.items():
                if files == few:
                    warm_up()
        taken = [{key: work() for key, (_, work) in plans.items()} for _ in range(rounds)]
        for (step, files), (paths, _) in plans.items():
            tasks = tasks_of(step, paths, cores)
            made.append(
                {
                    "step": step,
                    "files": files,
                    "cores": cores,
                    "seconds": min(one[step, files] for one in taken),
                    "tasks": [[int(n), int(b)] for n, b in zip(tasks.files, tasks.size, strict=True)],
                }
            )
        session.stop()
    return made


def rounded(value: Any) -> Any:
    """Four digits of every number: what is measured has no more."""
    if isinstance(value, dict):
        return {key: rounded(member) for key, member in cast("dict[str, Any]", value).items()}
    return float(f"{value:.4g}") if isinstance(value, float) else value


def measured(files: int, rounds: int) -> dict[str, Any]:
    """Measure everything."""
    indexed = {count: lake(count) for count in (files // 4, files)}
    plain = lake(files // 4, indexed=False)
    folder = indexed[files][0].parent
    left = share(CORES)
    print(f"the machine leaves {left:.0%} of its processors to this")
    print("measuring Spark ...", flush=True)
    spark = spark_costs()
    print("measuring the work on a file ...", flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        constants: dict[str, Any] = {
            "machine": f"{os.cpu_count()} cores, {platform.system()} on {platform.machine()}, Python "
            f"{platform.python_version()}, Spark {version('pyspark')}, pyarrow {version('pyarrow')}",
            "spark": asdict(spark),
            "driver": asdict(driver_costs(folder)),
            "stretch": stretch(folder),
            "work": {step: asdict(work) for step, work in works(indexed[files], plain).items()},
            "index_table": table_costs(Path(temporary)),
        }
    print("running what is predicted ...", flush=True)
    constants["runs"] = runs(indexed, plain, rounds)
    constants["share"] = min(left, share(CORES))
    return cast("dict[str, Any]", rounded(constants))


def count_anew(old: Constants) -> int:
    """Count what each step asks a store for, which any machine can, and leave all that was timed."""
    work: dict[str, dict[str, float]] = {step: dict(costs) for step, costs in old.measured["work"].items()}
    for tier in TIERS:
        work[f"check {tier}"] |= fetched(tier)
    footer = work["check footer"]
    work["index"] |= {"reads": footer["reads"] + 1, "read_bytes": footer["read_bytes"]}
    keep({**old.measured, "work": rounded(work)}, old.assumed)
    return 0


def keep(measured: Mapping[str, Any], assumed: Mapping[str, Any]) -> None:
    """Write the constants."""
    CONSTANTS.write_text(f"{json.dumps({'measured': measured, 'assumed': assumed}, indent=2)}\n")
    print(f"\nwritten to {CONSTANTS.name}")


def main() -> int:
    """Measure and print; exit 1 if a prediction is off by more than it may be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--files", type=int, default=4000, help="of the larger lake; the smaller has a quarter"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="keep what was measured")
    parser.add_argument(
        "--counts", action="store_true", help="start counting requests and bytes at 0, and keep them"
    )
    options = parser.parse_args()
    old = Constants.read()
    if options.counts:
        return count_anew(old)
    try:
        constants = Constants(measured(options.files, options.rounds), old.assumed)
    except JavaMissingError as error:
        print(error)
        return 2
    rows: list[Sequence[str]] = []
    worst = 0.0
    for run in constants.measured["runs"]:
        predicted = constants.predicted(run)
        off = run["seconds"] / predicted - 1
        worst = max(worst, abs(off))
        rows.append(
            (
                run["step"],
                str(run["files"]),
                str(run["cores"]),
                f"{predicted:.2f}",
                f"{run['seconds']:.2f}",
                f"{off:+.0%}",
            )
        )
    for name in ("spark", "driver", "stretch", "index_table"):
        print(f"{name}: {constants.measured[name]}")
    for step, work in constants.measured["work"].items():
        print(f"{step}: {work}")
    print()
    print_table(("step", "files", "cores", "predicted s", "measured s", "off by"), rows)
    if options.write:
        keep(constants.measured, old.assumed)
    reached = worst <= WITHIN
    if constants.measured["share"] < QUIET:
        print(
            f"other programs left {constants.measured['share']:.0%} of the processors to this: run it again alone"
        )
    print(goal(f"predictions are off by at most {WITHIN:.0%}; the worst by {worst:.0%}", reached=reached))
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
