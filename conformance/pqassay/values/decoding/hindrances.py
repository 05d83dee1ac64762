"""Reasons why a column chunk is not decoded: its size, its codec, and data that pyarrow misreads or refuses."""

from __future__ import annotations

from contextlib import suppress

from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.file import Broken, Mistake, NotChecked
from pqassay.values.decoding.codecs import MOST_FOR_A_BYTE, NOT_READ
from pqassay.values.decoding.faults import FaultKind, Faulty, PageFault
from pqassay.values.decoding.survey import survey as survey_of
from pqassay_spec.base.errors import FormatError
from pqassay_spec.parquet.column_order import WIDTHS
from pqassay_spec.parquet.encoding.names import CODECS
from pqassay_spec.parquet.thrift import CompressionCodec, DictionaryPageHeader, Encoding, Type

GREATEST_NESTED = (1 << 31) - 1
"""The number of bytes of byte arrays inside lists or groups that pyarrow can decode in one row group."""

MOST_DECODED = 3 << 28
"""The limit of decoded bytes of one column chunk with its largest page, since a run of a few bytes can expand to gigabytes.

See also `MOST_FOR_A_BYTE`.
"""

INDEX_WIDTH, OF_A_LIST, OF_AN_ENTRY = 4, 8, 16
"""Sizes in bytes: an index or offset, the levels of a value in a list, and the overhead of a byte array in a dictionary."""

BESIDE_A_VALUE = 8
"""The largest overhead of a value in a page, in bytes: its length and its levels."""


def reason_for(chunk: ColumnChunkUnderTest, reason: NotChecked) -> NotChecked:
    """Why a chunk cannot be decoded; if the same report says which rule its pages break, that rule is the reason.

    The pages of a file beside the judged file have no findings, so they leave the judged file unjudged. An exception are differences of
    more bits than a value, which some readers decode but pyarrow refuses.
    """
    why = excused(chunk, reason)
    is_reported = not chunk.file.prefix or (
        isinstance(why, Broken) and why.rule == FaultKind.WIDE_DIFFERENCES.rule
    )
    return why if is_reported else reason


def require_own_bytes(chunk: ColumnChunkUnderTest) -> None:
    """Raise `NotChecked` for a chunk that shares bytes with others: thousands of row groups may refer to one chunk."""
    try:
        _ = chunk.pages
    except FormatError as error:
        error.__traceback__ = None  # its frames would hold the values
        if error.rule == "PQF-009" and not chunk.file.prefix:
            raise Broken("PQF-009") from None
    except NotChecked:
        return  # the decoder reports pages that cannot be walked


def require_narrow(chunk: ColumnChunkUnderTest) -> None:
    """Raise `NotChecked` for byte arrays in lists and groups that are too large for pyarrow, before it tries to decode them.

    A file of a few kilobytes can expand to gigabytes, on which pyarrow works for minutes before it refuses.
    """
    leaf, metadata = chunk.leaf, chunk.chunk.meta_data
    if leaf.element.type != Type.BYTE_ARRAY or leaf.parent.parent is None:
        return
    if metadata is None or metadata.total_uncompressed_size <= GREATEST_NESTED:
        return
    try:
        pages = chunk.data_pages
        size = sum(page.header.uncompressed_page_size for page in pages)
        values = size - BESIDE_A_VALUE * sum(page.data_header.num_values for page in pages)
    except (FormatError, NotChecked):
        return  # the decoder reports pages that cannot be walked
    if values > GREATEST_NESTED:
        raise NotChecked(
            f"row group {chunk.row_group} of column {chunk.column} holds {size:,} bytes of "
            "byte arrays; inside a list or group, pyarrow decodes at most 2 GiB",
            "tool",
        )


def require_modest(chunk: ColumnChunkUnderTest) -> None:
    """Raise `NotChecked` for values that need far more memory than their stored bytes, before the decoder reserves it.

    The decoder reserves memory for the row count of the footer, regardless of the pages.
    """
    try:
        pages = chunk.pages
        counts = [page.data_header.num_values for page in chunk.data_pages]
    except (FormatError, NotChecked):
        pages, counts = [], []  # the decoder reports pages that cannot be walked
    leaf, group = chunk.leaf, chunk.file.metadata.row_groups[chunk.row_group]
    values = max(sum(counts), group.num_rows, chunk.facts.num_values)
    width = leaf.element.type_length if leaf.element.type == Type.FIXED_LEN_BYTE_ARRAY else None
    size = values * (width or WIDTHS.get(leaf.element.type or 0) or INDEX_WIDTH)
    if leaf.max_repetition_level:  # each value has an offset in a list, and two levels
        size += values * OF_A_LIST
    headers = [page.own_header for page in pages]
    entries = sum(max(each.num_values, 0) for each in headers if isinstance(each, DictionaryPageHeader))
    size += entries * (width or WIDTHS.get(leaf.element.type or 0) or OF_AN_ENTRY)
    if leaf.element.type == Type.BYTE_ARRAY:
        size += sum(page.header.uncompressed_page_size for page in pages)
    size += max((page.header.uncompressed_page_size for page in pages), default=0)
    stored = sum(page.header.compressed_page_size for page in pages)
    if size > max(MOST_DECODED, MOST_FOR_A_BYTE * stored):
        raise NotChecked(
            f"row group {chunk.row_group} of column {chunk.column} counts {max(values, entries):,} values, which would take {size:,} bytes of memory",
            "tool",
        )


def has_bit_packed_levels(chunk: ColumnChunkUnderTest) -> bool:
    """Whether levels have the deprecated encoding, whose bits pyarrow reads in reverse order."""
    with suppress(FormatError, NotChecked):  # the decoder reports pages that cannot be walked
        return any(encoding == Encoding.BIT_PACKED for _, _, encoding in chunk.unusual_levels)
    return False


def has_wide_booleans(chunk: ColumnChunkUnderTest) -> bool:
    """Whether a run of booleans repeats a number other than 0 or 1, which pyarrow reads inconsistently."""
    with suppress(FormatError, NotChecked):
        return chunk.leaf.element.type == Type.BOOLEAN and any(
            fault.kind is FaultKind.WIDE_RUN for _, fault in chunk.part(survey_of).faults
        )
    return False


def excused(chunk: ColumnChunkUnderTest, reason: NotChecked) -> NotChecked:
    """Why a chunk cannot be decoded. If its pages have a fault, the rule about it is the reason, and the file counts as judged."""
    if isinstance(reason, Mistake):
        return reason
    if chunk.file.metadata.row_groups[chunk.row_group].num_rows < 0:
        return Broken("PQF-015")
    try:
        why = chunk.part(survey_of).hindrance or _of_codec(chunk.facts.codec) or reason
    except (FormatError, NotChecked) as problem:
        why = problem
    return NotChecked.because(why) if isinstance(why, FormatError) else why


def _of_codec(codec: int) -> FormatError | NotChecked | None:
    """Why pyarrow refuses a chunk because of its codec, even if no page is compressed."""
    if codec not in CODECS:
        return Faulty(PageFault(FaultKind.UNKNOWN_CODEC))
    return NotChecked(NOT_READ, "tool") if codec == CompressionCodec.LZO else None
