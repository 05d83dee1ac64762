"""The drivers in Python: the tests ask engines by them, as `pqassay suite run` does."""

from __future__ import annotations

import functools
import importlib.util
from types import ModuleType
from typing import Any

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


def new_driver(name: str) -> Any:
    """The driver of a folder: an instance of the one class of its module that is one."""
    module = driver_module(name)
    (made,) = (
        kind
        for kind in vars(module).values()
        if isinstance(kind, type) and kind is not module.Driver and issubclass(kind, module.Driver)
    )
    return made()


def driver_query(predicate: list[Any], columns: list[str], *, index: bool) -> Any:
    """A query as these drivers take it."""
    return driver_module("pyarrow").Query(predicate, columns, index)
