"""Write ``_pm``: a whole file from the value of a snapshot, or the next snapshot at its end.

An update writes and syncs everything after the committed size; then it writes the committed size
atomically, and syncs.  If a writer is stopped earlier, readers ignore what it has written.

Source: "Parquet metadata file" (``parquet-metadata.md``).
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict, Unpack

from pqassay_reference.errors import Refused, about
from pqassay_reference.pm.parts import (
    NO_EXTENSIONS,
    BlockBytes,
    Extensions,
    Place,
    block_bytes,
    footer_bytes,
    header_bytes,
    naming,
)
from pqassay_reference.pm.read import PmReader
from pqassay_reference.pm.storage import FileStorage, MemoryStorage, Storage
from pqassay_spec.parquet.file import TAIL_SIZE
from pqassay_spec.pm import file as pm_file
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.codes import ALIGNMENT, HeaderFeature
from pqassay_spec.pm.file import CRC_STEP, Snapshot
from pqassay_spec.pm.header import Header
from pqassay_spec.pm.value import SnapshotSorting, SnapshotValue

# ---------------------------------------------------------------------------------------------- a whole file


def create(
    value: SnapshotValue, *, sorting_written_out: bool = False, extensions: Extensions = NO_EXTENSIONS
) -> bytes:
    """A file with one snapshot, as bytes; the same for the same value.

    Args:
        value: The snapshot, without an earlier one.
        sorting_written_out: Write the sorting columns explicitly, even if the order is that of the designated timestamp, for which
            one bit is enough.
        extensions: Sections of later revisions.

    Raises:
        Refused: The value cannot be written.
    """
    if value.previous_sizes:
        raise Refused(
            f"the value names {len(value.previous_sizes)} snapshots before it, which are not available; write the first one and update it, or leave them out"
        )
    header = header_bytes(value, sorting_written_out=sorting_written_out)
    tail = _Tail(len(header))
    places = [tail.add_block(block_bytes(value, number)) for number in range(len(value.row_groups))]
    tail.add_footer(footer_bytes(value, places, 0, extensions), zlib.crc32(header[pm.CRC_START :]))
    raw = header + tail.raw
    return _committed_size(len(raw)) + raw[pm.CRC_START :]


# ------------------------------------------------------------------------------------------- the next snapshot


@dataclass(frozen=True)
class Updated:
    """The outcome of an update.

    Attributes:
        size: The new committed size.
        appended: Number of written bytes, without the committed size itself.
        reused: Number of row groups whose blocks already existed.
        written: Number of row groups whose blocks were written.
    """

    size: int
    appended: int
    reused: int
    written: int


class UpdateOptions(TypedDict, total=False):
    """Options of appending a snapshot.

    Attributes:
        parquet_file_size: The base snapshot, by the size of the Parquet file that it describes; the newest by
            default. Later commits stay in the file, but new snapshots do not refer to them.
        append_base: Where to write, at or after the committed size (the default). The checksum covers skipped bytes from then
            on.
        verify: Whether to check the checksum of the base snapshot first; true by default.
        extensions: Sections of later revisions; by default the scratchpad of the base snapshot.
    """

    parquet_file_size: int | None
    append_base: int | None
    verify: bool
    extensions: Extensions | None


def update(data: bytes, value: SnapshotValue, **options: Unpack[UpdateOptions]) -> bytes:
    """The bytes of a file after `update_file`."""
    storage = MemoryStorage(data)
    update_in(storage, value, **options)
    return bytes(storage.data)


def update_file(
    path: str | os.PathLike[str], value: SnapshotValue, **options: Unpack[UpdateOptions]
) -> Updated:
    """Append the next snapshot to a file. Earlier snapshots and their readers are not affected.

    Blocks of row groups that the previous snapshot already had, at any position, are not written again. Bytes after the
    committed size belong to an interrupted update; they are overwritten, or skipped with ``append_base``.

    Args:
        path: The file.
        value: The whole new snapshot: its columns are those of the file, which no update can change.
        **options: See `UpdateOptions`.

    Raises:
        Refused: The value has other columns, or does not continue the previous snapshot, or cannot be written.
        Malformed: The file is damaged.
        BusyError: Another process is writing it.
        OSError: The file cannot be written.
    """
    with FileStorage(path) as storage:
        return update_in(storage, value, **options)


def update_in(
    storage: Storage,
    value: SnapshotValue,
    *,
    parquet_file_size: int | None = None,
    append_base: int | None = None,
    verify: bool = True,
    extensions: Extensions | None = None,
    commits: bool = True,
) -> Updated:
    """Append the next snapshot in a storage without other writers. See `update_file`.

    Args:
        commits: Write the committed size; without it, the result is that of an update that was stopped right before.
    """
    base = _open(storage, parquet_file_size, append_base, verify=verify)
    _require_same_columns(storage, base, value)
    _require_progress(storage, base, value)
    blocks = [block_bytes(value, number) for number in range(len(value.row_groups))]
    reused = _blocks_that_are_there(storage, base, blocks)
    tail = _Tail(base.offset)
    places = [
        reused[number] if number in reused else tail.add_block(block) for number, block in enumerate(blocks)
    ]
    described = base.head.fields
    if value_size(value) == described.parquet_file_size and [place.block for place in places] != list(
        base.head.blocks
    ):
        raise Refused(
            f"another snapshot of a Parquet file of {described.parquet_file_size} bytes has other row groups: "
            "readers could not tell the two apart; rewrite the file"
        )
    if extensions is None:
        extensions = Extensions(scratchpad=sections_of(base.head).scratchpad)
    tail.add_footer(footer_bytes(value, places, base.head.size, extensions), _resumed(storage, base))
    size = _commit(storage, base.offset, tail.raw, writes_size=commits)
    return Updated(size, len(tail.raw), len(reused), len(blocks) - len(reused))


def value_size(value: SnapshotValue) -> int:
    """Size of the Parquet file that a value describes."""
    return value.parquet_footer_offset + value.parquet_footer_length + TAIL_SIZE


@dataclass(frozen=True)
class _Base:
    """The base of an update: the previous snapshot, and the offset at which the update appends."""

    reader: PmReader
    offset: int

    @property
    def header(self) -> Header:
        return self.reader.header

    @property
    def head(self) -> Snapshot:
        return self.reader.footer


def _open(storage: Storage, parquet_file_size: int | None, append_base: int | None, *, verify: bool) -> _Base:
    reader = PmReader(storage, parquet_file_size=parquet_file_size)
    offset = reader.size if append_base is None else append_base
    if not reader.size <= offset <= storage.size:
        raise Refused(
            f"the update would be written at {offset}, where {reader.size} bytes are committed and {storage.size} are there"
        )
    if verify:
        with about(storage.name):
            reader.verify()
    return _Base(reader, offset)


def _resumed(storage: Storage, base: _Base) -> int:
    """The checksum of everything before the appended bytes, continued from the checksum of the previous snapshot."""
    crc, position = base.head.checksum, base.head.checksum_offset
    while position < base.offset:
        step = min(CRC_STEP, base.offset - position)
        crc = zlib.crc32(storage.read(position, step), crc)
        position += step
    return crc


def sections_of(head: Snapshot) -> Extensions:
    """The sections of a footer that are not part of the logical value."""
    scratchpad, covering = head.sections.get("scratchpad"), head.sections.get("covering_index")
    return Extensions(
        tuple((entry.code, entry.data) for entry in scratchpad[0].entries) if scratchpad else (),
        tuple((index.column_id, index.index_txn, index.im_file_size) for index in covering[0].indexes)
        if covering
        else (),
    )


def _require_same_columns(storage: Storage, base: _Base, value: SnapshotValue) -> None:
    header = base.header
    stored: dict[str, object] = {
        "columns": len(header.descriptors),
        "designated timestamp": header.fixed.designated_timestamp,
        "sorting order": tuple(SnapshotSorting(*by) for by in header.sorted_by),
        "columns with bloom filters": tuple(header.bloom_columns),
        "external bloom filters": HeaderFeature.BLOOM_FILTERS_EXTERNAL in header.features,
        "squash tracker": header.squash_tracker,
    }
    expected: dict[str, object] = {
        "columns": len(value.columns),
        "designated timestamp": value.designated_timestamp,
        "sorting order": value.sorting,
        "columns with bloom filters": value.bloom_columns,
        "external bloom filters": value.bloom_external,
        "squash tracker": value.squash_tracker,
    }
    for index, (before, column) in enumerate(zip(base.reader.columns, value.columns, strict=False)):
        stored[f"column {index}"], expected[f"column {index}"] = before, column
    for name, is_so in stored.items():
        if is_so != expected[name]:
            raise Refused(
                f"{name}: {storage.name} has {is_so}, the new snapshot {expected[name]}; the header describes the columns of "
                "all snapshots and no update changes it: rewrite the file"
            )


def _require_progress(storage: Storage, base: _Base, value: SnapshotValue) -> None:
    before = base.head.fields
    if value_size(value) < before.parquet_file_size:
        raise Refused(
            f"the Parquet file had {before.parquet_file_size} bytes, but the new snapshot says {value_size(value)}: a file "
            "may only grow; rewrite the file"
        )
    if value.unused_bytes < before.unused_bytes:
        raise Refused(
            f"the Parquet file had {before.unused_bytes} unused bytes, but the new snapshot says {value.unused_bytes}: only a rewrite reduces them; rewrite the file"
        )
    if value.previous_sizes:
        chain = tuple(
            snapshot.fields.parquet_file_size
            for snapshot in pm_file.walk(storage, base.header, base.head.size)
        )
        if value.previous_sizes != chain:
            raise Refused(
                f"the snapshots before are of {list(chain)} bytes, the new one names {list(value.previous_sizes)}"
            )


def _blocks_that_are_there(storage: Storage, base: _Base, blocks: Sequence[BlockBytes]) -> dict[int, Place]:
    """The row groups whose exact blocks the previous snapshot has, with their places; each block is used for one row group."""
    header, head = base.header, base.head
    places: dict[bytes, dict[int, Place]] = {}
    for number, place in enumerate(_places(storage, base)):
        if header.end <= place.block <= head.start - header.block_size:
            records = storage.read(place.block, header.block_size)
            places.setdefault(records, {})[number] = place
    reused: dict[int, Place] = {}
    used: set[int] = set()
    for number, block in enumerate(blocks):
        candidates = places.get(block.raw[: header.block_size], {})
        for before in sorted(candidates, key=lambda before: before != number):  # its own first
            place = candidates[before]
            moved = tuple(None if bloom is None else place.block + bloom for bloom in block.blooms)
            if (
                place.block not in used
                and moved == place.blooms
                and place.block + len(block.raw) <= head.start
                and storage.read(place.block, len(block.raw)) == block.raw
            ):
                del candidates[before]
                reused[number] = place
                used.add(place.block)
                break
    return reused


def _places(storage: Storage, base: _Base) -> list[Place]:
    """Places of the blocks of the previous snapshot, and of their inlined bloom filters."""
    width = len(base.header.bloom_columns)
    if HeaderFeature.BLOOM_FILTERS_EXTERNAL in base.header.features:
        return [Place(block, (None,) * width) for block in base.head.blocks]
    entries = pm_file.read_bloom_entries(storage, base.header, base.head)
    offsets = [entry.offset or None for entry in entries]
    return [
        Place(block, tuple(offsets[row * width : (row + 1) * width]))
        for row, block in enumerate(base.head.blocks)
    ]


class _Tail:
    """The bytes after a position of the file: blocks, each aligned, and a footer."""

    def __init__(self, start: int) -> None:
        self.start = start
        self.raw = b""
        self._parts: list[bytes] = []
        self._end = start

    def add_block(self, block: BlockBytes) -> Place:
        """Append a block."""
        self._add(bytes(-self._end % ALIGNMENT))
        offset = self._end
        self._add(block.raw)
        return Place(offset, tuple(None if bloom is None else offset + bloom for bloom in block.blooms))

    def add_footer(self, footer: bytes, crc: int) -> None:
        """Append the end: a footer, its checksum and the trailer.

        Args:
            footer: The footer up to its checksum.
            crc: Checksum of everything before the position.
        """
        self._add(footer)
        crc = zlib.crc32(b"".join(self._parts), crc)
        with naming("footer_length"):
            self._add(pm.CHECKSUM.build({"checksum": crc}))
            self._add(pm.TRAILER.build({"footer_length": len(footer) + pm.CHECKSUM_SIZE}))
        self.raw = b"".join(self._parts)

    def _add(self, raw: bytes) -> None:
        self._parts.append(raw)
        self._end += len(raw)


def _commit(storage: Storage, offset: int, appended: bytes, *, writes_size: bool) -> int:
    """Write and sync the bytes, and then the committed size. Returns the size."""
    storage.write(offset, appended)
    storage.sync()
    size = offset + len(appended)
    if writes_size:
        storage.write(0, _committed_size(size))
        storage.sync()
    return size


def _committed_size(size: int) -> bytes:
    return bytes(pm.COMMITTED_SIZE.build({"parquet_meta_file_size": size}))
