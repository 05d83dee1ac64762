"""Checks of the types in ``ARROW:schema`` against the values of their columns, tier ``values``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from pqassay.checks.parquet_file.schema_copies import arrow_rule
from pqassay.checks.value_rules import value_rule
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.fields import Field
from pqassay.under_test.file import Broken, FileUnderTest, NotChecked
from pqassay.under_test.schemas.arrow_copy import Limit, arrow_limits
from pqassay.under_test.violation import Violation
from pqassay.values.claims.audit import ValueAudit
from pqassay.values.claims.value_rules import Claim, ComparedBy, TrueOfAnyValues
from pqassay.values.claims.wording import named, others
from pqassay_spec.parquet.schema.tree import SchemaNode, schema_tree

if TYPE_CHECKING:
    from pqassay.values.decoding.chunk_values import ChunkValues


class Limited(NamedTuple):
    """A limit that a copy of the schema claims for the values of a column, with its field."""

    field: Field
    limit: Limit


def _limits(file: FileUnderTest) -> dict[int, list[Limited]]:
    """The limits in all readable copies, by the position of the column; for a list, those of its first column."""
    limits: dict[int, list[Limited]] = {}
    ordinals = {
        place: ordinal
        for ordinal, place in enumerate(
            place for place, element in enumerate(file.metadata.schema) if element.type is not None
        )
    }
    for pair in arrow_rule.subject.find(file):
        with suppress(Broken, NotChecked):
            arrow_rule.require_readable(pair)
            for limit in arrow_limits(pair.part.value or "", schema_tree(file.metadata.schema)):
                node = limit.node
                while not node.is_leaf:
                    node = node.children[0]
                limits.setdefault(ordinals[node.place], []).append(Limited(pair.field / "value", limit))
    return limits


def _has_limits(audit: ValueAudit) -> bool:
    return bool(audit.file.part(_limits))


@value_rule("PQF-185", only=_has_limits)
def values_fit_the_types_of_arrow(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """Readers that follow the copy refuse the column, and some end in a panic."""
    for limited in chunk.file.part(_limits).get(chunk.ordinal, []):
        if limited.limit.is_length:
            yield ComparedBy(partial(_off_length, limited))
        elif chunk.facts.num_values > limited.limit.number:
            yield ComparedBy(partial(_too_many, limited))
        else:
            yield TrueOfAnyValues()


def _distinct(values: ChunkValues) -> Any:
    return values.distinct()


def _too_many(limited: Limited, values: ChunkValues) -> Iterator[Violation]:
    most = limited.limit.number
    distinct = len(values.remembered(_distinct))
    if distinct <= most:
        return
    yield Violation(
        (
            f"{named(values.chunk)} has {distinct} distinct values, but ARROW:schema allows a "
            f"dictionary of {most}"
        ),
        limited.field,
        expected=f"{most} distinct values at most",
        actual=str(distinct),
    )


def _off_length(limited: Limited, values: ChunkValues) -> Iterator[Violation]:
    from pqassay.values.decoding.nested_columns import lengths_at, path_to  # noqa: PLC0415 - numpy, at this tier only

    node, length = limited.limit.node, limited.limit.number
    root: SchemaNode = schema_tree(values.chunk.file.metadata.schema)
    off = lengths_at(path_to(root, node.place), values.nested, length)
    if off is not None:
        yield Violation(
            f"row {off.row} of {named(values.chunk)} has a list of length {off.length}, but "
            f"ARROW:schema fixes the length at {length}{others(off.total, 'list', 'lists')}",
            limited.field,
            expected=f"lists of {length}",
            actual=str(off.length),
        )
