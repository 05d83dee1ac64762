"""The trace of an index directory: its fields, and the fields of every blob that is at its place.

The directory and inline blobs are Base64 text, so each of their fields has the place of its characters. Each field of a compressed blob has
the place of the whole blob.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from pqassay.checks.idx1.blob import EmbeddedIndex
from pqassay.dump.regions import Errors, Region, listed
from pqassay.under_test.directory_key import DirectoryUnderTest
from pqassay.under_test.file import FileUnderTest, NotApplicable, NotChecked
from pqassay.under_test.index_directory import EntryUnderTest, IndexDirectory
from pqassay.values.directory.blob import blob_of
from pqassay_spec.base.errors import FormatError, Malformed
from pqassay_spec.directory import distinct_set, entries, sketches, zone_sums
from pqassay_spec.directory.codes import IndexType, Placement
from pqassay_spec.grammar.constructs import AnyConstruct
from pqassay_spec.grammar.trace import Leaf, trace
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.parquet.thrift import CompressionCodec

GRAMMARS: Mapping[int, AnyConstruct] = {
    IndexType.DISTINCT_SET: distinct_set.SETS,
    IndexType.ZONE_SUMS: zone_sums.SUMS,
    IndexType.HLL: sketches.SKETCHES,
    IndexType.KLL: sketches.SKETCHES,
    IndexType.IDX1: idx1.BLOB,
}
"""The structure of each type of blob."""

UNREADABLE = (FormatError, NotApplicable, NotChecked)


def directory_blobs(file: FileUnderTest, errors: Errors) -> Iterator[Region]:
    """Yield the blobs in the body that entries describe, except a blob that the key of IDX1 also refers to."""
    known = None
    with suppress(NotApplicable, FormatError):  # reported with the embedded index
        blob = file.part(EmbeddedIndex).blob
        known = blob.start, blob.end
    for leaves in DirectoryTrace(file, errors).in_body():
        start, end = leaves[0].offset, max(leaf.offset + leaf.length for leaf in leaves)
        if (start, end) != known:
            yield Region(start, end, leaves[0].path.partition(".blob")[0] + ".blob", listed(leaves))


class DirectoryTrace:
    """The leaves of the index directories of a file.

    Args:
        file: The file.
        errors: Receives the errors of reading a directory.
    """

    def __init__(self, file: FileUnderTest, errors: list[FormatError]) -> None:
        self._part = file.part(IndexDirectory)
        self._errors = errors
        self._entries: list[EntryUnderTest] = []
        with suppress(FormatError):  # an error of the footer, which is reported elsewhere
            self._entries = self._part.entries

    def in_body(self) -> Iterator[list[Leaf]]:
        """The leaves of each blob in the body."""
        for entry in self._entries:
            if entry.head.placement == Placement.BODY and (leaves := self._blob(entry)):
                yield leaves

    def in_footer(self) -> Iterator[list[Leaf]]:
        """The leaves of each directory, and of blobs that are inline or in the extension."""
        with suppress(FormatError):
            for directory in self._part.directories:
                yield self._directory(directory)
        for entry in self._entries:
            if entry.head.placement != Placement.BODY and (leaves := self._blob(entry)):
                yield leaves

    def _directory(self, directory: DirectoryUnderTest) -> list[Leaf]:
        try:
            data = directory.data
            try:
                _ = directory.directory
            except NotChecked:  # another version, which may have other content after this
                found = trace(entries.HEADER, data[: entries.HEADER_SIZE], root="directory")[1]
                return [self._placed(directory, leaf) for leaf in found]
            except Malformed as error:
                self._errors.append(error)
            return [self._placed(directory, leaf) for leaf in entries.trace_directory(data) if leaf.length]
        except FormatError as error:
            if error not in self._errors and not any(other.rule == error.rule for other in self._errors):
                self._errors.append(error)
            return []

    def _placed(self, directory: DirectoryUnderTest, leaf: Leaf) -> Leaf:
        path, offset, length = directory.spot(leaf.path, leaf.offset, leaf.length)
        return leaf._replace(path=path, offset=offset, length=length)

    def _blob(self, entry: EntryUnderTest) -> list[Leaf]:
        """The leaves of a blob: one leaf for all bytes if its structure cannot be read; empty if the blob is missing."""
        stored = self._stored(entry)
        if stored is None:
            return []
        whole = entry.blob_spot("")
        as_one = Leaf(whole.path, whole.offset, whole.length, stored, "The blob as stored.")
        grammar = GRAMMARS.get(entry.head.type)
        if grammar is None:
            return [as_one]
        is_plain = entry.head.codec == CompressionCodec.UNCOMPRESSED
        try:
            plain = stored if is_plain else blob_of(entry).plain
            found = trace(grammar, plain, root="blob")[1]
        except UNREADABLE:
            return [as_one]
        leaves: list[Leaf] = []
        for leaf in found:
            spot = entry.blob_spot(leaf.path.removeprefix("blob").lstrip("."), leaf.offset, leaf.length)
            leaves.append(leaf._replace(path=spot.path, offset=spot.offset, length=spot.length))
        return leaves if is_plain else [as_one, *leaves]

    def _stored(self, entry: EntryUnderTest) -> bytes | None:
        head, framing = entry.head, entry.file.framing
        start, end = entry.span
        if head.placement == Placement.INLINE:
            return entry.entry.inline
        if head.placement == Placement.EXTENSION:
            area = self._part.area
            return area[start:end] if area is not None and end <= len(area) else None
        if not framing.body_start <= start < end <= framing.footer_start:
            return None
        if any(stretch.entry is entry for stretch in self._part.stretches):
            return entry.file.source.read(start, end - start)
        return None
