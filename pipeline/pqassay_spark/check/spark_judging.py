"""Send files to the executors, in tasks of similar size, and collect their verdicts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pqassay.errors import UsageError
from pqassay.judge.checker import wants_isolation
from pqassay.judge.one_file import Settings
from pqassay.judge.workers import require_memory
from pqassay.report.model import Coverage
from pqassay.stores.table_files import TableAt
from pqassay.stores.targets import Target
from pqassay_spark.check.executor_judging import Judging, Means, Verdict, judged_task
from pqassay_spark.jobs import connected
from pqassay_spark.jobs.packing import pack
from pqassay_spark.jobs.spark_jobs import Counts, JobError, cores, packed, run, unpacked
from pqassay_spec.rules.catalogue import DEFAULT_FILE, Tier

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TASKS_PER_CORE = 8
"""Tasks per core, if there are enough files: no core then waits long for the last task."""

FILES_PER_TASK = 1000
"""Approximate limit of files per task, which limits lost work when a machine fails, and the time between progress reports."""

LEAST_WORK = 4 << 20
"""Least bytes of a task, with `PER_FILE` added for each file, because starting a task takes some milliseconds."""

LEAST_DECODED = 32 << 20
"""Least bytes of a task that starts its own process, because that takes a tenth of a second."""

READ_PER_FILE = 1 << 20
"""Most bytes per file that count as work of a task if no values are read."""

PER_FILE = 64 << 10
"""Work per file in bytes: as much could be decoded while a file is opened and its metadata are judged."""

Tell = Callable[[int, int, int], object]
"""Called with the number of judged files, of all files, and of findings so far."""


def judged(
    spark: SparkSession,
    targets: Sequence[Target],
    settings: Settings,
    means: Means,
    *,
    wants_etags: bool = False,
    tell: Tell | None = None,
) -> list[Verdict]:
    """Judge files on the executors.

    Args:
        spark: The session.
        targets: The files.
        settings: How to judge them.
        means: How to use the executors.
        wants_etags: Whether to ask for the etags of objects.
        tell: Called with the progress.

    Returns:
        The verdicts, in the order of the targets.

    Raises:
        UsageError: The limit on memory is too low for any process.
        JobError: The executors cannot do it; the message gives the reason.
    """
    require_memory(means.memory)
    positions = packed_positions(targets, settings.tier, means.tasks, cores(spark))
    judging = Judging(
        settings=settings,
        is_isolated=wants_isolation(settings, means.timeout, means.memory),
        means=means,
        at_once=tasks_on_one_machine(spark),
        wants_etags=wants_etags,
    )
    sent = located(targets)
    tasks = [packed([sent[position] for position in task]) for task in positions]

    def attempt(judging: Judging) -> list[bytes]:
        def heard(counts: Counts) -> None:
            if tell is not None:
                tell(counts[0], len(targets), counts[1])

        heard((0, 0))
        description = f"pqassay check of {len(targets)} files"
        return run(spark, tasks, partial(judged_task, judging), description=description, tell=heard)

    try:
        results = attempt(judging)
    except JobError as error:
        if not error.is_crash or judging.is_isolated:
            raise
        # Some file crashes the executor's Python: in a separate process, only that file is lost.
        results = attempt(replace(judging, is_isolated=True))
    return in_order(positions, results, len(targets))


def located(targets: Sequence[Target]) -> list[Target]:
    """The same files with absolute paths, because the current folder of executors is different."""
    here = os.getcwd()  # noqa: PTH109 - text of any bytes, as the paths are

    def absolute(path: str) -> str:
        return path if path.startswith("/") else f"{here}/{path}"

    def of_table(table: TableAt | None) -> TableAt | None:
        return table if table is None or table.store else replace(table, path=absolute(table.path))

    return [
        target if target.store else replace(target, path=absolute(target.path), table=of_table(target.table))
        for target in targets
    ]


def packed_positions(targets: Sequence[Target], tier: Tier, tasks: int | None, cores: int) -> list[list[int]]:
    """Cut files into tasks with similar work, the largest first; tasks are lists of positions.

    If values are read, the work is the size of a file; otherwise it is about the same for every file.
    """
    if tier == "values":
        sizes = [
            target.known_size() + (0 if target.kind == DEFAULT_FILE else target.size_beside())
            for target in targets
        ]
    else:
        sizes = [min(target.known_size(), READ_PER_FILE) for target in targets]
    wanted = tasks or default_tasks(sum(sizes), len(targets), cores, is_deep=tier == "values")
    return pack(sizes, min(wanted, len(targets)), per_file=PER_FILE)


def default_tasks(size: int, files: int, cores: int, *, is_deep: bool) -> int:
    """The default number of tasks for some files: several per core if they have enough work, and more for very many files.

    >>> default_tasks(0, 10, cores=2, is_deep=False), default_tasks(1 << 30, 10, cores=2, is_deep=True)
    (2, 16)
    >>> default_tasks(0, 1_000_000, cores=2, is_deep=False)
    1000
    """
    worthwhile = (size + files * PER_FILE) // (LEAST_DECODED if is_deep else LEAST_WORK)
    return max(cores, min(TASKS_PER_CORE * cores, worthwhile), -(-files // FILES_PER_TASK))


def in_order(positions: Iterable[Sequence[int]], results: Iterable[bytes], total: int) -> list[Verdict]:
    """Put the verdicts of all tasks into the order of the targets.

    Raises:
        UsageError: A task reports that no file can be judged.
    """
    verdicts_by_position: dict[int, Verdict] = {}
    coverages: dict[object, Coverage] = {}
    for task, result in zip(positions, results, strict=True):
        verdicts: list[Verdict] | str = unpacked(result)
        if isinstance(verdicts, str):
            raise UsageError(verdicts)
        # Files of a task share coverages; sharing them among all tasks makes it unnecessary to compare them file by file.
        shared = {id(coverage): coverage for (_, coverage), _ in verdicts}
        for key, coverage in shared.items():
            shared[key] = coverages.setdefault(coverage.identity, coverage)
        for position, ((report, coverage), etag) in zip(task, verdicts, strict=True):
            verdicts_by_position[position] = (report, shared[id(coverage)]), etag
    return [verdicts_by_position[position] for position in range(total)]


def tasks_on_one_machine(spark: SparkSession) -> int:
    """Most tasks that may run on one machine at the same time, according to the settings."""
    conf: Any = spark.conf if connected.is_connected(spark) else spark.sparkContext.getConf()
    master = str(conf.get("spark.master", None) or "")
    if master.startswith("local-cluster["):  # executors and their cores, all of this machine
        executors, each = master.partition("[")[2].split(",")[:2]
        return int(executors) * int(each)
    if master.startswith("local"):
        return cores(spark)
    return max(
        1, int(conf.get("spark.executor.cores", None) or 1) // int(conf.get("spark.task.cpus", None) or 1)
    )
