"""Whatever judging a file may import, imported at once.

Workers begin as copies of a process that has imported this module.  Left alone, each of them would import the checks and what
reads values when its first file needs them, which takes longer than judging most files.

Arrow reserves 1 GiB of addresses as soon as it needs a little memory, and a copy would begin with so much less of the memory that it
is given.  So what is imported here may use no more than the smallest worker, and Arrow makes do with that.
"""

from __future__ import annotations

import importlib
import pkgutil
import resource
import sys

from pqassay.checks import registry
from pqassay.judge.workers import MEMORY_GIVEN_LEAST

VALUES = "pqassay.values"
"""The room of what needs numpy and pyarrow.  Its modules are found rather than named: a browser, which has none of these, may
import the rooms that this one lives in."""


def _load() -> None:
    registry()
    for module in pkgutil.iter_modules(importlib.import_module(VALUES).__path__, f"{VALUES}."):
        importlib.import_module(module.name)


_soft, _hard = resource.getrlimit(resource.RLIMIT_DATA)
_bound = min([MEMORY_GIVEN_LEAST, *(limit for limit in (_soft, _hard) if limit != resource.RLIM_INFINITY)])
if "pyarrow" not in sys.modules:  # a process that has it already may have more memory than that
    resource.setrlimit(resource.RLIMIT_DATA, (_bound, _hard))
try:
    _load()
finally:
    resource.setrlimit(resource.RLIMIT_DATA, (_soft, _hard))
