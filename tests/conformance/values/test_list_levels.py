"""Entries go on with lists that are there: PQF-140."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pqassay.values.decoding.faults import FaultKind, PageFault
from pqassay.values.decoding.levels import Runs, read_runs
from pqassay.values.decoding.list_levels import ListLevels
from pqassay_spec.parquet.encoding.levels import bit_width, packed_run
from pqassay_spec.parquet.encoding.list_levels import opened_levels, stray_entry
from pqassay_spec.parquet.schema.leaf_columns import SchemaGroup, SchemaLeaf
from pqassay_spec.parquet.thrift import SchemaElement

ROOT = SchemaGroup(None, "", 0, 0, 0, 0)
OUTER = SchemaGroup(SchemaGroup(ROOT, "l", 1, 2, 1, 0), "list", 2, 7, 2, 1)
INNER = SchemaGroup(SchemaGroup(OUTER, "element", 3, 15, 3, 1), "list", 4, 20, 4, 2)
LEAF = SchemaLeaf(INNER, SchemaElement(name="element"), 5, 2)
"""Levels of optional lists of optional lists of optional values."""

entries = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 5)), min_size=1, max_size=12)


def _runs(levels: list[int], greatest: int) -> Runs:
    width = bit_width(greatest)
    return read_runs(packed_run(levels, width=width), width=width, count=len(levels))


def _found(*pages: list[tuple[int, int]]) -> list[PageFault | None]:
    lists = ListLevels(LEAF)
    return [
        lists.first_stray(_runs([level for level, _ in page], 2), _runs([level for _, level in page], 5))
        for page in pages
    ]


def test_a_list_has_entries_from_the_level_of_its_repeated_group_on() -> None:
    assert opened_levels(LEAF) == (2, 4)


def test_a_repeated_leaf_is_a_list() -> None:
    assert opened_levels(SchemaLeaf(ROOT, SchemaElement(name="n"), 1, 1)) == (1,)


@given(st.lists(entries, min_size=1, max_size=3))
def test_the_fast_decision_is_that_of_the_specification(pages: list[list[tuple[int, int]]]) -> None:
    repetition = [level for page in pages for level, _ in page]
    definition = [level for page in pages for _, level in page]
    expected = stray_entry(repetition, definition, opened_levels(LEAF))
    before, actual = 0, None
    for page, stray in zip(pages, _found(*pages), strict=True):
        if stray is not None and actual is None:
            actual = before + stray.place
        before += len(page)
    assert expected == actual


def test_what_goes_on_with_a_null_or_with_nothing_is_told() -> None:
    inner, null, nothing = (
        PageFault(FaultKind.STRAY_ENTRY, needed, 5, place, (found,))
        for needed, place, found in ((4, 2, "2"), (2, 0, "0"), (2, 0, "nothing"))
    )
    assert [inner] == _found([(0, 5), (1, 2), (2, 5)])
    assert [None, null] == _found([(0, 0)], [(1, 5)])
    assert [nothing] == _found([(1, 5)])


def test_what_follows_a_page_that_cannot_be_read_may_go_on() -> None:
    lists = ListLevels(LEAF)
    lists.skip_page()
    assert lists.first_stray(_runs([1, 0], 2), _runs([5, 0], 5)) is None
