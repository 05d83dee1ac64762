"""Checks of the footer's own numbers: rows, sizes, the order of chunks, offsets, the schema, and the writer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pqassay.checks import rule
from pqassay.checks.subjects import CHUNK, FOOTER, OWN_ROW_GROUP, ROW_GROUP, SCHEMA, Subject
from pqassay.under_test.alike import has_old_bounds
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.fields import Field, element_places, in_footer
from pqassay.under_test.file import Broken, FileUnderTest, NotApplicable
from pqassay.under_test.footer_parts import RowGroupUnderTest, path_in_schema
from pqassay.under_test.layout import GroupSums
from pqassay.under_test.violation import Violation, name_in
from pqassay_spec.grammar.hexdump import show
from pqassay_spec.parquet.file import COMMON_SUMMARY_NAME, FOOTER_VERSIONS, SUMMARY_NAME, chunk_start
from pqassay_spec.parquet.schema.leaf_columns import SchemaGroup, SchemaLeaf
from pqassay_spec.parquet.thrift import RowGroup, Type
from pqassay_spec.rules import created_by

BINARY_TYPES = (int(Type.BYTE_ARRAY), int(Type.FIXED_LEN_BYTE_ARRAY))
"""Physical types whose bounds a reader may distrust, depending on the writer."""


def _name(file: FileUnderTest) -> str:
    return file.source.name.rpartition("/")[2]


SUMMARY_ROW_GROUP = Subject(
    "row group of a summary",
    lambda file: ROW_GROUP.find(file) if _name(file) == SUMMARY_NAME else [],
    ROW_GROUP.placed,
)
"""Row groups of a file that has the name of a summary."""


@rule("PQF-011", of=FOOTER)
def version_is_known(file: FileUnderTest) -> Iterator[Violation]:
    """The version must exist."""
    version = file.metadata.version
    if version not in FOOTER_VERSIONS:
        said = f"the version of the footer is {version}"
        field = in_footer(file, "version")
        yield Violation(said, field, " or ".join(map(str, FOOTER_VERSIONS)), str(version))


@rule("PQF-012", of=ROW_GROUP)
def chunks_follow_the_schema(group: RowGroupUnderTest) -> Iterator[Violation]:
    """Readers find the chunk of a column by its position, so chunks and leaves correspond one to one."""
    if group.file.alike is not None:
        return
    leaves, columns = group.file.leaves, group.part.columns
    if len(columns) != len(leaves):
        message = f"row group {group.number} lists {len(columns)} column chunks for {len(leaves)} leaves"
        yield Violation(message, group.field / "columns", f"{len(leaves)} column chunks", str(len(columns)))
        return
    for ordinal, (chunk, leaf) in enumerate(zip(columns, leaves, strict=True)):
        path = path_in_schema(chunk)
        if path is not None and not leaf.is_at(path):
            message = (
                f"chunk {ordinal} of row group {group.number} is of column {'.'.join(path)}, "
                f"and leaf {ordinal} is {leaf.name}"
            )
            field = group.field / f"columns[{ordinal}].meta_data.path_in_schema"
            yield Violation(message, field, leaf.name, ".".join(path))


@rule("PQF-013", of=CHUNK)
def chunk_has_its_type(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Chunk and leaf have the same physical type."""
    declared, found = chunk.leaf.element.type, chunk.facts.type
    if declared != found:
        wanted, actual = (name_in(Type, kind, f"type {kind}") for kind in (declared, found))
        said = f"the chunk has the type {actual}, its leaf {wanted}"
        yield Violation(said, chunk.fields.facts / "type", wanted, actual)


@rule("PQF-014", of=ROW_GROUP)
def chunks_have_metadata(group: RowGroupUnderTest) -> Iterator[Violation]:
    """Only a column key may hide the metadata of a chunk."""
    for ordinal, chunk in enumerate(group.part.columns if group.file.alike is None else ()):
        if chunk.meta_data is None and path_in_schema(chunk) is None:
            said = f"chunk {ordinal} of row group {group.number} has no metadata"
            field = group.field / f"columns[{ordinal}]"
            yield Violation(said, field, "meta_data, or a column key that hides it", "neither")


# ------------------------------------------------------------------------------------------------ counts and sizes


