"""The rules for readers that an answer breaks: among the rules that the case tests, those that fit the failure."""

from __future__ import annotations

from typing import Final

from pqassay.report.run.model import Result
from pqassay_spec.rules.catalogue import family_of
from pqassay_spec.rules.reader_cases import reader_rules_of

READING: Final = ("read", "scan", "decode")
"""Operations of readers."""

ROWS: Final = "PQF-145"
"""The rule that a reader returns the rows of the file."""

ERROR: Final = "PQF-146"
"""The rule that a reader raises an error for a part that it cannot read."""

SAME_ROWS: Final = "PQF-152"
"""The rule that the rows do not depend on the structures used for skipping."""

GENERAL: Final = (ROWS, ERROR, SAME_ROWS)

WHOLE_FILE: Final = "parquet_file"
"""The family whose rules are about reading; the other families are about skipping."""

NO_ANSWER: Final = (2, 5, 6)
"""Severities of crashes and of refusals by accident."""


def broken_reader_rules(result: Result) -> list[str]:
    """The rules for readers that a failure breaks, the most specific first; empty for failures of writers, linters and the driver.

    A crash, and an error that was not raised on purpose, break the rule about errors before any other. A reader that reads all rows does
    not skip, so it breaks no rule about skipping. If it returns the right rows without the index, it breaks no rule about reading.
    """
    if result.operation not in READING or result.severity is None or result.outcome == "protocol error":
        return []
    tested = reader_rules_of(result.case)
    if result.operation == "read":
        tested = tuple(rule for rule in tested if family_of(rule).module == WHOLE_FILE)
    if result.severity in NO_ANSWER:
        return [ERROR, *(rule for rule in tested if rule not in GENERAL)]
    by_the_index = result.query is not None and result.query.index == "by the index"
    general = {"read": ROWS, "scan": SAME_ROWS if by_the_index else ROWS}.get(result.operation)
    return [rule for rule in tested if rule not in GENERAL or rule == general]
