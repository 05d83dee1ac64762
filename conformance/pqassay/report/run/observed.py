"""The observation of results, as keys to count by and in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pqassay.report.run.model import Result
from pqassay.report.run.outcomes import WRITER_SEVERITIES, WRITING, severity_name

OF_WRITER = "w"
"""The beginning of a sign that is about a writer."""


def sign_of(result: Result) -> str:
    """A key to count results by: the severity, with the prefix ``w`` if it has another meaning for writers."""
    if result.severity is None:
        return ""
    is_of_writer = result.operation in WRITING and result.severity in WRITER_SEVERITIES
    return f"{OF_WRITER * is_of_writer}{result.severity}"


def sign_words(sign: str) -> str:
    """The words of a sign; empty for none."""
    if sign.startswith(OF_WRITER):
        return WRITER_SEVERITIES[int(sign.removeprefix(OF_WRITER))]
    return severity_name(int(sign)) if sign else ""


def observed_words(result: Result) -> str:
    """The observed severity of a result in words, which differ for writers; empty for none."""
    return sign_words(sign_of(result))


def observed_counts(results: Sequence[Result]) -> dict[str, int]:
    """How many results have each sign, the gravest first, expected or not."""
    found = Counter(sign for result in results if (sign := sign_of(result)))
    return {sign: found[sign] for sign in sorted(found, key=lambda one: (int(one.lstrip(OF_WRITER)), one))}
