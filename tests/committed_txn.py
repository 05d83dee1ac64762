"""Transactions written into ``_txn`` as QuestDB's double buffering does it."""

from __future__ import annotations

from collections.abc import Sequence

from pqassay_reference.errors import Refused
from pqassay_reference.pm.storage import Storage
from pqassay_spec.pm.txn import Partition, Txn, TxnHead


def commit(storage: Storage, txn: Txn) -> None:
    """Write a transaction into the area that readers do not read, and when it is on disk, the version that names it.

    Args:
        storage: A ``_txn`` file that nobody else writes, or nothing yet.
        txn: The transaction; its number is the version that becomes valid, one more than the one before.

    Raises:
        Refused: The number is not the next one.
    """
    raw = txn.build()
    fields = TxnHead.read(storage.read(0, TxnHead.size)) if storage.size else _empty_head(txn.version - 1)
    if txn.version != fields.version + 1:
        raise Refused(f"transaction {txn.version} does not follow {fields.version}")
    read_now = fields.area
    end = read_now.offset + read_now.length if read_now.offset else TxnHead.size
    free_before = bool(read_now.offset) and TxnHead.size + len(raw) <= read_now.offset
    offset = TxnHead.size if free_before else end
    side = "b" if txn.version % 2 else "a"
    head = fields.changed(
        **{
            f"offset_{side}": offset,
            f"symbols_size_{side}": len(txn.symbol_counts),
            f"partitions_size_{side}": len(txn.partitions) * Partition.size,
        }
    )
    if not storage.size:
        storage.write(0, head.build())
    if storage.size < offset:
        storage.write(storage.size, bytes(offset - storage.size))
    storage.write(offset, raw)
    start, _ = TxnHead.place(f"offset_{side}")
    last, width = TxnHead.place(f"partitions_size_{side}")
    storage.write(start, head.build()[start : last + width])
    storage.sync()
    first, length = TxnHead.place("version")
    storage.write(first, txn.version.to_bytes(length, "little"))
    storage.sync()


def _empty_head(version: int) -> TxnHead:
    return TxnHead.read(bytes(TxnHead.size)).changed(version=version)


def with_sizes(txn: Txn, sizes: Sequence[int]) -> Txn:
    """The next transaction, with other sizes of the partitions' Parquet files."""
    partitions = tuple(
        partition.changed(parquet_file_size=size)
        for partition, size in zip(txn.partitions, sizes, strict=True)
    )
    return Txn(txn.record.changed(txn=txn.version + 1), txn.symbol_counts, partitions)
