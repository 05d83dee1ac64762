"""Checks of the framing: magics, footer, key-values, and the ranges that the footer gives away."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.checks.subjects import FILE, FOOTER, Subject
from pqassay.under_test.file import FileUnderTest, NotApplicable
from pqassay.under_test.violation import Violation
from pqassay_spec.grammar.hexdump import show
from pqassay_spec.grammar.record_walk import mistyped_fields
from pqassay_spec.grammar.thrift import is_text
from pqassay_spec.parquet.file import SIGNATURE_SIZE, ByteRange, is_signed
from pqassay_spec.parquet.thrift import KeyValue

KEY_VALUE: Subject[tuple[int, KeyValue]] = Subject("key-value", lambda file: list(enumerate(file.key_values)))
"""A pair of the footer's key-value metadata, and its position."""


@rule("PQF-001", of=FILE)
def begins_with_magic(file: FileUnderTest) -> None:
    """Reading the head raises what is wrong with it."""
    file.head()


@rule("PQF-002", of=FILE)
def ends_with_magic(file: FileUnderTest) -> None:
    """Finding the footer raises what is wrong with the tail."""
    _ = file.framing


@rule("PQF-003", of=FILE)
def footer_length_fits(file: FileUnderTest) -> None:
    """Finding the footer raises what is wrong with its length."""
    _ = file.framing


@rule("PQF-004", of=FILE)
def footer_decodes(file: FileUnderTest) -> None:
    """Decoding raises what is wrong; so does a schema that is no tree."""
    _ = file.leaves


@rule("PQF-005", of=FOOTER)
def footer_is_filled(file: FileUnderTest) -> Iterator[Violation]:
    """The struct takes all of the footer, but for a signature."""
    metadata, taken = file.decoded
    allowed = SIGNATURE_SIZE if is_signed(metadata) else 0
    left = file.framing.footer_length - taken
    if left != allowed:
        yield Violation(
            f"{left} bytes follow the footer's struct",
            "footer",
            offset=file.framing.footer_start + taken,
            length=left,
            expected=f"{allowed} bytes behind the struct",
            actual=f"{left} bytes",
        )


@rule("PQF-039", of=FOOTER)
def fields_have_their_type(file: FileUnderTest) -> Iterator[Violation]:
    """A known id with another wire type is no unknown field: somebody meant the one that is declared."""
    for found in mistyped_fields(file.metadata, "footer"):
        yield Violation(
            f"{found.path} is written as {found.written}, and readers that go by the type skip it",
            found.path,
            expected=f"{found.declared}, for {found.type}",
            actual=found.written,
        )


@rule("PQF-006", of=FOOTER, only=lambda file: bool(file.key_values))
def keys_are_unique(file: FileUnderTest) -> Iterator[Violation]:
    """Of a key that occurs twice, some readers take the first value, and others the last."""
    first: dict[str, int] = {}
    for index, pair in enumerate(file.key_values):
        earlier = first.setdefault(pair.key, index)
        if earlier != index:
            same = "the same value" if file.key_values[earlier].value == pair.value else "another value"
            yield Violation(
                f"key {show(pair.key)} stands at {earlier} and, with {same}, at {index}",
                f"footer.key_value_metadata[{index}].key",
                expected="each key once",
                actual=f"{show(pair.key)} again",
            )


@rule("PQF-007", of=KEY_VALUE)
def key_values_are_text(pair: tuple[int, KeyValue]) -> Iterator[Violation]:
    """Readers decode keys and values as UTF-8, and some fail on the whole file if they are not."""
    index, known = pair
    for part, text in (("key", known.key), ("value", known.value)):
        if text is not None and not is_text(text):
            yield Violation(
                f"the {part} of pair {index}, key {show(known.key)}, is not UTF-8",
                f"footer.key_value_metadata[{index}].{part}",
                expected="UTF-8",
                actual=show(text),
            )


@rule("PQF-010", of=KEY_VALUE)
def keys_have_values(pair: tuple[int, KeyValue]) -> Iterator[Violation]:
    """A key alone is legal, and too much for some readers."""
    index, known = pair
    if known.value is None:
        yield Violation(
            f"key {show(known.key)} has no value",
            f"footer.key_value_metadata[{index}]",
            expected="a value, if need be an empty one",
            actual="a key alone",
        )


@rule("PQF-008", of=FOOTER, only=lambda file: bool(file.offsets))
def ranges_lie_in_the_body(file: FileUnderTest) -> Iterator[Violation]:
    """Nothing that the footer refers to reaches into head, footer or beyond the file."""
    body = f"within [{file.framing.body_start}, {file.framing.footer_start})"
    if not file.stray_offsets and len(file.ranges_inside) == len(file.ranges):
        return
    told: set[str] = set()
    for given in (*file.offsets, *file.ranges):
        if given.field not in told and not file.in_body(given):
            told.add(given.field)
            yield _about(given, f"the {given} lies outside the body", body)


@rule("PQF-009", of=FOOTER)
def ranges_do_not_overlap(file: FileUnderTest) -> Iterator[Violation]:
    """Of the ranges inside the body, no two share a byte. Those outside are the matter of PQF-008."""
    inside = file.ranges_inside
    if len(inside) < 2:
        raise NotApplicable
    widest = inside[0]
    for given in inside[1:]:
        if given.start < widest.end:
            yield _about(given, f"the {given} overlaps the {widest}", f"a start at {widest.end} or later")
        if given.end > widest.end:
            widest = given


def _about(given: ByteRange, message: str, expected: str) -> Violation:
    return Violation(
        message,
        given.field,
        expected=expected,
        actual=f"[{given.start}, {given.end})" if given.length else str(given.start),
        column=given.column,
        row_group=given.row_group,
    )
