"""``_txn`` of a table: read while a writer is at work, and asked for a partition.

Source: "Parquet metadata file" (``parquet-metadata.md``), sections "Concurrent access" and "Reader flow".
"""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pqassay_reference.errors import Refused, about
from pqassay_spec.base.sources import FileSource
from pqassay_spec.pm.txn import Partition, Txn, read_txn

PAUSE_SECONDS = 0.0001
"""Pause between two attempts of a read that a writer came into."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

BY_DAY = "%Y-%m-%d"
"""Name of a partition by day."""

FOLDER_NAMES = (BY_DAY, "%Y", "%Y-%m", "%G-W%V", "%Y-%m-%dT%H")
"""Names of partitions by day, which most are, and by year, month, week and hour."""

MICROSECONDS = timedelta(microseconds=1)


def read_file(path: str | os.PathLike[str]) -> Txn:
    """The transaction of a table that counts now, read safely.

    Raises:
        Malformed: The file does not hold one.
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
    for partition in txn.partitions:
        if name in folder_names(partition):
            if not partition.is_parquet:
                raise Refused(f"partition {name} of transaction {txn.version} is not stored as Parquet")
            return partition
    known = ", ".join(sorted(folder_names(each)[0] for each in txn.partitions[:10])) or "none"
    raise Refused(f"transaction {txn.version} has no partition {name}; there are, by day: {known}")


def folder_names(partition: Partition) -> list[str]:
    """Names that the folder of a partition has, for each way to partition a table; its timestamp counts micro- or nanoseconds."""
    number = "" if partition.name_txn < 0 else f".{partition.name_txn}"
    names: list[str] = []
    for unit in (1, 1000):
        try:
            start = EPOCH + MICROSECONDS * (partition.timestamp // unit)
        except OverflowError:
            continue
        names += [f"{start:{form}}{number}" for form in FOLDER_NAMES]
    return names
