"""What workers do in tests instead of judging: die, hang and eat memory, on files whose names say so.

A worker imports this module by its name; nothing of it is known to the program under test.
"""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pqassay.judge.one_file import Judged, Settings, judge_all
from pqassay.stores.table_files import counted_metadata
from pqassay.stores.targets import Target


def wicked(targets: Sequence[Target], settings: Settings) -> list[Judged]:
    """Judge, but for what a name asks for."""
    for target in targets:
        _obey(Path(target.name).stem)
    return judge_all(targets, settings)


def always_dies(targets: Sequence[Target], settings: Settings) -> list[Judged]:
    """Die on every file."""
    os.kill(os.getpid(), signal.SIGKILL)
    return judge_all(targets, settings)


def die_at_start(*_: object) -> None:
    """Begin as a worker, and end at once."""
    os._exit(1)


def first_last(targets: Sequence[Target], settings: Settings) -> list[Judged]:
    """Judge the file 000 once 011 is judged: each opens one end of a pipe, and waits for the other."""
    path = Path(targets[0].name)
    if path.stem == "000":
        (path.parent / TURN).read_bytes()
    judged = judge_all(targets, settings)
    if path.stem == "011":
        (path.parent / TURN).write_bytes(b"")
    return judged


TURN = "turn"
"""The name of that pipe."""


def counting_reads(targets: Sequence[Target], settings: Settings) -> list[Judged]:
    """Judge, and note how many files of tables' metadata were read for it."""
    with counted_metadata() as reads:
        judged = judge_all(targets, settings)
    return [(replace(report, notes=[*report.notes, str(reads.files)]), why) for report, why in judged]


def hangs(target: Target) -> bool:
    """Whether a worker hangs on a file."""
    return Path(target.name).stem in ("hang", "deaf")


def _obey(order: str) -> None:
    if order == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif order == "segfault":
        faulthandler.disable()  # what it says is not said by the program under test
        ctypes.string_at(0)
    elif order == "hang":
        threading.Event().wait()
    elif order == "deaf":  # in C, where no signal handler of Python runs
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        ctypes.CDLL(None).pause()
    elif order == "eat":
        hoard = [bytes(1 << 26) for _ in range(1 << 12)]
        del hoard
    elif order == "exit":
        os._exit(7)
    elif order == "raise":
        raise ZeroDivisionError("a mistake")
