"""Files with index directories that tests make themselves, value by value, from what the chapter says."""

from __future__ import annotations

import datetime as dt
import decimal
import math
import struct
import zlib
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pqassay_reference.rewrite.finished_file import finished_file
from pqassay_reference.rewrite.footer_splice import with_key_values
from pqassay_spec.directory import zone_sums
from pqassay_spec.directory.codes import Granularity, IndexType, Placement
from pqassay_spec.directory.distinct_set import DistinctSet, SetFlags, build_sets
from pqassay_spec.directory.entries import KEY, Entry, EntryHead, directory_text, merged, parse_directory
from pqassay_spec.directory.identity import described, shape_of
from pqassay_spec.directory.packed_values import join_values
from pqassay_spec.directory.zone_sums import Group, SumKind, SumsHead, double_parts, double_sum, integer_parts
from pqassay_spec.parquet.file import Framing, read_footer, read_framing
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.thrift import FileMetaData, KeyValue, Type

Change = Callable[[EntryHead], EntryHead]


def raw_value(leaf: SchemaLeaf, value: Any) -> bytes:
    """The PLAIN bytes of a value, without a length."""
    element = leaf.element
    match value:
        case str():
            return value.encode()
        case bytes():
            return value
        case bool():
            return bytes((value,))
        case float():
            return struct.pack("<f" if element.type == Type.FLOAT else "<d", value)
        case dt.datetime():
            number = (value - dt.datetime(1970, 1, 1, tzinfo=value.tzinfo)) // dt.timedelta(microseconds=1)
        case dt.date():
            number = (value - dt.date(1970, 1, 1)).days
        case decimal.Decimal():
            number = int(value.scaleb(element.scale or 0))
        case _:
            number = int(value)
    if element.type == Type.FIXED_LEN_BYTE_ARRAY:
        return number.to_bytes(element.type_length or 0, "big", signed=True)
    width = 4 if element.type == Type.INT32 else 8
    return (number % (1 << 8 * width)).to_bytes(width, "little")


def parts_of_rows(path: Path, granularity: Granularity) -> list[tuple[int, int]]:
    """First row and number of rows of the file or of each row group."""
    file = pq.ParquetFile(path)
    rows = [file.metadata.row_group(number).num_rows for number in range(file.metadata.num_row_groups)]
    if granularity is Granularity.FILE:
        return [(0, sum(rows))]
    starts = [sum(rows[:number]) for number in range(len(rows))]
    return list(zip(starts, rows, strict=True))


def add_sets(
    path: Path,
    column: str,
    granularity: Granularity = Granularity.ROW_GROUP,
    *,
    most: int = 1 << 30,
    parts: Sequence[tuple[int, int]] | None = None,
    lie: Callable[[list[DistinctSet]], list[DistinctSet]] = lambda parts: parts,
    **options: Any,
) -> None:
    """Add distinct sets of a column to a file; ``lie`` may change them."""
    values = pq.read_table(path, columns=[column]).column(0).to_pylist()
    leaf = _leaves(path, column)[0]
    sets: list[DistinctSet] = []
    for start, count in parts or parts_of_rows(path, granularity):
        of_part = values[start : start + count]
        there = {one for one in of_part if one is not None and not _is_nan(one)}
        raws = {raw_value(leaf, one) for one in there}
        raws |= {raw_value(leaf, one) for one in of_part if isinstance(one, float) and one == 0.0}
        flags = SetFlags.NULLS if None in of_part else SetFlags(0)
        flags |= SetFlags.NAN if any(_is_nan(one) for one in of_part) else SetFlags(0)
        flags |= SetFlags.COMPLETE if len(raws) <= most else SetFlags(0)
        sets.append(DistinctSet(flags, tuple(sorted(raws)[:most])))
    sets = lie(sets)
    blob = build_sets(leaf.element.type or 0, sets)
    count = sum(len(one.values) for one in sets)
    add_entry(path, IndexType.DISTINCT_SET, [column], granularity, blob, count, **options)


