"""Arrow that does not load pandas, in programs that do not use it.

At the first value that it converts, Arrow imports pandas if it is installed, to recognize a series. That takes longer, and more memory, than
judging most files. Arrow looks only once; what asks for pandas by itself, as ``to_pandas`` does, still gets it.

Source: pyarrow, ``pandas-shim.pxi``.
"""

from __future__ import annotations

import importlib.util
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


def load_no_pandas() -> None:
    """Let pyarrow look for pandas for nothing once, as soon as it is imported. For programs that own their process."""
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
    """A finder by which pandas is not installed."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:  # noqa: ARG002 - as Python calls it
        if name == "pandas":
            raise ModuleNotFoundError(name)


class _Arrow:
    """A finder that finds pyarrow once."""

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
