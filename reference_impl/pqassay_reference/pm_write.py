"""Writing ``_pm``: a whole file from the value of a snapshot, and the next snapshot behind it.

Both end in the same way: everything is written and synced while the committed size still says that it is not there, then the
committed size is written, in one piece, and synced.  Whoever is stopped before has written nothing that a reader believes.

Source: "Parquet metadata file" (``parquet-metadata.md``).
"""

from __future__ import annotations

import contextlib
import os
import zlib
from pathlib import Path

from pqassay_reference.errors import Refused
from pqassay_reference.pm_parts import (
    NO_EXTENSIONS,
    BlockBytes,
    Extensions,
    Place,
    block_bytes,
    footer_bytes,
    header_bytes,
    naming,
)
from pqassay_reference.pm_storage import FileStorage, MemoryStorage, Storage
from pqassay_spec import pm
from pqassay_spec.pm_codes import ALIGNMENT
from pqassay_spec.pm_value import SnapshotValue
from pqassay_spec.sources import replaced_file

# ---------------------------------------------------------------------------------------------- a whole file


def create(
    value: SnapshotValue, *, sorting_written_out: bool = False, extensions: Extensions = NO_EXTENSIONS
) -> bytes:
    """A file with one snapshot, as bytes; the same for the same value.

    Args:
        value: The snapshot. It has none before it.
        sorting_written_out: Write the sorting columns out even where the order is that of the designated timestamp, which
            one bit would say.
        extensions: Sections of later revisions.

    Raises:
        Refused: The value cannot be written.
    """
    storage = MemoryStorage()
    create_in(storage, value, sorting_written_out=sorting_written_out, extensions=extensions)
    return bytes(storage.data)


def create_file(
    path: str | os.PathLike[str],
    value: SnapshotValue,
    *,
    sorting_written_out: bool = False,
    extensions: Extensions = NO_EXTENSIONS,
) -> None:
    """The same as a file, which replaces what stood there.

    Raises:
        Refused: The value cannot be written.
        BusyError: Another process is writing it.
        OSError: The folder cannot be written.
    """
    raw = create(value, sorting_written_out=sorting_written_out, extensions=extensions)
    with contextlib.ExitStack() as stack:
        if Path(path).exists():
            # An update of the old file at the same moment would be lost with it.
            stack.enter_context(FileStorage(path))
        file = stack.enter_context(replaced_file(path))
        file.write(raw)


def create_in(
    storage: Storage,
    value: SnapshotValue,
    *,
    sorting_written_out: bool = False,
    extensions: Extensions = NO_EXTENSIONS,
) -> None:
    """The same in an empty storage, in the order that makes it safe to be stopped. See `create`."""
    if value.previous_sizes:
        raise Refused(
            f"the value names {len(value.previous_sizes)} snapshots before it, which are not at hand; "
            "write the first one and update it, or leave them out"
        )
    header = header_bytes(value, sorting_written_out=sorting_written_out)
    tail = _Tail(len(header))
    places = [tail.add_block(block_bytes(value, number)) for number in range(len(value.row_groups))]
    tail.add_footer(footer_bytes(value, places, 0, extensions), zlib.crc32(header[pm.CRC_START :]))
    _commit(storage, 0, header + tail.raw)


class _Tail:
    """What stands behind a position of the file: blocks, each aligned, and a footer."""

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
        """Append the last: a footer, its checksum and the trailer.

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


def _commit(storage: Storage, offset: int, appended: bytes) -> int:
    """Write bytes, and only when they are on disk the committed size. Returns the size."""
    storage.write(offset, appended)
    storage.sync()
    size = offset + len(appended)
    storage.write(0, pm.COMMITTED_SIZE.build({"parquet_meta_file_size": size}))
    storage.sync()
    return size
