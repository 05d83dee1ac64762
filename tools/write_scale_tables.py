"""Write the tables of ``docs/guide/scale.md`` from the constants of the simulation, and from what was counted by shape: ``python tools/write_scale_tables.py``.

They are between two comments, the first of which names the table; all else on the page is written by people.  A test
compares them, so that whoever changes a constant runs this.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

from _lake_model import Constants, Lake, Outcome, Tasks, Work, simulate  # noqa: E402 - a script beside the benchmarks
from page_tables import duration, grid, size, two_digits  # noqa: E402 - a script beside this one
from page_tables import with_tables as tables_in  # noqa: E402 - as above

from pqassay_spark.check import spark_judging  # noqa: E402 - as above
from pqassay_spark.jobs import packing  # noqa: E402 - as above

PAGE = ROOT / "docs" / "guide" / "scale.md"

STEPS = {
    "check footer": "check, tier `footer`",
    "check index": "check, tier `index`",
    "check values": "check, tier `values`",
    "index": "index",
}

COSTS = ROOT / "benchmarks" / "store_costs.json"

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
    header = (
        "Step",
        "Processor, a task",
        "a file",
        "a GB of files",
        "Reads",
        "Bytes read",
        "and of the file",
        "Writes",
    )
    rows: list[Sequence[str]] = []
    for step, words in STEPS.items():
        work = constants.work(step)
        rows.append(
            (
                words,
                duration(work.task_seconds),
                duration(work.seconds),
                duration(work.seconds_per_byte * 1e9),
                two_digits(work.reads),
                size(work.read_bytes),
                f"{two_digits(work.read_share * 100)} %",
                two_digits(work.writes),
            )
        )
    yield from grid(header, rows)


def shapes_table(constants: Constants) -> Iterator[str]:
    """What one file of a shape is asked for, and what a million of them take in the assumed store."""
    header = (
        "Files",
        "Tier",
        "Requests, a file",
        "Bytes read",
        "Prediction off by",
        "A million: wall time",
        "Cost",
    )
    rows: list[Sequence[str]] = []
    for shape, found in json.loads(COSTS.read_text()).items():
        lake = Lake(1_000_000, found["size"], 0.0)
        for tier in SHOWN_TIERS:
            cost = found["tiers"][tier]
            work = Work(seconds=cost["predicted_seconds"], reads=cost["requests"], read_bytes=cost["read"])
            outcome = run(constants, f"check {tier}", lake, work=work)
            off = max(abs(cost["off_requests"]), abs(cost["off_read"]))
            words = f"{SHAPES[shape]}, {size(found['size'])}" if tier == SHOWN_TIERS[0] else ""
            rows.append(
                (
                    words,
                    f"`{tier}`",
                    f"{cost['requests']}",
                    size(cost["read"]),
                    f"{off * 100:.0f} %",
                    duration(outcome.wall_seconds),
                    dollars(outcome.dollars),
                )
            )
    yield from grid(header, rows)


def runs_table(constants: Constants) -> Iterator[str]:
    """Predictions beside what was measured."""
    header = ("Step", "Files", "Cores", "Predicted", "Measured", "Off by")
    yield from grid(
        header,
        (
            (
                STEPS[ran["step"]],
                f"{ran['files']:,}",
                str(ran["cores"]),
                f"{constants.predicted(ran):.2f} s",
                f"{ran['seconds']:.2f} s",
                f"{(ran['seconds'] / constants.predicted(ran) - 1) * 100:+.0f} %",
            )
            for ran in constants.measured["runs"]
        ),
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
    header = ("Step", "Requests", "Bytes moved", "Core hours", "Wall time", "Cost")
    rows: list[Sequence[str]] = []
    for part, which in ((one, "all files"), (new, "the new ones")):
        for step, words in STEPS.items():
            outcome = run(constants, step, part, listed=one.files)
            rows.append(_lake_row(f"{words}, {which}", outcome, runs, at_once))
    yield from grid(header, rows)


def _lake_row(words: str, outcome: Outcome, runs: int, at_once: int) -> Sequence[str]:
    return (
        words,
        two_digits((outcome.reads + outcome.writes) * runs),
        size(outcome.moved_bytes * runs),
        two_digits(outcome.core_seconds * runs / 3600),
        duration(outcome.wall_seconds * runs / at_once),
        dollars(outcome.dollars * runs),
    )


def packing_table(constants: Constants) -> Iterator[str]:
    """One run with tasks of more and fewer files."""
    lake = constants.lake("million")
    header = ("Files in a task", "Tasks", "Slowest task", "Wall time")
    outcomes = ((count, run(constants, "check index", lake, files_per_task=count)) for count in PACKINGS)
    yield from grid(
        header,
        (
            (
                f"{count:,}",
                f"{-(-lake.files // count):,}",
                duration(found.slowest_task_seconds),
                duration(found.wall_seconds),
            )
            for count, found in outcomes
        ),
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
    """Memory and time of the driver of a single run over so many files."""
    driver = constants.driver
    header = ("Files in one run", "Driver's time", "Driver's memory", "Report in JSON")
    rows: list[Sequence[str]] = []
    for files in (10**5, 10**6, 10**7, 10**9):
        seconds = files * (driver.list_seconds + driver.collect_seconds)
        rows.append(
            (
                f"{files:,}",
                duration(seconds),
                size(files * driver.report_bytes),
                size(files * driver.json_bytes),
            )
        )
    yield from grid(header, rows)


TABLES: dict[str, Any] = {
    "measured": measured_table,
    "work": work_table,
    "shapes": shapes_table,
    "runs": runs_table,
    "assumed": assumed_table,
    "million": lambda constants: lake_table(constants, "million"),
    "billion": lambda constants: lake_table(constants, "billion"),
    "packing": packing_table,
    "slots": slots_table,
    "index table": index_table,
    "listing": listing_table,
    "driver": driver_table,
}
"""By the name in the comment."""


def with_tables(page: str, constants: Constants) -> str:
    """The page with its tables made anew. Raises as `page_tables.with_tables` does."""
    return tables_in(page, {name: partial(make, constants) for name, make in TABLES.items()})


def main() -> None:
    """Write them."""
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8"), Constants.read()), encoding="utf-8")
    print(PAGE)


if __name__ == "__main__":
    main()
