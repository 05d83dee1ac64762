"""Structures that are not where the footer places them: if most are misplaced, they have one cause and are one finding.

Either the footer belongs to another file, or bytes were inserted or lost, or a part of the body was never written. Trials decide: either
pages begin a constant number of bytes further on, or there are zeros in their place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from pqassay.under_test.chunks import ColumnChunks, ColumnChunkUnderTest
from pqassay.under_test.file import FileUnderTest, NotApplicable, NotChecked, overlaps
from pqassay.under_test.layout import COLUMN_INDEXES, FILTERS, OFFSET_INDEXES
from pqassay.under_test.pages.walk import each_page
from pqassay.under_test.violation import Violation
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import is_near
from pqassay_spec.parquet.file import chunk_start
from pqassay_spec.parquet.other_files import AGAIN
from pqassay_spec.rules.catalogue import file_rules

OF_CHUNKS = ("PQF-001", "PQF-050", "PQF-051", "PQF-008", "PQF-009")
"""Rules that are broken if column chunks are misplaced; the first broken rule in this order is reported."""

SECOND = "PQF-054"
"""A rule that is broken if a chunk extends to the dictionary of the next chunk."""

OF_STRUCTURES = {"PIX-010": OFFSET_INDEXES, "PIX-020": COLUMN_INDEXES, "BLM-002": FILTERS}
"""Rules that are broken if other structures are misplaced, each with its kind of structure."""

OF_STATISTICS = ("STA-040", "STA-041", "STA-048")
"""Rules that are broken if bounds belong to other values."""

LEFT_BESIDE = ("PQF-008", "PQF-009", "PQF-037")
"""Rules of tier ``footer`` that misplaced chunks also break; other rules of this tier have their own causes."""

DISPLACED = "IDX1-009"
"""A rule that already reports that structures were displaced, and by how much."""

FEW, SAMPLE, REMOTE_SAMPLE = 2, 64, 8
"""The least number of chunks or structures that one cause explains; the number of chunks tried in a local and in a remote file."""

FEW_COLUMNS = 3
"""The least number of columns with bounds, if the bounds of all columns belong to other values."""


MOST_ALONE = 16
"""The number of chunks up to which each is also tried alone at another place, not only all together."""

MOST_DRIFT = 256
"""The largest difference, in bytes, between the displacements of two chunks; every difference is tried."""

Places = Mapping[str, Mapping[str | None, int]]
"""The number of places where each rule is broken, by column."""


@dataclass(frozen=True)
class Cause:
    """The common explanation of several broken rules.

    Attributes:
        rule: The rule that is reported.
        reason: What happened, in words.
        remedy: What to do.
        others: The rules that it covers.
        at: The places where the rule is broken, if they differ from the violations.
    """

    rule: str
    reason: str
    remedy: str
    others: frozenset[str]
    at: Sequence[Violation] = ()


def cause_of(file: FileUnderTest, places: Places) -> Cause | None:
    """The common cause of the violations; ``None`` if there may be several."""
    if DISPLACED in places or not places.keys() & {*OF_CHUNKS[1:], *OF_STRUCTURES, *OF_STATISTICS}:
        return None
    try:
        if (cause := _of_offsets(file, places)) is not None or sum(map(len, places.values())) < FEW:
            return cause
        return _of_chunks(file, places) or _of_structures(file, places)
    except (FormatError, NotApplicable, NotChecked, OSError):
        return None


def _left(places: Places, speaker: str) -> frozenset[str]:
    """The broken rules that the reported rule covers: those that look beyond the footer."""
    beyond = {rule for rule in places if file_rules()[rule].tier != "footer" or rule in LEFT_BESIDE}
    return frozenset(beyond - {speaker})


def _of_offsets(file: FileUnderTest, places: Places) -> Cause | None:
    """The cause if chunks are complete at another place: an offset of one of their pages is missing or wrong."""
    speaker = next((rule for rule in (*LEFT_BESIDE[:2], *OF_CHUNKS[1:3], SECOND) if rule in places), None)
    if speaker is None:
        return None
    off = {each.field for both in overlaps(file.ranges) for each in both}
    chunks = [chunk for chunk in file.part(ColumnChunks).all if _is_lost(file, chunk, off)]
    fitted = _fitted(file, chunks)
    if not fitted and len(chunks) <= MOST_ALONE:
        alone = [wrong for chunk in chunks if (wrong := _fitted(file, [chunk]))]
        fitted = alone[0] if len(alone) == 1 else []
    columns = {violation.column for violation in fitted}
    covered = {
        rule
        for rule, names in places.items()
        if rule in (*OF_CHUNKS[1:], *LEFT_BESIDE, SECOND)
        or (file_rules()[rule].tier != "footer" and columns >= names.keys())
    }
    return Cause(speaker, "", "", frozenset(covered - {speaker}), fitted) if fitted else None


def _is_lost(file: FileUnderTest, chunk: ColumnChunkUnderTest, off: Collection[str]) -> bool:
    """Whether a chunk overlaps another structure, leaves the body, or has no page at its start."""
    start, size = chunk_start(chunk.chunk), chunk.facts.total_compressed_size
    if start is None or size <= 0:
        return False
    if f"footer.{chunk.path}.meta_data.data_page_offset" in off or start + size > file.framing.footer_start:
        return True
    with suppress(NotChecked):
        try:
            return file.options.reaches("pages") and any(page.is_dictionary for page in chunk.pages[1:])
        except FormatError as error:
            return error.rule in OF_CHUNKS
    return False


def _fitted(file: FileUnderTest, chunks: Sequence[ColumnChunkUnderTest]) -> list[Violation]:
    """The wrong offsets, if all of some chunks fit in order after the preceding structure; empty otherwise."""
    fields = {f"footer.{chunk.path}.meta_data.data_page_offset" for chunk in chunks}
    others = [given for given in file.ranges if given.field not in fields]
    position, wrong = file.framing.body_start, list[Violation]()
    for chunk in sorted(chunks, key=lambda each: each.facts.data_page_offset):
        facts, size = chunk.facts, chunk.facts.total_compressed_size
        for anchor in (facts.data_page_offset, facts.dictionary_page_offset or 0):
            start = max([position, *(given.end for given in others if given.end <= anchor)])
            end = start + size
            is_free = not any(given.start < end and start < given.end for given in others)
            if start <= anchor < end <= file.framing.footer_start and is_free:
                break
        else:
            return []
        position = end
        try:
            wrong += _wrong_offset(file, chunk, start, anchor)
        except FormatError:  # other bytes are there
            return []
    return wrong


def _wrong_offset(
    file: FileUnderTest, chunk: ColumnChunkUnderTest, start: int, anchor: int
) -> Iterator[Violation]:
    """The wrong offset, if a chunk begins elsewhere. Raises the errors of `each_page` if its pages are not there."""
    facts = chunk.facts
    data, dictionary = str(facts.data_page_offset), start if start < facts.data_page_offset else None
    if anchor == facts.dictionary_page_offset:
        data, dictionary = f"more than {start}", start
    if file.options.reaches("pages"):
        end = start + facts.total_compressed_size
        pages = list(each_page(file.source, start, end, chunk.path, facts.num_values))
        dictionary = start if pages[0].is_dictionary else None
        data = str(next((page.offset for page in pages if page.is_data), start))
    given = facts.dictionary_page_offset or None
    name, expected, actual = "dictionary_page_offset", str(dictionary or "none"), str(given or "none")
    if expected == actual:
        name, expected, actual = "data_page_offset", data, str(facts.data_page_offset)
    if expected == actual:
        return
    yield Violation(
        f"the pages of {chunk} fit at offset {start}, but its {name} is {actual.replace('none', 'missing')}",
        chunk.fields.facts / name,
        expected,
        actual,
        column=chunk.column,
        row_group=chunk.row_group,
        remedy=f"write the file again, with the {name} of its pages",
    )


def _of_chunks(file: FileUnderTest, places: Places) -> Cause | None:
    """The cause if chunks are misplaced: all misplaced chunks begin with zeros, or most are displaced."""
    speaker = next((rule for rule in OF_CHUNKS if rule in places), None)
    chunks = [chunk for chunk in file.part(ColumnChunks).all if chunk_start(chunk.chunk) is not None]
    step = -(-len(chunks) // (SAMPLE if is_near(file.source) else REMOTE_SAMPLE)) or 1
    tried = chunks[::step]
    lost = [chunk for chunk in tried if not _is_there(file, chunk, 0)]
    if speaker is None:
        return None
    if step == 1 and (zeros := _of_zeros(file, chunks)):
        reason = f"zeros are where pages of {zeros} of {len(chunks)} column chunks should begin: a part of the file was never written"
        return Cause(speaker, reason, AGAIN, frozenset(places.keys() & OF_CHUNKS) - {speaker})
    if len(lost) < FEW or 2 * len(lost) <= len(tried):
        return None
    where = f"{len(lost)} of {len(tried)} column chunks{' tried' * (step > 1)} do not begin where "
    shift = file.framing.footer_start - max(given.end for given in (*file.ranges, *file.offsets))
    moved = _moved(file, lost, shift) if shift and file.options.reaches("pages") else None
    reason = (
        f"this footer belongs to another file, or the bytes before it were changed: {where}it places them"
    )
    if moved is not None:
        reason = f"{moved}: {where}the footer places them"
    return Cause(speaker, reason, AGAIN, _left(places, speaker))


def _moved(file: FileUnderTest, lost: Sequence[ColumnChunkUnderTest], shift: int) -> str | None:
    """Where bytes were inserted or lost, in words, if this is the only change of a body that is ``shift`` bytes longer or shorter."""
    number = (
        f"{abs(shift):,} byte{' was' if abs(shift) == 1 else 's were'} {'inserted' if shift > 0 else 'lost'}"
    )
    there = [chunk for chunk in lost if _is_there(file, chunk, shift)]
    if len(there) >= max(FEW, len(lost) - 1):  # the first chunk may be damaged itself
        return f"{number} before offset {shift + min(map(_start, there))}"
    step, place = 1 if shift > 0 else -1, 0
    # After the last chunk, the bytes that it lost may not fit.
    for chunk in sorted(lost, key=_start)[:-1] if abs(shift) <= MOST_DRIFT else ():
        places = (at for at in range(place, shift + step, step) if _is_there(file, chunk, at))
        if (found := next(places, None)) is None:
            return None
        place = found
    if not place:
        return None
    return f"{number} in several places, as if a program converted the line ends of the file as text"


def _of_zeros(file: FileUnderTest, chunks: Sequence[ColumnChunkUnderTest]) -> int:
    """The number of chunks with zeros in place of a page; 0 if a chunk is broken in another way."""
    number = 0
    for chunk in chunks if file.options.reaches("pages") else ():
        try:
            _ = chunk.pages
        except FormatError as error:
            start = error.offset
            if start is None or start + 8 > file.source.size or any(file.source.read(start, 8)):
                return 0
            number += 1
    return number


def _start(chunk: ColumnChunkUnderTest) -> int:
    return chunk_start(chunk.chunk) or 0


def _is_there(file: FileUnderTest, chunk: ColumnChunkUnderTest, shift: int) -> bool:
    """Whether the first page of a chunk begins ``shift`` bytes further on; if pages are not read, whether it would fit."""
    start = _start(chunk) + shift
    end = start + chunk.facts.total_compressed_size
    if not file.framing.body_start <= start <= end <= file.framing.footer_start:
        return False
    if not file.options.reaches("pages"):
        return True
    try:
        return next(each_page(file.source, start, end, "", 0), None) is not None or start == end
    except FormatError:
        return False


def _of_structures(file: FileUnderTest, places: Places) -> Cause | None:
    """The cause if chunks are in place, but most indexes or filters, or the bounds of all columns, are not."""
    bounds = [rule for rule in OF_STATISTICS if rule in places]
    columns = {chunk.column for chunk in file.part(ColumnChunks).having("statistics")}
    are_others = len(columns) >= FEW_COLUMNS and columns == {name for rule in bounds for name in places[rule]}
    contradict = f"the bounds of all {len(columns)} columns contradict their values"
    counts = {
        rule: (sum(places.get(rule, {}).values()), file.part(ColumnChunks).count(kind))
        for rule, kind in OF_STRUCTURES.items()
    }
    are_all = (
        sum(0 < lost == total for lost, total in counts.values()) >= FEW
    )  # of two kinds, if only one column has them
    for rule, kind in OF_STRUCTURES.items():
        lost, total = counts[rule]
        if (lost >= FEW and 2 * lost > total) or (are_all and 0 < lost == total):
            reason = f"{lost:,} of {total:,} structures ({kind}) are not where the footer places them"
            if are_others:
                reason = f"this footer belongs to another file: {reason}, and {contradict}"
                return Cause(rule, reason, AGAIN, _left(places, rule))
            few = sum(places.get("PQF-008", {}).values()) < FEW  # the last one, if bytes were lost
            others = {
                other
                for other in _left(places, rule)
                if other[:3] in ("PIX", "BLM") or (few and other == "PQF-008")
            }
            return Cause(rule, reason, "", frozenset(others))
    if are_others:
        reason = f"{contradict}, as if the footer belonged to another file"
        others = {
            rule for rule in places if file_rules()[rule].compares_values and rule[:3] in ("STA", "PIX")
        }
        return Cause(bounds[0], reason, "", frozenset(others - {bounds[0]}))
    return None
