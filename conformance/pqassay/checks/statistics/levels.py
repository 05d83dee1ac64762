"""The check of the size statistics of column chunks against their levels, tier ``values``."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.checks.subjects import SIZE_STATISTICS
from pqassay.checks.surveys import counts_of
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.file import NotApplicable
from pqassay.under_test.violation import Violation


@rule("STA-046", of=SIZE_STATISTICS)
def histograms_count_the_levels(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Another rule judges the length of the lists."""
    sizes = chunk.facts.size_statistics
    if sizes is None or not (sizes.repetition_level_histogram or sizes.definition_level_histogram):
        raise NotApplicable
    counts = counts_of(chunk)
    for name, histogram, counted in (
        ("repetition", sizes.repetition_level_histogram, counts.repetition_histogram),
        ("definition", sizes.definition_level_histogram, counts.definition_histogram),
    ):
        found: list[int] = counted.sum(axis=0).tolist() if histogram else []
        if not histogram or len(histogram) != len(found):
            continue
        for level, (count, right) in enumerate(zip(histogram, found, strict=True)):
            if count != right:
                message = (
                    f"{right} {name} levels of the chunk are {level}, and its size statistics count {count}"
                )
                field = chunk.fields.sizes / f"{name}_level_histogram[{level}]"
                yield Violation(message, field, str(right), str(count))
