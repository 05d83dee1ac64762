"""Lint of groups: what the levels of their leaves say about the lists and nulls that these share.

Source: apache/parquet-format, ``README.md``, section "Nested Encoding".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from pqassay_reference.columns.page_values import DataPage
from pqassay_spec.base.errors import Malformed
from pqassay_spec.parquet.encoding.list_levels import opened_levels, stray_entry
from pqassay_spec.parquet.schema.leaf_columns import SchemaGroup, SchemaLeaf
from pqassay_spec.parquet.schema.siblings import shared_group, shared_levels


def lint_groups(columns: Sequence[SchemaLeaf], pages: Mapping[int, Sequence[DataPage] | None]) -> None:
    """Raise PQF-140 if a leaf goes on with a list that is not there, PQF-126 if two leaves of a group tell of other lists or nulls.

    Args:
        columns: All leaves.
        pages: The pages of the chunks of a row group by leaf; ``None`` where they could not be decoded.
    """
    for number, leaf in enumerate(columns):
        found = pages.get(number)
        if found and leaf.max_repetition_level:
            _lint_lists(leaf, found)
    for number, (before, leaf) in enumerate(pairwise(columns), 1):
        group = shared_group(before, leaf)
        first, second = pages.get(number - 1), pages.get(number)
        if group is None or not first or not second:
            continue
        if _levels(first, group) != _levels(second, group):
            raise Malformed(
                f"{before.name} and {leaf.name} do not agree on the lists and nulls of their group",
                rule="PQF-126",
                field="pages",
            )


def _lint_lists(leaf: SchemaLeaf, pages: Sequence[DataPage]) -> None:
    repetition = [level for page in pages for level in page.repetition]
    definition = [level for page in pages for level in page.definition]
    place = stray_entry(repetition, definition, opened_levels(leaf))
    if place is not None:
        raise Malformed(
            f"entry {place} of {leaf.name} goes on with a list that is null, empty or not begun",
            rule="PQF-140",
            field="pages",
        )


def _levels(pages: Sequence[DataPage], group: SchemaGroup) -> list[tuple[int, int]]:
    return [pair for page in pages for pair in shared_levels(page.repetition, page.definition, group)]
