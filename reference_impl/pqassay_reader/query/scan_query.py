"""The query of a scan, which is the same for every file, and its settings.

Source: chapter ``scan.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa

from pqassay_reader.query.rungs import Rung
from pqassay_reference.columns.literals import Tree
from pqassay_reference.rewrite.extract import Trust

Metadata = Literal["footer", "pm"]
"""The source of the facts about a file: its own footer, or the ``_pm`` beside it."""


@dataclass(frozen=True)
class Query:
    """The query for all files.

    Attributes:
        predicate, columns, gap, limit, batch_size, trust, column, metadata: As in `pqassay_reader.query.scan.scan`.
        rungs: The rungs that are used.
        first_schema: The schema of the first file; a file that lacks one of its columns has nulls there.
        type_elsewhere: Returns the type of a column that only a later file has; ``None`` if no file has it.
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


__all__ = ["Metadata", "Query"]
