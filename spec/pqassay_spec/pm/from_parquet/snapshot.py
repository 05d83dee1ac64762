"""The mapping from the footer of a Parquet file to a snapshot of ``_pm``, as a whole and in parts.

Statistics are copied byte for byte, from ``min_value`` and ``max_value`` only.  A bound is left out if ``_pm`` cannot store it,
or its readers would compare it in another order than Parquet's. A missing bound costs time, but a wrong one loses rows.

QuestDB fills the column descriptors in two ways.  When it *encodes* one of its partitions for the first time, it
uses the facts of its table. When it rewrites a Parquet file, it uses that file's *schema*, as other programs
do.  `WritingPath` names the two.

Source: "Parquet metadata file" (``parquet-metadata.md``), sections "Column descriptor", "Column chunk", "Stat encoding",
"Bloom filters"; where it is silent, files that QuestDB 9.4 wrote.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pqassay_spec.base.errors import FormatError, Malformed, Unsupported
from pqassay_spec.base.sources import Source
from pqassay_spec.grammar.thrift_decoder import decode
from pqassay_spec.parquet.bloom import BLOCK_SIZE
from pqassay_spec.parquet.column_order import WIDTHS
from pqassay_spec.parquet.file import BLOOM_HEADER_LIMIT, Framing, chunk_start
from pqassay_spec.parquet.thrift import (
    BloomFilterHeader,
    ColumnChunk,
    ColumnMetaData,
    Encoding,
    FileMetaData,
    Statistics,
    Type,
)
from pqassay_spec.pm.codes import (
    NO_COLUMN,
    Codec,
    ColumnType,
    EncodingBit,
    Repetition,
    type_tag,
)
from pqassay_spec.pm.from_parquet.bounds import bounds_of
from pqassay_spec.pm.from_parquet.fields import LeafField, fields_of, type_of
from pqassay_spec.pm.from_parquet.order import WritingPath, designated_timestamp_of, sorting_of
from pqassay_spec.pm.from_parquet.questdb_key import (
    LOCAL_KEY_IS_GLOBAL,
    QuestDBColumn,
    QuestDBMetadata,
    of_columns,
)
from pqassay_spec.pm.value import ExternalBloom, SnapshotChunk, SnapshotColumn, SnapshotValue
from pqassay_spec.pm.value import SnapshotRowGroup as RowGroupValue

BloomMode = Literal["inlined", "external", "none"]
"""The treatment of bloom filters: copied, referred to, or omitted."""

ENCODING_BITS: dict[int, EncodingBit] = {
    Encoding.PLAIN: EncodingBit.PLAIN,
    Encoding.PLAIN_DICTIONARY: EncodingBit.RLE_DICTIONARY,
    Encoding.RLE_DICTIONARY: EncodingBit.RLE_DICTIONARY,
    Encoding.DELTA_BINARY_PACKED: EncodingBit.DELTA_BINARY_PACKED,
    Encoding.DELTA_LENGTH_BYTE_ARRAY: EncodingBit.DELTA_LENGTH_BYTE_ARRAY,
    Encoding.DELTA_BYTE_ARRAY: EncodingBit.DELTA_BYTE_ARRAY,
    Encoding.BYTE_STREAM_SPLIT: EncodingBit.BYTE_STREAM_SPLIT,
}
"""Parquet's encodings and their bits; encodings of levels and newer encodings do not have one."""

_CODECS: frozenset[int] = frozenset(Codec)

MOST_LEVEL = 255
"""The greatest level that fits into a descriptor."""


class LeftOut(NamedTuple):
    """A fact of the Parquet file that the snapshot omits, and why."""

    row_group: int
    column: int
    name: str
    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.what} of column {self.name} in row group {self.row_group}: {self.why}"


@dataclass(frozen=True)
class Description:
    """A snapshot, and the facts of the Parquet file that it omits."""

    value: SnapshotValue
    left_out: tuple[LeftOut, ...]


