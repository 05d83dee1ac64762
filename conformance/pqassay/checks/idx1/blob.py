"""Checks of IDX1: the key, the blob, its values, and the companion record.

`EmbeddedIndex` is this family's view of a file; its properties raise what stands between a check and its subject.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from pqassay.checks import rule
from pqassay.checks.subjects import FILE
from pqassay.report.model import FIRST_POSITIONS
from pqassay.under_test.file import FileUnderTest, NotApplicable, Remembered
from pqassay.under_test.violation import Violation
from pqassay_spec.base.errors import FormatError, Malformed
from pqassay_spec.grammar.hexdump import show
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.idx1 import companion as idx1_companion
from pqassay_spec.idx1.blob import Blob, Layout, Loss
from pqassay_spec.idx1.companion import Companion
from pqassay_spec.parquet.file import ByteRange
from pqassay_spec.parquet.thrift import KeyValue


class EmbeddedIndex:
    """The index of one file, as far as it can be read."""

    def __init__(self, file: FileUnderTest) -> None:
        self.file = file

    def pairs(self, key: str) -> list[tuple[int, KeyValue]]:
        """Every key-value pair with this key, with its position; none in a summary of other files."""
        if self.file.is_summary:
            return []
        return [(index, pair) for index, pair in enumerate(self.file.key_values) if pair.key == key]

    def text(self, key: str) -> str | None:
        """The value of the first pair with this key, which is the one that the published reader takes."""
        return next((pair.value for _, pair in self.pairs(key)), None)

    def field(self, key: str, occurrence: int = 0) -> str:
        """Field path of a key's value (of the pair, if it has no value)."""
        index, pair = self.pairs(key)[occurrence]
        return f"footer.key_value_metadata[{index}]" + ("" if pair.value is None else ".value")

    @Remembered
    def offset_text(self) -> str:
        """The value of the offset key. Raises IDX1-002."""
        if not self.pairs(idx1.KEY):
            raise NotApplicable
        text = self.text(idx1.KEY)
        if text is None:
            field = self.field(idx1.KEY)
            raise Malformed(f"the key {idx1.KEY} has no value", rule="IDX1-002", field=field)
        return text

    @Remembered
    def offset(self) -> int:
        """The offset, inside the body. Raises IDX1-003, IDX1-005."""
        text, field = self.offset_text, self.field(idx1.KEY)
        try:
            offset = idx1.parse_offset(text)
        except Malformed as error:
            raise error.within(field=field) from None
        start, end = self.file.framing.body_start, self.file.framing.footer_start
        room = 0 if self.text(idx1.LENGTH_KEY) is not None else idx1.HEADER_SIZE
        if not start <= offset <= end - room:
            raise Malformed(
                f"offset {offset} leaves no room for an index between {start} and the footer at {end}; "
                "a program that rewrote the file may have kept the key of an older one",
                rule="IDX1-005",
                field=field,
            )
        return offset

    @Remembered
    def blob(self) -> Blob:
        """The blob, in whatever layout. Raises IDX1-006, IDX1-007, IDX1-008."""
        source, end = self.file.source, self.file.framing.footer_start
        try:
            return idx1.read_blob(source, self.offset, end)
        except Malformed as error:
            if error.rule not in ("IDX1-005", "IDX1-006"):
                raise
            return self._without_magic(error)

    def _without_magic(self, error: Malformed) -> Blob:
        """No magic where the key points: a draft, a stale key, or a damaged magic."""
        offset, end = self.offset, self.file.framing.footer_start
        try:
            length = idx1.parse_offset(self.text(idx1.LENGTH_KEY) or "")
            draft = idx1.read_draft_g0(self.file.source, offset, length, end)
            header = idx1.length_field(self.file.source, offset) == length
        except FormatError:
            draft, header = None, False
        # The length where draft G1 has it says that there was a magic, and that it is damaged.
        if draft is not None and not header and not self.overlapping(draft.start, draft.end):
            return draft
        if other := self.overlapping(offset, offset + 1):
            raise Malformed(
                f"the key points into the {other[0]}: the index it belonged to is gone",
                rule="IDX1-007",
                field=self.field(idx1.KEY),
            )
        raise error

    def overlapping(self, start: int, end: int) -> list[ByteRange]:
        """The ranges of other structures that share a byte with ``[start, end)``."""
        return [given for given in self.file.ranges if given.start < end and start < given.end]

    @Remembered
    def values(self) -> list[str]:
        """The values as written. Raises IDX1-010."""
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
            error.field = self.field(idx1.COMPANION_KEY)
            raise

    def payload_place(self) -> tuple[str, int, int]:
        """Field path, offset and length of the payload."""
        return "idx1.payload", self.blob.payload_start, len(self.blob.payload)


