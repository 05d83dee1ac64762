"""The actions of commits: lines of JSON, parsed strictly, with exact numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, cast

from pqassay_spec.base.errors import Malformed
from pqassay_spec.base.strict_json import distinct_members, refuse_constant

LINES = "DLT-001"

Json = dict[str, Any]
"""A JSON object, numbers with a fraction or an exponent as `Decimal`."""

_DECODER = json.JSONDecoder(
    object_pairs_hook=distinct_members, parse_float=Decimal, parse_constant=refuse_constant
)


def parse(text: str) -> Any:
    """Parse a JSON text.

    Raises:
        ValueError: The text is not JSON, is nested too deeply, has a number of thousands of digits, or repeats a member.
    """
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def object_of(given: Any) -> Json:
    """A value if it is a JSON object; otherwise an empty object."""
    return cast("Json", given) if isinstance(given, dict) else {}


def actions(file: str, data: bytes) -> Iterator[tuple[int, Json]]:
    """Yield the actions of a commit, each with its line from 0 on.

    Raises:
        Malformed: DLT-001, a line is not a JSON object.
    """
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError as error:
        reason = f"{file} is not UTF-8"
        raise Malformed(reason, rule=LINES, field=file, offset=error.start, length=1, file=file) from None
    decode = _DECODER.decode
    for number, line in enumerate(lines):
        if not line or line.isspace():
            continue
        try:
            action = decode(line)
        except (ValueError, RecursionError) as error:
            reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
            raise bad_line(file, data, number, f"line {number + 1} of {file} is not JSON: {reason}") from None
        if not isinstance(action, dict):
            raise bad_line(file, data, number, f"line {number + 1} of {file} is not a JSON object")
        yield number, cast("Json", action)


def bad_line(file: str, data: bytes, number: int, reason: str) -> Malformed:
    """The error that a line, from 0 on, is not an action."""
    start, end = line_span(data, number)
    return Malformed(
        reason,
        rule=LINES,
        field=f"{file}[{number}]",
        offset=start,
        length=end - start,
        expected="a JSON object with one action on each line, no member twice",
        actual=reason.rpartition(": ")[2],
        file=file,
    )


def line_span(data: bytes, number: int) -> tuple[int, int]:
    """The start and the end of a line in bytes, without the line feed."""
    start = 0
    for _ in range(number):
        start = data.index(b"\n", start) + 1
    end = data.find(b"\n", start)
    return start, len(data) if end < 0 else end