def describe(
    metadata: FileMetaData,
    framing: Framing,
    *,
    questdb: QuestDBMetadata | None = None,
    path: WritingPath = "schema",
    source: Source | None = None,
    blooms: BloomMode = "inlined",
) -> Description:
    """The snapshot that describes a Parquet file, and the facts that it omits.

    Args:
        metadata: Its footer.
        framing: The place of the footer.
        questdb: Its ``questdb`` key (`pqassay_spec.pm.from_parquet.questdb_key.read`), or a replacement for it.
        path: The origin of the descriptors. ``encode`` needs ``questdb``.
        source: The file, from which bloom filters are read; without it, bloom filters are omitted.
        blooms: The treatment of bloom filters.

    Raises:
        Malformed: The footer contradicts itself, or ``questdb`` does not describe its columns (rule PM-121).
        Unsupported: ``_pm`` cannot describe the file: encrypted columns, chunks in other files, codecs without a number,
            levels above `MOST_LEVEL`; or it has no QuestDB types, and ``path`` is ``encode``.
    """
    fields = fields_of(metadata)
    if questdb is not None:
        of_columns(questdb, len(fields))
    elif path == "encode":
        raise Unsupported("without the key questdb nothing is known of QuestDB's table", field="key questdb")
    for number, group in enumerate(metadata.row_groups):
        if len(group.columns) != len(fields):
            raise Malformed(
                f"{len(group.columns)} column chunks, of {len(fields)} columns",
                field=f"footer.row_groups[{number}].columns",
            )
    columns = columns_of(metadata, fields, questdb=questdb, path=path)
    left_out: list[LeftOut] = []
    room = framing.size
    row_groups: list[RowGroupValue] = []
    for number, group in enumerate(metadata.row_groups):
        chunks: list[SnapshotChunk] = []
        for ordinal, (chunk, field) in enumerate(zip(group.columns, fields, strict=True)):
            where = f"footer.row_groups[{number}].columns[{ordinal}]"
            bloom: ExternalBloom | None = None
            if source is not None and blooms != "none":
                bloom, why = bloom_of(chunk, source, framing)
                if why:
                    left_out.append(LeftOut(number, ordinal, field.name, "the bloom filter", why))
            kept: bytes | ExternalBloom | None = bloom
            if source is not None and bloom is not None and blooms == "inlined":
                room -= bloom.length
                if room < 0:  # many entries may refer to one filter, and each row group would get a copy
                    raise Unsupported(
                        "bloom filters overlap, and together are longer than the file", field=where
                    )
                kept = source.read(bloom.offset, bloom.length)
            found, reasons = chunk_of(
                chunk, field, columns[ordinal].type, is_questdb=questdb is not None, bloom=kept, where=where
            )
            left_out += [LeftOut(number, ordinal, field.name, *reason) for reason in reasons]
            chunks.append(found)
        rows = _count(group.num_rows, f"footer.row_groups[{number}].num_rows")
        row_groups.append(RowGroupValue(rows, tuple(chunks)))
    bloom_columns = [
        ordinal
        for ordinal in range(len(columns))
        if any(group.chunks[ordinal].bloom is not None for group in row_groups)
    ]
    designated = designated_timestamp_of(metadata, fields, questdb)
    return Description(
        SnapshotValue(
            columns=tuple(columns),
            row_groups=tuple(row_groups),
            parquet_footer_offset=framing.footer_start,
            parquet_footer_length=framing.footer_length,
            unused_bytes=questdb.unused_bytes if questdb is not None else 0,
            designated_timestamp=designated,
            sorting=tuple(sorting_of(metadata, fields, questdb, path=path)),
            bloom_columns=tuple(bloom_columns),
            bloom_external=blooms == "external" and bool(bloom_columns),
        ),
        tuple(left_out),
    )


def _count(value: int, where: str) -> int:
    if value < 0:
        raise Malformed(f"{value} is not a count", field=where, expected="0 or more", actual=str(value))
    return value


# -------------------------------------------------------------------------------------------------------- columns


