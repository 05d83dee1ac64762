"""The check of the groups around several leaves, about whose lists and nulls they must agree, tier ``values``."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.checks.by_values import survey_of
from pqassay.checks.subjects import SIBLINGS, Siblings
from pqassay.under_test.violation import Violation
from pqassay_spec.grammar.hexdump import show


@rule("PQF-126", of=SIBLINGS)
def leaves_of_a_group_agree(siblings: Siblings) -> Iterator[Violation]:
    """Readers take the lists and nulls of a group from one of its leaves, and not all from the same one."""
    chunk = siblings.chunk
    found = [survey_of(other) for other in (siblings.before, chunk)]
    if not all(survey.counts.values.sum() for survey in found):
        return  # without pages there are no levels: PQF-074 counts their rows
    first, second = (survey.shapes.of(siblings.group) for survey in found if survey.shapes is not None)
    if first != second:
        group = show(siblings.group.name)
        said = f"{siblings.before.column} and {chunk.column} do not agree on where {group} has lists or nulls"
        field = chunk.fields.body(chunk.data_pages[0])
        yield Violation(said, field, f"the levels of {siblings.before.column}", "others")
