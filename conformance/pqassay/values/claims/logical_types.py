"""Claims of the schema: that a column holds such values as its logical type allows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from pqassay.under_test.fields import Field, in_footer
from pqassay.under_test.file import Broken, NotChecked
from pqassay.under_test.violation import Violation
from pqassay.values.claims.bounds import Beyond
from pqassay.values.claims.claim import ChunkClaims, Found, others
from pqassay.values.claims.texts import json_faults, no_bson, no_utf8, wrong_values
from pqassay.values.decoding.chunk_values import ChunkValues
from pqassay.values.decoding.keys import MOST_DECIMAL, decimal_width
from pqassay_spec.parquet.column_order import Order, shown, type_order, width_of
from pqassay_spec.parquet.encoding.plain import FIXED_WIDTH
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
from pqassay_spec.parquet.thrift import SchemaElement, Type

INTEGERS, DIGITS, TIMES, MIDNIGHT, YEARS = "PQF-096", "PQF-097", "PQF-098", "PQF-099", "PQF-100"
UTF8, JSON, STRICT_JSON, BSON, NOTHING = "PQF-101", "PQF-102", "PQF-103", "PQF-104", "PQF-105"
RULES = (INTEGERS, DIGITS, TIMES, MIDNIGHT, YEARS, UTF8, JSON, STRICT_JSON, BSON, NOTHING)

OUT_OF_YEARS = "outside the years 1 to 9999"
AT_THE_END = "the midnight that ends the day"


class LogicalTypeClaims(ChunkClaims):
    """The claims of a chunk's logical type."""

    def claim_logical_type(self) -> None:
        """Gather what the annotation in the schema says of the values."""
        element = self.chunk.leaf.element
        match allowed_by(element):
            case Allowed.INTEGERS:
                self._claim(partial(self._judge_range, INTEGERS, range_of(element)), INTEGERS)
            case Allowed.DECIMALS:
                self._claim(self._judge_digits, DIGITS)
            case Allowed.TIMES:
                self._claim(partial(self._judge_range, TIMES, range_of(element)), TIMES)
                self._claim(self._judge_midnight, MIDNIGHT)
            case Allowed.CALENDAR:
                self._claim(partial(self._judge_range, YEARS, range_of(element)), YEARS)
            case Allowed.TEXT:
                self._claim(partial(self._judge_form, UTF8, no_utf8, "UTF-8"), UTF8)
            case Allowed.JSON:
                self._claim(partial(self._judge_form, UTF8, no_utf8, "UTF-8"), UTF8)
                self._claim(self._judge_json, JSON, STRICT_JSON)
            case Allowed.BSON:
                self._claim(partial(self._judge_form, BSON, no_bson, "BSON document"), BSON)
            case Allowed.NULLS:
                self._claim(self._judge_nothing, NOTHING)
            case None:
                pass

    # ----------------------------------------------------------------------------------------------- numbers

    def _judge_range(self, rule: str, allowed: NumberRange | None, decoded: ChunkValues) -> Found:
        if allowed is None:
            return
        sides = ((allowed.least, False), (allowed.greatest, True))
        beyond = [found for number, above in sides if (found := self._beyond(number, above=above))]
        if beyond:
            first = min(beyond, key=lambda found: found.place)
            total = sum(found.total for found in beyond)
            wanted = f"{allowed.least} to {allowed.greatest}"
            why = OUT_OF_YEARS if rule == YEARS else f"and {self._annotation} reaches from {wanted}"
            yield rule, self._outside(decoded, first.place, total, why, wanted)

    def _beyond(self, number: int, *, above: bool) -> Beyond | None:
        """The first value beyond a number, by the order of the type."""
        element = self.chunk.leaf.element
        order = type_order(element)
        if order is None:
            raise NotChecked(f"column {self.chunk.column} has no order", "file")
        if order is Order.DECIMAL:
            raw = number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)
        else:
            raw = FIXED_WIDTH[Type(element.type or 0)].build(number)
        return self._judged.of_chunk(order, raw, above=above)

    def _judge_digits(self, decoded: ChunkValues) -> Found:
        element = self.chunk.leaf.element
        width, precision = width_of(element), precision_of(element) or 0
        if width is None:
            width = decimal_width(decoded.values)
        if precision >= digits_in(max(width, 1)):
            return
        if width > MOST_DECIMAL:
            raise NotChecked(f"decimals of {width} bytes are not compared", "tool")
        yield from self._judge_range(DIGITS, decimal_range(precision), decoded)

    def _judge_midnight(self, decoded: ChunkValues) -> Found:
        day = cast("NumberRange", range_of(self.chunk.leaf.element)).greatest
        last = self._beyond(day - 1, above=True)
        if last is not None and self._beyond(day, above=True) is None:
            yield MIDNIGHT, self._outside(decoded, last.place, last.total, AT_THE_END, f"less than {day}")

    def _outside(self, decoded: ChunkValues, place: int, total: int, why: str, wanted: str) -> Violation:
        value = shown(type_order(self.chunk.leaf.element), decoded.raw_of(place))
        return Violation(
            f"{self._where(decoded, place)} holds {value}, {why}{others(total)}",
            self._field,
            expected=wanted,
            actual=value,
        )

    # -------------------------------------------------------------------------------------------------- bytes

    def _judge_form(
        self, rule: str, wrong: Callable[[Any], NDArray[np.bool_] | None], form: str, decoded: ChunkValues
    ) -> Found:
        found = wrong_values(decoded, wrong)
        if found is not None:
            yield rule, self._formless(decoded, found.place, form, others(found.total))

    def _judge_json(self, decoded: ChunkValues) -> Found:
        if wrong_values(decoded, no_utf8) is not None:
            raise Broken(UTF8)
        faults = json_faults(decoded)
        if faults.broken is not None:
            yield JSON, self._formless(decoded, faults.broken, "JSON")
        if faults.lenient is not None:
            yield (
                STRICT_JSON,
                self._formless(
                    decoded, faults.lenient, "JSON to the letter, which has neither NaN nor infinities"
                ),
            )
        if faults.problem is not None:
            raise faults.problem

    def _formless(self, decoded: ChunkValues, place: int, form: str, more: str = "") -> Violation:
        value = shown(None, decoded.raw_of(place))
        return Violation(
            f"{self._where(decoded, place)} holds {value}, which is no {form}, and is annotated as {self._annotation}{more}",
            self._field,
            expected=form,
            actual=value,
        )

    def _judge_nothing(self, decoded: ChunkValues) -> Found:
        if decoded.count:
            element = self.chunk.leaf.element
            bare = SchemaElement(name=element.name, type=element.type, type_length=element.type_length)
            value = shown(type_order(bare), decoded.raw_of(0))
            yield (
                NOTHING,
                Violation(
                    f"{self._where(decoded, 0)} holds {value}, and a column of type UNKNOWN holds nulls alone"
                    + others(decoded.count),
                    self._field,
                    expected="null",
                    actual=value,
                ),
            )

    # ---------------------------------------------------------------------------------------- the annotation

    @property
    def _annotation(self) -> str:
        element = self.chunk.leaf.element
        name = logical_name(element)
        return f"DECIMAL of {precision_of(element)} digits" if name == "DECIMAL" else str(name)

    @property
    def _field(self) -> Field:
        """The annotation of the column in the schema."""
        element = self.chunk.leaf.element
        schema = self.chunk.file.metadata.schema
        number = next(place for place, each in enumerate(schema) if each is element)
        return in_footer(self.chunk.file, f"schema[{number}]") / (
            "converted_type" if element.logicalType is None else "logicalType"
        )
