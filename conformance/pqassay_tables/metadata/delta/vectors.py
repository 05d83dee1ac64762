"""The descriptor of a deletion vector in a Delta log."""

from __future__ import annotations

import uuid
from typing import Any, cast
from urllib.parse import unquote

from pqassay.tables.claims import ClaimPlace, DeletedRows
from pqassay_spec.table import z85
from pqassay_spec.table.delta import DELETION_VECTOR_NAME, UUID_LENGTH
from pqassay_tables.metadata.delta.actions import Json
from pqassay_tables.metadata.delta.state import AddEntry

DESCRIPTOR = "DLT-018"
"""The rule about descriptors."""

MOST_INLINE = 1 << 24
"""The largest number of characters of an inline vector that is decoded."""


def deleted_rows(entry: AddEntry) -> DeletedRows | str | None:
    """The deletion vector of a file; or why its descriptor is invalid; or ``None`` if there is none.

    For a vector outside the table's folder, both ``file`` and ``inline`` are empty.
    """
    given = entry.action.get("deletionVector")
    if given is None:
        return None
    if not isinstance(given, dict):
        return "it is not an object"
    descriptor = cast("Json", given)
    names = ("storageType", "pathOrInlineDv", "offset", "sizeInBytes", "cardinality")
    members: list[Any] = [descriptor.get(name) for name in names]
    kind, where, offset, length, cardinality = members
    wrong = {
        f"storageType is {kind!r}": kind not in ("u", "i", "p"),
        "it has no pathOrInlineDv": not isinstance(where, str),
        f"sizeInBytes is {length!r}": type(length) is not int or length <= 0,
        f"cardinality is {cardinality!r}": type(cardinality) is not int or cardinality < 0,
        f"offset is {offset!r}": offset is not None and (type(offset) is not int or offset < 0),
        "it has an offset, but is in the log": kind == "i" and offset is not None,
    }
    problem = next((words for words, applies in wrong.items() if applies), None)
    if problem is not None:
        return problem
    place = entry.place.below("deletionVector")
    if kind == "i":
        return _inline(str(where), place, length, cardinality)
    try:
        name = unquote(str(where)) if kind == "p" else _file_name(str(where))
    except ValueError as error:
        return f"pathOrInlineDv ends in no UUID: {error}"
    return DeletedRows(place, name, offset or 0, length, cardinality)


def _file_name(where: str) -> str:
    """The file for a prefix and a UUID of a vector, relative to the table. Raises `ValueError`."""
    if len(where) < UUID_LENGTH:
        raise ValueError(f"it has fewer than {UUID_LENGTH} characters")
    unique = uuid.UUID(bytes=z85.decode(where[-UUID_LENGTH:]))
    name, prefix = DELETION_VECTOR_NAME.format(unique), where[:-UUID_LENGTH]
    return f"{prefix}/{name}" if prefix else name


def _inline(text: str, place: ClaimPlace, length: int, cardinality: int) -> DeletedRows | str:
    if len(text) > MOST_INLINE:
        return f"it has {len(text):,} characters"
    try:
        data = z85.decode(text)
    except ValueError as error:
        return f"pathOrInlineDv is not Z85: {error}"
    # Z85 encodes only multiples of four bytes; writers pad with zeros.
    if not len(data) - 4 < length <= len(data):
        return f"sizeInBytes is {length}, but pathOrInlineDv has {len(data)} bytes"
    return DeletedRows(place, "", 0, length, cardinality, data[:length])
