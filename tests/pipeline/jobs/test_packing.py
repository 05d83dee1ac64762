from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pqassay_spark.jobs.packing import WORTH_A_TASK, pack, task_count


@given(st.lists(st.integers(0, 1 << 40)), st.integers(1, 20), st.integers(0, 1 << 20))
def test_every_file_is_in_just_one_task(sizes: list[int], tasks: int, per_file: int) -> None:
    packed = pack(sizes, tasks, per_file)
    assert sorted(position for task in packed for position in task) == list(range(len(sizes)))
    assert len(packed) <= tasks
    assert all(packed)
    assert packed == [sorted(task) for task in packed]


@given(st.lists(st.integers(0, 1 << 30), min_size=1), st.integers(1, 20), st.integers(1, 1 << 20))
def test_no_task_has_much_more_than_its_share(sizes: list[int], tasks: int, per_file: int) -> None:
    packed = pack(sizes, tasks, per_file)
    loads = [sum(sizes[position] + per_file for position in task) for task in packed]
    least_possible = max(max(sizes) + per_file, sum(loads) / tasks)
    # Graham's bound for longest first is 4/3 of the best; of this bound on the best, twice always holds.
    assert max(loads) <= 2 * least_possible
    assert loads == sorted(loads, reverse=True)
    assert min(loads) + max(sizes) + per_file >= max(loads)


def test_one_large_file_does_not_keep_small_ones_waiting() -> None:
    assert pack([10, 10, 1000, 10, 10], tasks=2, per_file=0) == [[2], [0, 1, 3, 4]]


def test_a_thousand_small_files_are_spread_by_number() -> None:
    packed = pack([1] * 1000, tasks=20)
    assert [len(task) for task in packed] == [50] * 20


def test_there_are_no_more_tasks_than_files() -> None:
    assert pack([5, 5], tasks=9) == [[0], [1]]
    assert pack([], tasks=9) == []
    assert task_count(0, cores=2) == 0
    assert task_count(1_000_000, cores=2) == 20_000


def test_little_work_is_no_more_tasks_than_cores_and_much_is_four_for_each() -> None:
    assert task_count(8, cores=2, work=1) == 2
    assert task_count(8, cores=2, work=4 * WORTH_A_TASK) == 4
    assert task_count(8, cores=2, work=1 << 40) == 8
    assert task_count(1000, cores=2, work=1) == 20


def test_no_task_at_all_is_an_error() -> None:
    with pytest.raises(ValueError, match="0 tasks are too few"):
        pack([1], tasks=0)
