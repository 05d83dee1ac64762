"""Parts of files: what is read of each, in groups for tasks, and as text in an option of the data source."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pqassay_reader.lake.indexed_dataset import RowGroups
from pqassay_spark.query.lake_indexes import LeftOut
from pqassay_spark.query.lake_listing import LakeFile

PARTS = "parts"
"""The option in which `pqassay_spark.read` tells the data source what to read."""

MOST_BYTES = 128 << 20
"""Bytes of the files that one task reads, unless a single file has more; as ``spark.sql.files.maxPartitionBytes``."""

OPEN_COST = 4 << 20
"""Bytes that opening a file counts for; as ``spark.sql.files.openCostInBytes``."""


@dataclass(frozen=True)
class FilePart:
    """What is read of a file.

    Attributes:
        file: The file.
        left: The row groups of it that are read; ``None`` for all.
    """

    file: LakeFile
    left: RowGroups | None = None

    @property
    def size(self) -> int:
        """Its bytes, about."""
        if self.left is None:
            return self.file.size
        return self.file.size * len(self.left.kept) // self.left.total


def parts_left(files: Iterable[LakeFile], left: LeftOut) -> list[FilePart]:
    """What is read of files of which something is left out."""
    return [FilePart(file, left.row_groups.get(file.name)) for file in files if file.name not in left.files]


def packed(parts: Iterable[FilePart], tasks: int) -> list[list[FilePart]]:
    """Parts of files in groups of about the same size, at least as many as there are tasks at a time; as Spark packs files."""
    ordered = sorted(parts, key=lambda part: -part.size)
    total = sum(part.size + OPEN_COST for part in ordered)
    most = min(MOST_BYTES, max(OPEN_COST, total // tasks))
    groups: list[list[FilePart]] = []
    size = most
    for part in ordered:
        if size + part.size > most:
            groups.append([])
            size = 0
        groups[-1].append(part)
        size += part.size + OPEN_COST
    return groups


def text_of(parts: Iterable[FilePart]) -> str:
    """Parts as text."""
    return json.dumps([[*vars(part.file).values(), part.left] for part in parts])


def parts_of(text: str) -> list[FilePart]:
    """The inverse of `text_of`."""
    found: list[list[Any]] = json.loads(text)
    return [
        FilePart(LakeFile(name, size, partition), None if left is None else RowGroups(*left))
        for name, size, partition, left in found
    ]
