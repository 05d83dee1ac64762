"""Memory of Spark's Python workers: Spark collects garbage between two tasks.

With pyarrow and other loaded modules, that takes about as long as a small task.  Modules never become
garbage.
"""

from __future__ import annotations

import gc
import os

_kept_in = 0
"""Id of the process that has called `keep_what_is_loaded`; a forked worker has another id."""


def keep_what_is_loaded() -> None:
    """Exclude all current objects from garbage collection, from the next task on; called in a worker at the end of a task.

    It acts once in each process; later objects are collected as usual.  Objects without references are still freed.
    Garbage cycles, which only the collector finds, do not exist at this moment, because it collects once before.
    """
    global _kept_in  # noqa: PLW0603 - it is a fact about the process
    if _kept_in == os.getpid():
        return
    _kept_in = os.getpid()
    gc.collect()
    gc.freeze()
