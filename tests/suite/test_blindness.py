"""The sweeps are not blind: a reader that believes a false field, or makes a known mistake, gives a wrong answer to some query of a case.

A damage that no query can show has its reason in ``blindness.toml``, beside this module.
"""

from __future__ import annotations

import contextlib
import functools
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from believed_file import BelievedFile, FakeFailure
from believing_reader import BelievingReader
from damage import EXAMPLES
from fakes_of_readers import BELIEFS, MISTAKES, Fake
from golden_cases import golden_cases
from pqassay.literals.predicate import IEEE, PredicateError, Semantics
from pqassay.literals.rows import rows_difference
from pqassay_reader.cli.driver import respond
from pqassay_reader.query.fetching import field_pages
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.golden.literals import Rows, Value
from pqassay_spec.idx1 import blob
from pqassay_spec.rules.catalogue import rules
from pqassay_suite.cases.case import GoldenCase
from pqassay_suite.cases.queries import MOST, CaseQuery
from pqassay_suite.drivers.inspector import Inspector
from pqassay_suite.drivers.protocol import Accept, IgnoredIndex, Reject, read_answer, to_json
from pqassay_suite.judging.bench import Bench
from pqassay_suite.judging.row_answers import judged_rows
from pqassay_suite.running.scanning import queries_about, records_of, scan_request, wanted_rows

pytestmark = pytest.mark.slow

SCANNED = [golden for golden in golden_cases() if golden.case.expect.scan is not None]
BASE: Fake = frozenset()

DAMAGED = [
    golden
    for golden in SCANNED
    if golden.case.expect.scan != "same-rows"
    and {rules()[rule].could for rule in golden.case.expect.check.rules} & {"rows lost", "wrong rows"}
]
"""The cases with a damage that can lose rows or give wrong ones to a reader that believes it."""

BLIND: dict[str, str] = {
    case: group["reason"]
    for group in tomllib.loads(Path(__file__).with_name("blindness.toml").read_text())["blind"]
    for case in group["cases"]
}


OF_RULES = {
    tuple(golden.case.expect.check.rules): golden.case.id for golden in DAMAGED if golden.case.id not in BLIND
}
TRIED = (
    DAMAGED
    if EXAMPLES == 1
    else [golden for golden in DAMAGED if golden.case.id in {*OF_RULES.values(), *sorted(BLIND)[::EXAMPLES]}]
)
"""A damage for each list of rules, and some of those that mislead none; all by `make damages`."""


def rows_of(golden: GoldenCase) -> Rows:
    """The rows of a case that is scanned, which has some."""
    assert golden.rows is not None
    return golden.rows


@functools.cache
def valid_files() -> list[tuple[GoldenCase, BelievedFile]]:
    """The files with structures that must be scanned rightly."""
    chosen = [
        golden for golden in SCANNED if golden.case.expect.scan == "same-rows" and golden.case.family != "PM"
    ]
    return [(golden, BelievedFile.of(golden)) for golden in chosen]


_QUERIES: dict[str, list[CaseQuery]] = {}
_WANTED: dict[tuple[str, int, Semantics], list[list[Value]]] = {}


def queries_of(golden: GoldenCase) -> list[CaseQuery]:
    """The queries of a case, which are chosen once for all fakes."""
    if golden.case.id not in _QUERIES:
        _QUERIES[golden.case.id] = queries_about(golden)
    return _QUERIES[golden.case.id]


def wanted(golden: GoldenCase, query: CaseQuery, semantics: Semantics = IEEE) -> list[list[Value]]:
    """The rows that a query must give; the query is one that `queries_of` keeps."""
    key = (golden.case.id, id(query), semantics)
    if key not in _WANTED:
        _WANTED[key] = wanted_rows(records_of(rows_of(golden)), query, semantics)
    return _WANTED[key]


def wrong_queries(golden: GoldenCase, file: BelievedFile, fake: Fake) -> Iterator[CaseQuery]:
    """The queries of a case that a fake answers wrongly; not to answer is wrong where a refusal earns nothing."""
    may_fail = golden.case.expect.scan == "refusal-allowed"
    reader = BelievingReader(file, fake)
    for query in queries_of(golden):
        try:
            if rows_difference(wanted(golden, query, reader.semantics), reader.rows(query)):
                yield query
        except PredicateError:
            continue
        except FakeFailure:
            if not may_fail:
                yield query


def is_misled(golden: GoldenCase, file: BelievedFile, good: BelievedFile | None, fake: Fake) -> bool:
    """Whether a fake is wrong about a case, and right about the same query of the file that it was made from."""
    for query in wrong_queries(golden, file, fake):
        if good is None or golden.parent is None or golden.parent.rows is None:
            return True
        reader = BelievingReader(good, fake)
        try:
            if not rows_difference(wanted(golden.parent, query, reader.semantics), reader.rows(query)):
                return True
        except FakeFailure:
            continue
    return False


