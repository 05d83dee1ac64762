"""The simulation that plans large lakes, and the page that is made from it."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np
import page_tables
import page_tables.scale
import pytest
from hypothesis import given
from hypothesis import strategies as st

from places import GUIDES

WITHIN = 0.35
"""How far a prediction may be off: the page says 35 %."""


model: Any = importlib.import_module("_lake_model")  # the tables have added its folder to the path
PAGE = (GUIDES / "scale.md").read_text(encoding="utf-8")

NOTHING = model.Spark(0, 0, 0, 0, 0)
NO_DRIVER = model.Driver(0, 0, 0, 0)
PERFECT = model.Store(
    latency_seconds=0.01,
    latency_p99_seconds=0.01,
    stream_bytes_per_second=1e6,
    core_bytes_per_second=1e6,
    reads_per_second=1e9,
    prefixes=1,
    list_seconds=0.1,
    list_files=1000,
    read_price=0.0004,
    write_price=0.005,
)


def errors(constants: Any) -> dict[tuple[str, int, int], float]:
    """By how much each prediction is off that is off by more than it may be."""
    off = {
        (run["step"], run["files"], run["cores"]): run["seconds"] / constants.predicted(run) - 1
        for run in constants.measured["runs"]
    }
    return {key: error for key, error in off.items() if abs(error) > WITHIN}


def test_a_run_that_takes_longer_than_it_may_is_an_error() -> None:
    constants = model.Constants.read()
    runs = constants.measured["runs"]
    for factor, expected in ((1.34, 0), (1.36, len(runs)), (0.66, 0), (0.64, len(runs))):
        made = [{**run, "seconds": factor * constants.predicted(run)} for run in runs]
        changed = model.Constants({**constants.measured, "runs": made, "share": 1.0}, constants.assumed)
        assert (len(errors(changed)), changed.is_quiet) == (expected, True)


def test_every_run_that_was_measured_is_predicted_as_well_as_the_page_says() -> None:
    constants = model.Constants.read()
    runs = constants.measured["runs"]
    if constants.is_quiet:
        assert errors(constants) == {}
    else:  # times of a machine that was busy with something else mean nothing, and the page says so
        assert "they want to be repeated" in PAGE
    assert {(1, 1000), (1, 4000), (2, 1000), (2, 4000)} <= {(run["cores"], run["files"]) for run in runs}
    assert all(sum(files for files, _ in run["tasks"]) == run["files"] for run in runs)
    assert f"{WITHIN * 100:.0f} %" in PAGE


@given(
    st.lists(st.floats(0.001, 100), min_size=1, max_size=60),
    st.integers(1, 9),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_tasks_take_as_long_as_a_plain_schedule_says(
    durations: list[float], slots: int, task: float, dispatch: float
) -> None:
    free = [0.0] * slots
    for number, duration in enumerate(durations, 1):
        slot = free.index(min(free))
        free[slot] = max(free[slot], number * dispatch) + task + duration
    actual = model.makespan(np.array(durations), slots, task, dispatch)
    assert actual == pytest.approx(max(free))
    work = sum(durations) + task * len(durations)
    assert actual >= max(work / slots, max(durations) + task, dispatch * len(durations)) - 1e-9
    assert actual <= work / slots + max(durations) + task + dispatch * len(durations) + 1e-9


def test_more_slots_never_make_a_run_slower() -> None:
    durations = np.random.default_rng(1).exponential(1, 500)
    times = [model.makespan(durations, slots, 0.01, 0.001) for slots in (1, 2, 4, 8, 64, 1000)]
    assert times == sorted(times, reverse=True)


@given(st.integers(1, 100_000), st.integers(1, 5000))
def test_a_packed_lake_has_all_its_files_and_about_its_bytes(files: int, files_per_task: int) -> None:
    lake = model.Lake(files, 1e6, 1.0)
    tasks = model.Tasks.of_lake(lake, files_per_task)
    assert tasks.files.sum() == files
    assert tasks.files.max() <= files_per_task
    assert tasks.size.min() >= 0
    assert abs(tasks.size.sum() - lake.bytes) <= 6 * lake.deviation * math.sqrt(files)


def test_drawn_tasks_agree_with_files_that_are_drawn_one_by_one() -> None:
    lake = model.Lake(20_000, 5e6, 1.0)
    mean_of_log = math.log(lake.mean_bytes) - lake.sigma**2 / 2
    sizes = np.random.default_rng(3).lognormal(mean_of_log, lake.sigma, lake.files).astype(int)
    one_by_one = model.Tasks.of_files(
        [sizes[start : start + 50].tolist() for start in range(0, len(sizes), 50)]
    )
    work = model.Work(seconds=0.002, seconds_per_byte=4e-9)
    drawn, exact = (
        model.simulate(tasks, work, NOTHING, NO_DRIVER, model.Cluster(16)).wall_seconds
        for tasks in (model.Tasks.of_lake(lake, 50), one_by_one)
    )
    assert drawn == pytest.approx(exact, rel=0.03)


def test_a_store_without_spread_takes_what_arithmetic_says() -> None:
    tasks = model.Tasks.of_files([[1_000_000] * 10] * 4)
    work = model.Work(seconds=0.001, reads=3, read_bytes=1000, read_share=0.5)
    found = model.simulate(tasks, work, NOTHING, NO_DRIVER, model.Cluster(2, core_hour_price=3.6), PERFECT)
    one_task = 10 * (0.001 + 3 * 0.01 + (1000 + 500_000) / 1e6)
    assert found.wall_seconds == pytest.approx(0.1 + 2 * one_task)
    assert (found.reads, found.writes, found.moved_bytes) == (120, 1, 40 * 501_000)
    assert found.core_seconds == pytest.approx(0.04)
    wanted = found.wall_seconds * 2 * 0.001 + 120 * 0.0004 / 1000 + 0.005 / 1000
    assert found.dollars == pytest.approx(wanted)


def test_listing_costs_by_what_is_met_and_judging_by_what_is_new() -> None:
    tasks = model.Tasks.of_files([[1000]])
    work = model.Work(seconds=0, reads=1)
    found = model.simulate(
        tasks, work, NOTHING, NO_DRIVER, model.Cluster(1), PERFECT, listed=1_000_000, listers=10
    )
    assert (found.reads, found.writes) == (1, 1000)
    assert found.listing_seconds == pytest.approx(1000 * 0.1 / 10)


def test_a_store_that_limits_requests_limits_the_run() -> None:
    slow = model.Store(**{**vars(PERFECT), "reads_per_second": 10, "prefixes": 2})
    tasks = model.Tasks.of_files([[0] * 100] * 10)
    found = model.simulate(tasks, model.Work(0, reads=2), NOTHING, NO_DRIVER, model.Cluster(1000), slow)
    assert found.wall_seconds == pytest.approx(0.1 + 2000 / 20)


def test_slots_that_share_a_core_wait_side_by_side_and_compute_in_turns() -> None:
    tasks = model.Tasks.of_files([[0]] * 800)
    waiting, computing = model.Work(0, reads=10), model.Work(0.1, reads=0)

    def wall(work: Any, slots: int) -> float:
        cluster = model.Cluster(1, slots)
        found = model.simulate(tasks, work, NOTHING, NO_DRIVER, cluster, PERFECT)
        return float(found.wall_seconds - found.listing_seconds)

    assert wall(waiting, 4) == pytest.approx(wall(waiting, 1) / 4)
    assert wall(computing, 4) == pytest.approx(wall(computing, 1))


def test_the_latency_has_the_median_and_the_percentile_that_are_assumed() -> None:
    store = model.Store(**{**vars(PERFECT), "latency_seconds": 0.03, "latency_p99_seconds": 0.2})
    mean, deviation = store.latency
    sigma = math.sqrt(math.log1p((deviation / mean) ** 2))
    drawn = np.random.default_rng(2).lognormal(math.log(mean) - sigma**2 / 2, sigma, 400_000)
    assert np.median(drawn) == pytest.approx(0.03, rel=0.02)
    assert np.quantile(drawn, 0.99) == pytest.approx(0.2, rel=0.03)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0, "0 µs"), (0.9994, "1,000 ms"), (1, "1.0 s"), (179, "180 s"), (200, "3.3 min"), (1e7, "120 days")],
)
def test_durations_are_written_in_the_unit_that_fits(seconds: float, expected: str) -> None:
    assert page_tables.duration(seconds) == expected
