"""``_txn`` of a table: read it safely, find a partition in it, and write it.

Source: "Parquet metadata file" (``parquet-metadata.md``), sections "Concurrent access" and "Reader flow".
"""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

from pqassay_reference.errors import Refused, about
from pqassay_reference.pm.storage import Storage
from pqassay_spec.base.sources import FileSource
from pqassay_spec.pm.txn import Partition, Txn, TxnHead, read_txn

PAUSE_SECONDS = 0.0001
"""Seconds between two attempts of a read after a writer interfered."""


def read_file(path: str | os.PathLike[str]) -> Txn:
    """The current transaction of a table, read safely.

    Raises:
        Malformed: The file does not have a valid transaction.
        OSError: It cannot be read.
    """
    with FileSource(path) as source, about(os.fspath(path)):

        def again() -> None:
            time.sleep(PAUSE_SECONDS)
            source.measure()

        return read_txn(source, again)


def partition_of(txn: Txn, folder: str | os.PathLike[str]) -> Partition:
    """The partition that is stored in a folder, by the name of the folder: ``2024-01-01.6`` is its day, and its number.

    Raises:
        Refused: No partition of the transaction has such a folder, or it is not stored as Parquet.
    """
    name = Path(folder).name
    partition = txn.partition_in(name)
    if partition is None:
        known = ", ".join(sorted(each.folder_names[0] for each in txn.partitions[:10])) or "none"
        raise Refused(f"transaction {txn.version} has no partition {name}; there are, by day: {known}")
    if not partition.is_parquet:
        raise Refused(f"partition {name} of transaction {txn.version} is not stored as Parquet")
    return partition


def moved(txn: Txn, folder: Path, new: Path, size: int) -> Txn:
    """The next transaction, in which a partition has another folder and another size of its Parquet file.

    Raises:
        Refused: As in `partition_of`.
    """
    old = partition_of(txn, folder)
    other = old.changed(name_txn=int(new.name.rpartition(".")[2]), parquet_file_size=size)
    record = txn.record.changed(
        txn=txn.version + 1, partition_table_version=txn.record.partition_table_version + 1
    )
    return replace(
        txn, record=record, partitions=tuple(other if each == old else each for each in txn.partitions)
    )


def commit(storage: Storage, txn: Txn) -> None:
    """Write a transaction into the inactive area, and when it is on disk, the version that selects it.

    Args:
        storage: A ``_txn`` file without other writers, or an empty storage.
        txn: The transaction; its number becomes the version, and must be one more than the previous one.

    Raises:
        Refused: The number is not the next one.
    """
    raw = txn.build()
    if storage.size:
        fields = TxnHead.read(storage.read(0, TxnHead.size))
    else:
        fields = TxnHead.read(bytes(TxnHead.size)).changed(version=txn.version - 1)
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


__all__ = ["commit", "moved", "partition_of", "read_file"]
