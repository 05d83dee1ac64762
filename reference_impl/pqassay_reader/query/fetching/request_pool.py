"""The threads that wait for answers of stores: one bounded pool for all scans of a process, kept between them.

Starting a thread takes longer than sending a request, especially with many active threads. Otherwise, a scan
of sixty pages at once would wait twice as long.  Tasks of the pool only wait for an answer, never for each
other, so that scans that share it cannot block each other for good.
"""

from __future__ import annotations

import os
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import cache

REQUESTS = 64
"""Requests at once, of all scans of a process. Stores take many more, but a machine has to read the answers."""


@cache
def request_pool() -> Executor:
    """The pool, made at the first call; it is never shut down."""
    return ThreadPoolExecutor(REQUESTS, thread_name_prefix="pqassay-requests")


if hasattr(os, "register_at_fork"):
    # A process that is forked inherits the pool, but none of its threads.
    os.register_at_fork(after_in_child=request_pool.cache_clear)


__all__ = ["request_pool"]
