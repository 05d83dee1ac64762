"""Ask a driver one question, and find the errors in its answer."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

from pqassay.literals.predicate import PredicateError, Semantics
from pqassay.literals.rows import digest, rows_difference
from pqassay.report.run.outcomes import Operation
from pqassay_spec.golden.literals import Value
from pqassay_suite.cases.file_facts import facts_of
from pqassay_suite.drivers import protocol
from pqassay_suite.drivers.capabilities import missing_capability
from pqassay_suite.drivers.driver import DriverUnderTest, NoAnswer, Reply
from pqassay_suite.drivers.protocol import Accept, HelloAnswer, IgnoredIndex, Index, Reject
from pqassay_suite.exploring.drawn_file import DrawnColumn, DrawnFile, Question, QuestionError, columns_asked
from pqassay_suite.exploring.kinds import KINDS
from pqassay_suite.judging.bench import described
from pqassay_suite.judging.causes import Accidents, cause_of, refusal_of
from pqassay_suite.judging.differences import Selection, difference_of_rows
from pqassay_suite.judging.row_answers import rows_of

CODECS = {"none": "", "snappy": "codec.snappy", "gzip": "codec.gzip", "zstd": "codec.zstd", "lz4": "codec.lz4-raw", "brotli": "codec.brotli"}  # fmt: skip
"""Codecs by their names in pyarrow, with the capability that each needs."""

WITHOUT = "without it too"
"""The blame of a scan that is just as wrong without the index."""

FAMILIES = ("BLM", "PIX", "STA", "PQF")
"""Families for scans; the family with the most structures for skipping comes first."""


@dataclass(frozen=True)
class WrongAnswer:
    """The error of an answer.

    Attributes:
        cause: In the words of the results of `pqassay suite run`.
        fault: The cause in two words.
        details: Rows that differ, or the message; they may differ for the same cause.
        is_of_rows: Whether there are rows, and these are wrong.
        blame: Whether the rows of a scan are right without the index.
    """

    cause: str
    fault: str
    details: str
    is_of_rows: bool = False
    blame: str = ""

    def is_like(self, other: WrongAnswer) -> bool:
        """Whether another one may come from the same defect: the values that differ depend on the file."""
        if not (self.is_of_rows and other.is_of_rows):
            return self.cause == other.cause
        return self.blame == other.blame


class Asker:
    """Asks questions to a driver that has answered ``hello``."""

    def __init__(self, driver: DriverUnderTest, hello: HelloAnswer) -> None:
        self.driver, self.hello = driver, hello
        self.semantics = Semantics(hello.nan, hello.zeros)
        self._accidents = Accidents(hello.raises)
        self.asked = 0
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)

    def close(self) -> None:
        """End the driver, and remove its files."""
        self.driver.close()
        self._folder.cleanup()

    def can(self, operation: Operation, family: str, needs: Sequence[str] = ()) -> bool:
        """Whether the driver declares the necessary capabilities."""
        return not missing_capability(operation, family, [], needs, self.hello.capabilities, self.hello.lacks)

    @cached_property
    def family(self) -> str | None:
        """The family for scans; ``None`` if the driver only reads."""
        return next((family for family in FAMILIES if self.can("scan", family)), None)

    @cached_property
    def kinds(self) -> list[str]:
        """The kinds of columns that it declares."""
        return [name for name in KINDS if self.can("read", "PQF", capabilities_of(name))]

    @property
    def codecs(self) -> list[str]:
        """The codecs that it declares."""
        return [name for name, need in CODECS.items() if self.can("read", "PQF", [need] if need else [])]

    def differences(self, questions: Sequence[Question]) -> list[WrongAnswer | None]:
        """The errors in the answers to questions about one file; ``None`` for an answer that is right or not supported.

        Raises:
            QuestionError: The file cannot be written.
        """
        data = questions[0].file.written()
        self.asked += 1
        path = Path(
            self._folder.name, f"{self.asked}.parquet"
        )  # another name each time, so that nothing is answered from a cache
        path.write_bytes(data)
        try:
            wrong = self._differences(path, questions, "on")
            scans = [
                place
                for place, each in enumerate(wrong)
                if each is not None and questions[place].predicate is not None
            ]
            if scans:
                without = self._differences(path, [questions[place] for place in scans], "off")
                for place, other in zip(scans, without, strict=True):
                    wrong[place] = self._blamed(wrong[place], is_right=other is None)
            return wrong
        finally:
            path.unlink(missing_ok=True)

    def _blamed(self, difference: WrongAnswer | None, *, is_right: bool) -> WrongAnswer | None:
        """The error of a scan, with the result of the same query without the index."""
        if difference is None or not difference.is_of_rows:
            return difference
        if not is_right:
            return replace(difference, blame=WITHOUT)
        blame = "by the index" if self.hello.index_off else "of the filter"
        return replace(difference, blame=blame, cause=f"{difference.cause}, {blame}")

    def _differences(
        self, path: Path, questions: Sequence[Question], index: Index
    ) -> list[WrongAnswer | None]:
        scans = [place for place, question in enumerate(questions) if question.predicate is not None]
        replies: dict[int, Reply] = {}
        folder = Path(self._folder.name)
        types = {column.name: column.kind for column in questions[0].file.columns}
        if scans:
            queries = [
                protocol.Query(seq, questions[seq].asked, list(questions[seq].columns), index)
                for seq in scans
            ]
            request = protocol.ScanRequest(
                protocol.PROTOCOL, "scan", self.family or "PQF", str(path), queries, types=types
            )
            replies |= dict(zip(scans, self.driver.ask_queries(request, folder), strict=True))
        for place, question in enumerate(questions):
            if question.predicate is None:
                read = protocol.ReadRequest(
                    protocol.PROTOCOL, "read", str(path), list(question.columns), types
                )
                replies[place] = self.driver.ask(read, folder)
        return [self._difference(question, replies[place], path) for place, question in enumerate(questions)]

    def _difference(self, question: Question, reply: Reply, path: Path) -> WrongAnswer | None:
        operation: Operation = "read" if question.predicate is None else "scan"
        names = [column.name for column in question.file.columns]
        if isinstance(reply, NoAnswer):
            if reply.outcome == "unsupported":
                return None
            cause = cause_of(
                operation, reply.outcome, reply.reason, actual=None, stderr=reply.stderr, names=names
            )
            return WrongAnswer(cause, "a crash" if reply.outcome == "crashed" else "no answer", reply.reason)
        if isinstance(reply, Reject):
            message = reply.message.replace(str(path), "data.parquet").replace(path.name, "data.parquet")
            fault = "a refusal by accident" if self._accidents.include(reply.raised) else "a refusal"
            shown = described(replace(reply, message=message))
            return WrongAnswer(refusal_of(reply.raised, message, names), fault, shown)
        if not isinstance(reply, Accept | IgnoredIndex):
            return None
        try:
            return _of_rows(question, question.truth(self.semantics), reply)
        except PredicateError:
            return None


def _of_rows(
    question: Question, wanted: list[list[Value]], answer: Accept | IgnoredIndex
) -> WrongAnswer | None:
    came = rows_of(answer)
    if came is None:
        if answer.digest == digest(wanted):
            return None
        return WrongAnswer("wrong rows: another digest", "other rows", f"digest {answer.digest}", True)
    if not (details := rows_difference(wanted, came)):
        return None
    compared = columns_asked(question.predicate)
    rows = question.file.rows
    selection = Selection(
        [[row[name] for name in question.columns] for row in rows],
        [[row[name] for name in compared] for row in rows],
    )
    words = difference_of_rows(wanted, came, selection if compared else None).words
    missing, many = " missing: " in details, " too many: " in details
    fault = "other rows" if missing == many else "rows missing" if missing else "rows too many"
    return WrongAnswer(f"wrong rows: {words}", fault, details, True)


@cache
def capabilities_of(name: str) -> tuple[str, ...]:
    """The capabilities that a reader must declare for columns of a kind."""
    kind = KINDS[name]
    try:
        return facts_of(DrawnFile((DrawnColumn("c", name, kind.pool[:1]),)).written()).needs
    except QuestionError:  # of a pyarrow that cannot write it
        return ("no such kind",)
