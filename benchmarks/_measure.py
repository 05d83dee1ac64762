"""Shared parts of the benchmarks: timing in rounds, a cache for made files, a table on the terminal."""

from __future__ import annotations

import functools
import gc
import multiprocessing
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa


def seconds(works: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Median wall-clock time of each piece of work, in seconds.

    Every round does all of them once, so that what slows the machine down for a while slows all of them.
    With more than one round, a first one is not counted.
    """
    return medians({name: functools.partial(elapsed, work) for name, work in works.items()}, rounds)


def elapsed(work: Callable[[], Any]) -> float:
    """Wall-clock time of a piece of work, in seconds; what it returns goes away afterwards."""
    gc.collect()
    started = time.perf_counter()
    result = work()
    taken = time.perf_counter() - started
    del result
    return taken


def fastest(works: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """As `seconds`, but of each the fastest: what else goes on at the machine can only add."""
    return _rounds({name: functools.partial(elapsed, work) for name, work in works.items()}, rounds, min)


def medians(works: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """As `seconds`, of works that say themselves how many seconds they took."""
    return _rounds(works, rounds, statistics.median)


class Taken(NamedTuple):
    """Times of a piece of work, in seconds, of which other programs disturb the second one less.

    Attributes:
        clock: On the wall.
        processor: Time of processors, in all threads.
    """

    clock: float
    processor: float


def alternating(works: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, list[Taken]]:
    """Both times of each piece of work in each round; every round does all of them, and a first one is not counted."""
    taken: dict[str, list[Taken]] = {name: [] for name in works}
    for turn in range(rounds + 1):
        for name, work in works.items():
            gc.collect()
            started, worked = time.perf_counter(), time.process_time()
            result = work()
            found = Taken(time.perf_counter() - started, time.process_time() - worked)
            del result
            if turn:
                taken[name].append(found)
    return taken


def least(times: Sequence[Taken]) -> Taken:
    """The least of both."""
    return Taken(min(one.clock for one in times), min(one.processor for one in times))


def middle(times: Sequence[Taken]) -> Taken:
    """The median of both."""
    return Taken(
        statistics.median(one.clock for one in times), statistics.median(one.processor for one in times)
    )


def _rounds(
    works: Mapping[str, Callable[[], float]], rounds: int, choice: Callable[[Sequence[float]], float]
) -> dict[str, float]:
    taken: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(rounds + (rounds > 1)):
        for name, work in works.items():
            seconds_of_it = work()
            if turn or rounds == 1:
                taken[name].append(seconds_of_it)
    return {name: choice(times) for name, times in taken.items()}


def spin(_: int) -> float:
    """Share of a processor that a loop of half a second gets."""
    started, worked = time.perf_counter(), time.process_time()
    while time.process_time() - worked < 0.5:
        pass
    return 0.5 / (time.perf_counter() - started)


def share(cores: int) -> float:
    """Share of its processors that the machine leaves to this benchmark: 1 where nothing else runs."""
    with ProcessPoolExecutor(cores, multiprocessing.get_context("spawn")) as pool:
        list(pool.map(spin, range(cores)))
        return min(1.0, sum(pool.map(spin, range(cores))) / cores)


def machine() -> str:
    """The machine and the software, for readers of the figures."""
    return f"{os.cpu_count()} cores, Python {platform.python_version()}, pyarrow {pa.__version__}"


def cached(name: str, make: Callable[[Path], None]) -> Path:
    """Path of a file that ``make`` writes at the first call and that later runs find again.

    It is in the temporary directory of the system; a name that says how it was made keeps it from going stale.
    """
    folder = Path(tempfile.gettempdir()) / "pqassay-benchmarks"
    folder.mkdir(exist_ok=True)
    path = folder / name
    if not path.exists():
        unfinished = folder / f"{name}.unfinished"
        make(unfinished)
        unfinished.replace(path)
    return path


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows under a header; the first column to the left, numbers to the right."""
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header))]
    for row in (header, ["-" * width for width in widths], *rows):
        first, *others = (
            cell.ljust(width) if not column else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        print("  ".join([first, *others]))


def goal(sentence: str, *, reached: bool) -> str:
    """One line about a goal."""
    return f"{'reached' if reached else 'MISSED '}  {sentence}"
