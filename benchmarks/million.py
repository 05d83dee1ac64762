"""The cost of checks over a real lake of a million files: full checks, a history, one night's new files, a sample, and Spark.

    python benchmarks/million.py [--files 1000000] [--jobs 2] [--write]

The lake is a Delta table of small files, a thousand in each partition; each commit added one partition.  A hundred contents repeat under
many names, so the lake is written quickly.  One file in `DAMAGED_EVERY` is damaged: a row group claims one row too many.  The commands
run one after the other, each in its own process.  For each, the benchmark measures wall time, processor time, and the peak memory of
all its processes together.  ``--write`` keeps the figures in ``million_figures.json``, the source of the guide's table.

It ends with an error if a full check does not find exactly the damaged files.  A million files take about 6 GB of disk in the temporary
directory, and more than an hour on two cores.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic
from typing import Self

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from _measure import machine, print_table, share

from pqassay_spec.mutation.mutations import Mutation, mutate

FIGURES = Path(__file__).with_name("million_figures.json")

IN_A_PARTITION = 1000
"""Files of a partition, and of a commit."""

CONTENTS = 100
"""Different contents of files."""

DAMAGED_EVERY = 500
"""One of this number of files is damaged."""

ROWS = 50

STEP = 0.2
"""Seconds between two looks at the memory of the processes."""


@dataclass(frozen=True)
class Ran:
    """The cost of one command.

    Attributes:
        step: Its purpose.
        command: Its arguments after ``pqassay``.
        judged: Number of files judged.
        failed: Number of these files that failed.
        seconds: Wall time.
        processor: Processor seconds of all its processes.
        memory: Peak memory of all its processes together, in bytes.
    """

    step: str
    command: str
    judged: int
    failed: int
    seconds: float
    processor: float
    memory: int


# ----------------------------------------------------------------------------------------------------------- the lake


def contents() -> list[bytes]:
    """Small files of one schema, all different."""
    made = []
    for number in range(CONTENTS):
        first = number * ROWS
        table = pa.table(
            {
                "id": pa.array(range(first, first + ROWS), pa.int64()),
                "amount": [(first + row) / 4 for row in range(ROWS)],
                "customer": [f"customer {(first + row) % 977:04}" for row in range(ROWS)],
            }
        )
        out = io.BytesIO()
        pq.write_table(table, out, write_page_index=True)
        made.append(out.getvalue())
    return made


def is_damaged(number: int) -> bool:
    """Whether a file of the lake, by its number, is a damaged one."""
    return number % DAMAGED_EVERY == DAMAGED_EVERY - 1


def make_lake(folder: Path, files: int) -> None:
    """Write the table: its files, and a commit for each partition."""
    good = contents()
    damage = Mutation("set", "footer.row_groups[0].num_rows", ROWS + 1)
    bad = [mutate(content, damage) for content in good]
    log = folder / "_delta_log"
    log.mkdir(parents=True)
    for commit, first in enumerate(range(0, files, IN_A_PARTITION)):
        day = f"day={commit:05}"
        (folder / day).mkdir()
        lines = [] if commit else first_lines()
        for number in range(first, min(first + IN_A_PARTITION, files)):
            content = (bad if is_damaged(number) else good)[number % CONTENTS]
            path = f"{day}/part-{number:07}.parquet"
            (folder / path).write_bytes(content)
            lines.append(added(path, commit, len(content)))
        (log / f"{commit:020}.json").write_text("\n".join(lines) + "\n")


def first_lines() -> list[str]:
    """What the first commit of the table begins with: its protocol and its schema."""
    types = {"id": "long", "amount": "double", "customer": "string", "day": "string"}
    fields = [{"name": name, "type": kind, "nullable": True, "metadata": {}} for name, kind in types.items()]
    description = {
        "id": "million",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": json.dumps({"type": "struct", "fields": fields}),
        "partitionColumns": ["day"],
        "configuration": {},
    }
    protocol = {"minReaderVersion": 1, "minWriterVersion": 2}
    return [json.dumps({"protocol": protocol}), json.dumps({"metaData": description})]


def added(path: str, commit: int, size: int) -> str:
    """The action that adds a file."""
    day = f"{commit:05}"
    add = {
        "path": path,
        "partitionValues": {"day": day},
        "size": size,
        "modificationTime": 0,
        "dataChange": True,
    }
    return json.dumps({"add": {**add, "stats": json.dumps({"numRecords": ROWS})}})


# ------------------------------------------------------------------------------------------------------- the commands


class Watch:
    """Looks at a process and all below it until the block is left.

    Attributes:
        memory: The most bytes that they held together.
        processor: Seconds of processors by process, when it was last seen.
    """

    def __init__(self, pid: int) -> None:
        self.memory, self.processor = 0, dict[tuple[int, float], float]()
        self._pid, self._over = pid, threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._over.wait(STEP):
            memory = 0
            with contextlib.suppress(psutil.NoSuchProcess):
                parent = psutil.Process(self._pid)
                for process in (parent, *parent.children(recursive=True)):
                    with contextlib.suppress(psutil.NoSuchProcess):
                        memory += process.memory_info().rss
                        times = process.cpu_times()
                        self.processor[process.pid, process.create_time()] = times.user + times.system
            self.memory = max(self.memory, memory)


def ran(step: str, arguments: Sequence[str], work: Path, expected: int | None) -> Ran:
    """Run a command, and read from its metrics what it judged.

    Raises:
        SystemExit: Another number of files failed than expected, or the command did.
    """
    metrics = work / "metrics.json"
    command = [
        sys.executable,
        "-m",
        "pqassay",
        *arguments,
        "--output",
        "report.txt",
        "--metrics",
        metrics.name,
    ]
    print(f"pqassay {' '.join(arguments)}", flush=True)
    began = monotonic()
    with subprocess.Popen(command, cwd=work) as process, Watch(process.pid) as watch:
        status = process.wait()
    seconds, processor = monotonic() - began, sum(watch.processor.values())
    if status not in (0, 1):
        raise SystemExit(f"exit status {status}")
    judged, failed = counted_in(metrics)
    words = " ".join(arguments)
    found = Ran(step, words, judged, failed, round(seconds, 1), round(processor, 1), watch.memory)
    if expected not in (None, found.failed):
        raise SystemExit(f"{found.failed:,} files failed, and {expected:,} are damaged")
    return found


def counted_in(metrics: Path) -> tuple[int, int]:
    """The files that a check looked at, and those that fail it, from its metrics."""
    read = {one["name"]: one["samples"] for one in json.loads(metrics.read_text())["metrics"]}
    looked, failing = read["pqassay_files"], read["pqassay_files_at_gate"]
    return sum(one["value"] for one in looked), sum(one["value"] for one in failing)


def measure(files: int, jobs: int, work: Path) -> list[Ran]:
    """Make the lake and run every command over it."""
    began = monotonic()
    make_lake(work / "lake", files)
    print(f"{files:,} files written in {monotonic() - began:,.0f} s", flush=True)
    commits = -(-files // IN_A_PARTITION)
    last = files - (commits - 1) * IN_A_PARTITION
    every = files // DAMAGED_EVERY
    night = sum(map(is_damaged, range(files - last, files)))
    as_files = ["lake", "--as-files", "--jobs", str(jobs)]
    return [
        ran("every footer", ["check", "--tier", "footer", *as_files, "--history", "findings"], work, every),
        ran("every page index", ["check", "--tier", "index", *as_files], work, every),
        ran(
            "what the last commit added",
            ["check", "--tier", "footer", "lake", "--since", str(commits - 2), "--jobs", str(jobs)],
            work,
            night,
        ),
        ran(
            "a sample", ["sample", "--tier", "values", "lake", "--as-files", "--jobs", str(jobs)], work, None
        ),
        ran(
            "every footer, on Spark",
            ["spark", "check", "--tier", "footer", "lake", "--as-files"],
            work,
            every,
        ),
    ]


def main() -> None:
    """Measure, print, and keep if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--files", type=int, default=1_000_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--write", action="store_true", help=f"keep the figures in {FIGURES.name}")
    options = parser.parse_args()
    if options.files <= IN_A_PARTITION:
        parser.error(
            f"--files must be more than {IN_A_PARTITION:,}: the last of several commits is judged by itself"
        )
    quiet = share(options.jobs)
    with tempfile.TemporaryDirectory(prefix="pqassay-million-") as folder:
        rows = measure(options.files, options.jobs, Path(folder))
    print(f"\n{options.files:,} files, {machine()}; {quiet:.0%} of the processors were left to this\n")
    print_table(
        ("Step", "Files", "Time", "Processor", "a file", "Memory"),
        [
            (
                row.step,
                f"{row.judged:,}",
                f"{row.seconds:,.0f} s",
                f"{row.processor:,.0f} s",
                f"{row.seconds / row.judged * 1e3:.2f} ms",
                f"{row.memory / 2**20:,.0f} MiB",
            )
            for row in rows
        ],
    )
    if options.write:
        settings = {
            "files": options.files,
            "jobs": options.jobs,
            "machine": machine(),
            "quiet": round(quiet, 2),
        }
        FIGURES.write_text(json.dumps({**settings, "ran": [asdict(row) for row in rows]}, indent=1) + "\n")


if __name__ == "__main__":
    main()
