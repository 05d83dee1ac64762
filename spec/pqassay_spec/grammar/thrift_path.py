"""Find the bytes of one field in an encoded struct by its path, without decoding the rest."""

from __future__ import annotations

import re

from pqassay_spec.grammar.thrift import FieldType, ListOf, Record
from pqassay_spec.grammar.thrift_wire import element_ranges, field_ranges

_SEGMENT = re.compile(r"(\w+)((?:\[\d+\])*)")

Place = tuple[FieldType, int, int]
"""Type, start and end of a value."""


class FieldFinder:
    """Finds fields of one encoded struct.

    Visited positions are remembered, so a search for many fields does not walk the same lists again.
    """

    def __init__(self, record: type[Record], data: bytes) -> None:
        self._data = data
        self._root: Place = (record, 0, len(data))
        self._fields: dict[int, dict[int, tuple[int, int]]] = {}
        self._elements: dict[int, list[tuple[int, int]]] = {}

    def find(self, path: str) -> tuple[int, int] | None:
        """Return ``(start, end)`` of the value at a path; ``None`` if it is absent.

        Args:
            path: Dotted, with indexes, relative to the struct: ``row_groups[0].columns[2].file_offset``.

        Raises:
            Malformed: The bytes on the way cannot be walked.
            KeyError: The declaration has no such field.
        """
        place = self._root
        for segment in path.split("."):
            match = _SEGMENT.fullmatch(segment)
            if match is None:
                raise KeyError(segment)
            member = self._member(place, match[1])
            for index in re.findall(r"\d+", match[2]):
                member = member and self._element(member, int(index))
            if member is None:
                return None
            place = member
        return place[1], place[2]

    def _member(self, place: Place, name: str) -> Place | None:
        record, start, _ = place
        fields = record.fields if isinstance(record, type) else ()
        declared = next((field for field in fields if field.name == name), None)
        if declared is None:
            raise KeyError(name)
        if start not in self._fields:
            # a bool stores its value in the header
            self._fields[start] = {
                found.id: (found.value if found.end > found.value else found.start, found.end)
                for found in field_ranges(self._data, start)
            }
        found = self._fields[start].get(declared.id)
        return found and (declared.type, *found)

    def _element(self, place: Place, index: int) -> Place | None:
        kind, start, _ = place
        if not isinstance(kind, ListOf):
            raise KeyError(f"[{index}]")
        if start not in self._elements:
            self._elements[start] = element_ranges(self._data, start)
        ranges = self._elements[start]
        return (kind.element, *ranges[index]) if index < len(ranges) else None
