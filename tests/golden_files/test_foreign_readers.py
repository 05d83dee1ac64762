"""Six engines that know nothing of this project read the rows of every valid golden file as its manifest says."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from engines import ENGINES, WHOLE, Limit, Query, Rows, Where, cell, engine, expected, parameters

GOLDEN_FILES = Path(__file__).parents[2] / "golden_files"

EXCEPTIONS = {
    ("fastparquet", "idx1/column-with-dots"): Limit(
        "2026.9.0", "a filter takes the dots of a name for those of a path", "'a'"
    ),
    ("fastparquet", "pqf/all-types"): Limit(
        "2026.9.0", "a null double is a NaN", "(None, 1971, Tagged(kind='float', text='nan')"
    ),
    ("fastparquet", "interop/spark-4.3.0/codec-lz4"): Limit(
        "2026.9.0", "it takes the frame of Hadoop for a block", "Decompression failed"
    ),
    ("fastparquet", "interop/spark-4.3.0/pages-v2"): Limit(
        "2026.9.0", "no delta encoding where there are nulls", "null delta-int not implemented"
    ),
    **{
        ("fastparquet", f"interop/spark-4.3.0/{name}"): Limit(
            "2026.9.0", "no delta encoding of text", "NotImplementedError()"
        )
        for name in ("pages-v2-delta", "everything", "index-beside-everything")
    },
}
"""Engine and case to what goes wrong, at least for some queries."""


@dataclass(frozen=True)
class Case:
    """A valid Parquet file, its rows column by column, and the predicate of its manifest."""

    id: str
    path: Path
    columns: dict[str, list[Any]]
    literal: bool
    predicate: Where | None

    def expected(self, query: Query) -> Rows:
        """The rows that a query finds."""
        return expected(self.columns, query)


def literal(value: Any) -> Any:
    """A value of a manifest, whose type is tagged where JSON has no such type."""
    if not isinstance(value, dict):
        return value
    ((tag, text),) = value.items()
    readers: dict[str, Callable[[str], Any]] = {"int": int, "float": float, "bytes": bytes.fromhex}
    return readers[tag](text)


def columns(rows: dict[str, Any]) -> dict[str, list[Any]]:
    """The rows of a manifest column by column."""
    names = [column["name"] for column in rows["columns"]]
    return {name: [literal(row[position]) for row in rows["rows"]] for position, name in enumerate(names)}


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
            None
            if predicate is None
            else Where(predicate[1], predicate[0], tuple(map(literal, predicate[2:]))),
        )


CASES = list(valid_cases())


def groups() -> list[list[Case]]:
    """The cases by schema."""
    found: dict[str, list[Case]] = defaultdict(list)
    for case in CASES:
        found[str(pq.read_schema(case.path).remove_metadata())].append(case)
    return list(found.values())


def queries(group: list[Case]) -> list[Query]:
    """Everything; what the manifests ask for, or else a value of the first column; the nulls of the same column."""
    asked = [case.predicate for case in group if case.predicate is not None]
    if not asked:
        column, values = next(iter(group[0].columns.items()))
        asked.append(Where(column, "=", tuple(values[-1:])))
    asked.append(Where(asked[0].column, "is null"))
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
    ]

    assert [None, "a", 1, 9_007_199_254_740_993, cell(-0.0), cell(float("nan")), b"\0\xff"] == [
        cell(literal(value)) for value in tagged
    ]


def test_only_files_of_foreign_software_lack_literal_rows() -> None:
    assert [] == [case.id for case in CASES if not case.literal and not case.id.startswith("interop")]


@pytest.mark.parametrize("name", parameters([*ENGINES, "spark, row by row"]))
def test_a_foreign_reader_finds_the_rows_of_every_valid_golden_file(
    name: str, request: pytest.FixtureRequest
) -> None:
    reader = engine(name, lambda: request.getfixturevalue("spark"))
    excepted = {case for engine_name, case in EXCEPTIONS if engine_name == name}
    wrong: dict[str, str] = {}
    asked: Counter[str] = Counter()
    for group in groups():
        by_path = {case.path: case for case in group if case.id not in excepted}
        for (path, query), answer in reader.read_all(list(by_path), queries(group)).items():
            case = by_path[path]
            asked[case.id] += 1
            if answer != case.expected(query):
                wrong.setdefault(case.id, f"{query}: {answer!r}")

    assert {case.id for case in CASES} == {*asked, *excepted}
    assert {} == wrong


@pytest.mark.parametrize(("name", "case_id"), parameters(EXCEPTIONS))
def test_an_exception_still_holds(name: str, case_id: str, request: pytest.FixtureRequest) -> None:
    (case,) = (case for case in CASES if case.id == case_id)
    reader = engine(name, lambda: request.getfixturevalue("spark"))
    answers = reader.read_all([case.path], queries([case]))
    wrong = [answer for (_, query), answer in answers.items() if answer != case.expected(query)]

    assert wrong
    assert [] == [answer for answer in wrong if not EXCEPTIONS[name, case_id].explains(answer)]


def test_a_manifest_names_the_engines_that_read_its_file() -> None:
    for case in CASES:
        provenance = json.loads((case.path.parent / "case.json").read_text())["provenance"]
        if provenance["by"] in ("generator", "hand"):
            readers = [name for name in ENGINES if (name, case.id) not in EXCEPTIONS]
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
