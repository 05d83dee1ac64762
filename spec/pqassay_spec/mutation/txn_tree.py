"""The parts of a ``_txn`` file that mutations change: its head, and the record and the partitions of the area that counts.

Flat records are dictionaries with the names of the grammar's fields; all have their width, so that nothing moves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from pqassay_spec.base.sources import BytesSource
from pqassay_spec.pm.txn import Partition, TxnHead, TxnRecord, partition_offset, read_txn


@dataclass
class TxnTree:
    """The parts, and the bytes of the whole file before anything was changed."""

    head: dict[str, Any]
    record: dict[str, Any]
    partitions: list[dict[str, Any]]
    raw: bytes


def take_apart(data: bytes) -> TxnTree:
    """Parse the transaction that counts. Raises `FormatError`."""
    txn = read_txn(BytesSource(data))
    partitions = [each.members() for each in txn.partitions]
    return TxnTree(TxnHead.read(data).members(), txn.record.members(), partitions, data)


def put_together(tree: TxnTree, frozen: Collection[str] = ()) -> bytes:
    """The file with the parts as they are now; nothing follows from anything else."""
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
    """Nothing."""
    yield from ()