def add_sums(
    path: Path,
    keys: Sequence[str],
    measure: str,
    granularity: Granularity = Granularity.ROW_GROUP,
    *,
    parts: Sequence[tuple[int, int]] | None = None,
    add: int = 0,
    **options: Any,
) -> None:
    """Add zone sums to a file; ``add`` makes the sum of the first group false by so much."""
    table = pq.read_table(path, columns=[*keys, measure])
    leaves = _leaves(path, *keys, measure)
    kind = zone_sums.sum_kind(leaves[-1])
    groups: list[Group] = []
    combinations: list[tuple[Any, ...]] = []
    sizes: list[int] = []
    lows: list[bytes] = []
    highs: list[bytes] = []
    columns = [table.column(name).to_pylist() for name in [*keys, measure]]
    for start, count in parts or parts_of_rows(path, granularity):
        rows: dict[tuple[Any, ...], list[Any]] = {} if keys else {(): []}
        for place in range(start, start + count):
            rows.setdefault(tuple(column[place] for column in columns[:-1]), []).append(columns[-1][place])
        sizes.append(len(rows))
        for combination in sorted(rows, key=lambda one: [(key is not None, key) for key in one]):
            measures = rows[combination]
            combinations.append(combination)
            there = [one for one in measures if one is not None and not _is_nan(one)]
            groups.append(
                Group(
                    len(measures),
                    measures.count(None),
                    sum(_is_nan(one) for one in measures),
                    *_sum_parts(kind, there, table.schema.field(measure).type, add if not groups else 0),
                )
            )
            if there:
                lows.append(raw_value(leaves[-1], min(there)))
                highs.append(raw_value(leaves[-1], max(there)))
    members: dict[str, Any] = {
        "head": SumsHead(len(sizes), len(groups), len(keys), kind, 0).members(),
        "part_sizes": sizes,
        "groups": [one.members() for one in groups],
        "keys": [],
    }
    for number, leaf in enumerate(leaves[:-1]):
        column = [one[number] for one in combinations]
        data = join_values(
            leaf.element.type or 0, [raw_value(leaf, one) for one in column if one is not None]
        )
        nulls = bytes(one is None for one in column)
        members["keys"].append({"nulls": nulls, "values_length": len(data), "values": data})
    for name, raws in (("minima", lows), ("maxima", highs)):
        data = join_values(leaves[-1].element.type or 0, raws)
        members[name] = {"values_length": len(data), "values": data}
    blob = bytes(zone_sums.SUMS.build(members))
    add_entry(path, IndexType.ZONE_SUMS, [*keys, measure], granularity, blob, len(groups), **options)


def _sum_parts(kind: SumKind, values: Sequence[Any], arrow: Any, add: int) -> tuple[int, int]:
    if kind is SumKind.DOUBLE:
        return double_parts(double_sum(values) + add)
    if kind is SumKind.INTEGER:
        scale = arrow.scale if pa.types.is_decimal(arrow) else 0
        return integer_parts(int(sum(Fraction(one) for one in values) * 10**scale) + add)
    return 0, 0


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _leaves(path: Path, *columns: str) -> list[SchemaLeaf]:
    with finished_file(path) as file:
        return described(file.metadata, [tuple(column.split(".")) for column in columns])


def add_entry(
    path: Path,
    kind: IndexType,
    columns: Sequence[str],
    granularity: Granularity,
    blob: bytes,
    value_count: int,
    *,
    placement: Placement = Placement.INLINE,
    codec: str | None = None,
    change: Change = lambda head: head,
) -> None:
    """Add an entry with a blob to a file, in place."""
    with finished_file(path) as file:
        paths = tuple(tuple(column.split(".")) for column in columns)
        stored = blob if codec is None else _compressed(blob, codec)
        codes = {None: 0, "snappy": 1, "gzip": 2, "zstd": 6, "lz4_raw": 7}
        head = EntryHead.of(
            type=kind,
            granularity=granularity,
            placement=placement,
            codec=codes[codec],
            offset=file.framing.footer_start if placement is Placement.BODY else 0,
            stored_length=len(stored),
            plain_length=len(blob),
            value_count=value_count,
            row_count=file.metadata.num_rows,
            shape=shape_of(file.metadata, paths),
            crc32=zlib.crc32(stored),
        )
        inline = stored if placement is Placement.INLINE else b""
        entry = Entry(change(head), paths, "tests", inline)
        kept = [
            parse_directory(pair.value or "")
            for pair in file.metadata.key_value_metadata or []
            if pair.key == KEY
        ]
        text = directory_text([*merged(kept), entry])
        footer = with_key_values(file.footer, remove=[KEY], add=[KeyValue(key=KEY, value=text)])
        added = stored if placement is Placement.BODY else b""
        file.rewrite(footer, body_end=file.framing.footer_start, added=added)


def _compressed(blob: bytes, codec: Any) -> bytes:
    return bytes(pa.Codec(codec).compress(blob, asbytes=True))


def footer_of(source: Any) -> tuple[Framing, FileMetaData]:
    """Framing and footer of a file."""
    framing = read_framing(source)
    return framing, read_footer(source, framing)[0]
