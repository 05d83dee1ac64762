"""Killing a program that replaces a file, at every moment: what is then found must be the old file or the new one."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import processes
from places import ROOT

KILLED_EVERYWHERE = """
import hashlib, itertools, json, os, sys
import pyarrow.parquet, pyarrow.compute
from pqassay_spec.parquet import thrift as parquet_thrift

for path, prepare, work in json.loads(sys.argv[1]):
    case = os.fork()
    if case == 0:
        break
    if os.waitpid(case, 0)[1]:
        sys.exit(1)
else:
    sys.exit()
exec(prepare)
work = compile(work, "work", "exec")
old = open(path, "rb").read()


def left_behind():
    # The files as they are: what a killed program has not yet written is lost with it.
    with os.scandir(os.path.dirname(path)) as entries:
        return {entry.name: open(entry.path, "rb").read() for entry in entries}


def fork_and_run(at_call):
    # The child calls `at_call` at each of its calls. Returns its exit status, and what it writes at its end.
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        numbers = itertools.count(1)
        sys.setprofile(lambda frame, event, argument: event == "c_call" and at_call(next(numbers), argument))
        exec(work)
        sys.setprofile(None)
        os.write(writer, json.dumps(seen).encode())
        os._exit(0)
    os.close(writer)
    status = os.waitpid(child, 0)[1]
    with open(reader, "rb") as stream:
        return status, stream.read()


seen = {"began": 0, "total": 0, "changes": []}
before = None


def look(call, function):
    # Notes at which calls other files are there, and what the file then holds.
    global before
    seen["total"] = call
    if function.__name__ == "flock":
        seen["began"] = call
    if (now := left_behind()) != before:
        before = now
        seen["changes"].append([call, hashlib.sha256(now[os.path.basename(path)]).hexdigest()])


status, told = fork_and_run(look)
assert status == 0
noted = json.loads(told)
began, total = noted["began"], noted["total"]
assert 0 < began < total
new = open(path, "rb").read()
names = {hashlib.sha256(old).hexdigest(): "old", hashlib.sha256(new).hexdigest(): "new"}

states = {"old": 0, "new": 0}
ends = [call - 1 for call, _ in noted["changes"][1:]] + [total]
for (first, content), last in zip(noted["changes"], ends):
    assert content in names, f"neither old nor new from call {first} to {last}"
    states[names[content]] += max(last - max(first, began) + 1, 0)
    # Whichever of these calls is the last one, the same files are there: it is killed at the first and the last of them.
    for killed_at in sorted({first, last}):
        open(path, "wb").write(old)
        status, _ = fork_and_run(lambda call, _: call == killed_at and os._exit(9))
        assert status != 0
        found = open(path, "rb").read()
        assert found in (old, new), f"neither old nor new after call {killed_at}: {len(found)} bytes"
print(states["old"], states["new"], len(ends))
"""


def killed_everywhere(*cases: tuple[Path, str, str]) -> list[tuple[int, int]]:
    """Run Python code on files, looking at each of its calls what a kill would leave, and kill it wherever that changes.

    Returns for each case how many of the calls since it began to write would leave the old file, and how many the new one;
    anything else is a failure.

    Args:
        cases: The file, which the code knows as ``path``; code that runs once, for imports; and code that replaces the file.
    """
    roots = os.pathsep.join(str(ROOT / name) for name in ("spec", "reference_impl"))
    told = json.dumps([[str(path), *code] for path, *code in cases])
    done = processes.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", KILLED_EVERYWHERE, told],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": roots},
    )
    assert "" == done.stderr
    counts = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
    assert len(cases) == len(counts)
    assert min(states for _, _, states in counts) > 2
    return [(old, new) for old, new, _ in counts]
