"""The parts of a ``_txn`` file that mutations change: its head, and the record and the partitions of the current area.

Flat records are dictionaries with the names of the grammar's fields; all have a fixed width, so other parts never move.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from pqassay_spec.base.sources import BytesSource
from pqassay_spec.pm.txn import Partition, TxnHead, TxnRecord, partition_offset, read_txn


@dataclass
class TxnTree:
    """The parts, and the bytes of the original file."""

    head: dict[str, Any]
    record: dict[str, Any]
    partitions: list[dict[str, Any]]
    raw: bytes


def take_apart(data: bytes) -> TxnTree:
    """Parse the current transaction. Raises `FormatError`."""
    txn = read_txn(BytesSource(data))
    partitions = [each.members() for each in txn.partitions]
    return TxnTree(TxnHead.read(data).members(), txn.record.members(), partitions, data)


def put_together(tree: TxnTree, frozen: Collection[str] = ()) -> bytes:
    """The bytes of the file with the current parts; no value depends on another."""
    del frozen
    content = bytearray(tree.raw)
    area = TxnHead.read(tree.raw).area
    parts = [(0, TxnHead(**tree.head)), (area.offset, TxnRecord(**tree.record))]
    parts += [
        (partition_offset(area, number), Partition(**members))
        for number, members in enumerate(tree.partitions)
    ]
    for offset, record in parts:
        raw = record.build()
        content[offset : offset + len(raw)] = raw
    return bytes(content)


def derived(_: TxnTree) -> Iterator[tuple[str, Any]]:
    """Yield nothing, because no value follows from the layout."""
    yield from ()
