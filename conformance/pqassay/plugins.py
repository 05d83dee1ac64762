"""Plug-ins of the judge: packages that add families of checks, formats of tables and kinds of files to dump.

A plug-in has packages with the same names as in the judge, and its modules are found by these names: ``checks/<family>``, ``dump/<kind>``,
``values`` and, for formats of tables, ``formats`` (see `pqassay.stores.formats`). The judge never imports a plug-in by its name. If a
plug-in is not installed, the rules of its families are not checked, and its tables are folders of files.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator
from functools import cache
from types import ModuleType

JUDGE = "pqassay"

PLUGINS = ("pqassay_tables",)
"""Packages that extend the judge if they are installed."""


@cache
def packages() -> tuple[str, ...]:
    """The judge and its installed plug-ins."""
    return (JUDGE, *(name for name in PLUGINS if importlib.util.find_spec(name) is not None))


def rooms(name: str) -> Iterator[ModuleType]:
    """The packages or modules with a name, such as ``checks.bloom``, in the order of `packages`."""
    for package in packages():
        spec = importlib.util.find_spec(f"{package}.{name}")
        # A folder without code, such as the rest of a moved package, has no origin.
        if spec is not None and spec.origin is not None:
            yield importlib.import_module(spec.name)
