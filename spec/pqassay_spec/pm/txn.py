"""``_txn``: the file of a QuestDB table with the sizes that pin a reader's snapshot of each partition.

A head has a version and, for each of two areas, its offset and sizes.  If the version is even, area A has the current
transaction, otherwise area B.  A writer fills the other area, then writes the version.  A reader reads the area
of the version. It accepts the result only if the version is still the same, and is also in the record.

    >>> head = TxnHead.read(struct.pack("<QIIIQIIIIQIQ", 7, 64, 0, 32, 0, 0, 232, 0, 64, 0, 0, 0))
    >>> head.area
    Area(offset=232, symbols_size=0, partitions_size=64)
    >>> Partition(0, 1 << 61 | 9, -1, 3540).num_rows
    9

Source: "Parquet metadata file" (``parquet-metadata.md``), sections "Concurrent access" and "Reader flow", which name the two
areas, field 3 and the safe read; the rest of the layout is from QuestDB's public sources.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from construct import Int32sl, Int32ul, Int64sl, Int64ul

from pqassay_spec.base.errors import FormatError, Malformed
from pqassay_spec.base.sources import Source
from pqassay_spec.grammar.flat_records import FlatStruct, flat_struct, member

FILE_NAME = "_txn"
"""The name of the file, in the folder of the table."""

MOST_PARTITION_BYTES = 1 << 28
"""Most bytes of a list of partitions that is read."""

MOST_ATTEMPTS = 1000
"""Most attempts to read while a writer interferes."""


class Area(NamedTuple):
    """One of the two areas: the offset of its record, and the sizes in bytes of the lists after it."""

    offset: int
    symbols_size: int
    partitions_size: int

    @property
    def length(self) -> int:
        """Bytes of the record and the lists after it."""
        return TxnRecord.size + self.symbols_size + PARTITIONS_SIZE.size + self.partitions_size


# --8<-- [start:txn]
@flat_struct
class TxnHead(FlatStruct):
    """The beginning of the file."""

    version: int = member(
        Int64ul, "The transaction that counts; even: it is in area A, odd: in area B. Written last."
    )
    offset_a: int = member(Int32ul, "Where the record of area A starts.")
    symbols_size_a: int = member(Int32ul, "Bytes of its symbol counts.")
    partitions_size_a: int = member(Int32ul, "Bytes of its partitions.")
    reserved_a: int = member(Int64ul, "0.")
    reserved_a2: int = member(Int32ul, "0.")
    offset_b: int = member(Int32ul, "Where the record of area B starts.")
    symbols_size_b: int = member(Int32ul, "Bytes of its symbol counts.")
    partitions_size_b: int = member(Int32ul, "Bytes of its partitions.")
    reserved_b: int = member(Int64ul, "0.")
    reserved_b2: int = member(Int32ul, "0.")
    reserved_end: int = member(Int64ul, "0.")

    @property
    def area(self) -> Area:
        """The current area, which the version selects."""
        if self.version % 2:
            return Area(self.offset_b, self.symbols_size_b, self.partitions_size_b)
        return Area(self.offset_a, self.symbols_size_a, self.partitions_size_a)


@flat_struct
class TxnRecord(FlatStruct):
    """The beginning of a record. After it come counts of symbols, 8 bytes each, the size of the partitions, and the partitions."""

    txn: int = member(Int64ul, "The transaction: the version, once more.")
    transient_row_count: int = member(Int64sl, "Rows of the last partition.")
    fixed_row_count: int = member(Int64sl, "Rows of all others.")
    min_timestamp: int = member(Int64sl, "The least timestamp.")
    max_timestamp: int = member(Int64sl, "The greatest timestamp.")
    structure_version: int = member(Int64sl, "Changes with the columns.")
    data_version: int = member(Int64sl, "Changes with the data.")
    partition_table_version: int = member(Int64sl, "Changes with the partitions.")
    column_version: int = member(Int64sl, "Changes with the files of columns.")
    truncate_version: int = member(Int64sl, "Changes when the table is emptied.")
    seq_txn: int = member(Int64sl, "Sequencer transaction that was applied last.")
    checksum: int = member(Int32sl, "Checksum of what waits to be sorted in.")
    lag_txn_count: int = member(Int32sl, "Transactions that wait.")
    lag_row_count: int = member(Int32sl, "Rows that wait.")
    lag_min_timestamp: int = member(Int64sl, "The least timestamp of those.")
    lag_max_timestamp: int = member(Int64sl, "The greatest timestamp of those.")
    reserved: int = member(Int64ul, "0.")
    reserved2: int = member(Int32ul, "0.")
    symbol_count: int = member(Int32ul, "Columns of symbols, of which a count each follows.")


@flat_struct
class Partition(FlatStruct):
    """A partition: four numbers, counted from 0; number 3 pins the snapshot of `_pm`."""

    timestamp: int = member(Int64sl, "Where the partition begins, in the unit of the designated timestamp.")
    masked_size: int = member(Int64ul, "Rows in bits 0 to 43; bit 61 is set for a partition in Parquet.")
    name_txn: int = member(Int64sl, "The number behind the dot in the folder's name, -1 without one.")
    parquet_file_size: int = member(
        Int64sl, "Field 3: bytes of `data.parquet`; for a partition in Parquet alone."
    )

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return self.masked_size & ROW_MASK

    @property
    def is_parquet(self) -> bool:
        """Whether the partition is a Parquet file."""
        return bool(self.masked_size & PARQUET_BIT)

    @property
    def folder_names(self) -> list[str]:
        """Possible names of its folder, one for each way to partition a table; its timestamp counts micro- or nanoseconds."""
        number = "" if self.name_txn < 0 else f".{self.name_txn}"
        names: list[str] = []
        for unit in (1, 1000):
            try:
                start = EPOCH + MICROSECONDS * (self.timestamp // unit)
            except OverflowError:
                continue
            names += [f"{start:{form}}{number}" for form in FOLDER_NAMES]
        return names


# --8<-- [end:txn]

PARTITIONS_SIZE = struct.Struct("<I")
"""The size of the partitions in bytes, which is stored before them."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECONDS = timedelta(microseconds=1)

