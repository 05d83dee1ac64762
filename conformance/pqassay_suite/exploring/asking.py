"""Asking a driver one question, and what is wrong with its answer."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pqassay.literals.predicate import PredicateError, Semantics
from pqassay.report.run.model import Operation
from pqassay_suite.cases.file_facts import facts_of
from pqassay_suite.drivers import protocol
from pqassay_suite.drivers.driver import DriverUnderTest, NoAnswer, Reply
from pqassay_suite.drivers.protocol import Accept, HelloAnswer, IgnoredIndex, Index, Reject
from pqassay_suite.exploring.drawn_file import DrawnColumn, DrawnFile, Question, QuestionError
from pqassay_suite.exploring.kinds import KINDS
from pqassay_suite.judging.bench import described
from pqassay_suite.judging.causes import cause_of, is_accident
from pqassay_suite.judging.row_answers import judged_rows

CODECS = {"none": "", "snappy": "codec.snappy", "gzip": "codec.gzip", "zstd": "codec.zstd", "lz4": "codec.lz4-raw", "brotli": "codec.brotli"}  # fmt: skip
"""Codecs as pyarrow calls them, and the capability that each takes."""

FAMILIES = ("BLM", "PIX", "STA", "PQF")
"""Families by which a scan may be asked, the one with most to skip by first."""


@dataclass(frozen=True)
class Difference:
    """What is wrong with an answer.

    Attributes:
        cause: In the words that results of `pqassay suite run` have for it.
        fault: The same in two words.
        details: Rows that differ, or the message; other details are still the same cause.
    """

    cause: str
    fault: str
    details: str


class Asker:
    """Puts questions to a driver that has answered ``hello``."""

    def __init__(self, driver: DriverUnderTest, hello: HelloAnswer) -> None:
        self.driver, self.hello = driver, hello
        self.semantics = Semantics(hello.nan, hello.zeros)
        self.asked = 0
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._kinds: list[str] = []

    def close(self) -> None:
        """End the driver, and remove its files."""
        self.driver.close()
        self._folder.cleanup()

    def can(self, operation: Operation, family: str, needs: Sequence[str] = ()) -> bool:
        """Whether the driver declares what this takes."""
        return not protocol.missing_capability(operation, family, [], needs, self.hello.capabilities)

    @property
    def family(self) -> str | None:
        """The family by which it scans; ``None`` if it reads alone."""
        return next((family for family in FAMILIES if self.can("scan", family)), None)

    @property
    def kinds(self) -> list[str]:
        """The kinds of columns that it declares."""
        self._kinds = self._kinds or [
            name for name in KINDS if self.can("read", "PQF", capabilities_of(name))
        ]
        return self._kinds

    @property
    def codecs(self) -> list[str]:
        """The codecs that it declares."""
        return [name for name, need in CODECS.items() if self.can("read", "PQF", [need] if need else [])]

    def differences(self, questions: Sequence[Question]) -> list[Difference | None]:
        """What is wrong with the answers to questions about one file; ``None`` for each that is right or not supported.

        Raises:
            QuestionError: The file cannot be written.
        """
        return self.differences_of(questions[0].file.written(), questions)

    def differences_of(self, data: bytes, questions: Sequence[Question]) -> list[Difference | None]:
        """The same, where the bytes of the file are there already."""
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
                    wrong[place] = self._blamed(wrong[place], by_index=other is None)
            return wrong
        finally:
            path.unlink(missing_ok=True)

    def _blamed(self, difference: Difference | None, *, by_index: bool) -> Difference | None:
        if difference is None or difference.fault not in ("rows missing", "rows too many", "other rows"):
            return difference
        blame = "by the index" if by_index else "without it too"
        return Difference(f"{difference.cause}, {blame}", difference.fault, difference.details)

    def _differences(
        self, path: Path, questions: Sequence[Question], index: Index
    ) -> list[Difference | None]:
        scans = [place for place, question in enumerate(questions) if question.predicate is not None]
        replies: dict[int, Reply] = {}
        folder = Path(self._folder.name)
        if scans:
            queries = [
                protocol.Query(seq, questions[seq].asked, list(questions[seq].columns), index)
                for seq in scans
            ]
            request = protocol.ScanRequest(
                protocol.PROTOCOL, "scan", self.family or "PQF", str(path), queries
            )
            replies |= dict(zip(scans, self.driver.ask_queries(request, folder), strict=True))
        for place, question in enumerate(questions):
            if question.predicate is None:
                read = protocol.ReadRequest(protocol.PROTOCOL, "read", str(path), list(question.columns))
                replies[place] = self.driver.ask(read, folder)
        return [self._difference(question, replies[place], path) for place, question in enumerate(questions)]

    def _difference(self, question: Question, reply: Reply, path: Path) -> Difference | None:
        operation: Operation = "read" if question.predicate is None else "scan"
        family = self.family or "PQF"
        if isinstance(reply, NoAnswer):
            if reply.outcome == "unsupported":
                return None
            cause = cause_of(
                operation, reply.outcome, reply.reason, actual=None, stderr=reply.stderr, family=family
            )
            return Difference(cause, "a crash" if reply.outcome == "crashed" else "no answer", reply.reason)
        if isinstance(reply, Reject):
            message = described(reply).replace(str(path), "data.parquet").replace(path.name, "data.parquet")
            cause = cause_of(operation, "failed", "", actual=message, stderr=None, family=family)
            return Difference(
                cause, "a refusal by accident" if is_accident(reply.raised) else "a refusal", message
            )
        if not isinstance(reply, Accept | IgnoredIndex):
            return None
        try:
            judgement = judged_rows(question.truth(self.semantics), reply, "")
        except PredicateError:
            return None
        if judgement.right:
            return None
        fault = fault_of(judgement.actual)
        return Difference(f"{operation} of {family}: wrong rows", fault, judgement.actual)


def fault_of(details: str) -> str:
    """In which way rows differ.

    >>> fault_of('1 row missing: ["a"]'), fault_of('1 row missing: ["a"]; 1 row too many: ["b"]')
    ('rows missing', 'other rows')
    """
    missing, many = " missing: " in details, " too many: " in details
    return "other rows" if missing == many else "rows missing" if missing else "rows too many"


@cache
def capabilities_of(name: str) -> tuple[str, ...]:
    """What a reader must declare to be asked about columns of a kind."""
    kind = KINDS[name]
    try:
        return facts_of(DrawnFile((DrawnColumn("c", name, kind.pool[:1]),)).written()).needs
    except QuestionError:  # of a pyarrow that cannot write it
        return ("no such kind",)
