"""A small simulation of the pipeline on a lake of any size: tasks of files on cores, in front of a store.

Its constants are in ``lake_constants.json``, in two parts.  What is *measured* was measured by ``spark_scale.py`` on one
machine, which also holds the simulation against real runs there.  What is *assumed*, stores above all, is not: planners
put in their own numbers.  The tables of ``docs/guide/scale.md`` are made from the same constants.

The model: a driver lists the files and packs them into tasks.  It hands out tasks one after another, which takes it some
time for each.  A slot of a core takes the next task when it is free, and judges (or indexes) the files of the task one
after another: each takes processor time, a constant and some for each byte of the file, waits for its requests, and for its
bytes to come over the line.  In the end the driver collects what was found.
"""

from __future__ import annotations

import heapq
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

CONSTANTS = Path(__file__).with_name("lake_constants.json")

Floats = npt.NDArray[np.float64]

QUIET = 0.9
"""Share of the processors that a measurement needs for itself, to mean something on another day."""

P99 = 2.3263
"""Standard deviations from the median of a normal distribution to its 99th percentile."""


@dataclass(frozen=True)
class Work:
    """Work of one step on one file.

    Attributes:
        seconds: Seconds of a processor, whatever the size of the file.
        seconds_per_byte: Seconds of a processor for each byte of the file.
        task_seconds: Seconds of a processor, once for a task: at tier ``values`` a process is started that may crash.
        reads: Requests that read.
        read_bytes: Bytes read, whatever the size of the file.
        read_share: Which part of the bytes of the file is read in addition.
        writes: Requests that write.
        written_share: Which part of the bytes of the file is written.
    """

    seconds: float
    seconds_per_byte: float = 0.0
    task_seconds: float = 0.0
    reads: float = 0.0
    read_bytes: float = 0.0
    read_share: float = 0.0
    writes: float = 0.0
    written_share: float = 0.0

    def processor(self, files: Floats, size: Floats) -> Floats:
        """Seconds of a processor for tasks of ``files`` files of ``size`` bytes together."""
        return self.task_seconds + files * self.seconds + size * self.seconds_per_byte

    def moved(self, files: Floats, size: Floats) -> Floats:
        """Bytes read and written."""
        return files * self.read_bytes + size * (self.read_share + self.written_share)


@dataclass(frozen=True)
class Spark:
    """Time that Spark itself takes.

    Attributes:
        session_seconds: To start it.
        worker_seconds: Until a new Python worker has imported what judging needs; once for each slot.
        job_seconds: For a job, whatever it does.
        task_seconds: For a task, whatever it does, in the slot that runs it.
        dispatch_seconds: For a task, at the driver, one task after another.
    """

    session_seconds: float
    worker_seconds: float
    job_seconds: float
    task_seconds: float
    dispatch_seconds: float


@dataclass(frozen=True)
class Driver:
    """Work of the driver of a run on each file, and memory that it keeps of it.

    Attributes:
        list_seconds: To find a local file and pack it into a task.
        collect_seconds: To take in what was found in it.
        report_bytes: Memory for what was found in it.
        json_bytes: Bytes of a report in JSON.
    """

    list_seconds: float
    collect_seconds: float
    report_bytes: float
    json_bytes: float


@dataclass(frozen=True)
class Store:
    """An object store, as the plan assumes it.

    Attributes:
        latency_seconds: From a request to its first byte, in the median.
        latency_p99_seconds: The same for the slowest of a hundred.
        stream_bytes_per_second: Rate of one request.
        core_bytes_per_second: Rate of the network, for each core that shares it.
        reads_per_second: That one prefix answers before it asks to slow down.
        prefixes: Among which the files are spread evenly.
        list_seconds: For one request that lists.
        list_files: Names that one such request returns.
        read_price: Of 1,000 requests that read, in dollars.
        write_price: Of 1,000 requests that write or list.
    """

    latency_seconds: float
    latency_p99_seconds: float
    stream_bytes_per_second: float
    core_bytes_per_second: float
    reads_per_second: float
    prefixes: int
    list_seconds: float
    list_files: int
    read_price: float
    write_price: float

    @property
    def latency(self) -> tuple[float, float]:
        """Mean and standard deviation of the latency, which is taken to be lognormal."""
        sigma = math.log(self.latency_p99_seconds / self.latency_seconds) / P99
        mean = self.latency_seconds * math.exp(sigma**2 / 2)
        return mean, mean * math.sqrt(math.expm1(sigma**2))


