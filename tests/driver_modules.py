"""The modules of the drivers in Python, for what tests have in common with them: which settings make an engine skip."""

from __future__ import annotations

import functools
import importlib.util
from types import ModuleType

from places import ROOT


@functools.cache
def driver_module(name: str) -> ModuleType:
    """The driver in a folder of ``conformance/implementations``. All are called ``driver``, so each gets a name of its own."""
    script = ROOT / "conformance" / "implementations" / name / "driver.py"
    spec = importlib.util.spec_from_file_location(f"driver_of_{name}", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