@rule("PQF-015", of=FOOTER)
def nothing_is_negative(file: FileUnderTest) -> Iterator[Violation]:
    """Numbers of rows, values and bytes."""
    metadata, is_sound = file.metadata, file.layout is not None
    if metadata.num_rows < 0:
        yield _negative("num_rows", metadata.num_rows, in_footer(file))
    for number, group in enumerate(metadata.row_groups):
        if group.num_rows < 0 or group.total_byte_size < 0 or (group.total_compressed_size or 0) < 0:
            for name in ("num_rows", "total_byte_size", "total_compressed_size"):
                if (value := getattr(group, name)) is not None and value < 0:
                    yield _negative(name, value, in_footer(file, f"row_groups[{number}]"), row_group=number)
        for ordinal, chunk in enumerate(() if is_sound else group.columns):
            facts = chunk.meta_data
            if facts is None or (
                facts.num_values >= 0
                and facts.total_uncompressed_size >= 0
                and facts.total_compressed_size >= 0
            ):
                continue
            record = in_footer(file, f"row_groups[{number}].columns[{ordinal}].meta_data")
            for name in ("num_values", "total_uncompressed_size", "total_compressed_size"):
                if (value := getattr(facts, name)) < 0:
                    yield _negative(
                        name, value, record, column=".".join(facts.path_in_schema), row_group=number
                    )


def _negative(name: str, value: int, record: Field, **place: Any) -> Violation:
    return Violation(f"{name} is {value}", record / name, "0 or more", str(value), **place)


def _require_no_negative(*values: int | None) -> None:
    """Raise PQF-015 if counts are negative: sums of negative counts are not compared."""
    if any(value is not None and value < 0 for value in values):
        raise Broken("PQF-015")


# A common summary lists no row groups.
@rule("PQF-016", of=FOOTER, only=lambda file: _name(file) != COMMON_SUMMARY_NAME)
def rows_add_up(file: FileUnderTest) -> Iterator[Violation]:
    """The file has as many rows as its row groups together."""
    metadata, total = file.metadata, 0
    for group in metadata.row_groups:
        _require_no_negative(group.num_rows)
        total += group.num_rows
    _require_no_negative(metadata.num_rows)
    if metadata.num_rows != total:
        said = f"the footer gives {metadata.num_rows:,} rows, but its row groups have {total:,}"
        yield Violation(said, in_footer(file, "num_rows"), str(total), str(metadata.num_rows))


