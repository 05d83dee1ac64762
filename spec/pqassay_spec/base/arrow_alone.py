"""Keep Arrow from importing pandas in programs that do not use pandas.

When Arrow converts its first value, it imports pandas if that is installed, to recognize a series. The import takes more time and memory
than judging most files. Arrow looks for pandas only once. Functions that import pandas themselves, such as ``to_pandas``, still work.

Source: pyarrow, ``pandas-shim.pxi``.
"""

from __future__ import annotations

import importlib.util
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


def load_no_pandas() -> None:
    """Hide pandas from pyarrow's only search for it, which happens after its import. For programs that own their process."""
    arrow = sys.modules.get("pyarrow")
    if arrow is None:
        sys.meta_path.insert(0, _Arrow())
    else:
        _look_in_vain(arrow)


def _look_in_vain(arrow: ModuleType) -> None:
    if "pandas" in sys.modules:
        return
    missing = _Missing()
    sys.meta_path.insert(0, missing)
    try:
        arrow.array([0])
    finally:
        sys.meta_path.remove(missing)


class _Missing:
    """An import finder that reports pandas as not installed."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:  # noqa: ARG002 - as Python calls it
        if name == "pandas":
            raise ModuleNotFoundError(name)


class _Arrow:
    """An import finder that waits for the import of pyarrow, once."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:  # noqa: ARG002 - as Python calls it
        if name != "pyarrow":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_look(module: ModuleType) -> None:
                load(module)
                _look_in_vain(module)

            spec.loader.exec_module = load_and_look  # type: ignore[method-assign]
        return spec
