"""The surveys of the page bodies and the level counts of a chunk, for the rules about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.values.claims.audit import ValueAudit

if TYPE_CHECKING:
    from pqassay.values.decoding.levels import PageCounts
    from pqassay.values.decoding.survey import Survey


def survey_of(chunk: ColumnChunkUnderTest) -> Survey:
    """The survey of the bodies of a chunk's pages; see `pqassay.values.decoding.survey.survey`."""
    chunk.file.part(ValueAudit).run_with_surveys()
    from pqassay.values.decoding.survey import survey  # noqa: PLC0415 - numpy and pyarrow, at this tier only

    return chunk.part(survey)


def counts_of(chunk: ColumnChunkUnderTest) -> PageCounts:
    """The counts of a chunk's levels; see `pqassay.values.decoding.survey.counts_of`."""
    chunk.file.part(ValueAudit).run_with_surveys()
    from pqassay.values.decoding import survey  # noqa: PLC0415 - numpy and pyarrow, at this tier only

    return survey.counts_of(chunk)
