"""Checks of IDX1: the key, the blob, its values, and the companion record.

`EmbeddedIndex` is this family's view of a file; its properties raise the errors that prevent a check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from pqassay.checks import rule
from pqassay.checks.subjects import Subject
from pqassay.report.model import FIRST_POSITIONS
from pqassay.under_test.fields import Field, in_footer
from pqassay.under_test.file import FileUnderTest, NotApplicable, Remembered
from pqassay.under_test.violation import Spot, Violation, first_places
from pqassay_spec.base.errors import FormatError, Malformed
from pqassay_spec.grammar.hexdump import show
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.idx1 import companion as idx1_companion
from pqassay_spec.idx1.blob import Blob, Layout, Loss
from pqassay_spec.idx1.companion import Companion
from pqassay_spec.parquet.file import ByteRange
from pqassay_spec.parquet.thrift import KeyValue


class EmbeddedIndex:
    """The index of one file; each property raises an error if its part cannot be read."""

    def __init__(self, file: FileUnderTest) -> None:
        self.file = file

    def pairs(self, key: str) -> list[tuple[int, KeyValue]]:
        """Every key-value pair with this key, with its position; empty for a summary of other files."""
        if self.file.is_summary:
            return []
        return [(index, pair) for index, pair in enumerate(self.file.key_values) if pair.key == key]

    def text(self, key: str) -> str | None:
        """The value of the first pair with this key, which the published reader uses."""
        return next((pair.value for _, pair in self.pairs(key)), None)

    def field(self, key: str) -> Field:
        """The field of the value of the first pair with this key; the field of the pair if it has no value."""
        index, pair = self.pairs(key)[0]
        return in_footer(self.file, f"key_value_metadata[{index}]") / ("" if pair.value is None else "value")

    @Remembered
    def offset_text(self) -> str:
        """The value of the offset key. Raises IDX1-002."""
        if not self.pairs(idx1.KEY):
            raise NotApplicable
        text = self.text(idx1.KEY)
        if text is None:
            field = str(self.field(idx1.KEY))
            raise Malformed(f"the key {idx1.KEY} has no value", rule="IDX1-002", field=field)
        return text

    @Remembered
    def number(self) -> int:
        """The offset that the key states. Raises IDX1-002, IDX1-003."""
        try:
            return idx1.parse_offset(self.offset_text)
        except Malformed as error:
            raise error.within(field=str(self.field(idx1.KEY))) from None

    @Remembered
    def offset(self) -> int:
        """The offset, checked to be inside the body. Raises the errors of `number`, and IDX1-005."""
        offset = self.number
        start, end = self.file.framing.body_start, self.file.framing.footer_start
        room = 0 if self.text(idx1.LENGTH_KEY) is not None else idx1.HEADER_SIZE
        if not start <= offset <= end - room:
            raise Malformed(
                f"offset {offset} leaves no room for an index between {start} and the footer at {end}; "
                "a program that rewrote the file may have kept the key of an older one",
                rule="IDX1-005",
                field=str(self.field(idx1.KEY)),
            )
        return offset

    @Remembered
    def blob(self) -> Blob:
        """The blob, in any known layout. Raises IDX1-006, IDX1-007, IDX1-008."""
        source, end = self.file.source, self.file.framing.footer_start
        try:
            return idx1.read_blob(source, self.offset, end)
        except Malformed as error:
            if error.rule not in ("IDX1-005", "IDX1-006"):
                raise
            return self._without_magic(error)

    def _without_magic(self, error: Malformed) -> Blob:
        """The blob if the key does not point at a magic: a draft, a stale key, or a damaged magic."""
        offset, end = self.offset, self.file.framing.footer_start
        try:
            length = idx1.parse_offset(self.text(idx1.LENGTH_KEY) or "")
            draft = idx1.read_draft_g0(self.file.source, offset, length, end)
            header = idx1.length_field(self.file.source, offset) == length
        except FormatError:
            draft, header = None, False
        # A length at the place where draft G1 has it shows that there was a magic, which is damaged.
        if draft is not None and not header and not self.overlapping(draft.start, draft.end):
            return draft
        if other := self.overlapping(offset, offset + 1):
            raise Malformed(
                f"the key points into the {other[0]}: the index it belonged to is gone",
                rule="IDX1-007",
                field=str(self.field(idx1.KEY)),
            )
        raise error

    def overlapping(self, start: int, end: int) -> list[ByteRange]:
        """The ranges of other structures that share a byte with ``[start, end)``."""
        return [given for given in self.file.ranges if given.start < end and start < given.end]

    @Remembered
    def values(self) -> list[str]:
        """The values in their stored order. Raises IDX1-010."""
        try:
            return idx1.exact_values(self.blob.payload)
        except Malformed as error:
            error.offset = self.blob.payload_start + (error.offset or 0)
            raise

    @Remembered
    def companion(self) -> Companion:
        """The companion record. Raises IDX1-020."""
        if not self.pairs(idx1.COMPANION_KEY):
            raise NotApplicable
        try:
            return idx1_companion.parse_companion(self.text(idx1.COMPANION_KEY) or "")
        except Malformed as error:
            error.field = str(self.field(idx1.COMPANION_KEY))
            raise

    @property
    def payload(self) -> Spot:
        """The spot of the payload."""
        return Spot("idx1.payload", self.blob.payload_start, len(self.blob.payload))

    @property
    def length(self) -> Spot:
        """The spot of the field before the payload that has its length; draft G0 does not have it."""
        return Spot("idx1.length", self.blob.start, idx1.HEADER_SIZE)


Find = Callable[[FileUnderTest], Sequence[EmbeddedIndex]]


def _with(key: str) -> Find:
    """A function that finds the index of a file that has a key."""

    def find(file: FileUnderTest) -> Sequence[EmbeddedIndex]:
        index = file.part(EmbeddedIndex)
        return [index] if index.pairs(key) else []

    return find


def _read(subject: Subject[EmbeddedIndex], part: str) -> Find:
    """The finder of a subject that also reads a part of it, which raises the errors in that part."""

    def find(file: FileUnderTest) -> Sequence[EmbeddedIndex]:
        found = subject.find(file)
        for index in found:
            getattr(index, part)
        return found

    return find


KEY = Subject("key of an index", _with(idx1.KEY))
"""Key-value pairs with the key of an index; the key of an offset alone does not prove that a blob exists."""

BLOB = Subject("index", _read(KEY, "blob"))
"""An index whose blob can be read."""

COMPANION_KEY = Subject("key of a companion record", _with(idx1.COMPANION_KEY))
"""The key-value pairs with the key of a companion record."""

COMPANION = Subject("companion record", _read(COMPANION_KEY, "companion"))
"""A companion record that can be parsed."""


@rule("IDX1-001", of=KEY)
def key_occurs_once(index: EmbeddedIndex) -> Iterator[Violation]:
    """The published reader takes the first pair; parsers that build a map take the last."""
    pairs = index.pairs(idx1.KEY)
    first = pairs[0][1].value
    for position, pair in pairs[1:]:
        said = (
            f"the key occurs {len(pairs)} times; readers that take the first see {show(first)}, "
            f"those that take the last {show(pairs[-1][1].value)}"
        )
        field = in_footer(index.file, f"key_value_metadata[{position}]")
        yield Violation(said, field, "the key once", f"again, with value {show(pair.value)}")


@rule("IDX1-002", of=KEY)
def key_has_a_value(index: EmbeddedIndex) -> None:
    """Reading the text raises the violation."""
    _ = index.offset_text


@rule("IDX1-003", of=KEY)
def offset_is_decimal(index: EmbeddedIndex) -> None:
    """Parsing as the published reader does raises the violation."""
    _ = index.number


@rule("IDX1-004", of=KEY)
def offset_is_canonical(index: EmbeddedIndex) -> Iterator[Violation]:
    """Every writer produces this spelling."""
    text, number = index.offset_text, index.number
    if not idx1.is_canonical_offset(text):
        said = f"{show(text)} is another spelling of {number}"
        yield Violation(said, index.field(idx1.KEY), repr(str(number)), show(text))


@rule("IDX1-005", of=KEY)
def offset_lies_in_the_body(index: EmbeddedIndex) -> None:
    """Reading the offset raises the violation."""
    _ = index.offset


@rule("IDX1-006", of=KEY)
def magic_stands_at_the_offset(index: EmbeddedIndex) -> None:
    """Reading the blob raises the violation; draft G0 has no magic."""
    if index.blob.layout is Layout.DRAFT_G0:
        raise NotApplicable


@rule("IDX1-007", of=KEY)
@rule("IDX1-008", of=KEY)
def blob_can_be_read(index: EmbeddedIndex) -> None:
    """Reading raises the violation; so does a key that points into another structure."""
    _ = index.blob


@rule("IDX1-009", of=BLOB)
def blob_overlaps_nothing(index: EmbeddedIndex) -> Iterator[Violation]:
    """No byte of the blob belongs to a page, page index or bloom filter."""
    blob = index.blob
    for other in index.overlapping(blob.start, blob.end):
        start, end = max(blob.start, other.start), min(blob.end, other.end)
        spot = Spot("idx1.payload" if start >= blob.payload_start else "idx1", start, end - start)
        yield spot.violation(
            f"the blob [{blob.start}, {blob.end}) overlaps the {other}",
            f"an end at {other.start} or before" if other.start > blob.start else "another place",
            f"{end - start} bytes in common",
            column=other.column,
            row_group=other.row_group,
        )


@rule("IDX1-010", of=BLOB)
def payload_is_text(index: EmbeddedIndex) -> None:
    """Decoding raises the violation."""
    _ = index.values


@rule("IDX1-011", of=BLOB)
def values_are_distinct(index: EmbeddedIndex) -> Iterator[Violation]:
    """A repeated value wastes space and makes counts of the index wrong."""
    repeated = len(index.values) - len(set(index.values))
    yield from first_places(
        list(islice(_repeated(index), FIRST_POSITIONS if repeated else 0)),
        lambda place: Spot("idx1.payload", place[1], len(place[0].encode())).violation(
            f"{show(place[0])} is in the index again", "each value once", show(place[0])
        ),
        repeated,
    )


def _repeated(index: EmbeddedIndex) -> Iterator[tuple[str, int]]:
    """The repeated values, with their spots."""
    position = index.blob.payload_start
    seen: set[str] = set()
    for value in index.values:
        if value in seen:
            yield value, position
        seen.add(value)
        position += len(value.encode()) + len(idx1.SEPARATOR)


@rule("IDX1-012", of=BLOB)
def last_value_is_not_empty(index: EmbeddedIndex) -> Iterator[Violation]:
    """The published reader drops an empty last line."""
    yield from _losses(index, idx1.empty_last_losses, "a payload that does not end in a line feed")


@rule("IDX1-014", of=BLOB)
def carriage_returns_come_last(index: EmbeddedIndex) -> Iterator[Violation]:
    """The published reader drops a carriage return before a line feed."""
    yield from _losses(index, idx1.carriage_return_losses, "no carriage return before a line feed")


def _losses(
    index: EmbeddedIndex, find: Callable[[bytes], Iterator[tuple[Loss, int, str]]], expected: str
) -> Iterator[Violation]:
    _ = index.values  # IDX1-010 judges whether a payload is text
    payload = index.blob.payload
    first = list(islice(find(payload), FIRST_POSITIONS))
    yield from first_places(
        first,
        lambda loss: Violation(
            message=f"the published reader loses the value {show(loss[2])}: {loss[0].value}",
            field="idx1.payload",
            offset=index.blob.payload_start + loss[1],
            length=2 if loss[0] is Loss.CARRIAGE_RETURN else 1,
            expected=expected,
            actual=show(loss[2]),
        ),
        payload.count(idx1.LOSSY_ENDING) if len(first) == FIRST_POSITIONS else None,
    )


@rule("IDX1-020", of=COMPANION_KEY)
def companion_is_well_formed(index: EmbeddedIndex) -> None:
    """Parsing raises the violation."""
    _ = index.companion


@rule("IDX1-021", of=COMPANION)
def companion_agrees_with_the_blob(index: EmbeddedIndex) -> Iterator[Violation]:
    """Offset, length, CRC-32 and value count show whether the record belongs to this blob."""
    record, blob = index.companion, index.blob
    raw = index.file.source.read(blob.start, blob.end - blob.start)
    for name, there, here in idx1_companion.companion_disagreements(record, blob, raw):
        said = f"{name} is {there} in the companion record but {here} in the blob"
        yield Violation(said, index.field(idx1.COMPANION_KEY), f"{name} {here}", f"{name} {there}")


@rule("IDX1-024", of=COMPANION_KEY)
def companion_has_an_index(index: EmbeddedIndex) -> Iterator[Violation]:
    """A companion record without the key of an index was left behind."""
    if not index.pairs(idx1.KEY):
        said = f"the key {idx1.COMPANION_KEY} exists without {idx1.KEY}"
        field = index.field(idx1.COMPANION_KEY)
        yield Violation(said, field, f"the key {idx1.KEY} as well, or neither", f"only {idx1.COMPANION_KEY}")


@rule("IDX1-030", of=BLOB)
def layout_is_published(index: EmbeddedIndex) -> Iterator[Violation]:
    """Draft G0 has neither magic nor length before the payload."""
    blob = index.blob
    if blob.layout is Layout.DRAFT_G0:
        said = "this is draft G0: the payload is stored without magic and length, which the published reader needs"
        spot = Spot("idx1.magic", blob.start, min(len(blob.payload), idx1.HEADER_SIZE))
        found = show(blob.payload[: idx1.HEADER_SIZE])
        yield spot.violation(said, f"{idx1.MAGIC!r} and a length of 8 bytes", found)


@rule("IDX1-031", of=KEY)
def draft_length_agrees(index: EmbeddedIndex) -> Iterator[Violation]:
    """Readers of draft G1 require that the key and the length field are equal."""
    _ = index.offset_text
    pairs = index.pairs(idx1.LENGTH_KEY)
    if not pairs:
        raise NotApplicable
    length = len(index.blob.payload)
    for position, pair in pairs:
        if pair.value != str(length):
            said = f"the key {idx1.LENGTH_KEY} says {show(pair.value)}, but the payload has {length} bytes"
            field = in_footer(index.file, f"key_value_metadata[{position}]")
            yield Violation(said, field, repr(str(length)), show(pair.value))


@rule("IDX1-032", of=KEY)
def no_draft_key(index: EmbeddedIndex) -> Iterator[Violation]:
    """The key marks files in the layout of draft G1."""
    _ = index.offset_text
    if not index.pairs(idx1.LENGTH_KEY):
        return
    try:
        if index.blob.layout is Layout.DRAFT_G0:
            raise NotApplicable
    except FormatError:
        pass  # other rules report errors of the blob
    said = "this is draft G1: the length is also in a key"
    field = index.field(idx1.LENGTH_KEY)
    yield Violation(said, field, f"no key {idx1.LENGTH_KEY}", show(index.text(idx1.LENGTH_KEY)))
