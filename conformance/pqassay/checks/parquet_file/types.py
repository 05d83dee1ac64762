"""Checks of the schema: what logical and converted types annotate, and how long fixed values are."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.checks.subjects import FILE
from pqassay.under_test.file import FileUnderTest, NotApplicable
from pqassay.under_test.violation import Violation
from pqassay_spec.grammar.hexdump import show
from pqassay_spec.grammar.record_walk import mistyped_fields
from pqassay_spec.parquet.thrift import ConvertedType, FieldRepetitionType, SchemaElement, Type
from pqassay_spec.parquet.types import (
    ANNOTATIONS,
    CONVERTED,
    annotation_of,
    converted_of,
    most_digits,
)

REPETITIONS = frozenset(map(int, FieldRepetitionType))


@rule("PQF-040", of=FILE)
def elements_have_a_repetition_type(file: FileUnderTest) -> Iterator[Violation]:
    """Of the root it says nothing. One that is written with another type PQF-039 reports."""
    elements = file.metadata.schema
    if len(elements) < 2:
        raise NotApplicable
    for index, element in enumerate(elements[1:], 1):
        kind = element.repetition_type
        if kind in REPETITIONS or _is_mistyped(element):
            continue
        given = "none" if kind is None else str(kind)
        yield Violation(
            message=f"the repetition type of {show(element.name)} is {given}",
            field=f"footer.schema[{index}].repetition_type"
            if kind is not None
            else f"footer.schema[{index}]",
            expected="0 (REQUIRED), 1 (OPTIONAL) or 2 (REPEATED)",
            actual=given,
            column=element.name,
        )


def _is_mistyped(element: SchemaElement) -> bool:
    return any(found.field.name == "repetition_type" for found in mistyped_fields(element, ""))


def _annotated(file: FileUnderTest) -> Iterator[tuple[int, SchemaElement]]:
    """Every element below the root that has a logical or a converted type, with its position."""
    for index, element in enumerate(file.metadata.schema):
        if index and (element.logicalType is not None or element.converted_type is not None):
            yield index, element


@rule("PQF-027", of=FILE)
def annotations_fit_their_types(file: FileUnderTest) -> Iterator[Violation]:
    """The logical type where there is one, else the converted one."""
    applies = False
    for index, element in _annotated(file):
        name = annotation_of(element)
        if element.logicalType is not None:
            if name is None:
                continue  # one of a later version of the format
            annotation = ANNOTATIONS.get(name)
        else:
            name = converted_of(element)
            annotation = CONVERTED.get(element.converted_type if element.converted_type is not None else -1)
            if name is None:
                continue
        applies = True
        kind = "logicalType" if element.logicalType is not None else "converted_type"
        field = f"footer.schema[{index}].{kind}"
        if annotation is None:
            yield Violation(
                message=f"{show(element.name)} is {name}, which does not exist",
                field=field,
                expected="one of the widths 8, 16, 32 and 64",
                actual=name,
                column=element.name,
            )
        elif not annotation.fits(element):
            yield Violation(
                message=f"{show(element.name)} is {name} on {_carrier(element)}",
                field=field,
                expected=annotation.carriers,
                actual=_carrier(element),
                column=element.name,
            )
        elif name == "DECIMAL":
            yield from _digits(index, element)
    if not applies:
        raise NotApplicable


def _carrier(element: SchemaElement) -> str:
    """What an annotation stands on."""
    if element.type is None:
        return "a group"
    name = next((member.name for member in Type if member == element.type), f"type {element.type}")
    return f"{name}({element.type_length})" if element.type == Type.FIXED_LEN_BYTE_ARRAY else name


def _digits(index: int, element: SchemaElement) -> Iterator[Violation]:
    """Precision and scale of a decimal, as its logical type gives them, else the element."""
    decimal = element.logicalType.DECIMAL if element.logicalType is not None else None
    path = f"footer.schema[{index}]" + (".logicalType.DECIMAL" if decimal is not None else "")
    precision = decimal.precision if decimal is not None else element.precision
    scale = decimal.scale if decimal is not None else element.scale or 0
    most = most_digits(element)
    if precision is None or precision < 1 or (most is not None and precision > most):
        yield Violation(
            message=f"{show(element.name)} is a decimal of precision {precision} on {_carrier(element)}",
            field=f"{path}.precision",
            expected="1 or more" if most is None else f"1 to {most}",
            actual=str(precision),
            column=element.name,
        )
    elif not 0 <= scale <= precision:
        yield Violation(
            message=f"{show(element.name)} is a decimal of scale {scale} and precision {precision}",
            field=f"{path}.scale",
            expected=f"0 to {precision}",
            actual=str(scale),
            column=element.name,
        )


@rule("PQF-028", of=FILE)
def old_readers_see_the_type(file: FileUnderTest) -> Iterator[Violation]:
    """The converted type says what the logical one does."""
    applies = False
    for index, element in _annotated(file):
        name = annotation_of(element)
        annotation = ANNOTATIONS.get(name) if name is not None else None
        if name is None or annotation is None:
            continue
        applies = True
        given = element.converted_type
        if given is None:
            if annotation.converted and not _is_local(element):
                yield _unlike(index, element, name, annotation.converted)
        elif given not in annotation.converted:
            yield _unlike(index, element, name, annotation.converted)
        decimal = element.logicalType.DECIMAL if element.logicalType is not None else None
        if decimal is not None and given is not None:
            for member in ("precision", "scale"):
                wanted, found = getattr(decimal, member), getattr(element, member)
                if wanted != (found or 0):
                    yield Violation(
                        message=f"{show(element.name)} has {member} {wanted} as a logical type and {found} as a "
                        "converted one",
                        field=f"footer.schema[{index}].{member}",
                        expected=str(wanted),
                        actual=str(found),
                        column=element.name,
                    )
    if not applies:
        raise NotApplicable


def _is_local(element: SchemaElement) -> bool:
    """Whether an element is a local time: to some writers, the converted type of a moment is not that of it."""
    logical = element.logicalType
    time = (logical.TIME or logical.TIMESTAMP) if logical is not None else None
    return time is not None and not time.isAdjustedToUTC


def _unlike(index: int, element: SchemaElement, name: str, wanted: tuple[ConvertedType, ...]) -> Violation:
    found = next(
        (member.name for member in ConvertedType if member == element.converted_type),
        "none" if element.converted_type is None else f"type {element.converted_type}",
    )
    return Violation(
        message=f"{show(element.name)} is {name}, and its converted type is {found}",
        field=f"footer.schema[{index}].converted_type",
        expected=" or ".join(member.name for member in wanted) or "no converted type",
        actual=found,
        column=element.name,
    )


@rule("PQF-029", of=FILE)
def fixed_values_have_a_length(file: FileUnderTest) -> Iterator[Violation]:
    """Values of a fixed length have one."""
    applies = False
    for index, element in enumerate(file.metadata.schema):
        if element.type != Type.FIXED_LEN_BYTE_ARRAY:
            continue
        applies = True
        if not element.type_length or element.type_length < 0:
            yield Violation(
                message=f"{show(element.name)} is FIXED_LEN_BYTE_ARRAY with type_length {element.type_length}",
                field=f"footer.schema[{index}].type_length",
                expected="1 or more",
                actual=str(element.type_length),
                column=element.name,
            )
    if not applies:
        raise NotApplicable
