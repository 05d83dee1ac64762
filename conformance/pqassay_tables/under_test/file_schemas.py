"""Comparison of a data file's schema with the schema of its table: columns that readers do not find, or find with another type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

from pqassay.under_test.schemas.known_schemas import Schema
from pqassay_spec.parquet.schema.logical_values import logical_name
from pqassay_spec.parquet.schema.tree import SchemaNode, schema_tree
from pqassay_tables.metadata.column_types import Fit, TableField, TableSchema, fit, held_in
from pqassay_tables.under_test.claimed_columns import ClaimedFile, Plans


class Problem(Enum):
    """The kinds of problems of a column."""

    TYPE = "its values are not of the column's type"
    OTHER_TYPE = "its type differs, but its values can be read as the column's type"
    ABSENT = "the file does not have it, and it cannot be null"
    CASE = "its name differs only in case"
    NOT_FOUND = "the file has columns, but readers find none of their columns by id or name"


class Mismatch(NamedTuple):
    """A problem of a column.

    Attributes:
        problem: The kind of problem.
        field: The column of the table.
        place: The element of the file's schema; -1 if there is none.
        actual: The content of the file at this place.
    """

    problem: Problem
    field: TableField
    place: int
    actual: str


_PLANS = Plans[list[Mismatch]]()


def mismatches(file: ClaimedFile, *problems: Problem) -> list[Mismatch]:
    """The problems of the columns of a file; empty if its table has no claims. Raises the errors of the leaves."""
    table, schema = file.claims.schema, file.file.schema
    if not isinstance(table, TableSchema):
        return []
    known = _PLANS.of(table, schema, lambda: list(_Comparison(table).of_schema(schema)))
    return [mismatch for mismatch in known if mismatch.problem in problems]


class _Comparison:
    """The comparison of the columns of a table with one file."""

    def __init__(self, table: TableSchema) -> None:
        self._table = table
        self._by_id = table.mode == "id"

    def of_schema(self, schema: Schema) -> Iterator[Mismatch]:
        """Yield all problems."""
        nodes = schema_tree(schema.elements).children
        return self._members(self._table.fields, nodes, is_telling=True)

    def _members(
        self, fields: Sequence[TableField], nodes: Sequence[SchemaNode], *, is_telling: bool
    ) -> Iterator[Mismatch]:
        """Yield the problems of the columns of a group; the lack of all columns is a problem only if ``is_telling``."""
        absent: list[TableField] = []
        for field in fields:
            node, is_called_so = self._looked_up(field, nodes)
            if node is None:
                absent.append(field)
                continue
            if not is_called_so:
                yield Mismatch(Problem.CASE, field, node.place, node.name)
            yield from self._field(field, node)
        is_left = len(absent) == len(fields) and is_telling and not any(map(self._was_there, nodes))
        nameless = {node.name: node for node in nodes if self._by_id and node.element.field_id is None}
        for field in absent:
            namesake = nameless.get(field.name.rpartition(".")[2])
            if field.is_required:
                yield Mismatch(Problem.ABSENT, field, -1, "none")
            elif namesake is not None:
                yield Mismatch(Problem.NOT_FOUND, field, namesake.place, "a column of its name without an id")
            elif is_left and nodes:
                yield Mismatch(Problem.NOT_FOUND, field, nodes[0].place, "columns of other names or ids")

    def _was_there(self, node: SchemaNode) -> bool:
        """Whether a column was ever part of the table, according to its id."""
        return 0 < (node.element.field_id or 0) <= self._table.last_id

    def _looked_up(self, field: TableField, nodes: Sequence[SchemaNode]) -> tuple[SchemaNode | None, bool]:
        """The column in a group, and whether its exact name or id matches."""
        if field.field_id is not None:
            of_id = next((node for node in nodes if node.element.field_id == field.field_id), None)
            if of_id is not None:
                return of_id, True
        named = [node for node in nodes if not self._by_id or node.element.field_id is None]
        exact = next((node for node in named if node.name in field.names), None)
        if exact is not None or self._by_id:
            return exact, True
        folded = {name.casefold() for name in field.names}
        return next((node for node in named if node.name.casefold() in folded), None), False

    def _field(self, field: TableField, node: SchemaNode, *, is_item: bool = False) -> Iterator[Mismatch]:
        """Compare a column; with ``is_item``, the repeated element of a list, which counts as one value."""
        if field.form == "open" or (node.is_leaf and logical_name(node.element) == "UNKNOWN"):
            return
        is_single = is_item or not node.is_repeated
        if field.held is not None and node.is_leaf and is_single:
            yield from self._leaf(field, node)
        elif field.form == "struct" and is_single and not (node.is_leaf or node.is_list or node.is_map):
            yield from self._members(field.members, node.children, is_telling=self._table.mode != "name")
        elif field.form == "list" and node.is_list and node.elements():
            inner = next(
                (item for item in node.elements() if _may_be(field.members[0], item)), node.elements()[0]
            )
            yield from self._field(field.members[0], inner, is_item=inner.is_repeated)
        elif field.form == "list" and node.is_repeated and not is_item:
            yield from self._field(field.members[0], node, is_item=True)
        elif field.form == "map" and node.is_map and len(node.pair()) == len(field.members):
            for member, part in zip(field.members, node.pair(), strict=True):
                yield from self._field(member, part)
        else:
            yield Mismatch(self._type(field), field, node.place, _form_of(node))

    def _leaf(self, field: TableField, node: SchemaNode) -> Iterator[Mismatch]:
        held_type = held_in(node.element)
        if held_type is None or field.held is None:
            return
        fits = fit(field.held, held_type)
        if fits is Fit.SAME or (fits is not Fit.OTHER and self._table.widens(field.held, held_type)):
            return
        problem = self._type(field) if fits is Fit.NOT else Problem.OTHER_TYPE
        yield Mismatch(problem, field, node.place, str(held_type))

    def _type(self, field: TableField) -> Problem:
        """The kind of problem for another type; it is milder for a column that is not read from the file."""
        return Problem.OTHER_TYPE if field.is_constant else Problem.TYPE


def _may_be(field: TableField, node: SchemaNode) -> bool:
    """Whether a column can be the element of a list, judged only by the names of members."""
    if node.is_leaf or node.is_list or node.is_map or field.form != "struct":
        return field.form != "struct" and (node.is_leaf or node.is_list or node.is_map)
    names = {name for member in field.members for name in (*member.names, member.name.rpartition(".")[2])}
    return any(child.name in names for child in node.children)


def _form_of(node: SchemaNode) -> str:
    if node.is_leaf:
        what = str(held_in(node.element) or "of an unknown type")
        return f"a list of {what}" if node.is_repeated else what
    return "a list" if node.is_list else "a map" if node.is_map else "a group"
