"""Remove unused bytes: from ``_pm`` alone, or also from the Parquet file, in a new folder.

A new folder has the next number as the suffix of its name.  Both files are complete before it gets its name; the old folder stays
for readers of earlier transactions.  Pages are copied unchanged, so rows, encodings and statistics stay.

Source: "Parquet metadata file" (``parquet-metadata.md``), sections "Concurrent access" and "Migration".
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from pqassay_reference.columns.chunk_structures import read_bloom_filter, read_offset_index
from pqassay_reference.errors import Refused, about
from pqassay_reference.pm.growth import Grown, described_like, next_value
from pqassay_reference.pm.query import migrated
from pqassay_reference.pm.read import PmReader
from pqassay_reference.pm.storage import FileStorage
from pqassay_reference.pm.txn import commit, moved, partition_of
from pqassay_reference.pm.write import create, sections_of
from pqassay_reference.rewrite.footer_splice import footer_and_tail
from pqassay_spec.base.errors import Malformed
from pqassay_spec.base.sources import FileSource, Source, replaced_file, sync_directory
from pqassay_spec.directory import entries as directory
from pqassay_spec.grammar.thrift import grammar
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.parquet.file import HEAD_SIZE, chunk_start, read_footer, read_framing, read_head
from pqassay_spec.parquet.thrift import ColumnChunk, FileMetaData
from pqassay_spec.parquet.thrift_pages import OffsetIndex
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.from_parquet import questdb_key
from pqassay_spec.pm.from_parquet.fields import fields_of
from pqassay_spec.pm.grammar import JSON_KEY
from pqassay_spec.pm.txn import read_txn

COPIED_AT_ONCE = 1 << 20
"""Bytes that are copied in one step."""


@dataclass(frozen=True)
class Compaction:
    """The outcome of a compaction.

    Attributes:
        before: Committed bytes of the old ``_pm``.
        after: Bytes of its newest snapshot alone.
        dropped: Sizes of the Parquet file at the removed snapshots, newest first.
        is_due: Whether enough of ``_pm``, or of the Parquet file, is unused.
        parquet_before: Bytes of the old Parquet file.
        unused: Unused bytes of the Parquet file, according to ``_pm``.
        folder: The new folder, if enough of the Parquet file is unused.
        parquet_after: Bytes of the Parquet file in the new folder; 0 before it is written.
    """

    before: int
    after: int
    dropped: tuple[int, ...]
    is_due: bool
    parquet_before: int = 0
    unused: int = 0
    folder: Path | None = None
    parquet_after: int = 0

    @property
    def dead(self) -> int:
        """Bytes of ``_pm`` that the newest snapshot does not need."""
        return max(self.before - self.after, 0)

    @property
    def share(self) -> float:
        """Share of ``_pm`` that is unused, from 0 to 1."""
        return self.dead / self.before

    @property
    def parquet_share(self) -> float:
        """Share of the Parquet file that is unused, from 0 to 1."""
        return self.unused / self.parquet_before if self.parquet_before else 0.0


def compact_files(
    data: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    above: float = 0.0,
    txn: str | os.PathLike[str] | None = None,
    dry_run: bool = False,
) -> Compaction:
    """Rewrite both files into a new folder if enough of the Parquet file is unused; otherwise rewrite ``_pm`` if enough of it is.

    Args:
        data: The Parquet file; if it does not exist, only ``_pm`` is considered.
        target: Its ``_pm``, which is replaced as a whole if no folder is made.
        above: The share, from 0 to 1.
        txn: The table's ``_txn``, whose next transaction names the new folder; no database may use the table meanwhile.
        dry_run: Only report what would be done.

    Raises:
        Malformed: A file is damaged.
        Unsupported: ``_pm`` cannot describe the Parquet file.
        Refused: A file has content that cannot be written, the newest snapshot is not of the Parquet file, or the transaction is not of it.
        BusyError: Another process is writing ``_pm`` or ``_txn``.
        OSError: A file cannot be read or written.
    """
    opened = FileSource(target) if dry_run else FileStorage(target)
    with opened as source:
        with about(os.fspath(target)):
            reader = PmReader(source)
            raw = migrated(reader)
            chain = [snapshot.fields.parquet_file_size for snapshot in reader.snapshots()]
        # Bytes after the committed size also count as unused: an interrupted update left them.
        before = max(reader.size, source.size)
        done = Compaction(before, len(raw), tuple(chain[1:]), is_due=False)
        if Path(data).is_file():
            unused = reader.newest.fields.unused_bytes
            done = replace(done, parquet_before=reader.parquet_file_size, unused=unused)
        if done.unused and done.parquet_share > above:
            folder = _next_folder(Path(target).parent)
            done = replace(done, is_due=True, folder=folder)
            return done if dry_run else _rewritten(reader, Path(data), txn, done, folder)
        done = replace(done, is_due=done.dead > 0 and done.share > above)
        if done.is_due and not dry_run:
            with replaced_file(Path(target)) as file:
                file.write(raw)
    return done


def _next_folder(folder: Path) -> Path:
    """The folder of a partition with the next number: ``2024-01-01.6`` follows ``2024-01-01.5``."""
    if folder.name in ("", ".."):
        folder = folder.resolve()
    base = re.sub(r"\.\d+$", "", folder.name)
    numbers = [
        int(other.name[len(base) + 1 :])
        for other in folder.parent.glob("*")
        if re.fullmatch(re.escape(base) + r"\.\d{1,18}", other.name)
    ]
    return folder.with_name(f"{base}.{max(numbers, default=0) + 1}")


def _rewritten(
    reader: PmReader, data: Path, txn: str | os.PathLike[str] | None, done: Compaction, folder: Path
) -> Compaction:
    """Write both files into a folder that gets its name when they are complete, then the transaction that names it."""
    if txn is not None:
        with FileStorage(txn) as storage, about(storage.name):
            table = read_txn(storage)
            pinned = partition_of(table, data.absolute().parent).parquet_file_size
            if pinned != reader.parquet_file_size:
                raise Refused(
                    f"it pins a Parquet file of {pinned} bytes, and the newest snapshot describes {reader.parquet_file_size}"
                )
            done = _rewritten(reader, data, None, done, folder)
            commit(storage, moved(table, data.absolute().parent, folder, done.parquet_after))
            return done
    unfinished = folder.with_name(f".{folder.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)  # left by a killed process; `_pm` is locked now
    unfinished.mkdir()
    try:
        with FileSource(data) as source, about(source.name):
            _require_size(source, reader)
            with replaced_file(unfinished / pm.DATA_NAME, new_mode=data.stat().st_mode) as file:
                write_without_dead_bytes(source, file)
        with (
            FileSource(unfinished / pm.DATA_NAME) as source,
            replaced_file(unfinished / pm.FILE_NAME) as file,
        ):
            file.write(_described(source, reader))
            size = source.size
        unfinished.rename(folder)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    sync_directory(folder.parent)
    return replace(done, folder=folder, parquet_after=size, after=(folder / pm.FILE_NAME).stat().st_size)


def _require_size(source: Source, reader: PmReader) -> None:
    if source.size != reader.parquet_file_size:
        raise Refused(
            f"the file has {source.size} bytes, and the newest snapshot describes {reader.parquet_file_size}; "
            "`pqassay pm update` comes first"
        )


def _described(source: Source, reader: PmReader) -> bytes:
    """``_pm`` of the new file; facts that the Parquet file lacks come from the old one."""
    framing = read_framing(source)
    metadata, _ = read_footer(source, framing)
    questdb = questdb_key.read(metadata, len(fields_of(metadata)))
    new, first = Grown(source, framing, metadata, questdb), reader.value()
    if questdb is None:
        value, _ = next_value(new, first, reader.source.name)
    else:
        value = replace(described_like(first, new).value, squash_tracker=first.squash_tracker)
    value = replace(value, unused_bytes=0, previous_sizes=())
    return create(value, extensions=sections_of(reader.footer))


# ------------------------------------------------------------------------------------------------- the Parquet file


def write_without_dead_bytes(source: Source, file: BinaryIO) -> None:
    """Rewrite a Parquet file with only the chunks, indexes and bloom filters that its footer refers to.

    Raises:
        Malformed: The file is damaged.
        Refused: It has encrypted columns or a signature, chunks in other files or in more than one place, or indexes whose offsets
            are in keys of the footer.
    """
    read_head(source)
    framing = read_framing(source)
    metadata, taken = read_footer(source, framing)
    _require_movable(metadata, framing.footer_length - taken)
    chunks = [chunk for group in metadata.row_groups for chunk in group.columns]
    body = range(framing.body_start, framing.footer_start)
    file.write(source.read(0, HEAD_SIZE))

    def copied(start: int | None, length: int | None) -> int:
        """Copy a range, and return how far it moved. Raises `Malformed` and `Refused`."""
        if (
            start is None
            or length is None
            or length < 0
            or not body.start <= start <= start + length <= body.stop
        ):
            raise Malformed(f"a range of {length} bytes at {start}, outside of the body", rule="PQF-008")
        if file.tell() + length > source.size:
            raise Refused("chunks or indexes share bytes")
        place = file.tell()
        file.writelines(
            source.read(at, min(COPIED_AT_ONCE, start + length - at))
            for at in range(start, start + length, COPIED_AT_ONCE)
        )
        return place - start

    moves = [_move_chunk(chunk, copied) for chunk in chunks]
    for chunk in chunks:
        facts = chunk.meta_data
        if facts is not None and (bloom := read_bloom_filter(source, body, facts)) is not None:
            facts.bloom_filter_offset = (start := facts.bloom_filter_offset or 0) + copied(
                start, bloom.length
            )
    for chunk in chunks:
        if chunk.column_index_offset is not None:
            chunk.column_index_offset += copied(chunk.column_index_offset, chunk.column_index_length)
    for chunk, moved_by in zip(chunks, moves, strict=True):
        if (index := read_offset_index(source, body, chunk)) is not None:
            for location in index.page_locations:
                location.offset += moved_by
            built = grammar(OffsetIndex).build(index)
            chunk.offset_index_offset, chunk.offset_index_length = file.tell(), len(built)
            file.write(built)
    _adapt(metadata)
    file.write(footer_and_tail(grammar(FileMetaData).build(metadata)))


def _require_movable(metadata: FileMetaData, rest: int) -> None:
    """Raise `Refused` if other parts than the footer's structs contain offsets; ``rest`` is the number of bytes after these structs."""
    chunks = [chunk for group in metadata.row_groups for chunk in group.columns]
    if metadata.encryption_algorithm or any(
        each.meta_data is None or each.crypto_metadata for each in chunks
    ):
        raise Refused("columns or footer are encrypted or signed")
    if rest:
        raise Refused(f"{rest} bytes follow the footer's struct")
    if any(each.file_path for each in chunks):
        raise Refused("chunks are in other files")
    keys = {pair.key for pair in metadata.key_value_metadata or ()}
    if placed := keys & {idx1.KEY, directory.KEY}:
        raise Refused(
            f"the key {min(placed)} leads to an index; `pqassay strip --idx1 --directory` removes it"
        )


def _move_chunk(chunk: ColumnChunk, copied: Callable[[int | None, int | None], int]) -> int:
    """Copy the pages of a chunk; return how far they moved."""
    facts, start = chunk.meta_data, chunk_start(chunk)
    chunk.file_offset = 0
    if facts is None or start is None:
        return 0
    move = copied(start, facts.total_compressed_size)
    facts.data_page_offset += move if facts.data_page_offset else 0
    if facts.dictionary_page_offset:
        facts.dictionary_page_offset += move
    if facts.index_page_offset:
        facts.index_page_offset += move
    return move


def _adapt(metadata: FileMetaData) -> None:
    """Update values that depend on the places of chunks: those of row groups, and the unused bytes in the key ``questdb``."""
    for group in metadata.row_groups:
        if group.file_offset is not None:
            group.file_offset = chunk_start(group.columns[0]) if group.columns else None
    for pair in metadata.key_value_metadata or ():
        if pair.key == JSON_KEY and pair.value is not None:
            questdb_key.parse(pair.value)
            members = json.loads(pair.value)
            members.pop("unused_bytes", None)
            pair.value = json.dumps(members, separators=(",", ":"))


__all__ = ["Compaction", "compact_files", "write_without_dead_bytes"]