def misled_by_structures(golden: GoldenCase) -> str | None:
    """What one believes who is misled by the structures of a Parquet file; ``None`` without such a one."""
    if golden.case.family == "PM":
        return None
    try:
        file = BelievedFile.of(golden)
    except (FakeFailure, FormatError):
        return None
    good = BelievedFile.of(golden.parent) if golden.parent is not None else None
    return next((name for name, fake in BELIEFS.items() if is_misled(golden, file, good, fake)), None)


def misled_by_values(golden: GoldenCase) -> str | None:
    """Whether one is misled who reads the values of an IDX1 index as published, and believes that there are no others."""
    if golden.case.family != "IDX1":
        return None
    file, column = BelievedFile.of(golden), golden.case.column or rows_of(golden).names()[0]
    offsets = [pair.value or "" for pair in file.metadata.key_value_metadata or [] if pair.key == blob.KEY]
    try:
        values = blob.read_published(BytesSource(file.data), offsets[0])
    except FormatError:
        return None
    for query in queries_of(golden):
        operator, name, *rest = query.predicate
        if (operator, name) == ("=", column) and str(rest[0]) not in values and wanted(golden, query):
            return "published values"
    return None


def misled_reference(golden: GoldenCase, folder: Path, inspector: Inspector) -> str | None:
    """Whether the reference is misled: by its ``_pm``, by an index that it is told to trust, or by pages that it decodes."""
    may_fail = golden.case.expect.scan == "refusal-allowed"
    bench = Bench(golden, folder, inspector)
    bench.hand_over()
    asked = queries_of(golden)
    request = json.loads(to_json(scan_request(bench, asked, "on")))
    for query, answer in zip(asked, respond(request, trust="published"), strict=True):
        found = read_answer(json.dumps(answer).encode(), "scan", strict=True)
        if isinstance(found, Reject):
            if not may_fail:
                return "reference refuses"
            continue
        assert isinstance(found, Accept | IgnoredIndex)
        if not judged_rows(golden, wanted(golden, query), found, "").right:
            return "reference"
    return None


@pytest.fixture(scope="module")
def noticed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str | None]:
    """The readers that each damage misleads."""
    found: dict[str, str | None] = {}
    with pytest.MonkeyPatch.context() as patch, contextlib.closing(Inspector()) as inspector:
        # What is left of the reference's distrust of an offset index: it looks where lists begin.
        patch.setattr(field_pages, "_require_rows", lambda *_: None)
        for golden in TRIED:
            found[golden.case.id] = (
                misled_by_structures(golden)
                or misled_by_values(golden)
                or misled_reference(golden, tmp_path_factory.mktemp("case"), inspector)
            )
    return found


def test_every_damage_misleads_somebody_who_believes_it_or_a_reason_says_why_none(
    noticed: dict[str, str | None],
) -> None:
    unnoticed = {case for case, who in noticed.items() if who is None}

    assert ([], []) == (sorted(unnoticed - set(BLIND)), sorted(BLIND.keys() & noticed.keys() - unnoticed))
    assert BLIND.keys() <= {golden.case.id for golden in DAMAGED}


def test_every_belief_is_needed(noticed: dict[str, str | None]) -> None:
    assert sorted(set(BELIEFS) - set(noticed.values())) == []


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_of_readers_shows_in_a_valid_file(name: str) -> None:
    assert any(
        next(wrong_queries(golden, file, MISTAKES[name]), None) is not None for golden, file in valid_files()
    )


def test_who_makes_no_mistake_is_right_about_every_valid_file() -> None:
    wrong = [golden.case.id for golden, file in valid_files() if any(wrong_queries(golden, file, BASE))]

    assert [] == wrong


def test_a_run_asks_at_most_sixteen_queries_a_case_and_fewer_than_nine_thousand_in_all() -> None:
    counts = {golden.case.id: len(queries_of(golden)) for golden in SCANNED}

    assert max(counts.values()) <= MOST
    assert 6_000 <= sum(counts.values()) <= 9_000


def test_queries_are_the_same_every_time() -> None:
    golden = next(one for one in SCANNED if one.case.id == "pix/histograms")

    assert queries_about(golden) == queries_about(golden)


@pytest.mark.parametrize(
    ("case", "predicate"),
    [
        ("pix/histograms", ["or", ["=", "word", "i"], ["is null", "row"]]),
        ("interop/arrow-rs-59.0.0/pages", ["in", "open", [True, False]]),
        ("interop/datafusion-55.0.0/pages", ["in", "open", [True, False]]),
    ],
)
def test_queries_that_found_defects_of_readers_are_asked(case: str, predicate: list[Any]) -> None:
    golden = next(one for one in SCANNED if one.case.id == case)

    assert predicate in [query.predicate for query in queries_about(golden)]
