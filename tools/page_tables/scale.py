"""What large lakes cost: the constants of the simulation, and what was counted of files by their shape.

``benchmarks/spark_scale.py --write`` and ``benchmarks/store_cost.py --write`` measure.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from page_tables import columns, duration, grid, size, two_digits
from pqassay_spark.check import spark_judging
from pqassay_spark.jobs import packing

BENCHMARKS = Path(__file__).resolve().parent.parent.parent / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

from _lake_model import Constants, Lake, Outcome, Tasks, Work, simulate  # noqa: E402 - a script beside the benchmarks

STEPS = {
    "check footer": "check, tier `footer`",
    "check index": "check, tier `index`",
    "check values": "check, tier `values`",
    "index": "index",
}

COSTS = BENCHMARKS / "store_costs.json"

SHAPES = {
    "narrow": "5 columns, 1 row group",
    "wide": "500 columns, 10 row groups",
    "filters": "60 columns, 10 row groups, bloom filters of 128 KiB on 20 columns",
    "indexes": "6 columns of long texts in pages of 1 kB",
    "pm": "`_pm` of 500 columns and 10 row groups, with its `data.parquet`",
}
"""Shapes of files in ``store_costs.json``."""

SHOWN_TIERS = ("footer", "index", "values")

PACKINGS = (1, 10, 100, 500, 5_000, 50_000)
"""Files for each task."""

SLOTS = (1, 2, 4, 8)
"""Tasks that share a core."""


def run(
    constants: Constants,
    step: str,
    lake: Lake,
    *,
    files_per_task: int = 0,
    slots: int = 0,
    listed: int | None = None,
    work: Work | None = None,
) -> Outcome:
    """Simulate one run over a lake in the assumed store, with the assumed cores; what a file takes is as measured, or given."""
    assumed = constants.assumed
    cluster = constants.cluster(assumed["cores_per_run"], slots_per_core=slots or assumed["slots_per_core"])
    tasks = Tasks.of_lake(lake, files_per_task or files_of_a_task(step, lake, cluster.slots))
    return simulate(
        tasks,
        work or constants.work(step),
        constants.spark,
        constants.driver,
        cluster,
        constants.store,
        listed=listed,
        listers=assumed["listers"],
    )


def files_of_a_task(step: str, lake: Lake, slots: int) -> int:
    """Into how large tasks the pipeline packs files."""
    if step == "index":
        tasks = packing.task_count(lake.files, slots)
    else:
        is_deep = step == "check values"
        each = lake.mean_bytes if is_deep else min(lake.mean_bytes, spark_judging.READ_PER_FILE)
        tasks = spark_judging.default_tasks(int(lake.files * each), lake.files, slots, is_deep=is_deep)
    return -(-lake.files // min(lake.files, tasks))


def dollars(amount: float) -> str:
    """An amount of money."""
    return f"${two_digits(amount)}"


# ------------------------------------------------------------------------------------------------- tables


def measured_table(constants: Constants) -> Iterator[str]:
    """Measurements on one machine."""
    spark, driver = constants.spark, constants.driver
    rows = [
        ("start of Spark", duration(spark.session_seconds)),
        ("first task of a worker, which imports the package", duration(spark.worker_seconds)),
        ("a job, whatever it does", duration(spark.job_seconds)),
        ("a task, whatever it does", duration(spark.task_seconds)),
        ("handing out a task, at the driver (at most)", duration(spark.dispatch_seconds)),
        ("driver, listing and packing, a local file", duration(driver.list_seconds)),
        ("driver, taking in what was found, a file", duration(driver.collect_seconds)),
        ("driver, memory for what was found, a conformant file", size(driver.report_bytes)),
        ("report in JSON, a conformant file", size(driver.json_bytes)),
        ("the same work while all cores are busy", f"{constants.measured['stretch']:.2f} times as long"),
    ]
    yield from grid(("What", "Measured"), rows)


def work_table(constants: Constants) -> Iterator[str]:
    """Work of each step on a file."""
    yield from columns(
        [(words, constants.work(step)) for step, words in STEPS.items()],
        {
            "Step": lambda row: row[0],
            "Processor, a task": lambda row: duration(row[1].task_seconds),
            "a file": lambda row: duration(row[1].seconds),
            "a GB of files": lambda row: duration(row[1].seconds_per_byte * 1e9),
            "Reads": lambda row: two_digits(row[1].reads),
            "Bytes read": lambda row: size(row[1].read_bytes),
            "and of the file": lambda row: f"{two_digits(row[1].read_share * 100)} %",
            "Writes": lambda row: two_digits(row[1].writes),
        },
    )


def shapes_table(constants: Constants) -> Iterator[str]:
    """What one file of a shape is asked for, and what a million of them take in the assumed store."""
    rows: list[tuple[str, str, Mapping[str, Any], Outcome]] = []
    for shape, found in json.loads(COSTS.read_text()).items():
        lake = Lake(1_000_000, found["size"], 0.0)
        for tier in SHOWN_TIERS:
            cost = found["tiers"][tier]
            work = Work(seconds=cost["predicted_seconds"], reads=cost["requests"], read_bytes=cost["read"])
            words = f"{SHAPES[shape]}, {size(found['size'])}" if tier == SHOWN_TIERS[0] else ""
            rows.append((words, tier, cost, run(constants, f"check {tier}", lake, work=work)))
    yield from columns(
        rows,
        {
            "Files": lambda row: row[0],
            "Tier": lambda row: f"`{row[1]}`",
            "Requests, a file": lambda row: str(row[2]["requests"]),
            "Bytes read": lambda row: size(row[2]["read"]),
            "Prediction off by": lambda row: (
                f"{max(abs(row[2]['off_requests']), abs(row[2]['off_read'])) * 100:.0f} %"
            ),
            "A million: wall time": lambda row: duration(row[3].wall_seconds),
            "Cost": lambda row: dollars(row[3].dollars),
        },
    )


def runs_table(constants: Constants) -> Iterator[str]:
    """Predictions beside what was measured."""
    yield from columns(
        constants.measured["runs"],
        {
            "Step": lambda ran: STEPS[ran["step"]],
            "Files": lambda ran: f"{ran['files']:,}",
            "Cores": lambda ran: str(ran["cores"]),
            "Predicted": lambda ran: f"{constants.predicted(ran):.2f} s",
            "Measured": lambda ran: f"{ran['seconds']:.2f} s",
            "Off by": lambda ran: f"{(ran['seconds'] / constants.predicted(ran) - 1) * 100:+.0f} %",
        },
    )
    if not constants.is_quiet:
        share = f"{constants.measured['share'] * 100:.0f} %"
        yield from (
            "",
            f"**Other programs left {share} of the processors to these runs: they want to be repeated.**",
        )


def assumed_table(constants: Constants) -> Iterator[str]:
    """Assumptions."""
    store, assumed = constants.store, constants.assumed
    rows = [
        (
            "first byte of a request",
            f"{duration(store.latency_seconds)}; of the slowest of a hundred, {duration(store.latency_p99_seconds)}",
        ),
        ("one stream", f"{size(store.stream_bytes_per_second)}/s"),
        ("network for each core", f"{size(store.core_bytes_per_second)}/s"),
        ("reads of one prefix", f"{store.reads_per_second:,} in a second; {store.prefixes} prefixes"),
        (
            "a request that lists",
            f"{store.list_files:,} names, {duration(store.list_seconds)}; {assumed['listers']} at a time",
        ),
        ("1,000 requests that read", f"${store.read_price}"),
        ("1,000 requests that write or list", f"${store.write_price}"),
        ("a core for an hour, with its memory", f"${assumed['core_hour_price']}"),
        ("cores of a run", f"{assumed['cores_per_run']}, with {assumed['slots_per_core']} tasks each"),
        ("traffic between store and cores", "free, in one region"),
    ]
    yield from grid(("What", "Assumed"), rows)


def lake_table(constants: Constants, name: str) -> Iterator[str]:
    """Every step over one lake, in as many runs as it takes."""
    lake, assumed = constants.lake(name), constants.assumed
    runs = max(1, lake.files // assumed["files_per_run"])
    at_once = min(runs, assumed["runs_at_once"])
    one = replace(lake, files=lake.files // runs)
    new = replace(one, files=round(one.files * assumed["new_files_share"]))
    yield from columns(
        [
            (f"{words}, {which}", run(constants, step, part, listed=one.files))
            for part, which in ((one, "all files"), (new, "the new ones"))
            for step, words in STEPS.items()
        ],
        {
            "Step": lambda row: row[0],
            "Requests": lambda row: two_digits((row[1].reads + row[1].writes) * runs),
            "Bytes moved": lambda row: size(row[1].moved_bytes * runs),
            "Core hours": lambda row: two_digits(row[1].core_seconds * runs / 3600),
            "Wall time": lambda row: duration(row[1].wall_seconds * runs / at_once),
            "Cost": lambda row: dollars(row[1].dollars * runs),
        },
    )


def packing_table(constants: Constants) -> Iterator[str]:
    """One run with tasks of more and fewer files."""
    lake = constants.lake("million")
    yield from columns(
        [(count, run(constants, "check index", lake, files_per_task=count)) for count in PACKINGS],
        {
            "Files in a task": lambda row: f"{row[0]:,}",
            "Tasks": lambda row: f"{-(-lake.files // row[0]):,}",
            "Slowest task": lambda row: duration(row[1].slowest_task_seconds),
            "Wall time": lambda row: duration(row[1].wall_seconds),
        },
    )


def slots_table(constants: Constants) -> Iterator[str]:
    """One run with more and fewer tasks on a core."""
    lake = constants.lake("million")
    steps = ("check index", "check values")
    rows = (
        (str(slots), *(duration(run(constants, step, lake, slots=slots).wall_seconds) for step in steps))
        for slots in SLOTS
    )
    yield from grid(("Tasks on a core", *(STEPS[step] for step in steps)), rows)


def index_table(constants: Constants) -> Iterator[str]:
    """Size of the index table, and the time to read it."""
    costs = constants.measured["index_table"]
    header = ("Files", "Values in each", "Rows", "Size", "Read on one core")
    rows: list[Sequence[str]] = []
    for name in ("million", "billion"):
        files = constants.lake(name).files
        for values in constants.assumed["values_per_file"]:
            stored = files * (costs["bytes_per_file"] + values * costs["bytes_per_value"])
            seconds = files * values * costs["read_seconds_per_value"]
            rows.append(
                (f"{files:,}", f"{values:,}", two_digits(files * values), size(stored), duration(seconds))
            )
    yield from grid(header, rows)


def listing_table(constants: Constants) -> Iterator[str]:
    """Time to list the files."""
    store = constants.store
    header = ("Files", "Requests", "Cost", "1 at a time", "16 at a time", "256 at a time")
    rows: list[Sequence[str]] = []
    for name in ("million", "billion"):
        requests = constants.lake(name).files / store.list_files
        times = (duration(requests * store.list_seconds / listers) for listers in (1, 16, 256))
        cost = dollars(requests * store.write_price / 1000)
        rows.append((f"{constants.lake(name).files:,}", f"{requests:,.0f}", cost, *times))
    yield from grid(header, rows)


def driver_table(constants: Constants) -> Iterator[str]:
    """Memory and time of the driver of a single run over ``files`` files."""
    driver = constants.driver
    yield from columns(
        (10**5, 10**6, 10**7, 10**9),
        {
            "Files in one run": lambda files: f"{files:,}",
            "Driver's time": lambda files: duration(files * (driver.list_seconds + driver.collect_seconds)),
            "Driver's memory": lambda files: size(files * driver.report_bytes),
            "Report in JSON": lambda files: size(files * driver.json_bytes),
        },
    )


read = Constants.read

TABLES = {
    "measured": measured_table,
    "work": work_table,
    "shapes": shapes_table,
    "runs": runs_table,
    "assumed": assumed_table,
    "million": partial(lake_table, name="million"),
    "billion": partial(lake_table, name="billion"),
    "packing": packing_table,
    "slots": slots_table,
    "index table": index_table,
    "listing": listing_table,
    "driver": driver_table,
}
