"""The manifest of a golden table: the members of a ``table.json``, in their order.

A golden table is a folder with this manifest and the folder ``table``, which is the table itself.  Implementations are not
asked about it; to test a table format, use the path of that folder.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pqassay_spec.base.strict_json import Closed
from pqassay_spec.golden.case import GoldenFile, Provenance
from pqassay_spec.mutation.table_mutations import TableMutation
from pqassay_spec.rules.catalogue import Tier

TABLE_MANIFEST = "table.json"
"""The name of the manifest in the folder of a golden table."""

TABLE_FOLDER = "table"
"""The name of the folder that is the table."""


@dataclass(frozen=True, kw_only=True)
class TableCase(Closed):
    """One golden table; the attributes are the members of its manifest.

    Attributes:
        id: Path of its folder below ``golden_files``, with slashes.
        family: Prefix of the family's rules.
        kind: ``invalid`` exactly if the judge reports something about it.
        since: Version of this specification that added it.
        title: What it is, in one line.
        effect: What a user notices when an engine relies on it.
        rules: The rules that ``pqassay check`` reports: exactly these rules, in the order of the files.
        tier: The tier of that check.
        files: The files of the table, relative to it, each with its SHA-256.
        provenance: Where it comes from.
        parent: The valid table that it was made from.
        mutation: How it differs from its parent.
    """

    id: str
    family: str
    kind: Literal["valid", "invalid"]
    since: str
    title: str
    effect: str
    parent: str | None = None
    mutation: TableMutation | None = None
    rules: list[str]
    tier: Tier
    files: list[GoldenFile]
    provenance: Provenance
