"""The threads that wait for answers of stores: one bounded, persistent pool for all scans of a process.

Starting a thread takes longer than sending a request, especially with many active threads; a scan
of sixty pages at once would wait twice as long.  Tasks of the pool only wait for an answer, never for each
other, so scans that share it cannot cause a deadlock.
"""

from __future__ import annotations

import os
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import cache

REQUESTS = 64
"""Most requests at the same time, for all scans of a process. Stores accept many more, but a machine has to read the answers."""


@cache
def request_pool() -> Executor:
    """The pool, made at the first call; it is never shut down."""
    return ThreadPoolExecutor(REQUESTS, thread_name_prefix="pqassay-requests")


if hasattr(os, "register_at_fork"):
    # A forked process inherits the pool, but none of its threads.
    os.register_at_fork(after_in_child=request_pool.cache_clear)


__all__ = ["request_pool"]
