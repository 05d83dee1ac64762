"""Packing files into tasks: many small ones of about the same work, so that no core waits and little is lost.

A task is what Spark runs again after a failure, and what its progress is counted in.  Few large ones leave cores idle
at the end and lose much work when one is killed; very many cost more than they are worth.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")

PER_FILE = 512 << 10
"""Cost of opening a file, however small it is, in bytes that could have been read meanwhile."""

TASKS_PER_CORE = 4
"""So many tasks for each core, as far as there are files and work."""

FILES_PER_TASK = 50
"""Files in a task, at most about."""

WORTH_A_TASK = 64 << 20
"""Bytes below which no core gets a second task: starting one and tidying up after it cost as much as reading 25 MB."""


def task_count(files: int, cores: int, work: int | None = None) -> int:
    """The number of tasks to pack files into.

    Args:
        files: How many there are.
        cores: Tasks that run at the same time.
        work: Bytes of all of them, each with `PER_FILE` added; very many where they are not known.

    >>> task_count(3, cores=2), task_count(100, cores=2), task_count(1000, cores=2)
    (3, 8, 20)

    Little work is given to each core at once.

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
    """Files in as many tasks as `task_count` says, by their sizes; see `pack`."""
    tasks = pack(sizes, max(task_count(len(files), cores, work), 1))
    return [[files[position] for position in task] for task in tasks]


def pack(sizes: Sequence[int], tasks: int, per_file: int = PER_FILE) -> list[list[int]]:
    """Pack files into at most ``tasks`` tasks of about the same work.

    Files are assigned in order of size, the largest first, each to the task with the least work. Then no task
    has more than 4/3 of the work of the fullest task in the best packing.

    Args:
        sizes: Bytes of each file; what is not known counts as 0.
        tasks: How many tasks there may be.
        per_file: What opening a file costs, in bytes.

    Returns:
        Positions in ``sizes``, each in just one task.  No task is empty; that with most work comes first, since Spark
        starts tasks in order; the files of one are in their order.

    Raises:
        ValueError: There may be no task.

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
    # Where files are nothing and cost nothing, all of them may have gone to one task.
    heaviest_first = sorted(loads, key=lambda entry: (-entry[0], entry[1]))
    return [sorted(filled[task]) for _, task in heaviest_first if filled[task]]
