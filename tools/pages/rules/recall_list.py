"""The list of all tried kinds of false facts, with a filter: the rules that find them, or why some are not found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from recall_answers import OF_FILES, OF_TABLES, SHOWN, UNSEEN, Kept, class_of, reason_of

from pages.page import Site

HERE = "recall.html"


class Row(NamedTuple):
    """The kinds of changes of a field with the same answer.

    Attributes:
        subject: ``file`` or ``table``.
        field: Path of the field.
        answer: The answer, one of `SHOWN`; *valid* for a change that keeps the file valid.
        changes: The changes of the field.
        writers: The writers of files with the field.
        findings: The greatest number of rules that FAIL after one change.
        rules: The rules that answer most often.
        reasons: Why it is not found, or has more than one finding.
    """

    subject: str
    field: str
    answer: str
    changes: list[str]
    writers: list[str]
    findings: int
    rules: list[str]
    reasons: list[str]


def rows(subject: str, kept: Kept) -> Iterator[Row]:
    """Yield a row for each field and answer."""
    grouped: dict[tuple[str, str], Row] = {}
    for kind, answers in kept.answers.items():
        for writer, answer in answers.items():
            name = class_of(kind, answer, kept.reasons)
            row = grouped.setdefault((kind.field, name), Row(subject, kind.field, name, [], [], 0, [], []))
            unseen = reason_of(kind, kept.reasons) if answer.name == UNSEEN else None
            several = reason_of(kind, kept.reasons_of_several) if answer.findings > 1 else None
            row.changes.append(kind.change)
            row.writers.append(writer)
            row.rules.extend(answer.rules)
            row.reasons.extend(reason.reason for reason in (unseen, several) if reason)
            grouped[kind.field, name] = row._replace(findings=max(row.findings, answer.findings))
    yield from grouped.values()


def lines(site: Site) -> Iterator[str]:
    """Yield the list and its filter as HTML."""
    every = [*rows("file", OF_FILES), *rows("table", OF_TABLES)]
    writers = list(dict.fromkeys(writer for row in every for writer in row.writers))
    yield site.render(
        "recall_list.html",
        HERE,
        rows=every,
        subjects=[("file", "file"), ("table", "table")],
        answers=[(name.lower(), name) for name in SHOWN],
        writers=[(writer.lower(), writer) for writer in writers],
    )
