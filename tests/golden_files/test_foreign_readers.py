"""Six engines that know nothing of this project find the rows of every valid golden file that its manifest says.

They find them with all that the file says about its values, and in a copy that says none of it: without statistics, page index,
bloom filters and embedded index.  What an engine gets wrong on a good file is known, by engine and case, and must go on being wrong.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from damage import EXAMPLES
from elsewhere import ElsewhereEngine
from engine_limits import EXCEPTIONS, UNSAFE, columns
from engines import (
    ENGINES,
    WHOLE,
    Engine,
    Limit,
    Query,
    Rows,
    Tagged,
    Where,
    cell,
    engine,
    expected,
    literal,
    parameters,
)
from places import GOLDEN_FILES
from pqassay_reference.rewrite.strip import Selection, strip_file

pytestmark = pytest.mark.slow

CAN_CRASH = ("fastparquet",)
"""Engines that run in a process of their own."""


@dataclass(frozen=True)
class Case:
    """A valid Parquet file, its rows column by column, and the predicate of its manifest."""

    id: str
    path: Path
    columns: dict[str, list[Any]]
    literal: bool
    predicate: Where | None

    _expected: dict[Query, Rows] = field(default_factory=dict[Query, Rows], compare=False, repr=False)

    def expected(self, query: Query) -> Rows:
        """The rows that a query finds, which are the same for every engine."""
        if query not in self._expected:
            self._expected[query] = expected(self.columns, query)
        return self._expected[query]


def of_one_column(predicate: list[Any]) -> Where:
    """A condition, or of several that are joined the last: each query asks of one column."""
    name, *parts = predicate
    return (
        of_one_column(parts[-1]) if name == "and" else Where(parts[0], name, tuple(map(literal, parts[1:])))
    )


def valid_cases() -> Iterator[Case]:
    """The valid cases that are Parquet files."""
    for manifest in sorted(GOLDEN_FILES.rglob("case.json")):
        record = json.loads(manifest.read_text())
        path = manifest.parent / record["input"]["file"]
        if record["kind"] != "valid" or path.suffix != ".parquet":
            continue
        rows, predicate = (record["expect"].get(member) for member in ("rows", "predicate"))
        yield Case(
            record["id"],
            path,
            pq.read_table(path).to_pydict() if rows is None else columns(rows),
            rows is not None,
            None if predicate is None else of_one_column(predicate),
        )


CASES = list(valid_cases())


EVERYTHING = Selection(idx1=True, bloom_filters=True, column_index=True, offset_index=True, statistics=True)


@pytest.fixture(scope="module")
def stripped(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """By case that readers of copies read, a copy that says nothing about its values."""
    folder = tmp_path_factory.mktemp("stripped")
    found: dict[str, Path] = {}
    for case in CASES:
        found[case.id] = folder / f"{case.id.replace('/', ' ')}.parquet"
        strip_file(case.path, EVERYTHING, output=found[case.id], values_are_right=True)
    return found


SCHEMAS: dict[str, str] = {}
"""By case, read once for all readers."""


def groups(cases: Iterable[Case]) -> list[list[Case]]:
    """The cases by schema."""
    found: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        found[schema_of(case)].append(case)
    return list(found.values())


def schema_of(case: Case) -> str:
    """The schema of a case; where pyarrow does not know it, one of its own."""
    if case.id not in SCHEMAS:
        try:
            SCHEMAS[case.id] = str(pq.read_schema(case.path).remove_metadata())
        except OSError:
            SCHEMAS[case.id] = case.id
    return SCHEMAS[case.id]


def is_plain(value: Any) -> bool:
    """Whether engines take a value for a literal of the column's type, and it is equal to itself."""
    return isinstance(value, (int, str)) and not isinstance(value, bool)


