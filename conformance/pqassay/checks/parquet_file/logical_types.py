"""Checks of values against the logical types of their columns, tier ``values``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar, cast

from pqassay.checks.subjects import CHUNK, Subject
from pqassay.checks.value_rules import value_rule
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.fields import Field
from pqassay.under_test.file import Broken, FileUnderTest, NotChecked
from pqassay.under_test.violation import Violation
from pqassay.values.claims.audit import ValueAudit
from pqassay.values.claims.bound_claims import bounds_of
from pqassay.values.claims.value_rules import Claim, ComparedBy
from pqassay.values.claims.wording import others, value_at, where
from pqassay_spec.parquet.column_order import Order, type_order, width_of
from pqassay_spec.parquet.encoding.plain import FIXED_WIDTH, NANOSECONDS_OF_DAY
from pqassay_spec.parquet.encoding.wkb import DEEPEST
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.schema.logical_values import (
    Allowed,
    NumberRange,
    allowed_by,
    decimal_range,
    digits_in,
    logical_name,
    precision_of,
    range_of,
)
from pqassay_spec.parquet.schema.types import WIDE_TIMESTAMP
from pqassay_spec.parquet.thrift import SchemaElement, Type

if TYPE_CHECKING:
    from pqassay.values.claims.bounds import ValueBeyond
    from pqassay.values.claims.texts import JsonFaults, Wrong
    from pqassay.values.decoding.chunk_values import ChunkValues

Statement = TypeVar("Statement", bound=Callable[[ColumnChunkUnderTest], Iterator[Claim]])


def _kinds(file: FileUnderTest) -> frozenset[Allowed | None]:
    return frozenset(allowed_by(leaf.element) for leaf in file.leaves)


def _rule_about(rule_id: str, *kinds: Allowed) -> Callable[[Statement], Statement]:
    """A decorator that declares a rule about the values of columns of these kinds."""

    def chunks(file: FileUnderTest) -> list[ColumnChunkUnderTest]:
        return [chunk for chunk in CHUNK.find(file) if allowed_by(chunk.leaf.element) in kinds]

    def has_some(audit: ValueAudit) -> bool:
        return not audit.file.part(_kinds).isdisjoint(kinds)

    return value_rule(rule_id, of=Subject("annotated chunks", chunks), only=has_some)


def _annotation(chunk: ColumnChunkUnderTest) -> str:
    element = chunk.leaf.element
    name = logical_name(element)
    return f"DECIMAL of {precision_of(element)} digits" if name == "DECIMAL" else str(name)


def _field(chunk: ColumnChunkUnderTest) -> Field:
    """The field of the column's annotation in the schema; for INT96, which needs none, the field of its type."""
    element = chunk.leaf.element
    name = "converted_type" if element.logicalType is None else "logicalType"
    return chunk.fields.element / ("type" if element.type == Type.INT96 else name)


# ----------------------------------------------------------------------------------------------------- numbers


def _beyond(values: ChunkValues, number: int, *, above: bool) -> ValueBeyond | None:
    """The first value beyond a number, in the order of the type."""
    element = values.chunk.leaf.element
    order = type_order(element)
    if order is None:
        raise NotChecked(f"column {values.chunk.column} has no order", "file")
    if order is Order.DECIMAL:
        raw = number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)
    elif order is Order.SIGNED_12:
        raw = number.to_bytes(WIDE_TIMESTAMP, "little", signed=True)
    else:
        raw = FIXED_WIDTH[Type(element.type or 0)].build(number)
    return bounds_of(values).of_chunk(order, raw, above=above)


def _outside(values: ChunkValues, place: int, total: int, why: str, wanted: str) -> Violation:
    value = value_at(values, place, type_order(values.chunk.leaf.element))
    return Violation(
        f"{where(values, place)} holds {value}, {why}{others(total)}",
        _field(values.chunk),
        expected=wanted,
        actual=value,
    )


def _range(chunk: ColumnChunkUnderTest, why: str = "") -> Iterator[Claim]:
    """The claim that all values are within the range of the logical type."""
    allowed = range_of(chunk.leaf.element)
    if allowed is not None:
        yield ComparedBy(lambda values: _beyond_range(values, allowed, why))


