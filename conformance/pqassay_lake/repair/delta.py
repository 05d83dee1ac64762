"""Statements that repair Delta tables, in Spark SQL.

No statement of Delta names files: `UPDATE` and `DELETE` cannot use `_metadata`, `OPTIMIZE` only rewrites
small files if there are several, and `REORG TABLE … APPLY (PURGE)` only files with deleted rows or columns.
But a `MERGE` of the table with the rows of a file, selected by file name, rewrites every file with such a
row: that file, and files with an equal row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from pqassay_lake.repair.batches import Made, batches, of_partitions
from pqassay_lake.repair.open_tables import OpenTable, quoted, text
from pqassay_tables.metadata import repairs

WHOLE_FILES = "SET spark.databricks.delta.merge.deletionVectors.persistent = false"
"""A setting without which a table with deletion vectors may keep the file and only mark its rows as deleted."""

UNCOUNTED = "SET spark.databricks.delta.numRecordsValidation.enabled = false"
"""A setting without which Delta refuses to rewrite a file with a wrong number of rows in the log."""

FALSE_COUNTS = frozenset(("DLT-023",))
"""Rules about the number of rows."""

MOST_COLUMNS = 12
"""The number of columns by which rows are compared: more columns match fewer rows of other files, but make the join slower."""

AS_UPDATED = "the rows stay the same; the change data feed and streams of the table show them as updated"

AND_OTHERS = "other files with an equal row in these columns are also rewritten"


def delta_sql(table: OpenTable, repair: str, files: Sequence[str]) -> Made:
    """The statements and notes of one repair.

    Args:
        table: The table.
        repair: The name of the repair; see `pqassay_tables.metadata.repairs`.
        files: The affected files, relative to the table.
    """
    if repair == repairs.DELTA_FILE.name:
        return _rewritten(table, files)
    return [], [NOTES[repair].format(table=table.name)] if repair in NOTES else []


def _rewritten(table: OpenTable, files: Sequence[str]) -> Made:
    """The statements that rewrite each file."""
    if not table.column or not table.compared:
        return [], ["no column can be set to itself: all are of partitions, or made by Delta"]
    names = Counter(path.rpartition("/")[2] for path in table.live)
    column = quoted(table.column)
    compared = [quoted(name) for name in table.compared[:MOST_COLUMNS]]
    equal = " AND ".join(f"t.{name} <=> f.{name}" for name in compared)
    statements: list[str] = []
    for batch in batches(files):
        named = _are_named(batch, names)
        within = of_partitions(table, batch)
        near = of_partitions(table, batch, "t.")
        where = f"({within}) AND ({named})" if within else named
        on = f"({near}) AND {equal}" if near else equal
        statements.append(
            f"MERGE INTO {table.name} t "  # noqa: S608 - names and values are quoted
            f"USING (SELECT DISTINCT {', '.join(compared)} FROM {table.name} WHERE {where}) f "
            f"ON {on} WHEN MATCHED THEN UPDATE SET t.{column} = t.{column}"
        )
    notes = [AS_UPDATED, AND_OTHERS]
    return ([WHOLE_FILES, *statements] if table.has_vectors else statements), notes


def _are_named(paths: Sequence[str], names: Mapping[str, int]) -> str:
    """The condition that rows are in one of some files, by file name if that is unique."""
    short = [path.rpartition("/")[2] for path in paths]
    if all(names[name] == 1 for name in short):
        return f"_metadata.file_name IN ({', '.join(map(text, short))})"
    return " OR ".join(f"endswith(_metadata.file_path, {text('/' + path)})" for path in paths)


NOTES: Mapping[str, str] = {
    repairs.DELTA_CHECKPOINT.name: "no statement writes a checkpoint from the log: remove the wrong one, if the log before it is still there, "
    "and _last_checkpoint; the next writer makes a new one",
    repairs.DELTA_MISSING.name: "on Databricks: FSCK REPAIR TABLE {table}; Delta for Spark has no statement that removes a missing file",
    repairs.DELTA_BEFORE.name: "DESCRIBE HISTORY {table} shows the versions; RESTORE TABLE {table} TO VERSION AS OF the last good one, "
    "then repeat the later changes",
}
"""Notes on repairs without a statement."""
