"""Checks of extensions: the binary field 32767 of any struct of the footer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pqassay.checks import rule
from pqassay.checks.subjects import Subject
from pqassay.under_test.file import FileUnderTest
from pqassay.under_test.violation import Violation
from pqassay_spec.grammar.thrift_wire import WireType
from pqassay_spec.parquet.extension_fields import FIELD, UNIQUE_BYTES, Extension, extensions, long_form


def _found(file: FileUnderTest) -> list[Extension]:
    """The extensions of a footer, each with its field."""
    if not file.has_unknown_fields:
        return []
    base = file.framing.footer_start
    return [
        found._replace(start=base + found.start, end=base + found.end)
        for found in extensions(file.metadata, file.footer, "footer")
    ]


def _placed(violation: Violation, found: Extension) -> Violation:
    return replace(violation, offset=found.start, length=violation.length or found.end - found.start)


EXTENSION = Subject("extension", _found, _placed)
"""An extension of a struct of the footer."""


def _field(found: Extension) -> str:
    return f"{found.struct}.unknown_{found.id}"


@rule("PQF-032", of=EXTENSION)
def extensions_are_binary(found: Extension) -> Iterator[Violation]:
    """The field is reserved for bytes."""
    if found.wire != WireType.BINARY:
        name = WireType(found.wire).name
        said = f"field {FIELD} of {found.struct} is of wire type {name}"
        yield Violation(said, _field(found), "BINARY", name)


@rule("PQF-033", of=EXTENSION)
def extensions_can_be_told_apart(found: Extension) -> Iterator[Violation]:
    """They are long enough for a UUID."""
    size = len(found.content)
    if found.wire == WireType.BINARY and size < UNIQUE_BYTES:
        said = f"the extension of {found.struct} has {size} bytes, too few to distinguish it from others"
        yield Violation(said, _field(found), f"{UNIQUE_BYTES} bytes or more", f"{size} bytes")


@rule("PQF-034", of=EXTENSION)
def extensions_have_their_id(found: Extension) -> Iterator[Violation]:
    """The id is encoded as Thrift does."""
    if found.id != FIELD:
        header = long_form(found.id, found.wire)
        said = f"the header of the extension of {found.struct} holds field {found.id}"
        field = _field(found)
        yield Violation(
            said, field, long_form(FIELD, WireType.BINARY).hex(" "), header.hex(" "), length=len(header)
        )