@dataclass(frozen=True)
class Cluster:
    """Resources of a run.

    Attributes:
        cores: Processors for tasks.
        slots_per_core: Tasks that share one; more than one uses the time in which a task waits for the store.
        stretch: How many times longer the same work takes where all cores work at once.
        core_hour_price: In dollars, the memory that comes with the core included.
    """

    cores: int
    slots_per_core: int = 1
    stretch: float = 1.0
    core_hour_price: float = 0.0

    @property
    def slots(self) -> int:
        """Tasks that run at the same time."""
        return self.cores * self.slots_per_core


@dataclass(frozen=True)
class Lake:
    """So many files; the logarithm of their sizes is normally distributed."""

    files: int
    mean_bytes: float
    sigma: float

    @property
    def deviation(self) -> float:
        """Standard deviation of a file's size, in bytes."""
        return self.mean_bytes * math.sqrt(math.expm1(self.sigma**2))

    @property
    def bytes(self) -> float:
        """Bytes of all files."""
        return self.files * self.mean_bytes


@dataclass(frozen=True)
class Tasks:
    """Numbers of files of each task, and their bytes; two arrays of one length."""

    files: Floats
    size: Floats

    @classmethod
    def of_lake(cls, lake: Lake, files_per_task: int, *, seed: int = 0) -> Tasks:
        """Pack a lake that was not listed: the bytes of each task are drawn."""
        count = math.ceil(lake.files / files_per_task)
        files = np.full(count, float(files_per_task))
        files[-1] = lake.files - files_per_task * (count - 1)
        return cls(files, _sums(files, lake.mean_bytes, lake.deviation, np.random.default_rng(seed)))

    @classmethod
    def of_files(cls, packed: Sequence[Sequence[int]]) -> Tasks:
        """Take tasks as they are: the sizes of the files of each."""
        return cls(
            np.array([len(task) for task in packed], float), np.array([sum(task) for task in packed], float)
        )


@dataclass(frozen=True)
class Outcome:
    """Time and memory of a run.

    Attributes:
        wall_seconds: From beginning to end, without the start of Spark.
        listing_seconds: The part until all files are known.
        core_seconds: That tasks compute.
        reads: Requests that read.
        writes: Requests that write or list.
        moved_bytes: Between store and cores.
        slowest_task_seconds: Seconds of one task.
        dollars: For requests and for cores, those that wait included.
    """

    wall_seconds: float
    listing_seconds: float
    core_seconds: float
    reads: float
    writes: float
    moved_bytes: float
    slowest_task_seconds: float
    dollars: float


def simulate(
    tasks: Tasks,
    work: Work,
    spark: Spark,
    driver: Driver,
    cluster: Cluster,
    store: Store | None = None,
    *,
    listers: int = 1,
    listed: int | None = None,
    seed: int = 1,
) -> Outcome:
    """Run tasks on a cluster: against a store, or, without one, on files of a local disk that are in memory already.

    Args:
        tasks: The files.
        work: What is done with each.
        spark: What Spark takes.
        driver: What the driver takes.
        cluster: The cores.
        store: Where the files are.
        listed: How many files are listed to find those; by default no others.
        listers: Requests that list at the same time; each folder of the top level can have one.
        seed: The seed of the latencies.
    """
    files = float(tasks.files.sum())
    computing = work.processor(tasks.files, tasks.size) * cluster.stretch
    moved = work.moved(tasks.files, tasks.size)
    durations = _durations(tasks, work, computing, moved, cluster, store, seed)
    met = max(files, listed or 0)
    listing = met * driver.list_seconds
    list_requests = 0.0
    if store is not None:
        list_requests = math.ceil(met / store.list_files)
        listing = max(listing, list_requests * store.list_seconds / listers)
    running = makespan(durations, cluster.slots, spark.task_seconds, spark.dispatch_seconds)
    reads, writes = files * work.reads, files * work.writes + list_requests
    if store is not None:
        running = max(running, reads / (store.reads_per_second * store.prefixes))
    wall = spark.job_seconds + listing + running + files * driver.collect_seconds
    dollars = wall / 3600 * cluster.cores * cluster.core_hour_price
    if store is not None:
        dollars += (reads * store.read_price + writes * store.write_price) / 1000
    return Outcome(
        wall_seconds=wall,
        listing_seconds=listing,
        core_seconds=float(computing.sum()),
        reads=reads,
        writes=writes,
        moved_bytes=float(moved.sum()),
        slowest_task_seconds=float(durations.max()),
        dollars=dollars,
    )


