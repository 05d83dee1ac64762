"""Compiles what tests import before several processes do so at once: each would compile all of it, where the folder is new."""

from __future__ import annotations

import compileall
import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from _pytest.assertion import rewrite  # no public module says where pytest keeps what it compiles, and how
from _pytest.assertion.rewrite import assertstate_key
from hypothesis.internal.constants_ast import constants_from_module  # no public module says so

from places import ROOT

FOLDERS = ("spec", "reference_impl", "conformance", "pipeline", "tests", "tools")
"""Where the packages of this repository are, as for pytest in pyproject.toml."""

TESTS = re.compile(r"[/\\]test_\w+\.py$")
"""Modules that pytest alone imports."""

HEADER = 16
"""Bytes before the code in a compiled file; the last eight are of the source's hash."""


def compile_all(config: pytest.Config) -> None:
    """Compile every module that is not yet compiled, or was changed: as Python does, and as pytest does with assertions."""
    if sys.dont_write_bytecode:
        return
    for folder in FOLDERS:
        compileall.compile_dir(ROOT / folder, quiet=2, rx=TESTS)  # what is wrong with one says its import
        for path in (ROOT / folder).rglob("*.py"):
            keep_constants(path)
    for path in rewritten():
        rewrite_one(path, config)


def rewritten() -> Iterator[Path]:
    """The modules in which pytest looks into assertions: all tests, and the package with a plugin for pytest."""
    yield from (ROOT / "tests").rglob("test_*.py")
    yield from (ROOT / "conformance" / "pqassay").rglob("*.py")


def rewrite_one(path: Path, config: pytest.Config) -> None:
    """Write what pytest would write when it imports a module."""
    folder = rewrite.get_cache_dir(path)
    target = folder / f"{path.stem}{rewrite.PYC_TAIL}"
    if target.is_file() and hash_in(target) == importlib.util.source_hash(path.read_bytes())[:8]:
        return
    try:
        source_hash, code = rewrite._rewrite_test(path, config)
    except SyntaxError:
        return  # its import says so
    if rewrite.try_makedirs(folder):
        rewrite._write_pyc(config.stash[assertstate_key], code, source_hash, target)


def keep_constants(path: Path) -> None:
    """Have Hypothesis store the constants of a module, from which it draws: each process would look for them in all modules."""
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    constants_from_module(module)


def hash_in(compiled: Path) -> bytes:
    """The hash of the source that a compiled file was made of."""
    with compiled.open("rb") as file:
        return file.read(HEADER)[8:]
