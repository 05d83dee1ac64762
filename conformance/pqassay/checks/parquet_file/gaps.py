"""The check of the gaps: every byte of the body belongs to a structure or a known filler."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.checks.subjects import FILE
from pqassay.under_test.body_gaps import (
    MOST_WORK,
    UNCLAIMED,
    Filler,
    Gaps,
    holes,
    named_offsets,
    surroundings,
)
from pqassay.under_test.chunks import ColumnChunks
from pqassay.under_test.file import Broken, FileUnderTest, NotApplicable, NotChecked
from pqassay.under_test.index_directory import IndexDirectory
from pqassay.under_test.violation import Spot, Violation
from pqassay_spec.base.errors import FormatError
from pqassay_spec.idx1 import blob as idx1


@rule("PQF-037", of=FILE)
def body_is_accounted_for(file: FileUnderTest) -> Iterator[Violation]:
    """Fillers are known by their bytes, by a key, or by other fields of the footer."""
    framing = file.framing
    if file.is_summary or framing.body_start == framing.footer_start:
        raise NotApplicable
    if file.layout is not None and file.layout.length == framing.footer_start - framing.body_start:
        return
    holes_left = list(_gaps(file))
    if not holes_left:
        return
    starts = {given.start for given in file.ranges}
    alone = {given.start for given in file.offsets} - starts
    gaps = Gaps(file.source, surroundings(file.metadata, file.leaves, alone))
    is_whole = True
    for start, end in holes_left:
        for run in gaps.runs(start, end):
            is_whole = is_whole and run.filler is not Filler.UNSEEN
            if run.filler in UNCLAIMED:
                said = f"[{run.start}, {run.end}) holds {run.filler.value}"
                spot = Spot("body", run.start, run.end - run.start)
                yield spot.violation(said, "a structure of the footer, or a known filler", run.filler.value)
    if not is_whole:
        raise NotChecked(f"the gaps hold more than the {MOST_WORK >> 20} MiB that are looked at", "tool")


def _gaps(file: FileUnderTest) -> Iterator[tuple[int, int]]:
    """The gaps between sound ranges; other rules report ranges that are not sound."""
    file.require_sound_ranges()
    ranges = [(given.start, given.end) for given in file.ranges]
    gaps = list(holes(ranges, file.framing.body_start, file.framing.footer_start))
    if gaps:
        gaps = _without_blobs(file, gaps)
    if gaps:
        if any(file.is_elsewhere(chunk) for group in file.metadata.row_groups for chunk in group.columns):
            raise Broken("PQF-023")  # its pages may still be here
        _require_displaced_by_no_blob(file, ranges)
        _require_lengths_of_bloom_filters(file)
    return iter(gaps)


def _without_blobs(file: FileUnderTest, gaps: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The parts of the gaps outside the blobs of an index directory. Raises the errors of reading a directory."""
    directory = file.part(IndexDirectory)
    directory.require_readable()
    blobs = [(stretch.start, stretch.end) for stretch in directory.stretches]
    left_over = [
        left
        for start, end in gaps
        for left in holes(
            ((max(first, start), last) for first, last in blobs if first < end and last > start), start, end
        )
    ]
    if left_over and (problem := directory.misplaced):
        raise Broken(problem)
    return left_over


def _require_lengths_of_bloom_filters(file: FileUnderTest) -> None:
    """Raise BLM-005 if the length of a bloom filter is too short: the rest of the filter is not a gap."""
    for chunk in file.part(ColumnChunks).having("bloom_filter"):
        try:
            header, taken = chunk.bloom_filter_header
        except FormatError:
            continue  # BLM-002: the bytes after the header are unknown
        said = chunk.facts.bloom_filter_length
        if said is not None and said != taken + header.numBytes:
            raise Broken("BLM-005")


def _require_displaced_by_no_blob(file: FileUnderTest, ranges: list[tuple[int, int]]) -> None:
    """Raise IDX1-009 if a blob is inside a range: the writer did not count the blob, so all later structures are displaced."""
    for offset, key in named_offsets(file.key_values):
        is_inside = key == idx1.KEY and any(start <= offset < end for start, end in ranges)
        if is_inside and file.source.read(offset, idx1.MAGIC_SIZE) == idx1.MAGIC:
            raise Broken("IDX1-009")
