"""The declarations of fields in code: file and line for the field that a rule is about."""

from __future__ import annotations

import ast
import importlib
import inspect
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pqassay_spec.grammar.thrift import ListOf, Record


class SourceLine(NamedTuple):
    """A line of a source file, counted from 1."""

    path: Path
    line: int


ROOTS = {
    "footer": "parquet.thrift.FileMetaData",
    "row_groups.columns.column_index": "parquet.thrift.ColumnIndex",
    "row_groups.columns.offset_index": "parquet.thrift.OffsetIndex",
    "row_groups.columns.pages": "parquet.thrift.PageHeader",
    "row_groups.columns.pages.header": "parquet.thrift.PageHeader",
    "row_groups.columns.bloom_filter": "parquet.thrift.BloomFilterHeader",
    "row_groups.columns.bloom_filter.header": "parquet.thrift.BloomFilterHeader",
    "head": "parquet.file.HEAD",
    "tail": "parquet.file.TAIL",
    "idx1": "idx1.blob.BLOB",
    "directory": "directory.entries.DIRECTORY",
    "distinct_set": "directory.distinct_set.SETS",
    "zone_sums": "directory.zone_sums.SUMS",
    "sketches": "directory.sketches.SKETCHES",
    "commit": "table.delta.PROTOCOL",
    "checkpoint": "table.delta.PROTOCOL",
    "protocol": "table.delta.PROTOCOL",
    "metaData": "table.delta.METADATA",
    "add": "table.delta.ADD",
    "stats": "table.delta.STATISTICS",
    "deletionVector": "table.delta.DELETION_VECTOR",
    "crc": "table.delta.CHECKSUM",
    "_last_checkpoint": "table.delta.LAST_CHECKPOINT",
    "metadata": "table.iceberg.TABLE_METADATA",
    "snapshot": "table.iceberg.SNAPSHOT",
    "manifest_file": "table.iceberg.MANIFEST_FILE",
    "field_summary": "table.iceberg.FIELD_SUMMARY",
    "manifest_entry": "table.iceberg.MANIFEST_ENTRY",
    "data_file": "table.iceberg.DATA_FILE",
    "partition_field": "table.iceberg.PARTITION_FIELD",
    "file_position_delete": "table.iceberg.POSITION_DELETE",
    "puffin": "table.puffin.FOOTER",
    "blob": "table.puffin.BLOB",
    "header": "pm.grammar.FixedHeader",
    "header_sections.bloom_filters": "pm.grammar.BLOOM_COLUMNS",
    "header_sections.squash_tracker": "pm.grammar.SQUASH_TRACKER",
    "column_descriptors": "pm.grammar.ColumnDescriptor",
    "names": "pm.grammar.ColumnDescriptor",
    "sorting_columns": "pm.grammar.SortingColumn",
    "blocks": "pm.grammar.BlockHeader",
    "blocks.column_chunks": "pm.grammar.ColumnChunk",
    "blocks.bloom_filters": "pm.grammar.BLOOM_BITSET",
    "txn.head": "pm.txn.TxnHead",
    "txn.partitions": "pm.txn.Partition",
    "snapshots": "pm.grammar.TRAILER",
    "snapshots.footer": "pm.grammar.FooterFields",
    "snapshots.row_group_entries": "pm.grammar.RowGroupEntry",
    "snapshots.bloom_entries": "pm.grammar.BloomEntry",
    "snapshots.checksum": "pm.grammar.CHECKSUM",
    "snapshots.scratchpad": "pm.grammar.SCRATCHPAD",
    "snapshots.covering_index": "pm.grammar.COVERING_INDEX",
}
"""The declaration in ``pqassay_spec`` for each prefix of field paths; the longest matching prefix is used."""

IN_DATA = "data."
"""The prefix of field paths in the Parquet file beside the judged file."""


def declaration(field: str) -> SourceLine | None:
    """The declaration of a rule's field; of the struct around it if the field has no own line; ``None`` if unknown."""
    path = field.removeprefix(IN_DATA)
    root = max((r for r in ROOTS if path == r or path.startswith(f"{r}.")), key=len, default=None)
    if root is None:
        return None
    steps = path[len(root) + 1 :].split(".")
    module, _, name = ROOTS[root].rpartition(".")
    struct, last = getattr(importlib.import_module(f"pqassay_spec.{module}"), name), ""
    for step in filter(None, steps):
        if last and (inner := _inner(struct, last)) is not None:
            struct, name = inner, inner.__name__
        last = step
    # A struct is declared in its own module; the named module may only import the name.
    return _line(struct.__module__ if isinstance(struct, type) else f"pqassay_spec.{module}", name, last)


def _inner(struct: object, name: str) -> type[Record] | None:
    """The struct type of a field of a Thrift struct, or of its elements."""
    if not (isinstance(struct, type) and issubclass(struct, Record)):
        return None
    kind = next((field.type for field in struct.fields if field.name == name), None)
    while isinstance(kind, ListOf):
        kind = kind.element
    return kind if isinstance(kind, type) else None


@cache
def _line(module: str, name: str, field: str) -> SourceLine | None:
    """The line where a class or an assigned object declares a field; without such a field, its own first line."""
    path = inspect.getsourcefile(importlib.import_module(module))
    if path is None:
        return None
    for statement in ast.parse(Path(path).read_text("utf-8")).body:
        if name in _names(statement):
            lines = [found for node in ast.walk(statement) if (found := _declares(node, field))]
            return SourceLine(Path(path), min(lines, default=statement.lineno))
    return None


def _names(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.ClassDef):
        return [statement.name]
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _declares(node: ast.AST, field: str) -> int | None:
    """The line of a node if it is ``field: ...`` in a class or ``"field" / ...`` in a construct; otherwise ``None``."""
    if isinstance(node, ast.AnnAssign):
        return node.lineno if isinstance(node.target, ast.Name) and node.target.id == field else None
    return node.lineno if isinstance(node, ast.Constant) and field and node.value == field else None
