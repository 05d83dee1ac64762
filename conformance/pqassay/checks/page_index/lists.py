"""Checks of the page index: its fields in the footer, offset indexes, and the lists of column indexes.

The bounds of pages are in `pqassay.checks.page_index.bounds`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import accumulate

from pqassay.checks import rule
from pqassay.checks.subjects import CHUNK, COLUMN_INDEX, FILE, OFFSET_INDEX
from pqassay.under_test.chunks import ColumnChunks, ColumnChunkUnderTest
from pqassay.under_test.fields import Field
from pqassay.under_test.file import Broken, FileUnderTest, NotApplicable
from pqassay.under_test.layout import CHUNKS, OFFSET_INDEXES
from pqassay.under_test.pages.bounds import false_null_pages, page_count, present_values, unequal_lists
from pqassay.under_test.violation import Violation, first_places
from pqassay_spec.parquet.thrift import DICTIONARY_ENCODINGS, Type

# ---------------------------------------------------------------------------------------------- in the footer


@rule("PIX-001", of=COLUMN_INDEX)
def column_index_has_offset_index(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Only the offset index says where the pages of a column index are."""
    if chunk.chunk.offset_index_offset is None:
        said = f"the chunk of {chunk} has a column index but no offset index"
        field = chunk.fields.listed / "column_index_offset"
        yield Violation(said, field, "an offset_index_offset beside it", "a column_index_offset alone")


def _has_offset_or_length(chunk: ColumnChunkUnderTest) -> bool:
    record = chunk.chunk
    given = (record.column_index_offset, record.column_index_length)
    return (*given, record.offset_index_offset, record.offset_index_length) != (None,) * 4