def columns_of(
    metadata: FileMetaData,
    fields: Sequence[LeafField],
    *,
    questdb: QuestDBMetadata | None = None,
    path: WritingPath = "schema",
) -> list[SnapshotColumn]:
    """The column descriptors. A number that several columns have is not used as an ID.

    Raises:
        Malformed, Unsupported: As in `column_of`.
    """
    described: Sequence[QuestDBColumn | None] = (
        questdb.schema if questdb is not None else [None] * len(fields)
    )
    ids = [column_id(field, column) for field, column in zip(fields, described, strict=True)]
    times = Counter(ids)
    return [
        column_of(
            field,
            column,
            id=number if times[number] == 1 else NO_COLUMN,
            path=path,
            null_free=path == "encode" and is_null_free(metadata, ordinal),
        )
        for ordinal, (field, column, number) in enumerate(zip(fields, described, ids, strict=True))
    ]


def column_id(field: LeafField, described: QuestDBColumn | None) -> int:
    """ID of a column: its number in QuestDB's table, or the field's id in Parquet, or `NO_COLUMN`."""
    if described is not None and described.id is not None and described.id >= 0:
        return described.id
    number = field.top.field_id
    return number if number is not None and number >= 0 and field.alone else NO_COLUMN


def is_null_free(metadata: FileMetaData, ordinal: int) -> bool:
    """Whether the statistics prove that a column has no null."""
    chunks = [group.columns[ordinal] for group in metadata.row_groups if ordinal < len(group.columns)]
    known = [facts.statistics if (facts := chunk.meta_data) is not None else None for chunk in chunks]
    return all(statistics is not None and statistics.null_count == 0 for statistics in known)


def column_of(
    field: LeafField,
    described: QuestDBColumn | None = None,
    *,
    id: int | None = None,  # noqa: A002 - the field's name in the format
    path: WritingPath = "schema",
    null_free: bool = False,
) -> SnapshotColumn:
    """The descriptor of one column.

    Args:
        field: Its place in the schema.
        described: The entry of the ``questdb`` key for it.
        id: Its ID, if it is not `column_id`.
        path: ``encode`` takes the repetition from QuestDB's table and omits ASCII; every column is optional there, except
            symbol columns that never had a null. ``schema`` takes both from the file.
        null_free: Whether the column is known to have no nulls; only used with ``encode``.

    Raises:
        Malformed: A FIXED_LEN_BYTE_ARRAY without a length.
        Unsupported: The physical type is unknown, or a level does not fit.
    """
    leaf, element = field.leaf, field.leaf.element
    if element.type is None or element.type not in set(Type):
        raise Unsupported(
            f"column {field.name}: physical type {element.type} is unknown", field="footer.schema"
        )
    deepest = max(leaf.max_definition_level, leaf.max_repetition_level)
    if deepest > MOST_LEVEL:
        raise Unsupported(
            f"column {field.name}: level {deepest}, where {MOST_LEVEL} is the greatest that _pm can hold",
            field="footer.schema",
        )
    is_fixed = element.type == Type.FIXED_LEN_BYTE_ARRAY
    if is_fixed and not (element.type_length and element.type_length > 0):
        raise Malformed(
            f"column {field.name}: FIXED_LEN_BYTE_ARRAY of {element.type_length} bytes", field="footer.schema"
        )
    code = described.column_type if described is not None else type_of(field)
    given = field.top.repetition_type
    repetition = next((kind for kind in Repetition if kind == given), Repetition.OPTIONAL)
    if path == "encode":
        bare = type_tag(code) == ColumnType.SYMBOL and null_free
        repetition = Repetition.REQUIRED if bare else Repetition.OPTIONAL
    return SnapshotColumn(
        name=field.name,
        physical_type=element.type,
        id=column_id(field, described) if id is None else id,
        type=code,
        fixed_byte_len=(element.type_length or 0) if is_fixed else 0,
        max_rep_level=leaf.max_repetition_level,
        max_def_level=leaf.max_definition_level,
        repetition=repetition,
        is_ascii=path == "schema" and described is not None and described.ascii is True,
        local_key_is_global=described is not None and described.format == LOCAL_KEY_IS_GLOBAL,
    )


# -------------------------------------------------------------------------------------------------- column chunks


