"""The threads that wait for answers of stores: one bounded pool for all scans of a process, kept between them.

To start a thread takes longer than to send a request, and the more so the more threads are at work; a scan that asks for sixty pages at
once would otherwise wait twice as long for them.  Tasks of the pool only wait for an answer, never for each other, so that scans
that share it cannot block each other for good.
"""

from __future__ import annotations

import os
from concurrent.futures import Executor, ThreadPoolExecutor
from threading import Lock

REQUESTS = 64
"""Requests at once, of all scans of a process. Stores take many more, but a machine has to read the answers."""


class _Kept:
    """The pool of this process, once there is one."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Have no pool: a process that is forked inherits this object, but none of the threads."""
        self._lock = Lock()
        self._pool: ThreadPoolExecutor | None = None

    def pool(self) -> ThreadPoolExecutor:
        """The pool, made at the first call."""
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(REQUESTS, thread_name_prefix="pqassay-requests")
            return self._pool


_KEPT = _Kept()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_KEPT.forget)


def request_pool() -> Executor:
    """The pool; it is never shut down."""
    return _KEPT.pool()


__all__ = ["request_pool"]
