"""Read ``_pm``: a snapshot of a file, selected by the size of its Parquet file, and read on demand.

Opening reads the header, the trailer and the footer.  Everything else is read on demand: a block, a bound, a bloom
filter.  Bytes, a memory map and ranged reads of an object store all work as sources.

Arrays are views of the same bytes; their layouts are derived from the grammar.

Source: "Parquet metadata file" (``parquet-metadata.md``), sections "Reader flow" and "Access patterns".
"""

from __future__ import annotations

import contextlib
import mmap
import os
from collections.abc import Generator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, overload

from pqassay_reference.errors import Refused, about
from pqassay_spec.base.errors import FormatError, Malformed
from pqassay_spec.base.sources import BytesSource, FileSource, Source
from pqassay_spec.pm import block as pm_block
from pqassay_spec.pm import file as pm_file
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm import header as pm_header
from pqassay_spec.pm.block import Block
from pqassay_spec.pm.codes import HeaderFeature
from pqassay_spec.pm.file import Snapshot
from pqassay_spec.pm.reading import read_columns, read_value
from pqassay_spec.pm.value import ExternalBloom, SnapshotColumn, SnapshotValue

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class PmReader:
    """One snapshot of a file.

    Args:
        source: The file. Bytes after the committed size in its header are never read.
        parquet_file_size: The snapshot, by the size of the Parquet file that it describes; the newest by default.
        committed: The committed size, if it was read before. It may grow while another process updates the file, and bytes
            after the end of ``source`` cannot be read.

    Raises:
        Malformed: The header or a footer on the way to the snapshot is damaged.
        Refused: The file has no such snapshot.
    """

    def __init__(
        self, source: Source, *, parquet_file_size: int | None = None, committed: int | None = None
    ) -> None:
        self.source = source
        self.size = pm_header.read_committed_size(source) if committed is None else committed
        """Committed size."""
        self.header = pm_header.read_header(source, self.size)
        self.newest = pm_file.read_snapshot(source, self.header, self.size)
        """Footer of the newest snapshot."""
        self.footer = self.newest
        """Footer of the selected snapshot."""
        if parquet_file_size is not None:
            self.footer = self._find(parquet_file_size)

    @classmethod
    def from_bytes(
        cls, data: bytes | bytearray | memoryview, *, parquet_file_size: int | None = None
    ) -> PmReader:
        """A reader over bytes in memory."""
        return cls(BytesSource(data), parquet_file_size=parquet_file_size)

    @classmethod
    @contextlib.contextmanager
    def map(
        cls, path: str | os.PathLike[str], *, parquet_file_size: int | None = None
    ) -> Generator[PmReader]:
        """A reader over the committed bytes of a local file, mapped into memory while the context is open.

        Raises:
            Malformed, Refused: See `PmReader`; the message names the file.
            OSError: The file cannot be read.
        """
        name = os.fspath(path)
        committed, mapped = _mapped(name)
        source = BytesSource(memoryview(mapped), name)
        try:
            with about(name):
                yield cls(source, parquet_file_size=parquet_file_size, committed=committed)
        finally:
            # Arrays that are still in use keep the map open; it closes with the last of them.
            with contextlib.suppress(BufferError):
                source.view.release()
                mapped.close()

    def snapshot(self, parquet_file_size: int) -> PmReader:
        """A reader at the newest snapshot that describes a Parquet file of the given size.

        Raises:
            Malformed: The chain breaks before the snapshot is reached.
            Refused: The file has no such snapshot.
        """
        other = object.__new__(PmReader)
        other.source, other.size, other.header, other.newest = (
            self.source,
            self.size,
            self.header,
            self.newest,
        )
        other.footer = self._find(parquet_file_size)
        return other

    def _find(self, parquet_file_size: int) -> Snapshot:
        snapshot = pm_file.find_snapshot(self.source, self.header, self.size, parquet_file_size)
        if snapshot is None:
            raise Refused(
                f"{self.source.name} has no snapshot of a Parquet file of {parquet_file_size} bytes; the newest is of "
                f"{self.newest.fields.parquet_file_size}: the file is stale, or from before"
            )
        return snapshot

    def snapshots(self) -> list[Snapshot]:
        """Footers of all snapshots, the newest first. Raises `Malformed` if the chain breaks."""
        return list(pm_file.walk(self.source, self.header, self.size))

    def verify(self, *, whole_chain: bool = False) -> None:
        """Check the checksum, or with ``whole_chain`` those of all snapshots in one pass over the file.

        Raises:
            Malformed: Rules PM-017 (the newest snapshot's is wrong) and PM-018 (an earlier one's).
        """
        snapshots = self.snapshots() if whole_chain else [self.footer]
        for snapshot, computed in zip(snapshots, pm_file.checksums(self.source, snapshots), strict=True):
            if computed != snapshot.checksum:
                raise Malformed(
                    "the checksum is wrong: the file is damaged",
                    rule="PM-018" if snapshot.number else "PM-017",
                    field=f"{snapshot.path}.checksum",
                    offset=snapshot.checksum_offset,
                    length=pm.CHECKSUM_SIZE,
                    expected=f"{computed:#010x}",
                    actual=f"{snapshot.checksum:#010x}",
                )

    # ------------------------------------------------------------------------------------------------ content

    @property
    def row_group_count(self) -> int:
        """The number of row groups."""
        return len(self.footer.blocks)

    @property
    def parquet_file_size(self) -> int:
        """Bytes of the Parquet file that the snapshot describes."""
        return self.footer.fields.parquet_file_size

    @cached_property
    def columns(self) -> Sequence[SnapshotColumn]:
        """The columns; their names are read at once."""
        names = _Range(self.source, self.header.names_start, self.header.sections_start)
        return read_columns(names, self.header)

    def column(self, name: str) -> int:
        """Position of the column with a name.

        Raises:
            Refused: No column has the name, or more than one.
        """
        found = self.columns_of(name)
        if len(found) > 1:
            raise Refused(f"columns {found} are all called {name}: they are parts of a nested field")
        return found[0]

    def columns_of(self, name: str) -> Sequence[int]:
        """Positions of the columns with a name; a nested field has several.

        Raises:
            Refused: No column has the name.
        """
        found = [position for position, column in enumerate(self.columns) if column.name == name]
        if not found:
            known = ", ".join(column.name for column in self.columns[:10])
            raise Refused(f"there is no column {name}; there are {known}" + ", …" * (len(self.columns) > 10))
        return found

    def block(self, row_group: int) -> Block:
        """The block of a row group. For bytes and memory maps, its records are parsed on demand.

        Raises:
            Refused: There is no such row group.
            Malformed: Rule PM-050, the block does not lie between header and footer.
        """
        offset = self._block_offset(row_group)
        if not isinstance(self.source, BytesSource):
            return pm_block.read_block(self.source, self.header, offset, self.footer.start)
        head = pm.BlockHeader.read(self.source.view, offset)
        chunks = _Chunks(self.source.view, offset + pm.BlockHeader.size, self.header.column_count)
        return Block(offset, head.num_rows, chunks)

    def _block_offset(self, row_group: int) -> int:
        self._require_row_group(row_group)
        offset = self.footer.blocks[row_group]
        if offset < self.header.end or offset + self.header.block_size > self.footer.start:
            try:
                pm_block.read_block(self.source, self.header, offset, self.footer.start)  # says what is wrong
            except FormatError as error:
                field = f"{self.footer.path}.row_group_entries[{row_group}].block_offset"
                raise error.within(field=field) from None
        return offset

    def bounds(self, row_group: int, column: int) -> tuple[bytes | None, bytes | None]:
        """MIN and MAX of a chunk as stored, in Parquet's encoding. Raises `Malformed` if they cannot be read."""
        block = self.block(row_group)
        least, greatest = (
            pm_block.read_statistic(self.source, block, column, side, self.footer.start)
            for side in pm_block.SIDES
        )
        return least, greatest

    @cached_property
    def _bloom_entries(self) -> Sequence[pm.BloomEntry]:
        return pm_file.read_bloom_entries(self.source, self.header, self.footer)

    def bloom(self, row_group: int, column: int) -> bytes | ExternalBloom | None:
        """A chunk's bloom filter: its bitset, or its place in the Parquet file; ``None`` if there is none.

        Raises:
            Refused: There is no such row group.
            Malformed: Rules PM-076 and PM-077.
        """
        self._require_row_group(row_group)
        columns = list(self.header.bloom_columns)
        if column not in columns:
            return None
        entry = self._bloom_entries[row_group * len(columns) + columns.index(column)]
        if entry == pm.NO_BLOOM:
            return None
        if HeaderFeature.BLOOM_FILTERS_EXTERNAL in self.header.features:
            return ExternalBloom(*entry)
        return pm_block.read_inlined_bloom(self.source, entry.offset, self.footer.start)

    def value(self) -> SnapshotValue:
        """The whole value of the snapshot. Raises `Malformed`."""
        return read_value(self.source, self.header, self.footer)

    def require_distinct_blocks(self) -> None:
        """Raise `Malformed` (PM-052) if the row groups cannot all have separate blocks.

        Otherwise, a small file whose entries all refer to the same block would cause answers that fill memory.
        """
        if self.row_group_count * self.header.block_size > self.footer.start:
            raise Malformed(
                f"{self.row_group_count} row groups, whose blocks would take more bytes than the file has",
                rule="PM-052",
                field=f"{self.footer.path}.row_group_entries",
                offset=self.footer.entries_start,
            )

    def _require_row_group(self, row_group: int) -> None:
        if not 0 <= row_group < self.row_group_count:
            raise Refused(f"there is no row group {row_group}, of {self.row_group_count}")

    # ------------------------------------------------------------------------------------------------- arrays

    def chunk_array(self, row_group: int) -> NDArray[np.void]:
        """The column chunks of a row group: an array of records with the fields of `pm.ColumnChunk`, one for each column.

        For bytes and memory maps, nothing is copied.
        """
        import numpy as np  # noqa: PLC0415 - heavy, and most readings do not need it

        offset = self._block_offset(row_group)
        dtype = np.dtype(pm.ColumnChunk.dtype)
        start = offset + pm.BlockHeader.size
        return np.frombuffer(self._view(start, self.header.column_count * dtype.itemsize), dtype)

    def _view(self, offset: int, length: int) -> bytes | memoryview:
        if isinstance(self.source, BytesSource):
            return self.source.view[offset : offset + length]
        return self.source.read(offset, length)


