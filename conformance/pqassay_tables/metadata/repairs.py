"""Repairs of tables by the table's own software, which must update its records.

A repair has a name, by which `pqassay repair` groups statements, and a text, which findings show as their remedy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pqassay_spec.table.layout import TableKind


class Repair(NamedTuple):
    """A kind of repair of a table.

    Attributes:
        name: Its name in plans.
        text: The remedy in findings.
    """

    name: str
    text: str


PLANNED = "`pqassay repair` writes the statement"

# Rewrite the file, with new statistics in its footer and in the log.
DELTA_FILE = Repair("rewrite data files", f"MERGE of the table with the rows of this file, which rewrites it with true statistics: {PLANNED}")  # fmt: skip
# Rewrite the file, with new statistics in its footer and new metrics in its manifest.
ICEBERG_FILE = Repair("rewrite data files", f"UPDATE of the rows of this file, which rewrites it with true metrics: {PLANNED}")  # fmt: skip
# Rules whose violation decides which rows readers see, and with which values.
ICEBERG_SEEN = Repair("correct entries", "a commit that replaces the entry by a true one; the table itself would write the rows that it reads wrongly")  # fmt: skip
ICEBERG_SORTED = Repair("sort data files", "rewrite_data_files with strategy sort on the file, or a commit that replaces its entry by one without sort_order_id")  # fmt: skip
ICEBERG_MANIFESTS = Repair("rewrite manifests", "rewrite_manifests")
# Rules whose violation decides how a manifest and its claims about files are read.
ICEBERG_MANIFESTS_READ = Repair("correct manifests", "a commit that rewrites the manifest correctly; rewrite_manifests would keep the error, or cannot read the manifest")  # fmt: skip
ICEBERG_POSITIONS = Repair("rewrite position deletes", "rewrite_position_delete_files")
ICEBERG_DANGLING = Repair("rewrite position deletes", "rewrite_position_delete_files, or rewrite_data_files with remove-dangling-deletes")  # fmt: skip
ICEBERG_ROW_IDS = Repair("rewrite all data files", "a snapshot that adds the data files again, such as that of rewrite_data_files with rewrite-all")  # fmt: skip
ICEBERG_BEFORE = Repair("go back to an earlier snapshot", "rollback_to_snapshot, to one before the rows were deleted; then delete them again")  # fmt: skip
ICEBERG_MISSING = Repair("remove missing files", "a commit that removes the file, such as DeleteFiles")
ICEBERG_SIZE = Repair("correct entries", "a commit that replaces the entry by one with the true length")
ICEBERG_METADATA = Repair("rewrite metadata", "a commit that rewrites the metadata")
# Rules whose violation decides which rows readers see, and with which values.
DELTA_SEEN = Repair("correct entries", "a commit that adds the same path with true metadata; the table itself would write the rows that it reads wrongly")  # fmt: skip
DELTA_MISSING = Repair("remove missing files", "FSCK REPAIR TABLE, or a commit that removes the path")
DELTA_SIZE = Repair("correct entries", "a commit that adds the same path with its true size")
DELTA_PARTITION = Repair("correct entries", "a commit that adds the same path with its true partition values")
DELTA_VECTOR = Repair("correct entries", "a commit that adds the same path with the true descriptor of its deletion vector")  # fmt: skip
DELTA_ROW_IDS = Repair("correct entries", "a commit that adds the same paths with fresh row ids")
DELTA_BEFORE = Repair("go back to an earlier version", "RESTORE TABLE … TO VERSION AS OF, to a version before the rows were deleted; then delete them again")  # fmt: skip
DELTA_CHECKPOINT = Repair("write a new checkpoint", "a new checkpoint, written from the log")
DELTA_COMPACTION = Repair(
    "remove log compactions", "remove the log compaction: readers then read the commits"
)
DELTA_CHECKSUM = Repair("remove checksum files", "remove the file: it is optional, and may not be overwritten")  # fmt: skip

OF_FILES: Mapping[TableKind, Repair] = {"delta": DELTA_FILE, "iceberg": ICEBERG_FILE}
"""The repair that rewrites a data file, by the format of its table."""

SEEN: Mapping[TableKind, Repair] = {"delta": DELTA_SEEN, "iceberg": ICEBERG_SEEN}

MANIFESTS_SEEN = frozenset(("ICE-011", "ICE-012", "ICE-063", "ICE-064", "ICE-073"))
"""Rules about manifests that decide how their entries are read.

Rewriting manifests would keep a file that is listed twice, and another spec would compute other partition values.
"""

SEEN_BY_READERS = frozenset(
    (
        # Partition values in place of columns, missing columns, splits for reading, and the rows themselves.
        *("DLT-011", "DLT-026", "DLT-053"),
        *("ICE-015", "ICE-033", "ICE-034", "ICE-043", "ICE-057", "ICE-060", "ICE-066", "ICE-068"),
    )
)
"""Rules about claims that make readers return wrong rows: a reader must not rewrite a file that breaks one."""


def remedy_of(rule_id: str, remedy: str) -> str:
    """The remedy of a finding in a table's claim about a file, given the general remedy for claims."""
    if remedy == ICEBERG_MANIFESTS.text and rule_id in MANIFESTS_SEEN:
        return ICEBERG_MANIFESTS_READ.text
    for kind, one in OF_FILES.items():
        if remedy == one.text and rule_id in SEEN_BY_READERS:
            return SEEN[kind].text
    return remedy


REPAIRS: Mapping[str, Repair] = {one.text: one for one in list(globals().values()) if isinstance(one, Repair)}
"""Every repair by its text, since reports contain only the text."""
