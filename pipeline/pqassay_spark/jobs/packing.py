"""Pack files into tasks: many small tasks with similar work, so that no core waits and failures cost little.

A task is Spark's unit for retries and for progress.  A few large tasks leave cores idle
at the end, and lose much work when one is killed; very many cost more than they are worth.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")

PER_FILE = 512 << 10
"""Cost of opening a file of any size, in bytes that could have been read in that time."""

TASKS_PER_CORE = 4
"""Number of tasks per core, if there are enough files and work."""

FILES_PER_TASK = 50
"""Approximate limit of files in a task."""

WORTH_A_TASK = 64 << 20
"""Bytes below which no core gets a second task: starting a task and cleaning up cost as much as reading 25 MB."""


def task_count(files: int, cores: int, work: int | None = None) -> int:
    """The number of tasks to pack files into.

    Args:
        files: Number of files.
        cores: Number of tasks that run at the same time.
        work: Bytes of all files, each with `PER_FILE` added; very large if they are unknown.

    >>> task_count(3, cores=2), task_count(100, cores=2), task_count(1000, cores=2)
    (3, 8, 20)

    If there is little work, each core gets a single task.

    >>> task_count(8, cores=2, work=60 << 20), task_count(8, cores=2, work=300 << 20)
    (2, 4)
    """
    per_core = TASKS_PER_CORE
    if work is not None:
        per_core = min(max(work // (cores * WORTH_A_TASK), 1), TASKS_PER_CORE)
    return min(files, max(per_core * cores, -(-files // FILES_PER_TASK)))


def packed(
    files: Sequence[Item], sizes: Sequence[int], cores: int, work: int | None = None
) -> list[list[Item]]:
    """Files in `task_count` tasks, by their sizes; see `pack`."""
    tasks = pack(sizes, max(task_count(len(files), cores, work), 1))
    return [[files[position] for position in task] for task in tasks]


def pack(sizes: Sequence[int], tasks: int, per_file: int = PER_FILE) -> list[list[int]]:
    """Pack files into at most ``tasks`` tasks with similar work.

    Files are assigned in order of size, the largest first, each to the task with the least work. Then no task
    has more than 4/3 of the work of the fullest task in the best packing.

    Args:
        sizes: Bytes of each file; an unknown size counts as 0.
        tasks: Most tasks.
        per_file: The cost of opening a file, in bytes.

        Returns:
            Positions in ``sizes``, each in exactly one task.  No task is empty. The task with most work comes first, because Spark
            starts tasks in order; the files of a task are in their original order.

    Raises:
        ValueError: ``tasks`` is less than 1.

    >>> pack([700, 100, 100, 100, 600], tasks=2, per_file=1)
    [[1, 3, 4], [0, 2]]
    """
    if tasks < 1:
        raise ValueError(f"{tasks} tasks are too few")
    work = [max(size, 0) + max(per_file, 0) for size in sizes]
    filled: list[list[int]] = [[] for _ in range(min(tasks, len(work)))]
    loads = [(0, task) for task in range(len(filled))]
    for position in sorted(range(len(work)), key=lambda position: (-work[position], position)):
        load, task = loads[0]
        filled[task].append(position)
        heapq.heapreplace(loads, (load + work[position], task))
    # If files are empty and cost nothing, all of them may be in one task.
    heaviest_first = sorted(loads, key=lambda entry: (-entry[0], entry[1]))
    return [sorted(filled[task]) for _, task in heaviest_first if filled[task]]
