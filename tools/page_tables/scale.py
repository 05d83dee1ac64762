"""The costs of large lakes: the constants of the simulation, and the counts of files by shape.

``benchmarks/spark_scale.py --write``, ``benchmarks/store_cost.py --write`` and ``benchmarks/million.py --write`` store the measurements.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

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
REAL = BENCHMARKS / "million_figures.json"


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
    """Simulate one run over a lake in the assumed store, with the assumed cores; the work for a file is measured, or given."""
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
    """The number of files that the pipeline packs into a task."""
    if step == "index":
        tasks = packing.task_count(lake.files, slots)
    else:
        is_deep = step == "check values"
        each = lake.mean_bytes if is_deep else min(lake.mean_bytes, spark_judging.READ_PER_FILE)
        tasks = spark_judging.default_tasks(int(lake.files * each), lake.files, slots, is_deep=is_deep)
    return -(-lake.files // min(lake.files, tasks))


def figures() -> dict[str, Any]:
    """The measurements, the assumptions, and the simulations for tables."""
    constants = Constants.read()
    return {
        "constants": constants,
        "costs": json.loads(COSTS.read_text()),
        "real": json.loads(REAL.read_text()),
        "steps": STEPS,
        "run": partial(run, constants),
        "shape": partial(_shape, constants),
        "over": partial(_over, constants),
    }


def _shape(constants: Constants, size: int, tier: str, cost: Mapping[str, Any]) -> Outcome:
    """The outcome of a check of a million files of one shape."""
    work = Work(seconds=cost["predicted_seconds"], reads=cost["requests"], read_bytes=cost["read"])
    return run(constants, f"check {tier}", Lake(1_000_000, size, 0.0), work=work)


def _over(constants: Constants, name: str) -> Iterator[tuple[str, Outcome, int, int]]:
    """Yield every step over one lake: its name, the outcome of a run, and the number of runs in total and at once."""
    lake, assumed = constants.lake(name), constants.assumed
    runs = max(1, lake.files // assumed["files_per_run"])
    one = replace(lake, files=lake.files // runs)
    new = replace(one, files=round(one.files * assumed["new_files_share"]))
    for part, which in ((one, "all files"), (new, "the new ones")):
        for step, words in STEPS.items():
            outcome = run(constants, step, part, listed=one.files)
            yield f"{words}, {which}", outcome, runs, min(runs, assumed["runs_at_once"])
