"""The commands that mend a file whose IDX1 index is broken.

A new index is better than none, so where the column is known, it is made anew.  Where it is not known, or its
values are what IDX1 cannot hold, the index is removed: the file then reads equal and promises nothing.
"""

from __future__ import annotations

import shlex

from pqassay.checks import remedies_of
from pqassay.checks.idx1 import EmbeddedIndex
from pqassay.file_under_test import FileUnderTest, NotApplicable, NotChecked
from pqassay_spec import idx1
from pqassay_spec.errors import FormatError
from pqassay_spec.parquet_schema import is_string

HOPELESS = ("IDX1-013", "IDX1-015")
"""Rules that are broken where IDX1 cannot hold the values of the column."""

ABOUT_THE_COLUMN = "IDX1-018"
"""The rule that is broken where the column that somebody named is not there."""

ABOUT_ONE_KEY = {
    "IDX1-020": idx1.COMPANION_KEY,
    "IDX1-031": idx1.LENGTH_KEY,
    "IDX1-032": idx1.LENGTH_KEY,
}
"""Rules about a key without which the index is as good as before."""

OVERLAP = "IDX1-009"


@remedies_of("IDX1")
def remedy(file: FileUnderTest, rule: str) -> str:
    """The command for a broken rule; empty where the mistake may be the user's."""
    index = file.part(EmbeddedIndex)
    if rule == ABOUT_THE_COLUMN and file.options.idx1_column is not None:
        return ""
    if rule in ABOUT_ONE_KEY:
        return strip_command(file, "--key", ABOUT_ONE_KEY[rule])
    if rule == OVERLAP:
        return strip_command(file, "--idx1", *_displaced(index))
    column = None if rule in (*HOPELESS, ABOUT_THE_COLUMN) else _known_column(file, index)
    return strip_command(file, "--idx1") if column is None else embed_command(file, column)


def strip_command(file: FileUnderTest, *options: str) -> str:
    """Remove the index, or what the options say."""
    return shlex.join(["pqassay-ref", "strip", _argument(file), *options])


def embed_command(file: FileUnderTest, column: str) -> str:
    """Make the index anew."""
    return shlex.join(["pqassay-ref", "embed", _argument(file), "--column", column])


def _argument(file: FileUnderTest) -> str:
    name = file.source.name
    return f"./{name}" if name.startswith("-") else name


def _known_column(file: FileUnderTest, index: EmbeddedIndex) -> str | None:
    """The column that the user or a well-formed companion record names, if an index can describe it."""
    try:
        name = file.options.idx1_column or ".".join(index.companion.column)
        found = [leaf for leaf in file.leaves if leaf.is_called(name)]
    except (FormatError, NotApplicable, NotChecked):
        return None
    fits = len(found) == 1 and is_string(found[0]) and not found[0].max_repetition_level
    return name if fits else None


def _displaced(index: EmbeddedIndex) -> list[str]:
    """Options for structures that were written behind the blob by a writer that did not count its bytes.

    All of their offsets are too small by the length of the blob, so that the first of them is said to begin where
    the blob begins.  What was displaced like that is lost; the pages themselves are not.
    """
    blob = index.blob
    if not any(other.start == blob.start for other in index.overlapping(blob.start, blob.end)):
        return []
    behind = {other.kind for other in index.file.ranges if other.start >= blob.start}
    options = {"--bloom-filters": {"bloom filter"}, "--page-index": {"column index", "offset index"}}
    return [option for option, kinds in options.items() if kinds & behind]
