"""Checks of the framing: magics, footer, key-values, and the ranges that the footer refers to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from operator import itemgetter

from pqassay.checks import rule
from pqassay.checks.subjects import FILE, FOOTER, Subject
from pqassay.under_test.chunks import LONG_HEADER
from pqassay.under_test.fields import in_footer
from pqassay.under_test.file import FileUnderTest, NotApplicable, overlaps
from pqassay.under_test.footer_parts import KeyValueUnderTest, listed
from pqassay.under_test.layout import CHUNKS, COLUMN_INDEXES, FILTERS, INDEXES, OFFSET_INDEXES
from pqassay.under_test.violation import Violation
from pqassay_spec.base.errors import FormatError
from pqassay_spec.directory.entries import KEY as DIRECTORY_KEY
from pqassay_spec.grammar.hexdump import show
from pqassay_spec.grammar.record_walk import mistyped_fields
from pqassay_spec.grammar.thrift import is_text
from pqassay_spec.grammar.thrift_decoder import decode
from pqassay_spec.parquet.file import SIGNATURE_SIZE, ByteRange, is_signed
from pqassay_spec.parquet.hints import is_hint
from pqassay_spec.parquet.thrift import BloomFilterHeader, ColumnIndex, OffsetIndex, PageHeader

KEY_VALUE = Subject("key-value", lambda file: listed(file, "key_value_metadata", file.key_values))
"""A pair of the footer's key-value metadata."""


@rule("PQF-001", of=FILE)
def begins_with_magic(file: FileUnderTest) -> None:
    """Reading the head raises the violation."""
    file.head()


@rule("PQF-002", of=FILE)
@rule("PQF-003", of=FILE)
def ends_with_a_footer(file: FileUnderTest) -> None:
    """Finding the footer raises the violation, in the tail or in the length."""
    _ = file.framing


@rule("PQF-004", of=FILE)
def footer_decodes(file: FileUnderTest) -> None:
    """Decoding raises the violation; so does a schema that is not a tree."""
    _ = file.leaves


@rule("PQF-005", of=FOOTER)
def footer_is_filled(file: FileUnderTest) -> Iterator[Violation]:
    """The struct fills the footer, except for a signature."""
    metadata, taken = file.decoded
    allowed = SIGNATURE_SIZE if is_signed(metadata) else 0
    left = file.framing.footer_length - taken
    if left != allowed:
        yield Violation(
            f"{left} bytes follow the footer's struct",
            in_footer(file),
            offset=file.framing.footer_start + taken,
            length=left,
            expected=f"{allowed} bytes behind the struct",
            actual=f"{left} bytes",
        )


@rule("PQF-039", of=FOOTER)
def fields_have_their_type(file: FileUnderTest) -> Iterator[Violation]:
    """A known id with another wire type is a mistake, not an unknown field."""
    yield from _mistyped(file, hints=False)


@rule("PQF-130", of=FOOTER)
def hints_have_their_type(file: FileUnderTest) -> Iterator[Violation]:
    """Every reader may skip such a field, so it costs no row unless a reader takes its bytes for the declared type."""
    yield from _mistyped(file, hints=True)


def _mistyped(file: FileUnderTest, *, hints: bool) -> Iterator[Violation]:
    """Violations for fields of the footer with a wrong wire type: only hints, or only fields that readers need."""
    for found in mistyped_fields(file.metadata, "footer") if file.has_unknown_fields else ():
        if is_hint(found.owner, found.field.name) is hints:
            said = f"{found.path} is written as {found.written}, and readers that check the type skip it"
            yield Violation(said, found.path, f"{found.declared}, for {found.type}", found.written)


@rule("PQF-006", of=FOOTER, only=lambda file: bool(file.key_values))
def keys_are_unique(file: FileUnderTest) -> Iterator[Violation]:
    """If a key occurs twice, some readers take the first value, and others the last."""
    first: dict[str, int] = {}
    for index, pair in enumerate(file.key_values):
        earlier = first.setdefault(pair.key, index)
        if earlier != index and pair.key != DIRECTORY_KEY:  # directories are merged
            same = "the same value" if file.key_values[earlier].value == pair.value else "another value"
            said = f"key {show(pair.key)} is at {earlier} and, with {same}, at {index}"
            field = in_footer(file, f"key_value_metadata[{index}].key")
            yield Violation(said, field, "each key once", f"{show(pair.key)} again")


