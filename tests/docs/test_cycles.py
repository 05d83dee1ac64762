"""Modules form layers inside each room: none imports, by whatever detour, a module that imports it."""

import ast
import graphlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from places import ROOT


def imported(node: ast.AST) -> Iterator[str]:
    """What code imports, in functions as well; not what only a type checker sees."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            yield from (f"{child.module}.{alias.name}" for alias in child.names)
        elif isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            yield from (name for branch in child.orelse for name in imported(ast.Module([branch], [])))
        elif not isinstance(child, ast.expr):  # which holds no statement
            yield from imported(child)


def imports_below(root: Path) -> dict[str, set[str]]:
    """The modules of the packages in the folders of a repository, and which of them each imports."""
    files: dict[str, Path] = {}
    for package in root.glob("*/*/__init__.py"):
        for file in package.parent.rglob("*.py"):
            parts = file.relative_to(package.parents[1]).with_suffix("").parts
            files[".".join(parts).removesuffix(".__init__")] = file
    graph: dict[str, set[str]] = {}
    for name, file in files.items():
        found = imported(ast.parse(file.read_text("utf-8")))
        # What is not a module itself is a name in one.
        graph[name] = {one if one in files else one.rpartition(".")[0] for one in found} & files.keys()
    return graph


def cycle_in(graph: Mapping[str, set[str]]) -> str:
    """A cycle, from a module back to itself; empty where there is none."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return " imports ".join(reversed(error.args[1]))
    return ""


def test_no_module_imports_itself_by_a_detour() -> None:
    graph = imports_below(ROOT)
    assert {"pqassay", "pqassay_golden", "pqassay_reader", "pqassay_reference"} < graph.keys()
    assert {"pqassay_spark", "pqassay_spec", "pqassay_suite", "pqassay_tables"} < graph.keys()
    assert "" == cycle_in(graph)


def test_an_import_in_a_function_makes_a_cycle_and_one_for_types_alone_does_not(tmp_path: Path) -> None:
    package = tmp_path / "room" / "package"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "high.py").write_text("def first():\n    from package.low import second\n")
    low = package / "low.py"
    low.write_text("if TYPE_CHECKING:\n    from package import high\nelse:\n    import package\n")
    assert {"package": set(), "package.high": {"package.low"}, "package.low": {"package"}} == imports_below(
        tmp_path
    )
    assert "" == cycle_in(imports_below(tmp_path))
    low.write_text("import package.high\n")
    assert {"package.high", "package.low"} == set(cycle_in(imports_below(tmp_path)).split(" imports "))