@rule("PIX-002", of=CHUNK, only=_has_offset_or_length)
def offset_and_length_are_given_together(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Offset and length are useless without each other."""
    record = chunk.chunk
    for name, offset, length in (
        ("column_index", record.column_index_offset, record.column_index_length),
        ("offset_index", record.offset_index_offset, record.offset_index_length),
    ):
        if (offset is None and length is None) or (offset and length is not None and length > 0):
            continue
        wrong = "offset" if offset is not None and (length is None or not offset) else "length"
        place, size = ("none" if given is None else str(given) for given in (offset, length))
        said = f"the {name.replace('_', ' ')} of {chunk} has offset {place} and length {size}"
        field = chunk.fields.listed / f"{name}_{wrong}"
        yield Violation(
            said, field, "an offset, and a length of at least 1", f"offset {place}, length {size}"
        )


@rule(
    "PIX-003",
    of=FILE,
    only=lambda file: file.part(ColumnChunks).count(OFFSET_INDEXES) > 0,
)
def offset_indexes_in_all_row_groups(file: FileUnderTest) -> Iterator[Violation]:
    """A reader that finds no index in one row group may ignore all of them. Chunks without values need no index."""
    chunks = file.part(ColumnChunks)
    if chunks.count(OFFSET_INDEXES) == chunks.count(CHUNKS):
        return
    having = chunks.having("offset_index")
    indexed = {chunk.ordinal for chunk in having}
    for chunk in chunks.all:
        if chunk.chunk.offset_index_offset is None and chunk.ordinal in indexed and chunk.facts.num_values:
            yield Violation(
                message=f"the chunk of {chunk} has no offset index, those in other row groups have one",
                field=chunk.fields.listed,
                expected="an offset index in every row group or in none",
                actual="none in this one",
                column=chunk.column,
                row_group=chunk.row_group,
            )


# ------------------------------------------------------------------------------------------- the offset index


@rule("PIX-010", of=OFFSET_INDEX)
def offset_index_decodes(chunk: ColumnChunkUnderTest) -> None:
    """Decoding raises the violation."""
    _ = chunk.offset_index


def _lists_pages(chunk: ColumnChunkUnderTest) -> bool:
    return bool(chunk.offset_index.page_locations)


@rule("PIX-011", of=OFFSET_INDEX)
def offset_index_lists_pages(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Values need pages."""
    if not chunk.offset_index.page_locations and chunk.facts.num_values > 0:
        said = (
            f"the offset index of {chunk} lists no page, but the chunk holds {chunk.facts.num_values} values"
        )
        yield Violation(said, chunk.fields.offset_index / "page_locations", "at least one page", "none")


@rule("PIX-012", of=OFFSET_INDEX)
def pages_ascend(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Each page begins after the previous page begins."""
    places = chunk.page_places
    offsets = places.offsets
    yield from first_places(
        places.out_of_order,
        lambda page: Violation(
            message=f"page {page} of {chunk} begins at {offsets[page]}, "
            f"page {page - 1} at {offsets[page - 1]}",
            field=places.field(page, "offset"),
            expected=f"more than {offsets[page - 1]}",
            actual=str(offsets[page]),
        ),
    )


@rule("PIX-013", of=OFFSET_INDEX, only=_lists_pages)
def pages_lie_in_their_chunk(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """No page is empty, since its header takes bytes."""
    places = chunk.page_places
    outside = places.outside
    start, end = chunk.span
    offsets, sizes = places.offsets, places.sizes
    yield from first_places(
        outside,
        lambda page: Violation(
            message=f"page {page} of {chunk} has {sizes[page]} bytes at "
            f"{offsets[page]}, the chunk is [{start}, {end})",
            field=places.field(page, "" if sizes[page] > 0 else "compressed_page_size"),
            expected=f"at least 1 byte within [{start}, {end})",
            actual=f"{sizes[page]} bytes at {offsets[page]}",
        ),
    )


@rule("PIX-014", of=OFFSET_INDEX, only=_lists_pages)
def pages_follow_each_other(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Pages are contiguous up to the end of the chunk."""
    places = chunk.page_places
    places.require_inside()
    offsets, sizes = places.offsets, places.sizes
    following = [*offsets[1:], chunk.span[1]]
    yield from first_places(
        [
            page
            for page, (offset, size, after) in enumerate(zip(offsets, sizes, following, strict=True))
            if offset + size != after
        ],
        lambda page: Violation(
            message=f"page {page} of {chunk} ends at {offsets[page] + sizes[page]} by its listed size, "
            + ("the next one begins" if page + 1 < len(offsets) else "the chunk ends")
            + f" at {following[page]}",
            field=places.field(page, "compressed_page_size"),
            expected=str(following[page] - offsets[page]),
            actual=str(sizes[page]),
        ),
    )


@rule("PIX-015", of=OFFSET_INDEX, only=_lists_pages)
def first_page_begins_with_row_0(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Rows count from 0 in every row group."""
    places = chunk.page_places
    if places.first_rows[0] != 0:
        said = f"the first page of {chunk} begins with row {places.first_rows[0]}"
        yield Violation(said, places.field(0, "first_row_index"), "0", str(places.first_rows[0]))


@rule("PIX-016", of=OFFSET_INDEX, only=_lists_pages)
def first_rows_increase(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Each page holds at least one row, so the next page begins with a later row."""
    places = chunk.page_places
    rows, count = places.first_rows, chunk.group.num_rows
    yield from first_places(
        places.rows_out_of_order,
        lambda page: Violation(
            message=f"page {page} of {chunk} begins with row {rows[page]} "
            f"of {count}" + (f", page {page - 1} with row {rows[page - 1]}" if page else ""),
            field=places.field(page, "first_row_index"),
            expected=f"more than {rows[page - 1]} and less than {count}" if page else f"less than {count}",
            actual=str(rows[page]),
        ),
    )


@rule("PIX-017", of=OFFSET_INDEX, only=_lists_pages)
def first_page_stands_where_the_footer_says(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Some writers let data_page_offset point to the dictionary page and omit dictionary_page_offset."""
    places = chunk.page_places
    first, data_page_offset = places.offsets[0], chunk.facts.data_page_offset
    if first == data_page_offset:
        return
    places.require_inside()
    unannounced = (chunk.facts.dictionary_page_offset or data_page_offset) >= data_page_offset and not (
        set(DICTIONARY_ENCODINGS).isdisjoint(chunk.facts.encodings)
    )
    if first < data_page_offset or not unannounced:
        said = (
            f"the first page of {chunk} is at {first} in the "
            f"offset index, at {data_page_offset} in the footer"
        )
        yield Violation(said, places.field(0, "offset"), str(data_page_offset), str(first))


@rule(
    "PIX-018",
    of=OFFSET_INDEX,
    only=lambda chunk: chunk.offset_index.unencoded_byte_array_data_bytes is not None,
)
def unencoded_bytes_are_those_of_byte_arrays(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Other types have a fixed width, which needs no count."""
    index = chunk.offset_index
    sizes = index.unencoded_byte_array_data_bytes
    if sizes is None:
        raise NotApplicable
    field = chunk.fields.offset_index / "unencoded_byte_array_data_bytes"
    pages = len(index.page_locations)
    if chunk.leaf.element.type != Type.BYTE_ARRAY:
        message = (
            f"column {chunk.column} is of type {chunk.leaf.physical_type}, and its offset index counts bytes of "
            "byte arrays"
        )
        yield Violation(message, field, "none", f"{len(sizes)} entries")
    elif len(sizes) != pages:
        message = f"{len(sizes)} entries for {pages} pages of {chunk}"
        yield Violation(message, field, f"{pages} entries", f"{len(sizes)} entries")
    else:
        yield from _negative(sizes, field, lambda page: f"page {page} of {chunk} holds {sizes[page]} bytes")


def _negative(counts: list[int], field: Field, message: Callable[[int], str]) -> Iterator[Violation]:
    """Counts of pages that are negative."""
    yield from first_places(
        [page for page, count in enumerate(counts) if count < 0],
        lambda page: Violation(message(page), field[page], "at least 0", str(counts[page])),
    )


def _has_offset_index_in_the_body(file: FileUnderTest) -> bool:
    if file.layout is not None:
        return bool(file.layout.kinds[OFFSET_INDEXES].starts)
    return any(given.kind == OFFSET_INDEXES for given in file.ranges_inside)


@rule("PIX-036", of=FILE, only=_has_offset_index_in_the_body)
def offset_indexes_stand_together(file: FileUnderTest) -> Iterator[Violation]:
    """One request fetches the offset indexes of a row group, if nothing that the footer refers to is between them."""
    if file.layout is not None and file.layout.is_dense(OFFSET_INDEXES):
        return
    last: int | None = None
    seen: set[int] = set()
    for taken in file.ranges_inside:
        group = taken.row_group if taken.kind == OFFSET_INDEXES else None
        if group is not None and group != last:
            if group in seen:
                yield Violation(
                    message=(
                        f"other bytes separate the {taken} from the other offset indexes of its row group"
                    ),
                    field=taken.field,
                    expected="the offset indexes of a row group stored together",
                    actual=f"[{taken.start}, {taken.end}) apart from them",
                    column=taken.column,
                    row_group=group,
                )
            seen.add(group)
        last = group


# --------------------------------------------------------------------------------- the lists of a column index


@rule("PIX-020", of=COLUMN_INDEX)
def column_index_decodes(chunk: ColumnChunkUnderTest) -> None:
    """Decoding raises the violation."""
    _ = chunk.column_index


@rule("PIX-021", of=COLUMN_INDEX)
def lists_are_as_long_as_there_are_pages(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Entry i of each list is about page i."""
    index, pages = chunk.column_index, page_count(chunk)
    for name, length in unequal_lists(index, pages):
        said = f"{name} of {chunk} has {length} entries for {pages} pages"
        yield Violation(said, chunk.fields.column_index / name, f"{pages} entries", f"{length} entries")


@rule("PIX-026", of=COLUMN_INDEX)
def null_counts_agree_with_null_pages(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Inside lists, writers disagree on what counts as a null, so the histograms are used."""
    present = present_values(chunk)
    if present is None:
        raise NotApplicable
    nulls = chunk.column_index.null_pages
    yield from first_places(
        false_null_pages(nulls, present),
        lambda page: Violation(
            message=f"page {page} of {chunk} holds {present[page]} non-null values, but is "
            f"{'marked' if nulls[page] else 'not marked'} all-null",
            field=chunk.fields.column_index / f"null_pages[{page}]",
            expected="0 values that are not null" if nulls[page] else "at least 1 value that is not null",
            actual=str(present[page]),
        ),
    )


@rule("PIX-027", of=COLUMN_INDEX)
def column_index_gives_null_counts(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Without them readers cannot look for nulls."""
    if chunk.column_index.null_counts is None:
        said = f"the column index of {chunk} has no null_counts"
        yield Violation(said, chunk.fields.column_index, "null_counts", "none")


@rule("PIX-028", of=COLUMN_INDEX)
def null_counts_add_up(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Every null of the chunk is in a page. PIX-074 judges the sum of a list."""
    counts = chunk.even_column_index.null_counts
    if counts is None:
        raise NotApplicable
    said = chunk.statistics.null_count if chunk.statistics is not None else None
    yield from counts_add_up(chunk, "null_counts", counts, None if chunk.leaf.max_repetition_level else said)


@rule(
    "PIX-074",
    of=COLUMN_INDEX,
    only=lambda chunk: chunk.leaf.max_repetition_level > 0,
)
def null_counts_of_lists_add_up(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """A writer may count either kind of null, but always the same. PIX-028 and STA-010 judge impossible counts."""
    counts = chunk.even_column_index.null_counts
    said = chunk.statistics.null_count if chunk.statistics is not None else None
    if counts is None or said is None:
        raise NotApplicable
    if min(counts, default=0) < 0:
        raise Broken("PIX-028")
    yield from counts_add_up(chunk, "null_counts", counts, said)


def counts_add_up(
    chunk: ColumnChunkUnderTest, name: str, counts: list[int], total: int | None
) -> Iterator[Violation]:
    """Yield the violations of page counts: negative counts, and a sum other than the chunk's total, if given."""
    field = chunk.fields.column_index / name
    if counts and min(counts) < 0:
        yield from _negative(
            counts, field, lambda page: f"{name} of page {page} of {chunk} is {counts[page]}"
        )
    elif total is not None and sum(counts) != total:
        said = (
            f"{name} of {chunk} add up to {sum(counts)}, but {name.removesuffix('s')} of the chunk is {total}"
        )
        yield Violation(said, field, str(total), str(sum(counts)))


def _has_histograms(chunk: ColumnChunkUnderTest) -> bool:
    index = chunk.column_index
    return index.repetition_level_histograms is not None or index.definition_level_histograms is not None


def _histograms(chunk: ColumnChunkUnderTest) -> Iterator[tuple[str, list[int], int]]:
    """The level histograms of all pages: the name in size statistics, the counts, and the number of levels."""
    for name, greatest in (
        ("repetition_level_histogram", chunk.leaf.max_repetition_level),
        ("definition_level_histogram", chunk.leaf.max_definition_level),
    ):
        counts: list[int] | None = getattr(chunk.column_index, f"{name}s")
        if counts is not None:
            yield name, counts, greatest + 1


@rule("PIX-029", of=COLUMN_INDEX, only=_has_histograms)
def histograms_have_their_shape(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """The histograms of all pages are concatenated."""
    pages = page_count(chunk)
    for name, counts, levels in _histograms(chunk):
        if len(counts) != pages * levels:
            message = f"{name}s of {chunk} has {len(counts)} entries for {pages} pages of {levels} levels"
            field = chunk.fields.column_index / f"{name}s"
            yield Violation(message, field, f"{pages * levels} entries", f"{len(counts)} entries")


@rule("PIX-072", of=COLUMN_INDEX, only=_has_histograms)
def histograms_add_up(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """The values of a page are values of the chunk."""
    pages, sizes = page_count(chunk), chunk.facts.size_statistics
    for name, counts, levels in _histograms(chunk):
        if len(counts) != pages * levels:
            raise Broken("PIX-029")
        field = chunk.fields.column_index / f"{name}s"
        whole: list[int] | None = getattr(sizes, name) if sizes is not None else None
        sums = [sum(counts[level::levels]) for level in range(levels)]
        if counts and min(counts) < 0:
            message = f"{name}s of {chunk} holds {min(counts)}"
            yield Violation(message, field[counts.index(min(counts))], "at least 0", str(min(counts)))
        elif whole is not None and len(whole) == levels and sums != whole:
            message = f"{name}s of {chunk} add up to {sums}, but the {name} of the chunk is {whole}"
            yield Violation(message, field, str(whole), str(sums))


def _rows_are_counted_twice(chunk: ColumnChunkUnderTest) -> bool:
    if chunk.chunk.offset_index_offset is None:
        return False
    index = chunk.column_index
    nested = chunk.leaf.max_repetition_level
    return (index.repetition_level_histograms if nested else index.definition_level_histograms) is not None


@rule("PIX-038", of=COLUMN_INDEX, only=_rows_are_counted_twice)
def histograms_count_the_rows(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """A row begins at repetition level 0; without lists, every value is a row."""
    index, leaf = chunk.column_index, chunk.leaf
    name, greatest = "definition_level_histograms", leaf.max_definition_level
    if leaf.max_repetition_level:
        name, greatest = "repetition_level_histograms", leaf.max_repetition_level
    counts: list[int] = getattr(index, name)
    places, levels = chunk.page_places, greatest + 1
    rows = places.row_counts
    if len(counts) != len(rows) * levels:
        raise Broken("PIX-029")
    if leaf.max_repetition_level:
        counted = counts[::levels]
    else:
        counted = [sum(counts[start : start + levels]) for start in range(0, len(counts), levels)]
    if counted == rows:
        return
    begins = list(accumulate(counted, initial=0))
    listed = [*places.first_rows, chunk.group.num_rows]
    last = len(rows)
    yield from first_places(
        [page for page in range(last + 1) if begins[page] != listed[page]],
        lambda page: Violation(
            message=(f"page {page}" if page < last else "what follows the last page")
            + f" of {chunk} begins with row {listed[page]} according to the offset index and "
            f"the footer, but with row {begins[page]} according to the {name}",
            field=places.field(min(page, last - 1), "first_row_index"),
            expected=str(begins[page]),
            actual=str(listed[page]),
        ),
    )