@rule("IDX1-001", of=FILE)
def key_occurs_once(file: FileUnderTest) -> Iterator[Violation]:
    """The published reader takes the first, parsers that build a map take the last."""
    index = file.part(EmbeddedIndex)
    pairs = index.pairs(idx1.KEY)
    if not pairs:
        raise NotApplicable
    first = pairs[0][1].value
    for position, pair in pairs[1:]:
        yield Violation(
            message=f"the key stands {len(pairs)} times; readers that take the first see {show(first)}, "
            f"those that take the last {show(pairs[-1][1].value)}",
            field=f"footer.key_value_metadata[{position}]",
            expected="the key once",
            actual=f"again, with value {show(pair.value)}",
        )


@rule("IDX1-002", of=FILE)
def key_has_a_value(file: FileUnderTest) -> Iterator[Violation]:
    """Asking for the text raises what is wrong."""
    _ = file.part(EmbeddedIndex).offset_text
    yield from ()


@rule("IDX1-003", of=FILE)
def offset_is_decimal(file: FileUnderTest) -> Iterator[Violation]:
    """Parsing as the published reader does raises what is wrong."""
    index = file.part(EmbeddedIndex)
    text = index.offset_text
    try:
        idx1.parse_offset(text)
    except Malformed as error:
        raise error.within(field=index.field(idx1.KEY)) from None
    yield from ()


@rule("IDX1-004", of=FILE)
def offset_is_canonical(file: FileUnderTest) -> Iterator[Violation]:
    """The spelling that every writer produces."""
    index = file.part(EmbeddedIndex)
    text = index.offset_text
    number = idx1.parse_offset(text)
    if not idx1.is_canonical_offset(text):
        yield Violation(
            message=f"{show(text)} is another spelling of {number}",
            field=index.field(idx1.KEY),
            expected=repr(str(number)),
            actual=show(text),
        )


@rule("IDX1-005", of=FILE)
def offset_lies_in_the_body(file: FileUnderTest) -> Iterator[Violation]:
    """Asking for the offset raises what is wrong."""
    _ = file.part(EmbeddedIndex).offset
    yield from ()


@rule("IDX1-006", of=FILE)
def magic_stands_at_the_offset(file: FileUnderTest) -> Iterator[Violation]:
    """Reading the blob raises what is wrong; draft G0 has no magic."""
    if file.part(EmbeddedIndex).blob.layout is Layout.DRAFT_G0:
        raise NotApplicable
    yield from ()


@rule("IDX1-007", of=FILE)
def key_is_not_stale(file: FileUnderTest) -> Iterator[Violation]:
    """Reading the blob raises it where the key points into another structure."""
    _ = file.part(EmbeddedIndex).blob
    yield from ()


@rule("IDX1-008", of=FILE)
def payload_ends_before_the_footer(file: FileUnderTest) -> Iterator[Violation]:
    """Reading the blob raises what is wrong."""
    _ = file.part(EmbeddedIndex).blob
    yield from ()


@rule("IDX1-009", of=FILE)
def blob_overlaps_nothing(file: FileUnderTest) -> Iterator[Violation]:
    """No byte of the blob belongs to a page, page index or bloom filter."""
    index = file.part(EmbeddedIndex)
    blob = index.blob
    for other in index.overlapping(blob.start, blob.end):
        start, end = max(blob.start, other.start), min(blob.end, other.end)
        yield Violation(
            message=f"the blob [{blob.start}, {blob.end}) overlaps the {other}",
            field="idx1.payload" if start >= blob.payload_start else "idx1",
            offset=start,
            length=end - start,
            expected=f"an end at {other.start} or before" if other.start > blob.start else "another place",
            actual=f"{end - start} bytes in common",
            column=other.column,
            row_group=other.row_group,
        )


@rule("IDX1-010", of=FILE)
def payload_is_text(file: FileUnderTest) -> Iterator[Violation]:
    """Decoding raises what is wrong."""
    _ = file.part(EmbeddedIndex).values
    yield from ()


@rule("IDX1-011", of=FILE)
def values_are_distinct(file: FileUnderTest) -> Iterator[Violation]:
    """Every value stands once."""
    index = file.part(EmbeddedIndex)
    repeated = len(index.values) - len(set(index.values))
    position = index.blob.payload_start
    seen: set[str] = set()
    told = 0
    for value in index.values if repeated else ():
        size = len(value.encode())
        if value in seen:
            told += 1
            yield Violation(
                message=f"{show(value)} stands in the index again",
                field="idx1.payload",
                offset=position,
                length=size,
                expected="each value once",
                actual=show(value),
                more=repeated - told if told == FIRST_POSITIONS else 0,
            )
            if told == FIRST_POSITIONS:
                return
        seen.add(value)
        position += size + len(idx1.SEPARATOR)


@rule("IDX1-012", of=FILE)
def last_value_is_not_empty(file: FileUnderTest) -> Iterator[Violation]:
    """The published reader drops an empty last line."""
    yield from _losses(file, idx1.empty_last_losses, "a payload that does not end in a line feed")


