"""The modules that may have recipes of golden files: all in this package and below it."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType


def modules() -> Iterator[ModuleType]:
    """Import every module of this package and of the packages in it, in the order of their names."""
    for entry in pkgutil.walk_packages([str(Path(__file__).parent)], f"{__package__}."):
        yield importlib.import_module(entry.name)


__all__ = ["modules"]
