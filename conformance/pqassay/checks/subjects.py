"""Subjects of rules: kinds of structures, of which a file has none, one or many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from pqassay.under_test.chunks import ColumnChunks, ColumnChunkUnderTest, Structure
from pqassay.under_test.file import FileUnderTest
from pqassay.under_test.violation import Violation

Thing = TypeVar("Thing")


def _as_it_is(violation: Violation, _: object) -> Violation:
    return violation


@dataclass(frozen=True, eq=False)
class Subject(Generic[Thing]):
    """What rules are about.

    Attributes:
        name: What it is called.
        find: The things of this kind in a file; where there are none, its rules are not applicable. It raises like a test,
            for all of its rules.
        placed: Adds to a violation where its thing is, if the check did not say.
    """

    name: str
    find: Callable[[FileUnderTest], Sequence[Thing]]
    placed: Callable[[Violation, Thing], Violation] = _as_it_is


def _of_chunk(violation: Violation, chunk: ColumnChunkUnderTest) -> Violation:
    if violation.column is not None and violation.row_group is not None:
        return violation
    column = chunk.column if violation.column is None else violation.column
    row_group = chunk.row_group if violation.row_group is None else violation.row_group
    return replace(violation, column=column, row_group=row_group)


def _chunks_with(structure: Structure) -> Subject[ColumnChunkUnderTest]:
    return Subject(
        structure.replace("_", " "), lambda file: file.part(ColumnChunks).having(structure), _of_chunk
    )


FILE: Subject[FileUnderTest] = Subject("file", lambda file: [file])
"""The whole file, for rules about what it has once, or about several structures together."""

CHUNK = _chunks_with("chunk")
"""A column chunk whose metadata is not encrypted and whose pages are in this file."""

STATISTICS = _chunks_with("statistics")
"""A column chunk with statistics."""

SIZE_STATISTICS = _chunks_with("size_statistics")
"""A column chunk with size statistics."""

COLUMN_INDEX = _chunks_with("column_index")
"""A column chunk with a column index."""

OFFSET_INDEX = _chunks_with("offset_index")
"""A column chunk with an offset index."""

BLOOM_FILTER = _chunks_with("bloom_filter")
"""A column chunk with a bloom filter."""
