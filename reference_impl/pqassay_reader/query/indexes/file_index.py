"""The index of a whole file: whether its distinct values prove that no row can match.

A file is left unread only on the word of an index that may be trusted: its companion record agrees with it, or the caller
vouches for the writer.  In every other case, a damaged or stale index included, the file is read: an
index may save work, it may never decide more than it knows.

Source: chapter ``idx1.md``, sections "Reading exactly", "When it may be trusted" and "Security considerations".
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from pqassay_reader.condition.normal import ColumnTest, Condition, folded
from pqassay_reader.condition.rows import rows_of
from pqassay_reader.query.facts.footer_facts import FileFacts
from pqassay_reference.rewrite.extract import Extracted, Trust, index_of
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import Source
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.idx1 import companion as idx1_companion


class Verdict(NamedTuple):
    """What the index of a file says.

    Attributes:
        skips: True if it proves that no row matches; ``None`` if it has no say.
        message: Why it has none.
    """

    skips: bool | None
    message: str = ""


def file_index_verdict(
    source: Source, facts: FileFacts, condition: Condition, column: str | None, trust: Trust
) -> Verdict:
    """Ask the index of a file whether any row can match.

    Args:
        source: The file.
        facts: What its metadata says.
        condition: The condition.
        column: The column that an index without companion record describes, its path joined by dots.
        trust: Which index counts.
    """
    named = condition.columns
    described = _described_column(facts)
    if described is not None and described not in named:
        return Verdict(False, f"the index describes column {described}, of which nothing is asked")
    try:
        index = index_of(source, facts.framing, facts.metadata)
    except FormatError as error:
        return Verdict(None, str(error))
    if index.companion is not None:
        name = ".".join(index.companion.column)
        if len(index.companion.column) != 1:
            return Verdict(None, f"the index describes the nested column {name}")
        values = [*index.values, *[None] * bool(index.companion.null_count)]
        table = _one_column(facts.schema, name, values)

        def possible(test: ColumnTest) -> Any:
            # Where other columns decide, any of its values may be true.
            return rows_of(test, table) if test.column == name else np.ones(len(values), np.bool_)

        masks = folded(
            condition,
            possible,
            lambda parts: np.logical_and.reduce(list(parts)),
            lambda parts: np.logical_or.reduce(list(parts)),
        )
        return Verdict(not masks.any())
    if trust == "published" and column in facts.schema.names:
        return _decide_vouched(index, condition, column)
    return Verdict(None, index.mistrust or "the index has no companion record, and nobody vouches for it")


def _described_column(facts: FileFacts) -> str | None:
    """The column of the companion record; ``None`` where there is none that can be read."""
    for pair in facts.metadata.key_value_metadata or []:
        if pair.key == idx1.COMPANION_KEY and pair.value is not None:
            try:
                return ".".join(idx1_companion.parse_companion(pair.value).column)
            except FormatError:
                return None
    return None


def _decide_vouched(index: Extracted, condition: Condition, column: str) -> Verdict:
    """An index without companion record says nothing of nulls, and a value with a line feed is in it in pieces.

    So it can only prove the absence of given values that hold no line feed.
    """
    values = condition.values if isinstance(condition, ColumnTest) and condition.column == column else None
    points = None if values is None or values.null else values.points
    if points is None:
        return Verdict(None, f"without companion record, only = and in on {column} can be decided")
    if any(not isinstance(point, str) or idx1.SEPARATOR in point for point in points):
        return Verdict(None, "a value with a line feed cannot be looked up")
    return Verdict(not set(points) & set(index.values))


def _one_column(schema: pa.Schema, name: str, values: list[Any]) -> pa.Table:
    kind = schema.field(name).type
    flat = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.table({name: pa.array(values, pa.string()).cast(flat)})
