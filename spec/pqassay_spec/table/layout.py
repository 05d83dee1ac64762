"""The files that make a folder a table, by their names.

    >>> delta_commit("00000000000000000042.json"), delta_commit("00000000000000000042.crc")
    (42, None)
    >>> is_iceberg_metadata("v3.metadata.json"), is_iceberg_metadata("00004-a.gz.metadata.json")
    (True, True)

Source: the Delta protocol, "Delta Log Entries" and "Checkpoints"; the Iceberg specification, "Table Metadata and Snapshots".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

TableKind = Literal["delta", "iceberg"]
"""A format of tables; also the kind of such a table as a target."""

DELTA_LOG = "_delta_log"
"""The folder of a Delta table for its log."""

DELTA_SIDECARS = "_sidecars"
"""The folder of the log for the sidecars of its checkpoints."""

DELTA_CHECKSUM = ".crc"
"""The ending of a version checksum file."""

DELTA_LAST_CHECKPOINT = "_last_checkpoint"
"""The file of the log that names the checkpoint that was the newest when it was written."""

ICEBERG_METADATA = "metadata"
"""The folder of an Iceberg table for its metadata."""

VERSION_DIGITS = 20
"""Digits of a version in the names of a Delta log."""

_COMMIT = re.compile(r"(\d{20})\.json", re.ASCII)
_COMPACTION = re.compile(r"(\d{20})\.(\d{20})\.compacted\.json", re.ASCII)
_CHECKPOINT = re.compile(
    r"(?P<version>\d{20})\.checkpoint(?:\.(?P<part>\d{10})\.(?P<parts>\d{10})|\.(?P<unique>[0-9A-Za-z-]+))?"
    r"\.(?P<form>parquet|json)",
    re.ASCII,
)
_DELTA_JSON = re.compile(
    r"_last_checkpoint|\d{20}(?:\.json|\.crc|\.checkpoint\.[0-9A-Za-z-]+\.json|\.\d{20}\.compacted\.json)",
    re.ASCII,
)
_VECTORS = re.compile(r"deletion_vector_.+\.bin")
_ICEBERG = re.compile(r".+\.metadata\.json(?:\.gz)?")


@dataclass(frozen=True)
class CheckpointName:
    """The parts of the name of a checkpoint file.

    Attributes:
        version: The version of the table.
        part, parts: The number of a part of a checkpoint, from 1 on, and the number of parts; 1 and 1 if it has no parts.
        unique: The unique part of the name of a checkpoint by the second specification; empty for others.
        form: Its file format.
    """

    version: int
    part: int
    parts: int
    unique: str
    form: str


def commit_name(version: int) -> str:
    """The name of the commit that made a version.

    >>> commit_name(7)
    '00000000000000000007.json'
    """
    return f"{version:0{VERSION_DIGITS}}.json"


def delta_compaction(name: str) -> range | None:
    """The versions whose commits a log compaction file replaces; ``None`` for other names.

    >>> delta_compaction("00000000000000000004.00000000000000000006.compacted.json")
    range(4, 7)
    """
    found = _COMPACTION.fullmatch(name)
    return None if found is None else range(int(found[1]), int(found[2]) + 1)


def checksum_name(version: int) -> str:
    """The name of the version checksum file of a version."""
    return f"{version:0{VERSION_DIGITS}}{DELTA_CHECKSUM}"


def delta_commit(name: str) -> int | None:
    """The version that a file of a Delta log commits; ``None`` if it is not a commit."""
    match = _COMMIT.fullmatch(name)
    return int(match[1]) if match else None


def delta_checkpoint(name: str) -> CheckpointName | None:
    """The parts of the name of a checkpoint in a Delta log; ``None`` for other files.

    >>> delta_checkpoint("00000000000000000010.checkpoint.0000000002.0000000003.parquet")
    CheckpointName(version=10, part=2, parts=3, unique='', form='parquet')
    """
    match = _CHECKPOINT.fullmatch(name)
    if match is None or (match["form"] == "json" and match["unique"] is None):
        return None
    return CheckpointName(
        int(match["version"]),
        int(match["part"] or 1),
        int(match["parts"] or 1),
        match["unique"] or "",
        match["form"],
    )


def is_delta_json(name: str) -> bool:
    """Whether a file has the name of a file with lines of JSON in a Delta log.

    >>> [is_delta_json(f"{3:020}{end}") for end in (".json", ".crc", ".checkpoint.a-1.json", ".checkpoint.parquet")]
    [True, True, True, False]
    """
    return _DELTA_JSON.fullmatch(name) is not None


def is_deletion_vector(name: str) -> bool:
    """Whether a file has the name of a file of deletion vectors."""
    return _VECTORS.fullmatch(name) is not None


def is_iceberg_metadata(name: str) -> bool:
    """Whether a file has the name of the metadata of an Iceberg table."""
    return _ICEBERG.fullmatch(name) is not None


def is_delta_log_file(name: str) -> bool:
    """Whether a file in a folder `DELTA_LOG` makes that folder the log of a table."""
    return delta_commit(name) is not None or delta_checkpoint(name) is not None


def kind_by_listing(names: Sequence[str]) -> TableKind | None:
    """The format of the table whose metadata a file belongs to, by its path below some folder; ``None`` for other files.

    >>> kind_by_listing(["sales", "_delta_log", "00000000000000000007.json"]), kind_by_listing(["metadata", "a.json"])
    ('delta', None)
    """
    if len(names) < 2:
        return None
    if names[-2] == DELTA_LOG:
        return "delta" if is_delta_log_file(names[-1]) else None
    return "iceberg" if names[-2] == ICEBERG_METADATA and is_iceberg_metadata(names[-1]) else None
