"""Checks that test one column chunk after the other.

`chunk_check` turns a test of one chunk into the check of a rule, so that a chunk that cannot be read hinders nobody from
judging the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from pqassay.checks import check
from pqassay.under_test.chunks import ColumnChunks, ColumnChunkUnderTest, Subject
from pqassay.under_test.file import FileUnderTest, NotApplicable, NotChecked
from pqassay.under_test.violation import Violation
from pqassay_spec.base.errors import FormatError, Unsupported

ChunkTest = Callable[[ColumnChunkUnderTest], Iterator[Violation]]
"""A test of one chunk; raises like a check."""


def chunk_check(
    rule_id: str,
    subject: Subject = "chunk",
    only: Callable[[ColumnChunkUnderTest], bool] | None = None,
    sound: Callable[[ColumnChunkUnderTest], bool] | None = None,
) -> Callable[[ChunkTest], ChunkTest]:
    """Register a test of one chunk as the check of a rule.

    Row group and column are filled in where a violation leaves them open.  A chunk that a test calls not applicable is
    passed over.  One that it cannot test leaves the rule not checked, unless it is broken elsewhere.

    Args:
        rule_id: The rule.
        subject: What a chunk must have to be tested; a file without such a chunk makes the rule not applicable.
        only: Which of these chunks are tested; it raises like a check. To pass over a chunk by it costs less than to raise
            `NotApplicable`.
        sound: A screen: a chunk that it calls sound keeps the rule and need not be tested. It never raises.
    """

    def register(test: ChunkTest) -> ChunkTest:
        @check(rule_id)
        def over_all(file: FileUnderTest) -> Iterator[Violation]:
            problem: FormatError | NotChecked | None = None
            chunks, applies = _to_test(file.part(ColumnChunks), subject, only, sound)
            broken = False
            for chunk in chunks:
                try:
                    if only is not None and not only(chunk):
                        continue
                    for violation in test(chunk):
                        broken = True
                        yield _of_chunk(violation, chunk)
                except NotApplicable:
                    continue
                except Unsupported:
                    raise
                except FormatError as error:
                    if error.rule not in (None, rule_id):
                        problem = problem or error
                        applies = True
                        continue
                    broken = True
                    yield _of_chunk(_from_error(error), chunk)
                except NotChecked as reason:
                    problem = problem or reason
                applies = True
            if not broken:
                _conclude(problem, applies=applies)

        return test

    return register


def _conclude(problem: FormatError | NotChecked | None, *, applies: bool) -> None:
    """Raise why a rule that no chunk breaks cannot be called kept."""
    if problem is not None:
        raise problem
    if not applies:
        raise NotApplicable


def _to_test(
    chunks: ColumnChunks,
    subject: Subject,
    only: Callable[[ColumnChunkUnderTest], bool] | None,
    sound: Callable[[ColumnChunkUnderTest], bool] | None,
) -> tuple[list[ColumnChunkUnderTest], bool]:
    """The chunks that have to be tested, and whether the rule applies to one that has not."""
    having = chunks.having(subject)
    if sound is None or len(suspects := chunks.suspects(subject, sound)) == len(having):
        return having, False
    return suspects, only is None or any(sound(chunk) and only(chunk) for chunk in having)


def _of_chunk(violation: Violation, chunk: ColumnChunkUnderTest) -> Violation:
    column = chunk.column if violation.column is None else violation.column
    row_group = chunk.row_group if violation.row_group is None else violation.row_group
    return replace(violation, column=column, row_group=row_group)


def _from_error(error: FormatError) -> Violation:
    return Violation(
        message=error.reason,
        field=error.field or "footer",
        offset=error.offset,
        length=error.length,
        expected=error.expected,
        actual=error.actual,
    )
