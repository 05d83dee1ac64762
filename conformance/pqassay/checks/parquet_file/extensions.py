"""Checks of extensions: the binary field 32767 of any struct of the footer."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.checks.subjects import FILE
from pqassay.under_test.file import FileUnderTest, NotApplicable
from pqassay.under_test.violation import Violation
from pqassay_spec.grammar.thrift_wire import WireType
from pqassay_spec.parquet.extension_fields import FIELD, UNIQUE_BYTES, Extension, extensions, long_form


class _Extensions:
    """The extensions of a footer."""

    def __init__(self, file: FileUnderTest) -> None:
        self.all = list(extensions(file.metadata, file.footer, "footer"))
        self.start = file.framing.footer_start

    def required(self) -> list[Extension]:
        """All of them. Raises `NotApplicable` if there is none."""
        if not self.all:
            raise NotApplicable
        return self.all


@rule("PQF-032", of=FILE)
def extensions_are_binary(file: FileUnderTest) -> Iterator[Violation]:
    """The field is reserved for bytes."""
    part = file.part(_Extensions)
    for found in part.required():
        if found.wire != WireType.BINARY:
            name = WireType(found.wire).name
            yield _violation(
                part, found, f"field {FIELD} of {found.struct} is of wire type {name}", "BINARY", name
            )


@rule("PQF-033", of=FILE)
def extensions_can_be_told_apart(file: FileUnderTest) -> Iterator[Violation]:
    """There is room for a UUID."""
    part = file.part(_Extensions)
    for found in part.required():
        size = len(found.content)
        if found.wire == WireType.BINARY and size < UNIQUE_BYTES:
            yield _violation(
                part,
                found,
                f"the extension of {found.struct} has {size} bytes, too few to tell it from others",
                f"{UNIQUE_BYTES} bytes or more",
                f"{size} bytes",
            )


@rule("PQF-034", of=FILE)
def extensions_have_their_id(file: FileUnderTest) -> Iterator[Violation]:
    """The id is written as Thrift does."""
    part = file.part(_Extensions)
    for found in part.required():
        if found.id != FIELD:
            wanted = long_form(FIELD, WireType.BINARY).hex(" ")
            header = long_form(found.id, found.wire).hex(" ")
            yield _violation(
                part,
                found,
                f"the header of the extension of {found.struct} holds field {found.id}",
                wanted,
                header,
                length=len(long_form(found.id, found.wire)),
            )


def _violation(
    part: _Extensions, found: Extension, message: str, expected: str, actual: str, length: int = 0
) -> Violation:
    return Violation(
        message=message,
        field=f"{found.struct}.unknown_{found.id}",
        offset=part.start + found.start,
        length=length or found.end - found.start,
        expected=expected,
        actual=actual,
    )
