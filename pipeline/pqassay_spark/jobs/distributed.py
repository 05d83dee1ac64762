"""Running tasks on the executors of Spark such that each item is answered for, whatever becomes of the workers.

Spark runs a task again where its master allows failures; a local master allows none, and a task that keeps killing its
worker ends any job.  So what was done is kept as tasks end, and only what is left is run again: the items of a task
whose worker died each in a task of their own, and an item whose worker dies twice is given up.  One damaged file that
brings the decoder down is then one lost item and not the end of the other thousand.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pqassay_spark.jobs.spark_jobs import JobError, is_of_spark, told, watched
from pqassay_spark.jobs.worker_memory import keep_what_is_loaded

if TYPE_CHECKING:
    from pyspark import Accumulator, SparkContext
    from pyspark.sql import SparkSession

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST_DEATHS = 2
"""An item whose worker died so often is given up."""

MOST_ROUNDS = 50
"""After so many jobs that ended with a dead worker, the machine is to blame and not an item."""

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
    lost: Callable[[Item], Result],
    progress: Callable[[int], object] | None = None,
) -> list[Result]:
    """Run work on the executors, and return its results in no particular order.

    Args:
        spark: The session.
        tasks: The items of each task.
        work: Gets a number that no other task of this call has (a task that is run again by us gets a new one, by Spark the
            same), and the items; returns the results.  It and the items are pickled.
        lost: Makes the result of an item whose worker died twice.
        progress: Called on this thread with the number of items that are done.

    Raises:
        JobError: The work raised an exception, or the workers keep dying.
    """
    numbers = itertools.count()
    waiting: list[_Task[Item]] = [_Task(next(numbers), items) for items in tasks if items]
    results: list[Result] = []
    done_items = 0
    for _ in range(MOST_ROUNDS):
        if not waiting:
            return results
        job = _Job(spark, waiting, work)
        before = done_items

        def tell(ended: int, before: int = before) -> None:
            if progress is not None:
                progress(before + ended)

        job.run(tell)
        done, answers = job.done()
        results += answers
        done_items += sum(len(task.items) for task in waiting if task.number in done)
        left = [task for task in waiting if task.number not in done]
        waiting = [_Task(next(numbers), task.items, task.deaths) for task in left if task is not job.died]
        if job.died is None:
            continue
        items, deaths = job.died.items, job.died.deaths + 1
        if len(items) > 1:
            waiting += [_Task(next(numbers), [item]) for item in items]
        elif deaths < MOST_DEATHS:
            waiting += [_Task(next(numbers), items, deaths)]
        else:
            results += map(lost, items)
            done_items += 1
    raise JobError(f"Python workers died in {MOST_ROUNDS} jobs; is there enough memory for them?")


class _Job(Generic[Item, Result]):
    """One job of Spark; what its tasks answer is kept as they end, so that a failure loses no more than it must."""

    def __init__(
        self,
        spark: SparkSession,
        tasks: Sequence[_Task[Item]],
        work: Callable[[int, Sequence[Item]], list[Result]],
    ) -> None:
        self._spark = spark
        self._tasks = tasks
        self._work = work
        self._answers = _answers_of(spark.sparkContext)
        self.died: _Task[Item] | None = None
        """The task whose worker died."""

    def run(self, progress: Callable[[int], object]) -> None:
        """Run the job, and tell every now and then how many items are done.

        Raises:
            JobError: The work raised an exception, or cannot be done at all.
        """
        last = -1

        def tell() -> None:
            nonlocal last
            numbers = {number for number, _ in self._answers.value}
            ended = sum(len(task.items) for task in self._tasks if task.number in numbers)
            if ended != last:
                progress(ended)
                last = ended

        try:
            files = sum(len(task.items) for task in self._tasks)
            watched(self._spark, self._run, tell, description=f"pqassay: {files} files")
        except Exception as error:
            if not is_of_spark(error):
                raise
            self.died = self._task_that_died(error)
        tell()

    def done(self) -> tuple[set[int], list[Result]]:
        """Numbers of the tasks that ended, and their answers."""
        numbers: set[int] = set()
        results: list[Result] = []
        for number, answers in self._answers.value:
            if number not in numbers:
                numbers.add(number)
                results += answers
        return numbers, results

    def _run(self) -> None:
        work, answers = self._work, self._answers

        def run_partition(tasks: Iterable[_Task[Item]]) -> None:
            for task in tasks:
                answers.add([(task.number, work(task.number, task.items))])
            keep_what_is_loaded()

        tasks = self._spark.sparkContext.parallelize(self._tasks, len(self._tasks))
        tasks.foreachPartition(run_partition)

    def _task_that_died(self, error: Exception) -> _Task[Item]:
        match = _TASK.search(str(error))
        reason = told(error)
        if match is None or not reason.is_crash:
            raise reason from error
        return self._tasks[int(match[1])]


def _answers_of(context: SparkContext) -> Accumulator[list[Any]]:
    from pyspark.accumulators import AccumulatorParam  # noqa: PLC0415 - importing this module must not cost so much

    class Answers(AccumulatorParam[list[Any]]):
        """Collects what tasks answer. Spark takes over that of each task that ended, once."""

        def zero(self, value: list[Any]) -> list[Any]:
            del value
            return []

        def addInPlace(self, value1: list[Any], value2: list[Any]) -> list[Any]:  # noqa: N802 - Spark's name
            value1 += value2
            return value1

    return context.accumulator([], Answers())
