"""Lint of values against the logical type of their column.

Source: apache/parquet-format, ``LogicalTypes.md``; RFC 8259.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from pqassay_reference.lint.decoded_chunk import DecodedChunk
from pqassay_reference.lint.parquet_file_footer import wrong
from pqassay_spec.base.errors import FormatError
from pqassay_spec.parquet.column_order import number_of, type_order
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.schema.logical_values import (
    Allowed,
    NumberRange,
    allowed_by,
    decimal_range,
    precision_of,
    range_of,
)


def lint_logical_type(chunk: DecodedChunk) -> None:
    """Raise what is wrong with the values of a chunk. Dates, and what no reader takes apart, are not looked at.

    Raises:
        FormatError: With the rule that is broken.
    """
    allowed = allowed_by(chunk.leaf.element)
    if allowed is None:
        return
    for page in chunk.pages or ():
        _lint_values(chunk.leaf, allowed, page.values or ())


def _lint_values(leaf: SchemaLeaf, allowed: Allowed, values: Sequence[bytes]) -> None:
    element = leaf.element
    match allowed:
        case Allowed.INTEGERS:
            _lint_numbers("PQF-096", leaf, range_of(element), values)
        case Allowed.DECIMALS:
            _lint_numbers("PQF-097", leaf, decimal_range(precision_of(element) or 1), values)
        case Allowed.TIMES:
            _lint_numbers("PQF-098", leaf, range_of(element), values)
        case Allowed.TEXT | Allowed.JSON:
            for raw in values:
                _lint_text(leaf, raw, is_json=allowed is Allowed.JSON)
        case Allowed.NULLS:
            if values:
                raise _wrong("PQF-105", leaf, "a value")
        case Allowed.BSON | Allowed.CALENDAR:
            pass


def _lint_numbers(rule: str, leaf: SchemaLeaf, allowed: NumberRange | None, values: Sequence[bytes]) -> None:
    order = type_order(leaf.element)
    for raw in values:
        number = None if order is None else number_of(order, raw)
        if number is not None and allowed is not None and not allowed.least <= number <= allowed.greatest:
            raise _wrong(rule, leaf, str(number))


def _lint_text(leaf: SchemaLeaf, raw: bytes, *, is_json: bool) -> None:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise _wrong("PQF-101", leaf, repr(raw)) from None
    try:
        if is_json:
            json.loads(text)
    except ValueError:
        raise _wrong("PQF-102", leaf, repr(text)) from None


def _wrong(rule: str, leaf: SchemaLeaf, value: str) -> FormatError:
    return wrong(rule, f"column {leaf.name} holds {value}", "pages")
