"""The GeoParquet document about geometry columns, compared with the schema."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from math import isfinite
from typing import Any, NamedTuple

from pqassay.under_test.schemas.schema_copies import Fault, as_list, as_object, read_json
from pqassay_spec.base.errors import Malformed
from pqassay_spec.grammar.hexdump import show
from pqassay_spec.parquet.encoding.wkb import AXES_STEP, GeometryKind, axes_of
from pqassay_spec.parquet.schema.tree import SchemaNode
from pqassay_spec.parquet.thrift import Type

GEO_KEY = "geo"

READABLE, COLUMNS = "PQF-120", "PQF-121"

NATIVE = frozenset(("point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon"))
"""Encodings as lists and groups."""

WKB = "WKB"
"""The encoding as bytes."""

BOX_SIZES = (4, 6)
"""The number of values in a box, without and with z."""


ROUNDED = 1e-6
"""The relative tolerance for bounds, since documents may round their numbers."""


class Span(NamedTuple):
    """The range of one axis of a box."""

    axis: str
    low: float
    high: float

    def lacks(self, low: float, high: float) -> bool:
        """Whether it does not contain another range, beyond rounding."""
        room = ROUNDED * max(abs(self.low), abs(self.high), abs(low), abs(high))
        return low < self.low - room or high > self.high + room


def planar_boxes(value: str) -> dict[str, list[Span]]:
    """The boxes of the columns of a readable document, axis by axis.

    Boxes of curved edges are omitted, and x if it crosses the antimeridian.
    """
    columns: dict[str, dict[str, Any]] = json.loads(value)["columns"]
    return {
        name: [span for span in spans if span.low <= span.high]
        for name, column in columns.items()
        if (column.get("edges") or PLANAR) == PLANAR and (spans := spans_of(column))
    }


def spans_of(column: dict[str, Any]) -> list[Span]:
    """The box of a column, axis by axis; empty without a box. If x crosses the antimeridian, its start exceeds its end."""
    box: Any = column.get("bbox")
    if not _is_box(box):
        return []
    half = len(box) // 2
    return [Span(axis, *pair) for axis, *pair in zip("xyz", box[:half], box[half:], strict=False)]


def covering_of(column: dict[str, Any]) -> dict[str, list[str]] | None:
    """The paths of the columns with per-row boxes, by the bounds that they contain; ``None`` if absent or not paths."""
    covering = as_object(column.get("covering")) or {}
    paths = as_object(covering.get("bbox"))
    if paths is None or not _BOUNDS <= paths.keys() <= _BOUNDS | _BOUNDS_OF_Z:
        return None
    found = {name: as_list(path) for name, path in paths.items()}
    if any(not path or not all(isinstance(part, str) for part in path) for path in found.values()):
        return None
    return {name: path or [] for name, path in found.items()}


_BOUNDS = frozenset(("xmin", "ymin", "xmax", "ymax"))
_BOUNDS_OF_Z = frozenset(("zmin", "zmax"))


def geo_faults(value: str, root: SchemaNode) -> Iterator[Fault]:
    """Yield the faults where the document does not describe the geometries of this schema. Raises `Malformed` if it cannot be read."""
    document = as_object(read_json(value, READABLE))
    if document is None:
        raise Malformed("its JSON is not an object", rule=READABLE)
    if not isinstance(document.get("version"), str):
        raise Malformed("it has no version", rule=READABLE)
    columns = as_object(document.get("columns"))
    if columns is None:
        raise Malformed("it has no object of columns", rule=READABLE)
    for name, column in columns.items():
        _require_column(name, column)
    primary = document.get("primary_column")
    if not isinstance(primary, str) or primary not in columns:
        given = show(primary) if isinstance(primary, str) else "none"
        said = f"its primary_column is {given}, which is not among its columns"
        yield Fault(COLUMNS, said, "one of its columns", given)
    nodes = {node.name: node for node in root.children}
    for name, column in columns.items():
        yield from _column(name, column, nodes.get(name), root)


def _require_column(name: str, described: Any) -> None:
    """Raise `Malformed` unless the description of a column has the members that readers need."""
    column = as_object(described)
    if column is None:
        raise Malformed(f"column {show(name)} is not an object", rule=READABLE)
    encoding = column.get("encoding")
    if encoding != WKB and (not isinstance(encoding, str) or encoding not in NATIVE):
        raise Malformed(f"column {show(name)} has no encoding that exists", rule=READABLE)
    if as_list(column.get("geometry_types")) is None:
        raise Malformed(f"column {show(name)} has no list of geometry_types", rule=READABLE)
    for member, (wanted, fits) in _OPTIONAL.items():
        if column.get(member) is not None and not fits(column[member]):
            raise Malformed(f"{member} of column {show(name)} is not {wanted}", rule=READABLE)
    if not all(isinstance(each, str) for each in column["geometry_types"]):
        raise Malformed(f"a geometry type of column {show(name)} is not text", rule=READABLE)


def _is_text(given: Any) -> bool:
    return isinstance(given, str)


def _is_number(given: Any) -> bool:
    return isinstance(given, int | float) and not isinstance(given, bool) and isfinite(given)


_OPTIONAL: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "crs": ("an object", lambda given: as_object(given) is not None),
    "edges": ("text", _is_text),
    "orientation": ("text", _is_text),
    "epoch": ("a number", _is_number),
}
"""Members that may be missing or null, each with its type otherwise."""

_NAMES = {"".join(word.capitalize() for word in kind.name.split("_")): int(kind) for kind in GeometryKind}
GEOMETRY_TYPES = {
    f"{name} {axes_of(axes).upper()}".strip(): axes + kind
    for name, kind in _NAMES.items()
    for axes in range(0, 4 * AXES_STEP, AXES_STEP)
}
"""The code of each geometry type, by its name in a document."""

PLANAR, SPHERICAL = "planar", "spherical"


def _unknown(name: str, column: dict[str, Any]) -> Iterator[Fault]:
    """The members with values that GeoParquet does not define; a later version may define them."""
    known: dict[str, Collection[str]] = {"edges": (PLANAR, SPHERICAL), "orientation": ("counterclockwise",)}
    texts: list[tuple[str, str, Collection[str]]] = [
        (member, column[member], known[member]) for member in known if column.get(member) is not None
    ]
    texts += [("geometry type", kind, GEOMETRY_TYPES) for kind in column["geometry_types"]]
    for member, text, defined in texts:
        if text not in defined:
            message = f"column {show(name)} has {member} {show(text)}, which is unknown, possibly from a later version of GeoParquet"
            yield Fault(COLUMNS, message, "", "", name, is_unknown=True)


def _column(name: str, column: dict[str, Any], node: SchemaNode | None, root: SchemaNode) -> Iterator[Fault]:
    if node is None:
        text = f"column {show(name)} is not in the file"
        yield Fault(COLUMNS, text, "a column of the file", show(name), name)
        return
    is_bytes = node.element.type == Type.BYTE_ARRAY
    if is_bytes != (column["encoding"] == WKB) or (node.is_leaf and not is_bytes):
        text = f"column {show(name)} is encoded as {column['encoding']}, which its type cannot hold"
        wanted = "BYTE_ARRAY" if column["encoding"] == WKB else "a list or group"
        yield Fault(COLUMNS, text, wanted, "another type", name)
    logical, edges = node.element.logicalType, column.get("edges")
    if logical is not None and (
        (logical.GEOMETRY and edges == SPHERICAL) or (logical.GEOGRAPHY and edges == PLANAR)
    ):
        kind = "GEOMETRY" if logical.GEOMETRY else "GEOGRAPHY"
        text = f"the edges of column {show(name)} are {edges}, but its type is {kind}"
        yield Fault(COLUMNS, text, f"the edges of {kind}", edges, name)
    yield from _unknown(name, column)
    box = column.get("bbox")
    if box is not None and not _is_box(box):
        text = f"the bbox of column {show(name)} is not a box"
        yield Fault(COLUMNS, text, "4 or 6 numbers, least before greatest", show(str(box)[:100]), name)
    if column.get("covering") is not None:
        yield from _covering(name, column, root)


def _covering(name: str, column: dict[str, Any], root: SchemaNode) -> Iterator[Fault]:
    """Yield the faults of covering columns: they must be FLOAT or DOUBLE, and not repeated."""
    paths = covering_of(column)
    if paths is None:
        text = f"the covering of column {show(name)} is not a bbox of four or six paths"
        yield Fault(
            COLUMNS,
            text,
            "xmin, ymin, xmax and ymax, each a list of names",
            show(str(column["covering"])[:100]),
            name,
        )
        return
    for bound, path in paths.items():
        node: SchemaNode | None = root
        for part in path:
            node = node and next(
                (child for child in node.children if child.name == part and not child.is_repeated), None
            )
        if node is None or node.element.type not in (Type.FLOAT, Type.DOUBLE):
            text = f"the covering of column {show(name)} has {bound} in {show('.'.join(path))}, which is not such a column"
            yield Fault(COLUMNS, text, "a FLOAT or DOUBLE that is not repeated", show(".".join(path)), name)


def _is_box(given: Any) -> bool:
    """Whether it has four or six numbers; the least x may exceed the greatest, for a box across the antimeridian."""
    box = as_list(given) or []
    numbers = [bound for bound in box if isinstance(bound, int | float) and not isinstance(bound, bool)]
    if len(box) not in BOX_SIZES or len(numbers) < len(box):
        return False
    half = len(numbers) // 2
    return all(not low > high for low, high in zip(numbers[1:half], numbers[half + 1 :], strict=True))
