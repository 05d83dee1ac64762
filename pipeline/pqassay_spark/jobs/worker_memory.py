"""Memory of Spark's Python workers, which they look through for garbage between two tasks.

With pyarrow and other loaded modules, this takes about as long as a small task.  Modules never become
garbage.
"""

from __future__ import annotations

import gc
import os

_kept_in = 0
"""The process that has called it; a worker that is forked is another one."""


def keep_what_is_loaded() -> None:
    """Have the collector skip what there is now, from the next task on; called in a worker at the end of a task.

    Once in each process: what comes later is looked through as ever.  Objects that nothing refers to still go away, and
    of cycles, which only the collector finds, there are none at this moment, since it looks once more before.
    """
    global _kept_in  # noqa: PLW0603 - it is a fact about the process
    if _kept_in == os.getpid():
        return
    _kept_in = os.getpid()
    gc.collect()
    gc.freeze()
