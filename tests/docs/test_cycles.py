"""Modules form layers inside each room: none imports, by whatever detour, a module that imports it."""

from __future__ import annotations

import graphlib

import grimp

from places import ROOT

PACKAGES = sorted(path.parent.name for path in ROOT.glob("*/*/__init__.py"))


def test_no_module_imports_itself_by_a_detour() -> None:
    """Imports in functions count, and those for type checkers alone do not."""
    found = grimp.build_graph(*PACKAGES, exclude_type_checking_imports=True, cache_dir=None)

    assert {"pqassay", "pqassay_golden", "pqassay_reader", "pqassay_reference"} < found.modules
    assert {"pqassay_spark", "pqassay_spec", "pqassay_suite", "pqassay_tables"} < found.modules
    graphlib.TopologicalSorter(
        {one: found.find_modules_directly_imported_by(one) for one in found.modules}
    ).prepare()
