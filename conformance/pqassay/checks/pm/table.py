"""Checks of ``_pm`` against ``_txn``, the table's file that names the snapshot for readers.

``_txn`` is stored in the folder of the table, above that of the partition. A copy of it beside ``_pm`` counts as well: it describes the
partition of that folder, or its only partition.
"""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.checks.subjects import Subject
from pqassay.stores.kinds import TXN_PLACES
from pqassay.under_test.fields import Field, Located, Structure
from pqassay.under_test.file import Broken, FileUnderTest, NotApplicable, Remembered
from pqassay.under_test.pm.file import PmUnderTest
from pqassay.under_test.violation import Violation
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import Source
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.txn import Partition, Txn, TxnHead, partition_offset, read_txn

SHOWN = 3
"""The number of sizes that a message names."""


class Table:
    """The table of a ``_pm``; each property raises an error if its part of ``_txn`` cannot be read."""

    def __init__(self, file: FileUnderTest) -> None:
        self.file = file

    @Remembered
    def source(self) -> Source:
        """The file ``_txn``. Raises `NotApplicable` if it does not exist."""
        for name in TXN_PLACES:
            source = self.file.beside(name)
            if source is not None:
                return source
        raise NotApplicable

    @Remembered
    def txn(self) -> Txn:
        """The effective transaction. Raises PM-150."""
        try:
            return read_txn(self.source)
        except FormatError as error:
            error.rule = "PM-150"
            raise

    @Remembered
    def position(self) -> int:
        """The position of this folder's partition. Raises `NotApplicable` if no partition is stored as Parquet."""
        partitions = self.txn.partitions
        folder = self.file.source.name.rpartition("/")[0].rpartition("/")[2]
        found = self.txn.partition_in(folder)
        if found is None and len(partitions) == 1 and self.file.beside(TXN_PLACES[0]) is None:
            found = partitions[0]
        if found is None or not found.is_parquet:
            raise NotApplicable
        return partitions.index(found)

    @property
    def partition(self) -> Partition:
        """The partition of this folder. Raises as `position` does."""
        return self.txn.partitions[self.position]

    def size_field(self) -> Field:
        """Field 3 of the partition, its size."""
        area = TxnHead.read(self.source.read(0, TxnHead.size)).area
        place = Partition.place("parquet_file_size", partition_offset(area, self.position))
        return self._field(f"partitions[{self.position}].parquet_file_size", place)

    def version_field(self) -> Field:
        """The field of the version."""
        return self._field("head.version", TxnHead.place("version"))

    def _field(self, path: str, place: tuple[int, int]) -> Field:
        def located() -> Located:
            return None, *place

        file = FileUnderTest(self.source, self.file.options)
        return Field(Structure(f"txn.{path}", file, located, beside=self.source.name))


def _tables(file: FileUnderTest) -> list[Table]:
    table = file.part(Table)
    _ = table.source
    return [table]


def _pinned(file: FileUnderTest) -> list[Table]:
    table = file.part(Table)
    _ = table.partition
    return [table]


TABLE: Subject[Table] = Subject("_txn of the table", _tables)
"""The file ``_txn``, before anything is read."""

PINNED: Subject[Table] = Subject("partition in _txn", _pinned)
"""The partition of this folder in the effective transaction, if it is stored as Parquet."""


@rule("PM-150", of=TABLE)
def the_transaction_can_be_read(table: Table) -> Iterator[Violation]:
    """Without the transaction, readers know no partitions."""
    try:
        _ = table.txn
    except FormatError as error:
        yield Violation(error.reason, table.version_field(), "the version of a record in the file", "none")


@rule("PM-151", of=PINNED)
def a_snapshot_is_pinned(table: Table) -> Iterator[Violation]:
    """Readers walk back to the footer of this size, but do not find it."""
    chain, size = table.file.part(PmUnderTest).chain, table.partition.parquet_file_size
    sizes = [snapshot.fields.parquet_file_size for snapshot in chain.snapshots]
    if size in sizes:
        return
    chain.require_whole()
    listed = ", ".join(map(str, sizes[:SHOWN])) + ", …" * (len(sizes) > SHOWN)
    message = (
        f"transaction {table.txn.version} pins a Parquet file of {size} bytes; snapshots are of {listed}"
    )
    yield Violation(message, table.size_field(), listed, str(size))


@rule("PM-152", of=PINNED)
def the_parquet_file_is_as_long_as_pinned(table: Table) -> Iterator[Violation]:
    """Readers look for the footer beyond the end of the file."""
    size, there = table.partition.parquet_file_size, table.file.data.source.size
    chain = table.file.part(PmUnderTest).chain
    if all(snapshot.fields.parquet_file_size != size for snapshot in chain.snapshots):
        raise Broken("PM-151")
    if there < size:
        message = f"transaction {table.txn.version} pins {size} bytes of {pm.DATA_NAME}, which has {there}"
        yield Violation(message, table.size_field(), f"at most {there}", str(size))
