"""Speed of opening and checking a `_pm`: against pyarrow reading the same metadata from a Parquet footer.

    python benchmarks/pm_open.py [--columns 500] [--row-groups 100] [--rounds 7] [--largest 300]

The Parquet file is that of ``thrift.py``: 500 columns and 100 row groups, 50,000 column chunks with statistics.  Its `_pm`
(3.2 MB) is generated from it and stands alone, so that nothing is compared with the data.  ``open`` finds the newest
footer and reads every block; with the checksum it also reads every byte.  The check is `pqassay.check` at tier ``index``.

Then the growth: the same columns and ever more row groups, each block a copy of the first with byte ranges of its own, up to
300 MB.  Time should grow with the bytes; memory is the peak of a process of its own, above what its imports take.

Goals: opening, checksum included, at most 1/10 of pyarrow's time; the check at most 1/4.  Memory: at most the file
once and 64 MB.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import zlib
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from _measure import cached, goal, print_table, seconds
from thrift import make_file

import pqassay
from pqassay_reference.pm.read import PmReader
from pqassay_reference.pm.write import create
from pqassay_spec.base.sources import FileSource
from pqassay_spec.parquet.file import read_footer, read_framing
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.from_parquet.snapshot import describe
from pqassay_spec.pm.value import SnapshotValue

OPEN_RATIO = 1 / 10
CHECK_RATIO = 1 / 4
"""Goals, in times the time of pyarrow."""

MORE_MEMORY = 64 << 20
"""Goal: bytes above the file's own."""


def described(parquet: Path) -> SnapshotValue:
    """The value of the `_pm` of a file."""
    with FileSource(parquet) as source:
        framing = read_framing(source)
        return describe(read_footer(source, framing)[0], framing).value


def make_large(path: Path, columns: int, megabytes: int) -> None:
    """Write a `_pm` of about ``megabytes`` megabytes: one block, over and over, each with byte ranges of its own."""
    small = path.with_name(f"{path.name}.parquet")
    make_file(small, columns=columns, row_groups=1)
    value = described(small)
    small.unlink()
    sample = create(value)
    header_end = len(sample) - pm.LEAST_FOOTER - pm.TRAILER_SIZE - pm.RowGroupEntry.size
    size = pm.BlockHeader.size + pm.ColumnChunk.size * columns
    start = header_end - size
    count = (megabytes << 20) // size
    body = np.tile(np.frombuffer(sample[start:header_end], np.uint8), (count, 1))
    chunks = body[:, pm.BlockHeader.size :].view(np.dtype(pm.ColumnChunk.dtype))
    chunks["byte_range_start"] += np.arange(count, dtype=np.uint64)[:, None] * np.uint64(
        value.parquet_footer_offset
    )
    entries = (start + size * np.arange(count) >> 3).astype("<u4").tobytes()
    fields = pm.FooterFields((count + 1) * value.parquet_footer_offset, 1000, count, 0, 0, 0)
    footer = fields.build() + entries
    content = b"".join((sample[pm.CRC_START : start], body.tobytes(), footer))
    crc = pm.CHECKSUM.build({"checksum": zlib.crc32(content)})
    trailer = pm.TRAILER.build({"footer_length": len(footer) + len(crc)})
    whole = pm.CRC_START + len(content) + len(crc) + len(trailer)
    path.write_bytes(whole.to_bytes(pm.CRC_START, "little") + content + crc + trailer)


def open_whole(path: Path, *, verify: bool) -> int:
    """Open the file, find every chunk of the newest snapshot, and check the checksum or not."""
    with PmReader.map(path) as reader:
        if verify:
            reader.verify()
        return sum(len(reader.chunk_array(number)) for number in range(reader.row_group_count))


def check(path: Path) -> int:
    """Judge the file by every rule of tier ``index``."""
    report = pqassay.check(path, tier="index")
    checked = report.coverages[report.files[0].coverage].checked
    if report.summary.conformant != 1 or "PM-017" not in checked or "PM-072" not in checked:
        raise SystemExit(f"the file is not what it should be: {report.files[0]}")
    return len(checked)


