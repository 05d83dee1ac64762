"""Golden tables: a valid table, or a valid table with one mutation of one claim.

The tables themselves are in the packages named like their family, as ``GOOD_TABLES`` and ``BAD_TABLES``; `write_golden_tables` writes them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from pqassay_golden.discovery import modules
from pqassay_golden.recipes import family_of
from pqassay_golden.tiny.columns import Column
from pqassay_golden.tiny.layout import Layout
from pqassay_golden.tiny.parquet import TinyParquet
from pqassay_reference.errors import Refused
from pqassay_spec.base.sources import write_whole
from pqassay_spec.golden.case import GENERATOR, GoldenFile, Provenance, to_json
from pqassay_spec.golden.table_case import TABLE_FOLDER, TABLE_MANIFEST, TableCase
from pqassay_spec.mutation.table_mutations import TableMutation
from pqassay_spec.rules.catalogue import Tier

SINCE = "0.7.0"


def parquet(*columns: Column, **more: Any) -> bytes:
    """A Parquet file whose bounds are marked as exact; ``more`` are arguments of `TinyParquet`."""
    return TinyParquet(columns, layout=Layout(exact=True), **more).build()


NAMES = ("GOOD_TABLES", "BAD_TABLES")
"""Names of the tables of recipes in the modules of this package."""


@dataclass(frozen=True)
class GoodTable:
    """A valid table.

    Attributes:
        id: Path of the case's folder below ``golden_files``.
        title: Its title in one line.
        files: Its files, by paths relative to the table.
        since: Version that added it.
    """

    id: str
    title: str
    files: Mapping[str, bytes]
    since: str = SINCE


@dataclass(frozen=True)
class BadTable:
    """A table with one error.

    Attributes:
        id: Path of the case's folder below ``golden_files``.
        title: Its title in one line.
        effect: What a user notices when an engine relies on it.
        parent: Id of the table that it is made from.
        mutation: The one difference.
        rules: Exactly the rules that a check reports.
        tier: The tier of that check.
        since: Version that added it.
    """

    id: str
    title: str
    effect: str
    parent: str
    mutation: TableMutation
    rules: tuple[str, ...]
    tier: Tier = "values"
    since: str = SINCE


@dataclass(frozen=True)
class MadeTable:
    """A golden table with its manifest and its files."""

    manifest: TableCase
    files: Mapping[str, bytes] = field(default_factory=dict[str, bytes])

    def contents(self) -> dict[str, bytes]:
        """The paths and bytes of everything in its folder, the manifest last."""
        text = f"{json.dumps(to_json(self.manifest), indent=2)}\n"
        below = {f"{TABLE_FOLDER}/{name}": data for name, data in self.files.items()}
        return {**below, TABLE_MANIFEST: text.encode()}


def recipes() -> list[GoodTable | BadTable]:
    """The recipe of every golden table, the valid ones first."""
    found: dict[str, list[Any]] = {name: [] for name in NAMES}
    for module in modules():
        for name in NAMES:
            found[name].extend(getattr(module, name, ()) if name in vars(module) else ())
    return list(chain.from_iterable(found.values()))


def golden_tables(given: Sequence[GoodTable | BadTable] | None = None) -> Iterator[MadeTable]:
    """Make every golden table. Raises `KeyError` for a mutation that changes nothing: an error in the recipes."""
    made: dict[str, MadeTable] = {}
    for recipe in recipes() if given is None else given:
        if recipe.id in made:
            raise Refused(f"there are two tables called {recipe.id}")
        if isinstance(recipe, GoodTable):
            one = _made(recipe, recipe.files)
        else:
            one = _made(recipe, recipe.mutation.applied(made[recipe.parent].files))
        made[recipe.id] = one
        yield one


def _made(recipe: GoodTable | BadTable, files: Mapping[str, bytes]) -> MadeTable:
    bad = recipe if isinstance(recipe, BadTable) else None
    manifest = TableCase(
        id=recipe.id,
        family=family_of(recipe.id),
        kind="valid" if bad is None else "invalid",
        since=recipe.since,
        title=recipe.title,
        effect="none" if bad is None else bad.effect,
        parent=None if bad is None else bad.parent,
        mutation=None if bad is None else bad.mutation,
        rules=[] if bad is None else list(bad.rules),
        tier="values" if bad is None else bad.tier,
        files=[
            GoldenFile(file=name, sha256=hashlib.sha256(data).hexdigest())
            for name, data in sorted(files.items())
        ],
        provenance=Provenance(by=GENERATOR, oracles=[]),
    )
    return MadeTable(manifest, dict(sorted(files.items())))


def write_golden_tables(folder: Path, *, dry_run: bool = False) -> tuple[list[str], list[str], list[str]]:
    """Update the golden tables in a folder.

    Args:
        folder: ``golden_files``; tables of another provenance in it stay as they are.
        dry_run: Only compare.

    Returns:
        The ids of changed, unchanged and removed tables.
    """
    owned = _owned(folder)
    changed: list[str] = []
    unchanged: list[str] = []
    for table in golden_tables():
        place, contents = folder / table.manifest.id, table.contents()
        there = owned.pop(table.manifest.id, {})
        differing = [name for name, data in contents.items() if there.get(name) != data]
        stale = there.keys() - contents.keys()
        (changed if differing or stale else unchanged).append(table.manifest.id)
        if dry_run:
            continue
        for name in differing:
            path = place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, contents[name])
        for name in stale:
            (place / name).unlink()
    if not dry_run:
        for name, contents in owned.items():
            for file in contents:
                (folder / name / file).unlink()
    return changed, unchanged, sorted(owned)


def _owned(folder: Path) -> dict[str, dict[str, bytes]]:
    """The contents of tables that the generator wrote, by id."""
    owned: dict[str, dict[str, bytes]] = {}
    for path in sorted(folder.glob(f"*/*/{TABLE_MANIFEST}")):
        if json.loads(path.read_text("utf-8"))["provenance"]["by"] == GENERATOR:
            place = path.parent
            files = [path, *(one for one in (place / TABLE_FOLDER).rglob("*") if one.is_file())]
            contents = {one.relative_to(place).as_posix(): one.read_bytes() for one in files}
            owned[place.relative_to(folder).as_posix()] = contents
    return owned