def queries(group: list[Case]) -> list[Query]:
    """Everything; what the manifests ask for, or a value; a range of values; the nulls of the same column."""
    asked = [case.predicate for case in group if case.predicate is not None]
    plain = [
        (name, sorted({value for value in values if is_plain(value)}))
        for name, values in group[0].columns.items()
        if any(map(is_plain, values))
    ]
    if plain:
        name, values = next((one for one in plain if asked and one[0] == asked[0].column), plain[0])
        asked = asked or [Where(name, "=", (values[-1],))]
        asked.append(Where(name, "between", (values[len(values) // 3], values[-1 - len(values) // 3])))
    asked.append(Where(asked[0].column if asked else next(iter(group[0].columns)), "is null"))
    return [WHOLE, *(Query(where) for where in dict.fromkeys(asked))]


def test_literals_are_read_by_their_tags() -> None:
    tagged = [
        None,
        "a",
        1,
        {"int": "9007199254740993"},
        {"float": "-0.0"},
        {"float": "nan"},
        {"bytes": "00ff"},
        {"timestamp": "5"},
        {"list": [{"decimal": "1.50"}, None]},
        {"struct": {"a": {"date": "1"}}},
        {"map": [["k", {"float": "1.0"}]]},
    ]

    assert [
        *(None, "a", 1, 9_007_199_254_740_993, cell(-0.0), cell(float("nan")), b"\0\xff"),
        Tagged("timestamp", "5"),
        (Tagged("decimal", "1.50"), None),
        (("a", Tagged("date", "1")),),
        (("k", Tagged("float", "1.0")),),
    ] == [cell(literal(value)) for value in tagged]


def test_only_files_of_foreign_software_lack_literal_rows() -> None:
    assert [] == [case.id for case in CASES if not case.literal and not case.id.startswith("interop")]


@dataclass(frozen=True)
class Wrong:
    """An answer that is not what the literal rows say."""

    query: Query
    is_stripped: bool
    answer: Rows | Exception


def wrong_answers(
    reader: Engine, stripped: dict[str, Path], cases: list[Case], *, only_whole: bool = False
) -> dict[str, list[Wrong]]:
    """By case every wrong answer about the file or its stripped copy. Cases of one schema are read together.

    Spark row by row skips what Spark skips, so it reads no copies, and is asked for all rows and by one condition. ``only_whole`` asks for all rows of the file itself and
    nothing else.
    """
    wrong: dict[str, list[Wrong]] = defaultdict(list)
    for group in groups(cases):
        by_path = {case.path: case for case in group}
        if not only_whole and reader.name != "spark, row by row":
            by_path |= {stripped[case.id]: case for case in group}
        asked = [WHOLE] if only_whole else queries(group)
        if reader.name.startswith("spark"):  # a job for each schema and query
            asked = asked[:2]
        answers = reader.read_all(list(by_path), asked)
        assert len(by_path) * len(asked) == len(answers)
        for (path, query), answer in answers.items():
            case = by_path[path]
            if answer != case.expected(query):
                wrong[case.id].append(Wrong(query, path != case.path, answer))
    return wrong


def known_answers(reader: Engine, stripped: dict[str, Path], case: Case) -> list[Wrong]:
    """The wrong answers about a case that is known for them; Spark is not asked further once it was wrong about all rows."""
    found: list[Wrong] = []
    if reader.name.startswith("spark"):
        found = wrong_answers(reader, stripped, [case], only_whole=True)[case.id]
    return found or wrong_answers(reader, stripped, [case])[case.id]


READERS = [*ENGINES, "spark, row by row"]


def chosen(name: str) -> list[Case]:
    """The cases that a reader reads: of their schemas one of `EXAMPLES`, so that a reader at least reads each case; all by `make damages`."""
    first = READERS.index(name)
    return [
        case for number, group in enumerate(groups(CASES), first) if number % EXAMPLES == 0 for case in group
    ]


def test_every_case_is_read() -> None:
    assert {case.id for case in CASES} == {case.id for name in READERS for case in chosen(name)}


@pytest.mark.parametrize("name", parameters(READERS))
def test_a_foreign_reader_finds_the_rows_of_every_valid_golden_file_with_and_without_what_it_says(
    name: str, stripped: dict[str, Path], request: pytest.FixtureRequest
) -> None:
    reader = engine(name, lambda: request.getfixturevalue("spark"))
    cases = chosen(name)
    names = {case.id for case in cases}
    limits = {
        case: limit
        for (engine_name, case), limit in EXCEPTIONS.items()
        if engine_name == name and case in names
    }
    unsafe = {case for engine_name, case in UNSAFE if engine_name == name and case in names}
    sound = [case for case in cases if case.id not in limits and case.id not in unsafe]
    with ExitStack() as stack:
        if name in CAN_CRASH:
            reader = stack.enter_context(ElsewhereEngine(name))
        wrong = wrong_answers(reader, stripped, sound)
        # one at a time: one that cannot be read spoils the job in which Spark reads its neighbours, and each job costs
        known, risky = (
            {case.id: known_answers(reader, stripped, case) for case in cases if case.id in which}
            for which in (limits, unsafe)
        )

    assert {} == wrong
    assert limits.keys() == {case for case, answers in known.items() if answers}
    assert {} == {
        case: strange
        for case, answers in known.items()
        if (strange := [one for one in answers if not limits[case].explains(one.answer)])
    }
    assert all(risky.values())


def test_a_manifest_names_the_engines_that_read_its_file() -> None:
    for case in CASES:
        provenance = json.loads((case.path.parent / "case.json").read_text())["provenance"]
        if provenance["by"] in ("generator", "hand"):
            readers = [
                name
                for name in ENGINES
                if (name, case.id) not in EXCEPTIONS and (name, case.id) not in UNSAFE
            ]
            assert readers == [oracle.lower() for oracle in provenance["oracles"]]


KEY_WITHOUT_VALUE = Limit(
    "4.3.0",
    "the reader of batches collects keys and values in a set that takes no null, so no key without a value",
    "java.lang.NullPointerException",
)


@pytest.mark.spark
def test_spark_fails_on_a_key_without_value_as_the_rule_about_it_says(spark: Any) -> None:
    path = GOLDEN_FILES / "pqf/key-without-value/data.parquet"
    (answer,) = engine("spark", lambda: spark).read_all([path], [WHOLE]).values()

    assert KEY_WITHOUT_VALUE.explains(answer)