PEAK = """
import re, resource, sys
from pathlib import Path
import numpy, pqassay
def most():
    status = Path("/proc/self/status")  # ru_maxrss begins with that of the process that started this one
    if status.exists():
        return 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", status.read_text())[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
pqassay.check(sys.argv[1], tier="index")
before = most()
assert pqassay.check(sys.argv[2], tier="index").summary.conformant == 1
print(most() - before)
"""


def peak(path: Path, small: Path) -> int:
    """Bytes that a process needs to judge a file, above what it has after it judged a small one."""
    command = [sys.executable, "-c", PEAK, os.fspath(small), os.fspath(path)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def large(columns: int, megabytes: int) -> Path:
    """A `_pm` of about ``megabytes`` megabytes, in a folder of its own."""

    def make(folder: Path) -> None:
        folder.mkdir()
        make_large(folder / pm.FILE_NAME, columns, megabytes)

    return cached(f"pm-{columns}-columns-{megabytes}-mb", make) / pm.FILE_NAME


def main() -> int:
    """Measure and print; the exit status says whether the goals were reached."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--columns", type=int, default=500)
    parser.add_argument("--row-groups", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--largest", type=int, default=300, help="megabytes of the largest file")
    options = parser.parse_args()
    shape = f"{options.columns}-columns-{options.row_groups}-row-groups"
    parquet = cached(
        f"{shape}.parquet",
        partial(make_file, columns=options.columns, row_groups=options.row_groups),
    )

    def make(folder: Path) -> None:
        folder.mkdir()
        (folder / pm.FILE_NAME).write_bytes(create(described(parquet)))

    path = cached(f"pm-{shape}", make) / pm.FILE_NAME
    taken = seconds(
        {
            "pyarrow.parquet.read_metadata": lambda: pq.read_metadata(parquet),
            "open": lambda: open_whole(path, verify=False),
            "open and checksum": lambda: open_whole(path, verify=True),
            "pqassay.check, tier index": lambda: check(path),
        },
        options.rounds,
    )
    base = taken["pyarrow.parquet.read_metadata"]
    print(
        f"{options.columns} columns, {options.row_groups} row groups: _pm {path.stat().st_size / 1e6:.1f} MB, "
        f"Parquet footer {pq.read_metadata(parquet).serialized_size / 1e6:.1f} MB\n"
    )
    print_table(
        ("", "milliseconds", "times pyarrow"),
        [(name, f"{1000 * time:.2f}", f"{time / base:.3f}") for name, time in taken.items()],
    )
    print()
    sizes = [size for size in (1, 3, 10, 30, 100, 300) if size <= options.largest]
    files = {size: large(options.columns, size) for size in sizes}
    rows: list[tuple[str, ...]] = []
    memory: dict[int, int] = {}
    for size, file in files.items():
        grown = seconds(
            {"open": partial(open_whole, file, verify=True), "check": partial(check, file)},
            3 if size > 30 else options.rounds,
        )
        memory[size] = peak(file, files[sizes[0]]) - file.stat().st_size
        rows.append(
            (
                f"{size} MB",
                f"{1000 * grown['open']:.1f}",
                f"{1000 * grown['check']:.1f}",
                f"{1000 * grown['check'] / size:.2f}",
                f"{memory[size] / 1e6:+.0f}",
            )
        )
    print_table(
        ("size of _pm", "open, ms", "check, ms", "check, ms per MB", "memory above the file, MB"), rows
    )
    reached = {
        "open and checksum in at most 1/10 of the time of pyarrow": taken["open and checksum"] / base
        <= OPEN_RATIO,
        "every rule of tier index in at most 1/4": taken["pqassay.check, tier index"] / base <= CHECK_RATIO,
        "memory at most the file and 64 MB": max(memory.values()) <= MORE_MEMORY,
    }
    print()
    for sentence, is_reached in reached.items():
        print(goal(sentence, reached=is_reached))
    return 0 if all(reached.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
