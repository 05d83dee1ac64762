"""What workers do in tests instead of judging: die, hang and eat memory, on files whose names say so.

A worker imports this module by its name; nothing of it is known to the program under test.
"""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path

from pqassay.judge.one_file import Judged, Settings, judge_all
from pqassay.lake.targets import Target


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


def slow(targets: Sequence[Target], settings: Settings) -> list[Judged]:
    """Judge the first files last."""
    time.sleep(0.3 if "000" in targets[0].name else 0)
    return judge_all(targets, settings)


def _obey(order: str) -> None:
    if order == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif order == "segfault":
        ctypes.string_at(0)
    elif order == "hang":
        time.sleep(1000)
    elif order == "deaf":  # in C, where no signal handler of Python runs
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        ctypes.CDLL(None).sleep(1000)
    elif order == "eat":
        hoard = [bytes(1 << 26) for _ in range(1 << 12)]
        del hoard
    elif order == "exit":
        os._exit(7)
    elif order == "raise":
        raise ZeroDivisionError("a mistake")
