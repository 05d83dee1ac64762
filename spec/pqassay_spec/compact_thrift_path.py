"""Finding the bytes of one field in an encoded struct by its path, without decoding the rest."""

from __future__ import annotations

import re

from pqassay_spec.compact_thrift import ListOf, Record
from pqassay_spec.compact_thrift_wire import element_ranges, field_ranges

_SEGMENT = re.compile(r"(\w+)((?:\[\d+\])*)")


def find_bytes(record: type[Record], data: bytes, path: str) -> tuple[int, int] | None:
    """Return ``(start, end)`` of the value at ``path`` in ``data``; ``None`` if it is absent.

    Args:
        record: The struct that ``data`` holds.
        data: Its encoded bytes.
        path: Dotted, with indexes, relative to the struct: ``row_groups[0].columns[2].file_offset``.

    Raises:
        Malformed: The bytes on the way cannot be walked.
        KeyError: The declaration has no such field.
    """
    current = record
    start, end = 0, len(data)
    for segment in path.split("."):
        match = _SEGMENT.fullmatch(segment)
        if match is None:
            raise KeyError(segment)
        name, indexes = match[1], [int(index) for index in re.findall(r"\d+", match[2])]
        field = next((field for field in current.fields if field.name == name), None)
        if field is None:
            raise KeyError(f"{current.__name__}.{name}")
        place = next((found for found in field_ranges(data, start) if found.id == field.id), None)
        if place is None:
            return None
        start, end = place.value, place.end
        if start == end:  # a bool stores its value in the header
            start = place.start
        kind = field.type
        for index in indexes:
            ranges = element_ranges(data, start)
            if index >= len(ranges):
                return None
            start, end = ranges[index]
            kind = kind.element if isinstance(kind, ListOf) else kind
        if isinstance(kind, type):
            current = kind
    return start, end
