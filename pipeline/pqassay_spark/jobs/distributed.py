"""Run tasks on the executors of Spark so that each item gets a result, even if workers die.

Spark retries a task if its master allows failures; a local master allows none, and a task that keeps
killing its worker ends any job.  Results are therefore stored when tasks end, and only the rest is run again. If a
worker dies, each item of its task gets a separate task; if the worker of an item dies twice, the item is
given up.  A damaged file that crashes the decoder then costs one item and not the other
thousand.

A session of Spark Connect lacks accumulators, which otherwise store the answers: it returns them in the
order of the tasks.  If its job fails, tasks after the failed one run again, although some had ended; their
items are only asked for the remaining work.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pqassay_spark.jobs import connected
from pqassay_spark.jobs.spark_jobs import (
    Count,
    JobError,
    accumulator,
    is_of_spark,
    meaning_of,
    packed,
    unpacked,
    watched,
)
from pqassay_spark.jobs.worker_memory import keep_what_is_loaded

if TYPE_CHECKING:
    from pyspark import Accumulator
    from pyspark.sql import SparkSession

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST_DEATHS = 2
"""Number of dead workers after which an item is given up."""

MOST_ROUNDS = 50
"""Number of jobs that ended with a dead worker after which the machine is blamed instead of an item."""

_TASK = re.compile(r"Task (\d+) in stage [\d.]+ failed \d+ times?")


@dataclass
class _Task(Generic[Item]):
    number: int
    items: Sequence[Item]
    deaths: int = 0


def run_tasks(
    spark: SparkSession,
    tasks: Iterable[Sequence[Item]],
    work: Callable[[int, Sequence[Item]], list[Result]],
    *,
    lost: Callable[[Item], list[Result]],
    progress: Callable[[int], object] | None = None,
) -> list[Result]:
    """Run work on the executors, and return its results in no particular order.

    Args:
        spark: The session.
        tasks: The items of each task.
        work: Takes a number that is unique among the tasks of this call, and the items; returns the results. If we run a task again, it
            gets a new number; if Spark does, it keeps the same one.  The function and the items are pickled.
        lost: Makes the results of an item whose worker died twice.
        progress: Called on this thread with the number of completed items.

    Raises:
        JobError: The work raised an exception, or the workers keep dying.
    """
    numbers = itertools.count()
    waiting: list[_Task[Item]] = [_Task(next(numbers), items) for items in tasks if items]
    results: list[Result] = []
    done_items = 0

    def tell(ended: int) -> None:
        if progress is not None:
            progress(done_items + ended)

    for _ in range(MOST_ROUNDS):
        if not waiting:
            return results
        answers, died = _run_job(spark, waiting, work, tell)
        results += itertools.chain.from_iterable(answers.values())
        done_items += sum(len(task.items) for task in waiting if task.number in answers)
        left = [task for task in waiting if task.number not in answers]
        waiting = [_Task(next(numbers), task.items, task.deaths) for task in left if task is not died]
        if died is None:
            continue
        if len(died.items) > 1:
            waiting += [_Task(next(numbers), [item]) for item in died.items]
        elif died.deaths + 1 < MOST_DEATHS:
            waiting.append(_Task(next(numbers), died.items, died.deaths + 1))
        else:
            results += lost(died.items[0])
            done_items += 1
    raise JobError(f"Python workers died in {MOST_ROUNDS} jobs; do they have enough memory?")


Answers = dict[int, list[Any]]
"""The answers of completed tasks, by their numbers."""


def _run_job(
    spark: SparkSession,
    tasks: Sequence[_Task[Item]],
    work: Callable[[int, Sequence[Item]], list[Result]],
    tell: Callable[[int], object],
) -> tuple[dict[int, list[Result]], _Task[Item] | None]:
    """The answers of completed tasks, by number, and the task whose dead worker ended the job, if any."""
    answers: Answers = {}
    run = _run_connected if connected.is_connected(spark) else _run_rdd
    try:
        run(spark, tasks, work, answers, tell)
    except Exception as error:
        if not is_of_spark(error):
            raise
        match, reason = _TASK.search(str(error)), meaning_of(error)
        if match is None or not reason.is_crash:
            raise reason from error
        return answers, tasks[int(match[1])]
    return answers, None


def _run_connected(
    spark: SparkSession,
    tasks: Sequence[_Task[Item]],
    work: Callable[[int, Sequence[Item]], list[Result]],
    answers: Answers,
    tell: Callable[[int], object],
) -> None:
    sent = [packed((task.number, task.items)) for task in tasks]
    results: dict[int, bytes] = {}
    try:
        connected.run(spark, sent, partial(_answered, work), lambda counts: tell(counts[0]), results)
    finally:
        answers.update((tasks[position].number, unpacked(result)) for position, result in results.items())


def _answered(work: Callable[[int, Sequence[Any]], list[Any]], task: bytes, count: Count) -> bytes:
    number, items = unpacked(task)
    results = work(number, items)
    count((len(items), 0))
    return packed(results)


def _run_rdd(
    spark: SparkSession,
    tasks: Sequence[_Task[Item]],
    work: Callable[[int, Sequence[Item]], list[Result]],
    answers: Answers,
    tell: Callable[[int], object],
) -> None:
    # Spark keeps the answer of each completed task, so a failure loses as little as possible.
    ended: Accumulator[Answers] = accumulator(spark, {}, _joined)
    last = -1

    def run_partition(partition: Iterable[_Task[Item]]) -> None:
        for task in partition:
            ended.add({task.number: work(task.number, task.items)})
        keep_what_is_loaded()

    def glance() -> None:
        nonlocal last
        items = sum(len(task.items) for task in tasks if task.number in ended.value)
        if items != last:
            tell(items)
            last = items

    def job() -> None:
        spark.sparkContext.parallelize(tasks, len(tasks)).foreachPartition(run_partition)

    files = sum(len(task.items) for task in tasks)
    try:
        watched(spark, job, glance, description=f"pqassay: {files} files")
    finally:
        glance()
        answers.update(ended.value)


def _joined(answers: Answers, more: Answers) -> Answers:
    return answers | more