def chunk_of(
    chunk: ColumnChunk,
    field: LeafField,
    code: int,
    *,
    is_questdb: bool = False,
    bloom: bytes | ExternalBloom | None = None,
    where: str = "footer",
) -> tuple[SnapshotChunk, list[tuple[str, str]]]:
    """The description of one column chunk, and name and reason of each fact that is left out.

    Args:
        chunk: The chunk.
        field: Its column.
        code: TYPE of the column.
        is_questdb: Whether QuestDB wrote the file; its bounds are exact although the footer does not state that.
        bloom: Its bloom filter.
        where: Field path of the chunk, for errors.

    Raises:
        Malformed: A count or size is negative.
        Unsupported: The chunk is encrypted, is stored in another file, or its codec has no number.
    """
    facts = readable(chunk, where)
    statistics = facts.statistics or Statistics()
    bounds = bounds_of(statistics, field.leaf.element, code)
    assumed = is_questdb or facts.type in WIDTHS
    """Whether the bounds are exact if the footer does not say: values of fixed width are never truncated, but text may be."""
    min_exact, max_exact = statistics.is_min_value_exact, statistics.is_max_value_exact
    start = chunk_start(chunk)
    described = SnapshotChunk(
        codec=_codec(facts, where),
        encodings=encodings_of(facts),
        num_values=_count(facts.num_values, f"{where}.meta_data.num_values"),
        offset=_count(
            facts.data_page_offset if start is None else start, f"{where}.meta_data.data_page_offset"
        ),
        length=_count(facts.total_compressed_size, f"{where}.meta_data.total_compressed_size"),
        null_count=_known(statistics.null_count),
        distinct_count=_known(statistics.distinct_count),
        min=bounds.min,
        max=bounds.max,
        min_exact=bounds.min is not None and (assumed if min_exact is None else min_exact),
        max_exact=bounds.max is not None and (assumed if max_exact is None else max_exact),
        bloom=bloom,
    )
    return described, list(bounds.left_out)


def readable(chunk: ColumnChunk, where: str = "footer") -> ColumnMetaData:
    """The metadata of a chunk that ``_pm`` can describe.

    Raises:
        Unsupported: The chunk is encrypted, or stored in another file.
    """
    if chunk.file_path:
        raise Unsupported("the column chunk is stored in another file", field=f"{where}.file_path")
    if chunk.meta_data is None or chunk.crypto_metadata is not None:
        raise Unsupported("the column chunk is encrypted", field=f"{where}.crypto_metadata")
    return chunk.meta_data


def _codec(facts: ColumnMetaData, where: str) -> int:
    if facts.codec not in _CODECS:
        raise Unsupported(f"codec {facts.codec} is unknown", field=f"{where}.meta_data.codec")
    return facts.codec


def encodings_of(facts: ColumnMetaData) -> int:
    """ENCODINGS of a chunk: the bits of all encodings that have one."""
    mask = 0
    for encoding in facts.encodings:
        mask |= int(ENCODING_BITS.get(encoding, 0))
    return mask


def _known(count: int | None) -> int | None:
    """A count of the statistics; ``None`` for a negative one, which has no meaning."""
    return count if count is not None and count >= 0 else None


# -------------------------------------------------------------------------------------------------- bloom filters


def bloom_of(chunk: ColumnChunk, source: Source, framing: Framing) -> tuple[ExternalBloom | None, str]:
    """The place of the bitset of a chunk's bloom filter in the Parquet file, or the reason why there is none.

    The reason is empty if the chunk has no filter.
    """
    facts = chunk.meta_data
    if facts is None or not facts.bloom_filter_offset:
        return None, ""
    offset = facts.bloom_filter_offset
    if not 0 < offset < framing.footer_start:
        return None, f"it is said to be at {offset}, outside the body of the file"
    raw = source.read(offset, min(BLOOM_HEADER_LIMIT, framing.footer_start - offset))
    try:
        header, taken = decode(BloomFilterHeader, raw, root="bloom_filter", base=offset)
    except FormatError as error:
        return None, f"its header cannot be read: {error.reason}"
    if (
        header.algorithm.BLOCK is None
        or header.hash.XXHASH is None
        or header.compression.UNCOMPRESSED is None
    ):
        return None, "it is of an unknown kind"
    start, length = offset + taken, header.numBytes
    if length < BLOCK_SIZE or length % BLOCK_SIZE or start + length > framing.footer_start:
        return None, f"a bitset of {length} bytes at {start} is not whole blocks in the body of the file"
    return ExternalBloom(start, length), ""
