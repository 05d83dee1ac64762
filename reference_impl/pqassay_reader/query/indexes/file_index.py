"""The index of a whole file: whether its distinct values prove that no row can match.

A file is skipped only because of a trusted index: its companion record agrees with it, or the caller trusts
the writer.  In every other case, including a damaged or stale index, the file is read: an index may save work,
but never excludes more than it proves.

Source: chapter ``idx1.md``, sections "Reading exactly", "When it may be trusted" and "Security considerations".
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from pqassay_reader.condition.normal import Condition
from pqassay_reader.pages.excluding import EVERY, FileSets
from pqassay_reader.pages.whole_files import FileValues, WholeFiles
from pqassay_reader.query.facts.footer_facts import FileFacts
from pqassay_reference.rewrite.extract import Trust, index_of
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import Source
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.idx1 import companion as idx1_companion


class Verdict(NamedTuple):
    """The verdict of a file's index.

    Attributes:
        skips: Whether it proves that no row matches; ``None`` if it was not used.
        message: Why it was not used.
    """

    skips: bool | None
    message: str = ""


def file_index_verdict(
    source: Source,
    facts: FileFacts,
    condition: Condition,
    named: Collection[str],
    column: str | None,
    trust: Trust,
) -> Verdict:
    """Use the index of a file to decide whether any row can match.

    Args:
        source: The file.
        facts: Its metadata.
        condition: The condition.
        named: The columns of the file that the condition names.
        column: The column of an index without companion record, as a path joined by dots.
        trust: The trusted indexes.
    """
    described = _described_column(facts)
    if described is not None and described not in named:
        return Verdict(False, f"the index describes column {described}, which is not in the condition")
    try:
        index = index_of(source, facts.framing, facts.metadata)
    except FormatError as error:
        return Verdict(None, str(error))
    record = index.companion
    if record is None and (trust != "published" or column not in facts.schema.names or column not in named):
        return Verdict(None, index.mistrust or "the index has no companion record, and is not trusted")
    name = (column or "") if record is None else ".".join(record.column)
    if record is not None and len(record.column) != 1:
        return Verdict(None, f"the index describes the nested column {name}")
    may_be_null = record is None or bool(record.null_count)
    sets = WholeFiles.of(facts.schema, [FileValues(name, 0, index.values, may_be_null, record is None)])
    if record is None and not (condition.columns == {name} and sets.decides(condition)):
        return Verdict(None, f"without companion record, only = and in on {name} can be decided")
    return Verdict(not FileSets({name: [sets]}, np.zeros(1, np.int64)).row_groups(condition, EVERY).any())


def _described_column(facts: FileFacts) -> str | None:
    """The column of the companion record; ``None`` if there is no readable record."""
    for pair in facts.metadata.key_value_metadata or []:
        if pair.key == idx1.COMPANION_KEY and pair.value is not None:
            try:
                return ".".join(idx1_companion.parse_companion(pair.value).column)
            except FormatError:
                return None
    return None