@rule("IDX1-014", of=FILE)
def carriage_returns_come_last(file: FileUnderTest) -> Iterator[Violation]:
    """The published reader drops a carriage return before a line feed."""
    yield from _losses(file, idx1.carriage_return_losses, "no carriage return before a line feed")


def _losses(
    file: FileUnderTest, find: Callable[[bytes], Iterator[tuple[Loss, int, str]]], expected: str
) -> Iterator[Violation]:
    index = file.part(EmbeddedIndex)
    _ = index.values  # a payload that is no text is the matter of IDX1-010
    payload = index.blob.payload
    for number, (shape, position, value) in enumerate(islice(find(payload), FIRST_POSITIONS), 1):
        yield Violation(
            message=f"the published reader loses the value {show(value)}: {shape.value}",
            field="idx1.payload",
            offset=index.blob.payload_start + position,
            length=2 if shape is Loss.CARRIAGE_RETURN else 1,
            expected=expected,
            actual=show(value),
            more=payload.count(idx1.LOSSY_ENDING) - number if number == FIRST_POSITIONS else 0,
        )


@rule("IDX1-020", of=FILE)
def companion_is_well_formed(file: FileUnderTest) -> Iterator[Violation]:
    """Parsing raises what is wrong."""
    _ = file.part(EmbeddedIndex).companion
    yield from ()


@rule("IDX1-021", of=FILE)
def companion_agrees_with_the_blob(file: FileUnderTest) -> Iterator[Violation]:
    """Offset, length, CRC-32 and value count."""
    index = file.part(EmbeddedIndex)
    record, blob = index.companion, index.blob
    raw = file.source.read(blob.start, blob.end - blob.start)
    for name, there, here in idx1_companion.companion_disagreements(record, blob, raw):
        yield Violation(
            message=f"{name} is {there} in the companion record and {here} in the blob",
            field=index.field(idx1.COMPANION_KEY),
            expected=f"{name} {here}",
            actual=f"{name} {there}",
        )


@rule("IDX1-024", of=FILE)
def companion_has_an_index(file: FileUnderTest) -> Iterator[Violation]:
    """A companion without the key it accompanies was left behind."""
    index = file.part(EmbeddedIndex)
    if not index.pairs(idx1.COMPANION_KEY):
        raise NotApplicable
    if not index.pairs(idx1.KEY):
        yield Violation(
            message=f"the key {idx1.COMPANION_KEY} stands without {idx1.KEY}",
            field=index.field(idx1.COMPANION_KEY),
            expected=f"the key {idx1.KEY} as well, or neither",
            actual=f"only {idx1.COMPANION_KEY}",
        )


@rule("IDX1-030", of=FILE)
def layout_is_published(file: FileUnderTest) -> Iterator[Violation]:
    """Draft G0 had neither magic nor length before the payload."""
    blob = file.part(EmbeddedIndex).blob
    if blob.layout is Layout.DRAFT_G0:
        yield Violation(
            message="this is draft G0: the payload stands without magic and length, which the published reader needs",
            field="idx1.magic",
            offset=blob.start,
            length=min(len(blob.payload), idx1.HEADER_SIZE),
            expected=f"{idx1.MAGIC!r} and a length of 8 bytes",
            actual=show(blob.payload[: idx1.HEADER_SIZE]),
        )


@rule("IDX1-031", of=FILE)
def draft_length_agrees(file: FileUnderTest) -> Iterator[Violation]:
    """Readers of draft G1 want the key and the length field to be equal."""
    index = file.part(EmbeddedIndex)
    _ = index.offset_text
    pairs = index.pairs(idx1.LENGTH_KEY)
    if not pairs:
        raise NotApplicable
    length = len(index.blob.payload)
    for position, pair in pairs:
        if pair.value != str(length):
            yield Violation(
                message=f"the key {idx1.LENGTH_KEY} says {show(pair.value)}, the payload has {length} bytes",
                field=f"footer.key_value_metadata[{position}]",
                expected=repr(str(length)),
                actual=show(pair.value),
            )


@rule("IDX1-032", of=FILE)
def no_draft_key(file: FileUnderTest) -> Iterator[Violation]:
    """Names files in the layout of draft G1."""
    index = file.part(EmbeddedIndex)
    _ = index.offset_text
    if not index.pairs(idx1.LENGTH_KEY):
        return
    try:
        if index.blob.layout is Layout.DRAFT_G0:
            raise NotApplicable
    except FormatError:
        pass  # what is wrong with the blob is said by other rules
    yield Violation(
        message="this is draft G1: the length stands in a key as well",
        field=index.field(idx1.LENGTH_KEY),
        expected=f"no key {idx1.LENGTH_KEY}",
        actual=show(index.text(idx1.LENGTH_KEY)),
    )
