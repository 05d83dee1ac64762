"""Checks of index directory blobs of every type: place, checksum, length, parts, and source chunks."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.checks.directory.entries import ENTRY, entries_of
from pqassay.under_test.file import Broken, NotApplicable
from pqassay.under_test.index_directory import EntryUnderTest, IndexDirectory
from pqassay.under_test.violation import Violation
from pqassay.values.directory.blob import blob_of, content_of
from pqassay_spec.directory.codes import Granularity, IndexType, Placement
from pqassay_spec.directory.sketches import kll_count
from pqassay_spec.parquet.thrift import CompressionCodec

WITH_PARTS = entries_of(IndexType.DISTINCT_SET, IndexType.ZONE_SUMS, IndexType.HLL, IndexType.KLL, named=True)
"""Entries whose blob has parts."""


@rule("DIR-013", of=ENTRY)
def blob_overlaps_nothing(entry: EntryUnderTest) -> Iterator[Violation]:
    """If two structures overlap, a program that rewrites one of them damages the other."""
    _ = entry.is_placed
    if entry.head.placement != Placement.BODY or not entry.head.stored_length:
        raise NotApplicable
    start, end = entry.span
    for said, first, last in _others(entry):
        if first < end and start < last:
            common = min(end, last) - max(start, first)
            yield entry.violation(
                "offset",
                f"its blob [{start}, {end}) overlaps {said}",
                "bytes of its own",
                f"{common} bytes in common",
            )


def _others(entry: EntryUnderTest) -> Iterator[tuple[str, int, int]]:
    """Other structures in the body with start and end; only those blobs that precede this one."""
    for given in entry.file.ranges:
        yield f"the {given}", given.start, given.end
    part = entry.file.part(IndexDirectory)
    if (blob := part.idx1_stretch) is not None and (entry.head.type != IndexType.IDX1 or blob != entry.span):
        yield f"the IDX1 blob [{blob[0]}, {blob[1]})", *blob
    for stretch in part.stretches:
        if stretch.entry is entry:
            return
        if not stretch.entry.is_last:
            continue  # a copied key leaves two entries that point at one blob
        yield f"the blob of {stretch.entry}, [{stretch.start}, {stretch.end})", stretch.start, stretch.end


@rule("DIR-014", of=ENTRY)
def checksum_is_that_of_the_blob(entry: EntryUnderTest) -> None:
    """Reading the bytes raises the violation."""
    _ = entry.stored


@rule("DIR-015", of=ENTRY)
def blob_decompresses(entry: EntryUnderTest) -> None:
    """Decompressing raises the violation."""
    _ = blob_of(entry).plain


@rule("DIR-017", of=ENTRY)
def content_is_that_of_the_chunks(entry: EntryUnderTest) -> Iterator[Violation]:
    """If the chunks changed but the footer did not, readers still trust the entry."""
    _ = entry.is_fresh
    found = content_of(entry)
    if found != entry.head.content:
        yield entry.violation(
            "content",
            f"the pages of {entry.entry.names} differ from those that it was made from",
            f"{found:016x}",
            f"{entry.head.content:016x}",
        )


@rule("DIR-020", of=WITH_PARTS)
def lengths_fill_the_blob(entry: EntryUnderTest) -> None:
    """Following the lengths raises the violation."""
    _ = blob_of(entry).part_count


@rule("DIR-021", of=WITH_PARTS)
def parts_are_those_of_the_granularity(entry: EntryUnderTest) -> Iterator[Violation]:
    """With another number of parts, the rows of each part are unknown."""
    blob, wanted = blob_of(entry), len(entry.part_rows)
    if blob.part_count != wanted:
        names = {Granularity.FILE: "file", Granularity.ROW_GROUP: "row group", Granularity.PAGE: "data page"}
        each = names[Granularity(entry.head.granularity)]
        spot = entry.blob_spot("part_count")
        yield spot.violation(
            f"{entry}: {blob.part_count} parts, and there {'is' if wanted == 1 else 'are'} {wanted} of one for each {each}",
            str(wanted),
            str(blob.part_count),
        )


@rule("DIR-023", of=ENTRY)
def value_count_is_that_of_the_blob(entry: EntryUnderTest) -> Iterator[Violation]:
    """A wrong count misleads planners."""
    blob, kind = blob_of(entry), entry.head.type
    blob.require_known()
    if kind == IndexType.HLL:
        raise NotApplicable  # the sketches do not store it
    if kind == IndexType.DISTINCT_SET:
        counted = sum(part.head.value_count for part in blob.sets)
    elif kind == IndexType.ZONE_SUMS:
        counted = blob.sums.head.group_count
    elif kind == IndexType.KLL:
        counts = [kll_count(sketch) for sketch in blob.sketches]
        if None in counts:
            raise Broken("DIR-040")
        counted = sum(count or 0 for count in counts)
    else:
        counted = len(blob.texts)
    if counted != entry.head.value_count:
        said = f"it counts {entry.head.value_count}, but its blob holds {counted}"
        yield entry.violation("value_count", said, str(counted), str(entry.head.value_count))


@rule("DIR-048", of=entries_of(IndexType.IDX1))
def idx1_is_as_its_format_says(entry: EntryUnderTest) -> Iterator[Violation]:
    """Readers of IDX1 read the blob through its own key."""
    _ = entry.is_described
    wanted = {
        "granularity": Granularity.FILE,
        "placement": Placement.BODY,
        "codec": CompressionCodec.UNCOMPRESSED,
    }
    for name, member in wanted.items():
        number = getattr(entry.head, name)
        if number != member:
            yield entry.violation(
                name, f"the {name} of an IDX1 blob is {member.name}", str(member.value), str(number)
            )
            return
    _ = blob_of(entry).texts
