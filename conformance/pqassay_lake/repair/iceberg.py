"""Statements that repair Iceberg tables, in Spark SQL.

With copy-on-write, an UPDATE that sets a column to itself rewrites exactly the files with the selected rows. The procedure
`rewrite_data_files` selects files by bounds and sizes, not by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pqassay_lake.repair.batches import Made, batches, of_partitions
from pqassay_lake.repair.open_tables import OpenTable, quoted, text
from pqassay_tables.metadata import repairs

TARGET = "commit.manifest.target-size-bytes"
"""The property with the target size of manifests."""

MODE = "write.update.mode"
COPIES, MERGES = "copy-on-write", "merge-on-read"


def iceberg_sql(table: OpenTable, repair: str, files: Sequence[str]) -> Made:
    """The statements and notes of one repair.

    Args:
        table: The table.
        repair: The name of the repair; see `pqassay_tables.metadata.repairs`.
        files: The affected files, relative to the table.
    """
    make = _SQL.get(repair)
    return ([], []) if make is None else make(table, files)


def _rewritten(table: OpenTable, files: Sequence[str]) -> Made:
    """The statements that rewrite each file."""
    if not table.column:
        return [], ["no column can be set to itself"]
    column = quoted(table.column)
    updates: list[str] = []
    for batch in batches(files):
        named = f"_file IN ({', '.join(text(table.live[path].name) for path in batch)})"
        within = of_partitions(table, batch)
        where = f"({within}) AND {named}" if within else named
        updates.append(f"UPDATE {table.name} SET {column} = {column} WHERE {where}")  # noqa: S608 - they are quoted
    if table.properties.get(MODE, COPIES) == COPIES:
        return updates, []
    before = f"ALTER TABLE {table.name} SET TBLPROPERTIES ('{MODE}' = '{COPIES}')"
    after = f"ALTER TABLE {table.name} SET TBLPROPERTIES ('{MODE}' = {text(table.properties[MODE])})"
    return [before, *updates, after], [
        "the table merges on read, so an updated file stays: it needs copy-on-write for the repair"
    ]


def _call(procedure: str, options: str = "") -> Callable[[OpenTable, Sequence[str]], Made]:
    def make(table: OpenTable, _: Sequence[str]) -> Made:
        catalog, _, name = table.name.partition(".")
        return [f"CALL {catalog}.system.{procedure}(table => {text(name)}{options})"], []

    return make


def _manifests(table: OpenTable, _: Sequence[str]) -> Made:
    """The statements that rewrite all manifests, with one call for each partition spec."""
    catalog, _, name = table.name.partition(".")
    specs = sorted({spec for spec, _ in table.manifests})
    calls = [
        f"CALL {catalog}.system.rewrite_manifests(table => {text(name)}{f', spec_id => {spec}' if specs[1:] else ''})"
        for spec in specs
    ]
    alone = [sizes[0] for sizes in table.manifests.values() if len(sizes) == 1]
    if not alone:
        return calls, []
    smaller = f"ALTER TABLE {table.name} SET TBLPROPERTIES ('{TARGET}' = '{max(min(alone) // 2, 1)}')"
    before = table.properties.get(TARGET)
    after = (
        f"ALTER TABLE {table.name} UNSET TBLPROPERTIES ('{TARGET}')"
        if before is None
        else f"ALTER TABLE {table.name} SET TBLPROPERTIES ('{TARGET}' = {text(before)})"
    )
    why = (
        "the procedure leaves a single manifest as it is, unless it is larger than manifests are to become; "
        "run the last statement in any case, also where the procedure is refused"
    )
    return [smaller, *calls, after], [why]


_SQL: Mapping[str, Callable[[OpenTable, Sequence[str]], Made]] = {
    repairs.ICEBERG_FILE.name: _rewritten,
    repairs.ICEBERG_MANIFESTS.name: _manifests,
    repairs.ICEBERG_POSITIONS.name: _call(
        "rewrite_position_delete_files", ", options => map('rewrite-all', 'true')"
    ),
    repairs.ICEBERG_ROW_IDS.name: _call("rewrite_data_files", ", options => map('rewrite-all', 'true')"),
}
