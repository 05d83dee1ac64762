"""The golden generator: writes every case that it owns, the same bytes on every machine.

It owns the cases with ``provenance.by = generator`` in their manifest; it does not change hand-typed and foreign ones.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from graphlib import TopologicalSorter
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from pqassay_golden.discovery import modules
from pqassay_golden.museum.defects import exhibits
from pqassay_golden.recipes import Invalid, Made, Recipe
from pqassay_reference.errors import Refused
from pqassay_spec.base.sources import write_whole
from pqassay_spec.golden.case import GENERATOR, MANIFEST, to_json

TABLES = ("GOOD", "BAD")
"""Names of the tables of recipes in the modules of this package."""


@cache
def cases() -> tuple[Recipe, ...]:
    """The recipe of every case, each parent before its children: all tables of all modules below this package."""
    recipes: dict[str, Recipe] = {}
    for module in modules():
        for recipe in chain.from_iterable(getattr(module, name, ()) for name in TABLES):
            if recipe.id in recipes:
                raise Refused(f"there are two cases called {recipe.id}")
            recipes[recipe.id] = recipe
    parents = {
        name: [recipe.parent] if isinstance(recipe, Invalid) else [] for name, recipe in recipes.items()
    }
    return tuple(recipes[name] for name in TopologicalSorter(parents).static_order())


class GoldenCase(NamedTuple):
    """A case with its id, its manifest, and the names and bytes of its files."""

    id: str
    manifest: dict[str, Any]
    files: Mapping[str, bytes]

    def contents(self) -> dict[str, bytes]:
        """The names and bytes of everything in its folder, the manifest last."""
        text = f"{json.dumps(self.manifest, indent=2)}\n"
        return {**self.files, MANIFEST: text.encode()}


def golden_cases(recipes: Sequence[Recipe] | None = None) -> Iterator[GoldenCase]:
    """Make every case.

    Raises:
        Inapplicable: A mutation is impossible for its parent: an error in the tables.
    """
    made: dict[str, Made] = {}
    for recipe in cases() if recipes is None else recipes:
        if recipe.id in made:
            raise Refused(f"there are two cases called {recipe.id}")
        made[recipe.id] = case = recipe.make(made)
        manifest = to_json(replace(case.manifest, exhibit=exhibits().get(recipe.id)))
        yield GoldenCase(recipe.id, manifest, {case.manifest.input.file: case.data, **case.beside})


class Written(NamedTuple):
    """The outcome of a run of the generator, as ids of cases."""

    changed: list[str]
    unchanged: list[str]
    removed: list[str]


def write_golden_files(
    folder: Path, *, dry_run: bool = False, recipes: Sequence[Recipe] | None = None
) -> Written:
    """Update a folder of golden files.

    Args:
        folder: ``golden_files``; cases of others in it stay as they are.
        dry_run: Only compare.
        recipes: The cases, each parent before its children; by default all cases.

    Raises:
        Refused: The folder has other content than golden files; or a case is in the place of another owner's.
        OSError: The folder cannot be written.
    """
    owned = _owned_cases(folder, recipes)
    if not owned and any(folder.iterdir()):
        raise Refused(f"{folder} is neither empty nor a folder of golden files")
    written = Written([], [], [])
    for case in golden_cases(recipes):
        place, contents = folder / case.id, case.contents()
        if (place / MANIFEST).exists() and case.id not in owned:
            raise Refused(f"{place} holds a case of another provenance")
        stale = set(owned.get(case.id, ())) - set(contents)
        changed = [
            name
            for name, content in contents.items()
            if not (place / name).is_file() or (place / name).read_bytes() != content
        ]
        (written.changed if changed or stale else written.unchanged).append(case.id)
        if not dry_run:
            place.mkdir(parents=True, exist_ok=True)
            for name in changed:
                write_whole(place / name, contents[name])
            for name in stale:
                (place / name).unlink(missing_ok=True)
    for name in sorted(set(owned) - {*written.unchanged, *written.changed}):
        written.removed.append(name)
        if not dry_run:
            _remove(folder / name, owned[name])
    return written


def _owned_cases(folder: Path, recipes: Sequence[Recipe] | None) -> dict[str, list[str]]:
    """The files of the cases in a folder that the generator wrote, by id; only cases in the right place count."""
    families = {recipe.id.partition("/")[0] for recipe in (cases() if recipes is None else recipes)}
    found = [manifest for family in families for manifest in (folder / family).glob(f"*/{MANIFEST}")]
    owned = {path.parent.relative_to(folder).as_posix(): _owned_files(path, folder) for path in found}
    return {name: files for name, files in owned.items() if files}


def _remove(place: Path, files: Sequence[str]) -> None:
    """Remove a case, and its folder if that is then empty."""
    for name in files:
        (place / name).unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        place.rmdir()


def _owned_files(manifest: Path, folder: Path) -> list[str]:
    """The names of a case's files, its manifest first; empty if the generator did not write it."""
    try:
        record: Any = json.loads(manifest.read_text(encoding="utf-8"))
        if record["provenance"]["by"] != GENERATOR or folder / record["id"] != manifest.parent:
            return []
        described = [record["input"], *record["input"].get("beside", [])]
        names = [str(file["file"]) for file in described]
    except (ValueError, KeyError, TypeError, AttributeError):
        return []
    return [MANIFEST, *(name for name in names if Path(name).name == name)]
