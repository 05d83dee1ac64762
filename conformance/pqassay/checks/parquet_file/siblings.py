"""The check that the leaves of a group agree about its lists and nulls, tier ``values``."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.checks.subjects import SIBLINGS, Siblings
from pqassay.checks.surveys import survey_of
from pqassay.under_test.violation import Violation
from pqassay_spec.grammar.hexdump import show


@rule("PQF-126", of=SIBLINGS)
def leaves_of_a_group_agree(siblings: Siblings) -> Iterator[Violation]:
    """Readers take the lists and nulls of a group from one of its leaves, but not all readers use the same leaf."""
    chunk = siblings.chunk
    surveys = [survey_of(other) for other in (siblings.before, chunk)]
    if not all(survey.counts.values.sum() for survey in surveys):
        return  # without pages there are no levels: PQF-074 counts their rows
    first, second = (survey.shapes.of(siblings.group) for survey in surveys)
    if first != second:
        group, before = show(siblings.group.name), siblings.before.column
        message = f"{before} and {chunk.column} do not agree on where {group} has lists or nulls"
        yield Violation(message, chunk.fields.body(chunk.data_pages[0]), f"the levels of {before}", "others")