@rule("PQF-007", of=KEY_VALUE)
def key_values_are_text(item: KeyValueUnderTest) -> Iterator[Violation]:
    """Readers decode keys and values as UTF-8, and some fail on the whole file if decoding fails."""
    pair = item.part
    for part, text in (("key", pair.key), ("value", pair.value)):
        if text is not None and not is_text(text):
            said = f"the {part} of pair {item.number}, key {show(pair.key)}, is not UTF-8"
            yield Violation(said, item.field / part, "UTF-8", show(text))


@rule("PQF-010", of=KEY_VALUE)
def keys_have_values(item: KeyValueUnderTest) -> Iterator[Violation]:
    """A key alone is legal, but some readers cannot handle it."""
    if item.part.value is None:
        said = f"key {show(item.part.key)} has no value"
        yield Violation(said, item.field, "a value, which may be empty", "a key alone")


@rule("PQF-008", of=FOOTER, only=lambda file: file.has_offsets)
def ranges_lie_in_the_body(file: FileUnderTest) -> Iterator[Violation]:
    """Nothing that the footer refers to reaches into the head or the footer, or beyond the file."""
    body = f"within [{file.framing.body_start}, {file.framing.footer_start})"
    if file.layout is not None or (not file.stray_offsets and len(file.ranges_inside) == len(file.ranges)):
        return
    told: set[str] = set()
    for given in (*file.offsets, *file.ranges):
        if given.field not in told and not file.in_body(given):
            told.add(given.field)
            yield _about(given, f"the {given} lies outside the body", body)


@rule("PQF-009", of=FOOTER)
def ranges_do_not_overlap(file: FileUnderTest) -> Iterator[Violation]:
    """No two ranges inside the body share a byte. PQF-008 judges ranges outside the body."""
    layout = file.layout
    if (len(file.ranges_inside) if layout is None else layout.count) < 2:
        raise NotApplicable
    pairs = overlaps(file.ranges_inside) if layout is None else ()
    reported = set[ByteRange]()
    for widest, both in groupby(pairs, key=itemgetter(0)):
        others = [given for _, given in both]
        lost = [given for given in (widest, *others) if not _is_readable(file, given)]
        if len(lost) <= len(others) and lost:
            for given in lost:
                if given not in reported:
                    beside = others[0] if given is widest else widest
                    yield _about(given, f"the {given} overlaps the {beside}", "bytes of its own")
            reported.update(lost)
            continue
        if _is_astray(file.ranges_inside, widest, others):
            yield _about(widest, f"the {widest} overlaps the {others[0]}", "bytes of its own")
            continue
        for given in others:
            yield _about(given, f"the {given} overlaps the {widest}", f"a start at {widest.end} or later")


_STRUCTS = {
    CHUNKS: PageHeader,
    COLUMN_INDEXES: ColumnIndex,
    OFFSET_INDEXES: OffsetIndex,
    FILTERS: BloomFilterHeader,
}
"""The struct at the start of each kind of range; an index is nothing else."""


def _is_readable(file: FileUnderTest, given: ByteRange) -> bool:
    """Whether the structure of a range is there; true if the tier does not read it."""
    if not file.options.reaches("index"):
        return True
    is_index = given.kind in INDEXES
    room = given.length if is_index else min(file.framing.footer_start - given.start, LONG_HEADER)
    try:
        _, taken = decode(_STRUCTS[given.kind], file.source.read(given.start, room))
    except FormatError:
        return False
    return not is_index or taken == given.length


def _is_astray(ranges: Sequence[ByteRange], widest: ByteRange, others: Sequence[ByteRange]) -> bool:
    """Whether a range is more likely wrong than the ranges that it overlaps: those do not overlap each other, or only it has room elsewhere."""
    if len(others) > 1:
        return all(first.end <= second.start for first, second in pairwise(others))
    start, [other] = widest.start, others
    before = max((each.end for each in ranges if each.start <= start and each != widest), default=0)
    behind = [each.start for each in ranges if each.start >= start and each not in (widest, other)]
    return (
        other.start - before >= widest.length and min(behind, default=other.end) - widest.end < other.length
    )


def _about(given: ByteRange, message: str, expected: str) -> Violation:
    return Violation(
        message,
        given.field,
        expected=expected,
        actual=f"[{given.start}, {given.end})" if given.length else str(given.start),
        column=given.column,
        row_group=given.row_group,
    )
