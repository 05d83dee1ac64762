"""Check an IDX1 index as a careful reader does: its form, and whether it has the values of its column.

It is the reference's own check, without the judge, and raises the first error.

Source: chapter ``idx1.md``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pqassay_reference.errors import Refused
from pqassay_reference.rewrite.extract import Extracted, extract
from pqassay_spec.base.errors import Malformed
from pqassay_spec.base.sources import FileSource, Source
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.idx1 import companion as idx1_companion
from pqassay_spec.parquet.file import Framing, read_footer, read_framing, read_head, referenced_ranges
from pqassay_spec.parquet.schema.leaf_columns import is_string, leaves
from pqassay_spec.parquet.thrift import FileMetaData, KeyValue

if TYPE_CHECKING:
    from pqassay_reference.columns.column_values import DistinctValues


def lint_file(path: str | os.PathLike[str], column: str | None = None) -> None:
    """Raise an error if the index of a file is wrong; a file without an index is accepted.

    Args:
        path: A local Parquet file.
        column: The column that the index describes, as a path joined by dots; by default the companion record's column, or
            any string column that fits.

    Raises:
        FormatError: The file or its index is not well-formed.
        Refused: The index does not describe the column.
        Undecodable: The column cannot be decoded.
    """
    with FileSource(path) as source:
        read_head(source)
        framing = read_framing(source)
        metadata, _ = read_footer(source, framing)
        leaves(metadata)  # raises where the schema is not a tree
        pairs = metadata.key_value_metadata or []
        keys = [pair.key for pair in pairs]
        if idx1.KEY not in keys:
            if idx1.COMPANION_KEY in keys:
                raise Malformed(
                    f"the key {idx1.COMPANION_KEY} is there without {idx1.KEY}",
                    rule="IDX1-024",
                    field="footer",
                )
            return
        if keys.count(idx1.KEY) > 1:
            raise Malformed(f"the key {idx1.KEY} occurs several times", rule="IDX1-001", field="footer")
        found = extract(source)
        blob = _well_formed(source, framing, metadata, found)
        companion = _companion(source, blob, metadata, pairs)
        named = ".".join(companion.column) if companion else None
        _true(Path(path), metadata, column or named, found, companion)


def _well_formed(source: Source, framing: Framing, metadata: FileMetaData, index: Extracted) -> idx1.Blob:
    if index.layout is idx1.Layout.DRAFT_G0:
        raise Malformed("the layout is that of draft G0", rule="IDX1-030", field="idx1.magic")
    blob = idx1.read_blob(source, index.offset, framing.footer_start)
    if index.offset < framing.body_start:
        raise Malformed("the blob begins before the body", rule="IDX1-005", offset=index.offset)
    for other in referenced_ranges(metadata, source):
        if other.start < blob.end and blob.start < other.end:
            raise Malformed(f"the blob overlaps the {other}", rule="IDX1-009", offset=blob.start)
    for loss, position, value in idx1.losses(blob.payload):
        rule = "IDX1-012" if loss is idx1.Loss.EMPTY_LAST else "IDX1-014"
        raise Malformed(
            f"the published reader loses {value!r}: {loss.value}",
            rule=rule,
            offset=blob.payload_start + position,
        )
    for pair in metadata.key_value_metadata or []:
        if pair.key == idx1.LENGTH_KEY and pair.value != str(len(blob.payload)):
            raise Malformed(
                f"the key {idx1.LENGTH_KEY} is {pair.value!r}, but the payload has {len(blob.payload)} bytes",
                rule="IDX1-031",
                field="footer",
            )
    return blob


def _companion(
    source: Source, blob: idx1.Blob, metadata: FileMetaData, pairs: Sequence[KeyValue]
) -> idx1_companion.Companion | None:
    texts = [pair.value for pair in pairs if pair.key == idx1.COMPANION_KEY]
    if not texts:
        return None
    record = idx1_companion.parse_companion(texts[0] or "")
    raw = source.read(blob.start, blob.end - blob.start)
    for name, there, here in idx1_companion.companion_disagreements(record, blob, raw):
        raise Malformed(
            f"the companion record's {name} is {there}, but the blob's is {here}",
            rule="IDX1-021",
            field="footer",
        )
    if record.row_count != metadata.num_rows:
        raise Malformed(
            f"the companion record describes {record.row_count} rows, but the file has {metadata.num_rows}",
            rule="IDX1-022",
            field="footer.num_rows",
        )
    named = [leaf for leaf in leaves(metadata) if leaf.is_at(record.column)]
    if len(named) != 1 or not is_string(named[0]) or named[0].max_repetition_level:
        raise Malformed(
            (
                f"the companion record names {'.'.join(record.column)}, which is not a string "
                "column with one value per row"
            ),
            rule="IDX1-018",
            field="footer.schema",
        )
    return record


def _true(
    path: Path,
    metadata: FileMetaData,
    column: str | None,
    index: Extracted,
    companion: idx1_companion.Companion | None,
) -> None:
    """Compare the index with its column, or with every string column if no column is named."""
    from pqassay_reference.columns.column_values import read_distinct_values  # noqa: PLC0415 - what is malformed is refused without pyarrow

    names = [leaf.name for leaf in leaves(metadata) if is_string(leaf) and not leaf.max_repetition_level]
    problem = "there is no string column for an index to describe"
    for name in names if column is None else [column]:
        there = read_distinct_values(path, name)
        if not (difference := _difference(name, there, index, companion)):
            return
        problem = difference
    raise Refused(problem)


def _difference(
    name: str, there: DistinctValues, index: Extracted, companion: idx1_companion.Companion | None
) -> str:
    """The first error of the index about a column; empty if there is none."""
    for value in sorted(there.values):
        if idx1.SEPARATOR in value:
            return f"column {name} holds {value!r}; readers split a value with a line feed"
    values = set(index.published or ())  # nothing else is lost here: lossy shapes were refused before
    if lost := sorted(there.values - values):
        return f"the index lacks {lost[0]!r} of column {name}"
    if companion is not None and companion.null_count != there.null_count:
        return (
            f"column {name} holds {there.null_count} nulls, but the companion record says "
            f"{companion.null_count}"
        )
    return "" if there.values or not values else f"column {name} holds no value, but the index does"
