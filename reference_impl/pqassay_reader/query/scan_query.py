"""The query of a scan: what is asked of every file, and how it is to be answered.

Source: chapter ``scan.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa

from pqassay_reader.query.explained.text import Trace
from pqassay_reader.query.rungs import Rung
from pqassay_reference.columns.literals import Tree
from pqassay_reference.rewrite.extract import Trust

Metadata = Literal["footer", "pm"]
"""Where the facts about a file come from: its own footer, or the ``_pm`` beside it."""


@dataclass(frozen=True)
class Query:
    """What is asked of all files.

    Attributes:
        predicate, columns, gap, limit, batch_size, trust, column, metadata: As for `pqassay_reader.query.scan.scan`.
        rungs: The rungs that are used.
        first_schema: The schema of the first file; a file that lacks one of its columns has nulls there.
        type_elsewhere: The type of a column that only a later file has; ``None`` if none has it.
        trace: Where it is kept what was done; ``None`` to keep nothing.
    """

    predicate: Tree | None
    columns: Sequence[str] | None
    rungs: frozenset[Rung]
    gap: int | None
    limit: int | None = None
    batch_size: int | None = None
    trust: Trust = "companion"
    column: str | None = None
    metadata: Metadata = "footer"
    first_schema: pa.Schema | None = None
    type_elsewhere: Callable[[str], Any] = lambda _name: None
    trace: Trace | None = None


__all__ = ["Metadata", "Query"]
