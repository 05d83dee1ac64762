"""The golden generator: makes every case of a file, the same bytes on every machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from graphlib import TopologicalSorter
from itertools import chain
from pathlib import Path

from pqassay_golden.discovery import modules
from pqassay_golden.museum.defects import exhibits
from pqassay_golden.recipes import Invalid, Made, Recipe
from pqassay_golden.written_cases import GoldenCase, Written, golden_case, owned_cases, update
from pqassay_reference.errors import Refused
from pqassay_spec.golden.case import MANIFEST

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
        manifest = replace(case.manifest, exhibit=exhibits().get(recipe.id))
        yield golden_case(manifest, {case.manifest.input.file: case.data, **case.beside}, MANIFEST)


def write_golden_files(
    folder: Path, *, dry_run: bool = False, recipes: Sequence[Recipe] | None = None
) -> Written:
    """Update a folder of golden files, see `pqassay_golden.written_cases.update`.

    Args:
        folder: ``golden_files``.
        dry_run: Only compare.
        recipes: The cases, each parent before its children; by default all cases.

    Raises:
        Refused: The folder has other content than golden files; or a case is in the place of another owner's.
        OSError: The folder cannot be written.
    """
    families = {recipe.id.partition("/")[0] for recipe in (cases() if recipes is None else recipes)}
    owned = owned_cases(folder, families, MANIFEST)
    if not owned and any(folder.iterdir()):
        raise Refused(f"{folder} is neither empty nor a folder of golden files")
    return update(folder, golden_cases(recipes), owned, dry_run=dry_run)
