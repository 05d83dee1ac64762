"""What a check asks a store for, by the shape of files, and whether `pqassay estimate` predicts it.

    python benchmarks/store_cost.py [--files 500] [--delay 0.005] [--write]

Files of some shapes are judged behind a source that counts requests and bytes, each twice: of the second file of a table it is
known how much of its end is worth a request.  Beside that is what is predicted from their footers, and the seconds of a processor.
Then files are judged one after another in a store of this machine whose answers begin after a while, and the time is compared
with the predicted one.  ``--write`` keeps what was counted in ``store_costs.json``; the site makes the table of
the guide of it.

Goals: predictions of requests and bytes are off by at most 20 %; at tier ``index``, files without bloom filters take at most 3
requests, those with bloom filters at most 6.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _measure import cached, goal, print_table, share
from _range_server import Pace, running
from _sized_lake import CountingFile

from pqassay.judge.checker import CheckPlan, planned
from pqassay.judge.one_file import judge
from pqassay.stores import kinds, remote
from pqassay.stores.remote_source import RemoteSource, Tails
from pqassay.stores.table_files import MetadataReads
from pqassay.stores.targets import Found, Target
from pqassay_lake.cost.estimate import FILE_TIERS, StorePace
from pqassay_lake.cost.prediction import predicted
from pqassay_reference.pm.generate import generate_file
from pqassay_spec.rules.catalogue import Tier

COSTS = Path(__file__).with_name("store_costs.json")

WITHIN = 0.2
"""Goal: how far predictions of requests and bytes may be off."""

MOST_REQUESTS = {"narrow": 3, "wide": 3, "filters": 6}
"""Goals, in requests for a file at tier ``index``."""


# --------------------------------------------------------------------------------------------------------- files


def write(path: Path, table: pa.Table, **options: Any) -> None:
    """Write a file with page indexes."""
    pq.write_table(table, path, write_page_index=True, **options)


def narrow(path: Path) -> None:
    """5 columns, 1 row group."""
    random, rows = np.random.default_rng(1), 200_000
    columns: dict[str, Any] = {"id": np.arange(rows), "name": [f"name {row % 9}" for row in range(rows)]}
    write(path, pa.table(columns | {f"amount_{number}": random.random(rows) for number in range(3)}))


def wide(path: Path) -> None:
    """500 columns, 10 row groups."""
    random, rows = np.random.default_rng(2), 20_000
    columns = {f"c{number:03}": random.integers(0, 1000, rows) for number in range(500)}
    write(path, pa.table(columns), row_group_size=rows // 10)


def filters(path: Path) -> None:
    """60 columns, 10 row groups, and bloom filters of 128 KiB on 20 columns."""
    random, rows = np.random.default_rng(3), 800_000
    names = [f"c{number:02}" for number in range(60)]
    columns = {
        name: random.integers(0, 1 << 31, rows, dtype=np.int32) if number < 20 else np.zeros(rows, np.int8)
        for number, name in enumerate(names)
    }
    write(
        path,
        pa.table(columns),
        row_group_size=rows // 10,
        use_dictionary=names[20:],
        bloom_filter_options={name: {"ndv": 110_000, "fpp": 0.01} for name in names[:20]},
    )


def indexes(path: Path) -> None:
    """6 columns of long texts, 4 row groups, pages of 16 rows."""
    texts = pa.array([f"{row:060}" for row in range(100_000)])
    table = pa.table({f"c{number}": texts for number in range(6)})
    write(path, table, row_group_size=25_000, data_page_size=1000, write_batch_size=16, use_dictionary=False)


SHAPES = {"narrow": narrow, "wide": wide, "filters": filters, "indexes": indexes}


def plan_of(shape: str) -> CheckPlan:
    """A plan to judge two files of a shape, and so of a `_pm`."""
    made = SHAPES["wide" if shape == "pm" else shape]
    folder = cached(f"store-cost-{shape}", lambda unfinished: make_two(unfinished, made, shape))
    return planned(sorted(folder.rglob("_pm" if shape == "pm" else "*.parquet")), tier="index")


def make_two(folder: Path, make: Any, shape: str) -> None:
    """Write the same file into two partitions."""
    for number in range(2):
        part = folder / f"part={number}"
        part.mkdir(parents=True)
        data = part / "data.parquet"
        if number:
            os.link(folder / "part=0" / "data.parquet", data)
        else:
            make(data)
        if shape == "pm":
            generate_file(data, data.with_name("_pm"))


# ------------------------------------------------------------------------------------------------------- counted


class Counted(NamedTuple):
    """What a file costs."""

    requests: int
    read: int
    seconds: float


def counted(plan: CheckPlan, tier: Tier) -> list[Counted]:
    """What each file of a plan costs."""
    tails, costs = Tails(), list[Counted]()
    for target in plan.targets:
        files: list[CountingFile] = []

        def opened(target: Target, files: list[CountingFile] = files) -> RemoteSource:
            files.append(CountingFile(Path(target.path).read_bytes()))
            return RemoteSource(files[-1], target.name, tails)

        source = opened(target)
        beside = {name: opened(target.beside(name)) for name in kinds.beside(target.kind)}
        started = time.process_time()
        report, _ = judge(replace(target, data=source, kept_beside=beside), replace(plan.settings, tier=tier))
        seconds = time.process_time() - started
        if report.outcome != "conformant":
            raise SystemExit(f"the file is not what it should be: {report}")
        for opened_source in (source, *beside.values()):
            opened_source.close()
        read = [file for file in files if file.bytes]  # what was not read would not have been opened
        costs.append(Counted(sum(file.requests for file in read), sum(file.bytes for file in read), seconds))
    return costs


def compared(shape: str) -> dict[str, Any]:
    """What the second file of a shape costs by tier, and what is predicted of both."""
    plan = plan_of(shape)
    predictions = {
        estimate.tier: estimate
        for estimate in predicted(plan, MetadataReads(), pace=StorePace(0, 1e12)).tiers
    }
    tiers: dict[str, Any] = {}
    for tier in FILE_TIERS:
        first, later = counted(plan, tier)
        tiers[tier] = {
            "requests": later.requests,
            "first_requests": first.requests,
            "read": later.read,
            "off_requests": predictions[tier].requests / (first.requests + later.requests) - 1,
            "off_read": predictions[tier].read / (first.read + later.read) - 1,
            "seconds": later.seconds,
            "predicted_seconds": predictions[tier].seconds / 2,
        }
    size = plan.targets[0].known_size() + plan.targets[0].size_beside()
    return {"size": size, "tiers": tiers}


# --------------------------------------------------------------------------------------------------- in a store


class Run(NamedTuple):
    """A check in a store: requests for each file, seconds, those of a processor among them, and both as predicted."""

    requests: float
    seconds: float
    processor: float
    predicted: float
    predicted_processor: float


def in_a_store(shape: str, files: int, delay: float) -> Run:
    """Check a number of files at tier ``index`` in a store whose answers begin after a delay."""
    (first, _) = plan_of(shape).targets
    with tempfile.TemporaryDirectory(dir=Path(first.path).parents[2]) as temporary:
        folder = Path(temporary)
        for number in range(files):
            os.link(first.path, folder / f"{number:05}.parquet")
        local = planned(folder, tier="index")
        pace = StorePace(delay * 1000, 80)
        prediction = predicted(local, MetadataReads(), pace=pace)
        with running(folder) as server:
            os.environ.update(AWS_ACCESS_KEY_ID="key", AWS_SECRET_ACCESS_KEY="secret")
            store = f"s3://lake/?endpoint_override={server.host}&scheme=http&region=us-east-1"
            targets = [
                Target(f"s3://lake/{target.name}", f"lake/{Path(target.path).name}", store, target.size)
                for target in local.targets
            ]
            plan = CheckPlan(Found(targets), local.settings)
            judge(targets[0], plan.settings)
            remote.TAILS.clear()
            server.counted(Pace(delay, 80e6))
            started, worked = time.perf_counter(), time.process_time()
            for target in plan.targets:
                judge(target, plan.settings)
            seconds, worked = time.perf_counter() - started, time.process_time() - worked
            requests = server.counted().requests / files
    of_index = next(estimate for estimate in prediction.tiers if estimate.tier == "index")
    waiting = pace.seconds(of_index.requests, of_index.read)
    return Run(requests, seconds, worked, of_index.seconds, of_index.seconds - waiting)


def main() -> int:
    """Measure and print; the exit status says whether the goals were reached."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--files", type=int, default=500, help="in the store that waits; 0 for none")
    parser.add_argument("--delay", type=float, default=0.005, help="seconds until an answer begins")
    parser.add_argument("--write", action="store_true", help="keep what was counted")
    options = parser.parse_args()
    shapes = {shape: compared(shape) for shape in (*SHAPES, "pm")}
    print_counts(shapes)
    worst = max(
        abs(cost[off])
        for found in shapes.values()
        for cost in found["tiers"].values()
        for off in ("off_requests", "off_read")
    )
    print()
    rows: list[tuple[str, ...]] = []
    for shape in MOST_REQUESTS if options.files else ():
        run = in_a_store(shape, options.files if shape == "narrow" else 20, options.delay)
        rows.append(
            (
                shape,
                f"{run.requests:.2f}",
                f"{run.seconds:.2f} ({run.processor:.2f})",
                f"{run.predicted:.2f} ({run.predicted_processor:.2f})",
                f"{run.predicted / run.seconds - 1:+.0%}",
            )
        )
    if rows:
        header = ("in a store, tier index", "requests a file", "s (of a processor)", "predicted", "off by")
        print_table(header, rows)
        print(f"the machine left {share(2):.0%} of its processors to this")
    if options.write:
        COSTS.write_text(f"{json.dumps(rounded(shapes), indent=2)}\n")
        print(f"\nwritten to {COSTS.name}")
    few = all(shapes[shape]["tiers"]["index"]["requests"] <= most for shape, most in MOST_REQUESTS.items())
    print()
    print(goal("at tier index at most 3 requests a file without bloom filters, 6 with", reached=few))
    print(
        goal(
            f"predictions are off by at most {WITHIN:.0%}; the worst by {worst:.0%}", reached=worst <= WITHIN
        )
    )
    return 0 if few and worst <= WITHIN else 1


def print_counts(shapes: Mapping[str, Any]) -> None:
    """Print what was counted and predicted."""
    rows = [
        (
            f"{shape}, {tier}",
            f"{cost['first_requests']}, {cost['requests']}",
            f"{cost['read'] / 1e6:.2f}",
            f"{cost['off_requests']:+.0%}",
            f"{cost['off_read']:+.0%}",
            f"{cost['seconds']:.3f}",
            f"{cost['predicted_seconds']:.3f}",
        )
        for shape, found in shapes.items()
        for tier, cost in found["tiers"].items()
    ]
    print_table(
        ("shape, tier", "requests: first, later", "MB", "predicted", "bytes", "processor s", "predicted s"),
        rows,
    )


def rounded(value: Any) -> Any:
    """Three digits of every number but counts."""
    if isinstance(value, dict):
        return {key: rounded(member) for key, member in value.items()}
    return float(f"{value:.3g}") if isinstance(value, float) else value


if __name__ == "__main__":
    sys.exit(main())
