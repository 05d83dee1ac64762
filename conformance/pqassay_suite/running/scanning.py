"""The operation ``scan``: many queries about one case, and their combined result.

Every query is asked with the index.  If the answer is wrong, the query is repeated without the index, and on
the valid parent. This separates the effect of an index from errors of the reader itself.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from pqassay.literals.predicate import PredicateError, Semantics, columns_of, keeps
from pqassay.report.run.model import Exposure, QueryResult
from pqassay.report.run.outcomes import Blame, ExposureVerdict
from pqassay_spec.golden.case import Case
from pqassay_spec.golden.literals import Rows, Value
from pqassay_suite.cases.case import GoldenCase
from pqassay_suite.cases.file_facts import FileFacts
from pqassay_suite.cases.queries import MOST, CaseQuery, queries
from pqassay_suite.drivers import protocol
from pqassay_suite.drivers.driver import DriverUnderTest, NoAnswer, Reply
from pqassay_suite.drivers.protocol import IgnoredIndex, Index, Reject, Unsupported
from pqassay_suite.judging.bench import RIGHT, Bench, Judgement, refusal, refused
from pqassay_suite.judging.causes import ACCIDENTS, Accidents, Fault
from pqassay_suite.judging.differences import Selection, cause_of_answer
from pqassay_suite.judging.pins import pin_of
from pqassay_suite.judging.row_answers import counted, judged_rows, types_of

MOST_QUERIES: Mapping[str, int] = {"PQF": 5, "IDX1": 6, "STA": 10, "PM": 8, "DIR": 6}
"""Most queries about a case, for families whose files mostly have no page index; such a file needs fewer queries."""

MOST_HANGS = 2
"""Number of timeouts among the queries of a case after which no more are asked, because each may take the full time of a request."""

NOT_ASKED = NoAnswer("crashed", f"not asked after {MOST_HANGS} queries that took too long", timed_out=True)

GRAVITY: Sequence[Fault] = ("crashed", "protocol", "wrong", "refused", "declined", "accepted", "accident")
"""Faults, the gravest first."""


@dataclass(frozen=True)
class KnownQuery:
    """A query and its right rows, among these records of the file."""

    query: CaseQuery
    rows: Sequence[Sequence[Value]]
    records: Sequence[Mapping[str, Value]] = field(default=(), repr=False)

    def selection(self) -> Selection:
        """The rows that the query selects from."""
        names = columns_of(self.query.predicate)
        rows = [[record[name] for name in self.query.columns] for record in self.records]
        return Selection(
            rows, [[record[name] for name in names if name in record] for record in self.records]
        )


@dataclass(frozen=True)
class Judged:
    """A query and its result.

    Attributes:
        known: The query.
        judgement: Whether the answer is right.
        no_answer: The reason why there is no answer.
        is_unsupported: Whether the library does not support the query.
        is_not_known: Whether the driver reported that by exit status 3: it does not support scans of this family.
        is_left_aside: Whether the index was not used.
        pin: The pin of an answer that is not right; see `pqassay_suite.judging.pins`.
        before: The earlier, wrong outcome, if the answer became right in a fresh process.
    """

    known: KnownQuery
    judgement: Judgement = RIGHT
    no_answer: NoAnswer | None = None
    is_unsupported: bool = False
    is_not_known: bool = False
    is_left_aside: bool = False
    pin: str = ""
    before: Judged | None = None

    @property
    def query(self) -> CaseQuery:
        """The query."""
        return self.known.query

    @property
    def is_right(self) -> bool:
        """Whether the answer is right."""
        return self.judgement.right and self.no_answer is None

    @property
    def fault(self) -> Fault:
        """The kind of error."""
        if self.no_answer is not None:
            return "crashed" if self.no_answer.outcome == "crashed" else "protocol"
        return self.judgement.fault

    @property
    def told(self) -> str:
        """The actual answer, in words that are the same for equal errors."""
        return self.no_answer.reason if self.no_answer is not None else self.judgement.actual


def queries_about(golden: GoldenCase) -> list[CaseQuery]:
    """The queries about a case; for a damaged file, they are derived from its valid parent."""
    rows, good, mutation = golden.rows, golden.parent or golden, golden.case.mutation
    if rows is None:
        return []
    story = golden.case.expect.predicate or good.case.expect.predicate
    column = damaged_column(golden.case, golden.facts) or golden.case.column or good.case.column
    few = MOST_QUERIES.get(golden.case.family, MOST)
    most = MOST if golden.facts.has_choice and not mutation else few
    found = queries(rows, golden.facts, column, story, most)
    if mutation is None or "null" not in mutation.path:
        return found
    return [replace(query, decides=query.decides or column in (None, query.predicate[1])) for query in found]


def damaged_column(case: Case, facts: FileFacts) -> str | None:
    """The top-level column in which a case differs from its parent; ``None`` if the damage is not in a single column."""
    found = _COLUMN.search(case.mutation.path) if case.mutation is not None else None
    place = int(found[1]) if found else len(facts.leaves)
    return facts.leaves[place] if place < len(facts.leaves) else None


_COLUMN = re.compile(r"(?:\bcolumns|column_chunks|column_descriptors|column_orders)\[(\d+)\]")
"""The part of a path that names a column by its position among the leaves."""


def records_of(rows: Rows) -> list[dict[str, Value]]:
    """Rows as mappings from the names of their columns."""
    names = rows.names()
    return [dict(zip(names, values, strict=True)) for values in rows.values()]


def wanted_rows(
    records: Sequence[Mapping[str, Value]], query: CaseQuery, semantics: Semantics
) -> list[list[Value]]:
    """The right rows of a query, under the comparisons that the driver declares."""
    return [
        [record[name] for name in query.columns]
        for record in records
        if keeps(query.predicate, record, semantics)
    ]


class Scanning:
    """Scans of one case, by all of its queries or by the first `most` of them; exchanges are kept in a folder, if one is given."""

    def __init__(
        self,
        driver: DriverUnderTest,
        golden: GoldenCase,
        semantics: Semantics,
        most: int | None = None,
        kept: Path | None = None,
        *,
        switches_off: bool = False,
        accidents: Accidents = ACCIDENTS,
    ) -> None:
        self.switches_off, self.accidents = switches_off, accidents
        self.driver, self.golden, self.semantics, self.kept = driver, golden, semantics, kept
        self._hangs = self._exchanges = 0
        self._spoils = False
        self.queries = list(islice(self._known(queries_about(golden)), most))

    def _known(self, asked: Sequence[CaseQuery]) -> Iterator[KnownQuery]:
        """The queries with known answers: values without an order are not compared."""
        records = records_of(self.golden.rows or Rows([], []))
        for query in asked:
            try:
                yield KnownQuery(query, wanted_rows(records, query, self.semantics), records)
            except PredicateError:
                continue

    def ask(self) -> list[Judged]:
        """The results of all queries with the index; bad answers are retried in a fresh process, if this one had answered before.

        The first query that decides is asked again at the end: what a reader remembers of a file must not change its answer.
        """
        decisive = next((place for place, known in enumerate(self.queries) if known.query.decides), 0)
        judged = self._asked(self.golden, [*self.queries, *self.queries[decisive : decisive + 1]], "on")
        repeated = judged.pop() if judged else None
        if repeated and not repeated.is_right and all(one.no_answer is None for one in judged):
            judged[decisive] = repeated
        if any(not one.is_right for one in judged) and self.driver.may_ask_again():
            again = iter(self._asked_again([one.known for one in judged if not one.is_right]))
            asked = [(one, one if one.is_right else next(again)) for one in judged]
            judged = [
                replace(now, before=one) if now.is_right and now is not one else now for one, now in asked
            ]
            if any(one.before is not None for one in judged):
                self.driver.is_unstable = True
        return judged

    def _asked_again(self, wrong: Sequence[KnownQuery]) -> list[Judged]:
        """The results of queries in a fresh process.

        If the last one fails in another way when it is asked alone, a failure spoils the next answer: from then on, each is asked alone.
        """
        self.driver.start_afresh()
        found = self._asked(self.golden, wrong, "on")
        failed = [(known, one.told) for known, one in zip(wrong, found, strict=True) if not one.is_right]
        if len(failed) > 1 and self._hangs < MOST_HANGS:
            self.driver.start_afresh()
            (alone,) = self._asked(self.golden, [failed[-1][0]], "on")
            self._spoils = alone.told != failed[-1][1]
        return self._asked(self.golden, wrong, "on") if self._spoils else found

    def blames(self, wrong: Sequence[Judged]) -> list[Blame | None]:
        """For each wrong answer, whether it is right without the index, and whether the index or a filter causes the error."""
        right: Blame = "by the index" if self.switches_off else "of the filter"
        found = self._asked(self.golden, [one.known for one in wrong], "off")
        return [
            None if one.no_answer is NOT_ASKED else right if one.is_right else "without it too"
            for one in found
        ]

    def inherited(self, wrong: Sequence[Judged]) -> list[bool]:
        """For each wrong answer, whether the answer about the valid parent is equally wrong."""
        if self.golden.parent is None or self.golden.rows != self.golden.parent.rows:
            return [False] * len(wrong)
        parents = self._asked(self.golden.parent, [one.known for one in wrong], "on")
        return [
            not parent.is_right and (parent.fault, parent.told) == (one.fault, one.told)
            for parent, one in zip(parents, wrong, strict=True)
        ]

    def _asked(self, golden: GoldenCase, asked: Sequence[KnownQuery], index: Index) -> list[Judged]:
        if self._spoils:
            return [one for known in asked for one in self._asked_together(golden, [known], index)]
        return self._asked_together(golden, asked, index) if asked else []

    def _asked_together(self, golden: GoldenCase, asked: Sequence[KnownQuery], index: Index) -> list[Judged]:
        if self._spoils:
            self.driver.start_afresh()
        if self._hangs >= MOST_HANGS:
            return [Judged(known, no_answer=NOT_ASKED) for known in asked]
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
            bench = Bench(golden, Path(name), self.driver.inspector, self.accidents)
            bench.hand_over()
            request = scan_request(bench, [known.query for known in asked], index)
            replies = self.driver.ask_queries(request, bench.folder)
            self._exchanges += 1
            about = "" if golden is self.golden else "-parent"
            bench.keep(self.kept, self.golden.case.id, request, f"scan-{self._exchanges}{about}")
            self._hangs += any(isinstance(reply, NoAnswer) and reply.timed_out for reply in replies)
            judged = [_judged(bench, known, reply) for known, reply in zip(asked, replies, strict=True)]
            return [_without_folder(one, bench) for one in judged]


def _judged(bench: Bench, known: KnownQuery, reply: Reply) -> Judged:
    """The verdict on one answer."""
    judged = _verdict(bench, known, reply)
    return judged if judged.is_right else replace(judged, pin=pin_of(reply))


def _verdict(bench: Bench, known: KnownQuery, reply: Reply) -> Judged:
    if isinstance(reply, NoAnswer):
        if reply.outcome == "unsupported":
            return Judged(known, is_unsupported=True, is_not_known=True)
        return Judged(known, no_answer=reply)
    if isinstance(reply, Unsupported):
        return Judged(known, is_unsupported=True)
    if isinstance(reply, Reject):
        is_right = bench.case.expect.scan == "refusal-allowed"
        judged = refusal(reply, bench.accidents) if is_right else refused(reply, "rows", bench.accidents)
        if judged.right:
            return Judged(known, judged)
        return Judged(known, replace(judged, cause=cause_of_answer(bench.golden, "scan", judged, reply)))
    words = f"{counted(len(known.rows))} with {json.dumps(known.query.predicate, ensure_ascii=False)}"
    judged = judged_rows(bench.golden, known.rows, reply, words, known.selection)
    return Judged(known, judged, is_left_aside=isinstance(reply, IgnoredIndex))


def _without_folder(one: Judged, bench: Bench) -> Judged:
    """The judgement in words that are the same in the next run, and for another file with an equal error."""
    if one.is_right:
        return one
    if (none := one.no_answer) is not None:
        stderr = none.stderr and bench.without_folder(none.stderr)
        return replace(one, no_answer=replace(none, reason=bench.without_folder(none.reason), stderr=stderr))
    return replace(one, judgement=replace(one.judgement, actual=bench.without_folder(one.judgement.actual)))


def scan_request(bench: Bench, asked: Sequence[CaseQuery], index: Index) -> protocol.ScanRequest:
    """The request for some queries of a case."""
    return protocol.ScanRequest(
        protocol.PROTOCOL,
        "scan",
        bench.case.family,
        str(bench.input),
        [protocol.Query(seq, query.predicate, query.columns, index) for seq, query in enumerate(asked)],
        bench.case.column,
        types_of(bench.golden),
    )


def worst(judged: Sequence[Judged]) -> Judged:
    """The gravest of some wrong answers; the first if several are equal."""
    return min(judged, key=lambda one: GRAVITY.index(one.fault))


def exposure_of(case: Case, judged: Sequence[Judged], blames: Mapping[int, Blame | None]) -> Exposure:
    """The effect of a well-formed lie on a reader.

    Args:
        case: The case.
        judged: All queries.
        blames: By the positions of wrong answers. An answer that is also wrong without the index is not caused
            by the lie; if that is unknown because the driver hangs, it may be.
    """
    misled = [
        one for place, one in enumerate(judged) if place in blames and blames[place] != "without it too"
    ]
    if not misled:
        able = [one for one in judged if not one.is_unsupported]
        decides = any(one.query.decides for one in able)
        return Exposure(case.id, case.family, "right" if decides else "unsupported", len(able), 0)
    one = worst(misled)
    verdicts: dict[Fault, ExposureVerdict] = {
        "crashed": "crashed",
        "protocol": "crashed",
        "refused": "refused",
        "declined": "refused",
    }
    verdict = verdicts.get(one.fault, "wrong rows" if "too many" in one.told else "rows lost")
    rows = [other for other in misled if other.fault == "wrong"]
    return Exposure(case.id, case.family, verdict, len(judged), len(rows), one.query.predicate, one.told)


def query_result(one: Judged, judged: Sequence[Judged], blame: Blame | None) -> QueryResult:
    """The result of the worst query, for the report."""
    wrong = sum(not other.is_right for other in judged)
    return QueryResult(one.query.predicate, one.query.columns, len(judged), wrong, blame)