FOLDER_NAMES = ("%Y-%m-%d", "%Y", "%Y-%m", "%G-W%V", "%Y-%m-%dT%H")
"""Formats of folder names for partitions by day (the most common), year, month, week and hour."""

ROW_MASK = (1 << 44) - 1
PARQUET_BIT = 1 << 61


@dataclass(frozen=True)
class Txn:
    """A transaction of a table: its record, and its partitions."""

    record: TxnRecord
    symbol_counts: bytes
    partitions: tuple[Partition, ...]

    @property
    def version(self) -> int:
        """The number of the transaction."""
        return self.record.txn

    def partition_in(self, folder: str) -> Partition | None:
        """The partition that is stored in a folder with this name, such as ``2024-01-01.6``."""
        return next((each for each in self.partitions if folder in each.folder_names), None)

    def build(self) -> bytes:
        """The bytes of the record and the lists after it."""
        partitions = b"".join(partition.build() for partition in self.partitions)
        return self.record.build() + self.symbol_counts + PARTITIONS_SIZE.pack(len(partitions)) + partitions


def partition_offset(area: Area, number: int) -> int:
    """The offset of a partition of an area."""
    start = area.offset + TxnRecord.size + area.symbols_size + PARTITIONS_SIZE.size
    return start + number * Partition.size


def read_txn(source: Source, again: Callable[[], object] = lambda: None) -> Txn:
    """The current transaction: the safe read, which starts again if a writer interfered.

    Args:
        source: The file.
        again: Called before each further attempt, to wait, or to measure the file again.

    Raises:
        FormatError: The file contradicts its head, although no writer is at work; or it has more than
            `MOST_PARTITION_BYTES` of partitions.
    """
    before = -1
    trouble: FormatError = _broken("a writer came in between, again and again")
    for _ in range(MOST_ATTEMPTS):
        head = TxnHead.read(source.read(0, TxnHead.size))
        try:
            record = _read_area(source, head)
        except FormatError as error:
            trouble = error
        else:
            if record.version == head.version == _version(source):
                return record
            trouble = _broken(f"version {head.version} names the record of transaction {record.version}")
        if head.version == before:  # no writer came between
            break
        before = head.version
        again()
    raise trouble


def _version(source: Source) -> int:
    offset, length = TxnHead.place("version")
    return int.from_bytes(source.read(offset, length), "little")


def _read_area(source: Source, head: TxnHead) -> Txn:
    area = head.area
    if area.partitions_size > MOST_PARTITION_BYTES or area.partitions_size % Partition.size:
        raise _broken(f"{area.partitions_size} bytes of partitions, of {Partition.size} each")
    raw = source.read(area.offset, area.length)
    symbols_end = TxnRecord.size + area.symbols_size
    (size,) = PARTITIONS_SIZE.unpack_from(raw, symbols_end)
    if size != area.partitions_size:
        raise _broken(f"the head says {area.partitions_size} bytes of partitions, the record {size}")
    partitions = Partition.read_many(raw, symbols_end + PARTITIONS_SIZE.size, size // Partition.size)
    return Txn(TxnRecord.read(raw), raw[TxnRecord.size : symbols_end], tuple(partitions))


def _broken(reason: str) -> Malformed:
    return Malformed(f"no transaction can be read: {reason}", rule="PM-150", field="txn")
