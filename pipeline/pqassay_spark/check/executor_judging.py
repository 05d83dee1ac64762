"""Judging on an executor: judge the files of one task as `pqassay check` does."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Sequence
from dataclasses import dataclass

from pqassay.errors import UsageError
from pqassay.judge import workers
from pqassay.judge.one_file import Judged, Settings, judge_all, judge_in_time
from pqassay.report.model import Coverage
from pqassay.stores.remote import etag
from pqassay.stores.targets import Target
from pqassay.tables.kept import kept_states
from pqassay_spark.jobs.spark_jobs import Count, packed, unpacked

Verdict = tuple[Judged, str | None]
"""A verdict, and the etag of the object before it was judged."""


@dataclass(frozen=True)
class Means:
    """How executors are used: tasks, and limits for one file.

    Attributes:
        tasks: Number of tasks; see `pqassay_spark.check.spark_judging.default_tasks`.
        timeout: Seconds for one file, as in `pqassay.check`.
        memory: Bytes for one process, as in `pqassay.check`; by default, the tasks of a machine share its memory.
        judge: Function that judges some files on an executor.
    """

    tasks: int | None = None
    timeout: float | None = None
    memory: int | None = None
    judge: workers.JudgeAll = judge_all


@dataclass(frozen=True)
class Judging:
    """Settings for judging the files of every task.

    Attributes:
        settings: As in `pqassay check`.
        means: Limits for one file, in a process beside the executor's Python; see `pqassay.judge.workers.WorkerLimits`.
        is_isolated: Whether files are judged in such a process; if it crashes, hangs or takes all memory, only one file is lost.
        at_once: Most tasks that run on one machine at the same time and share its memory.
        wants_etags: Whether to request the etags of objects, which takes one request for each.
    """

    settings: Settings
    means: Means = Means()
    is_isolated: bool = False
    at_once: int = 1
    wants_etags: bool = False


@kept_states()
def judged_task(judging: Judging, task: bytes, count: Count) -> bytes:
    """Judge the files of a task.

    Args:
        judging: The settings.
        task: A packed list of targets.
        count: Called with each file.

    Returns:
        Packed: a list with the `Verdict` on each target, in order; or a text with the reason why no file can be judged here.
    """
    targets: list[Target] = unpacked(task)
    coverages: dict[object, Coverage] = {}
    # Etags come first: an object that changes while it is judged must not look unchanged next time.
    etags = [etag(target) if judging.wants_etags else None for target in targets]
    results: list[Judged] = []
    try:
        for report, coverage in _judged(targets, judging):
            # Files of a task share one object, so it is sent only once.
            results.append((report, coverages.setdefault(coverage.identity, coverage)))
            count((1, len(report.findings)))
    except UsageError as error:
        return packed(str(error))
    return packed(list(zip(results, etags, strict=True)))


def _judged(targets: Sequence[Target], judging: Judging) -> Generator[Judged]:
    means = judging.means
    if not judging.is_isolated:
        for target in targets:
            yield judge_in_time(
                target, judging.settings, lambda target, settings: means.judge([target], settings)[0]
            )
        return
    workers.preload()
    memory = workers.default_memory(judging.at_once) if means.memory is None else means.memory
    limits = workers.WorkerLimits(1, means.timeout, memory)
    with contextlib.closing(workers.judged(targets, judging.settings, limits, judge=means.judge)) as results:
        yield from results


def etags_task(task: bytes, count: Count) -> bytes:
    """Request the etags of some objects, on an executor.

    Args:
        task: A packed list of targets.
        count: Called with each target.

    Returns:
        Packed: their etags, in order; ``None`` for an object without one.
    """
    targets: Sequence[Target] = unpacked(task)
    found = [etag(target) for target in targets]
    count((len(targets), 0))
    return packed(found)