@rule("PQF-017", of=CHUNK, only=lambda chunk: not chunk.leaf.max_repetition_level)
def flat_chunks_hold_a_value_for_each_row(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Outside lists, every row has one value or null."""
    values, rows = chunk.facts.num_values, chunk.group.num_rows
    if values != rows:
        _require_no_negative(values, rows)
        said = f"the chunk has {values:,} values, but its row group has {rows:,} rows"
        yield Violation(said, chunk.fields.facts / "num_values", str(rows), str(values))


@rule("PQF-018", of=SCHEMA)
def leaf_paths_differ(file: FileUnderTest) -> Iterator[Violation]:
    """Each path belongs to one leaf."""
    leaves = file.leaves
    if len({leaf.element.name for leaf in leaves}) == len(leaves):
        return
    known: dict[int, int] = {}
    first: dict[tuple[int, str], SchemaLeaf] = {}
    places = file.part(element_places)
    for ordinal, leaf in enumerate(leaves):
        earlier = first.setdefault((_digest(leaf.parent, known), leaf.element.name), leaf)
        if earlier is not leaf and (earlier.parent is leaf.parent or earlier.path == leaf.path):
            said = (
                f"leaf {ordinal} is called {show(leaf.element.name)} like one before it, with the same path"
            )
            field = in_footer(file, f"schema[{places[ordinal]}].name")
            yield Violation(said, field, "a unique path", show(leaf.element.name))


def _digest(group: SchemaGroup | None, known: dict[int, int]) -> int:
    """A hash of a group's path, equal for equal paths; the paths themselves would take too much memory."""
    way: list[SchemaGroup] = []
    while group is not None and id(group) not in known:
        way.append(group)
        group = group.parent
    found = 0 if group is None else known[id(group)]
    for below in reversed(way):
        found = known[id(below)] = hash((found, below.name))
    return found


def _tells_sizes(group: RowGroupUnderTest) -> bool:
    """Whether all sizes are known: no chunk is encrypted."""
    return group.file.alike is not None or all(chunk.meta_data is not None for chunk in group.part.columns)


@rule("PQF-019", of=ROW_GROUP, only=_tells_sizes)
def byte_sizes_add_up(group: RowGroupUnderTest) -> Iterator[Violation]:
    """The size of a row group is the sum of its uncompressed chunk sizes."""
    sums = _sums(group)
    if sums is not None and sums.uncompressed == group.part.total_byte_size:
        return
    sizes = [chunk.meta_data.total_uncompressed_size for chunk in group.part.columns if chunk.meta_data]
    yield from _sum_of(sizes, group, "total_byte_size", group.part.total_byte_size)


@rule(
    "PQF-020",
    of=ROW_GROUP,
    only=lambda group: group.part.total_compressed_size is not None and _tells_sizes(group),
)
def compressed_sizes_add_up(group: RowGroupUnderTest) -> Iterator[Violation]:
    """The size of a row group is the sum of its stored chunk sizes. PQF-133 reports one that reaches into the footer."""
    sums = _sums(group)
    if sums is not None and sums.compressed == group.part.total_compressed_size:
        return
    first = None if group.file.is_summary else _first_page(group)
    if (
        first is not None
        and first + (group.part.total_compressed_size or 0) > group.file.framing.footer_start
    ):
        raise Broken("PQF-133")
    sizes = [chunk.meta_data.total_compressed_size for chunk in group.part.columns if chunk.meta_data]
    yield from _sum_of(sizes, group, "total_compressed_size", group.part.total_compressed_size)


@rule(
    "PQF-133",
    of=OWN_ROW_GROUP,
    only=lambda group: group.part.total_compressed_size is not None,
)
def row_groups_end_before_the_footer(group: RowGroupUnderTest) -> Iterator[Violation]:
    """Each row group belongs to the split that contains its middle. No split contains a middle beyond the file."""
    size, first = group.part.total_compressed_size or 0, _first_page(group)
    if first is None:
        raise NotApplicable
    end = group.file.framing.footer_start
    if first + size > end:
        _require_sound_ranges(group.file)
        said = (
            f"row group {group.number} begins at {first} and claims {size:,} bytes, but the "
            f"footer begins at {end}"
        )
        yield Violation(said, group.field / "total_compressed_size", f"at most {end - first}", str(size))


def _sums(group: RowGroupUnderTest) -> GroupSums | None:
    """The sums over the chunks; ``None`` if the place of any structure is unusual."""
    layout = group.file.layout
    return None if layout is None else layout.groups[group.number]


def _sum_of(sizes: list[int], group: RowGroupUnderTest, name: str, total: int | None) -> Iterator[Violation]:
    if total != sum(sizes):
        _require_no_negative(total, *sizes)
        _require_sound_ranges(group.file)
        if len(sizes) != len(group.file.leaves):
            raise Broken("PQF-012")
        said = f"{name} of row group {group.number} is {total:,}, but its chunks take {sum(sizes):,} bytes"
        yield Violation(said, group.field / name, str(sum(sizes)), str(total))


def _require_sound_ranges(file: FileUnderTest) -> None:
    """Raise the rule about sizes and offsets that leave the body or overlap. A summary's ranges are in other files."""
    if not file.is_summary:
        file.require_sound_ranges()


# --------------------------------------------------------------------------------------------------------- offsets


@rule("PQF-021", of=OWN_ROW_GROUP)
def row_groups_begin_with_their_first_page(group: RowGroupUnderTest) -> Iterator[Violation]:
    """Splits are planned by the offset of row groups."""
    file_offset, first = group.part.file_offset, _first_page(group)
    if file_offset is None or first is None:
        raise NotApplicable
    if file_offset != first:
        _require_sound_ranges(group.file)
        said = f"file_offset of row group {group.number} is {file_offset}, its first page is at {first}"
        yield Violation(said, group.field / "file_offset", str(first), str(file_offset))


def _first_page(group: RowGroupUnderTest) -> int | None:
    """The offset of a row group's first page; ``None`` if the footer lacks it for a chunk."""
    if (sums := _sums(group)) is not None:
        return sums.first_page
    first: int | None = None
    for chunk in group.part.columns:
        if chunk.meta_data is None or group.file.is_elsewhere(chunk):
            return None
        start = chunk_start(chunk)
        if start is not None and (first is None or start < first):
            first = start
    return first


@rule("PQF-022", of=CHUNK)
def file_offset_is_known(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """The offset is one of the places that writers are known to use."""
    file_offset = chunk.chunk.file_offset
    if not file_offset:
        return
    start = chunk_start(chunk.chunk)
    if start is None:
        raise NotApplicable
    size, data_page = chunk.facts.total_compressed_size, chunk.facts.data_page_offset
    end = start + size
    if file_offset not in (start, data_page, end, data_page + size):  # the last is what Polars writes
        said = f"file_offset is {file_offset}; no part of the chunk begins or ends there"
        yield Violation(said, chunk.fields.listed / "file_offset", f"0, {start} or {end}", str(file_offset))


@rule("PQF-023", of=OWN_ROW_GROUP)
def chunks_stand_in_this_file(group: RowGroupUnderTest) -> Iterator[Violation]:
    """Only summaries describe chunks of other files."""
    for ordinal, chunk in enumerate(group.part.columns if group.file.layout is None else ()):
        if chunk.file_path:
            yield Violation(
                message=(
                    f"chunk {ordinal} of row group {group.number} names another file, {show(chunk.file_path)}"
                ),
                field=group.field / f"columns[{ordinal}].file_path",
                expected="no file_path",
                actual=show(chunk.file_path),
                column=".".join(path_in_schema(chunk) or []) or None,
            )


@rule("PQF-024", of=FOOTER)
def writer_is_named(file: FileUnderTest) -> Iterator[Violation]:
    """The text has the form that readers parse, if anything depends on it."""
    text = file.metadata.created_by
    layout = file.layout
    if text is None or (layout is not None and not layout.has_old_bounds):
        raise NotApplicable
    if not any(map(_has_doubtful_bounds, file.metadata.row_groups)):
        raise NotApplicable
    if created_by.parse(text) is None:
        said = f"created_by does not name an application with a version: {show(text)}"
        field = in_footer(file, "created_by")
        yield Violation(said, field, "<application> version <version> (build <hash>)", show(text))


def _has_doubtful_bounds(group: RowGroup) -> bool:
    """Whether a binary column has only the deprecated bounds."""
    facts = [chunk.meta_data for chunk in group.columns if chunk.meta_data is not None]
    return any(chunk.type in BINARY_TYPES and has_old_bounds(chunk.statistics) for chunk in facts)


@rule("PQF-025", of=CHUNK, only=lambda chunk: chunk.facts.dictionary_page_offset is not None)
def no_dictionary_page_at_0(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """An offset of 0 means that there is no dictionary page."""
    if chunk.facts.dictionary_page_offset == 0:
        said = "dictionary_page_offset is 0, the beginning of the file"
        yield Violation(said, chunk.fields.facts / "dictionary_page_offset", "no dictionary_page_offset", "0")


@rule("PQF-026", of=CHUNK)
def dictionary_page_comes_first(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """It precedes the data pages. If both have one offset, readers look at the type of the page: see PQF-055 and PQF-056."""
    dictionary, data = chunk.facts.dictionary_page_offset, chunk.facts.data_page_offset
    if not dictionary or not (data or chunk.facts.num_values):
        raise NotApplicable
    if dictionary > data:
        chunk.file.require_sound_ranges()
        said = "the offset of the dictionary page is after that of the first data page"
        field = chunk.fields.facts / "dictionary_page_offset"
        yield Violation(said, field, f"less than {data}", str(dictionary))


# ------------------------------------------------------------------------------------- row groups and summary files


@rule("PQF-030", of=ROW_GROUP, only=lambda group: bool(group.part.sorting_columns))
def sorting_columns_are_leaves(group: RowGroupUnderTest) -> Iterator[Violation]:
    """A reader that merges sorted rows compares these columns."""
    count = len(group.file.leaves)
    for index, sorting in enumerate(group.part.sorting_columns or ()):
        place = sorting.column_idx
        if not 0 <= place < count:
            said = (
                f"sorting column {index} of row group {group.number} is leaf {place}, which does not exist "
                f"among {count} leaves"
            )
            field = group.field / f"sorting_columns[{index}].column_idx"
            yield Violation(said, field, f"0 to {count - 1}", str(place))


@rule("PQF-132", of=ROW_GROUP, only=lambda group: bool(group.part.sorting_columns))
def sorting_columns_differ(group: RowGroupUnderTest) -> Iterator[Violation]:
    """A second entry for a column adds nothing."""
    first: dict[int, int] = {}
    for index, sorting in enumerate(group.part.sorting_columns or ()):
        earlier = first.setdefault(sorting.column_idx, index)
        if earlier != index:
            said = (
                f"sorting column {index} of row group {group.number} is leaf {sorting.column_idx}, "
                f"like sorting column {earlier}"
            )
            field = group.field / f"sorting_columns[{index}].column_idx"
            yield Violation(said, field, "each leaf once", f"{sorting.column_idx} again")


# In a summary, the ordinal is the position in another file.
@rule("PQF-031", of=OWN_ROW_GROUP, only=lambda group: group.part.ordinal is not None)
def ordinals_count_row_groups(group: RowGroupUnderTest) -> Iterator[Violation]:
    """Encrypted modules are bound to their row group by the ordinal, which must be its position."""
    if group.part.ordinal != group.number:
        said = f"row group {group.number} has the ordinal {group.part.ordinal}"
        yield Violation(said, group.field / "ordinal", str(group.number), str(group.part.ordinal))


@rule("PQF-035", of=SUMMARY_ROW_GROUP)
def summary_names_files(group: RowGroupUnderTest) -> Iterator[Violation]:
    """Chunks of a summary are in other files."""
    for ordinal, chunk in enumerate(group.part.columns):
        if not chunk.file_path:
            said = f"chunk {ordinal} of row group {group.number} names no file"
            field = group.field / f"columns[{ordinal}]"
            yield Violation(
                said, field, "file_path", "none", column=".".join(path_in_schema(chunk) or []) or None
            )
