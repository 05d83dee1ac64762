"""Update ``_pm`` after its Parquet file has grown.

An update appends the new row groups, and a footer that refers to them and to the old ones.  Readers that are pinned to an
earlier snapshot are not affected.

Source: "Parquet metadata file" (``parquet-metadata.md``), section "Concurrent access".
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pqassay_reference.errors import Refused, about
from pqassay_reference.pm.generate import continued
from pqassay_reference.pm.history import Prefix, Version, earlier_versions
from pqassay_reference.pm.read import PmReader
from pqassay_reference.pm.storage import FileStorage, MemoryStorage, Storage
from pqassay_reference.pm.write import update_in
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import FileSource, Source
from pqassay_spec.parquet.file import TAIL_SIZE, Framing, read_footer, read_framing, read_head
from pqassay_spec.parquet.thrift import FileMetaData
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.from_parquet import questdb_key
from pqassay_spec.pm.from_parquet.fields import fields_of
from pqassay_spec.pm.from_parquet.questdb_key import QuestDBMetadata
from pqassay_spec.pm.from_parquet.snapshot import BloomMode, Description, LeftOut, describe
from pqassay_spec.pm.value import SnapshotColumn, SnapshotValue


@dataclass(frozen=True)
class Growth:
    """The outcome of an update.

    Attributes:
        snapshots: Number of appended snapshots; 0 if the newest one describes the current Parquet file.
        appended: Number of appended bytes.
        reused: Number of row groups in the newest snapshot whose blocks already existed.
        written: Number of new row groups in the newest snapshot.
        parquet_file_size: Bytes of the Parquet file that the newest snapshot now describes.
        left_out: The facts of the Parquet file that the newest snapshot lacks.
    """

    snapshots: int
    appended: int
    reused: int
    written: int
    parquet_file_size: int
    left_out: tuple[LeftOut, ...] = ()


def pair_of(path: str | os.PathLike[str]) -> tuple[Path, Path]:
    """The Parquet file and the ``_pm`` of a folder; the path may also be one of the two files.

    >>> pair_of("2024-01-01/data.parquet")[1].as_posix()
    '2024-01-01/_pm'
    """
    named = Path(path)
    if named.is_dir():
        return named / pm.DATA_NAME, named / pm.FILE_NAME
    if named.name == pm.FILE_NAME:
        return named.with_name(pm.DATA_NAME), named
    return named, named.with_name(pm.FILE_NAME)


# ----------------------------------------------------------------------------------------------------------- update


def update_beside(
    data: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    history: bool = False,
    dry_run: bool = False,
) -> Growth:
    """Append the additions of a Parquet file to its ``_pm``.

    Args:
        data: The Parquet file, which is only read. It must begin with the file that the newest snapshot describes.
        target: Its ``_pm``.
        history: Whether footers of updates between the two also become snapshots.
        dry_run: Do the same in memory, without changing the file.

    Raises:
        Refused: The Parquet file was rewritten instead of updated, or its columns changed: `_pm` must be generated again.
        Malformed: One of the two is damaged.
        Unsupported: ``_pm`` cannot describe the Parquet file.
        BusyError: Another process is writing ``_pm``.
        OSError: A file cannot be read or written.
    """
    with FileSource(data) as source:
        if dry_run:
            with FileSource(target) as stored:
                copy = MemoryStorage(stored.read(0, stored.size), os.fspath(target))
            return grow_in(source, copy, history=history)
        with FileStorage(target) as storage:
            return grow_in(source, storage, history=history)


def grow_in(source: Source, storage: Storage, *, history: bool = False) -> Growth:
    """Append the additions of a Parquet file in a storage without other writers. See `update_beside`."""
    with about(storage.name):
        reader = PmReader(storage)
        reader.verify()
        first = reader.value()
    with about(source.name):
        read_head(source)
        framing = read_framing(source)
        metadata, _ = read_footer(source, framing)
        questdb = questdb_key.read(metadata, len(fields_of(metadata)))
    if not _has_grown(source, framing, reader):
        return Growth(0, 0, reader.row_group_count, 0, framing.size)
    versions = [Grown(source, framing, metadata, questdb)]
    if history and questdb is not None:
        earlier = earlier_versions(Version(source, framing, metadata, questdb))
        since = [version for version in earlier if version.source.size > reader.parquet_file_size]
        versions = [
            *(Grown(each.source, each.framing, each.metadata, each.questdb) for each in since),
            *versions,
        ]
    growth = Growth(0, 0, 0, 0, framing.size)
    for version in versions:
        value, left_out = next_value(version, first, storage.name)
        done = update_in(storage, value)
        appended = growth.appended + done.appended
        growth = Growth(
            growth.snapshots + 1, appended, done.reused, done.written, version.source.size, left_out
        )
    return growth


@dataclass(frozen=True)
class Grown:
    """A Parquet file at one time after the newest snapshot."""

    source: Source
    framing: Framing
    metadata: FileMetaData
    questdb: QuestDBMetadata | None


def _has_grown(source: Source, framing: Framing, reader: PmReader) -> bool:
    """Whether a Parquet file begins with the file that a snapshot describes. Raises `Refused` if it is another one."""
    fields = reader.footer.fields
    known = fields.parquet_file_size
    described = (fields.parquet_footer_offset, fields.parquet_footer_length)
    rewritten = (
        f"{source.name} was rewritten, not updated, since {reader.source.name} was written; "
        f"`pqassay pm generate {source.name}` rewrites it"
    )
    if framing.size < known:
        raise Refused(f"{rewritten} (the file had {known} bytes and has {framing.size})")
    try:
        earlier = framing if framing.size == known else read_framing(Prefix(source, known))
    except FormatError:
        raise Refused(f"{rewritten} (no footer ends at byte {known}, where it did)") from None
    if (earlier.footer_start, earlier.footer_length) != described:
        raise Refused(f"{rewritten} (its footer of then is not at {described[0]})")
    return framing.size > known


def next_value(version: Grown, first: SnapshotValue, name: str) -> tuple[SnapshotValue, tuple[LeftOut, ...]]:
    """The snapshot of a grown Parquet file, as a successor of the first one, and the facts that it omits."""
    described = described_like(first, version)
    value = described.value
    _require_same_columns(first.columns, value.columns, name)
    if version.questdb is None:
        order = (value.designated_timestamp, value.sorting)
        if order != (first.designated_timestamp, first.sorting):
            raise Refused(
                f"the rows of the Parquet file are no longer in the order that {name} says; `pqassay pm generate` rewrites it"
            )
        value = replace(value, unused_bytes=first.unused_bytes + first.parquet_footer_length + TAIL_SIZE)
    value = replace(continued(value, first), designated_timestamp=first.designated_timestamp)
    return replace(value, squash_tracker=first.squash_tracker), described.left_out


def described_like(first: SnapshotValue, version: Grown) -> Description:
    """The description of a Parquet file, with bloom filters only where an earlier snapshot has them."""
    blooms: BloomMode = (
        "none" if not first.bloom_columns else "external" if first.bloom_external else "inlined"
    )
    return describe(
        version.metadata, version.framing, questdb=version.questdb, source=version.source, blooms=blooms
    )


def _require_same_columns(before: Sequence[SnapshotColumn], now: Sequence[SnapshotColumn], name: str) -> None:
    """Raise `Refused` if the columns differ from those in the header, because updates cannot change these."""

    def stored(columns: Sequence[SnapshotColumn]) -> list[tuple[object, ...]]:
        return [
            (each.name, each.physical_type, each.fixed_byte_len, each.max_rep_level, each.max_def_level)
            for each in columns
        ]

    for number, (was, is_now) in enumerate(zip(stored(before), stored(now), strict=False)):
        if was != is_now:
            raise Refused(
                f"column {number} is {is_now[0]}, but {was[0]} in {name}, or of another type; `pqassay pm generate` rewrites it"
            )
    if len(before) != len(now):
        raise Refused(
            f"the Parquet file has {len(now)} columns, {name} has {len(before)}; `pqassay pm generate` rewrites it"
        )


__all__ = ["Grown", "Growth", "described_like", "grow_in", "next_value", "pair_of", "update_beside"]
