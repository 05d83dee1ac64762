"""Checks of a GeoParquet document against the values of the columns that it describes, tier ``values``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from pqassay.checks.parquet_file.schema_copies import geo_rule
from pqassay.checks.subjects import CHUNK, Subject
from pqassay.checks.value_rules import value_rule
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.fields import Field
from pqassay.under_test.file import Broken, FileUnderTest, NotChecked
from pqassay.under_test.schemas.geo_copy import GEOMETRY_TYPES, WKB, covering_of, spans_of
from pqassay.under_test.schemas.schema_copies import as_list, read_json
from pqassay.under_test.violation import Violation
from pqassay.values.claims.audit import ValueAudit
from pqassay.values.claims.joined_rows import JoinedRows, RuleOfJoins
from pqassay.values.claims.outcomes import Outcome
from pqassay.values.claims.value_rules import Claim, ComparedBy
from pqassay.values.claims.wording import others, where
from pqassay_spec.parquet.schema.leaf_columns import is_geometry
from pqassay_spec.parquet.thrift import Type

if TYPE_CHECKING:
    from pqassay.values.claims.geo_document import PointBeyond
    from pqassay.values.decoding.chunk_values import ChunkValues


class Described(NamedTuple):
    """A description of a column: its field in the document, and its members."""

    field: Field
    column: Mapping[str, Any]


def _described(file: FileUnderTest) -> dict[str, list[Described]]:
    """The descriptions of each column, in all documents that can be read."""
    described: dict[str, list[Described]] = {}
    for pair in geo_rule.subject.find(file):
        with suppress(Broken, NotChecked):
            geo_rule.require_readable(pair)
            for name, column in read_json(pair.part.value or "", "")["columns"].items():
                described.setdefault(name, []).append(Described(pair.field / "value", column))
    return described


def _of(chunk: ColumnChunkUnderTest) -> Iterator[Described]:
    """The descriptions of a column of geometries in bytes, or of coordinates."""
    leaf = chunk.leaf
    for described in chunk.file.part(_described).get(leaf.path[0], []):
        if described.column["encoding"] == WKB:
            if len(leaf.path) == 1 and leaf.element.type == Type.BYTE_ARRAY:
                yield described
        elif len(leaf.path) > 1 and leaf.element.type in (Type.FLOAT, Type.DOUBLE):
            yield described


def _has_some(audit: ValueAudit) -> bool:
    return bool(audit.file.part(_described))


DESCRIBED = Subject(
    "described geometries", lambda file: [chunk for chunk in CHUNK.find(file) if any(_of(chunk))]
)
"""A column chunk of geometries that a GeoParquet document describes."""


@value_rule("PQF-182", of=DESCRIBED, only=_has_some)
def geo_boxes_hold_every_coordinate(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """A reader that selects files by the box of a document misses geometries outside it."""
    for described in _of(chunk):
        if spans_of(dict(described.column)):
            yield _InBox(chunk, described)


class _InBox(Claim):
    """The claim that all coordinates of a chunk lie in a box."""

    def __init__(self, chunk: ColumnChunkUnderTest, described: Described) -> None:
        self._chunk, self._described = chunk, described

    def compare(self, values: ChunkValues) -> Iterator[Violation]:
        """Yield a violation for the first coordinate outside the box."""
        off = self._beyond(values)
        if off is not None:
            actual = f"{off.span.low} to {off.span.high}"
            yield Violation(
                f"{where(values, off.place)} holds {off.span.axis} = {off.number!r}, "
                f"and the bbox that geo gives its column is {off.span.axis} {actual}{others(off.total)}",
                self._described.field,
                expected=f"a bbox that holds {off.span.axis} = {off.number!r}",
                actual=actual,
            )

    def _beyond(self, values: ChunkValues) -> PointBeyond | None:
        from pqassay.values.claims.geo_document import beyond, number_beyond  # noqa: PLC0415 - numpy, at this tier only

        spans = spans_of(dict(self._described.column))
        if self._described.column["encoding"] == WKB:
            return beyond(values, spans)
        axis = self._chunk.leaf.element.name
        return next(
            (off for span in spans if span.axis == axis and (off := number_beyond(values, span))), None
        )


@value_rule("PQF-183", of=DESCRIBED, only=_has_some)
def geo_types_are_those_of_geometries(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """Readers create a column of the listed types, and fail at a geometry of another type."""
    for described in _of(chunk):
        if described.column["encoding"] == WKB:
            yield ComparedBy(partial(_off_types, described))


def _off_types(described: Described, values: ChunkValues) -> Iterator[Violation]:
    from pqassay.values.claims.geo_document import off_types  # noqa: PLC0415 - numpy, at this tier only

    names = [name for name in as_list(described.column["geometry_types"]) or [] if isinstance(name, str)]
    codes = frozenset(GEOMETRY_TYPES[name] for name in names if name in GEOMETRY_TYPES)
    off = off_types(values, codes)
    if off is None or (off.code is None and is_geometry(values.chunk.leaf.element)):
        return
    known = next((name for name, code in GEOMETRY_TYPES.items() if code == off.code), None)
    actual = "not a geometry in well-known binary" if known is None else f"a {known}"
    expected = (
        ", ".join(name for name in names if name in GEOMETRY_TYPES) or "a geometry in well-known binary"
    )
    yield Violation(
        f"{where(values, off.place)} is {actual}, and geo says that its column has {expected}{others(off.total)}",
        described.field,
        expected=expected,
        actual=actual,
    )


class _Covering(JoinedRows):
    """The per-row boxes of one geometry column."""

    def __init__(self, rule: GeoBoxesOfRowsHoldTheirGeometries, name: str, described: Described) -> None:
        super().__init__(rule.file, rule.outcome)
        leaves = {leaf.path: ordinal for ordinal, leaf in enumerate(rule.file.leaves)}
        paths = covering_of(dict(described.column)) or {}
        self._field, self._name = described.field, name
        self._geometry = leaves[(name,)]
        self._bounds = {bound: leaves[tuple(path)] for bound, path in paths.items()}
        self._single = frozenset(
            bound
            for bound, ordinal in self._bounds.items()
            if rule.file.leaves[ordinal].element.type == Type.FLOAT
        )
        self.ordinals = frozenset((self._geometry, *self._bounds.values()))

    def take(self, values: ChunkValues) -> Any:
        """The boxes of the geometries, or a bound of each row."""
        from pqassay.values.claims.geo_document import boxes_of, numbers_of  # noqa: PLC0415 - numpy, at this tier only

        return (boxes_of if values.chunk.ordinal == self._geometry else numbers_of)(values)

    def compare(self, group: int, taken: Mapping[int, Any], /) -> Iterator[Violation]:
        """Yield a violation for the first row whose box does not contain its geometry."""
        from pqassay.values.claims.geo_document import uncovered  # noqa: PLC0415 - numpy, at this tier only

        bounds = {bound: taken[ordinal] for bound, ordinal in self._bounds.items()}
        off = uncovered(taken[self._geometry], bounds, self._single)
        if off is not None:
            actual = "null" if off.value is None else repr(off.value)
            yield Violation(
                f"row {off.row} of row group {group} of column {self._name} holds {off.bound[0]} = {off.coordinate!r}, "
                f"and the {off.bound} that geo names for it is {actual}{others(off.total, 'row', 'rows')}",
                self._field,
                expected=f"a box that holds {off.bound[0]} = {off.coordinate!r}",
                actual=actual,
                column=self._name,
                row_group=group,
            )


@value_rule("PQF-184", only=_has_some)
class GeoBoxesOfRowsHoldTheirGeometries(RuleOfJoins):
    """A reader that selects rows by their boxes misses a geometry outside its own box."""

    def __init__(self, file: FileUnderTest, outcome: Outcome) -> None:
        super().__init__(file, outcome)
        for name, descriptions in file.part(_described).items():
            for described in descriptions:
                if described.column["encoding"] == WKB and covering_of(dict(described.column)):
                    try:
                        self.joins.append(_Covering(self, name, described))
                    except KeyError:
                        raise Broken("PQF-121") from None