def _mapped(path: str) -> tuple[int, mmap.mmap]:
    """The committed size of a file, and a memory map of that length."""
    with FileSource(path) as file:
        with about(path):
            committed = pm_header.read_committed_size(file)
        return committed, mmap.mmap(file.fileno(), committed, access=mmap.ACCESS_READ)


class _Chunks(Sequence[pm.ColumnChunk]):
    """The records of a block, each parsed on demand: all have the same size."""

    def __init__(self, view: memoryview, start: int, count: int) -> None:
        self._view, self._start, self._count = view, start, count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> pm.ColumnChunk: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[pm.ColumnChunk]: ...
    def __getitem__(self, index: int | slice) -> pm.ColumnChunk | Sequence[pm.ColumnChunk]:
        if isinstance(index, slice):
            return [self[one] for one in range(*index.indices(self._count))]
        place = range(self._count)[index]
        return pm.ColumnChunk.read(self._view, self._start + place * pm.ColumnChunk.size)


class _Range:
    """A range of a source, read in one step."""

    def __init__(self, source: Source, start: int, end: int) -> None:
        self.name = source.name
        self.size = end
        self._start, self._raw = start, source.read(start, end - start)

    def read(self, offset: int, length: int) -> bytes:
        """See `Source.read`; the range has been checked."""
        return self._raw[offset - self._start :][:length]
