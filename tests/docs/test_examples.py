"""Examples in docstrings print what they show."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

from places import ROOT

PACKAGES = sorted(
    path.parent
    for folder in ("conformance", "pipeline", "reference_impl", "spec")
    for path in (ROOT / folder).glob("*/__init__.py")
)


def module_name(path: Path, folder: Path) -> str:
    return ".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_examples_of_a_package_hold(package: Path) -> None:
    names = [
        module_name(path, package.parent)
        for path in sorted(package.rglob("*.py"))
        if "\n>>> " in path.read_text("utf-8").replace("    ", "")
    ]
    failed = {name: doctest.testmod(importlib.import_module(name)).failed for name in names}

    assert {} == {name: count for name, count in failed.items() if count}


@pytest.mark.parametrize("folder", ["tools", "benchmarks"])
def test_examples_of_tools_hold(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / folder))
    names = [
        module_name(path, ROOT / folder)
        for path in sorted((ROOT / folder).rglob("*.py"))
        if ">>> " in path.read_text("utf-8")
    ]
    failed = {name: doctest.testmod(importlib.import_module(name)).failed for name in names}

    assert {} == {name: count for name, count in failed.items() if count}