def _durations(
    tasks: Tasks,
    work: Work,
    computing: Floats,
    moved: Floats,
    cluster: Cluster,
    store: Store | None,
    seed: int,
) -> Floats:
    """Seconds that each task keeps its slot."""
    if store is None:
        return computing * cluster.slots_per_core
    mean, deviation = store.latency
    requests = tasks.files * (work.reads + work.writes)
    waiting = _sums(requests, mean, deviation, np.random.default_rng(seed))
    bandwidth = min(store.stream_bytes_per_second, store.core_bytes_per_second / cluster.slots_per_core)
    # Slots that share a core wait side by side, and compute one after another.
    return np.maximum(computing + waiting + moved / bandwidth, computing * cluster.slots_per_core)


def makespan(durations: Floats, slots: int, task_seconds: float, dispatch_seconds: float) -> float:
    """Seconds until the last of the tasks is done, which are taken in order by the first slot that is free.

    >>> makespan(np.array([1.0, 1.0, 1.0]), 2, 0.0, 0.0)
    2.0
    """
    handed = np.cumsum(np.full(len(durations), dispatch_seconds))
    ends = handed + task_seconds + durations
    later = handed[slots:]
    if (np.sort(ends)[: len(later)] <= later).all():  # a slot is free for each task when it is handed out
        return float(ends.max())
    free = [0.0] * min(slots, len(durations))
    handed_out = end = 0.0
    for duration in durations.tolist():
        handed_out += dispatch_seconds
        done = max(free[0], handed_out) + task_seconds + duration
        heapq.heapreplace(free, done)
        end = max(end, done)
    return end


def _sums(counts: Floats, mean: float, deviation: float, random: np.random.Generator) -> Floats:
    """Draw sums of ``count`` independent values of this mean and deviation; they stay positive."""
    if not mean:
        return np.zeros_like(counts)
    variance = counts * deviation**2
    if not deviation:
        return counts * mean
    shape = np.where(variance > 0, (counts * mean) ** 2 / np.where(variance > 0, variance, 1), 0)
    return np.where(shape > 0, random.gamma(np.where(shape > 0, shape, 1), deviation**2 / mean), 0.0)


# ------------------------------------------------------------------------------------------------ constants


@dataclass(frozen=True)
class Constants:
    """Everything in ``lake_constants.json``.

    Attributes:
        measured: As ``spark_scale.py`` wrote it.
        assumed: As people wrote it.
    """

    measured: Mapping[str, Any]
    assumed: Mapping[str, Any]

    @classmethod
    def read(cls, path: Path = CONSTANTS) -> Constants:
        """Read the file."""
        return cls(**json.loads(path.read_text()))

    @property
    def is_quiet(self) -> bool:
        """True if the machine had nothing else to do while it was measured."""
        return bool(self.measured["share"] >= QUIET)

    @property
    def spark(self) -> Spark:
        """Time that Spark takes."""
        return Spark(**self.measured["spark"])

    @property
    def driver(self) -> Driver:
        """Time and memory of the driver."""
        return Driver(**self.measured["driver"])

    @property
    def store(self) -> Store:
        """The assumed store."""
        return Store(**self.assumed["store"])

    def work(self, step: str) -> Work:
        """Work of a step on a file."""
        return Work(**self.measured["work"][step])

    def cluster(self, cores: int, *, slots_per_core: int = 1) -> Cluster:
        """A cluster of machines that are like the measured one."""
        stretch = self.measured["stretch"]
        return Cluster(cores, slots_per_core, stretch, self.assumed["core_hour_price"])

    def lake(self, name: str) -> Lake:
        """One of the assumed lakes."""
        return Lake(**self.assumed["lakes"][name])

    def predicted(self, run: Mapping[str, Any]) -> float:
        """Seconds that a run on the measured machine should take: its step, its cores, the files and bytes of its tasks."""
        files, size = np.array(run["tasks"], float).T
        cluster = self.cluster(run["cores"])
        if run["cores"] == 1:
            cluster = replace(cluster, stretch=1.0)
        work = self.work(run["step"])
        return simulate(Tasks(files, size), work, self.spark, self.driver, cluster).wall_seconds
