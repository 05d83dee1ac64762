"""Shapes of violations: how one file breaks a rule in the same way as another.

Two violations of a rule have the same shape if they break the same field of the same structure, in columns
with the same comparison, in the same direction, and with the same message.  The behavior of engines with a
golden file is only reported for files that break the rule in that shape.
"""

from __future__ import annotations

import re

from pqassay.report.model import Position
from pqassay.under_test.file import FileUnderTest, NotApplicable, NotChecked
from pqassay_spec.base.errors import FormatError
from pqassay_spec.parquet.column_order import type_order

WORDS = 4
"""The number of words of a message that identify the error."""

_NUMBERED = re.compile(r"\[[^\]]*\]")
_NAMED = re.compile(r"\bcolumn \S+|'[^']*'|\"[^\"]*\"")
_WORD = re.compile(r"\b[a-z_]+\b")
_NUMBER = re.compile(r"-?\d+(\.\d+)?\b")


def shape_of(position: Position, message: str, column: str | None, file: FileUnderTest) -> str:
    """The shape of a violation.

    Args:
        position: The first place where the rule is broken.
        message: The message there.
        column: The column, if any.
        file: The file.
    """
    words = _WORD.findall(_NAMED.sub("", message))
    parts = (
        _NUMBERED.sub("", position.field),
        _type(column, file),
        _direction(position),
        " ".join(words[:WORDS]),
    )
    return " · ".join(part for part in parts if part)


def _direction(position: Position) -> str:
    """Whether the actual number is greater or less than expected; empty if the values are not numbers."""
    numbers = [_NUMBER.match(text) for text in (position.actual, position.expected)]
    if numbers[0] is None or numbers[1] is None:
        return "" if position.actual else "absent"
    actual, expected = (float(number[0]) for number in numbers if number is not None)
    return "more" if actual > expected else "less" if actual < expected else "equal"


def _type(column: str | None, file: FileUnderTest) -> str:
    """The order of the values of a Parquet column, and whether it is in a list."""
    if column is None:
        return ""
    try:
        leaf = next((leaf for leaf in file.leaves if leaf.is_called(column)), None)
    except (FormatError, NotApplicable, NotChecked, OSError):
        return ""
    if leaf is None:
        return ""
    order = type_order(leaf.element)
    of_list = " in a list" if leaf.max_repetition_level else ""
    return f"{leaf.physical_type if order is None else order.name.lower()}{of_list}"
