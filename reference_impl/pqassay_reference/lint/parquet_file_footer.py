"""Lint of the framing and the footer: head, footer and tail are there, and the footer agrees with itself.

Source: apache/parquet-format, ``parquet.thrift``; chapter ``parquet_file.md``.
"""

from __future__ import annotations

from collections.abc import Sequence

from pqassay_spec.base.errors import FormatError, Malformed
from pqassay_spec.base.sources import Source
from pqassay_spec.grammar.record_walk import mistyped_fields
from pqassay_spec.parquet.file import (
    Framing,
    chunk_start,
    read_footer,
    read_framing,
    read_head,
    referenced_offsets,
    referenced_ranges,
)
from pqassay_spec.parquet.hints import is_hint
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf, leaves
from pqassay_spec.parquet.schema.lists_and_maps import misfits
from pqassay_spec.parquet.schema.types import ANNOTATIONS, CONVERTED, annotation_of, converted_of
from pqassay_spec.parquet.thrift import (
    ColumnMetaData,
    FieldRepetitionType,
    FileMetaData,
    RowGroup,
    SchemaElement,
    Type,
)


def wrong(rule: str, message: str, field: str) -> FormatError:
    """The error of a rule that is broken."""
    return Malformed(message, rule=rule, field=field)


def frame(source: Source) -> tuple[Framing, FileMetaData]:
    """Read head, tail and footer, and see where the footer refers to. Raises `FormatError`."""
    read_head(source)
    framing = read_framing(source)
    metadata, _ = read_footer(source, framing)
    leaves(metadata)  # raises where the schema is no tree
    for named in (*referenced_offsets(metadata), *referenced_ranges(metadata, source)):
        end = named.end if named.length else named.start + 1
        if not framing.body_start <= named.start <= end <= framing.footer_start:
            raise Malformed(f"the {named} lies outside the body", rule="PQF-008", field=named.field)
    behind = framing.body_start
    for named in sorted(referenced_ranges(metadata, source)):
        if named.start < behind:
            raise Malformed(
                f"the {named} overlaps what is stored before it", rule="PQF-009", field=named.field
            )
        behind = max(behind, named.end)
    for group in metadata.row_groups:
        starts = [chunk_start(chunk) for chunk in group.columns if not chunk.file_path]
        first = min((start for start in starts if start is not None), default=None)
        if first is not None and first + (group.total_compressed_size or 0) > framing.footer_start:
            raise wrong("PQF-133", "a row group reaches into the footer", "footer.row_groups")
    return framing, metadata


def lint_footer(metadata: FileMetaData, columns: Sequence[SchemaLeaf]) -> None:
    """Raise what is wrong with a footer, apart from any other bytes of the file.

    Args:
        metadata: The footer.
        columns: Its leaves.

    Raises:
        FormatError: With the rule that is broken.
    """
    for mistyped in mistyped_fields(metadata, "footer"):
        if not is_hint(mistyped.owner, mistyped.field.name):
            raise wrong("PQF-039", f"{mistyped.path} is written as {mistyped.written}", mistyped.path)
    for element in metadata.schema[1:]:
        _lint_element(element)
    for misfit in misfits(metadata.schema):
        raise wrong("PQF-127", f"a {misfit.kind} has {misfit.actual}", "footer.schema")
    for group in metadata.row_groups:
        _lint_row_group(group, columns)
    if metadata.row_groups and sum(group.num_rows for group in metadata.row_groups) != metadata.num_rows:
        raise wrong("PQF-016", "the rows of the row groups do not add up", "footer.num_rows")


def _lint_element(element: SchemaElement) -> None:
    if element.repetition_type not in list(FieldRepetitionType):
        raise wrong("PQF-040", f"{element.name!r} has no repetition type", "footer.schema")
    if element.logicalType is not None:
        name = annotation_of(element)
        annotation = ANNOTATIONS.get(name) if name is not None else None
        unknown = name is None
    else:
        unknown = converted_of(element) is None
        annotation = CONVERTED.get(element.converted_type if element.converted_type is not None else -1)
    if not unknown and (annotation is None or not annotation.fits(element)):
        fault = "PQF-027" if annotation is None or element.type is None else "PQF-155"
        raise wrong(fault, f"the annotation of {element.name!r} does not fit its type", "footer.schema")
    if element.type == Type.FIXED_LEN_BYTE_ARRAY and (element.type_length or 0) <= 0:
        raise wrong("PQF-029", f"{element.name!r} has no length", "footer.schema")


def _lint_row_group(group: RowGroup, columns: Sequence[SchemaLeaf]) -> None:
    if any(not 0 <= sorting.column_idx < len(columns) for sorting in group.sorting_columns or ()):
        raise wrong(
            "PQF-030", "a row group is sorted by what is no column", "footer.row_groups.sorting_columns"
        )
    if len(group.columns) != len(columns):
        raise wrong(
            "PQF-012", "a row group lists other chunks than the schema has leaves", "footer.row_groups"
        )
    for leaf, chunk in zip(columns, group.columns, strict=True):
        if chunk.meta_data is not None:
            _lint_chunk(group, leaf, chunk.meta_data)
        elif chunk.crypto_metadata is None and not chunk.file_path:
            raise wrong("PQF-014", f"column {leaf.name} has no metadata", "footer.row_groups.columns")


def _lint_chunk(group: RowGroup, leaf: SchemaLeaf, facts: ColumnMetaData) -> None:
    if not leaf.is_at(facts.path_in_schema) or facts.type != leaf.element.type:
        raise wrong("PQF-013", f"a chunk is not of column {leaf.name}", "footer.row_groups.columns")
    sizes = facts.total_compressed_size, facts.total_uncompressed_size
    if min(group.num_rows, group.total_byte_size, facts.num_values, *sizes) < 0:
        raise wrong("PQF-015", "a count or a size is negative", "footer.row_groups")
    dictionary = facts.dictionary_page_offset
    if dictionary and dictionary > facts.data_page_offset:
        raise wrong("PQF-026", "a dictionary page is stored behind the data", "footer.row_groups.columns")
    if not leaf.max_repetition_level and facts.num_values != group.num_rows:
        raise wrong("PQF-017", f"{facts.num_values} values in {group.num_rows} rows", "footer.row_groups")
