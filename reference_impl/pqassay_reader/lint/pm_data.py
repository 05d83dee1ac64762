"""Compare a ``_pm`` with the Parquet file beside it: with its footer, and with its values.

The expected snapshot is derived from the Parquet footer and compared; then the columns are decoded.

Source: chapter ``pm.md``.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import xxhash

from pqassay_reference.errors import Undecodable
from pqassay_reference.pm.history import Prefix
from pqassay_spec.base.errors import FormatError, Malformed
from pqassay_spec.base.sources import FileSource, Source
from pqassay_spec.parquet.bloom import probe
from pqassay_spec.parquet.file import read_footer, read_framing
from pqassay_spec.parquet.schema.leaf_columns import leaves
from pqassay_spec.pm.codes import DECIMALS, NO_COLUMN, HeaderFeature, PhysicalType, type_tag
from pqassay_spec.pm.file import Snapshot
from pqassay_spec.pm.from_parquet import questdb_key
from pqassay_spec.pm.from_parquet import snapshot as pm_from_parquet
from pqassay_spec.pm.header import Header
from pqassay_spec.pm.reading import read_value
from pqassay_spec.pm.skip import PLAIN_FORMATS
from pqassay_spec.pm.value import SnapshotChunk, SnapshotColumn, SnapshotValue


def lint_data(
    source: Source, header: Header, snapshots: Sequence[Snapshot], path: str | os.PathLike[str]
) -> None:
    """Raise an error if the description of a Parquet file in a ``_pm`` is wrong.

    Args:
        source: The ``_pm``.
        header: Its header.
        snapshots: Its snapshots, the newest first.
        path: The Parquet file.

    Raises:
        Malformed: The two do not agree.
        Undecodable: A column cannot be decoded.
    """
    with FileSource(path) as data:
        snapshot, described = _described(data, header, snapshots)
        said = read_value(source, header, snapshot)
        _compare(said, described)
        _values(said, data.read(0, snapshot.fields.parquet_file_size))


class _Described(NamedTuple):
    """The expected snapshots for the footer of a Parquet file: as a rewritten file, and as QuestDB first writes it."""

    value: SnapshotValue
    encoded: SnapshotValue
    questdb: questdb_key.QuestDBMetadata | None


def _described(data: Source, header: Header, snapshots: Sequence[Snapshot]) -> tuple[Snapshot, _Described]:
    """The snapshot for the current Parquet file, and the expected snapshots of that file.

    After the part that the newest snapshot describes, the file may have unpublished bytes; earlier snapshots must describe the whole file.
    """
    exact = [one for one in snapshots if one.fields.parquet_file_size == data.size]
    unpublished = [one for one in snapshots[:1] if one.fields.parquet_file_size < data.size]
    for snapshot in [*exact, *unpublished]:
        size = snapshot.fields.parquet_file_size
        part = Prefix(data, size)
        try:
            framing = read_framing(part)
            metadata, _ = read_footer(part, framing)
        except FormatError:
            continue
        questdb = questdb_key.read(metadata, len(leaves(metadata)))
        blooms: pm_from_parquet.BloomMode = (
            "external" if HeaderFeature.BLOOM_FILTERS_EXTERNAL in header.features else "inlined"
        )
        value = pm_from_parquet.describe(metadata, framing, questdb=questdb, source=part, blooms=blooms).value
        encoded = value
        if questdb is not None:
            encoded = pm_from_parquet.describe(
                metadata, framing, questdb=questdb, path="encode", source=part
            ).value
        return snapshot, _Described(value, encoded, questdb)
    raise Malformed(
        f"no snapshot describes a Parquet file of {data.size} bytes: it was rewritten",
        rule="PM-100",
        field="snapshots[0].footer.parquet_footer_offset",
    )


# ---------------------------------------------------------------------------------------------- the footer


def _compare(stored: SnapshotValue, described: _Described) -> None:
    true = described.value
    footer = stored.parquet_footer_offset, stored.parquet_footer_length
    _require_equal("PM-102", "footer", footer, (true.parquet_footer_offset, true.parquet_footer_length))
    _require_equal("PM-103", "footer.row_group_count", len(stored.row_groups), len(true.row_groups))
    _require_equal("PM-104", "header.column_count", len(stored.columns), len(true.columns))
    for position, (here, there) in enumerate(zip(stored.columns, true.columns, strict=False)):
        path = f"column_descriptors[{position}]"
        _require_equal("PM-105", f"names[{position}]", here.name, there.name)
        types = (here.physical_type, here.fixed_byte_len), (there.physical_type, there.fixed_byte_len)
        _require_equal("PM-106", f"{path}.physical_type", *types)
        levels = (here.max_rep_level, here.max_def_level), (there.max_rep_level, there.max_def_level)
        _require_equal("PM-107", f"{path}.max_def_level", *levels)
        if there.id != NO_COLUMN:
            _require_equal("PM-148", f"{path}.id", here.id, there.id)
        if described.questdb is not None:
            _require_equal("PM-122", f"{path}.type", here.type, there.type)
    if described.questdb is not None:
        _require_equal("PM-124", "footer.unused_bytes", stored.unused_bytes, true.unused_bytes)
        designated = stored.designated_timestamp, true.designated_timestamp
        _require_equal("PM-125", "header.designated_timestamp", *designated)
    if stored.sorting != described.encoded.sorting:
        _require_equal("PM-118", "sorting_columns", stored.sorting, true.sorting)
    for number, (group, right) in enumerate(zip(stored.row_groups, true.row_groups, strict=False)):
        _require_equal("PM-109", f"row_groups[{number}].num_rows", group.num_rows, right.num_rows)
        for position, (chunk, other) in enumerate(zip(group.chunks, right.chunks, strict=False)):
            _compare_chunks(chunk, other, f"row_groups[{number}].column_chunks[{position}]")


def _require_equal(rule: str, field: str, stated: object, true: object) -> None:
    if stated != true:
        raise Malformed(f"{stated}, but the Parquet file has {true}", rule=rule, field=field)


def _compare_chunks(stored: SnapshotChunk, true: SnapshotChunk, path: str) -> None:
    _require_equal("PM-110", f"{path}.codec", stored.codec, true.codec)
    _require_equal("PM-111", f"{path}.encodings", stored.encodings, true.encodings)
    _require_equal("PM-112", f"{path}.num_values", stored.num_values, true.num_values)
    ranges = (stored.offset, stored.length), (true.offset, true.length)
    _require_equal("PM-113", f"{path}.byte_range_start", *ranges)
    # If only one of the two has a fact, that is a loss, not a contradiction.
    for rule, name in (
        ("PM-114", "null_count"),
        ("PM-115", "distinct_count"),
        ("PM-116", "min"),
        ("PM-116", "max"),
        ("PM-120", "bloom"),
    ):
        here, there = getattr(stored, name), getattr(true, name)
        if here is not None and there is not None:
            _require_equal(rule, f"{path}.{name}", here, there)


# ------------------------------------------------------------------------------------------------ the values


def _values(snapshot: SnapshotValue, data: bytes) -> None:
    try:
        with pq.ParquetFile(pa.BufferReader(data)) as parquet:
            for position, column in enumerate(snapshot.columns):
                path = parquet.schema.column(position).path
                if (
                    column.max_rep_level == 0
                    and column.max_def_level <= 1
                    and path in parquet.schema_arrow.names
                ):
                    _column(snapshot, position, parquet, path)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise Undecodable(f"the Parquet file cannot be decoded: {' '.join(str(error).split())}") from None


def _column(snapshot: SnapshotValue, position: int, parquet: pq.ParquetFile, path: str) -> None:
    column, last = snapshot.columns[position], None
    for number, group in enumerate(snapshot.row_groups):
        values = _plain(parquet.read_row_group(number, columns=[path]).column(0).combine_chunks())
        chunk, field = group.chunks[position], f"row_groups[{number}].column_chunks[{position}]"
        if chunk.null_count not in (None, values.null_count):
            raise _untrue("PM-142", f"{field}.null_count", chunk.null_count, f"{values.null_count} nulls")
        _bounds(column, chunk, values, field)
        if isinstance(chunk.bloom, bytes):
            _bloom(column, chunk.bloom, values, field)
        if position == snapshot.designated_timestamp != NO_COLUMN and len(values):
            times = values.to_numpy(zero_copy_only=False)
            if (times[1:] < times[:-1]).any() or (last is not None and times[0] < last):
                raise Malformed("the rows do not ascend by time", rule="PM-144", field=field)
            last = times[-1]


def _plain(values: Any) -> Any:
    """Values in the physical type, if Arrow supports it: whole numbers for times, bytes for text."""
    if isinstance(values.type, pa.BaseExtensionType):
        values = values.storage
    kind = values.type
    if pa.types.is_dictionary(kind):
        return _plain(values.dictionary_decode())
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return values.cast(pa.binary())
    if pa.types.is_temporal(kind):
        return values.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
    return values


def _untrue(rule: str, field: str, stated: object, true: object) -> Malformed:
    return Malformed(f"{stated}, but the column holds {true}", rule=rule, field=field)


def _bounds(column: SnapshotColumn, chunk: SnapshotChunk, values: Any, field: str) -> None:
    if column.physical_type == PhysicalType.INT96 or values.null_count == len(values):
        return
    found: dict[str, Any] = dict(pc.min_max(values))
    for rule, name, bound in (("PM-140", "min", chunk.min), ("PM-141", "max", chunk.max)):
        true = _comparable(values.type, found[name].as_py())
        if bound is None or true is None:
            continue
        stated = _read_bound(column, values.type, bound)
        if true < stated if name == "min" else true > stated:
            raise _untrue(rule, f"{field}.{name}", stated, true)


def _comparable(kind: Any, value: Any) -> Any:
    """A value in the form of `_read_bound`."""
    if pa.types.is_decimal(kind) and value is not None:
        return int(value.scaleb(kind.scale))
    return value


def _read_bound(column: SnapshotColumn, kind: Any, bound: bytes) -> Any:
    """A bound in a form that can be compared with its column's values."""
    if pa.types.is_decimal(kind) and column.physical_type not in PLAIN_FORMATS:
        return int.from_bytes(bound, "big", signed=True)
    if pa.types.is_boolean(kind):
        return bool(bound[0])
    if column.physical_type in PLAIN_FORMATS:
        code = PLAIN_FORMATS[PhysicalType(column.physical_type)]
        (number,) = struct.unpack(code.upper() if pa.types.is_unsigned_integer(kind) else code, bound)
        return number
    return bound


def _bloom(column: SnapshotColumn, bitset: bytes, values: Any, field: str) -> None:
    for value in values.unique().to_pylist():
        raw = None if value is None else _encoded(column, _comparable(values.type, value))
        if raw is not None and not probe(bitset, xxhash.xxh64_intdigest(raw)):
            raise Malformed(f"the bloom filter lacks {value!r:.60}", rule="PM-143", field=f"{field}.bloom")


def _encoded(column: SnapshotColumn, value: Any) -> bytes | None:
    """A value in PLAIN encoding, without length prefix; ``None`` if its length is unknown."""
    if column.physical_type in PLAIN_FORMATS:
        code = PLAIN_FORMATS[PhysicalType(column.physical_type)]
        return struct.pack(code.upper() if isinstance(value, int) and value >= 0 else code, value)
    if isinstance(value, bytes):
        return value
    if type_tag(column.type) in DECIMALS and column.fixed_byte_len:
        return int(value).to_bytes(column.fixed_byte_len, "big", signed=True)
    return None
