"""The observed severities of results, as keys for counting and in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pqassay.report.run.model import Result
from pqassay.report.run.outcomes import WRITER_SEVERITIES, WRITING, severity_name

OF_WRITER = "w"
"""The prefix of keys about writers."""


def sign_of(result: Result) -> str:
    """A key for counting results: the severity, with the prefix ``w`` if it has another meaning for writers."""
    if result.severity is None:
        return ""
    is_of_writer = result.operation in WRITING and result.severity in WRITER_SEVERITIES
    return f"{OF_WRITER * is_of_writer}{result.severity}"


def sign_words(sign: str) -> str:
    """The words of a key; empty for none."""
    if sign.startswith(OF_WRITER):
        return WRITER_SEVERITIES[int(sign.removeprefix(OF_WRITER))]
    return severity_name(int(sign)) if sign else ""


def observed_words(result: Result) -> str:
    """The observed severity of a result in words, which differ for writers; empty if it has none."""
    return sign_words(sign_of(result))


def observed_counts(results: Sequence[Result]) -> dict[str, int]:
    """The number of results with each key, the most severe first, including expected results."""
    found = Counter(sign for result in results if (sign := sign_of(result)))
    return {sign: found[sign] for sign in sorted(found, key=lambda one: (int(one.lstrip(OF_WRITER)), one))}
