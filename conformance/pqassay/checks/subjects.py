"""Subjects of rules: the kinds of structures that a file may have, each any number of times."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from pqassay.under_test.chunks import HAS, ColumnChunks, ColumnChunkUnderTest, Structure
from pqassay.under_test.file import FileUnderTest
from pqassay.under_test.footer_parts import RowGroupUnderTest, listed
from pqassay.under_test.schemas.shown_releases import chunks_counting_nan
from pqassay.under_test.violation import Suspects, Violation
from pqassay.values.claims.audit import ValueAudit
from pqassay_spec.parquet.schema.leaf_columns import SchemaGroup
from pqassay_spec.parquet.schema.siblings import shared_group

Thing = TypeVar("Thing")


def _as_it_is(violation: Violation, _: object) -> Violation:
    return violation


def _always(_: object) -> bool:
    return True


@dataclass(frozen=True, eq=False)
class Subject(Generic[Thing]):
    """A kind of thing that rules are about.

    Attributes:
        name: Its name.
        find: Finds the things of this kind in a file. Its errors count for all rules of the subject.
        placed: Adds the place of the thing to a violation, if the check did not.
        agrees_if_empty: Whether its rules are kept, instead of not applicable, if there are no such things. For example, two files without row groups agree in all of them.
        of_schema: Whether its rules depend only on the schema.
        shape: A key that is equal for things with the same results of all rules; ``None`` without such a key. It never raises.
        suspects: The things that a screen selects for each rule, by rule id; ``None`` if it cannot screen this file.
        alike_by: The properties that make column chunks alike, if rules are tested on examples of them.
        is_about: Whether a column chunk is one of the things.
    """

    name: str
    find: Callable[[FileUnderTest], Sequence[Thing]]
    placed: Callable[[Violation, Thing], Violation] = _as_it_is
    agrees_if_empty: bool = False
    of_schema: bool = False
    shape: Callable[[Thing], Hashable | None] | None = None
    suspects: Callable[[FileUnderTest], Mapping[str, Suspects[Thing]] | None] | None = None
    alike_by: Literal["footer", "index"] | None = None
    is_about: Callable[[Any], bool] = _always


def _of_chunk(violation: Violation, chunk: ColumnChunkUnderTest) -> Violation:
    if violation.column is not None and violation.row_group is not None:
        return violation
    column = chunk.column if violation.column is None else violation.column
    row_group = chunk.row_group if violation.row_group is None else violation.row_group
    return replace(violation, column=column, row_group=row_group)


def _chunks_with(
    structure: Structure, alike_by: Literal["footer", "index"] | None = None
) -> Subject[ColumnChunkUnderTest]:
    return Subject(
        structure.replace("_", " "),
        lambda file: file.part(ColumnChunks).having(structure),
        _of_chunk,
        alike_by=alike_by,
        is_about=HAS[structure],
    )


def _with_footer(file: FileUnderTest) -> list[FileUnderTest]:
    _ = file.metadata
    return [file]


def _row_groups(file: FileUnderTest) -> list[RowGroupUnderTest]:
    return listed(file, "row_groups", file.metadata.row_groups)


def _of_row_group(violation: Violation, group: RowGroupUnderTest) -> Violation:
    return replace(violation, row_group=group.number)


FILE: Subject[FileUnderTest] = Subject("file", lambda file: [file])
"""The whole file, for rules about structures that occur once, or about several structures together."""

FOOTER: Subject[FileUnderTest] = Subject("footer", _with_footer)
"""The file, if its footer can be decoded."""

SCHEMA: Subject[FileUnderTest] = Subject("schema", _with_footer, of_schema=True)
"""The file, if its footer can be decoded, for rules about the schema as a whole."""

ROW_GROUP = Subject("row group", lambda file: file.part(_row_groups), _of_row_group)
"""A row group in the footer; a summary's row groups are in other files."""

OWN_ROW_GROUP = Subject(
    "own row group", lambda file: [] if file.is_summary else ROW_GROUP.find(file), _of_row_group
)
"""A row group of a file that is not a summary of others."""

CHUNK = Subject("chunk", lambda file: file.part(ColumnChunks).all, _of_chunk, alike_by="footer")
"""A column chunk whose metadata is not encrypted and whose pages are in this file."""


class Siblings(NamedTuple):
    """A column chunk, the one before it in its row group, and the innermost group of their leaves."""

    before: ColumnChunkUnderTest
    chunk: ColumnChunkUnderTest
    group: SchemaGroup


def _siblings(file: FileUnderTest) -> list[Siblings]:
    leaves = file.leaves
    shared = {
        ordinal: group
        for ordinal, leaf in enumerate(leaves)
        if ordinal and leaf.parent.parent is not None
        if (group := shared_group(leaves[ordinal - 1], leaf)) is not None
    }
    if not shared:
        return []
    chunks = file.part(ColumnChunks).all
    return [
        Siblings(before, chunk, shared[chunk.ordinal])
        for before, chunk in pairwise(chunks)
        if chunk.ordinal in shared
        and (before.row_group, before.ordinal) == (chunk.row_group, chunk.ordinal - 1)
    ]


SIBLINGS: Subject[Siblings] = Subject(
    "siblings", _siblings, lambda violation, siblings: _of_chunk(violation, siblings.chunk)
)
"""Two neighboring column chunks of one group that is a list or nullable, or lies in such a group."""

STATISTICS = _chunks_with("statistics", "footer")
"""A column chunk with statistics."""

COUNTING_NAN = Subject("nan counts", lambda file: file.part(chunks_counting_nan), _of_chunk)
"""A floating-point column chunk of a file whose footer shows that its writer knew nan_count."""

SIZE_STATISTICS = _chunks_with("size_statistics", "footer")
"""A column chunk with size statistics."""

COLUMN_INDEX = _chunks_with("column_index", "index")
"""A column chunk with a column index."""

OFFSET_INDEX = _chunks_with("offset_index", "index")
"""A column chunk with an offset index."""

BLOOM_FILTER = _chunks_with("bloom_filter", "footer")
"""A column chunk with a bloom filter."""

PAGES = _chunks_with("pages")
"""A column chunk with pages, found by walking from header to header; or one whose walk fails, which raises the error."""

DATA_PAGES = _chunks_with("data_pages")
"""A column chunk with data pages, or one whose walk fails."""

DICTIONARY_PAGES = _chunks_with("dictionary_pages")
"""A column chunk with a dictionary page, or one whose walk fails."""

SECOND_VERSION = _chunks_with("second_version")
"""A column chunk with data pages of version 2, or one whose walk fails."""

VALUES: Subject[ValueAudit] = Subject("values", lambda file: [file.part(ValueAudit)])
"""All values of the file, decoded once and compared with the claims about them."""
