"""Checks of the schema: annotations by logical and converted types, and the length of fixed-length values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pqassay.checks import rule
from pqassay.checks.subjects import SCHEMA, Subject
from pqassay.under_test.file import FileUnderTest, NotApplicable
from pqassay.under_test.footer_parts import ElementUnderTest, listed
from pqassay.under_test.violation import Violation, name_in
from pqassay_spec.grammar.hexdump import show
from pqassay_spec.grammar.record_walk import mistyped_fields
from pqassay_spec.parquet.schema.lists_and_maps import misfits
from pqassay_spec.parquet.schema.types import (
    ANNOTATIONS,
    CONVERTED,
    Annotation,
    annotation_of,
    converted_of,
    most_digits,
)
from pqassay_spec.parquet.thrift import ConvertedType, SchemaElement, Type

PHYSICAL = frozenset(map(int, Type))


def _elements(file: FileUnderTest) -> list[ElementUnderTest]:
    return listed(file, "schema", file.metadata.schema)


def _below_the_root(file: FileUnderTest) -> list[ElementUnderTest]:
    return file.part(_elements)[1:]


def _is_annotated(element: SchemaElement) -> bool:
    return element.logicalType is not None or element.converted_type is not None


def _of_element(violation: Violation, place: ElementUnderTest) -> Violation:
    return replace(violation, column=place.part.name)


ELEMENT = Subject("schema element", _below_the_root, _of_element, of_schema=True)
"""An element of the schema, except the root."""

ANNOTATED = Subject(
    "annotated element",
    lambda file: [place for place in _below_the_root(file) if _is_annotated(place.part)],
    _of_element,
    of_schema=True,
)
"""An element of the schema, except the root, with a logical or a converted type."""

FIXED = Subject(
    "fixed byte array",
    lambda file: [place for place in file.part(_elements) if place.part.type == Type.FIXED_LEN_BYTE_ARRAY],
    _of_element,
    of_schema=True,
)
"""An element of the schema that is a byte array of a fixed length."""


@rule("PQF-040", of=ELEMENT)
def elements_have_a_repetition_type(place: ElementUnderTest) -> Iterator[Violation]:
    """Without it, the levels of a column are unknown. PQF-039 reports a repetition type with another wire type."""
    element, kind = place.part, place.part.repetition_type
    if kind is None and not _is_mistyped(element):
        said = f"{show(element.name)} has no repetition type"
        yield Violation(said, place.field, "0 (REQUIRED), 1 (OPTIONAL) or 2 (REPEATED)", "none")


def _is_mistyped(element: SchemaElement) -> bool:
    return any(found.field.name == "repetition_type" for found in mistyped_fields(element, ""))


@rule("PQF-027", of=ANNOTATED, only=lambda place: _annotation_name(place.part) is not None)
def annotations_are_possible(place: ElementUnderTest) -> Iterator[Violation]:
    """A reader interprets the values by their annotation: the logical type if there is one, else the converted type."""
    element, name = place.part, _annotation_name(place.part)
    annotation = _annotation(element)
    if annotation is None:
        said = f"{show(element.name)} is {name}, which does not exist"
        yield Violation(said, place.field / _kind(element), "one of the widths 8, 16, 32 and 64", name or "")
    elif not annotation.fits(element):
        if element.type is None:
            yield _misfit(place, annotation)
    elif name == "DECIMAL":
        yield from _digits(place)


@rule("PQF-155", of=ANNOTATED, only=lambda place: place.part.type in PHYSICAL)
def annotations_fit_their_types(place: ElementUnderTest) -> Iterator[Violation]:
    """Readers that use the annotation refuse the file."""
    annotation = _annotation(place.part)
    if annotation is None:
        raise NotApplicable
    if not annotation.fits(place.part):
        yield _misfit(place, annotation)


def _kind(element: SchemaElement) -> str:
    """The field of the effective annotation: the logical type if there is one, else the converted type."""
    return "converted_type" if element.logicalType is None else "logicalType"


def _annotation(element: SchemaElement) -> Annotation | None:
    """The effective annotation; ``None`` if it is unknown."""
    if element.logicalType is not None:
        return ANNOTATIONS.get(annotation_of(element) or "")
    return None if element.converted_type is None else CONVERTED.get(element.converted_type)


def _misfit(place: ElementUnderTest, annotation: Annotation) -> Violation:
    element, carrier = place.part, _carrier(place.part)
    said = f"{show(element.name)} is {_annotation_name(element)} on {carrier}"
    return Violation(said, place.field / _kind(element), annotation.carriers, carrier)


def _annotation_name(element: SchemaElement) -> str | None:
    """The name of an annotation; ``None`` if a later version of the format defines it."""
    return converted_of(element) if element.logicalType is None else annotation_of(element)


def _carrier(element: SchemaElement) -> str:
    """The name of the physical type that is annotated."""
    if element.type is None:
        return "a group"
    name = name_in(Type, element.type, f"type {element.type}")
    return f"{name}({element.type_length})" if element.type == Type.FIXED_LEN_BYTE_ARRAY else name


def _digits(place: ElementUnderTest) -> Iterator[Violation]:
    """Violations in the precision and scale of a decimal, from its logical type if it has one, else from the element."""
    element = place.part
    decimal = element.logicalType.DECIMAL if element.logicalType is not None else None
    field = place.field / ("logicalType.DECIMAL" if decimal is not None else "")
    precision = decimal.precision if decimal is not None else element.precision
    scale = decimal.scale if decimal is not None else element.scale or 0
    most = most_digits(element)
    if precision is None or precision < 1 or (most is not None and precision > most):
        said = f"{show(element.name)} is a decimal of precision {precision} on {_carrier(element)}"
        where = field / "precision"
        yield Violation(said, where, "1 or more" if most is None else f"1 to {most}", str(precision))
    elif not 0 <= scale <= precision:
        said = f"{show(element.name)} is a decimal of scale {scale} and precision {precision}"
        yield Violation(said, field / "scale", f"0 to {precision}", str(scale))


@rule("PQF-028", of=ANNOTATED, only=lambda place: annotation_of(place.part) in ANNOTATIONS)
def old_readers_see_the_type(place: ElementUnderTest) -> Iterator[Violation]:
    """Readers without logical types use the converted type, which must have the same meaning."""
    element, name = place.part, annotation_of(place.part)
    annotation = ANNOTATIONS[name or ""]
    converted, wanted = element.converted_type, annotation.converted_on(element)
    may_be_absent = not wanted or _is_local(element) or not annotation.fits(element)
    if converted not in wanted and not (converted is None and may_be_absent):
        actual = "none" if converted is None else name_in(ConvertedType, converted, f"type {converted}")
        message = f"{show(element.name)} is {name}, but its converted type is {actual}"
        field = place.field / "converted_type"
        yield Violation(
            message, field, " or ".join(member.name for member in wanted) or "no converted type", actual
        )
    decimal = element.logicalType.DECIMAL if element.logicalType is not None else None
    if decimal is not None and converted is not None:
        for member in ("precision", "scale"):
            wanted_digits, digits = getattr(decimal, member), getattr(element, member)
            if wanted_digits != (digits or 0):
                message = (
                    f"{show(element.name)} has {member} {wanted_digits} as a logical type and {digits} as a "
                    "converted one"
                )
                yield Violation(message, place.field / member, str(wanted_digits), str(digits))


def _is_local(element: SchemaElement) -> bool:
    """Whether an element is a local time. Some writers give it the converted type of an instant."""
    logical = element.logicalType
    time = (logical.TIME or logical.TIMESTAMP) if logical is not None else None
    return time is not None and not time.isAdjustedToUTC


def _has_groups(file: FileUnderTest) -> bool:
    return any(element.type is None for element in file.metadata.schema[1:])


@rule("PQF-127", of=SCHEMA, only=_has_groups)
def lists_and_maps_have_their_members(file: FileUnderTest) -> Iterator[Violation]:
    """Readers that look for entries, keys and values refuse the file if these are missing."""
    _ = file.leaves  # the tree is sound
    places = file.part(_elements)
    for index, kind, wanted, actual in misfits(file.metadata.schema):
        place = places[index]
        said = f"{show(place.part.name)} is a {kind}, and has {actual}"
        yield Violation(said, place.field, wanted, actual, column=place.part.name)


@rule("PQF-029", of=FIXED)
def fixed_values_have_a_length(place: ElementUnderTest) -> Iterator[Violation]:
    """Without it, the end of a value is unknown."""
    element = place.part
    if not element.type_length or element.type_length < 0:
        said = f"{show(element.name)} is FIXED_LEN_BYTE_ARRAY with type_length {element.type_length}"
        yield Violation(said, place.field / "type_length", "1 or more", str(element.type_length))
