"""Whatever judging a file may import, imported at once.

Workers begin as copies of a process that has imported this module.  Left alone, each of them would import the checks and what
reads values when its first file needs them, which takes longer than judging most files.
"""

from __future__ import annotations

import importlib
import pkgutil

from pqassay.checks import registry

VALUES = "pqassay.values"
"""The room of what needs numpy and pyarrow.  Its modules are found rather than named: a browser, which has none of these, may
import the rooms that this one lives in."""

registry()
for _module in pkgutil.iter_modules(importlib.import_module(VALUES).__path__, f"{VALUES}."):
    importlib.import_module(_module.name)
