"""A list of files that limits a check: one path per line, or the quarantine list of a repair plan.

A repair replaces files of a table. So two kinds of files are judged for the tables on the list: listed files that are still live, and files
added since the list was written. Together, these are the files of the repair.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pqassay.errors import UsageError
from pqassay.judge.table_reader import reader_of
from pqassay.stores.formats import Moment
from pqassay.stores.targets import is_uri
from pqassay_spec.rules.catalogue import TIERS, Tier

NOT_LISTED = "not on the list"
"""The reason why unlisted files are not judged."""

REPLACED = "on the list, but no longer in the table"
"""The reason why some listed files are not judged."""

PATH, TABLE, MOMENT, TIER = "path", "table", "moment", "tier"
"""Columns of a list in CSV, and members in JSON."""


@dataclass(frozen=True)
class OnlyFiles:
    """The files to which a check is limited.

    Attributes:
        paths: The paths of the files, including other names of the same files.
        tables: The tables with these files, and the state of each when the list was written; ``None`` if unknown.
        tier: The tier of the check that made the list; ``None`` if unknown.
    """

    paths: frozenset[str]
    tables: Mapping[str, int | None] = field(default_factory=dict[str, "int | None"])
    tier: Tier | None = None

    def __contains__(self, name: str) -> bool:
        return normal(name) in self.paths

    def moment_of(self, table: str, kind: str) -> Moment | None:
        """The state of a table when the list was written; ``None`` if unknown."""
        number = self.tables.get(normal(table))
        if number is None:
            return None
        return reader_of(kind).moment(number)

    @property
    def targets(self) -> list[str]:
        """The targets if none are named: the tables, and files outside tables."""
        return [*self.tables, *sorted(path for path in self.paths if not self._is_in_a_table(path))]

    def _is_in_a_table(self, path: str) -> bool:
        return any(path.startswith(f"{table.rstrip('/')}/") for table in self.tables)


def normal(name: str) -> str:
    """A path in the normal form that is used for comparison."""
    return name if is_uri(name) else os.path.normpath(name)


def read_list(name: str) -> OnlyFiles:
    """Read a list: JSON or CSV of `pqassay repair`, or a path on each line.

    Raises:
        UsageError: The list cannot be read, or has no path.
    """
    try:
        with open(name, "rb") as file:  # noqa: PTH123 - paths stay the text that the user wrote
            content = file.read()
    except OSError as error:
        raise UsageError(f"--only-files {name}: {error.strerror or error}") from None
    text = os.fsdecode(content)
    try:
        if text.lstrip().startswith("{"):
            only = _of_json(json.loads(text))
        elif text.startswith(f"{PATH},"):
            only = _of_csv(text)
        else:
            only = OnlyFiles(frozenset(normal(line) for line in text.splitlines() if line.strip()))
    except (KeyError, TypeError, ValueError, csv.Error) as error:
        reason = f"{type(error).__name__}: {error}"
        raise UsageError(
            f"--only-files {name}: not a list of files: {reason}; `pqassay repair` writes one"
        ) from None
    if not only.paths and not only.tables:
        raise UsageError(f"--only-files {name}: no path is listed")
    return only


def _of_json(given: Any) -> OnlyFiles:
    tables = {normal(str(one[PATH])): _number(one.get(MOMENT)) for one in given.get("tables", [])}
    paths = frozenset(normal(str(one[PATH])) for one in given["files"])
    return OnlyFiles(paths, tables, _tier(given.get(TIER)))


def _of_csv(text: str) -> OnlyFiles:
    paths: set[str] = set()
    tables: dict[str, int | None] = {}
    tier: Tier | None = None
    for row in csv.DictReader(io.StringIO(text)):
        paths.add(normal(row[PATH]))
        tier = _tier(row.get(TIER)) or tier
        if table := row.get(TABLE):
            tables[normal(table)] = _number(row.get(MOMENT))
    return OnlyFiles(frozenset(paths), tables, tier)


def _number(given: Any) -> int | None:
    return None if given in (None, "") else int(given)


def _tier(given: Any) -> Tier | None:
    return next((tier for tier in TIERS if tier == given), None)
