"""Work that threads do side by side: in order, and a signal is heard while one waits."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import processes
from places import ROOT
from pqassay_suite.drivers.side_by_side import in_order

SIGNALLED = """
import signal, sys, threading
from concurrent.futures import ThreadPoolExecutor
from pqassay_suite.drivers.side_by_side import in_order

heard = threading.Event()

def leave(*_):
    heard.set()
    sys.exit(7)

def ends_once_the_signal_is_heard(_):
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
    heard.wait()

signal.signal(signal.SIGTERM, leave)
with ThreadPoolExecutor(1) as pool:
    list(in_order(pool, ends_once_the_signal_is_heard, [1, 2]))
"""


def test_a_signal_that_came_to_another_thread_is_heard_by_one_who_waits() -> None:
    done = processes.run([sys.executable, "-c", SIGNALLED], cwd=ROOT / "conformance", limit=60)

    assert 7 == done.returncode


def test_results_come_in_the_order_of_the_tasks() -> None:
    second_is_done = threading.Event()

    def work(task: int) -> int:
        if task == 1:
            second_is_done.wait()
        if task == 2:
            second_is_done.set()
        return -task

    with ThreadPoolExecutor(2) as pool:
        assert [-1, -2, -3] == list(in_order(pool, work, [1, 2, 3]))
