"""The old place of `pqassay_reader.lake.indexed_dataset`. It is removed in 1.0."""

import importlib
import warnings
from typing import Any


def __getattr__(name: str) -> Any:
    """Import a name from its new place, with a warning."""
    moved = "pqassay_reader.lake.indexed_dataset"
    found = getattr(importlib.import_module(moved), name)
    warnings.warn(
        f"{__name__}.{name} is {moved}.{name} now; this name goes with 1.0", DeprecationWarning, stacklevel=2
    )
    return found
