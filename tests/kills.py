"""Killing a program that replaces a file, at every moment: what is then found must be the old file or the new one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from places import ROOT

KILLED_EVERYWHERE = """
import os, sys
import pyarrow.parquet, pyarrow.compute
from pqassay_spec.parquet import thrift as parquet_thrift

path, prepare, work = sys.argv[1:]
exec(prepare)
work = compile(work, "work", "exec")
old = open(path, "rb").read()


def run_and_stop_at(call):
    # Forks; the child leaves without any clean-up when it makes its call number `call`, as if killed there.
    # Returns its exit status, the number of calls it made, and at which of them the writing began.
    count = began = 0
    reader, writer = os.pipe()

    def count_calls(frame, event, argument):
        nonlocal count, began
        if event == "c_call":
            count += 1
            if argument.__name__ == "flock":
                began = count
            if count == call:
                os._exit(9)

    child = os.fork()
    if child == 0:
        sys.setprofile(count_calls)
        exec(work)
        sys.setprofile(None)
        os.write(writer, f"{count} {began}".encode())
        os._exit(0)
    os.close(writer)
    status = os.waitpid(child, 0)[1]
    told = os.read(reader, 100).decode().split()
    os.close(reader)
    return status, *map(int, told or (0, 0))


status, total, began = run_and_stop_at(0)
assert status == 0 and 0 < began < total
new = open(path, "rb").read()
states = {"old": 0, "new": 0}
for call in [*range(1, began, 100), *range(began, total + 1)]:
    open(path, "wb").write(old)
    status, *_ = run_and_stop_at(call)
    assert status != 0
    found = open(path, "rb").read()
    assert found in (old, new), f"neither old nor new after call {call}: {len(found)} bytes"
    states["old" if found == old else "new"] += 1
print(states["old"], states["new"])
"""


def killed_everywhere(path: Path, prepare: str, work: str) -> tuple[int, int]:
    """Run Python code on a file again and again, killing it at each of its calls once it has begun to write.

    Returns how often the old file was found afterwards, and how often the new one; anything else is a failure.

    Args:
        path: The file, which the code knows as ``path``.
        prepare: Code that runs once, for imports.
        work: Code that replaces the file.
    """
    roots = os.pathsep.join(str(ROOT / name) for name in ("spec", "reference_impl"))
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "ignore::DeprecationWarning",
            "-c",
            KILLED_EVERYWHERE,
            str(path),
            prepare,
            work,
        ],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": roots},
        timeout=240,
    )
    assert "" == done.stderr
    old, new = map(int, done.stdout.split())
    return old, new
