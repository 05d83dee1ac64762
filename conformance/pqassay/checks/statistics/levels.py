"""The check of the size statistics of column chunks against their levels, tier ``values``."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.checks.subjects import SIZE_STATISTICS
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.file import NotApplicable
from pqassay.under_test.violation import Violation


@rule("STA-046", of=SIZE_STATISTICS)
def histograms_count_the_levels(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Lists of another length are the matter of another rule."""
    from pqassay.values.levels import counts_of  # noqa: PLC0415 - numpy, at this tier only

    said = chunk.facts.size_statistics
    applies = False
    for name in ("repetition", "definition"):
        given = getattr(said, f"{name}_level_histogram")
        if not given:
            continue
        applies = True
        counts = counts_of(chunk)
        histogram = counts.repetition_histogram if name == "repetition" else counts.definition_histogram
        found: list[int] = histogram.sum(axis=0).tolist()
        if len(given) != len(found):
            continue
        for level, (count, right) in enumerate(zip(given, found, strict=True)):
            if count != right:
                yield Violation(
                    f"{right} {name} levels of the chunk are {level}, and its size statistics count {count}",
                    f"footer.{chunk.path}.meta_data.size_statistics.{name}_level_histogram[{level}]",
                    expected=str(right),
                    actual=str(count),
                )
    if not applies:
        raise NotApplicable