def _beyond_range(values: ChunkValues, allowed: NumberRange, why: str = "") -> Iterator[Violation]:
    sides = ((allowed.least, False), (allowed.greatest, True))
    beyond = [each for number, above in sides if (each := _beyond(values, number, above=above))]
    if beyond:
        wanted = f"{allowed.least} to {allowed.greatest}"
        place, total = min(each.place for each in beyond), sum(each.total for each in beyond)
        yield _outside(
            values, place, total, why or f"and {_annotation(values.chunk)} reaches from {wanted}", wanted
        )


@_rule_about("PQF-096", Allowed.INTEGERS)
def integers_are_as_narrow_as_annotated(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """Most readers keep only the low bits: 174 in 8 signed bits becomes -82."""
    return _range(chunk)


@_rule_about("PQF-097", Allowed.DECIMALS)
def decimals_have_no_more_digits_than_annotated(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """A reader drops digits, refuses the value, or computes with a value that its type cannot hold."""
    element = chunk.leaf.element
    precision = precision_of(element) or 0
    decimal = None if element.logicalType is None else element.logicalType.DECIMAL
    if ((element if decimal is None else decimal).scale or 0) > precision:
        raise Broken("PQF-027")

    def compare(values: ChunkValues) -> Iterator[Violation]:
        from pqassay.values.decoding.keys import MOST_DECIMAL, decimal_width  # noqa: PLC0415 - numpy, at this tier only

        width = width_of(element)
        if width is None:
            width = decimal_width(values.values)
        if precision >= digits_in(max(width, 1)):
            return
        if width > MOST_DECIMAL:
            raise NotChecked(f"decimals of {width} bytes are not compared", "tool")
        yield from _beyond_range(values, decimal_range(precision))

    yield ComparedBy(compare)


@_rule_about("PQF-098", Allowed.TIMES)
def times_lie_within_a_day(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """Some readers return another time, some return null, and some refuse the value."""
    return _range(chunk)


@_rule_about("PQF-099", Allowed.TIMES)
def times_are_earlier_than_midnight(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """Few readers distinguish the end of a day from its beginning; another rule judges times beyond the end."""
    day = cast("NumberRange", range_of(chunk.leaf.element)).greatest

    def compare(values: ChunkValues) -> Iterator[Violation]:
        last = _beyond(values, day - 1, above=True)
        if last is not None and _beyond(values, day, above=True) is None:
            why = "24:00:00, the end of the day"
            yield _outside(values, last.place, last.total, why, f"less than {day}")

    yield ComparedBy(compare)


_INT96 = Subject(
    "chunks of INT96", lambda file: [chunk for chunk in CHUNK.find(file) if _is_int96(chunk.leaf)]
)


def _is_int96(leaf: SchemaLeaf) -> bool:
    return leaf.element.type == Type.INT96


@value_rule("PQF-163", of=_INT96, only=lambda audit: any(map(_is_int96, audit.file.leaves)))
def nanoseconds_lie_within_a_day(_: ColumnChunkUnderTest) -> Iterator[Claim]:
    """Some readers add them to the day, others drop the day or return null."""

    def compare(values: ChunkValues) -> Iterator[Violation]:
        from pqassay.values.decoding.keys import nanoseconds_of  # noqa: PLC0415 - numpy, at this tier only

        nanoseconds = nanoseconds_of(values.values)
        outside = (nanoseconds < 0) | (nanoseconds >= NANOSECONDS_OF_DAY)
        if outside.any():
            place = int(outside.argmax())
            held = f"{nanoseconds[place]} nanoseconds"
            yield Violation(
                f"{where(values, place)} holds {held} since midnight{others(int(outside.sum()))}",
                _field(values.chunk),
                expected=f"0 to {NANOSECONDS_OF_DAY - 1} nanoseconds",
                actual=held,
            )

    yield ComparedBy(compare)


@_rule_about("PQF-100", Allowed.CALENDAR)
def dates_lie_in_common_years(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """If a number has no date, reading or showing it fails."""
    return _range(chunk, "outside the years 1 to 9999")


# ------------------------------------------------------------------------------------------------------- bytes


def _formless(values: ChunkValues, place: int, form: str, more: str = "") -> Violation:
    value = value_at(values, place, None)
    return Violation(
        f"{where(values, place)} holds {value}, not {form}, and is annotated as {_annotation(values.chunk)}{more}",
        _field(values.chunk),
        expected=form,
        actual=value,
    )


def _form(form: str, wrong_in: Callable[[ChunkValues], Wrong | None]) -> Claim:
    """The claim that all values have a form; ``wrong_in`` finds values of another form."""

    def compare(values: ChunkValues) -> Iterator[Violation]:
        wrong = values.remembered(wrong_in)
        if wrong is not None:
            yield _formless(values, wrong.place, form, others(wrong.total))

    return ComparedBy(compare)


def _no_utf8(values: ChunkValues) -> Wrong | None:
    from pqassay.values.claims.texts import no_utf8, wrong_values  # noqa: PLC0415 - pyarrow, at this tier only

    return wrong_values(values, no_utf8)


def _no_bson(values: ChunkValues) -> Wrong | None:
    from pqassay.values.claims.texts import no_bson, wrong_values  # noqa: PLC0415 - pyarrow, at this tier only

    return wrong_values(values, no_bson)


@_rule_about("PQF-101", Allowed.TEXT, Allowed.JSON)
def text_is_utf8(_: ColumnChunkUnderTest) -> Iterator[Claim]:
    """Most engines refuse the column, or the whole file."""
    yield _form("UTF-8", _no_utf8)


def _json_faults(values: ChunkValues) -> JsonFaults:
    from pqassay.values.claims.texts import json_faults  # noqa: PLC0415 - pyarrow, at this tier only

    if values.remembered(_no_utf8) is not None:
        raise NotChecked("not all values are UTF-8", "another rule")
    return json_faults(values)


def _json(form: str, place_of: Callable[[JsonFaults], int | None]) -> Claim:
    """The claim that all parsed values are JSON; ``place_of`` gives the place of a value that is not JSON."""

    def compare(values: ChunkValues) -> Iterator[Violation]:
        faults = values.remembered(_json_faults)
        place = place_of(faults)
        if place is not None:
            yield _formless(values, place, form)
        if faults.problem is not None:
            raise faults.problem

    return ComparedBy(compare)


@_rule_about("PQF-102", Allowed.JSON)
def json_is_json(_: ColumnChunkUnderTest) -> Iterator[Claim]:
    """An engine with a JSON type refuses the column; in other engines, functions that parse the text fail."""
    yield _json("JSON", lambda faults: faults.broken)


@_rule_about("PQF-103", Allowed.JSON)
def json_has_finite_numbers(_: ColumnChunkUnderTest) -> Iterator[Claim]:
    """A strict parser refuses the text."""
    yield _json("standard JSON, without NaN or infinities", lambda faults: faults.lenient)


@_rule_about("PQF-104", Allowed.BSON)
def bson_is_framed(_: ColumnChunkUnderTest) -> Iterator[Claim]:
    """A reader that parses the documents fails."""
    yield _form("BSON document", _no_bson)


def _no_geometry(values: ChunkValues) -> Wrong | None:
    from pqassay.values.claims.geometries import GeometryTest  # noqa: PLC0415 - numpy, at this tier only
    from pqassay.values.claims.texts import wrong_values  # noqa: PLC0415 - pyarrow, at this tier only

    test = GeometryTest()
    wrong = wrong_values(values, test)
    if wrong is None and test.is_lost:
        raise NotChecked(f"a geometry is nested more than {DEEPEST} deep", "tool")
    return wrong


@_rule_about("PQF-181", Allowed.GEOMETRIES)
def geometries_are_well_known_binary(_: ColumnChunkUnderTest) -> Iterator[Claim]:
    """An engine with a geometry type refuses the column."""
    yield _form("geometry in well-known binary", _no_geometry)


@_rule_about("PQF-105", Allowed.NULLS)
def unknown_columns_hold_nulls(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """Most readers return nulls for the values, others return numbers."""
    element = chunk.leaf.element
    bare = SchemaElement(name=element.name, type=element.type, type_length=element.type_length)

    def compare(values: ChunkValues) -> Iterator[Violation]:
        if values.count:
            value = value_at(values, 0, type_order(bare))
            why = f"but a column of type UNKNOWN may only hold nulls{others(values.count)}"
            message = f"{where(values, 0)} holds {value}, {why}"
            yield Violation(message, _field(chunk), expected="null", actual=value)

    yield ComparedBy(compare)
