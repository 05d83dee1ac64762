"""Golden tables: a valid table, or a valid table with one mutation of one claim.

The tables themselves are in the packages named like their family, as ``GOOD_TABLES`` and ``BAD_TABLES``; `write_golden_tables` writes them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from pqassay_golden.discovery import modules
from pqassay_golden.recipes import family_of
from pqassay_golden.tiny.columns import Column
from pqassay_golden.tiny.layout import Layout
from pqassay_golden.tiny.parquet import TinyParquet
from pqassay_golden.written_cases import GoldenCase, Written, golden_case, owned_cases, update
from pqassay_reference.errors import Refused
from pqassay_spec.golden.case import GENERATOR, GoldenFile, Provenance
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


def recipes() -> list[GoodTable | BadTable]:
    """The recipe of every golden table, the valid ones first."""
    found: dict[str, list[Any]] = {name: [] for name in NAMES}
    for module in modules():
        for name in NAMES:
            found[name].extend(getattr(module, name, ()) if name in vars(module) else ())
    return list(chain.from_iterable(found.values()))


def golden_tables() -> Iterator[GoldenCase]:
    """Make every golden table. Raises `KeyError` for a mutation that changes nothing: an error in the recipes."""
    made: dict[str, Mapping[str, bytes]] = {}
    for recipe in recipes():
        if recipe.id in made:
            raise Refused(f"there are two tables called {recipe.id}")
        if isinstance(recipe, GoodTable):
            files = recipe.files
        else:
            files = recipe.mutation.applied(made[recipe.parent])
        made[recipe.id] = files = dict(sorted(files.items()))
        below = {f"{TABLE_FOLDER}/{name}": data for name, data in files.items()}
        yield golden_case(_manifest(recipe, files), below, TABLE_MANIFEST)


def _manifest(recipe: GoodTable | BadTable, files: Mapping[str, bytes]) -> TableCase:
    bad = recipe if isinstance(recipe, BadTable) else None
    return TableCase(
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
            GoldenFile(file=name, sha256=hashlib.sha256(data).hexdigest()) for name, data in files.items()
        ],
        provenance=Provenance(by=GENERATOR, oracles=[]),
    )


def write_golden_tables(folder: Path, *, dry_run: bool = False) -> Written:
    """Update the golden tables in a folder, see `pqassay_golden.written_cases.update`."""
    families = {recipe.id.partition("/")[0] for recipe in recipes()}
    return update(folder, golden_tables(), owned_cases(folder, families, TABLE_MANIFEST), dry_run=dry_run)
