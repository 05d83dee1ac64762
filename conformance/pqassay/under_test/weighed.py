"""The weighing of a file: for each column chunk whose values contradict claims, the side that is more likely wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal

from pqassay.report.weighing import Weighing, worst
from pqassay.under_test.file import FileUnderTest
from pqassay_spec.rules.catalogue import Rule

Topic = Literal["values", "counts"]
"""The topic of a claim: values, or counts of nulls, NaN and rows."""

OF_COUNTS = ("null", "nan_count", "nan_value_count", "num_rows", "first_row_index", "size_statistics")
"""Parts of field paths of claims about counts."""

MOST_WEIGHED = 8
"""The number of column chunks of one column that are weighed; others are probably wrong in the same way."""


def topic_of(field: str) -> Topic:
    """The topic of a claim, from the path of its field."""
    return "counts" if any(part in field.lower() for part in OF_COUNTS) else "values"


class Weighed:
    """The weighings of a file, available as ``file.part(Weighed)``.

    Attributes:
        problem: The error of weighing a chunk, if any: that chunk is then not judged.
    """

    problem: Exception | None = None

    def __init__(self, _: FileUnderTest) -> None:
        self._of_chunks: dict[tuple[str, int], Mapping[Topic, Weighing]] = {}
        self._count: Counter[str] = Counter()

    def wants(self, column: str) -> bool:
        """Whether another chunk of a column should be weighed."""
        return self._count[column] < MOST_WEIGHED

    def add(self, column: str, row_group: int, weighings: Mapping[Topic, Weighing]) -> None:
        """Add the weighings of a column chunk."""
        self._count[column] += 1
        self._of_chunks[column, row_group] = weighings

    def of(self, rule: Rule, column: str | None, row_groups: Iterable[int | None]) -> Weighing | None:
        """The weighing of the chunks of a column in which a rule is broken; ``None`` if nothing was weighed."""
        if column is None or not self._of_chunks:
            return None
        topic = topic_of(rule.field)
        chunks = (self._of_chunks.get((column, group), {}) for group in row_groups if group is not None)
        return worst(weighings[topic] for weighings in chunks if topic in weighings)
